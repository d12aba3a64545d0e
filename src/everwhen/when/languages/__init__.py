"""Other languages behind the same function; each is one data file in `data/`, read by one shared grammar."""
