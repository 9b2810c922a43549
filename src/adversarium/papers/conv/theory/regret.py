"""The one-step inequality behind CONV's convergence theorem, checked at every step of training."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adversarium.attacks.finite import FiniteAttack, option_losses
from adversarium.data.sphere import SphereBatch, SpherePoints
from adversarium.measure.measuring import measures, sentence
from adversarium.measure.scene import Scene
from adversarium.networks.two_layer import TwoLayer
from adversarium.rng import normal, streams
from adversarium.shapes import Float
from adversarium.sockets import Learner, Measure, Rows, State
from adversarium.training.objectives import LossFunction, Risk
from adversarium.training.problem import Problem
from adversarium.training.states import distance

SphereProblem = Problem[SpherePoints, TwoLayer, FiniteAttack | None, SphereBatch]
SphereScene = Scene[SpherePoints, TwoLayer, FiniteAttack | None, SphereBatch]


def robust_loss(
    network: Learner[Tensor], W: Tensor, batch: SphereBatch, loss: str | LossFunction
) -> Float[Tensor, "*S"]:
    """L_*(W) = mean_i max_{x' ∈ B(x_i)} loss(f(W, x'), y_i), Def. 3.4 of CONV; exact here."""
    per_option = option_losses(
        lambda x: Risk(loss=loss).function(network.f(W, x), batch.y), batch.options
    )
    return per_option.amax(-1).mean(-1)


@measures(r"$L_*(W_t)$")
def worst_loss(state: State[Tensor], scene: SphereScene) -> Float[Tensor, " S"]:
    """L_*(W_t), the exact robust training loss, Def. 3.4 of CONV.

    >>> import adversarium as av
    >>> from adversarium.training import Risk, Recipe, Problem, WeightState
    >>> recipe = Recipe(n=2, steps=1, eta=0.1, risk=Risk(loss="pseudo_huber"))
    >>> data, network = av.data.SpherePoints(K=3), av.networks.TwoLayer(m=4)
    >>> problem = Problem(data, network, None, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, problem.W0)
    >>> round(worst_loss(state, av.measure.Scene(problem)).item(), 4)  # √2 − 1 at f = 0
    0.4142
    """
    return robust_loss(scene.network, state.W, scene.train, scene.problem.recipe.risk.loss)


def reference(problem: SphereProblem, radius: float) -> Float[Tensor, "S m d"]:
    """Return W_ref at distance `radius` from W⁽⁰⁾ in a random direction, one per seed."""
    W0: Tensor = problem.W0
    direction = normal(W0.shape, streams(problem.seeds, "reference")).to(W0)
    length: Tensor = direction.flatten(1).norm(dim=-1)[:, None, None]
    return W0 + radius * direction / length


Excess = tuple[Tensor, Tensor, Tensor]  # right side for the next state, largest excess, its step


@dataclass(frozen=True)
class WorstRegret:
    """The largest left minus right side of eq. (16) of CONV over all steps; above 0 it is refuted.

    ‖W_{t+1} − W_ref‖² ≤ (1 + cα/√m)‖W_t − W_ref‖² + 2α(L_*(W_ref) − L_A(W_t)) + α²‖∇L_A(W_t)‖²,
    with c = Lip·C2 and Lip = 1 for the pseudo-Huber loss. W_t and W_{t+1} are states of the run.

    >>> import adversarium as av
    >>> from adversarium.training import Risk, Recipe, Problem
    >>> recipe = Recipe(n=2, steps=3, eta=0.1, risk=Risk(loss="pseudo_huber"))
    >>> network = av.networks.TwoLayer(m=4, activation=av.networks.SmoothedReLU())
    >>> data, attack = av.data.SpherePoints(K=3), av.attacks.FiniteAttack()
    >>> problem = Problem(data, network, attack, recipe, seeds=(0,))
    >>> fold, memory = WorstRegret(radius=2.0), None
    >>> for state in av.training.train(av.training.ENGINES["full"], [problem]):
    ...     memory = fold.see(memory, state, av.measure.Scene(problem))
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
        """The name of the step with the largest excess."""
        return f"step of {self.name}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The excess and its step."""
        where = rf"$\|W_{{ref}} - W_0\| = {self.radius:g}$"
        step = "The step with the largest left minus right side of eq. (16) of CONV."
        return (
            Measure(self.name, f"largest excess in (16), {where}", sentence(type(self).__doc__)),
            Measure(self.step_name, f"$t$ of the largest excess in (16), {where}", step),
        )

    def see(self, memory: Excess | None, state: State[Tensor], scene: SphereScene) -> Excess:
        """Return the memory after one more state."""
        W_ref, L_ref = scene.once(self.name, lambda: self._reference(scene))
        square = distance(state.W, W_ref).square()
        largest, step = torch.full_like(square, -math.inf), square * 0
        if memory is not None:
            bound, largest, step = memory
            excess = square - bound
            larger = ~(excess <= largest) & ~largest.isnan()
            largest = torch.where(larger, excess, largest)
            step = torch.where(larger, float(state.t), step)
        eta, network = scene.problem.recipe.eta, scene.network
        growth = 1 + network.activation.C2 * eta / math.sqrt(network.m)
        squared_step = (eta * state.full.gradient_norm).square()
        return growth * square + 2 * eta * (L_ref - state.risk()) + squared_step, largest, step

    def rows(self, memory: Excess) -> Rows:
        """Return the largest excess and its step."""
        return {self.name: memory[1], self.step_name: memory[2]}

    def _reference(self, scene: SphereScene) -> tuple[Tensor, Tensor]:
        """Return W_ref and L_*(W_ref)."""
        W_ref = reference(scene.problem, self.radius)
        loss = scene.problem.recipe.risk.loss
        return W_ref, robust_loss(scene.network, W_ref, scene.train, loss)
