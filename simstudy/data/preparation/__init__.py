"""Preparation of data, fitted to training rows."""
