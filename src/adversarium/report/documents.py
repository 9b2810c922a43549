"""Fill in templates of web pages and texts."""

import textwrap
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from adversarium.plans.mathematics import plain_text
from adversarium.report import tables
from adversarium.report.claim_text import gate_text, needed
from adversarium.report.figures.style import file_name
from adversarium.report.symbols import quantity_text
from adversarium.report.typeset import greek, scripted, typeset
from adversarium.report.verdict_lines import said
from adversarium.runs.scope import waiver

LINES = 40  # largest number of rows of a table on a page; its data file has all rows


def render(template: str, **values: object) -> str:
    """Fill in a template. In web pages every value is escaped, and `typeset` turns mathematics into
    MathML."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    home = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader((home / "templates", home / "site" / "templates")),
        autoescape=select_autoescape(("html",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["most"] = LINES
    environment.filters |= {
        "between": tables.between,
        "duration": tables.duration,
        "file_name": file_name,
        "gate_text": gate_text,
        "glyph": lambda verdict: tables.GLYPHS.get(verdict, "○"),
        "needed": needed,
        "quantity": quantity_text,
        "said": said,
        "scripted": lambda text: Markup(scripted(text)),
        "greek": greek,
        "waiver": waiver,
        "number": tables.number,
        "plain": plain_text,
        "shortened": shortened,
        "spanned": tables.spanned,
        "tex": tables.tex,
        "typeset": lambda text: Markup(typeset(text)),
        "with_interval": tables.with_interval,
        "wrapped": wrapped,
    }
    return environment


def shortened(text: str, most: int = 140) -> str:
    """Return the beginning of a long text, up to the end of a word.

    >>> shortened("every word of it", 12)
    'every word …'
    """
    if len(text) <= most:
        return text
    return text[:most].rpartition(" ")[0].rstrip(" ,;:(") + " …"


def wrapped(text: str, indent: str = "    ") -> str:
    """Break a text into lines of at most 96 characters; indent the first by two spaces."""
    return textwrap.fill(text, 96, initial_indent="  ", subsequent_indent=indent)
