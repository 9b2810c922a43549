"""The room of report."""
