"""The story that `everwhen demo` tells, with what is true in it."""
