"""The phases of adversarial training (RNRF §5.2, Lemmas D.19 to D.26) without noise, over the
attack step η̃ and its readings.

Paper: Σ_s B_s^q stops at order 1/η̃; when A reaches ϱ/α and later, B is O(1/η̃); then F_y(X̃) grows
like log t.
Reading: η̃ is the step a point (Figure 3: 1e3/N = 10); one point a class is the population.
Cost: quick 30 s (2 cores).
"""

from typing import Literal

from adversarium.attacks import MarginStep
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
from adversarium.papers.rnrf.phases_readings import (
    FIG3,
    LOGIT,
    READING,
    READINGS,
    STEP,
    STEPS,
    at_log_d,
    final_total,
    later_change,
    share_of_law,
)
from adversarium.papers.rnrf.readings import (
    ATTACKED,
    TOTAL,
    A,
    B,
    at_threshold,
    doubt_law,
    logit_growth,
)
from adversarium.papers.rnrf.regime import gates
from adversarium.plans import Curves, Read, Run, Table, each, every, exponent, level, power
from adversarium.probes import (
    attacked_outputs,
    foreign_nonrobust,
    foreign_robust,
    nonrobust_features,
    nonrobust_total,
    robust_features,
    train_error,
)

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(seeds=5)
paper = dict(seeds=10)

_PLACES = {
    STEP: {"η̃": Read("attack.step_size")},
    READING: {"η̃": Read("attack.step_size"), "clip": Read("attack.clip")},
}
_ATTACKS: tuple[tuple[str, float, Literal["element", "patch"]], ...] = (
    *((STEP, step, "element") for step in (3.0, 10.0, 30.0, 100.0)),
    (READING, 10.0, "patch"),  # of the batch mean, as in Figure 3
    (READING, 1e3, "element"),  # the literal ones
    (READING, 1e3, "patch"),
)
DIM = 30  # log d is reached within the run


def plan(steps=2100, m=100, d=DIM, eps=1.2, eta=0.1, sigma0=0.01):
    for family, step, clip in _ATTACKS:
        yield Run(
            family=family,
            at=_PLACES[family],
            data=TwoFeaturePatches(d=d, sigma_n=0.0, balanced=True),
            network=SmoothedCNN(m=m, sigma0=sigma0),
            attack=MarginStep(radius=eps, step=step, clip=clip),
            n=2,
            steps=steps if family == STEP else min(steps, 800),
            eta=eta,
            probes=(
                robust_features,
                nonrobust_features,
                nonrobust_total,
                foreign_robust,
                foreign_nonrobust,
                attacked_outputs,
                train_error,
            ),
            record=20,
        )


checks = {
    "rnrf.phase2.plateau": every(
        exponent("slope of ΣB³ in η̃", final_total, "η̃", STEPS, -1, 0.1),
        each(STEPS, lambda run: level(share_of_law.on(run), 0.75, 1.05)),
    ),
    "rnrf.lemD.19": each(FIG3, lambda run: every(*doubt_law(ATTACKED, run, 0.1, 0.9))),
    "rnrf.lemD.20": each(FIG3, lambda run: every(*doubt_law(ATTACKED, run, 0.45, 0.55))),
    "rnrf.lemD.24": exponent(
        "slope in η̃ of max B when max A = ϱ/α", at_threshold(B, reached=A), "η̃", STEPS, -1, 0.2
    ),
    "rnrf.lemD.25": exponent(
        "slope in η̃ of max B when F_y(X̃) = log d", at_log_d, "η̃", STEPS, -1, 0.2
    ),
    "rnrf.lemD.26": each(
        FIG3,
        lambda run: every(
            power(logit_growth(ATTACKED).on(run), 0.8, 1.2), level(later_change.on(run), 0, 0.2)
        ),
    ),
}

_symbols = {A: r"$\max_r A_{1,r}$ (robust)", B: r"$\max_r B_{1,r}$ (non-robust)"}
_ends = {
    A: "max A",
    B: "max B",
    TOTAL: "ΣB³",
    "foreign_robust": "max C",
    "foreign_nonrobust": "max D",
    LOGIT: "F_y(X̃)",
}

figures = (
    Curves(
        name="steps",
        title="The attack step sets the plateau of the non-robust features",
        y=tuple(_symbols),
        runs=(STEPS,),
        names=_symbols,
        pick={"class": 0},
        x_label="iteration t",
        y_label="correlation",
        log_y=True,
        caption="No noise; mean over seeds, band: smallest to largest seed. B stops where "
        "Σ_s B_s³ = 1/η̃, so at a level that falls with η̃^(1/3) only; A overtakes it later the "
        "larger η̃ is.",
    ),
    Curves(
        name="readings",
        title="Readings of the attack: batch mean or per example, element or patch clip",
        y=tuple(_symbols),
        runs=(FIG3, READINGS),
        names=_symbols,
        pick={"class": 0},
        x_label="iteration t",
        y_label="correlation",
        log_y=True,
        caption="η̃ = 1e3 on the batch mean is 10 a point. Read per example (1e3 a point) growth "
        "is choked: B stops at a seventh of its plateau, under either clip.",
    ),
    Table(
        name="ends",
        title="At the end of each run",
        y=tuple(_ends),
        runs=(STEPS, READINGS),
        names=_ends,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
