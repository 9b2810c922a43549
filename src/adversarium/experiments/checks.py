"""The seven verdict rules. A check is a value; it judges stored rows and trains nothing.

A verdict is holds, fails or undecided; undecided names its reason: asymptotic constant, inexact
attack, too few seeds, out of regime or cited result, and what would decide it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adversarium.experiments.evidence import (
    SEEDS,
    Evidence,
    Quantity,
    Rows,
    clopper_pearson,
    interval,
    slope,
    summary,
)

OUT = "out of regime"


def last(probe: str, of: str = "", points: int = 0) -> Quantity:
    """A probe at the last record time (folds and trials have only one)."""
    name = f"{probe} ({of})" if of else probe
    step = lambda rows: rows[of].last(f"{probe}.t") if f"{probe}.t" in rows[of].values else None
    return Quantity(name, lambda rows: rows[of].last(probe), points, step)


def measure(name: str, of: Callable[[Evidence], np.ndarray]) -> Quantity:
    """Any other function of the rows, one number a seed."""
    return Quantity(name, of)


@dataclass(frozen=True)
class Verdict:
    """What a rule says, and on what numbers."""

    verdict: str
    measured: tuple[dict[str, Any], ...]
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Check:
    """A rule of one kind, applied to rows."""

    kind: str
    judge: Callable[[Evidence], Verdict] = field(repr=False)


def _few(values: np.ndarray) -> str:
    if len(values) < SEEDS:
        return f"too few seeds: {len(values)} of at least {SEEDS}"
    return ""


def _unseen(values: np.ndarray) -> str:
    """Why nothing can be said: too few seeds, or a quantity that did not come about in the run."""
    if few := _few(values):
        return few
    lost = int((~np.isfinite(values)).sum())
    return f"{OUT}: no value in {lost} of {len(values)} seeds within the run" if lost else ""


def _more_seeds(values: np.ndarray, low: float, high: float) -> str:
    """What would decide a straddling interval."""
    mean, sd = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.inf
    gap = min(abs(mean - edge) for edge in (low, high) if math.isfinite(edge))
    need = math.ceil((2.6 * sd / gap) ** 2) + 2 if gap > 0 and math.isfinite(sd) else None
    text = "too few seeds: the 99 % interval crosses the edge of the range"
    return f"{text}; about {max(need, len(values) + 1)} seeds would decide it" if need else text


def identity(error: Quantity, tolerance: float) -> Check:
    """holds: the worst error is within the tolerance."""

    def judge(rows: Evidence) -> Verdict:
        values = error.of(rows)
        worst = float(values.max()) if np.isfinite(values).all() else math.inf
        verdict = "holds" if worst <= tolerance else "fails"
        reason = f"worst error {worst:.3g}, tolerance {tolerance:.3g}"
        return Verdict(verdict, (summary(error, values),), None, tolerance, reason)

    return Check("identity", judge)


def at_most(worst: Quantity, bound: float, proof: Quantity | None = None) -> Check:
    """An inequality: `worst` is the largest value over all steps, one a seed.

    With `proof`, `worst` comes from an attack (a violation is real) and `proof` from a certificate
    (an upper bound): only the certificate can make it hold.
    """

    def judge(rows: Evidence) -> Verdict:
        values = worst.of(rows)
        measured = [summary(worst, values)]
        if not np.isfinite(values).all():
            reason = f"{OUT}: no number in {int((~np.isfinite(values)).sum())} seeds"
            return Verdict("undecided", tuple(measured), None, bound, reason)
        top, place = float(values.max()), int(values.argmax())
        steps, seed = worst.step(rows), next(iter(rows.values())).seeds[place]
        where = f" (seed {seed}" + (f", step {int(steps[place])})" if steps is not None else ")")
        if top > bound:
            seeds = int((values > bound).sum())
            count = f"violated in {seeds} of {len(values)} seeds"
            reason = f"{count}, worst {top:.4g} > {bound:.4g}{where}"
            return Verdict("fails", tuple(measured), None, bound, reason)
        reason = f"smallest slack {bound - top:.4g}{where}"
        if proof is not None:
            proven = proof.of(rows)
            measured.append(summary(proof, proven))
            if not float(proven.max()) <= bound:
                reason = (
                    "inexact attack: no violation was found, but the certificate leaves "
                    f"{float(proven.max()):.4g} open; a tighter bound would decide it"
                )
                return Verdict("undecided", tuple(measured), None, bound, reason)
            reason += ", certified"
        if short := _few(values):
            return Verdict("undecided", tuple(measured), None, bound, short)
        return Verdict("holds", tuple(measured), None, bound, reason)

    return Check("inequality", judge)


def level(quantity: Quantity, low: float = -math.inf, high: float = math.inf) -> Check:
    """holds: the 99 % interval over seeds lies in [low, high]; fails: it lies outside."""

    def judge(rows: Evidence) -> Verdict:
        values = quantity.of(rows)
        measured = (summary(quantity, values),)
        edges = (low if math.isfinite(low) else None, high if math.isfinite(high) else None)
        if unseen := _unseen(values):
            return Verdict("undecided", measured, *edges, unseen)
        a, b = interval(values, quantity.points)
        if low <= a and b <= high:
            return Verdict("holds", measured, *edges)
        if b < low or a > high:
            return Verdict("fails", measured, *edges, "the 99 % interval lies outside the range")
        return Verdict("undecided", measured, *edges, _more_seeds(values, low, high))

    return Check("level", judge)


def ordering(greater: Quantity, than: Quantity, by: float = 0.0) -> Check:
    """holds: the 99 % interval of the paired difference lies above `by`."""

    def judge(rows: Evidence) -> Verdict:
        a, b = greater.of(rows), than.of(rows)
        difference = a - b
        measured = (
            summary(greater - than, difference),
            summary(greater, a),
            summary(than, b),
        )
        if unseen := _unseen(difference):
            return Verdict("undecided", measured, by, None, unseen)
        low, high = interval(difference)
        if low > by:
            return Verdict("holds", measured, by, None)
        if high < by:
            return Verdict("fails", measured, by, None, "the difference has the other sign")
        return Verdict("undecided", measured, by, None, _more_seeds(difference, by, math.inf))

    return Check("ordering", judge)


def exponent(
    name: str,
    of: str | Callable[[Rows], np.ndarray],
    sizes: Mapping[str, float] | Callable[[Evidence], Mapping[str, float]],
    claimed: float,
    tolerance: float | tuple[float, float],
    per: Callable[[float], float] = lambda size: 1.0,
) -> Check:
    """holds: the interval of the log–log slope of a number a run (a probe's last value, or a
    function of its rows, divided by `per` of the size) lies within the tolerance of the claimed
    exponent (or of two tolerances, below and above it); at least four sizes over a factor of
    eight. `sizes` maps labels, or finds the map in the rows."""
    number = (lambda run: run.last(of)) if isinstance(of, str) else of

    def judge(rows: Evidence) -> Verdict:
        named = sizes(rows) if callable(sizes) else sizes
        present = {label: size for label, size in named.items() if label in rows}
        below, above = tolerance if isinstance(tolerance, tuple) else (tolerance, tolerance)
        edges = (claimed - below, claimed + above)
        if len(present) < 4 or max(present.values()) < 8 * min(present.values()):
            reason = f"{OUT}: an exponent needs four sizes over a factor of eight"
            return Verdict("undecided", (), *edges, reason)
        x = np.array(list(present.values()))
        numbers = [number(rows[label]) / per(size) for label, size in present.items()]
        slopes = slope(x, np.stack(numbers, axis=1))
        return level(measure(name, lambda _: slopes), *edges).judge(rows)

    return Check("exponent", judge)


def power(quantity: Quantity, low: float, high: float) -> Check:
    """An exponent that was fitted within each run: holds where its interval lies in the range."""
    return Check("exponent", level(quantity, low, high).judge)


def frequency(successes: Quantity, trials: int, at_least: float) -> Check:
    """holds: the Clopper–Pearson interval of the pooled frequency lies above 1 − δ; at least 300
    trials. `successes` counts them, one number a seed, out of `trials` each."""

    def judge(rows: Evidence) -> Verdict:
        values = successes.of(rows)
        total = trials * len(values)
        low, high = clopper_pearson(round(float(values.sum())), total)
        share = float(values.sum()) / total
        measured = (
            {
                "name": successes.name,
                "mean": share,
                "low": low,
                "high": high,
                "values": [float(v) / trials for v in values],
            },
        )
        if total < 300:
            reason = f"too few seeds: {total} trials of at least 300"
            return Verdict("undecided", measured, at_least, None, reason)
        if low >= at_least:
            return Verdict("holds", measured, at_least, None)
        if high < at_least:
            return Verdict("fails", measured, at_least, None, "the frequency is below the claim")
        reason = "too few seeds: the interval crosses the claimed frequency"
        return Verdict("undecided", measured, at_least, None, reason)

    return Check("frequency", judge)


def existence(checked: Quantity) -> Check:
    """holds: the object passed its exact check (1) in every seed; fails: it was refuted (0)."""

    def judge(rows: Evidence) -> Verdict:
        values = checked.of(rows)
        if lost := int(np.isnan(values).sum()):
            reason = f"{OUT}: the object cannot be built in {lost} of {len(values)} cases"
            return Verdict("undecided", (summary(checked, values),), 1, None, reason)
        bad = int((values != 1).sum())
        reason = f"refuted in {bad} of {len(values)} cases" if bad else ""
        return Verdict("fails" if bad else "holds", (summary(checked, values),), 1, None, reason)

    return Check("existence", judge)


def in_regime(quantity: Quantity, at_least: float) -> Check:
    """A hypothesis, not a claim: below the level the claim is undecided, out of regime."""

    def judge(rows: Evidence) -> Verdict:
        values = quantity.of(rows)
        measured = (summary(quantity, values),)
        if float(values.min()) >= at_least:
            return Verdict("holds", measured, at_least, None)
        reason = f"{OUT}: {quantity.name} = {float(values.min()):.3g} < {at_least:g}"
        return Verdict("undecided", measured, at_least, None, reason)

    return Check("level", judge)


def given(event: Quantity, check: Check) -> Check:
    """The check on the seeds in which a random hypothesis of the claim came true (1)."""

    def judge(rows: Evidence) -> Verdict:
        happened = event.of(rows)
        if not happened.any():
            reason = f"{OUT}: {event.name} in no seed"
            return Verdict("undecided", (summary(event, happened),), None, None, reason)
        found = check.judge({label: run.of(happened == 1) for label, run in rows.items()})
        if not found.measured:
            return found
        return replace(found, measured=(*found.measured, summary(event, happened)))

    return Check(check.kind, judge)


def unless_refuted(check: Check, why: str) -> Check:
    """A check that finite sizes can confirm and not refute: where it fails it is undecided."""

    def judge(rows: Evidence) -> Verdict:
        found = check.judge(rows)
        if found.verdict != "fails":
            return found
        reason = f"asymptotic constant: {why}; {found.reason}"
        return Verdict("undecided", found.measured, found.low, found.high, reason)

    return Check(check.kind, judge)


def cited(kind: str, what: str) -> Check:
    """A statement that a paper takes from elsewhere: undecided, and said so."""
    reason = f"cited result: {what}; its own source would decide it"
    return Check(kind, lambda rows: Verdict("undecided", (), None, None, reason))


def every(*checks: Check) -> Check:
    """All of several checks; the first one's kind is the claim's.

    An unmet hypothesis comes first (nothing can be said outside the regime), then a failure.
    """

    def judge(rows: Evidence) -> Verdict:
        verdicts = [check.judge(rows) for check in checks]
        measured = tuple(m for v in verdicts for m in v.measured)
        outside = [v for v in verdicts if v.verdict == "undecided" and OUT in v.reason]
        failed = [v for v in verdicts if v.verdict == "fails"]
        open_ = [v for v in verdicts if v.verdict == "undecided"]
        for word, bad in (("undecided", outside), ("fails", failed), ("undecided", open_)):
            if bad:
                return Verdict(word, measured, bad[0].low, bad[0].high, _told(bad))
        first = verdicts[0]
        return Verdict("holds", measured, first.low, first.high, first.reason)

    return Check(checks[0].kind, judge)


def _told(verdicts: list[Verdict]) -> str:
    """The reasons, each with the name of its quantity once."""
    told = []
    for v in verdicts:
        name = v.measured[0]["name"] if v.measured else ""
        told.append(v.reason if not name or name in v.reason else f"{name}: {v.reason}")
    return "; ".join(told)


def found(kind: str, make: Callable[[Evidence], Sequence[Check]], needs: str) -> Check:
    """Checks that depend on what was run: all that `make` finds in the rows must hold, and there
    must be one."""

    def judge(rows: Evidence) -> Verdict:
        checks = make(rows)
        if not checks:
            return Verdict("undecided", (), None, None, f"{OUT}: {needs}")
        return every(*checks).judge(rows)

    return Check(kind, judge)


def each(make: Callable[[str], Check], where: Callable[[str], bool] = lambda label: True) -> Check:
    """A check of every run whose label passes `where`: all must hold, and there must be one."""
    chosen = lambda rows: [make(label) for label in rows if where(label)]
    return found(make("").kind, chosen, "no such run in the plan")
