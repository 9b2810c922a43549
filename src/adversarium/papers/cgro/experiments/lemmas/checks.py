"""Check CGRO's lemmas with unspecified constants, on runs over N, d and η."""

import math

import numpy as np

from adversarium.measure.folds import FirstTime
from adversarium.plans import (
    Check,
    CountedAs,
    Each,
    Every,
    Evidence,
    Given,
    Hypothesis,
    Level,
    Need,
    NoDecay,
    NoGrowth,
    Ordering,
    Parts,
    Reading,
    Rows,
    UnlessRefuted,
    Where,
    end,
    last,
    quantity,
    where,
)

from ...theory.features import largest_signal, least_memorised, most_memorised
from ...theory.patches import given_a_start

COUNTS, SIZES, ETAS, LARGE = where("N"), where("d"), where("η"), where("η = 1")
VAST = where("signal alone")
SQUARE = where("N = d")
TAIL = where("N", N=10)
BEYOND = where("many points", N=160)  # N > N_c, our bound for memorisation
LONG = where("long")
PLATEAUS = tuple(where("N", N=N) for N in (20, 40, 80, 160))  # runs with a long plateau
DONE = (*(where("N", N=N) for N in (5, 10, 20, 40, 80)), SIZES)  # runs that end long after T₁
ALL, BOTH = where(("N", "d", "η")), where(("N", "d"))
LOGS = 2.0  # Õ permits a factor log²d along d

T0 = FirstTime(largest_signal, 1.0).name
NOISE_BEGINS = FirstTime(most_memorised, 0.1).name
T1 = FirstTime(most_memorised, 1.0).name
T1_ALL = FirstTime(least_memorised, 1.0).name


def _since(run: Rows, name: str, begin: np.ndarray, until: np.ndarray) -> np.ndarray:
    """Return the log–log slope of a curve in t between two times, one per seed; NaN with fewer than
    four points."""
    t, values = run.curve(name)
    slopes = []
    for low, high, y in zip(begin, until, values, strict=True):
        selected = (t >= max(low, 1)) & (t <= high) & (y > 0)
        line = (
            np.polyfit(np.log(t[selected]), np.log(y[selected]), 1)
            if selected.sum() > 3
            else (math.nan,)
        )
        slopes.append(line[0])
    return np.array(slopes)


def _late_growth(run: Rows) -> np.ndarray:
    """Return the power of t in Δu_r/(ηα³u_r²ψ(α³U)) from 10 T₁ on, T₁ the time at which every
    V_i ≥ 1. Soon after T₁, the noise still grows faster than it does later."""
    start = 10 * run.last(T1_ALL)
    return _since(run, "growth_constant", start, np.full(len(start), math.inf))


def _plateau_power(run: Rows) -> np.ndarray:
    """Return the power of t in α³U divided by its closed form, which grows like log t, over the
    last factor of four in t before the first V_i = 0.1; earlier, the closed form is too low."""
    ratio = run["true_feature"].values / np.maximum(run["predicted_level"].values, 1e-300)
    t = run["true_feature"].t
    slopes = []
    for high, y in zip(run.last(NOISE_BEGINS), ratio, strict=True):
        selected = (t >= high / 4) & (t <= high)
        fitted = selected.sum() > 3
        slopes.append(
            np.polyfit(np.log(t[selected]), np.log(y[selected]), 1)[0] if fitted else math.nan
        )
    return np.array(slopes)


def _tail_power(run: Rows) -> np.ndarray:
    """Return the power of x in −log P[|Z| ≥ x sd(Z)] minus that of a Gaussian."""
    x = np.array(run["noise_tail"].axes["x"])
    gaussian = np.array([math.erfc(a / math.sqrt(2)) for a in x])
    y = np.log(-np.log(np.vstack([run.last("noise_tail"), gaussian])))
    *powers, normal = (np.polyfit(np.log(x), line, 1)[0] for line in y)
    return np.array(powers) - normal


def _over_terms(run: Rows) -> np.ndarray:
    ratio: np.ndarray = run.last("residual") / (run.last("first_term") + run.last("second_term"))
    return ratio


def _excess(run: Rows) -> np.ndarray:
    gap: np.ndarray = run.last("broken") - run.last("half_outweighed")
    return gap


late_growth = Reading("power of t in c, t ≥ 10 T₁", _late_growth, ("growth_constant", T1_ALL))
plateau_power = Reading(
    "power of t in α³U/s(t) before the first V_i = 0.1", _plateau_power,
    ("true_feature", "predicted_level", NOISE_BEGINS),
)  # fmt: skip
tail_power = Reading(
    "power of x in −log P[|Z| ≥ x sd(Z)] minus a Gaussian's", _tail_power, ("noise_tail",)
)
over_terms = Reading(
    "residual over both printed terms", _over_terms, ("residual", "first_term", "second_term")
)
excess = Reading("P[broken] − ½P[|Z| ≥ α³(1 − γ)³U]", _excess, ("broken", "half_outweighed"))
asymmetry = Reading("P[Z > 0]", lambda run: run.last("positive_noise"), ("positive_noise",))
all_memorised = Reading(
    "every V_i ≥ 1 within the run, 0 no, 1 yes",
    lambda run: np.isfinite(run.last(T1_ALL)).astype(float),
    (T1_ALL,),
)


def _one(size: float) -> float:
    return 1.0


def _root(N: float) -> float:
    return N**-0.5


def _linear(N: float) -> float:
    return N


# how a quantity that is divided by a function of N or d is named
_DIVIDED = {
    ("N", _root): "·√N", ("N", _linear): "/N", ("N", math.log): "/log N", ("d", math.log): "/log d",
}  # fmt: skip


def bounded(number: str | Reading, runs=(COUNTS, SIZES), logs=LOGS, **per) -> list[Check]:
    """Return checks of an upper bound with an unspecified constant: no growth with N, and at most
    log^`logs` of d with d.

    `per` gives functions of N or d by which the quantity is divided.
    """
    return [_slope(NoGrowth, number, family, logs, per) for family in runs]


def bounded_below(number: str | Reading, runs=(COUNTS, SIZES), **per) -> list[Check]:
    """Return checks of a lower bound with an unspecified constant: no decay, up to log²d."""
    return [_slope(NoDecay, number, family, LOGS, per) for family in runs]


def _slope(rule, number, runs: Where, logs: float, per) -> Check:
    reading = number if isinstance(number, Reading) else end(number)
    letter, suffix = {"η = 1": ("d", ", η = 1"), "N = d": ("d", ", N = d")}.get(
        str(runs.family), (str(runs.family), "")
    )
    name = (
        f"power of {letter} in {reading.name}{_DIVIDED.get((letter, per.get(letter)), '')}{suffix}"
    )
    allowed = logs if letter == "d" else 0.0
    return given_a_start(runs, rule(name, reading, letter, runs, allowed, per.get(letter, _one)))


def memorised(chosen: Where, check: Check, within=2 / 3, called="two thirds") -> Check:
    """Restrict a check to the seeds in which every sample is memorised within the first part of
    each run: two thirds, or the share `within` and its name."""

    def event(rows: Evidence) -> np.ndarray:
        runs = rows.where(chosen)
        soon = [run.last(T1_ALL) <= run.run.steps * within for run in runs]
        return np.all(soon, axis=0).astype(float)

    return Given(
        quantity(f"T₁ within {called} of the run", event, Need(chosen, (T1_ALL,)), points=1),
        check,
    )


def _signal_alone(name: str) -> Check:
    """Require at most log²d growth with d at η = 1, in the recursion of the signal alone."""
    return NoGrowth(f"power of d in {name}, η = 1, the signal alone", name, "d", VAST, LOGS)


def _flat(run: Where) -> Check:
    """Require that α³U over its closed form neither grows nor falls like a power of t."""
    return given_a_start(run, Level(plateau_power.on(run), -0.1, 0.1, kind="exponent"))


def _memorises(run: Where) -> Check:
    """Require that every seed memorises all points within the run."""
    return given_a_start(run, Level(all_memorised.on(run), 1, 1, True))


def _clean(run: Where) -> Check:
    """Require a clean test error of at most 0.01 at the end."""
    return given_a_start(run, Level(last("clean_test_error", run, 2000), high=0.01))


def _all(*checks: Check) -> Check:
    return CountedAs("inequality", Every(*checks))


_FIRST_TERM = "the first printed term grows with N and is the larger one beyond N = 160"

checks = {
    "cgro.lem4.2": CountedAs(
        "inequality",
        Parts(
            {
                "before T₁": Every(*bounded_below("least_growth", runs=(COUNTS, SIZES, ETAS))),
                "after T₁": given_a_start(
                    LONG,
                    Each(
                        LONG,
                        lambda run: memorised(
                            run,
                            Level(late_growth.on(run), -0.1, 0.1, kind="exponent"),
                            1 / 40,
                            "a fortieth",
                        ),
                    ),
                ),
            }
        ),
    ),
    "cgro.lem4.3": CountedAs(
        "inequality",
        Parts(
            {
                "N ≤ 0.04 N_c, η = 4/α²": Every(*bounded("signal_bound")),
                "η = 1": Every(
                    *bounded("signal_bound", runs=(LARGE,)), _signal_alone("signal_bound")
                ),
            }
        ),
    ),
    "cgro.lem4.3.corrected": _all(*bounded("signal_bound")),
    "cgro.lemC.5": UnlessRefuted(Every(*bounded(over_terms)), _FIRST_TERM),
    "cgro.lemC.5.corrected": _all(*bounded("residual_share", d=math.log)),
    "cgro.lem4.4": Every(*bounded("noise_fall")),
    "cgro.lem4.4.corrected": _all(*bounded("lower_share", d=math.log)),
    "cgro.lemC.8": memorised(BOTH, _all(*bounded_below("least_steepness"))),
    "cgro.lemC.8.corrected": memorised(BOTH, _all(*bounded_below("least_steepness", N=_root))),
    "cgro.lemC.9": memorised(BOTH, _all(*bounded("decay_product", logs=0))),
    "cgro.lemC.9.corrected": memorised(BOTH, _all(*bounded("decay_product", N=_linear))),
    "cgro.lemC.11": CountedAs(
        "inequality",
        Parts(
            {
                "max_r u_r ≤ Õ(1/α), N ≤ 0.04 N_c, η = 4/α²": Every(*bounded("signal_peak")),
                "max_r u_r ≤ Õ(1/α), η = 1": Every(
                    *bounded("signal_peak", runs=(LARGE,)), _signal_alone("signal_peak")
                ),
                "max_r u_r ≤ Õ(1/α), N = d": Every(*bounded("signal_peak", runs=(SQUARE,))),
                "|v_{i,j,r}| ≤ Õ(1)": Every(
                    NoGrowth("power of N in noise_peak", "noise_peak", "N", COUNTS, LOGS),
                    *bounded("noise_peak", runs=(SIZES, ETAS)),
                ),
            }
        ),
    ),
    "cgro.lemC.11.corrected": _all(
        *bounded("signal_peak"), *bounded("noise_peak", runs=(COUNTS, SIZES, ETAS), N=math.log)
    ),
    "cgro.thmC.12.clean": Parts(
        {
            "clean test error o(1), N < N_c": Each(ALL, _clean),
            "printed tail": Level(tail_power.on(TAIL), -0.25, kind="exponent"),
        }
    ),
    "cgro.thmC.12.robust": CountedAs(
        "inequality",
        Parts(
            {
                "P[broken] ≥ ½P[|Z| ≥ α³(1 − γ)³U]": Each(
                    BOTH, lambda run: Level(excess.on(run), -0.01)
                ),
                "Z is symmetric": Each(BOTH, lambda run: Level(asymmetry.on(run), 0.49, 0.51)),
                "P[GTA succeeds] ≥ ½ − o(1), N < N_c": Each(
                    BOTH, lambda run: Level(last("robust_test_error", run, 2000), 0.45)
                ),
                "P[GTA succeeds] ≥ ½ − o(1), N > N_c": Each(
                    BEYOND,
                    lambda run: given_a_start(
                        run, Level(last("robust_test_error", run, 2000), 0.45)
                    ),
                ),
            }
        ),
    ),
    "cgro.stages": Parts(
        {
            "the signal comes first": Each(
                BOTH,
                lambda run: given_a_start(
                    run, Ordering(last(NOISE_BEGINS, run), than=last(T0, run))
                ),
            ),
            "then it almost stops": Every(*(Each(runs, _flat) for runs in PLATEAUS)),
            "then noise is memorised, N < N_c": Every(*(Each(runs, _memorises) for runs in DONE)),
            "then noise is memorised, N > N_c": Each(BEYOND, _memorises),
            "share of seeds with T₁ within the run, N = 160, reported": Hypothesis(
                "level", all_memorised.on(where("N", N=160), points=1)
            ),
        }
    ),
}
