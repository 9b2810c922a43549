"""A linear classifier under l2 attacks: the worst perturbation is −δ y w/‖w‖, in closed form."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from adversarium.attacks.gradient import FGSM
from adversarium.networks.mixed import MixedLearner
from adversarium.training.rules import GradientDescent, Rule
from adversarium.training.states import Setting, WeightState


def refuses(data: Any, network: Any, attack: Any, rule: Rule) -> str:
    """Why this engine cannot run the four parts, or nothing."""
    if type(network) is not MixedLearner or network.m:
        return "linear needs a MixedLearner without threshold units (m = 0)"
    if not isinstance(rule.optimiser, GradientDescent) or rule.risk.loss != "exponential":
        return "linear needs full-batch descent on the exponential loss"
    if rule.risk.lam != 1:
        return "linear needs risk.lam = 1"
    plain = type(attack) is FGSM and attack.p == 2 and attack.box is None
    if attack is not None and not (plain and attack.loss == "logit_difference"):
        return (
            "linear needs FGSM in l2 on the logit difference without a box, which is exact "
            f"there, or none, got {attack}"
        )
    return ""


def linear_step(w: Tensor, Z: Tensor, delta: float, eta: float, log: bool) -> Tensor:
    """w + η Σ_i p_i (Z_i − δ w/‖w‖), Z_i = y_i x_i, p_i = exp(−margin_i)/n (literal), or divided by
    their sum (log risk), §4 of CGRM; no perturbation at w = 0."""
    length = w.norm(dim=-1, keepdim=True)
    margins = torch.einsum("...nd,...d->...n", Z, w) - delta * length
    p = torch.softmax(-margins, -1) if log else torch.exp(-margins) / Z.shape[-2]
    pull = torch.einsum("...n,...nd->...d", p, Z)
    push = delta * p.sum(-1, keepdim=True) * w / length.clamp_min(1e-300)
    return w + eta * (pull - push)


def linear_descent(setting: Setting) -> Iterator[WeightState]:
    """FGSM training of a linear classifier from w⁽⁰⁾; yields t = 0 … steps."""
    rule, attack = setting.rule, setting.attack
    Z = setting.train.y[..., None] * setting.train.x
    delta = attack.radius if attack is not None else 0.0
    w = setting.W0["w_0"]
    for t in range(rule.steps + 1):
        yield WeightState(setting, t, {"w_0": w})
        w = linear_step(w, Z, delta, rule.eta, rule.risk.log)
