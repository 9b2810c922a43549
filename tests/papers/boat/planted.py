"""Bugs that BOAT's claims must notice."""

import math

from adversarium.data import Gauss
from adversarium.networks import SmoothedLeakyReLU
from adversarium.papers.boat.experiments.fig1 import checks as fig1_checks
from adversarium.papers.boat.theory import cluster_events, overlaps, tradeoffs, two_layer
from tests.planted.bugs import Bug, Plant, derived, scaled, swapped

_SHORT = {
    "mus": (1.0, 2.0, 4.0), "betas": (0.0, 0.05, 0.1, 0.3), "spreads": (1,), "steps": 5,
    "points": 200, "draws": 5000,
}  # fmt: skip
_EVENTS = {
    "rungs": (8, 16), "flips": ("near", "far"), "arms": ("n", "d"), "ratios": (1e-4, 1e-2, 1.0, 4.0)
}  # fmt: skip
_ANY = {"tries": 4, "draws": 50_000}


def _smoother(factor: float) -> Plant:
    """Multiply the smoothness of the smoothed leaky ReLU by a factor."""
    own = SmoothedLeakyReLU.C2.fget  # type: ignore[attr-defined]
    return derived(SmoothedLeakyReLU, "C2", lambda self: factor * own(self))


def _closer(original, plus, minus, far):
    return original(plus, minus, far // 2)


def _without_flips(original, mu, alpha, beta, sigma=1.0):
    return original(mu, alpha, 0.0, sigma)


def _without_beta(original, n, p, most):
    return original(n, p, most - p * n)


def _once_more(original, network, W, x):
    return original(network, W, x) / math.sqrt(network.m)


def _transposed(original, rows, x, y, number):
    return original(rows, y, x, number)


def _lower(original, *sizes):
    return tuple(accuracy - 0.05 for accuracy in original(*sizes))


def _upside_down(original, *what):
    x, y, made = original(*what)
    return x, y[::-1], made


BUGS = (
    Bug(
        "‖μ‖ and d of a map exchanged",
        swapped(fig1_checks, "grid_of", _transposed),
        turns=("boat.fig1.levels",),
        reading=True,
    ),
    Bug(
        "predicted accuracies 0.05 too low",
        swapped(fig1_checks, "lazy_accuracies", _lower),
        turns=("boat.fig1.refined",),
        reading=True,
    ),
    Bug(
        "dimensions of a map in reverse",
        swapped(tradeoffs, "grid_of", _upside_down),
        turns=("boat.fig3.tradeoff",),
        reading=True,
    ),
    Bug(
        "points matched within α, not 2α",
        swapped(overlaps, "matched", _closer),
        turns=("boat.thm3.2.exact_gauss",),
        knobs=_SHORT,
    ),
    Bug(
        "exact Gaussian error without its flips",
        swapped(overlaps, "least_robust_error", _without_flips),
        turns=("boat.thm3.2.exact_gauss",),
        knobs=_SHORT,
    ),
    Bug(
        "share of flips without β",
        swapped(cluster_events, "_binomial", _without_beta),
        turns=("boat.lemB.4.C7",),
        knobs=_EVENTS,
    ),
    Bug(
        "smoothness H halved",
        derived(SmoothedLeakyReLU, "C2", lambda self: (1 - self.gamma) * self.H / 4),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
    Bug(
        "gradient with 1/m for 1/√m",
        swapped(two_layer, "_gradient", _once_more),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
    Bug(
        "λ of Gaussian noise doubled",
        derived(Gauss, "lam", lambda self: 2 * self.sigma**-2),
        turns=("boat.lem4.2.concentration",),
        knobs=_ANY,
    ),
    Bug(
        "gradient a thousandth too large",
        scaled(two_layer, "_gradient", 1.001),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
    Bug(
        "gradient a thousandth too small",
        scaled(two_layer, "_gradient", 0.999),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
    Bug(
        "signs of the top layer a thousandth too large",
        scaled(two_layer, "signs", 1.001),
        turns=("boat.lem4.2.lipschitz",),
        knobs=_ANY,
    ),
    Bug(
        "smoothness a hundredth too small",
        _smoother(0.99),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
    Bug(
        "smoothness a hundredth too large",
        _smoother(1.01),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
    Bug(
        "slope of the smoothed leaky ReLU a thousandth too large",
        scaled(SmoothedLeakyReLU, "slope", 1.001),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
    Bug(
        "smoothed leaky ReLU a thousandth too large",
        scaled(SmoothedLeakyReLU, "__call__", 1.001),
        turns=("boat.lemB.6.taylor",),
        knobs=_ANY,
    ),
)
