"""Findings of studies of models."""
