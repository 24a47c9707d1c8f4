"""Sentences on a study; none claims more than the tests support."""
