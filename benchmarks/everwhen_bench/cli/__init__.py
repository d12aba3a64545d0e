"""The commands of `everwhen bench`, added to the command line where the checkout has this folder."""
