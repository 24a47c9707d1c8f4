"""Families: frozen dataclasses of parameters that draw random models."""
