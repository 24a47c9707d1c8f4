"""From a study to its report: running, resuming, refining, joining and comparing."""
