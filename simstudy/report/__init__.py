"""Reports: what the analysis found, in words, tables and figures."""
