"""How BOAT's theory runs are judged: along the ladder of C, over the arms, in time."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from adversarium.papers.boat.families import SHARP, SMOOTH
from adversarium.papers.boat.theory_readings import (
    exponent_quotients,
    falls,
    in_time,
    scaled_loss,
)
from adversarium.plans import (
    Check,
    Reading,
    Where,
    at_most,
    counted_as,
    each,
    end,
    every,
    exponent,
    ladder,
    level,
    no_growth,
    power,
    quantity,
    setting,
    where,
)
from adversarium.plans.evidence import NO_ROWS, Evidence, Need, Quantity

BOTH = (SHARP, SMOOTH)
SIGNS = ("signs, L", "signs, A")
ARMS = ("n", "d", "‖μ‖", "m", "α/‖μ‖")


def in_due_time(epsilon: float, *families: str) -> Check:
    """L̂ is ε or less by T̄(ε) of Theorem 3.1, ζ = 0."""
    runs, number = Where(families, {"φ": SMOOTH}), in_time(epsilon)
    return each(runs, lambda run: at_most(number.on(run), 1.0))


def climbed(event: Reading, families=("L", "A"), phis=BOTH, always=False) -> Check:
    """An event at the two top rungs of every family."""
    return every(
        *(
            ladder(f"{event.name} ({family}, {phi})", event, "C", where(family, φ=phi),
                   always=always)
            for family in families
            for phi in phis
        )
    )  # fmt: skip


def flat(rule, number: str | Reading, phis=BOTH, arms=ARMS, logs=0.0) -> list[Check]:
    """No trend along any arm."""
    reading = end(number) if isinstance(number, str) else number
    return [
        rule(f"power of {arm} in {reading.name} ({phi})", reading, arm,
             where(f"arm {arm}", φ=phi), logs)
        for arm in arms
        for phi in phis
    ]  # fmt: skip


def rung_trend(rule, number: Reading, families=("L",), phis=BOTH) -> list[Check]:
    """No trend along the ladder itself."""
    return [
        rule(f"power of C in {number.name} ({family}, {phi})", number, "C", where(family, φ=phi))
        for family in families
        for phi in phis
    ]


def tends_to_zero(number: Reading, place: str, phi: str, family: str = "L") -> Check:
    told = f"power of C in the {number.name} ({', '.join((place, family, phi))})"
    return exponent(told, number, "C", where(family, φ=phi), -0.1, (math.inf, 0.0))


def over_T(number: Reading, phi: str) -> Check:
    """The power of T in a number at C = 8, from the 60 steps of L to the 2,000 of the long run: no
    decay."""
    short, long = where("L", φ=phi, C=8), where("long", φ=phi, C=8)

    def value(rows: Evidence) -> np.ndarray:
        runs = [rows.one(meant) for meant in (short, long)]
        steps = [run.run.steps for run in runs]
        values = [number.of(run) for run in runs]
        return np.asarray(np.log(values[1] / values[0]) / math.log(steps[1] / steps[0]))

    needs = (Need(meant, number.names) for meant in (short, long))
    return power(quantity(f"power of T in {number.name} ({phi})", value, *needs), -0.1, math.inf)


def told_by(number: Reading, families=("L", "A"), phis=BOTH, rungs=(2, 4, 8, 16)) -> Check:
    """A number at every rung, unjudged."""
    return setting(
        "level",
        *(
            number.on(where(family, φ=phi, C=C))
            for family in families
            for phi in phis
            for C in rungs
        ),
    )


def power_at_most(number: Reading, most: float, meant: Where) -> Check:
    """A power of t, fitted in every such run."""
    return each(meant, lambda run: power(number.on(run), -math.inf, most))


def fallen(phi: str) -> Check:
    """In every draw, at C = 8 (at C = 2 one draw of ReLU in forty never fits all points)."""
    meant = where("long", φ=phi, C=8)
    return each(meant, lambda run: level(falls.on(run), high=-0.5, always=True))


def bounded_loss(phi: str) -> Check:
    """The largest L̂γ‖μ‖√(ηT) of a run grows neither along n, d, m nor along the ladders, where
    every gate is kept. Along ‖μ‖ alone it does, like ‖μ‖√(n/d), which a gate holds below 1/√C."""
    trends = rung_trend(no_growth, scaled_loss, ("L", "A"), (phi,))
    return every(*trends, *flat(no_growth, scaled_loss, (phi,), ("n", "d", "m")))


def promised(number: Reading, *families: str) -> Check:
    """What Lemma 4.2 promises is kept in every draw of every run."""
    return each(Where(families), lambda run: at_most(number.on(run), 1.0))


def exponent_quotient(word: str, of: Callable[[Iterable[float]], float]) -> Quantity:
    """An extreme of the printed exponents' quotient over (2c/C²)·n‖μ‖²/d on a grid, the same
    whatever the seed."""

    def found(rows: Evidence) -> np.ndarray:
        return np.full(len(rows.seeds), of(exponent_quotients()))

    return quantity(f"{word} quotient", found, Need(where("L"), NO_ROWS))


def inequality_of(*checks: Check) -> Check:
    return counted_as("inequality", every(*checks))
