"""The one-step inequality behind CONV's convergence theorem, seen at every step."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.finite import FiniteAttack, option_losses
from adversarium.data.sphere import SphereBatch, SpherePoints
from adversarium.networks.two_layer import TwoLayer
from adversarium.probes.measuring import measures, sentence
from adversarium.probes.scene import AnyScene, AnyState, Scene
from adversarium.rng import normal, streams
from adversarium.shapes import Float
from adversarium.sockets import Learner, Measure, Rows, State
from adversarium.training.objectives import LOSSES
from adversarium.training.setting import Setting
from adversarium.training.states import distance

SphereSetting = Setting[SpherePoints, TwoLayer, FiniteAttack | None, SphereBatch]
SphereScene = Scene[SpherePoints, TwoLayer, FiniteAttack | None, SphereBatch]


def robust_loss(
    network: Learner[Tensor], W: Tensor, batch: SphereBatch, loss: str
) -> Float[Tensor, "*S"]:
    """L_*(W) = mean_i max_{x' ∈ B(x_i)} loss(f(W, x'), y_i), Def. 3.4 of CONV: exact here."""
    per_option = option_losses(lambda x: LOSSES[loss](network.f(W, x), batch.y), batch.options)
    return per_option.amax(-1).mean(-1)


@measures(r"$L_*(W_t)$")
def worst_loss(state: State[Tensor], scene: SphereScene) -> Float[Tensor, " S"]:
    """L_*(W_t), the exact robust training loss, Def. 3.4 of CONV.

    >>> import adversarium as av
    >>> from adversarium.training import Risk, Rule, Setting, WeightState
    >>> rule = Rule(n=2, steps=1, eta=0.1, risk=Risk(loss="pseudo_huber"))
    >>> data, network = av.data.SpherePoints(K=3), av.networks.TwoLayer(m=4)
    >>> setting = Setting(data, network, None, rule, seeds=(0,))
    >>> state = WeightState(setting, 0, setting.W0)
    >>> round(worst_loss(state, av.probes.Scene(setting)).item(), 4)  # √2 − 1 at f = 0
    0.4142
    """
    return robust_loss(scene.network, state.W, scene.train, scene.setting.rule.risk.loss)


def reference(setting: SphereSetting, radius: float) -> Float[Tensor, "S m d"]:
    """A comparator W_ref at distance `radius` of W⁽⁰⁾ in a random direction, one a seed."""
    W0: Tensor = setting.W0
    direction = normal(W0.shape, streams(setting.seeds, "reference")).to(W0)
    length: Tensor = direction.flatten(1).norm(dim=-1)[:, None, None]
    return W0 + radius * direction / length


Excess = tuple[Tensor, Tensor, Tensor]  # right side for the next state, worst excess, its step


@dataclass(frozen=True)
class WorstRegret:
    """The largest LHS − RHS of eq. (16) of CONV over all steps; above 0 it is refuted.

    ‖W_{t+1} − W_ref‖² ≤ (1 + cα/√m)‖W_t − W_ref‖² + 2α(L_*(W_ref) − L_A(W_t)) + α²‖∇L_A(W_t)‖²,
    c = Lip·C2 and Lip = 1 for the pseudo-Huber loss. W_t and W_{t+1} are the run's own states.

    >>> import adversarium as av
    >>> from adversarium.training import Risk, Rule, Setting
    >>> rule = Rule(n=2, steps=3, eta=0.1, risk=Risk(loss="pseudo_huber"))
    >>> network = av.networks.TwoLayer(m=4, activation=av.networks.SmoothedReLU())
    >>> data, attack = av.data.SpherePoints(K=3), av.attacks.FiniteAttack()
    >>> setting = Setting(data, network, attack, rule, seeds=(0,))
    >>> fold, memory = WorstRegret(radius=2.0), None
    >>> for state in av.training.train(av.training.ENGINES["full"], [setting]):
    ...     memory = fold.see(memory, state, av.probes.Scene(setting))
    >>> bool(fold.rows(memory)["worst(eq16_excess(R=2))"] <= 0)
    True
    """

    radius: float = 1.0  # distance of W_ref from W⁽⁰⁾

    @property
    def name(self) -> str:
        """The name of the largest excess."""
        return f"worst(eq16_excess(R={self.radius:g}))"

    @property
    def step_name(self) -> str:
        """The name of the step that it fell on."""
        return f"step of {self.name}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The excess and its step."""
        where = rf"$\|W_{{ref}} - W_0\| = {self.radius:g}$"
        step = "The step with the largest LHS − RHS of eq. (16) of CONV."
        return (
            Measure(self.name, f"largest excess in (16), {where}", sentence(type(self).__doc__)),
            Measure(self.step_name, f"$t$ of the largest excess in (16), {where}", step),
        )

    def see(self, memory: Excess | None, state: State[Tensor], scene: SphereScene) -> Excess:
        """The memory after one more state."""
        W_ref, L_ref = scene.once(self.name, lambda: self._reference(scene))
        square = distance(state.W, W_ref).square()
        worst, step = torch.full_like(square, -math.inf), square * 0
        if memory is not None:
            bound, worst, step = memory
            excess = square - bound
            worse = ~(excess <= worst) & ~worst.isnan()
            worst = torch.where(worse, excess, worst)
            step = torch.where(worse, float(state.t), step)
        eta, network = scene.setting.rule.eta, scene.network
        growth = 1 + network.activation.C2 * eta / math.sqrt(network.m)
        push = (eta * state.full.gradient_norm).square()
        return growth * square + 2 * eta * (L_ref - state.risk()) + push, worst, step

    def rows(self, memory: Excess) -> Rows:
        """The largest excess, and the step it fell on."""
        return {self.name: memory[1], self.step_name: memory[2]}

    def _reference(self, scene: SphereScene) -> tuple[Tensor, Tensor]:
        W_ref = reference(scene.setting, self.radius)
        loss = scene.setting.rule.risk.loss
        return W_ref, robust_loss(scene.network, W_ref, scene.train, loss)


@measures(r"$\|W_t - W_0\|_F$")
def path_length(state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
    """‖W_t − W⁽⁰⁾‖_F, how far training has moved the weights.

    >>> import adversarium as av
    >>> from adversarium.training import Rule, Setting, WeightState
    >>> data, rule = av.data.Clusters(d=2, mu=1.0), Rule(n=3, steps=1, eta=0.1)
    >>> setting = Setting(data, av.networks.TwoLayer(m=2), None, rule, seeds=(0,))
    >>> state = WeightState(setting, 1, setting.W0 + 1)  # each of four weights by 1
    >>> round(path_length(state, av.probes.Scene(setting)).item(), 9)
    2.0
    """
    return distance(state.W, scene.setting.W0)
