"""Numbers as text: the ledger on a terminal, rows as CSV and npz, claims as LaTeX."""

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adversarium.experiments.evidence import Evidence
from adversarium.papers import PAPERS

WORDS = ("holds", "fails", "undecided", "not yet implemented")


def number(value: float | None) -> str:
    """A number with four significant digits, or a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"


def with_interval(measured: Mapping[str, Any]) -> str:
    """mean [low, high]."""
    mean, low, high = (measured[k] for k in ("mean", "low", "high"))
    if low is None or low == high:
        return number(mean)
    return f"{number(mean)} [{number(low)}, {number(high)}]"


def expected_range(entry: Mapping[str, Any]) -> str:
    """The range that the rule asks for."""
    expected = entry["expected"] or {}
    low, high = expected.get("low"), expected.get("high")
    if low is None and high is None:
        return ""
    if low is None:
        return f"≤ {number(high)}"
    return f"≥ {number(low)}" if high is None else f"[{number(low)}, {number(high)}]"


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


def summary(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One line a paper (and one an own file): key, title, how many hold, fail, are undecided, not
    yet implemented."""
    named = [(p.tag, p.key, p.title) for p in PAPERS.values()]
    tags = {tag for tag, _, _ in named}
    others = dict.fromkeys(e["paper"] for e in entries if e["paper"] not in tags)
    lines = []
    for tag, key, title in (*named, *((other, other, "own") for other in others)):
        own = [e["verdict"] for e in entries if e["paper"] == tag]
        lines.append((key, title, *(str(own.count(word)) for word in WORDS)))
    return lines


def write_csv(path: Path, rows: Evidence) -> None:
    """All rows of an experiment: run, seed, t, probe, value."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("run", "seed", "t", "probe", "value"))
        for label, run in rows.items():
            for probe, (times, values) in run.values.items():
                for i, seed in enumerate(run.seeds):
                    for t, value in zip(times, values[i], strict=True):
                        out.writerow((label, seed, int(t), probe, repr(float(value))))


def write_npz(path: Path, rows: Evidence) -> None:
    """Arrays `run/probe` (seed, t) and `run/probe/t`, and `run/seeds`."""
    arrays: dict[str, Any] = {}
    for label, run in rows.items():
        name = label or "run"
        arrays[f"{name}/seeds"] = np.array(run.seeds)
        for probe, (times, values) in run.values.items():
            arrays[f"{name}/{probe}"] = values
            arrays[f"{name}/{probe}/t"] = times
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


def write_tex(path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """A booktabs table: claim, quantity, the paper's value, ours ± half the interval, verdict."""
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{tabular}{llllr}",
        r"\toprule",
        r"claim & quantity & paper & measured & verdict \\",
        r"\midrule",
    ]
    for entry in entries:
        paper = tex((entry["expected"] or {}).get("text", ""))
        for i, m in enumerate(entry["measured"]):
            head = (tex(entry["id"]), paper, entry["verdict"]) if i == 0 else ("", "", "")
            half = "" if m["low"] is None else rf" $\pm$ {number((m['high'] - m['low']) / 2)}"
            ours = f"{number(m['mean'])}{half}"
            lines.append(rf"{head[0]} & {tex(m['name'])} & {head[1]} & {ours} & {head[2]} \\")
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
