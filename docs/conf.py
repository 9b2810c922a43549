"""The documentation as one site: Sphinx with a theme whose assets are all local."""

import inspect
import json
import re
import sys
from dataclasses import is_dataclass
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from adversarium.plans.mathematics import plain_text

sys.path.append(str(Path(__file__).parent))  # command_table.py

project = "adversarium"
author = "the adversarium authors"
copyright = "the adversarium authors"
version = release = installed("adversarium")

extensions = ["sphinx.ext.autodoc", "myst_parser", "cyclopts.ext.sphinx"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".ipynb": "markdown"}
exclude_patterns = ["findings"]
default_role = "code"
myst_heading_anchors = 3

smartquotes = False

html_theme = "furo"
html_title = "adversarium"
html_show_sphinx = False
html_copy_source = False
html_static_path: list[str] = []

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}

_FIELD = re.compile(r"^    (\w+): [^#\n]*?  # (.+)$", re.MULTILINE)


def notebook_as_page(app: Any, name: str, content: list[str]) -> None:
    """Turn a notebook into Markdown: its cells, each followed by its output."""
    if app.env.doc2path(name).suffix == ".ipynb":
        cells = json.loads(content[0])["cells"]
        content[0] = "\n\n".join(block for cell in cells for block in _blocks(cell))


def _blocks(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [f"```python\n{source}\n```", *map(_output, cell["outputs"])]


def _output(output: dict[str, Any]) -> str:
    """One output of a cell as Markdown."""
    data = output.get("data", {})
    if "image/png" in data:
        return f"![](data:image/png;base64,{''.join(data['image/png'].split())})"
    if "text/html" in data:
        return "".join(data["text/html"])
    return "```text\n{}\n```".format("".join(output.get("text") or data["text/plain"]).rstrip())


def add_fields_and_symbols(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Typeset a docstring; append the comments of a dataclass's fields and the symbols of a
    probe's numbers."""
    lines[:] = _typeset("\n".join(lines)).splitlines()
    if inspect.isclass(thing) and is_dataclass(thing):
        fields = _FIELD.findall(inspect.getsource(thing))
        lines += ["", *(f":param {field}: {_escaped(comment)}" for field, comment in fields)]
    if inspect.isfunction(thing):
        measures = getattr(thing, "measures", ())
        symbols = [(m.name, plain_text(m.symbol)) for m in measures if m.symbol]
        lines += ["", *(f"| ``{field}``: {_escaped(symbol)}" for field, symbol in symbols)]


def _typeset(text: str) -> str:
    return "\n\n".join(_paragraph(block) for block in text.strip("\n").split("\n\n"))


def _paragraph(text: str) -> str:
    """Leave examples and indented blocks unchanged; put `name: description` lines on lines of
    their own; escape everything else as running text."""
    if text.startswith(">>>"):
        return text
    if text.startswith(" "):
        return f"::\n\n{text}"
    whole = re.sub(r"\n +", " ", text)
    if whole != text or re.search(r"^\w+: ", text, re.MULTILINE):
        return "\n".join(f"| {_escaped(line)}" for line in whole.splitlines())
    return _escaped(text)


def _escaped(text: str) -> str:
    return re.sub(
        r"`([^`]*)`|([*|_\\])",
        lambda found: f"``{found[1]}``" if found[2] is None else f"\\{found[2]}",
        text,
    )


def list_theory(app: Any, name: str, content: list[str]) -> None:
    """Append every module of a paper's `theory` to its page reference/theory_TAG."""
    if found := re.fullmatch(r"reference/theory_(\w+)", name):
        package = f"adversarium.papers.{found[1]}.theory"
        folder = Path(__file__).parents[1] / "src" / package.replace(".", "/")
        for file in sorted(folder.glob("[!_]*.py")):
            module = f"{package}.{file.stem}"
            content[0] += f"\n{file.stem}\n{'-' * len(file.stem)}\n\n.. automodule:: {module}\n"


def setup(app: Any) -> None:
    """Connect the three hooks above."""
    app.connect("source-read", notebook_as_page)
    app.connect("source-read", list_theory)
    app.connect("autodoc-process-docstring", add_fields_and_symbols)
