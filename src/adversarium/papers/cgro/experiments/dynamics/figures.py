"""Draw CGRO's T₁, and tabulate the effect of 1 − γ."""

from adversarium.plans import Table, where

from ...theory.sweeps import LATE, swept_powers
from .readings import memory_time

_gaps = {
    "robust_test_error": "robust test error (transfer attack)",
    "true_feature": "α³U",
    "median_memorised": "median V",
    "robust_train_error": "robust train error",
}

figures = (
    swept_powers(
        "T1",
        "T₁: when noise is memorised",
        "T₁",
        memory_time,
        LATE,
        "Lemma C.7; last panel: σ and σ0 as in the paper.",
    ),
    Table(
        name="gaps",
        title="Robust learning or memorisation, depending on 1 − γ",
        y=tuple(_gaps),
        runs=(where("control"), where("gap")),
        names=_gaps,
        caption="Mean over all seeds with its 99 % interval; a seed without any u_r(0) > 0 learns "
        "no signal and fails at every γ.",
    ),
)
