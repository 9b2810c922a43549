"""CGRO's time T₀ at which the signal is learnt (Lemma C.3).

Paper: the largest α u_r reaches 1 at T₀ = Θ̃(1/(ηα³σ0)).
Reading: σ = d^−0.509 as printed; d = 1000, P = 2, N = 20 unless varied. One quantity varies at a
time, with fixed seeds; only seeds with some u_r(0) > 0 that reach T₀ within the run are judged. Of
N and d, which the formula does not contain, T₀ must not depend. λ = ½, and up to 15/16 in the sweep
of 1 − λ.
Cost: quick 20 s (2 cores).
"""

from dataclasses import replace

from adversarium.plans import Every, Parts

from ..theory.features import largest_signal
from ..theory.regime import gates
from ..theory.sweeps import EARLY, early_runs, powers, swept_powers
from .dynamics.readings import scaled_time, signal_time

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

quick = dict(swept=("η", "σ0"), seeds=5)
paper = dict(patience=2.5, seeds=20)  # a seed with a small largest u_r(0) is slow


def plan(patience=1.0, swept=tuple(EARLY)):
    if unknown := [name for name in swept if name not in EARLY]:
        raise ValueError(f"swept needs some of {', '.join(EARLY)}, got {', '.join(unknown)}.")
    yield from early_runs(patience, swept, probes=(largest_signal,), record=(0,))


_to_one = {"1 − λ": EARLY["1 − λ"]}
_at_one_d = {name: sweep for name, sweep in EARLY.items() if name not in ("d", *_to_one)}
_at_half = Every(powers("T₀", signal_time, _at_one_d), powers("T₀", scaled_time, {"d": EARLY["d"]}))
_printed = {name: replace(sweep, power=0.0) for name, sweep in _to_one.items()}

checks = {
    "cgro.lemC.3": Parts({"λ = ½": _at_half, "λ → 1": powers("T₀", signal_time, _printed)}),
    "cgro.lemC.3.corrected": Every(_at_half, powers("T₀", signal_time, _to_one)),
}

figures = (
    swept_powers("T0", "T₀: when the signal is learnt", "T₀", signal_time, _at_one_d, "Lemma C.3."),
)
