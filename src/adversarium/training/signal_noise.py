"""CGRO's dynamics in exact coordinates: (u, v) and the Gram matrix of the noise patches.

With u_r = ⟨w_r, w*⟩ and v_{a,r} = ⟨w_r, G_a⟩ for signed noise patches G_a = y_i X_i[j], gradient
descent closes in u, v and K = G Gᵀ: no d after set-up. W = W⁽⁰⁾ + (u − u⁽⁰⁾) w*ᵀ + Cᵀ G is rebuilt
on demand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from adversarium.attacks.transfer import GTA
from adversarium.data.patches import PatchData
from adversarium.networks.cubic_cnn import CubicCNN
from adversarium.shapes import Float
from adversarium.training.rules import GradientDescent, Rule
from adversarium.training.states import Setting, WeightState


def refuses(data: Any, network: Any, attack: Any, rule: Rule) -> str:
    """Why this engine cannot run the four parts, or nothing."""
    if type(data) is not PatchData or type(network) is not CubicCNN:
        return "signal_noise needs PatchData and CubicCNN: only there do (u, v) close"
    if attack is not None and type(attack) is not GTA:
        return f"signal_noise needs the attack GTA, which never looks at W, or none, got {attack}"
    if not isinstance(rule.optimiser, GradientDescent) or rule.risk.loss != "cross_entropy":
        return "signal_noise needs full-batch descent on the logistic loss"
    return ""


@dataclass(frozen=True)
class Coordinates:
    """What does not change during training; replicas may differ in all of it."""

    G: Float[Tensor, "S a d"] | None  # signed noise patches y_i X_i[j]; not kept for many cells
    K: Float[Tensor, "S a a"]  # their Gram matrix
    a3: Float[Tensor, "S 1"]  # α³
    g3: Float[Tensor, "S 1"]  # (1 − γ)³
    lam: Float[Tensor, "S 1"]  # λ, 0 without an attack
    eta: Float[Tensor, "S 1"]  # η

    @cached_property
    def signal_rate(self) -> Float[Tensor, "S 1"]:
        """3ηα³."""
        return 3 * self.eta * self.a3

    @cached_property
    def noise_rate(self) -> Float[Tensor, "S 1 1"]:
        """3η, before the mean over points."""
        return 3 * self.eta[..., None]


@dataclass
class SignalNoiseState:
    """u (S, m), v (S, a, m) and the expansion coefficients C (S, a, m) of the weights."""

    setting: Setting
    at: Coordinates
    t: int
    u: Float[Tensor, "S m"]
    v: Float[Tensor, "S a m"]
    C: Float[Tensor, "S a m"]
    _fresh: tuple[Any, Tensor] | None = None  # the last fresh points and their margins

    @cached_property
    def U(self) -> Float[Tensor, " S"]:
        """U = Σ_r u_r³, §4.1 of CGRO."""
        return self.u.pow(3).sum(-1)

    @cached_property
    def V(self) -> Float[Tensor, "S n"]:
        """V_i = Σ_r Σ_j v_{i,j,r}³, §4.1 of CGRO."""
        return self.v.pow(3).view(len(self.v), self.setting.rule.n, -1).sum(-1)

    @cached_property
    def clean_margin(self) -> Float[Tensor, "S n"]:
        """y f(X) = α³U + V, §4.1 of CGRO."""
        return self.at.a3 * self.U[:, None] + self.V

    @cached_property
    def robust_margin(self) -> Float[Tensor, "S n"]:
        """y f(X^adv) = α³(1 − γ)³U + V, §4.1 of CGRO."""
        return self.at.a3 * self.at.g3 * self.U[:, None] + self.V

    @cached_property
    def full(self) -> WeightState:
        """The same state with its weights rebuilt."""
        setting = self.setting
        W = setting.W0 + torch.einsum("sam,sad->smd", self.C, self.at.G)
        W[..., 0] += self.u - setting.W0[..., 0]
        return WeightState(setting, self.t, W)

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

    def margin(self, batch: Any, attack: Any = None) -> Tensor:
        """Margins; on the training set straight from the coordinates, and under GTA from the clean
        ones: the attack takes α³(1 − (1 − γ)³)U from every point of D."""
        if type(attack) is GTA:
            return self.margin(batch) - self.at.a3 * (1 - (1 - attack.gamma) ** 3) * self.U[:, None]
        if attack is not None:
            return self.full.margin(batch, attack)
        if batch is self.train:
            return self.clean_margin
        if self._fresh is None or self._fresh[0] is not batch:
            self._fresh = batch, self.full.margin(batch)
        return self._fresh[1].clone()

    def inner(self, v: Tensor) -> Tensor:
        """⟨w_r, v⟩."""
        return self.full.inner(v)

    def interval(self, batch: Any, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Sound bounds of the outputs over B_p(x, radius)."""
        return self.full.interval(batch, p, radius)

    def risk(self) -> Tensor:
        """The training objective (O)."""
        loss = torch.nn.functional.softplus
        clean, robust = loss(-self.clean_margin), loss(-self.robust_margin)
        return ((1 - self.at.lam) * clean + self.at.lam * robust).mean(-1)

    @property
    def gradient_norm(self) -> Tensor:
        """‖∇L‖_F, one number a replica, from the coordinates alone."""
        after, eta = self.step(), self.at.eta
        along, D = (after.u - self.u) / eta, (after.C - self.C) / eta[..., None]
        return (along.square().sum(-1) + (D * (self.at.K @ D)).sum((1, 2))).clamp_min(0).sqrt()

    def step(self) -> "SignalNoiseState":
        """One step of gradient descent, Theorem C.2's proof (first line of the display) of CGRO."""
        at, n = self.at, self.setting.rule.n
        clean = (1 - at.lam) * torch.sigmoid(-self.clean_margin)  # ψ(z) = 1/(1 + eᶻ)
        robust = at.lam * torch.sigmoid(-self.robust_margin)
        pull = (clean + at.g3 * robust).mean(-1, keepdim=True)
        u = self.u + at.signal_rate * self.u.square() * pull
        psi = at.noise_rate / n * (clean + robust)[..., None]
        S, a, m = self.v.shape
        D = (psi[..., None] * self.v.square().view(S, n, -1, m)).view(S, a, m)
        return SignalNoiseState(self.setting, at, self.t + 1, u, self.v + at.K @ D, self.C + D)


def start(setting: Setting) -> SignalNoiseState:
    """The state at t = 0."""
    data, batch = setting.data, setting.train
    S, n, P, d = batch.x.shape
    patch = torch.arange(P, device=batch.x.device).expand(S, n, P)
    noise = patch != batch.signal[..., None]
    G = (batch.y[..., None, None] * batch.x)[noise].view(S, n * (P - 1), d)
    gamma = setting.attack.gamma if setting.attack is not None else 0.0
    lam = setting.rule.risk.lam if setting.attack is not None else 0.0
    each = lambda value: G.new_full((S, 1), value)
    at = Coordinates(
        G, G @ G.mT, each(data.alpha**3), each((1 - gamma) ** 3), each(lam), each(setting.rule.eta)
    )
    v = G @ setting.W0.mT
    return SignalNoiseState(setting, at, 0, setting.W0[..., 0], v, torch.zeros_like(v))


def signal_noise_descent(setting: Setting) -> Iterator[SignalNoiseState]:
    """Gradient descent in (u, v, K); yields t = 0 … steps."""
    state = start(setting)
    for _ in range(setting.rule.steps):
        yield state
        state = state.step()
    yield state


def signal_noise_cells(
    settings: Sequence[Setting], times: Sequence[int]
) -> Iterator[list[SignalNoiseState]]:
    """Several settings of one shape (n, P, m, steps), side by side on the replica axis: their
    states at each of the times."""
    parts = [start(setting) for setting in settings]
    sizes = [len(part.u) for part in parts]
    join = lambda name: torch.cat([getattr(part, name) for part in parts])
    fixed = {
        n: torch.cat([getattr(p.at, n) for p in parts]) for n in ("K", "a3", "g3", "lam", "eta")
    }
    whole = Coordinates(None, **fixed)
    state = SignalNoiseState(settings[0], whole, 0, join("u"), join("v"), join("C"))
    for t in range(settings[0].rule.steps + 1):
        if t in times:
            moved = zip(*(x.split(sizes) for x in (state.u, state.v, state.C)), strict=True)
            yield [
                SignalNoiseState(part.setting, part.at, t, *uvC)
                for part, uvC in zip(parts, moved, strict=True)
            ]
        state = state.step()
