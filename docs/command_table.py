"""The table of commands as a module attribute, which the page reference/commands.rst reads."""

from adversarium.commands.program import program

app = program()
