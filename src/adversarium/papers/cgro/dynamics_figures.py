"""CGRO's T₁ in pictures, and what the gaps decide."""

from adversarium.papers.cgro.dynamics_readings import memory_time
from adversarium.papers.cgro.sweeps import LATE, SWEPT, swept
from adversarium.plans import Powers, Table, where

_gaps = {
    "robust_test_error": "robust test error (transfer attack)",
    "true_feature": "α³U",
    "median_memorised": "median V",
    "robust_train_error": "robust train error",
}
figures = (
    Powers(
        name="T1",
        title="T₁: when noise is memorised",
        number=memory_time,
        sweeps={name: swept("T₁", name) for name in LATE},
        claimed={name: sweep.power for name, sweep in LATE.items()},
        along={name: sweep.letter for name, sweep in LATE.items()},
        y_label="T₁ of the median point",
        caption=f"{SWEPT} Lemma C.7; last panel: σ and σ0 as in the paper.",
    ),
    Table(
        name="gaps",
        title="Robust learning or memorisation: what 1 − γ decides",
        y=tuple(_gaps),
        runs=(where("control"), where("gap")),
        names=_gaps,
        caption="Mean over all seeds with its 99 % interval; a seed without any u_r(0) > 0 learns "
        "no signal and fails at every γ.",
    ),
)
