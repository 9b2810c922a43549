"""Figures of RNRF's phases of adversarial training."""

from adversarium.plans import Curves, Table

from ...theory.readings import TOTAL, A, B
from .readings import LOGIT, READING_RUNS, STEP_RUNS

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
        runs=(STEP_RUNS,),
        names=_symbols,
        pick={"class": 0},
        x_label="iteration t",
        y_label="correlation",
        log_y=True,
        caption="No noise; mean and range (band) over seeds. B stops where "
        "Σ_s B_s³ = 1/η̃, that is, at a level of order η̃^(−1/3); the larger η̃ is, the later A "
        "overtakes it.",
    ),
    Curves(
        name="readings",
        title="Readings of the attack: batch mean or per example, element or patch clip",
        y=tuple(_symbols),
        runs=(READING_RUNS,),
        names=_symbols,
        pick={"class": 0},
        x_label="iteration t",
        y_label="correlation",
        log_y=True,
        caption="η̃ = 1e3 on the batch mean is 10 per point. Read as 1e3 per point, B "
        "stops at a seventh of its plateau already, under either clip.",
    ),
    Table(
        name="ends",
        title="Correlations and outputs at the end of each run",
        y=tuple(_ends),
        runs=(STEP_RUNS, READING_RUNS),
        names=_ends,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
