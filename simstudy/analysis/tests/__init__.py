"""Statistical tests, intervals and adjustments."""
