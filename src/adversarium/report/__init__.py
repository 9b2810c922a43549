"""Pictures, tables, verdicts and the web site, from stored rows."""
