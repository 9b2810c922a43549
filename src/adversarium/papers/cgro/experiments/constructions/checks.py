"""Check CGRO's explicit classifiers."""

import math

from adversarium.plans import (
    AtMost,
    CountedAs,
    Each,
    Every,
    Existence,
    Exponent,
    Level,
    Need,
    NoGrowth,
    NotTestable,
    Parts,
    Present,
    Where,
    Why,
    last,
    where,
)

from .plan import KINDS
from .readings import width_doublings

OMEGA_ONE = 0.25  # Ω(1) is read as at least 0.25


def _memorising(name):
    """Require that a classifier has clean error 0, certified robust error 0 on the memorised
    points, and a robust error of at least 0.25 on the distribution, found by attacks."""

    def errors(trial):
        return Every(
            AtMost(last(f"{name}.clean_test", trial), 0),
            AtMost(last(f"{name}.robust_train", trial), 0, last(f"{name}.uncertified", trial)),
            Level(last(f"{name}.robust_test", trial), OMEGA_ONE, 1),
        )

    return errors


def _where_built(number, make):
    """Apply a check to trials that recorded `number`; trials with D > 8 build fewer classifiers."""

    def checks(rows):
        built = [trial.task for trial in rows.where(where("classifiers")) if number in trial.series]
        return [make(Where(task.family, task.coordinates)) for task in built]

    return Present("existence", checks, "needs some D <= 8", (Need(where("classifiers")),))


def _counted(norm, gate, swept, tolerance):
    """Require that parameters/(N D log(D/ε)) grows with power 0 ± `tolerance` of a varied size."""
    runs = where("parameters", norm=norm, gate=gate, swept=swept)
    name = f"power of {swept} in parameters/(ND log(D/ε)) ({norm} {gate})"
    return Exponent(name, "share", swept, runs, 0.0, tolerance)


_linear = [
    _counted(*kind, swept, tolerance)
    for kind in KINDS
    for swept, tolerance in (("N", 0.1), ("D", (math.inf, 0.1)))
]


_errors = Every(
    Each(where("classifiers"), _memorising("product")),
    Each(where("classifiers"), _memorising("exact")),
    _where_built("l2.clean_test", _memorising("l2")),
)


_explicit = Each(where("classifiers"), _memorising("f_S"))


def _any_count(name):
    """Require a robust test error of at least 0.25 where almost all cells are memorised."""
    return Each(
        where("almost all cells"),
        lambda trial: Level(last(f"{name}.robust_test", trial), OMEGA_ONE, 1),
    )


def _stages(*names):
    """Require that the named quantities do not grow with the number s of stages of a gate."""
    title = "power of s in {}"
    return [NoGrowth(title.format(name), name, "s", where("gate sizes")) for name in names]


checks = {
    "cgro.eq.C": CountedAs(
        "existence",
        Parts(
            {
                "errors 0, 0 and Ω(1), N up to half of the cells": _explicit,
                "robust test error Ω(1), every N": _any_count("f_S"),
            }
        ),
    ),
    "cgro.eq.C.corrected": CountedAs("existence", _explicit),
    "cgro.thm5.2": CountedAs(
        "existence",
        Parts(
            {
                "errors 0, 0 and Ω(1), N up to half of the cells": _errors,
                "robust test error Ω(1), every N": _any_count("exact"),
                "poly(D) + Õ(ND) parameters": Every(*_linear),
            }
        ),
    ),
    "cgro.thm5.2.corrected": CountedAs(
        "existence",
        Parts({"errors 0, 0 and Ω(1)": _errors, "poly(D) + Õ(ND) parameters": Every(*_linear)}),
    ),
    "cgro.lemD.2": CountedAs(
        "existence",
        Parts(
            {
                "sup error 4^−(s+1)": Each(
                    where("square"),
                    lambda s: Level(last("square", s), 1 - 1e-4, 1 + 1e-4, always=True),
                ),
                "O(log(1/ε)) weights and layers": Every(*_stages("weights", "layers")),
            }
        ),
    ),
    "cgro.lemD.3": CountedAs(
        "existence",
        Parts(
            {
                "error ≤ 6B²4^−(s+1)": Each(
                    where("product"), lambda s: AtMost(last("error", s), 6.0)
                ),
                "0 on the axes": Each(where("product"), lambda s: AtMost(last("axes", s), 0.0)),
                "O(log²(B/ε)) parameters": Every(*_stages("parameters")),
            }
        ),
    ),
    "cgro.propD.5": Every(
        AtMost(last("regions/2^n", "regions"), 1.0), AtMost(last("spread", "regions"), 1e-12)
    ),
    "cgro.thm5.3": NotTestable(
        "existence",
        Why.ALL_NETWORKS,
        "every network of at most M_D parameters is meant; its counting, its point set and the "
        "widths that training needs are claims of their own",
    ),
    "cgro.thm5.3.counting": CountedAs("existence", AtMost(last("bound", "C(μ)"), 1.0)),
    "cgro.thm5.3.points": CountedAs(
        "existence",
        Every(
            Each(where("points"), lambda D: Existence(last("realised", D))),
            Each(where("points"), lambda D: AtMost(last("closed_form", D), 1e-9)),
        ),
    ),
    "cgro.thm5.3.widths": Level(width_doublings, 0.5),
}
