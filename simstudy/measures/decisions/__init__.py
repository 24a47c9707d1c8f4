"""Measures of decisions: confusion matrix, costs, precision and recall."""
