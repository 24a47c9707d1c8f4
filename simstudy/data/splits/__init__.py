"""Splits of a data set into training and test rows."""
