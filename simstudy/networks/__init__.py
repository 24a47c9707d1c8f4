"""Bayesian networks: the models that data are drawn from."""
