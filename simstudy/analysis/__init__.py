"""Statistical analysis of a table of scores: functions from DataFrame to DataFrame."""
