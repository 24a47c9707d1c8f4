"""Tables: built once from findings, written as HTML, LaTeX, Markdown, CSV or terminal text."""
