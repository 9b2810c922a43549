"""The one-step inequality behind CONV's convergence theorem, seen at every step."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from adversarium.attacks.finite import option_losses
from adversarium.probes.scene import Scene
from adversarium.rng import normal, streams
from adversarium.shapes import Float
from adversarium.training.objectives import LOSSES
from adversarium.training.states import State, distance


def robust_loss(network: Any, W: Tensor, batch: Any, loss: str) -> Float[Tensor, "*S"]:
    """L_*(W) = mean_i max_{x' ∈ B(x_i)} loss(f(W, x'), y_i), Def. 3.4 of CONV: exact here."""
    per_option = option_losses(lambda x: LOSSES[loss](network.f(W, x), batch.y), batch.options)
    return per_option.amax(-1).mean(-1)


def worst_loss(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """L_*(W_t), the exact robust training loss."""
    setting = scene.setting
    return robust_loss(setting.network, state.W, scene.train, setting.rule.risk.loss)


def reference(setting: Any, radius: float) -> Tensor:
    """A comparator W_ref at distance `radius` of W⁽⁰⁾ in a random direction, one a seed."""
    direction = normal(setting.W0.shape, streams(setting.seeds, "reference")).to(setting.W0)
    length = direction.flatten(1).norm(dim=-1)[:, None, None]
    return setting.W0 + radius * direction / length


@dataclass(frozen=True)
class WorstRegret:
    """A fold: the largest LHS − RHS of eq. (16) of CONV over all steps; above 0 it is refuted.

    ‖W_{t+1} − W_ref‖² ≤ (1 + cα/√m)‖W_t − W_ref‖² + 2α(L_*(W_ref) − L_A(W_t)) + α²‖∇L_A(W_t)‖²,
    c = Lip·C2 and Lip = 1 for the pseudo-Huber loss. W_t and W_{t+1} are the run's own states.
    """

    radius: float = 1.0  # distance of W_ref from W⁽⁰⁾

    @property
    def name(self) -> str:
        """The row's name."""
        return f"worst(eq16_excess(R={self.radius:g}))"

    def see(self, memory: Any, state: State, scene: Scene) -> Any:
        """(right side for the next state, worst excess, its step) after one more state."""
        W_ref, L_ref = scene.once(self.name, lambda: self._reference(scene))
        square = distance(state.W, W_ref).square()
        bound, worst, step = memory or (None, torch.full_like(square, -math.inf), square * 0)
        if bound is not None:
            excess = square - bound
            worse = ~(excess <= worst)
            worst = torch.where(worse, excess, worst)
            step = torch.where(worse, float(state.t), step)
        rule, network = scene.setting.rule, scene.setting.network
        growth = 1 + network.activation.C2 * rule.eta / math.sqrt(network.m)
        push = (rule.eta * state.full.gradient_norm).square()
        return growth * square + 2 * rule.eta * (L_ref - state.risk()) + push, worst, step

    def rows(self, memory: Any) -> dict[str, Tensor]:
        """What is stored."""
        return {self.name: memory[1], f"{self.name}.t": memory[2]}

    def _reference(self, scene: Scene) -> tuple[Tensor, Tensor]:
        setting = scene.setting
        W_ref = reference(setting, self.radius)
        loss = setting.rule.risk.loss
        return W_ref, robust_loss(setting.network, W_ref, scene.train, loss)


def path_length(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """‖W_t − W⁽⁰⁾‖_F."""
    return distance(state.W, scene.setting.W0)
