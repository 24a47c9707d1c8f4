"""Pages of HTML, each one file that needs nothing else."""
