"""Learners made of another learner: calibrated, cost-sensitive, selected."""
