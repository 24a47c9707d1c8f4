"""Pages of HTML: the report of a study, and the comparison of several."""
