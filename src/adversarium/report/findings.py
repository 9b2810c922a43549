"""What is worth telling first: sentences with the ledger's own numbers, a small picture and the
command that repeats each."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from adversarium.plans.evidence import Summary
from adversarium.report.figures.style import COLOURS, canvas, save, styled, typeset, write_csv
from adversarium.runs.ledger import Entry


@dataclass(frozen=True)
class Finding:
    """A sentence, the numbers it rests on with short names, what the paper says of them, and the
    command that measures them again."""

    claim: str
    sentence: str
    numbers: Mapping[str, Summary]
    label: str
    claimed: float | None
    command: str

    @property
    def file(self) -> str:
        """The name of its picture."""
        return f"{self.claim.replace('.', '-')}.svg"


def findings(entries: Sequence[Entry]) -> list[Finding]:
    """The findings whose claims were judged with the numbers that they show."""
    text = (files("adversarium.report") / "findings.toml").read_text(encoding="utf-8")
    known = {entry.id: entry for entry in entries}
    made = (_finding(told, known) for told in tomllib.loads(text)["findings"])
    return [finding for finding in made if finding is not None]


def _finding(told: Mapping[str, Any], known: Mapping[str, Entry]) -> Finding | None:
    pairs = zip(told["show"], told["names"], strict=True)
    wanted = [(told["claim"], name, short) for name, short in pairs]
    numbers: dict[str, Summary] = {}
    for id, name, short in (*wanted, *told.get("also", ())):
        measured = {m.name: m for m in known[id].measured} if id in known else {}
        if name not in measured or measured[name].mean is None:
            return None
        numbers[short] = measured[name]
    means = [f"{m.mean:.2g}".replace("-", "−") for m in numbers.values()]
    return Finding(
        told["claim"],
        told["sentence"].format(*means),
        numbers,
        told["label"],
        told.get("claimed"),
        known[told["claim"]].command or "",
    )


@styled
def drawn(finding: Finding, folder: Path) -> Path:
    """A small picture: every number with its 99 % interval, and what the paper says, dashed."""
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
    axis.set(xlabel=typeset(finding.label), yticks=(), ylim=(-count + 0.5, 0.5))
    low, high = axis.get_xlim()
    if high - low < 0.05 * max(abs(low), abs(high)):  # one number: seen from 0
        axis.plot([0], [0], alpha=0)
    axis.margins(x=0.12)
    axis.locator_params(axis="x", nbins=5)
    path = folder / finding.file
    save(picture, path)
    lines = [(name, m.mean, m.low, m.high) for name, m in finding.numbers.items()]
    write_csv(path.with_suffix(".csv"), ("name", "mean", "low", "high"), lines)
    return path


def _mark(axis: Any, claimed: float, grey: str) -> None:
    """What the paper says, as a dashed line."""
    axis.axvline(claimed, color=grey, linestyle="--", linewidth=1)
    axis.annotate("paper", (claimed, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                  textcoords="offset points", ha="center", fontsize=7, color=grey)  # fmt: skip
