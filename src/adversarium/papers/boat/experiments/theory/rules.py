"""Define how BOAT's theory runs are judged: along C, along arms (one varying size), and in time."""

import math

import numpy as np

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Exponent,
    Hypothesis,
    Level,
    NoGrowth,
    Reading,
    Where,
    end,
    quantity,
    where,
)
from adversarium.plans.evidence import NO_ROWS, Evidence, Need

from ...theory.families import SHARP, SMOOTH, named
from ...theory.ladder import Ladder
from .readings import exponent_quotients, falls, in_time, scaled_loss

BOTH = (SHARP, SMOOTH)
SIGNS = ("signs, L", "signs, A")
ARMS = ("n", "d", "‖μ‖", "m", "α/‖μ‖")


def in_due_time(epsilon: float, *families: str) -> Check:
    """Require that L̂ is at most ε by T̄(ε) of Theorem 3.1 with ζ = 0."""
    runs, number = Where(families, {"φ": SMOOTH}), in_time(epsilon)
    return Each(runs, lambda run: AtMost(number.on(run), 1.0))


def on_ladder(event: Reading, families=("L", "A"), phis=BOTH, always=False, step="") -> Check:
    """Require an event at the two largest C of every family."""
    return Every(
        *(
            Ladder(f"{event.name} ({family}, {phi})", event, "C", where(family, φ=phi),
                   always=always)
            for family in (named(family, step) for family in families)
            for phi in phis
        )
    )  # fmt: skip


def flat(rule, number: str | Reading, phis=BOTH, arms=ARMS, logs=0.0, step="") -> list[Check]:
    """Return checks that a quantity does not grow or decay (`rule`) along any arm; with the printed
    η, the plan has the arms with ReLU only."""
    reading = end(number) if isinstance(number, str) else number
    return [
        rule(f"power of {arm} in {reading.name} ({phi})", reading, arm,
             where(named(f"arm {arm}", step), φ=phi), logs)
        for arm in arms
        for phi in phis
        if not step or phi == SHARP
    ]  # fmt: skip


def rung_trend(rule, number: Reading, families=("L",), phis=BOTH, step="") -> list[Check]:
    """Return checks that a reading does not grow or decay (`rule`) along C."""
    return [
        rule(f"power of C in {number.name} ({family}, {phi})", number, "C", where(family, φ=phi))
        for family in (named(family, step) for family in families)
        for phi in phis
    ]


def tends_to_zero(number: Reading, time: str, phi: str, family: str = "L", step="") -> Check:
    """Require that a reading falls with C, at least like C^{−0.1}."""
    family = named(family, step)
    name = f"power of C in the {number.name} ({', '.join((time, family, phi))})"
    return Exponent(name, number, "C", where(family, φ=phi), -0.1, (math.inf, 0.0))


def over_T(number: Reading, phi: str, step="") -> Check:
    """Require that a reading does not decay between the 60 steps of the family L and the 2,000 of
    the family `long` (250 with the printed η), at C = 8."""
    short, long = (where(named(family, step), φ=phi, C=8) for family in ("L", "long"))

    def value(rows: Evidence) -> np.ndarray:
        runs = [rows.one(runs_at) for runs_at in (short, long)]
        steps = [run.run.steps for run in runs]
        values = [number.of(run) for run in runs]
        return np.asarray(np.log(values[1] / values[0]) / math.log(steps[1] / steps[0]))

    needs = (Need(runs_at, number.names) for runs_at in (short, long))
    return Level(
        quantity(f"power of T in {number.name} ({phi})", value, *needs),
        -0.1,
        math.inf,
        kind="exponent",
    )


def reported(number: Reading, families=("L", "A"), phis=BOTH, rungs=(2, 4, 8, 16)) -> Check:
    """Report a reading at every C without judging it."""
    return Hypothesis(
        "level",
        *(
            number.on(where(family, φ=phi, C=C))
            for family in families
            for phi in phis
            for C in rungs
        ),
    )


def power_at_most(number: Reading, most: float, runs: Where) -> Check:
    """Require a power of t, fitted in every selected run, of at most `most`."""
    return Each(runs, lambda run: Level(number.on(run), -math.inf, most, kind="exponent"))


def loss_falls(phi: str) -> Check:
    """Require that the loss falls at least like t^−½, up to 0.05, in every draw at C = 8.

    At C = 2, one ReLU draw in forty never fits all points.
    """
    runs = where("long", φ=phi, C=8)
    return Each(runs, lambda run: Level(falls.on(run), high=-0.45, always=True))


def bounded_loss(phi: str) -> Check:
    """Require that the largest L̂γ‖μ‖√(ηT) of a run grows neither with n, d or m nor with C in the
    families L and A.

    If only ‖μ‖ varies, it grows like ‖μ‖√(n/d), which a hypothesis keeps below 1/√C.
    """
    trends = rung_trend(NoGrowth, scaled_loss, ("L", "A"), (phi,))
    return Every(*trends, *flat(NoGrowth, scaled_loss, (phi,), ("n", "d", "m")))


def within_lemma_4_2(number: Reading, *families: str, step="") -> Check:
    """Require that the error is within the bound of Lemma 4.2 in every draw of every run."""
    families = tuple(named(family, step) for family in families)
    return Each(Where(families), lambda run: AtMost(number.on(run), 1.0))


def _largest_exponent_quotient(rows: Evidence) -> np.ndarray:
    return np.full(len(rows.seeds), max(exponent_quotients()))


# over a grid, the largest quotient of the paper's two exponents, divided by (2c/C²)·n‖μ‖²/d
exponent_quotient = quantity(
    "largest quotient", _largest_exponent_quotient, Need(where("L"), NO_ROWS)
)


def inequality_of(*checks: Check) -> Check:
    """Combine checks into one that counts as an inequality."""
    return CountedAs("inequality", Every(*checks))
