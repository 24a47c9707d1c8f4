"""Reading of results: opening, analyses, curves."""
