"""Numbers that a study's checks and the engine share."""

# An exact evaluation goes through all joint configurations of a model, up to this many.
MAX_CONFIGURATIONS = 2**21
# With test_size = "both", this many test rows are drawn beside the exact evaluation.
ROWS_BESIDE_EXACT = 1000
