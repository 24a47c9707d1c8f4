"""Figures and tables for papers and talks."""
