"""The `simstudy` command: one module for each group of verbs."""

from simstudy.cli.app import main

__all__ = ["main"]
