"""Numbers as text: the ledger on a terminal, rows as CSV and npz, claims as LaTeX."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.plans.catalogue import papers
from adversarium.plans.evidence import Evidence, Summary
from adversarium.report.figures import style
from adversarium.runs.ledger import Entry

WORDS = ("holds", "fails", "mixed", "undecided", "not testable", "setting", "not yet implemented")


def number(value: float | None) -> str:
    """A number with four significant digits, or a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"


def with_interval(measured: Summary) -> str:
    """mean [low, high]; the interval of a share stays within [0, 1]."""
    mean, low, high = measured.mean, measured.low, measured.high
    if mean is None or low is None or high is None or low == high:
        return number(mean)
    return f"{number(mean)} [{number(low)}, {number(high)}]"


def between(low: float | None, high: float | None) -> str:
    """A range in words; nothing where it is open at both ends."""
    if low is None and high is None:
        return ""
    if low is None:
        return f"≤ {number(high)}"
    return f"≥ {number(low)}" if high is None else f"[{number(low)}, {number(high)}]"


def expected_range(entry: Entry) -> str:
    """The range that the rule asks for, where it asks all its numbers for the same."""
    if entry.expected is None:
        return ""
    asked = {(part.low, part.high) for part in entry.parts}
    asked = asked or {(entry.expected.low, entry.expected.high)}
    return between(*asked.pop()) if len(asked) == 1 else ""


def spanned(entry: Entry) -> str:
    """What the evidence spans: the letters that take more than one value, with their ends."""
    return ", ".join(
        f"{letter} {number(low)} … {number(high)}"
        for letter, (low, high) in entry.spans.items()
        if low != high
    )


def chances(entries: Sequence[Entry]) -> tuple[int, float]:
    """How many verdicts rest on chance, and how many wrong ones are to be expected at most: one in
    a hundred of those that hold, one in ten thousand of those that fail (seen twice)."""
    chancy = [e for e in entries if e.chance and not e.alias_of]
    held = sum(e.verdict == "holds" for e in chancy)
    failed = sum(e.verdict in ("fails", "mixed") for e in chancy)
    return held + failed, 0.01 * held + 0.0001 * failed


def json_text(value: Any) -> str:
    """Strict JSON: numbers that are not finite become null."""

    def plain(v: Any) -> Any:
        if isinstance(v, Mapping):
            return {str(k): plain(x) for k, x in v.items()}
        if isinstance(v, (list, tuple)):
            return [plain(x) for x in v]
        if isinstance(v, (np.floating, float)):
            return float(v) if math.isfinite(v) else None
        return int(v) if isinstance(v, np.integer) else v

    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def summary(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """One line a paper (and one an own file): key, title, how many entries have each word. An alias
    of another claim is not counted again."""
    named = [(p.tag, p.key, p.title) for p in papers().values()]
    tags = {tag for tag, _, _ in named}
    others = dict.fromkeys(e.paper for e in entries if e.paper not in tags)
    lines = []
    for tag, key, title in (*named, *((other, other, "own") for other in others)):
        words = [e.verdict for e in entries if e.paper == tag and not e.alias_of]
        lines.append((key, title, *(str(words.count(word)) for word in WORDS)))
    return lines


def write_csv(path: Path, rows: Evidence) -> None:
    """All rows of an experiment: run, seed, t, probe, the place on its axes, value."""
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
    """Every place of some axes in words, with its value; the one value where there are none."""
    for index in np.ndindex(values.shape):
        told = (f"{n}={at[i]:g}" for (n, at), i in zip(axes.items(), index, strict=True))
        yield "; ".join(told), float(values[index])


def write_npz(path: Path, rows: Evidence) -> None:
    """Arrays `run/probe` (seed, t, *axes), `run/probe/t`, `run/probe/AXIS`, and `run/seeds`."""
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
    """Plain text for LaTeX."""
    return "".join(_TEX.get(c, c) for c in text)


def write_tex(path: Path, entries: Sequence[Entry]) -> None:
    """A booktabs table: claim, quantity, the paper's value, ours ± half the interval, verdict."""
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{tabular}{llllr}",
        r"\toprule",
        r"claim & quantity & paper & measured & verdict \\",
        r"\midrule",
    ]
    for entry in entries:
        paper = tex(entry.expected.text if entry.expected else "")
        for i, m in enumerate(entry.measured):
            head = (tex(entry.id), paper, entry.verdict) if i == 0 else ("", "", "")
            half = ""
            if m.low is not None and m.high is not None:
                half = rf" $\pm$ {number((m.high - m.low) / 2)}"
            ours = f"{number(m.mean)}{half}"
            lines.append(rf"{head[0]} & {tex(m.name)} & {head[1]} & {ours} & {head[2]} \\")
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
