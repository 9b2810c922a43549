"""Draw pictures and write tables, texts and the web site, from stored rows."""
