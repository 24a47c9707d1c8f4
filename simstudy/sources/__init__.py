"""Sources of models: the families that draw them."""
