"""The page at `/ui`: a look into banks, and the few decisions that people take there.

Used by: the command line. Uses: what a running server holds (keys, banks, audit) and through it `Memory`.
Nothing here is loaded before somebody opens the page.
"""
