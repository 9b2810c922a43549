"""Compute findings: sentences with numbers from the ledger, each with a small picture and the
command that reproduces it."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adversarium.digest import Json
from adversarium.plans.evidence import Summary
from adversarium.plans.papers import papers, require_fields
from adversarium.report.figures.style import COLOURS, canvas, mathtext, save, with_style, write_csv
from adversarium.runs.ledger import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Finding:
    """A sentence, its numbers by short names, the value that the paper claims, and the command that
    reproduces the numbers."""

    claim: str
    sentence: str
    numbers: Mapping[str, Summary]
    label: str
    claimed: float | None
    command: str

    @property
    def file(self) -> str:
        """Return the file name of the picture."""
        return f"{self.claim.replace('.', '-')}.svg"


def findings(entries: Sequence[Entry]) -> list[Finding]:
    """Return the findings whose numbers are all measured."""
    paths = [paper.folder / "findings.toml" for paper in papers().values()]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.is_file()]
    tables = [table for text in texts for table in tomllib.loads(text).get("findings", ())]
    for table in tables:
        try:
            require_fields(table, _NEEDED, {"also": list, "claimed": float})
        except ValueError as fault:
            name = table.get("claim")
            raise ValueError(f"findings.toml: the finding on {name}: {fault}.") from fault
    known = {entry.id: entry for entry in entries}
    found = (_finding(t, known) for t in sorted(tables, key=lambda table: table["order"]))
    return [finding for finding in found if finding is not None]


_NEEDED = {"order": int, "claim": str, "sentence": str, "show": list, "names": list, "label": str}


def _finding(table: Json, known: Mapping[str, Entry]) -> Finding | None:
    pairs = zip(table["show"], table["names"], strict=True)
    required = [(table["claim"], name, short) for name, short in pairs]
    numbers: dict[str, Summary] = {}
    for id, name, short in (*required, *table.get("also", ())):
        measured = {m.name: m for m in known[id].measured} if id in known else {}
        if name not in measured or measured[name].mean is None:
            return None
        numbers[short] = measured[name]
    means = [f"{m.mean:.2g}".replace("-", "−") for m in numbers.values()]
    return Finding(
        table["claim"],
        table["sentence"].format(*means),
        numbers,
        table["label"],
        table.get("claimed"),
        known[table["claim"]].command or "",
    )


@with_style
def draw_finding(finding: Finding, folder: Path) -> Path:
    """Draw a small picture: all numbers with their 99 % intervals, and the paper's value dashed."""
    blue, grey = COLOURS[0], "#666666"
    count = len(finding.numbers)
    picture, ((axis,),) = canvas((4.2, 0.75 + 0.22 * count))
    for place, (name, m) in enumerate(finding.numbers.items()):
        mean = m.mean or 0.0
        low, high = (mean if end is None else end for end in (m.low, m.high))
        axis.plot([low, high], [-place, -place], color=blue, linewidth=2)
        axis.plot([mean], [-place], "o", color=blue, markersize=5)
        axis.annotate(name, (0, -place), xycoords=("axes fraction", "data"), xytext=(-6, 0),
                      textcoords="offset points", ha="right", va="center", fontsize=8)  # fmt: skip
    if finding.claimed is not None:
        _mark(axis, finding.claimed, grey)
    axis.set(xlabel=mathtext(finding.label), yticks=(), ylim=(-count + 0.5, 0.5))
    low, high = axis.get_xlim()
    if high - low < 0.05 * max(abs(low), abs(high)):  # a single number is shown together with 0
        axis.plot([0], [0], alpha=0)
    axis.margins(x=0.12)
    axis.locator_params(axis="x", nbins=5)
    path = folder / finding.file
    save(picture, path)
    lines = [(name, m.mean, m.low, m.high) for name, m in finding.numbers.items()]
    write_csv(path.with_suffix(".csv"), ("name", "mean", "low", "high"), lines)
    return path


def _mark(axis: "Axes", claimed: float, grey: str) -> None:
    """Draw the value of the paper as a dashed line."""
    axis.axvline(claimed, color=grey, linestyle="--", linewidth=1)
    axis.annotate("paper", (claimed, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                  textcoords="offset points", ha="center", fontsize=7, color=grey)  # fmt: skip
