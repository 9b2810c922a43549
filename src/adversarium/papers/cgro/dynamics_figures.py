"""CGRO's two times in pictures: T₀ and T₁ swept, and what the gaps decide."""

from adversarium.papers.cgro.dynamics_readings import memory_time, signal_time
from adversarium.papers.cgro.sweeps import EARLY, LATE, swept
from adversarium.plans import Powers, Table, where

_gaps = {
    "robust_test_error": "robust test error (transfer attack)",
    "true_feature": "α³U",
    "median_memorised": "median V",
    "robust_train_error": "robust train error",
}
_told = (
    "Geometric mean over the seeds with some u_r(0) > 0, bar: smallest to largest; fitted power "
    "with its 99 % interval and claimed power (dashed)."
)

figures = (
    Powers(
        name="T0",
        title="T₀: when the signal is learnt",
        number=signal_time,
        sweeps={name: swept("T₀", name) for name in EARLY},
        claimed={name: sweep.power for name, sweep in EARLY.items()},
        along={name: sweep.letter for name, sweep in EARLY.items()},
        y_label="T₀ (1/u0)/(1/u0 − α)",
        caption=f"{_told} Lemma C.3.",
    ),
    Powers(
        name="T1",
        title="T₁: when noise is memorised",
        number=memory_time,
        sweeps={name: swept("T₁", name) for name in LATE},
        claimed={name: sweep.power for name, sweep in LATE.items()},
        along={name: sweep.letter for name, sweep in LATE.items()},
        y_label="T₁ of the median point",
        caption=f"{_told} Lemma C.7; last panel: σ and σ0 as in the paper.",
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
