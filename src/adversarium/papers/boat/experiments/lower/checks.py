"""Check Theorem 3.2 of BOAT."""

import math
from functools import cache

import numpy as np

from adversarium.data import overlap
from adversarium.data.clusters import robust_floor
from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Hypothesis,
    Identity,
    Level,
    Parts,
    Reading,
    Rows,
    last,
    where,
)

from .plan import FINE, HALF_DRAWS, LEAST, NETS, SAMPLED, SPREAD

EXACT = 1e-12  # tolerance for rounding


def _ratios(run: Rows, low: float, high: float) -> np.ndarray:
    """Return which values of the axis α/‖μ‖ lie in [low, high)."""
    at = np.array(run["least"].axes["α/‖μ‖"])
    return (at >= low) & (at < high)


def _worst(name: str, of, low: float = 0.0, high: float = 1.0) -> Reading:
    """Return the largest value of a quantity over the radii with low ≤ α/‖μ‖ < high."""
    names = ("printed", "tight", "least", "oracle", "threshold", "closed")
    return Reading(name, lambda run: of(run)[:, _ratios(run, low, high)].max(1), names)


def _difference(name: str, above: str, below: str, low: float = 0.0, high: float = 1.0) -> Reading:
    return _worst(name, lambda run: run.last(above) - run.last(below), low, high)


def _distance(name: str, one: str, other: str) -> Reading:
    return _worst(name, lambda run: np.abs(run.last(one) - run.last(other)))


printed = _difference("printed bound − least error", "printed", "least")
tight = _difference("bound with ½ − least error", "tight", "least")
printed_over_tight = _difference("printed bound − bound with ½", "printed", "tight")
below_half = _worst("½ − least error, α ≥ ‖μ‖", lambda run: 0.5 - run.last("least"), 1.0, 9.0)
control = _worst("least error at 0.95‖μ‖", lambda run: run.last("least"), 0.95, 1.0)
attained = _distance("|sign⟨μ, x⟩'s error − bound with ½|", "oracle", "tight")
factor = _worst(
    "|optimal risk/printed bound − 2|",
    lambda run: np.abs(run.last("oracle") / run.last("printed") - 2),
)
matching_gap = _distance("|least error by matching − closed form|", "least", "closed")
threshold_gap = _distance("|best threshold − closed form|", "threshold", "closed")


_overlap = cache(overlap)  # computed once, because every seed and every part needs it


def _floor(run: Rows, sharp: bool) -> float:
    data, alpha = run.run.data, run.run.attack.radius
    if alpha >= data.mu:
        return 0.5
    return robust_floor(data.beta, _overlap(data.marginal, 2 * (data.mu - alpha)), sharp)


def _shortfall(sharp: bool) -> Reading:
    """Return how far a network's robust error is below the bound; the check itself accounts for the
    number of sampled points."""
    bound = "bound with ½" if sharp else "printed bound"
    return Reading(
        f"{bound} − robust error found",
        lambda run: _floor(run, sharp) - run.last("robust"),
        ("robust",),
    )


def _networks(sharp: bool, ratios: tuple[float, ...]) -> Check:
    shortfall = _shortfall(sharp)
    return Every(
        *(Each(where(NETS, ratio=r), lambda run: AtMost(shortfall.on(run), 0.0)) for r in ratios)
    )


def _half_spaces(name: str) -> Check:
    def shortfall(run: Rows) -> np.ndarray:
        found = run.last("found")
        return run.last(name) - found - 3 * np.sqrt(found * (1 - found) / HALF_DRAWS)

    excess = Reading(f"{name} bound − best half-space − 3 s.e.", shortfall, (name, "found"))
    return Each(where(SPREAD), lambda run: AtMost(excess.on(run), 0.0))


def _over(name: str, other: str) -> Reading:
    return Reading(f"{name}/{other}", lambda run: run.last(name) / run.last(other), (name, other))


def _off(name: str, other: str) -> Reading:
    return Reading(
        f"|{name}/{other} − 1|",
        lambda run: np.abs(run.last(name) / run.last(other) - 1),
        (name, other),
    )


def _gaussian(run: Rows) -> np.ndarray:
    """Return 2Φ(−(‖μ‖ − α)/σ)."""
    given = run.task.parameters
    z = (1 - given["ratio"]) * given["mu"] / given["marginal"].sigma
    return np.full(len(run.seeds), math.erfc(z / math.sqrt(2)))


def _from_closed(name: str) -> Reading:
    return Reading(f"{name}/2Φ(−(‖μ‖ − α)/σ)", lambda run: run.last(name) / _gaussian(run), (name,))


off_closed = Reading(
    "|exact/2Φ(−(‖μ‖ − α)/σ) − 1|",
    lambda run: np.abs(run.last("exact") / _gaussian(run) - 1),
    ("exact",),
)


def _sampled(**at) -> Check:
    """Require that the midpoint estimator agrees with the quadrature, on average over seeds."""
    return Each(
        where(SAMPLED, **at), lambda run: Level(_over("sampled", "exact").on(run), 0.95, 1.05)
    )


def _known_overlaps() -> Check:
    """Require known overlaps I for quartic noise, ‖μ‖ = 3, α/‖μ‖ = 0.1, within 1 %.

    The value for k = 16 comes from our own quadrature and only guards against changes.
    """
    return Every(
        *(
            Level(last("exact", where(SAMPLED, law="quartic", k=k, mu=3.0)), 0.99 * I, 1.01 * I)
            for k, I in ((4, 1.35e-5), (16, 3.74e-5), (100, 3.09e-5))
        )
    )


def _from(name: str, value: float) -> Reading:
    return Reading(f"|{name} − {value:g}|", lambda run: np.abs(run.last(name) - value), (name,))


def _laws(names: tuple[str, ...], make, **at) -> Check:
    return Every(*(Each(where(SAMPLED, law=name, **at), make) for name in names))


SYMMETRIC = ("Gauss", "wide Gauss", "quartic", "Gauss–Laplace", "truncated")
NORMAL = SYMMETRIC[:2]


def _least(reading: Reading, most: float = EXACT, **at) -> Check:
    return Each(where(LEAST, **at), lambda run: AtMost(reading.on(run), most))


def _same(reading: Reading, laws: tuple[str, ...], most: float = EXACT) -> Check:
    return Every(
        *(
            Each(where(LEAST, law=law, beta=0.0), lambda run: Identity(reading.on(run), most))
            for law in laws
        )
    )


checks: dict[str, Check] = {
    "boat.thm3.2.lower": Parts(
        {
            "any classifier, μ on an axis": _least(printed),
            "half-spaces, μ spread over 4 and 16 coordinates": _half_spaces("printed"),
            "trained networks": _networks(False, (0.1, 0.5, 0.9)),
        }
    ),
    "boat.thm3.2.large_alpha": CountedAs(
        "inequality",
        Parts(
            {
                "any classifier, μ on an axis": _least(below_half),
                "trained networks": _networks(False, (1.0, 1.5)),
                "some classifier does better at 0.95‖μ‖": Each(
                    where(LEAST, beta=0.0), lambda run: Level(control.on(run), high=0.4999)
                ),
            }
        ),
    ),
    "boat.thm3.2.gaussian": CountedAs(
        "identity",
        Parts(
            {
                "by quadrature": _laws(NORMAL, lambda run: Identity(off_closed.on(run), 1e-6), k=1),
                "in k dimensions, by sampling": _laws(
                    NORMAL, lambda run: Level(_from_closed("sampled").on(run), 0.97, 1.03)
                ),
                "half the optimal risk at β = 0": _same(factor, NORMAL, 1e-6),
            }
        ),
    ),
    "boat.thm3.2.axis_symmetric": CountedAs(
        "identity",
        Parts(
            {
                "symmetric unimodal laws": _laws(
                    SYMMETRIC, lambda run: Identity(_off("exact", "symmetric").on(run), 1e-6), k=1
                ),
                "a skew law differs": _laws(
                    ("skew",),
                    lambda run: Level(_over("exact", "symmetric").on(run), 1.5),
                    k=1,
                    mu=2.0,
                ),
                "to the printed digits: 0.019716, not 0.010817": _laws(
                    ("skew",),
                    lambda run: Every(
                        Identity(_from("exact", 0.019716).on(run), 5e-7),
                        Identity(_from("symmetric", 0.010817).on(run), 5e-7),
                    ),
                    k=1,
                    mu=2.0,
                ),
            }
        ),
    ),
    "boat.thm3.2.mc": CountedAs(
        "level",
        Parts(
            {
                "sampling agrees with quadrature": _sampled(),
                "the three known overlaps": _known_overlaps(),
            }
        ),
    ),
    "boat.thm3.2.tight": Parts(
        {
            "any classifier, μ on an axis": _least(tight),
            "never below the printed bound": _least(printed_over_tight),
            "attained at β = 0 by sign⟨μ, x⟩ (symmetric unimodal laws)": _same(attained, SYMMETRIC),
            "half-spaces, μ spread over 4 and 16 coordinates": _half_spaces("tight"),
            "trained networks": _networks(True, (0.1, 0.5, 0.9)),
        }
    ),
    "boat.thm3.2.exact_gauss": CountedAs(
        "inequality",
        Parts(
            {
                "from below, by matching": Each(
                    where(FINE), lambda run: Identity(matching_gap.on(run), 1e-6)
                ),
                "from above, by a threshold or a constant": Each(
                    where(FINE), lambda run: Identity(threshold_gap.on(run), 1e-6)
                ),
                "never below the bound with ½": _least(tight, law="Gauss"),
            }
        ),
    ),
    "boat.thm3.2.oracle": Hypothesis(
        "level",
        *(
            last(name, where("oracle", mu=mu, ratio=ratio))
            for mu in (1.0, 2.0)
            for ratio in (0.1, 0.5)
            for name in ("found", "closed")
        ),
    ),
}
