"""The checks of CGRO's Theorem 4.1."""

import math

from adversarium.papers.cgro.patches import given_a_start, many_steps
from adversarium.plans import (
    counted_as,
    each,
    every,
    last,
    level,
    no_decay,
    no_growth,
    parts,
    where,
)

POINTS = 2000
HALF, MEMORY = 0.45, 0.1  # ½ − o(1); what of V_i = Θ(1) is asked, generously
MANY = where("many points")  # N = d
TWO_PATCHES = "two_patch_test_error"


def length(d, N):
    """About five times T₁ of Lemma C.7 of CGRO at η = 0.1."""
    return round(2_000 * N * math.sqrt(d / 200))


def _errors(run, broken="robust_test_error"):
    """What the theorem says of the errors of one run, and which attack shows the robust one."""
    conclusions = every(
        level(last(broken, run, POINTS), HALF),
        level(last("robust_train_error", run), 0, 0, always=True),
        level(last("clean_test_error", run, POINTS), high=0.01),
    )
    return given_a_start(run, conclusions)


def _memorising(run):
    """Every V_i is of constant order, generously."""
    return given_a_start(run, level(last("least_memorised", run), MEMORY))


def _constants(letter, family, length):
    """Along N or d: α³U/log t neither grows nor falls, the median V_i does not grow, the least does
    not fall."""
    runs = where(family)

    def log_t(size):
        return math.log(length(size))

    told = f"power of {letter} in {{}}"
    checks = (
        no_growth(told.format("true_feature/log t"), "true_feature", letter, runs, per=log_t),
        no_growth(told.format("median_memorised"), "median_memorised", letter, runs),
        no_decay(told.format("true_feature/log t"), "true_feature", letter, runs, per=log_t),
        no_decay(told.format("least_memorised"), "least_memorised", letter, runs),
    )
    return [given_a_start(runs, check) for check in checks]


_thetas = [
    *_constants("d", "scaling", lambda d: length(d, 5)),
    *_constants("N", "counts", lambda N: length(200, N) // 2),
]

_learnt_in_part = given_a_start(
    MANY,
    no_growth(
        "power of d in true_feature/log t, N = d", "true_feature", "d", MANY,
        per=lambda d: math.log(many_steps(d)),
    ),
)  # fmt: skip

checks = {
    "cgro.thm4.1": counted_as(
        "level",
        parts(
            {
                "U = Θ(α⁻³)": _learnt_in_part,
                "V_i = Θ(1) for every i": each(MANY, _memorising),
                "clean and robust training error o(1), robust test error ≥ ½ − o(1)": each(
                    MANY, lambda run: _errors(run, TWO_PATCHES)
                ),
            }
        ),
    ),
    "cgro.thm4.1.corrected": parts(
        {
            "errors": each(where(("theorem", "scaling", "counts")), _errors),
            "α³U = Θ(log t), V_i = Ω(1) for every i and O(1) for most": every(*_thetas),
        }
    ),
}
