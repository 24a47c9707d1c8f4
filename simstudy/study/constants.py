"""What a study's checks, the engine and the results share."""

# An exact evaluation goes through all joint configurations of a model, up to this many.
MAX_CONFIGURATIONS = 2**21
# With test_size = "both", this many test rows are drawn beside the exact evaluation.
ROWS_BESIDE_EXACT = 1000
# Files of results: the study as it was run, what made them, and the cells one by one.
STUDY, MANIFEST, JOURNAL = "study.toml", "manifest.json", "cells.jsonl"
