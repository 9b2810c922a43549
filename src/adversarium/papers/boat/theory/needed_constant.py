"""Compute the smallest constant with which Lemma B.30 of BOAT holds along a training run."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.measure.measuring import described
from adversarium.shapes import Float
from adversarium.sockets import Measure, Rows

from .cluster_looks import Attacked, ClusterScene, ProofView


@dataclass(frozen=True)
class Grown:
    """The running values of NeededConstant: W⁽⁰⁾, the sum of Ĝ over the earlier steps, and the
    largest C″ needed so far."""

    first: Tensor
    G: Float[Tensor, " S"]
    needed: Float[Tensor, " S"] | None = None


@dataclass(frozen=True)
class NeededConstant:
    """The C″ that the second display of Lemma B.30 of BOAT needs for a given c₇, over all units and
    all steps; the failure probability is split equally among the units.

    needed_constant: The smallest C″ with a_s⟨w_s − w_s⁰, μ⟩ − z‖w_s − w_s⁰‖
        ≥ (c₇η/√m)(‖μ‖² − C″√(d log(dm/n)/n)) ΣĜ for all s and t, where mΦ(−z) = 3(d/n)^{−11}; for
        given W, a_s y⟨w_s − w_s⁰, x⟩ is Gaussian.

    >>> [measure.name for measure in NeededConstant().measures]
    ['needed_constant']
    """

    c7: float = 0.2

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The one measure."""
        return described({"needed_constant": r"needed $C''$"}, type(self).__doc__)

    def see(self, memory: Grown | None, state: Attacked, scene: ClusterScene) -> Grown:
        """Return the running values after one more state."""
        view = ProofView(state, scene)
        if memory is None:
            return Grown(view.W, view.G)
        data, recipe = scene.data, scene.problem.recipe
        n, d, m, mu = recipe.n, float(data.d), len(view.a), data.mu
        moved = view.W - memory.first
        log_p = min(math.log(3 / m) - 11 * math.log(d / n), math.log(0.5))
        lowest = view.a * (moved @ view.mean) - _quantile(log_p) * moved.norm(dim=-1)
        scale = self.c7 * recipe.eta / math.sqrt(m) * memory.G[:, None]
        noise = math.sqrt(d * math.log(d * m / n) / n)
        needed = ((mu**2 - lowest / scale) / noise).amax(-1)
        if memory.needed is not None:
            needed = torch.maximum(needed, memory.needed)
        return Grown(memory.first, memory.G + view.G, needed)

    def rows(self, memory: Grown) -> Rows:
        """Return the constant."""
        assert memory.needed is not None
        return {"needed_constant": memory.needed}


def _quantile(log_p: float) -> float:
    """Return the z with log Φ(−z) = log_p by bisection, also if e^{log_p} underflows.

    >>> round(_quantile(math.log(0.5)), 6), round(_quantile(-200.0), 2)
    (0.0, 19.8)
    """
    low, high = 0.0, 10 + math.sqrt(-2 * log_p)
    for _ in range(80):
        z = (low + high) / 2
        above = float(torch.special.log_ndtr(torch.tensor(-z, dtype=torch.float64))) > log_p
        low, high = (z, high) if above else (low, z)
    return (low + high) / 2
