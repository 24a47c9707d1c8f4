"""What can be plugged into a study: registries, plugins, names with parameters, descriptions."""
