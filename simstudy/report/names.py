"""The names of the files of a report."""

# The tables that every study has; only some have others besides.
TABLES = ("anova.csv", "intervals.csv", "pairwise.csv", "left_out.csv", "precision.csv")
PAGE = "report.html"
MEANS = "means.csv"  # of a study of data sets


def main_file(of_data: bool, kept: bool) -> str:
    """The file to open first: the page or, of data sets without kept answers, the means."""
    return MEANS if of_data and not kept else PAGE
