"""The page of letters: what the papers call things, and how their open constants are read."""

import re
from importlib.resources import files

from adversarium.plans.catalogue import papers, readings
from adversarium.report.site.parts import cell, escape, page, table, terms
from adversarium.report.typeset import typeset


def notation_page() -> str:
    """The tables of notation.md, and the readings of every paper."""
    text = (files("adversarium.report.site") / "notation.md").read_text(encoding="utf-8")
    blocks = [block for block in text.split("\n\n") if block.strip()]
    body = [_block(block.strip()) for block in blocks if not block.startswith("# ")]
    body.append("<h2>How open constants are read</h2>")
    for paper in papers().values():
        if read := readings(paper.tag):
            told = [(sign, typeset(reading)) for sign, reading in read.items()]
            body.append(f"<h3>{escape(paper.key)}: {escape(paper.title)}</h3>{terms(told)}")
    return page("Notation", "\n".join(body))


def _block(text: str) -> str:
    """A paragraph or a table of Markdown."""
    lines = text.splitlines()
    if not text.startswith("|"):
        return f"<p>{_inline(' '.join(lines))}</p>"
    cells = [[c.strip() for c in line.strip("|").split(" |")] for line in lines]
    head, _, *rows = ([c.strip("| ") for c in line] for line in cells)
    return table(head, [[cell(_inline(c)) for c in row] for row in rows])


def _inline(text: str) -> str:
    """Code between backticks; mathematics elsewhere."""
    parts = re.split(r"`([^`]*)`", text)
    return "".join(
        f"<code>{escape(part)}</code>" if i % 2 else typeset(part) for i, part in enumerate(parts)
    )
