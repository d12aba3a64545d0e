"""Files of this machine: the home folder, and files as people bring them and take them away: packed, large or broken.

home          where banks lie, and the names that they may have
compressed    opening what is packed
json_values   lines and JSON values one by one, with bounds
private       files that only their owner may read
export        the first line of an export, and writing one so that it appears when it is whole
processes     whether a process still runs
sqlite_wipe   erasing the bytes of deleted rows in an SQLite file
"""
