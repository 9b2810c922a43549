"""Directions, margins and threshold units: what §4 of CGRM speaks of. w* = e₁."""

import torch
from torch import Tensor

from adversarium.attacks.gradient import FGSM
from adversarium.data.margins import MarginBatch, MarginMixture
from adversarium.networks.mixed import MixedLearner
from adversarium.probes.measuring import measures
from adversarium.probes.scene import Scene
from adversarium.shapes import Float
from adversarium.sockets import State
from adversarium.solvers import max_margin

MixedScene = Scene[MarginMixture, MixedLearner, FGSM | None, MarginBatch]
MixedState = State[dict[str, Tensor]]


def direction(state: MixedState) -> Float[Tensor, "S d"]:
    """w_0/‖w_0‖ of a linear part (0 at w_0 = 0)."""
    w = state.W["w_0"]
    return w / _length(w)[..., None].clamp_min(1e-300)


def _length(v: Float[Tensor, "*S d"]) -> Float[Tensor, "*S"]:
    """‖v‖₂."""
    length: Tensor = v.norm(dim=-1)
    return length


@measures(r"$\|w_0/\|w_0\| - w^*\|_2$")
def direction_error(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """‖w_0/‖w_0‖ − w*‖₂, Theorem 4.1 of CGRM."""
    away = direction(state).clone()
    away[..., 0] -= 1
    return _length(away)


@measures(r"$\|w_0/\|w_0\| - u\|_2$")
def max_margin_gap(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """‖w_0/‖w_0‖ − u‖₂, u the max-margin direction of the training points, Lemma B.2 of CGRM."""
    Z = scene.train.y[..., None] * scene.train.x
    u = scene.once("max margin", lambda: torch.stack([max_margin(z)[0] for z in Z]))
    return _length(direction(state) - u)


@measures(r"share of $\langle w_i, x\rangle > b$")
def active_units(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """The share of pairs of a training point and a threshold unit with ⟨w_i, x⟩ > b, §4 of CGRM."""
    z = scene.train.x @ state.W["w"].mT
    return (z > scene.network.b).double().mean((-1, -2))


@measures(r"$\max_i \|w_i - w_i^{(0)}\|_2$")
def unit_drift(state: MixedState, scene: MixedScene) -> Float[Tensor, " S"]:
    """max_i ‖w_i − w_i⁽⁰⁾‖₂, how far a threshold unit has moved, §4 of CGRM."""
    start: Tensor = scene.setting.W0["w"]
    return _length(state.W["w"] - start).amax(-1)
