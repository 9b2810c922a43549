"""Figures of RNRF's recursions."""

from adversarium.plans import Curves, Table, where

from ...theory.readings import A, B
from .readings import ADV, CLOSED, LAW, STD

_curves = {
    A: r"$\max_r A_{1,r}$, trained",
    "recursion_A": r"$\max_r A_{1,r}$, recursion",
    B: r"$\max_r B_{1,r}$, trained",
    "recursion_B": r"$\max_r B_{1,r}$, recursion",
}
_laws = {
    "recursion_error": "largest error of the recursion in A, B, C, D",
    "printed_recursion_error": "the same, with E and the published min{ε, ·}",
    "unclipped_recursion_error": "the same, with E, which is not clipped",
    "growth_law_error_A": "largest relative error of the growth law of A, early stage",
    "growth_law_error_B": "largest relative error of the growth law of B, early stage",
    "growth_law_T0": "T₀: first step at which this error exceeds 0.2",
}

figures = (
    Curves(
        name="recursions",
        title="Lemmas 5.1 and D.18: the recursions and the training that they describe",
        y=tuple(_curves),
        runs=(where(STD, k=2), where(ADV), where(CLOSED)),
        names=_curves,
        pick={"class": 0},
        x_label="iteration t",
        y_label="correlation",
        caption="No noise; mean and range (band) over seeds. Left: Lemma 5.1 is "
        "exact. Middle: under attack, the recursion overestimates A, since it omits "
        "weights orthogonal to the features. Right: if d = 2k, there are none, and it is exact.",
    ),
    Table(
        name="laws",
        title="Errors of the recursions and of the growth laws",
        y=tuple(_laws),
        runs=(where(STD), where(ADV), where(CLOSED), where(LAW)),
        names=_laws,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
