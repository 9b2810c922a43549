"""Check f_adv, its network and its size."""

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Every,
    Existence,
    Exponent,
    Identity,
    Level,
    NoDecay,
    NoGrowth,
    NotTestable,
    Parts,
    Reading,
    Why,
    last,
    where,
)


def errors(name):
    """Return checks of the three errors of f_adv or of its network, for N well below the number of
    cells.

    The robust test error must lie in [0.9 μ, μ]; the other errors must be 0.
    """
    return {
        "robust training error 0": Level(last(f"{name}.robust_train", name), 0, 0),
        "clean test error 0": Level(last(f"{name}.clean_test", name), 0, 0),
        "robust test error Ω(μ), few points": Every(
            Level(last(f"{name}.robust_small", name), 0.9),
            Level(last(f"{name}.robust_large", name), 0, 0),
        ),
    }


# Once N points cover the cells, the memorised balls also cover the test points.
error_does_not_decay = NoDecay(
    "power of N in robust test error/μ",
    "f_adv.robust_test/mu",
    "N",
    where("covering"),
    kind="level",
)


# The robust test error of any f with robust training error 0 is at most TV(D, law of S).
distance_does_not_decay = NoDecay(
    "power of N in TV(D, law of S)/μ", "distance/mu", "N", where("law"), kind="level"
)


def per_size(what, along, runs):
    """Require that the number of parameters per ball and dimension neither grows nor falls."""
    name, number = f"power of {what} in the size for each", "per ball and dimension"
    return Every(NoGrowth(name, number, along, runs), NoDecay(name, number, along, runs))


def _memory_grows(balls):
    """Require that the memory of CGRM grows in proportion to the number of points."""
    memory = Exponent("power of N in the size of the memory", "memory", "N", balls, 1, 0.1)
    return CountedAs("ordering", memory)


memory_grows = _memory_grows(where("more balls"))


def vacuous(run):
    """Require that the second term of the bound is at least 1: the class shatters N points."""
    slack = Reading("1 − √(VC dimension/N)", lambda rows: 1 - rows.last("bound"), ("bound",))
    return AtMost(slack.on(run), 0.0)


BALLS, DIMENSIONS = where("more balls"), where("more dimensions")


def _exact(run):
    return Existence(last("exact", run))


checks = {
    "cgrm.prop3.1": Identity(last("all", "boundary"), 0.0),
    "cgrm.prop3.1.corrected": Identity(last("right", "boundary"), 0.0),
    "cgrm.prop3.2": Parts(
        {**errors("f_adv"), "robust test error Ω(μ), N → ∞ at fixed d": error_does_not_decay}
    ),
    "cgrm.prop3.2.corrected": Parts(errors("f_adv")),
    "cgrm.thm3.3": Existence(last("everywhere", "closeness")),
    "cgrm.thm3.3.corrected": Parts(
        {
            "close off the ramp shells": Existence(last("off_shells", "closeness")),
            "size a ball": per_size("balls", "N", BALLS),
            "size a dimension": per_size("dimensions", "d", DIMENSIONS),
        }
    ),
    "cgrm.lemA.4": Each(where("distance"), _exact),
    "cgrm.cor3.4": Parts(
        {
            **errors("network"),
            "robust test error Ω(μ), N → ∞ at fixed d": distance_does_not_decay,
        }
    ),
    "cgrm.complexity-order": NotTestable(
        "ordering",
        Why.ALL_NETWORKS,
        "robust networks that were built bound their size from above only (cgrm.thm3.5); that the "
        "memory grows with N and the clean classifier does not is a claim of its own",
    ),
    "cgrm.complexity-order.memory": memory_grows,
    "cgrm.std-bound": NotTestable("inequality", Why.CITED, "Complexity = O(Nd) is a cited order"),
    "cgrm.std-bound.shattered": Each(where("shattered"), vacuous),
    "cgrm.lemA.7": AtMost(last("power", "VC"), 0.0),
}
