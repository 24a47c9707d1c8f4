"""A study as its author writes it: TOML, plugins, registries, lists and statements."""
