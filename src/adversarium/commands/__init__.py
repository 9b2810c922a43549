"""Implement the commands of the program, one file each; `program.py` has their table."""
