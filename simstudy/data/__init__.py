"""Samples and their contingency tables."""
