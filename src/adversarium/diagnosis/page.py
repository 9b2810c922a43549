"""Write a diagnosis as one HTML page."""

import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from adversarium.diagnosis.attacked import Attacked
from adversarium.diagnosis.measures import Diagnosis, numbers_text
from adversarium.report.figures.style import COLOURS, DASHES, canvas, with_style

_HERE = files("adversarium.diagnosis")
_STYLE = files("adversarium.report") / "site" / "style.css"


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["numbers"] = numbers_text
    return environment.from_string((_HERE / "page.html").read_text(encoding="utf-8"))


def write(found: Diagnosis, path: Any) -> None:
    """Write the page."""
    test = found.attacked
    text = _template().render(
        style=Markup(_STYLE.read_text(encoding="utf-8")), found=found, test=test,
        norm="∞" if test.p == math.inf else f"{test.p:g}",
        picture=Markup(picture(found)) if found.curves else "",
        tables=[("test points", test), *([("training points", found.trained)]
                                         if found.trained else [])],
        rows=_rows, withstood=int((~test.broken).sum()),
    )  # fmt: skip
    Path(path).write_text(text, encoding="utf-8")


def _rows(attacked: Attacked) -> Sequence[Any]:
    """Return the attacks that broke points or did not run, and how many others there were."""
    return [m for m in attacked.members if m.broken or m.skipped or not m.complete]


@with_style
def picture(found: Diagnosis) -> str:
    """Return G and ΔL against the radius as one SVG picture."""
    drawn, axes = canvas((9.0, 3.6), 1, 2)
    radii = found.curves["radius"]
    names = [("test", "test points"), ("train", "training points")]
    for axis, name, label in (
        (axes[0][0], "G", "largest gradient norm G(ε)"),
        (axes[0][1], "ΔL", "largest loss change ΔL(ε)"),
    ):
        for i, (place, text) in enumerate(names):
            rows = found.curves.get(f"{name}, {place}")
            if rows is None:
                continue
            mean, low, high = zip(*rows, strict=True)
            axis.plot(radii, mean, color=COLOURS[i], linestyle=DASHES[i], label=text)
            axis.fill_between(radii, low, high, color=COLOURS[i], alpha=0.2, linewidth=0)
        axis.axvline(found.attacked.radius, color="#666666", linewidth=0.8)
        axis.annotate("radius", (found.attacked.radius, 1), xycoords=("data", "axes fraction"),
                      xytext=(3, -10), textcoords="offset points", color="#666666")  # fmt: skip
        if name == "G" and all(v > 0 for v in axis.lines[0].get_ydata()):
            axis.set_yscale("log")
        axis.set_xlabel("l_inf radius ε")
        axis.set_ylabel(label)
    axes[0][0].legend(frameon=False)
    written = StringIO()
    drawn.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    return f"<svg{written.getvalue().partition('<svg')[2]}"
