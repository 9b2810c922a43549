"""Two-layer networks under l2 attacks in Gram coordinates: no d after set-up.

With zero-start normalised l2 ascent every perturbation is a combination of weights, δ_i = Wᵀe_i,
and every weight stays in the span of W⁽⁰⁾ and X. State: K = W Wᵀ, H = X Wᵀ, G = X Xᵀ; the attack
moves E = (e_i) and K E; W = A W⁽⁰⁾ + B X is rebuilt on demand.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.networks.two_layer import TwoLayer, signs
from adversarium.shapes import Float
from adversarium.training.objectives import LOSSES
from adversarium.training.rules import GradientDescent, Rule
from adversarium.training.states import Setting, WeightState

_MARGIN_LOSSES = ("logit_difference", "minus_true_logit", "cross_entropy", "exponential")


def refuses(data: Any, network: Any, attack: Any, rule: Rule) -> str:
    """Why this engine cannot run the four parts, or nothing."""
    if type(network) is not TwoLayer or len(data.shape) != 1:
        return "gram needs a TwoLayer network on vectors"
    if type(rule.optimiser) is not GradientDescent:
        return "gram runs full-batch gradient descent"
    if attack is None:
        return ""
    if type(attack) is not PGD or attack.p != 2 or attack.box is not None:
        return "gram needs PGD in l2 without a box: other perturbations leave the weights' span"
    if not attack.normalised or attack.start != "zero" or attack.restarts != 1:
        return "gram needs normalised steps from a zero start: a random start leaves the span"
    if attack.loss not in _MARGIN_LOSSES or rule.risk.lam != 1 or rule.risk.log:
        return "gram needs an attack on the margin and risk.lam = 1"
    return ""


def _unit(c: Tensor, Kc: Tensor) -> Tensor:
    """1/‖Wᵀc‖ per example, 0 where the direction vanishes."""
    square = torch.linalg.vecdot(c, Kc)[..., None]
    return torch.where(square > 0, square, math.inf).rsqrt()


@dataclass
class GramState:
    """K (S, m, m), H (S, n, m) and the coordinates A (S, m, m), B (S, m, n) of the weights."""

    setting: Setting
    G: Float[Tensor, "S n n"]
    t: int
    K: Float[Tensor, "S m m"]
    H: Float[Tensor, "S n m"]
    A: Float[Tensor, "S m m"]
    B: Float[Tensor, "S m n"]

    @cached_property
    def full(self) -> WeightState:
        """The same state with its weights rebuilt."""
        W = self.A @ self.setting.W0 + self.B @ self.train.x
        return WeightState(self.setting, self.t, W)

    @property
    def W(self) -> Tensor:
        """The weights, rebuilt."""
        return self.full.W

    @property
    def train(self) -> Any:
        """The training set."""
        return self.setting.train

    def f(self, x: Tensor) -> Tensor:
        """The network's output."""
        return self.full.f(x)

    @cached_property
    def attacked(self) -> tuple[Tensor, Tensor]:
        """E and K E after the training attack: δ_i = Wᵀe_i, §1.6 of BOAT's Algorithm 1."""
        attack, network, y = self.setting.attack, self.setting.network, self.train.y
        E, KE = torch.zeros_like(self.H), torch.zeros_like(self.H)
        if attack is None or self.t < attack.after:
            return E, KE
        sign = -y[..., None] * signs(network.m, self.H)
        best, best_margin = (E.clone(), KE.clone()), y * network.top(self.H)
        for _ in range(attack.steps):
            c = network.activation.slope(self.H + KE).mul_(sign)
            Kc = c @ self.K
            step = attack.step_size * _unit(c, Kc)
            E.addcmul_(step, c)
            KE.addcmul_(step, Kc)
            inside = (attack.radius * _unit(E, KE)).clamp_(max=1)
            E.mul_(inside)
            KE.mul_(inside)
            if attack.best:
                margin = y * network.top(self.H + KE)
                better = (margin < best_margin)[..., None]
                best = torch.where(better, E, best[0]), torch.where(better, KE, best[1])
                best_margin = torch.minimum(margin, best_margin)
        return best if attack.best else (E, KE)

    def margin(self, batch: Any, attack: Any = None) -> Tensor:
        """Margins; on the training set, clean or under the training attack, from K and H."""
        top = self.setting.network.top
        if batch is self.train and attack is None:
            return batch.y * top(self.H)
        if batch is self.train and attack is self.setting.attack:
            return batch.y * top(self.H + self.attacked[1])
        return self.full.margin(batch, attack)

    def inner(self, v: Tensor) -> Tensor:
        """⟨w_s, v⟩."""
        return self.full.inner(v)

    def interval(self, batch: Any, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Sound bounds of the outputs over B_p(x, radius); l2 on the training set from K and H."""
        if batch is self.train and p == 2:
            lengths = self.K.diagonal(dim1=-2, dim2=-1).clamp_min(0).sqrt()
            return self.setting.network.interval_at(self.H, radius * lengths[..., None, :])
        return self.full.interval(batch, p, radius)

    def risk(self) -> Tensor:
        """The training objective."""
        f = self.setting.network.top(self.H + self.attacked[1])
        return LOSSES[self.setting.rule.risk.loss](f, self.train.y).mean(-1)

    def step(self) -> "GramState":
        """One step of gradient descent on x̃ = X + E W, Algorithm 1 of BOAT."""
        network, rule, y = self.setting.network, self.setting.rule, self.train.y
        E, KE = self.attacked
        h = self.H + KE
        f = network.top(h).requires_grad_(True)
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(LOSSES[rule.risk.loss](f, y).sum(), f)
        scale = -rule.eta / (rule.n * math.sqrt(network.m))
        C = scale * slope[..., None] * signs(network.m, h) * network.activation.slope(h)
        HE = self.H @ E.mT
        M = self.G + HE + HE.mT + KE @ E.mT
        half = C.mT @ (h + M @ C / 2)
        eye = torch.eye(rule.n, dtype=h.dtype, device=h.device)
        return GramState(
            self.setting,
            self.G,
            self.t + 1,
            (self.K + half).add_(half.mT),
            self.H + self.G @ C + HE @ C,
            self.A + C.mT @ (E @ self.A),
            self.B + C.mT @ (E @ self.B + eye),
        )


def gram_descent(setting: Setting) -> Iterator[GramState]:
    """Adversarial training in (K, H, G); yields t = 0 … steps."""
    W, x = setting.W0, setting.train.x
    S, m, _ = W.shape
    A = torch.eye(m, dtype=W.dtype, device=W.device).expand(S, m, m)
    B = torch.zeros(S, m, x.shape[1], dtype=W.dtype, device=W.device)
    state = GramState(setting, x @ x.mT, 0, W @ W.mT, x @ W.mT, A, B)
    for _ in range(setting.rule.steps):
        yield state
        state = state.step()
    yield state
