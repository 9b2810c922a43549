"""How f_adv, its network and its size are judged."""

from adversarium.plans import (
    Reading,
    at_most,
    counted_as,
    every,
    exponent,
    last,
    level,
    no_decay,
    no_growth,
    where,
)


def errors(name):
    """The three errors of f_adv, or of its network, while N is well below the number of cells:
    robust test error within [0.9, 1] μ, the others 0."""
    return {
        "robust training error 0": level(last(f"{name}.robust_train", name), 0, 0),
        "clean test error 0": level(last(f"{name}.clean_test", name), 0, 0),
        "robust test error Ω(μ), few points": every(
            level(last(f"{name}.robust_small", name), 0.9),
            level(last(f"{name}.robust_large", name), 0, 0),
        ),
    }


# once N points cover the cells, memorising covers the test points
no_longer = no_decay(
    "power of N in robust test error/μ",
    "f_adv.robust_test/mu",
    "N",
    where("covering"),
    kind="level",
)


# nor can any other function be wrong there: its robust test error is at most TV(D, law of S)
no_room = no_decay(
    "power of N in TV(D, law of S)/μ", "distance/mu", "N", where("law"), kind="level"
)


def per_size(what, along, meant):
    """The parameters of the balls, for each ball and dimension, neither grow nor fall."""
    name, number = f"power of {what} in the size for each", "per ball and dimension"
    return every(no_growth(name, number, along, meant), no_decay(name, number, along, meant))


def _clean_is_smaller(balls):
    """The memory of CGRM grows in proportion to the number of points."""
    memory = exponent("power of N in the size of the memory", "memory", "N", balls, 1, 0.1)
    return counted_as("ordering", memory)


clean_is_smaller = _clean_is_smaller(where("more balls"))


def vacuous(run):
    """The bound's second term is 1 or more: the class shatters N points."""
    short = Reading("1 − √(VC dimension/N)", lambda rows: 1 - rows.last("bound"), ("bound",))
    return at_most(short.on(run), 0.0)
