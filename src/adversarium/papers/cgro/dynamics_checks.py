"""The checks that several of CGRO's lemmas on training share, each on the runs that it is about."""

from adversarium.papers.cgro.patches import given_a_start
from adversarium.papers.cgro.sweeps import swept
from adversarium.plans import (
    Check,
    Evidence,
    Need,
    Read,
    Where,
    each,
    last,
    level,
    no_growth,
    present,
    where,
)
from adversarium.probes import Total, attacked_doubt

CONTROL, GAP, MANY = where("control"), where("gap"), where("many points")
MEMORY = 0.1  # Ω̃(1), generously: 1 below N_c
LEARNT, MEMORISED = 0.0999, 0.0501  # 1 − γ = 0.1 and 0.05, whose last digits γ does not keep


def unlearnt_noise() -> Check:
    """Without the adversarial term: no noise memorised, half of the attacked points wrong."""

    def conclusions(rows: Evidence) -> list[Check]:
        checks: list[Check] = []
        for run in rows.where(CONTROL):
            points = Read("n").of(run.task)
            checks += [
                level(last("robust_train_error", CONTROL, points), 0.35, 0.65),
                level(last("clean_test_error", CONTROL), high=0.001),
                level(last("most_memorised", CONTROL), -0.1, 0.1),
            ]
        return checks

    names = ("robust_train_error", "clean_test_error", "most_memorised")
    return given_a_start(
        CONTROL, present("level", conclusions, "needs a run with λ = 0", Need(CONTROL, names))
    )


def switch_in_gap() -> Check:
    """Robust learning from 1 − γ = 0.1 on, memorisation up to 0.05; in between nothing is said."""

    def conclusions(rows: Evidence) -> list[Check]:
        checks: list[Check] = []
        for run in rows.where(GAP):
            meant, gap = Where("gap", run.task.coordinates), run.task.coordinates["1 − γ"]
            error, noise = last("robust_test_error", meant, 2000), last("median_memorised", meant)
            if gap >= LEARNT:
                checks += [level(error, high=0.01), level(noise, -0.1, 0.1)]
            elif gap <= MEMORISED:
                checks += [level(error, 0.45, 0.55), level(noise, 1)]
        return checks

    needed = Need(GAP, ("robust_test_error", "median_memorised"))
    lacking = "needs 1 − γ >= 0.1 or <= 0.05"
    return given_a_start(GAP, present("level", conclusions, lacking, needed))


def memorised_beyond() -> Check:
    """Every V_i ≥ 0.1 at the end where N = d, beyond N_c: inside the printed hypotheses."""
    return given_a_start(MANY, each(MANY, lambda run: level(last("least_memorised", run), MEMORY)))


def power_of_N(allowed: float = 0.0) -> Check:
    """No growth along N of the sum that Lemma C.10 of CGRO bounds, over an allowed power of N."""
    runs, name = swept("T₁", "N"), Total(attacked_doubt).name
    told = "power of N in ησ0(λ/N)ΣΣψ" + (f"/N^{allowed:g}" if allowed else "")
    return given_a_start(runs, no_growth(told, name, "N", runs, per=lambda N: N**allowed))
