"""Results on disk: journal, cells, manifest, files."""
