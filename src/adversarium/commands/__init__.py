"""The commands of the program, one file each; `cli.py` is their table."""
