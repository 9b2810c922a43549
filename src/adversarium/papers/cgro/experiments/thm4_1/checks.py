"""Check CGRO's Theorem 4.1."""

import math

from adversarium.plans import CountedAs, Each, Every, Level, NoDecay, NoGrowth, Parts, last, where

from ...theory.patches import given_a_start, many_steps
from .plan import OTHER, POINTS, TWO_PATCHES, length

HALF, MEMORY = 0.45, 0.1  # ½ − o(1), and a lenient lower end for V_i = Θ(1)
MANY = where("many points")  # N = d


def _errors(run, robust_error="robust_test_error"):
    """Require the theorem's errors in one run; `robust_error` names the robust test error to
    use."""
    conclusions = Every(
        Level(last(robust_error, run, POINTS), HALF),
        Level(last("robust_train_error", run), 0, 0, always=True),
        Level(last("clean_test_error", run, POINTS), high=0.01),
    )
    return given_a_start(run, conclusions)


def _memorising(run):
    """Require V_i = Θ(1) for every i, read leniently as V_i ≥ 0.1."""
    return given_a_start(run, Level(last("least_memorised", run), MEMORY))


def _constants(letter, family, length):
    """Require, along N or d, that α³U/log t neither grows nor falls, that the median V_i does not
    grow, and that the smallest V_i does not fall."""
    runs = where(family)

    def log_t(size):
        return math.log(length(size))

    title = f"power of {letter} in {{}}"
    checks = (
        NoGrowth(title.format("true_feature/log t"), "true_feature", letter, runs, per=log_t),
        NoGrowth(title.format("median_memorised"), "median_memorised", letter, runs),
        NoDecay(title.format("true_feature/log t"), "true_feature", letter, runs, per=log_t),
        NoDecay(title.format("least_memorised"), "least_memorised", letter, runs),
    )
    return [given_a_start(runs, check) for check in checks]


_thetas = [
    *_constants("d", "scaling", lambda d: length(d, 5)),
    *_constants("N", "counts", lambda N: length(200, N) // 2),
]

_learnt_in_part = given_a_start(
    MANY,
    NoGrowth(
        "power of d in true_feature/log t, N = d", "true_feature", "d", MANY,
        per=lambda d: math.log(many_steps(d)),
    ),
)  # fmt: skip

checks = {
    "cgro.thm4.1": CountedAs(
        "level",
        Parts(
            {
                "U = Θ(α⁻³)": _learnt_in_part,
                "V_i = Θ(1) for every i": Each(MANY, _memorising),
                "clean and robust training error o(1), robust test error ≥ ½ − o(1)": Each(
                    where(("many points", OTHER)), lambda run: _errors(run, TWO_PATCHES)
                ),
            }
        ),
    ),
    "cgro.thm4.1.corrected": Parts(
        {
            "errors": Each(where(("theorem", "scaling", "counts")), _errors),
            "α³U/log t at the end, every V_i = Ω(1), most O(1), along N and d": Every(*_thetas),
        }
    ),
}
