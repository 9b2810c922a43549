"""Express a theorem's hypotheses as numbers: the factor by which a run satisfies each of them."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Gate:
    """A hypothesis of a theorem: a factor, and the range in which this factor must lie.

    `printed` is true if the paper states the hypothesis, and false if only its proof needs it.
    `run` is the run to which the factor belongs, in a list of several runs.

    >>> print(Gate("α/β", 2.0, low=1.0))
    α/β = 2, required ≥ 1: yes
    """

    text: str
    factor: float
    low: float = -math.inf
    high: float = math.inf
    printed: bool = True
    run: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the factor lies in the range."""
        return self.low <= self.factor <= self.high

    def __str__(self) -> str:
        ends = (
            f"≥ {self.low:g}" if self.low > -math.inf else "",
            f"≤ {self.high:g}" if self.high < math.inf else "",
        )
        limits = " and ".join(end for end in ends if end)
        required = f", required {limits}: {'yes' if self.holds else 'no'}" if limits else ""
        return f"{self.text} = {self.factor:.3g}{required}"
