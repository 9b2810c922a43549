"""Judge statements with a “sufficiently large” constant at several values of this constant."""

import math
from dataclasses import dataclass, replace

import numpy as np

from adversarium.plans.evidence import Evidence, Need, Reading, Summary, Where
from adversarium.plans.intervals import SEEDS, clopper_pearson
from adversarium.plans.verdict import Outcome, Sensitivity, Verdict, Why, undecided

RUNGS = 3  # the smallest number of rungs that a ladder may have


@dataclass(frozen=True)
class Ladder:
    """A check of an event's frequency at several increasing values of a constant, the rungs.

    It holds if at the two top rungs the interval of the frequency lies at or above `at_least`;
    lower rungs may lie below. It fails if at the two top rungs the interval lies below `at_least`
    and the frequency does not rise from one to the other. With `always`, it holds only if the event
    occurs in every seed of the two top rungs.

    >>> import adversarium as av
    >>> from adversarium.plans import end
    >>> def event(rng, C):
    ...     return {"met": float(C >= 4)}
    >>> def rung(C):
    ...     return av.Trial(function=event, parameters={"C": C}, at={"C": C})
    >>> rows = Evidence(tuple(av.run(rung(C), range(30)).rows for C in (2, 4, 8)))
    >>> Ladder("met", end("met"), "C", Where()).judge(rows).reason
    'reached for C ≥ 4 (frequencies 0, 1, 1 at C = 2, 4, 8)'
    """

    name: str
    event: Reading  # one number per seed: 1 if the event occurred
    along: str
    selection: Where
    at_least: float = 0.8
    always: bool = False
    kind: str = "frequency"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows of the event, at every rung."""
        return (Need(self.selection, self.event.names),)

    def judge(self, rows: Evidence) -> Verdict:
        """Compare the frequencies at the two top rungs with the required one. A reason against the
        statement names the event, not its first rung."""
        verdict = self._compared(rows)
        if verdict.outcome == Outcome.HOLDS:
            return verdict
        return replace(verdict, said=f"{self.name}: {verdict.reason}")

    def _compared(self, rows: Evidence) -> Verdict:
        rungs = rows.where(self.selection).by(self.along)
        wanted = 1.0 if self.always else self.at_least
        if len(rungs) < RUNGS:
            message = f"a ladder needs {RUNGS} rungs, but the plan has {len(rungs)}"
            return undecided(Why.SPANS, message, (), wanted, None)
        counts = {C: self.event.of(run) for C, run in rungs.items()}
        measured = tuple(_summary(f"{self.name} ({self.along} = {C:g})", counts[C]) for C in counts)
        if any(not np.isfinite(values).all() for values in counts.values()):
            return undecided(Why.REGIME, "some seeds have no finite value", measured, wanted, None)
        shares = [float(values.mean()) for values in counts.values()]
        message = self._since(dict(zip(counts, shares, strict=True)), wanted)
        tops = list(counts.values())[-2:]
        if min(map(len, tops)) < SEEDS:
            few = f"{len(tops[0])}, but at least {SEEDS} are needed"
            return undecided(Why.FEW_SEEDS, few, measured, wanted)
        if self.always:
            return self._every_seed(tops, shares, measured, message)
        ends = [
            clopper_pearson(round(float(v.sum())), len(v), (1 + rows.confidence) / 2) for v in tops
        ]
        sharp = (
            Sensitivity("half width", max((b - a) / 2 for a, b in ends)),
            Sensitivity("from the edge", min(a for a, _ in ends) - wanted),
        )
        if all(a >= wanted for a, _ in ends):
            return Verdict(
                Outcome.HOLDS, measured, wanted, None, message, sharpness=sharp, chance=True
            )
        if all(b < wanted for _, b in ends) and shares[-1] <= shares[-2]:
            return Verdict(
                Outcome.FAILS, measured, wanted, None, message, sharpness=sharp, chance=True
            )
        if all(b < wanted for _, b in ends):
            message = f"the frequency still rises at the top rung: {message}"
            return undecided(Why.CONSTANT, message, measured, wanted, None)
        if ends[-1][0] >= wanted and ends[-2][1] < wanted:
            message = f"one more rung would decide it: {message}"
            return undecided(Why.CONSTANT, message, measured, wanted, None)
        return undecided(Why.FEW_SEEDS, message, measured, wanted, None)

    def _every_seed(
        self,
        tops: list[np.ndarray],
        shares: list[float],
        measured: tuple[Summary, ...],
        message: str,
    ) -> Verdict:
        sharp = (Sensitivity("cases", sum(map(len, tops))),)
        if all((values == 1).all() for values in tops):
            return Verdict(
                Outcome.HOLDS, measured, 1.0, None, message, sharpness=sharp, chance=True
            )
        if shares[-1] < 1 and shares[-1] <= shares[-2]:
            return Verdict(
                Outcome.FAILS, measured, 1.0, None, message, sharpness=sharp, chance=True
            )
        return undecided(Why.CONSTANT, f"the frequency still rises: {message}", measured, 1.0, None)

    def _since(self, shares: dict[float, float], wanted: float) -> str:
        """Name the rung from which the frequency is always reached, and list all frequencies."""
        known = list(shares.items())
        kept = math.inf
        for C, share in reversed(known):
            if share < wanted:
                break
            kept = C
        listed = ", ".join(f"{share:.3g}" for _, share in known)
        places = ", ".join(f"{C:g}" for C, _ in known)
        since = f"reached for {self.along} ≥ {kept:g}" if kept < math.inf else "reached at no rung"
        return f"{since} (frequencies {listed} at {self.along} = {places})"


def _summary(name: str, values: np.ndarray) -> Summary:
    low, high = clopper_pearson(round(float(values.sum())), len(values))
    return Summary(name, float(values.mean()), low, high, tuple(float(v) for v in values))
