"""Format numbers as text, and write rows as CSV and npz and claims as LaTeX."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.evidence import Evidence, Summary
from adversarium.plans.papers import papers
from adversarium.plans.rules import ABOVE_ZERO
from adversarium.report.figures import style
from adversarium.runs.ledger import NOT_RUN, NOT_YET, Entry

WORDS = ("holds", "fails", "mixed", "undecided", "not testable", "setting", NOT_RUN)
MEANINGS = {
    "holds": "every part was confirmed under the hypotheses of the statement, by evidence that "
    "could have refuted it",
    "fails": "a violation was found under the hypotheses of the statement; if it could be due to "
    "chance, fresh seeds reproduced it",
    "mixed": "some parts hold; others fail or cannot be tested",
    "undecided": "the entry says what is missing, and what would decide it",
    "not testable": "cited, vacuous, or about all networks; testable consequences are entries of "
    "their own",
    "setting": "a hypothesis or a definition; the entry says how well the runs satisfy it",
    NOT_RUN: "no results: the data are not on this machine, or there is no experiment yet",
}
GLYPHS = dict(zip((*WORDS, NOT_YET), "✓✕◐?–≡○○", strict=True))  # verdict → sign


def number(value: float | None) -> str:
    """Return a number with four significant digits, or a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours.

    >>> duration(0.84), duration(79.7), duration(525), duration(18360)
    ('0.8 s', '80 s', '9 min', '5.1 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def with_interval(measured: Summary) -> str:
    """Return a mean with its interval as text: mean [low, high]."""
    mean, low, high = measured.mean, measured.low, measured.high
    if mean is None or low is None or high is None or low == high:
        return number(mean)
    return f"{number(mean)} [{number(low)}, {number(high)}]"


def between(low: float | None, high: float | None) -> str:
    """Return a range as text; an end that is None or infinite is open.

    >>> between(0, 1), between(0.5, None), between(None, None), between(ABOVE_ZERO, None)
    ('[0, 1]', '≥ 0.5', '', '> 0')
    """
    low, high = (None if end is None or math.isinf(end) else end for end in (low, high))
    if low is not None and high is not None:
        return f"[{number(low)}, {number(high)}]"
    if low is not None:
        return "> 0" if low == ABOVE_ZERO else f"≥ {number(low)}"
    return "" if high is None else f"≤ {number(high)}"


def expected_range(entry: Entry) -> str:
    """Return the range that a check accepts; empty if its parts have different ranges."""
    if entry.expected is None:
        return ""
    ranges = {(part.low, part.high) for part in entry.parts}
    ranges = ranges or {(entry.expected.low, entry.expected.high)}
    return between(*ranges.pop()) if len(ranges) == 1 else ""


def spanned(entry: Entry) -> str:
    """Return the parameters with more than one value in the runs, with their extreme values."""
    return ", ".join(
        f"{letter} {number(low)} … {number(high)}"
        for letter, (low, high) in entry.spans.items()
        if low != high
    )


def expected_errors(entries: Sequence[Entry]) -> tuple[int, float]:
    """Return how many verdicts depend on random seeds, and an upper bound on the expected number of
    wrong ones: 1 % of those that hold, and 0.01 % of those that fail on two sets of seeds."""
    seed_dependent = [e for e in entries if e.chance and not e.alias_of]
    held = sum(e.verdict == "holds" for e in seed_dependent)
    failed = sum(e.verdict in ("fails", "mixed") for e in seed_dependent)
    return held + failed, 0.01 * held + 0.0001 * failed


def json_text(value: object) -> str:
    """Return a value as strict JSON; numbers that are not finite become null."""

    def plain(v: object) -> object:
        if isinstance(v, Mapping):
            return {str(k): plain(x) for k, x in v.items()}
        if isinstance(v, (list, tuple)):
            return [plain(x) for x in v]
        if isinstance(v, (np.floating, float)):
            return float(v) if math.isfinite(v) else None
        return int(v) if isinstance(v, np.integer) else v

    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def summary(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Return one line per paper and user file: key, title, and the number of claims with each
    verdict. Aliases of other claims are not counted."""
    named = [(p.tag, p.key, p.title) for p in papers().values()]
    tags = {tag for tag, _, _ in named}
    others = dict.fromkeys(e.paper for e in entries if e.paper not in tags)
    lines = []
    for tag, key, title in (*named, *((other, other, "user file") for other in others)):
        words = [e.verdict for e in entries if e.paper == tag and not e.alias_of]
        words = [NOT_RUN if word == NOT_YET else word for word in words]
        lines.append((key, title, *(str(words.count(word)) for word in WORDS)))
    return lines


def write_csv(path: Path, rows: Evidence) -> None:
    """Write all rows of an experiment: run, seed, t, probe, coordinates on its axes, value."""
    lines = (
        (run.label, seed, int(t), name, at, value)
        for run in rows
        for name, series in run.series.items()
        for i, seed in enumerate(run.seeds)
        for j, t in enumerate(series.t)
        for at, value in _places(series.axes, series.values[i, j, ...])
    )
    style.write_csv(path, ("run", "seed", "t", "probe", "at", "value"), lines)


def _places(
    axes: Mapping[str, tuple[float, ...]], values: np.ndarray
) -> Iterator[tuple[str, float]]:
    """Yield every combination of axis coordinates as text, with its value; empty without axes."""
    for index in np.ndindex(values.shape):
        place = (f"{n}={at[i]:g}" for (n, at), i in zip(axes.items(), index, strict=True))
        yield "; ".join(place), float(values[index])


def write_npz(path: Path, rows: Evidence) -> None:
    """Write arrays: `run/probe` (seed, t, *axes), `run/probe/t`, `run/probe/AXIS`, `run/seeds`."""
    arrays: dict[str, Any] = {}
    for run in rows:
        label = run.label or "run"
        arrays[f"{label}/seeds"] = np.array(run.seeds)
        for name, series in run.series.items():
            arrays[f"{label}/{name}"] = series.values
            arrays[f"{label}/{name}/t"] = series.t
            arrays |= {f"{label}/{name}/{axis}": np.array(at) for axis, at in series.axes.items()}
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


_TEX = {
    "\\": r"\textbackslash{}", "_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$",
    "{": r"\{", "}": r"\}", "^": r"\^{}", "~": r"\~{}", "≤": r"$\le$", "≥": r"$\ge$",
    "−": "$-$", "±": r"$\pm$", "‖": r"$\|$", "√": r"$\surd$", "∞": r"$\infty$", "→": r"$\to$",
    "Σ": r"$\Sigma$", "Θ": r"$\Theta$", "Ω": r"$\Omega$", "α": r"$\alpha$", "β": r"$\beta$",
    "γ": r"$\gamma$", "δ": r"$\delta$", "ε": r"$\varepsilon$", "η": r"$\eta$", "μ": r"$\mu$",
    "σ": r"$\sigma$", "λ": r"$\lambda$", "ξ": r"$\xi$", "Δ": r"$\Delta$", "⟨": r"$\langle$",
    "⟩": r"$\rangle$", "·": r"$\cdot$", "×": r"$\times$", "³": "$^3$", "²": "$^2$", "⁻": "$^-$",
    "≈": r"$\approx$", "∈": r"$\in$", "½": r"$\frac12$", "∇": r"$\nabla$", "–": "--",
}  # fmt: skip


def tex(text: str) -> str:
    """Return a plain text as LaTeX."""
    return "".join(_TEX.get(c, c) for c in text)


def write_tex(path: Path, entries: Sequence[Entry]) -> None:
    """Write a booktabs table: claim, quantity, the paper's value, our value ± half its interval,
    verdict."""
    from adversarium.report.documents import render

    path.write_text(render("claims.tex", entries=entries), encoding="utf-8")
