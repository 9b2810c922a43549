"""The room of constructions."""
