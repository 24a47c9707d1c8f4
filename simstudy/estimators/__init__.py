"""Estimates of a learner's performance from the rows available, and their intervals."""
