"""Families of random models, one small file each."""
