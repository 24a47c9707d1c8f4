"""Charts: what each shows, built once, and its renderers for the page and for print."""
