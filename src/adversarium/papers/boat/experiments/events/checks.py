"""Check BOAT's high-probability events."""

import math

import numpy as np

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Frequency,
    Level,
    NoDecay,
    NoGrowth,
    Parts,
    Reading,
    last,
    where,
)

from .plan import ALL, ARM

DELTA = 0.1
JUDGED_RUNGS = (8, 16)  # the values of C at which events are judged


def _frequent(event: str, family: str, least: float = 1 - DELTA) -> Check:
    """Require that an event of a family has at least the frequency `least` at C = 8 and 16."""
    return Every(
        *(
            Each(
                where(family, C=C),
                lambda run: Frequency(last(event, run), "draws", least),
            )
            for C in JUDGED_RUNGS
        )
    )


def _families(event: str, names=("L", "A")) -> Check:
    """Require that an event has at least the frequency 1 − δ in some families at C = 8 and 16, and
    in the runs that vary n or d at C = 8."""
    along = (
        Each(where(ARM.format(arm)), lambda run: Frequency(last(event, run), "draws", 1 - DELTA))
        for arm in ("n", "d")
    )
    return Every(*(_frequent(event, family) for family in names), *along)


def _flat(rule, number: str, arms=("n", "d")) -> Check:
    return Every(
        *(rule(f"power of {arm} in {number}", number, arm, where(ARM.format(arm))) for arm in arms)
    )


def _event(parts_: dict[str, Check]) -> Check:
    return CountedAs("frequency", Parts(parts_))


def _worst_on_axis(
    name: str, axis: str, low: float, high: float = math.inf, pick=np.min
) -> Reading:
    """Return the worst value (`pick`) of a quantity over its axis between low and high."""

    def worst(run):
        at = np.array(run[name].axes[axis])
        return pick(run.last(name)[:, (at >= low) & (at <= high)], axis=1)

    return Reading(f"{name}, {axis} ≥ {low:g}", worst, (name,))


def _largest(name: str) -> Reading:
    return Reading(f"largest {name}", lambda run: run.last(name).max(1), (name,))


probability_from_C8 = _worst_on_axis("kept", "C", 8)

checks: dict[str, Check] = {
    "boat.lemB.3.init": _event(
        {
            "lengths, all units": CountedAs(
                "frequency",
                Every(
                    *(
                        Each(
                            where("first weights", C=C),
                            lambda run: Level(last("lengths", run), 1 - DELTA / 2, 1),
                        )
                        for C in JUDGED_RUNGS
                    )
                ),
            ),
            "‖W⁰‖₂ = O(ω(√m + √d)), m/d from 10⁻⁴ to 4": Every(
                Each(where("shapes"), lambda run: AtMost(last("spectral", run), 1.5)),
                NoGrowth("power of m/d in ‖W⁰‖₂/(ω(√m + √d))", "spectral", "m/d", where("shapes")),
            ),
        }
    ),
    "boat.lemB.19.init_G": CountedAs(
        "frequency", _frequent("spread", "first weights", 1 - 3 * DELTA / 4)
    ),
    "boat.lemB.4.C1": _event(
        {"the event": _families("C1"), "all of C1 to C7 at once": _families("joint")}
    ),
    "boat.lemB.4.C2": _event(
        {"the event": _families("C2"), "its order, over n and d": _flat(NoGrowth, "cross")}
    ),
    "boat.lemB.4.C3": _event(
        {"the event": _families("C3"), "its order, over n and d": _flat(NoGrowth, "top")}
    ),
    "boat.lemB.4.C4": _event(
        {
            "the event, all balls at once": _families("C4"),
            "its order, over n and d": _flat(NoDecay, "bottom"),
        }
    ),
    "boat.lemB.4.C5": _event(
        {
            "the event": _families("C5", ("L", "A", "near", "far")),
            "exactly, where ‖μ‖² = C log(n/δ), C ≥ 8": Each(
                where("C5"), lambda run: Level(probability_from_C8.on(run), 1 - DELTA, 1)
            ),
        }
    ),
    "boat.lemB.4.C6": _event(
        {
            "the event": _families("C6", ("L", "A", "near", "far")),
            "exactly, where ‖μ‖² = C log(n/δ), C ≥ 8, were all points flipped": Each(
                where("C5"), lambda run: Level(probability_from_C8.on(run), 1 - DELTA, 1)
            ),
        }
    ),
    "boat.lemB.4.C7": _event(
        {
            "the event": _families("C7", ("L", "A", "near", "far")),
            "exactly, independent flips": Each(
                where("C7"), lambda run: Level(_worst_on_axis("kept", "n", 0).on(run), 1 - DELTA, 1)
            ),
        }
    ),
    "boat.propB.18.G_size": CountedAs(
        "inequality",
        Parts(
            {
                "random variances": Each(
                    where("variances"), lambda run: AtMost(last("largest", run), 1.0)
                ),
                "as few large variances as possible": Each(
                    where("variances"), lambda run: AtMost(last("sharp", run), 1.0)
                ),
            }
        ),
    ),
    "boat.propB.20.anticonc": CountedAs(
        "inequality", Each(where(ALL), lambda run: Level(last("quotient", run), 1.0))
    ),
    "boat.propB.23.D1": CountedAs(
        "frequency",
        AtMost(_largest("constant").on(where("one vector", d=1)), math.sqrt(2)),
    ),
    "boat.propB.23.D2": CountedAs(
        "frequency",
        Parts(
            {
                "the norm": Each(
                    where("one vector"), lambda run: AtMost(_largest("long").on(run), 1.0)
                ),
                "the mean of the tail": Each(
                    where("one vector"), lambda run: AtMost(_largest("mean").on(run), 1.0)
                ),
            }
        ),
    ),
}
