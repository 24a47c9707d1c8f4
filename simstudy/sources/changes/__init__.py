"""Changes to the models of any family, the truth staying exact."""
