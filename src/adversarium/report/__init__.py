"""Pictures, tables, texts and the web site, from stored rows."""
