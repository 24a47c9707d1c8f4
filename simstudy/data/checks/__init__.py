"""Checks of tables: leaks, identifiers, repeated rows, odd values."""
