"""Reading of data files and frames."""
