"""Findings of studies of data sets."""
