"""Directions, margins and threshold units: what §4 of CGRM speaks of. w* = e₁."""

from typing import Any

import torch
from torch import Tensor

from adversarium.probes.scene import Scene
from adversarium.shapes import Float
from adversarium.training.max_margin import max_margin


def direction(state: Any) -> Float[Tensor, "S d"]:
    """w_0/‖w_0‖ of a linear part (0 at w_0 = 0)."""
    w = state.W["w_0"]
    return w / w.norm(dim=-1, keepdim=True).clamp_min(1e-300)


def direction_error(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """‖w_0/‖w_0‖ − w*‖₂, Theorem 4.1 of CGRM."""
    away = direction(state).clone()
    away[..., 0] -= 1
    return away.norm(dim=-1)


def max_margin_gap(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """‖w_0/‖w_0‖ − u‖₂, u the max-margin direction of the training points, Lemma B.2 of CGRM."""
    Z = scene.train.y[..., None] * scene.train.x
    u = scene.once("max margin", lambda: torch.stack([max_margin(z)[0] for z in Z]))
    return (direction(state) - u).norm(dim=-1)


def active_units(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """The share of pairs of a training point and a threshold unit with ⟨w_i, x⟩ > b."""
    z = scene.train.x @ state.W["w"].mT
    return (z > scene.setting.network.b).double().mean((-1, -2))


def unit_drift(state: Any, scene: Scene) -> Float[Tensor, " S"]:
    """max_i ‖w_i − w_i⁽⁰⁾‖₂."""
    return (state.W["w"] - scene.setting.W0["w"]).norm(dim=-1).amax(-1)
