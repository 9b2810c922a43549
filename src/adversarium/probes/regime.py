"""Hypotheses as numbers: how far a run is inside the regime of a theorem."""

from typing import Any

import torch
from torch import Tensor

from adversarium.bounds.boat import permitted_constants
from adversarium.bounds.rnrf import Hypothesis, two_feature_assumptions
from adversarium.data import TwoFeaturePatches
from adversarium.networks import SmoothedCNN
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


def assumptions(run: Any) -> tuple[Hypothesis, ...]:
    """Which of its paper's inequalities a run's configuration satisfies, and by how much; empty
    where the laboratory knows none (so far it knows RNRF's, Assumptions 2.3 and B.3)."""
    data, network, attack = run.data, run.network, run.attack
    if not isinstance(data, TwoFeaturePatches) or not isinstance(network, SmoothedCNN):
        return ()
    return two_feature_assumptions(
        **{name: getattr(data, name) for name in ("k", "d", "P", "n_robust", "alpha", "beta")},
        **{name: getattr(network, name) for name in ("m", "q", "rho", "sigma0")},
        sigma_n=data.sigma_n,
        n=run.n,
        eta=run.eta,
        eps=getattr(attack, "radius", None),
        step=getattr(attack, "step_size", None),
    )
