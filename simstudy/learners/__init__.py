"""Learners: frozen dataclasses of parameters that fit a Sample."""
