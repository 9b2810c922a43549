"""CGRO's time T₀ at which the signal is learnt (Lemma C.3).

Paper: the largest α u_r reaches 1 at T₀ = Θ̃(1/(ηα³σ0)).
Reading: d = 1000, P = 2, N = 2, with as little noise as σ = d^−0.509 polylog(d) permits. One
quantity varies at a time, with fixed seeds; only seeds with some u_r(0) > 0 that reach T₀ within
the run are judged.
Cost: quick 20 s (2 cores).
"""

from ..theory.features import largest_signal
from ..theory.regime import gates
from ..theory.sweeps import EARLY, early_runs, powers, swept_powers
from .dynamics.readings import signal_time

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(swept=("η", "α"), seeds=5)
paper = dict(patience=3, seeds=100)  # a seed with a small largest u_r(0) is slow


def plan(patience=1.0, swept=tuple(EARLY)):
    if unknown := [name for name in swept if name not in EARLY]:
        raise ValueError(f"swept needs some of {', '.join(EARLY)}, got {', '.join(unknown)}.")
    yield from early_runs(patience, swept, probes=(largest_signal,), record=(0,))


checks = {"cgro.lemC.3": powers("T₀", signal_time, EARLY)}

figures = (
    swept_powers("T0", "T₀: when the signal is learnt", "T₀", signal_time, EARLY, "Lemma C.3."),
)
