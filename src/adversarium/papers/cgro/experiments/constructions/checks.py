"""Check CGRO's explicit classifiers."""

import math

from adversarium.plans import (
    Need,
    Where,
    Why,
    at_most,
    counted_as,
    each,
    every,
    existence,
    exponent,
    last,
    level,
    no_growth,
    not_testable,
    parts,
    present,
    where,
)

from .plan import KINDS
from .readings import width_doublings

OMEGA_ONE = 0.25  # Ω(1) is read as at least 0.25


def _memorising(name):
    """Require of one classifier: clean error 0, certified robust error 0 on the memorised points,
    and a large robust error on the distribution, found by attacks."""

    def errors(trial):
        return every(
            at_most(last(f"{name}.clean_test", trial), 0),
            at_most(last(f"{name}.robust_train", trial), 0, last(f"{name}.uncertified", trial)),
            level(last(f"{name}.robust_test", trial), OMEGA_ONE, 1),
        )

    return errors


def _where_built(number, make):
    """Apply a check to every trial that has a number; trials with D ≤ 8 build more classifiers than
    the others."""

    def checks(rows):
        built = [trial.task for trial in rows.where(where("classifiers")) if number in trial.series]
        return [make(Where(task.family, task.coordinates)) for task in built]

    return present("existence", checks, "needs some D <= 8", Need(where("classifiers")))


def _counted(norm, gate, swept, tolerance):
    """Require that parameters/(N D log(D/ε)) has no power of the varied size."""
    runs = where("parameters", norm=norm, gate=gate, swept=swept)
    name = f"power of {swept} in parameters/(ND log(D/ε)) ({norm} {gate})"
    return exponent(name, "share", swept, runs, 0.0, tolerance)


_linear = [
    _counted(*kind, swept, tolerance)
    for kind in KINDS
    for swept, tolerance in (("N", 0.1), ("D", (math.inf, 0.1)))
]


_errors = every(
    each("classifiers", _memorising("product")),
    each("classifiers", _memorising("exact")),
    _where_built("l2.clean_test", _memorising("l2")),
)


def _stages(*names):
    """Require that numbers do not grow with the stages of a gate."""
    title = "power of s in {}"
    return [no_growth(title.format(name), name, "s", where("gate sizes")) for name in names]


checks = {
    "cgro.eq.C": counted_as("existence", each("classifiers", _memorising("f_S"))),
    "cgro.thm5.2": counted_as(
        "existence",
        parts(
            {
                "errors 0, 0 and Ω(1), N up to half of the cells": _errors,
                "robust test error Ω(1), every N": each(
                    "almost all cells",
                    lambda trial: level(last("exact.robust_test", trial), OMEGA_ONE, 1),
                ),
                "poly(D) + Õ(ND) parameters": every(*_linear),
            }
        ),
    ),
    "cgro.thm5.2.corrected": counted_as(
        "existence",
        parts({"errors 0, 0 and Ω(1)": _errors, "poly(D) + Õ(ND) parameters": every(*_linear)}),
    ),
    "cgro.lemD.2": counted_as(
        "existence",
        parts(
            {
                "sup error 4^−(s+1)": each(
                    "square", lambda s: level(last("square", s), 1 - 1e-4, 1 + 1e-4, always=True)
                ),
                "O(log(1/ε)) weights and layers": every(*_stages("weights", "layers")),
            }
        ),
    ),
    "cgro.lemD.3": counted_as(
        "existence",
        parts(
            {
                "error ≤ 6B²4^−(s+1)": each("product", lambda s: at_most(last("error", s), 6.0)),
                "0 on the axes": each("product", lambda s: at_most(last("axes", s), 0.0)),
                "O(log²(B/ε)) parameters": every(*_stages("parameters")),
            }
        ),
    ),
    "cgro.propD.5": every(
        at_most(last("regions/2^n", "regions"), 1.0), at_most(last("spread", "regions"), 1e-12)
    ),
    "cgro.thm5.3": not_testable(
        "existence",
        Why.ALL_NETWORKS,
        "every network of at most M_D parameters is meant; its counting, its point set and the "
        "widths that training needs are claims of their own",
    ),
    "cgro.thm5.3.counting": existence(last("table", "C(μ)")),
    "cgro.thm5.3.points": counted_as(
        "existence",
        every(
            each("points", lambda D: existence(last("realised", D))),
            each("points", lambda D: at_most(last("closed_form", D), 1e-9)),
        ),
    ),
    "cgro.thm5.3.widths": level(width_doublings, 0.5),
}
