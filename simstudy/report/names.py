"""The name of the page of a study."""

PAGE = "report.html"
