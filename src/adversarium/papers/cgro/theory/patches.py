"""Define CGRO's runs with the paper's exponents, and the condition that some u_r(0) > 0."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.networks import CubicCNN
from adversarium.plans import Check, Evidence, Given, Need, Read, Rows, Run, Where, quantity
from adversarium.training import Risk

STARTS = ("largest_signal", "signals")  # a run records one of these at t = 0


def patches(
    family: str, at: Mapping[str, Any] | None = None, *, d: int = 200, P: int = 3, N: int = 10,
    m: int = 8, eta: float = 0.05, steps: int = 20_000, lam: float = 0.5,
    alpha: float | None = None, sigma: float | None = None, sigma0: float | None = None,
    gap: float | None = None, **recorded: Any,
) -> Run:  # fmt: skip
    """Return a run with α = d^0.249, σ = d^−0.509, σ0 = d^−1/2 and 1 − γ = 1/(√d ln d), §3 of CGRO;
    any of them can be set.

    All other polylog factors are 1. The defaults are the set E of the experiment thm4_1.
    """
    alpha = d**0.249 if alpha is None else alpha
    sigma = d**-0.509 if sigma is None else sigma
    sigma0 = d**-0.5 if sigma0 is None else sigma0
    gap = 1 / (math.sqrt(d) * math.log(d)) if gap is None else gap
    return Run(
        family=family,
        at=at or {},
        data=PatchData(d=d, P=P, alpha=alpha, sigma=sigma),
        network=CubicCNN(m=m, sigma0=sigma0),
        attack=GTA(gamma=1 - gap),
        risk=Risk(lam=lam),
        n=N,
        steps=steps,
        eta=eta,
        **recorded,
    )


def many_steps(d: float, steps_factor: float = 1.0) -> int:
    """Return the number of steps of a run with many points, times a factor."""
    return round(steps_factor * 12_000 * math.sqrt(d / 200))


def many_points(family: str, letter: str, d: int, N: int, steps: int, **recorded: Any) -> Run:
    """Return a run with 1 − γ = 1/√d, which satisfies the paper's hypotheses and has a small N_c
    (`critical_count`), so that N = d > N_c."""
    coordinates = {letter: Read({"N": "n", "d": "data.d"}[letter])}
    return patches(family, coordinates, d=d, N=N, gap=d**-0.5, eta=0.3, steps=steps, **recorded)


def largest_start(run: Rows) -> np.ndarray:
    """Return α max_r u_r(0), one per seed."""
    recorded = [run[name].values[:, 0] for name in STARTS if name in run.series]
    largest: np.ndarray = np.max([s.reshape(len(s), -1).max(1) for s in recorded], axis=0)
    return largest


def given_a_start(runs: Where, check: Check) -> Check:
    """Restrict a check to the seeds in which each of the runs starts with some u_r > 0.

    If no u_r(0) is positive, which has probability 2^−m, no unit ever learns the signal.
    """

    def event(rows: Evidence) -> np.ndarray:
        started = np.ones(len(rows.seeds))
        for run in rows.where(runs):
            started *= largest_start(run) > 0
        return started

    return Given(quantity("some u_r(0) > 0", event, Need(runs, STARTS), points=1), check)
