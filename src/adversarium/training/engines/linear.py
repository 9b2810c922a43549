"""A linear classifier under l2 attacks: the worst perturbation is −δ y w/‖w‖, in closed form."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adversarium.attacks.gradient import FGSM
from adversarium.networks.mixed import MixedLearner
from adversarium.sockets import AnyAttack, AnyData, AnyLearner, Batching
from adversarium.training.problem import AnyProblem, side_by_side
from adversarium.training.recipe import GradientDescent, Recipe
from adversarium.training.states import WeightState


def linear_step(
    w: Tensor, Z: Tensor, delta: float | Tensor, eta: float | Tensor, log: bool
) -> Tensor:
    """w + η Σ_i p_i (Z_i − δ w/‖w‖), Z_i = y_i x_i, p_i = exp(−margin_i)/n or, for the logarithm of
    the risk (`log`), softmax(−margin)_i, §4 of CGRM; no perturbation at w = 0. δ and η may differ
    between replicas; their shape is then (S, 1).

    >>> w, Z = torch.zeros(2).double(), torch.tensor([[2.0, 0.0]]).double()
    >>> w = linear_step(w, Z, delta=0.5, eta=1.0, log=True)
    >>> w.tolist(), linear_step(w, Z, delta=0.5, eta=1.0, log=True).tolist()
    ([2.0, 0.0], [3.5, 0.0])
    """
    length = w.norm(dim=-1, keepdim=True)
    margins = torch.einsum("...nd,...d->...n", Z, w) - delta * length
    p = torch.softmax(-margins, -1) if log else torch.exp(-margins) / Z.shape[-2]
    pull = torch.einsum("...n,...nd->...d", p, Z)
    push = delta * p.sum(-1, keepdim=True) * w / length.clamp_min(1e-300)
    moved: Tensor = w + eta * (pull - push)
    return moved


def _shape(problem: AnyProblem) -> Hashable:
    """Return the properties that problems must share to run together."""
    recipe, place = problem.recipe, (problem.device, problem.dtype)
    return recipe.n, recipe.steps, recipe.risk, tuple(problem.data.shape), place


_BATCHING = Batching(_shape, {"cpu": 5, "cuda": 20}, {"cpu": 40, "cuda": 640})


@dataclass(frozen=True)
class Linear:
    """FGSM training of a linear classifier, §4 of CGRM."""

    name: str = "linear"
    version: int = 1
    batching: Batching = _BATCHING

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Recipe) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        if type(network) is not MixedLearner or network.m:
            return "linear needs a MixedLearner without threshold units (m = 0)"
        if recipe.optimiser != GradientDescent() or recipe.risk.loss != "exponential":
            return "linear needs full-batch gradient descent on the exponential loss"
        if recipe.risk.lam != 1:
            return f"linear needs risk.lam = 1, got {recipe.risk.lam}"
        if attack is None or (
            type(attack) is FGSM
            and attack.p == 2
            and attack.box is None
            and attack.loss == "logit_difference"
        ):
            return ""
        return (
            "linear needs attack=None or FGSM in l2 on the logit difference without a box, which "
            f"is exact for a linear network, got {attack}"
        )

    def init(self, problems: Sequence[AnyProblem]) -> "Descent":
        """Return the state at t = 0."""
        whole = side_by_side(problems)
        state = WeightState(whole, 0, whole.W0)
        Z = whole.train.y[..., None] * whole.train.x
        radii = [0.0 if s.attack is None else s.attack.radius for s in problems]
        return Descent(
            state,
            Z,
            _each(problems, radii, Z),
            _each(problems, [s.recipe.eta for s in problems], Z),
        )

    def step(self, at: "Descent") -> "Descent":
        """Return the next state."""
        problem, w = at.state.problem, at.state.W["w_0"]
        w = linear_step(w, at.Z, at.delta, at.eta, problem.recipe.risk.log)
        return replace(at, state=WeightState(problem, at.state.t + 1, {"w_0": w}))

    def split(self, at: "Descent") -> list[WeightState[dict[str, Tensor]]]:
        """Return one state per problem, each with its own attack.

        The states do not refer to the joint state, which has only the attack of the first problem.
        """
        return [replace(state, whole=None) for state in at.state.split()]


@dataclass(frozen=True)
class Descent:
    """The state of all problems, and the constants Z_i = y_i x_i, δ and η (S, 1)."""

    state: WeightState[dict[str, Tensor]]
    Z: Tensor
    delta: Tensor
    eta: Tensor


def _each(problems: Sequence[AnyProblem], numbers: Sequence[float], like: Tensor) -> Tensor:
    """Expand one number per problem to one per replica, (S, 1)."""
    column = [n for s, n in zip(problems, numbers, strict=True) for _ in s.seeds]
    return torch.tensor(column, dtype=like.dtype, device=like.device)[:, None]
