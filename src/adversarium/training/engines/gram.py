"""Two-layer networks under l2 attacks in Gram coordinates: no d after set-up.

With zero-start normalised l2 ascent every perturbation is a combination of weights, δ_i = Wᵀe_i,
and every weight stays in the span of W⁽⁰⁾ and X. State: K = W Wᵀ, H = X Wᵀ, G = X Xᵀ; the attack
moves E = (e_i) and K E; W = A W⁽⁰⁾ + B X is rebuilt on demand. Runs side by side may differ in
their data, dimension, radius and step.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.networks.certificates import slack
from adversarium.networks.two_layer import TwoLayer, signs
from adversarium.shapes import Float
from adversarium.sockets import AnyAttack, AnyData, AnyLearner, Attack, Batch
from adversarium.training.objectives import LOSSES
from adversarium.training.rules import GradientDescent, Rule
from adversarium.training.setting import AnySetting
from adversarium.training.states import WeightState

_MARGIN_LOSSES = ("logit_difference", "minus_true_logit", "cross_entropy", "exponential")


def _unit(c: Tensor, Kc: Tensor) -> Tensor:
    """1/‖Wᵀc‖ per example, 0 where the direction vanishes."""
    square = torch.linalg.vecdot(c, Kc)[..., None]
    return torch.where(square > 0, square, math.inf).rsqrt()


@dataclass(frozen=True)
class Fixed:
    """What does not change during training; replicas may differ in all that is a tensor."""

    network: TwoLayer
    attack: PGD | None  # of the first run: all agree in its steps, `best` and `after`
    rule: Rule
    y: Float[Tensor, "S n"]
    G: Float[Tensor, "S n n"]
    eta: Float[Tensor, "S 1 1"]
    radius: Float[Tensor, "S 1 1"]
    stride: Float[Tensor, "S 1 1"]  # the attack's step

    def at(self, part: slice) -> "Fixed":
        """The same of some of the replicas."""
        names = ("y", "G", "eta", "radius", "stride")
        return replace(self, **{name: getattr(self, name)[part] for name in names})


@dataclass
class Coordinates:
    """K (S, m, m), H (S, n, m) and the coordinates A (S, m, m), B (S, m, n) of the weights."""

    fixed: Fixed
    t: int
    K: Float[Tensor, "S m m"]
    H: Float[Tensor, "S n m"]
    A: Float[Tensor, "S m m"]
    B: Float[Tensor, "S m n"]
    whole: "tuple[Coordinates, slice] | None" = None  # what these are a slice of

    @cached_property
    def attacked(self) -> tuple[Tensor, Tensor]:
        """E and K E after the training attack: δ_i = Wᵀe_i, §1.6 of BOAT's Algorithm 1."""
        if self.whole is not None:
            E, KE = self.whole[0].attacked
            return E[self.whole[1]], KE[self.whole[1]]
        fixed, attack = self.fixed, self.fixed.attack
        network, y = fixed.network, fixed.y
        E, KE = torch.zeros_like(self.H), torch.zeros_like(self.H)
        if attack is None or self.t < attack.after:
            return E, KE
        sign = -y[..., None] * signs(network.m, self.H)
        best, best_margin = (E.clone(), KE.clone()), y * network.top(self.H)
        for _ in range(attack.steps):
            c = network.activation.slope(self.H + KE).mul_(sign)
            Kc = c @ self.K
            step = fixed.stride * _unit(c, Kc)
            E.addcmul_(step, c)
            KE.addcmul_(step, Kc)
            inside = (fixed.radius * _unit(E, KE)).clamp_(max=1)
            E.mul_(inside)
            KE.mul_(inside)
            if attack.best:
                margin = y * network.top(self.H + KE)
                better = (margin < best_margin)[..., None]
                best = torch.where(better, E, best[0]), torch.where(better, KE, best[1])
                best_margin = torch.minimum(margin, best_margin)
        return best if attack.best else (E, KE)

    def step(self) -> "Coordinates":
        """One step of gradient descent on x̃ = X + E W, Algorithm 1 of BOAT."""
        fixed, network, rule = self.fixed, self.fixed.network, self.fixed.rule
        E, KE = self.attacked
        h = self.H + KE
        f = network.top(h).requires_grad_(True)
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(LOSSES[rule.risk.loss](f, fixed.y).sum(), f)
        scale = -fixed.eta / (rule.n * math.sqrt(network.m))
        C = scale * slope[..., None] * signs(network.m, h) * network.activation.slope(h)
        HE = self.H @ E.mT
        M = fixed.G + HE + HE.mT + KE @ E.mT
        half = C.mT @ (h + M @ C / 2)
        eye = torch.eye(rule.n, dtype=h.dtype, device=h.device)
        return Coordinates(
            fixed,
            self.t + 1,
            (self.K + half).add_(half.mT),
            self.H + fixed.G @ C + HE @ C,
            self.A + C.mT @ (E @ self.A),
            self.B + C.mT @ (E @ self.B + eye),
        )

    def at(self, part: slice) -> "Coordinates":
        """The same of some of the replicas."""
        moving = self.K[part], self.H[part], self.A[part], self.B[part]
        return Coordinates(self.fixed.at(part), self.t, *moving, (self, part))


@dataclass
class GramState:
    """One setting's view of the coordinates."""

    setting: AnySetting
    at: Coordinates

    @property
    def t(self) -> int:
        """The step."""
        return self.at.t

    @property
    def K(self) -> Float[Tensor, "S m m"]:
        """W Wᵀ."""
        return self.at.K

    @cached_property
    def full(self) -> WeightState[Tensor]:
        """The same state with its weights rebuilt."""
        W = self.at.A @ self.setting.W0 + self.at.B @ self.setting.train.x
        return WeightState(self.setting, self.t, W)

    @property
    def W(self) -> Tensor:
        """The weights, rebuilt."""
        return self.full.W

    @cached_property
    def x_adv(self) -> Tensor:
        """The training points under the training attack, X + E W."""
        x: Tensor = self.setting.train.x
        return x + self.at.attacked[0] @ self.W

    def f(self, x: Tensor) -> Tensor:
        """The network's output."""
        return self.full.f(x)

    def margin(self, batch: Batch, attack: Attack | None = None) -> Tensor:
        """Margins; on the training set, clean or under the training attack, from K and H."""
        network, y = self.at.fixed.network, self.at.fixed.y
        if batch is self.setting.train and attack is None:
            return y * network.top(self.at.H)
        if batch is self.setting.train and attack is self.setting.attack:
            return y * network.top(self.at.H + self.at.attacked[1])
        return self.full.margin(batch, attack)

    def inner(self, v: Tensor) -> Tensor:
        """⟨w_s, v⟩."""
        return self.full.inner(v)

    def interval(self, batch: Batch, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Sound bounds of the outputs over B_p(x, radius); l2 on the training set from K and H."""
        if batch is self.setting.train and p == 2:
            K, H = self.at.K.double(), self.at.H.double()
            lengths = K.diagonal(dim1=-2, dim2=-1).clamp_min(0).sqrt()
            reach = radius * lengths[..., None, :].expand_as(H)
            network: TwoLayer = self.setting.network

            def spread(e: Tensor) -> Tensor:
                square = torch.linalg.vecdot(e, e @ K)
                terms = torch.linalg.vecdot(e.abs(), e.abs() @ K.abs())
                length: Tensor = (square.clamp_min(0) + slack(2 * network.m, terms)).sqrt()
                return radius * length

            return network.interval_at(H, reach, H.abs() + reach, spread, 2 * network.m)
        return self.full.interval(batch, p, radius)

    def risk(self) -> Tensor:
        """The training objective."""
        f = self.setting.network.top(self.at.H + self.at.attacked[1])
        return LOSSES[self.setting.rule.risk.loss](f, self.setting.train.y).mean(-1)


@dataclass(frozen=True)
class Together:
    """The coordinates of all replicas, and the settings that they belong to."""

    settings: tuple[AnySetting, ...]
    at: Coordinates


@dataclass(frozen=True)
class Gram:
    """Adversarial training in (K, H, G), Algorithm 1 of BOAT."""

    name: str = "gram"
    version: int = 1
    width: Mapping[str, int] = field(default_factory=lambda: {"cpu": 5, "cuda": 20})
    wide: Mapping[str, int] = field(default_factory=lambda: {"cpu": 40, "cuda": 640})

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, rule: Rule) -> str:
        """Why this engine cannot run the four parts, or nothing."""
        if type(network) is not TwoLayer or len(data.shape) != 1:
            return "gram needs a TwoLayer network on vectors"
        if type(rule.optimiser) is not GradientDescent:
            return "gram runs full-batch gradient descent"
        if rule.risk.log:
            return "gram runs the risk itself, not its logarithm (risk.log = False)"
        if attack is None:
            return ""
        if type(attack) is not PGD or attack.p != 2 or attack.box is not None:
            return "gram needs PGD in l2 without a box: other perturbations leave the weights' span"
        if not attack.normalised or attack.start != "zero" or attack.restarts != 1:
            return "gram needs normalised steps from a zero start: a random start leaves the span"
        if attack.loss not in _MARGIN_LOSSES or rule.risk.lam != 1 or rule.risk.log:
            return "gram needs an attack on the margin and risk.lam = 1"
        return ""

    def shape(self, setting: AnySetting) -> Hashable:
        """What must agree for settings to run side by side; d, the radius and η need not."""
        rule, network, by = setting.rule, setting.network, setting.attack
        climb = None if by is None else (by.steps, by.best, by.after)
        place = setting.device, setting.dtype
        return rule.n, rule.steps, rule.risk, network.m, network.activation, climb, place

    def init(self, settings: Sequence[AnySetting]) -> Together:
        """The state at t = 0."""
        first, parts = settings[0], [(s.W0, s.train.x) for s in settings]
        K = torch.cat([W @ W.mT for W, _ in parts])
        H = torch.cat([x @ W.mT for W, x in parts])
        G = torch.cat([x @ x.mT for _, x in parts])
        S, n, m = H.shape
        A = torch.eye(m, dtype=K.dtype, device=K.device).expand(S, m, m)
        B = torch.zeros(S, m, n, dtype=K.dtype, device=K.device)
        by = [s.attack for s in settings]
        fixed = Fixed(
            first.network,
            first.attack,
            first.rule,
            torch.cat([s.train.y for s in settings]),
            G,
            _each(settings, [s.rule.eta for s in settings], K),
            _each(settings, [0.0 if a is None else a.radius for a in by], K),
            _each(settings, [0.0 if a is None else a.step_size for a in by], K),
        )
        return Together(tuple(settings), Coordinates(fixed, 0, K, H, A, B))

    def step(self, state: Together) -> Together:
        """The next state."""
        return replace(state, at=state.at.step())

    def apart(self, state: Together) -> list[GramState]:
        """The states of the settings that run side by side."""
        if len(state.settings) == 1:
            return [GramState(state.settings[0], state.at)]
        made, start = [], 0
        for setting in state.settings:
            part = slice(start, start + len(setting.seeds))
            made.append(GramState(setting, state.at.at(part)))
            start = part.stop
        return made


def _each(settings: Sequence[AnySetting], numbers: Sequence[float], like: Tensor) -> Tensor:
    """One number a setting as one a replica, (S, 1, 1)."""
    column = [n for s, n in zip(settings, numbers, strict=True) for _ in s.seeds]
    return torch.tensor(column, dtype=like.dtype, device=like.device)[:, None, None]
