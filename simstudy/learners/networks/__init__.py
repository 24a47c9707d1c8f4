"""Learners of Bayesian networks: CaMML, and networks estimated from counts."""
