"""Measure directions, margins and threshold units of §4 of CGRM, where w* = e₁."""

import torch
from torch import Tensor

from adversarium.attacks.gradient import FGSM
from adversarium.data.margins import MarginBatch, MarginMixture
from adversarium.measure.measuring import measures
from adversarium.measure.scene import Scene
from adversarium.networks.mixed import MixedLearner
from adversarium.shapes import Float
from adversarium.sockets import State
from adversarium.solvers import max_margin

MixedScene = Scene[MarginMixture, MixedLearner, FGSM | None, MarginBatch]
MixedState = State[dict[str, Tensor]]


def direction(state: MixedState) -> Float[Tensor, "S d"]:
    """Return w_0/‖w_0‖ of the linear part, or 0 if w_0 = 0."""
    w = state.W["w_0"]
    return w / _length(w)[..., None].clamp_min(1e-300)


def _length(v: Float[Tensor, "*S d"]) -> Float[Tensor, "*S"]:
    """Return ‖v‖₂."""
    length: Tensor = v.norm(dim=-1)
    return length


@measures(r"$\|w_0/\|w_0\| - w^*\|_2$")
def direction_error(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """‖w_0/‖w_0‖ − w*‖₂, Theorem 4.1 of CGRM.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.MarginMixture(d=2, alpha=2.0), Recipe(n=3, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.MixedLearner(), None, recipe, seeds=(0, 1))
    >>> W = {"w_0": torch.tensor([[5.0, 0.0], [0.0, 3.0]]).double()}  # along w*, orthogonal to w*
    >>> off = direction_error(WeightState(problem, 0, W), av.measure.Scene(problem))
    >>> [round(length, 4) for length in off.tolist()]
    [0.0, 1.4142]
    """
    difference = direction(state).clone()
    difference[..., 0] -= 1
    return _length(difference)


@measures(r"$\|w_0/\|w_0\| - u\|_2$")
def max_margin_gap(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """‖w_0/‖w_0‖ − u‖₂, where u is the max-margin direction of the training points, Lemma B.2 of
    CGRM.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.MarginMixture(d=4, alpha=2.0), Recipe(n=3, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.MixedLearner(), None, recipe, seeds=(0,))
    >>> u, _ = max_margin(problem.train.y[0, :, None] * problem.train.x[0])
    >>> state = WeightState(problem, 0, {"w_0": 5 * u[None]})
    >>> max_margin_gap(state, av.measure.Scene(problem)).item() < 1e-9
    True
    """
    Z = scene.train.y[..., None] * scene.train.x
    u = scene.once("max margin", lambda: torch.stack([max_margin(z)[0] for z in Z]))
    return _length(direction(state) - u)


@measures(r"share of $\langle w_i, x\rangle > b$")
def active_units(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """The share of pairs (training point, threshold unit) with ⟨w_i, x⟩ > b, §4 of CGRM.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.MarginMixture(d=2, alpha=2.0), Recipe(n=3, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.MixedLearner(m=2, b=1.0), None, recipe, seeds=(0,))
    >>> W = {"w": torch.tensor([[[1.0, 0.0], [-1.0, 0.0]]]).double()}  # ⟨w_i, x⟩ = ±2
    >>> active_units(WeightState(problem, 0, W), av.measure.Scene(problem)).item()
    0.5
    """
    z = scene.train.x @ state.W["w"].mT
    return (z > scene.network.b).double().mean((-1, -2))


@measures(r"$\max_i \|w_i - w_i^{(0)}\|_2$")
def unit_drift(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """max_i ‖w_i − w_i⁽⁰⁾‖₂, the largest distance that a threshold unit has moved, §4 of CGRM.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.MarginMixture(d=2, alpha=2.0), Recipe(n=3, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.MixedLearner(m=2), None, recipe, seeds=(0,))
    >>> W = {"w": problem.W0["w"] + torch.tensor([[3.0, 4.0], [0.0, 0.0]])}
    >>> round(unit_drift(WeightState(problem, 1, W), av.measure.Scene(problem)).item(), 9)
    5.0
    """
    start: Tensor = scene.problem.W0["w"]
    return _length(state.W["w"] - start).amax(-1)
