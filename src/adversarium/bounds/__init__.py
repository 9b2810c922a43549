"""The room of bounds."""
