"""Bayesian classifiers: Naive Bayes, TAN, AODE, KDB, HNB and LBR."""
