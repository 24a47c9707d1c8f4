"""Rules on one attribute."""
