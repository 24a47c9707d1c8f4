"""The names of the files of a report."""

# The tables that every study has; only some have others besides.
TABLES = ("anova.csv", "intervals.csv", "pairwise.csv", "left_out.csv", "precision.csv")
PAGE = "report.html"
MEANS = "means.csv"  # of a study of data sets, which has others besides
