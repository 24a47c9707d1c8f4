"""Learners of other libraries: scikit-learn and pgmpy."""
