"""Files of this machine: the home folder, private files, and files as people bring them: packed, large or broken."""
