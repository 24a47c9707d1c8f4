"""Constants shared by the checks of a study, the engine and the results."""

# An exact evaluation enumerates all joint configurations of a model, at most this many.
MAX_CONFIGURATIONS = 2**21
# With test_size = "both", this many test rows are drawn beside the exact evaluation.
ROWS_BESIDE_EXACT = 1000
# A study has at most this many models.
MAX_MODELS = 10**7
# In tables of choices, in place of a sign: the cell failed.
NO_CHOICE = 2
# Files of results: the study, the record of how they were made, and the journal of cells.
STUDY, MANIFEST, JOURNAL = "study.toml", "manifest.json", "cells.jsonl"
PAGE = "report.html"  # the page of a study
PICTURE = "card.svg"  # its small picture, for the page of all studies in a directory
# Files of results that are made from the cells; `results.columns.cell_files` says what is in them.
SCORES, TIMINGS, FAILURES = "scores.parquet", "timings.parquet", "failures.csv"
ANSWERS = "answers.parquet"  # predictions, if they are kept
REFINED = "refined.parquet"  # cells of sizes added for the thresholds only
# Directory of results with copies of the files that parameters of the family name.
FILES = "files"
# Among overrides of a study: its doses, whatever their key.
DOSES = "doses"
