"""Check CGRO's lemmas on T₁ and on the effect of λ and 1 − γ."""

from dataclasses import replace

from adversarium.measure.folds import Total
from adversarium.plans import (
    Check,
    Each,
    Evidence,
    Level,
    Need,
    NoGrowth,
    Parts,
    Present,
    Read,
    Where,
    last,
    where,
)

from ...theory.memorisation import attacked_doubt
from ...theory.patches import given_a_start
from ...theory.sweeps import LATE, at_most_powers, swept
from ..dynamics import readings as read

CONTROL, GAP, MANY = where("control"), where("gap"), where("many points")
MEMORY = 0.1  # a lenient threshold for Ω̃(1); for N < N_c the checks require 1
LEARNT, MEMORISED = 0.0999, 0.0501  # 1 − γ = 0.1 and 0.05, with a margin for the rounding of γ


def unlearnt_noise() -> Check:
    """Require that, without the adversarial term, no noise is memorised and half of the attacked
    points are misclassified."""

    def conclusions(rows: Evidence) -> list[Check]:
        checks: list[Check] = []
        for run in rows.where(CONTROL):
            points = Read("n").of(run.task)
            checks += [
                Level(last("robust_train_error", CONTROL, points), 0.35, 0.65),
                Level(last("clean_test_error", CONTROL), high=0.001),
                Level(last("most_memorised", CONTROL), -0.1, 0.1),
            ]
        return checks

    names = ("robust_train_error", "clean_test_error", "most_memorised")
    return given_a_start(
        CONTROL, Present("level", conclusions, "needs a run with λ = 0", (Need(CONTROL, names),))
    )


def switch_in_gap() -> Check:
    """Require robust learning for 1 − γ ≥ 0.1 and memorisation for 1 − γ ≤ 0.05; values in between
    are not judged."""

    def conclusions(rows: Evidence) -> list[Check]:
        checks: list[Check] = []
        for run in rows.where(GAP):
            runs, gap = Where("gap", run.task.coordinates), run.task.coordinates["1 − γ"]
            error, noise = last("robust_test_error", runs, 2000), last("median_memorised", runs)
            if gap >= LEARNT:
                checks += [Level(error, high=0.01), Level(noise, -0.1, 0.1)]
            elif gap <= MEMORISED:
                checks += [Level(error, 0.45, 0.55), Level(noise, 1)]
        return checks

    needed = Need(GAP, ("robust_test_error", "median_memorised"))
    missing = "needs 1 − γ >= 0.1 or <= 0.05"
    return given_a_start(GAP, Present("level", conclusions, missing, (needed,)))


def memorised_beyond() -> Check:
    """Require every V_i ≥ 0.1 at the end for N = d, which exceeds N_c and satisfies the paper's
    hypotheses."""
    return given_a_start(MANY, Each(MANY, lambda run: Level(last("least_memorised", run), MEMORY)))


def power_of_N(allowed: float = 0.0) -> Check:
    """Require that the sum of Lemma C.10 of CGRO, divided by N^allowed, does not grow with N."""
    runs, name = swept("T₁", "N"), Total(attacked_doubt).name
    title = "power of N in ησ0(λ/N)ΣΣψ" + (f"/N^{allowed:g}" if allowed else "")
    return given_a_start(runs, NoGrowth(title, name, "N", runs, per=lambda N: N**allowed))


_AT_HALF = {name: sweep for name, sweep in LATE.items() if name != "λ"}

checks = {
    "cgro.thm4.1.control-lam0": unlearnt_noise(),
    "cgro.thm4.1.phase-gamma": switch_in_gap(),
    "cgro.lemC.7": Parts(
        {
            "every point is memorised by O(T₁), N < N_c": at_most_powers(
                "T₁", read.T1_ALL, _AT_HALF
            ),
            "every point is memorised by O(T₁), λ → 0": at_most_powers(
                "T₁", read.T1_ALL, {"λ": replace(LATE["λ"], power=0.0)}
            ),
            "every point is memorised, N = d": memorised_beyond(),
        }
    ),
    "cgro.lemC.7.corrected": at_most_powers("T₁", read.T1_ALL, LATE),
    "cgro.lemC.10": power_of_N(),
    "cgro.lemC.10.corrected": power_of_N(allowed=1.0),
}
