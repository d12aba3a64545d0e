"""everwhen: memory that knows when. The public names, nothing else."""
