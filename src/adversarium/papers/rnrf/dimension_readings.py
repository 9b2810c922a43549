"""The runs over the dimension in RNRF, and what their checks read."""

import numpy as np

from adversarium.papers.rnrf.readings import A, B, linear, pull_ratio, threshold
from adversarium.plans import Evidence, Need, Reading, Rows, quantity, where
from adversarium.plans.readings import when

STANDARD, ASSUMED, ATTACKED = "standard", "Assumption B.3", "attacked"  # families


def _over_bound(rows: Rows) -> np.ndarray:
    """The largest over classes of A(T)/A(0) over its bound 1/(1 − S A(0)/B(0)), T the first time
    with B ≥ ϱ/β; classes with S A(0) ≥ B(0), which Lemma B.2 of RNRF leaves out, do not count."""
    robust, other = rows[A].values, rows[B].values
    start = pull_ratio(rows) * robust[:, 0] / other[:, 0]
    share = when(robust, linear(rows, B)) / robust[:, 0] * (1 - start)
    return np.where(start < 1, share, -np.inf).max(-1)


over_bound = Reading("A(T)/A(0) over 1/(1 − S A(0)/B(0))", _over_bound, (A, B))


def highest(name: str) -> Reading:
    """The largest value at any record time (the last may be negative)."""
    return Reading(f"max over t of {name}", lambda rows: rows[name].values.max(1), (name,))


def _least_stage(rows: Evidence) -> np.ndarray:
    """The smallest over runs of ϱ/(β max B(0)): only above 1 is there a polynomial stage."""
    runs = rows.where(where(ASSUMED))
    return np.min([threshold(run, B) / run[B].values[:, 0].max(-1) for run in runs], axis=0)


least_stage = quantity("least ϱ/(β max B(0))", _least_stage, Need(where(ASSUMED), (B,)))
