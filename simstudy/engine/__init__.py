"""The engine: from a study to one row of scores for every cell."""
