"""Measures of class probabilities row by row: rewards, losses, errors, message lengths."""
