"""Full-batch gradient descent on the full weights: the reference for all other engines."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.utils._pytree import tree_map

from adversarium.digest import configuration, digest
from adversarium.sockets import AnyAttack, AnyData, AnyLearner, Batched, Batching
from adversarium.training.problem import AnyProblem, fitting, side_by_side
from adversarium.training.recipe import GradientDescent, Recipe, Tree
from adversarium.training.states import AnyWeightState, WeightState, trainable


def alike(problem: AnyProblem) -> Hashable:
    """Return the properties that problems must share to run in one stack of weights.

    Network, attack, recipe, device and precision must be equal, and so must the shapes of data.
    """
    data, parts = problem.data, (problem.network, problem.attack, problem.recipe)
    same = digest(configuration(parts))
    return same, tuple(data.shape), data.k, problem.device, problem.dtype


def remembered(network: object, W: Tree, memory: dict[str, Tensor], heard: Tree) -> Tree:
    """Return the weights after a step together with the updated buffers of the network."""
    return {**memory, **heard, **W} if isinstance(network, Batched) else W


_BATCHING = Batching(alike, {"cpu": 5, "cuda": 10}, {"cpu": 20, "cuda": 160})


@dataclass(frozen=True)
class Full:
    """W⁽ᵗ⁺¹⁾ = W⁽ᵗ⁾ − η ∇L(W⁽ᵗ⁾), eq. (T) of CGRO."""

    name: str = "full"
    version: int = 1
    batching: Batching = _BATCHING

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Recipe) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        if not isinstance(recipe.optimiser, GradientDescent):
            came = type(recipe.optimiser).__name__
            return f"full needs the optimiser GradientDescent, got {came}; sgd runs minibatches"
        return ""

    def init(self, problems: Sequence[AnyProblem]) -> AnyWeightState:
        """Return the state at t = 0."""
        whole = fitting(side_by_side(problems))
        return WeightState(whole, 0, whole.W0)

    def step(self, state: AnyWeightState) -> AnyWeightState:
        """Return the next state."""
        problem = state.problem
        eta = problem.recipe.eta * problem.recipe.decayed(state.t)
        gradient, heard = state.descent
        moving, memory = trainable(problem.network, state.W)
        moved = tree_map(lambda w, g: w - eta * g, moving, gradient)
        W = remembered(problem.network, moved, memory, heard)
        return WeightState(problem, state.t + 1, W)

    def split(self, state: AnyWeightState) -> list[AnyWeightState]:
        """Return one state per problem of the stack."""
        return state.split()
