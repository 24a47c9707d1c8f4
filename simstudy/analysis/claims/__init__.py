"""Verdicts on statements and claims."""
