"""Hypotheses as numbers: how far a run is inside the regime of a theorem."""

import torch
from torch import Tensor

from adversarium.bounds.boat import permitted_constants
from adversarium.probes.scene import Scene
from adversarium.shapes import Float
from adversarium.training.states import State


def C_eff(state: State, scene: Scene) -> Float[Tensor, " S"]:
    """The largest C that all of BOAT's assumptions permit for this run: its own data, attack and
    width, Assumptions 1 and B of BOAT."""
    setting = scene.setting
    radius = 0.0 if setting.attack is None else setting.attack.radius
    permitted = permitted_constants(
        n=setting.rule.n,
        d=setting.data.d,
        mu=setting.data.mu,
        alpha=radius,
        m=setting.network.m,
        beta=setting.data.beta,
    )
    smallest = min(permitted.values()) if radius <= setting.data.mu else 0.0
    return torch.full((len(setting.seeds),), smallest, dtype=torch.float64)
