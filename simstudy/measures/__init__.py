"""Measures of how good a learner's class probabilities are, each a pure function."""
