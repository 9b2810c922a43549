"""What every page is made of: the frame, tables, verdicts, links. All text is escaped here."""

import html
from collections.abc import Sequence

from adversarium.report.figures.style import file_name
from adversarium.report.typeset import typeset

LINKS = (
    ("index", "ledger"),
    ("errata", "errata"),
    ("changed", "changed runs"),
    ("notation", "notation"),
    ("provenance", "provenance"),
)
escape = html.escape


def page(title: str, body: str, up: str = "", script: bool = False) -> str:
    """A whole page; `up` leads from its folder to the site's."""
    links = "".join(f'<a href="{up}{file}.html">{name}</a>' for file, name in LINKS)
    scripts = "".join(
        f'<script defer="defer" src="{up}{file}"></script>'
        for file in ("claims.js", "ledger.js") * script
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        '<meta name="color-scheme" content="light dark"/>'
        f"<title>{escape(title)} · adversarium</title>"
        f'<link rel="icon" href="data:,"/><link rel="stylesheet" href="{up}style.css"/>{scripts}'
        f"</head><body><nav>{links}</nav><main><h1>{escape(title)}</h1>\n{body}\n</main></body>"
        "</html>\n"
    )


def table(header: Sequence[str], lines: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table in a box of its own that scrolls where it is too wide; the cells are HTML."""
    head = "".join(f"<th>{escape(h)}</th>" for h in header)
    rows = "".join("<tr>" + "".join(line) + "</tr>\n" for line in lines)
    of_kind = f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide"><table{of_kind}><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def cell(inside: str, kind: str = "") -> str:
    """A cell; its inside is HTML."""
    return f'<td class="{kind}">{inside}</td>' if kind else f"<td>{inside}</td>"


def soft(inside: str) -> str:
    """HTML in a pale line; nothing where there is none."""
    return f'<div class="soft">{inside}</div>' if inside else ""


def word(verdict: str) -> str:
    """A verdict as a coloured word."""
    return f'<span class="word {file_name(verdict.replace(" ", "-"))}">{escape(verdict)}</span>'


def claim_link(id: str, up: str = "") -> str:
    """A link to the page of a claim."""
    return f'<a href="{up}claims/{file_name(id)}.html">{escape(id)}</a>'


def code(text: str) -> str:
    """A command."""
    return f"<p><code>{escape(text)}</code></p>" if text else ""


def folded(title: str, inside: str, kind: str = "") -> str:
    """HTML that opens when its title is touched."""
    of_kind = f' class="{kind}"' if kind else ""
    return f"<details{of_kind}><summary>{escape(title)}</summary>{inside}</details>"


def terms(pairs: Sequence[tuple[str, str]]) -> str:
    """Names with what they are, in HTML; a pair without anything is left out."""
    told = "".join(f"<dt>{escape(name)}</dt><dd>{text}</dd>" for name, text in pairs if text)
    return f"<dl>{told}</dl>" if told else ""


def shortened(text: str, most: int = 140) -> str:
    """The beginning of a text, typeset; it ends with a word."""
    if len(text) <= most:
        return typeset(text)
    return typeset(text[:most].rpartition(" ")[0].rstrip(" ,;:(")) + " …"
