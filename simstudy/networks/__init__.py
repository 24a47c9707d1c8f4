"""Bayesian networks as data-generating models."""
