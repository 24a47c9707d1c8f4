"""Measures of ranking: areas under curves, DeLong's method, retrieval."""
