"""CGRO's run at the paper's exponents, and how its seeds start: what its experiments on training
have in common."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.networks import CubicCNN
from adversarium.plans import Check, Evidence, Need, Read, Rows, Run, Where, given, quantity
from adversarium.training import Risk

STARTS = ("largest_signal", "signals")  # a run records one of them at t = 0


def patches(
    family: str, at: Mapping[str, Any] | None = None, *, d: int = 200, P: int = 3, N: int = 10,
    m: int = 8, eta: float = 0.05, steps: int = 20_000, lam: float = 0.5,
    alpha: float | None = None, sigma: float | None = None, sigma0: float | None = None,
    gap: float | None = None, **recorded: Any,
) -> Run:  # fmt: skip
    """A run with α = d^0.249, σ = d^−0.509, σ0 = d^−1/2 and 1 − γ = 1/(√d ln d), §3 of CGRO (all
    other polylogs are 1), with any of them set instead. Set E by default."""
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


def many_steps(d: float, longer: float = 1.0) -> int:
    """The steps of a run with many points, times a factor."""
    return round(longer * 12_000 * math.sqrt(d / 200))


def many_points(family: str, letter: str, d: int, N: int, steps: int, **recorded: Any) -> Run:
    """1 − γ = 1/√d, inside the printed hypotheses, where N_c is small: N = d is beyond it."""
    place = {letter: Read({"N": "n", "d": "data.d"}[letter])}
    return patches(family, place, d=d, N=N, gap=d**-0.5, eta=0.3, steps=steps, **recorded)


def largest_start(run: Rows) -> np.ndarray:
    """α max_r u_r(0), one a seed."""
    recorded = [run[name].values[:, 0] for name in STARTS if name in run.series]
    largest: np.ndarray = np.max([s.reshape(len(s), -1).max(1) for s in recorded], axis=0)
    return largest


def given_a_start(meant: Where, check: Check) -> Check:
    """The check on the seeds in which every one of the runs starts with some u_r > 0: without one,
    an event of probability 2^−m, no unit ever learns the signal."""

    def event(rows: Evidence) -> np.ndarray:
        happened = np.ones(len(rows.seeds))
        for run in rows.where(meant):
            happened *= largest_start(run) > 0
        return happened

    return given(quantity("some u_r(0) > 0", event, Need(meant, STARTS), points=1), check)
