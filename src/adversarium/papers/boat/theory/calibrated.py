"""Judge a fitted power only if its estimator is precise enough on an exact law."""

from dataclasses import dataclass

from adversarium.plans import Level, Quantity
from adversarium.plans.evidence import Evidence, Need
from adversarium.plans.verdict import Verdict, Why, undecided


@dataclass(frozen=True)
class Calibrated:
    """A check of a fitted power that is undecided if the bias of the estimator on an exact law is
    more than a third of the tolerance.

    >>> import numpy as np
    >>> power = Quantity("power", lambda rows: np.array([2.5, 2.6, 2.5, 2.6, 2.5]))
    >>> for size in (0.01, 0.2):
    ...     bias = Quantity("bias", lambda rows: np.full(5, size))
    ...     print(Calibrated(Level(power, 1.7, 2.3), bias, "finer grid").judge(Evidence()).verdict)
    fails
    undecided
    """

    check: Level
    bias: Quantity
    remedy: str  # what would decide the check if the bias is too large
    kind = "exponent"

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return the rows that the power and its bias need."""
        return (*self.check.needs, *self.bias.needs)

    def judge(self, rows: Evidence) -> Verdict:
        """Judge the power, if the bias is at most a third of the tolerance."""
        off = float(self.bias.of(rows)[0])
        verdict = self.check.judge(rows)
        most = (self.check.high - self.check.low) / 6
        if abs(off) <= most:
            return verdict
        message = (
            f"on an exact law, the fitted power is off by {off:+.2f}, more than a third of the "
            f"tolerance ({most:.2g}); {self.remedy}"
        )
        return undecided(Why.SPANS, message, verdict.measured, verdict.low, verdict.high)
