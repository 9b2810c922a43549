"""CGRO's dynamics in exact coordinates: (u, v) and the Gram matrix of the noise patches.

With u_r = ⟨w_r, w*⟩ and v_{a,r} = ⟨w_r, G_a⟩ for signed noise patches G_a = y_i X_i[j], gradient
descent is a closed system in u, v and K = G Gᵀ: after set-up no cost depends on d. The weights W =
W⁽⁰⁾ + (u − u⁽⁰⁾) w*ᵀ + Cᵀ G are computed on demand.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from adversarium.attacks.transfer import GTA
from adversarium.data.patches import PatchBatch, PatchData
from adversarium.networks.cubic_cnn import CubicCNN
from adversarium.shapes import Float
from adversarium.sockets import AnyAttack, AnyData, AnyLearner, Attack, Batch, Batching
from adversarium.training.problem import AnyProblem, Problem
from adversarium.training.recipe import GradientDescent, Recipe
from adversarium.training.states import WeightState

PatchSetting = Problem[PatchData, CubicCNN, GTA | None, PatchBatch]


@dataclass(frozen=True)
class Coordinates:
    """The quantities that stay constant during training; all may differ between replicas."""

    G: Float[Tensor, "S a d"] | None  # signed noise patches y_i X_i[j]; None in a stack
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
        """3η; `step` divides it by the number of points."""
        return 3 * self.eta[..., None]


@dataclass
class SignalNoiseState:
    """u (S, m), v (S, a, m) and the expansion coefficients C (S, a, m) of the weights."""

    problem: PatchSetting
    at: Coordinates
    t: int
    u: Float[Tensor, "S m"]
    v: Float[Tensor, "S a m"]
    C: Float[Tensor, "S a m"]
    _fresh: tuple[Batch, Tensor] | None = None  # the last fresh points and their margins

    @cached_property
    def U(self) -> Float[Tensor, " S"]:
        """U = Σ_r u_r³, §4.1 of CGRO."""
        return self.u.pow(3).sum(-1)

    @cached_property
    def V(self) -> Float[Tensor, "S n"]:
        """V_i = Σ_r Σ_j v_{i,j,r}³, §4.1 of CGRO."""
        return self.v.pow(3).view(len(self.v), self.problem.recipe.n, -1).sum(-1)

    @cached_property
    def clean_margin(self) -> Float[Tensor, "S n"]:
        """y f(X) = α³U + V, §4.1 of CGRO."""
        return self.at.a3 * self.U[:, None] + self.V

    @cached_property
    def robust_margin(self) -> Float[Tensor, "S n"]:
        """y f(X^adv) = α³(1 − γ)³U + V, §4.1 of CGRO."""
        return self.at.a3 * self.at.g3 * self.U[:, None] + self.V

    @cached_property
    def full(self) -> WeightState[Tensor]:
        """The same state with its weights W."""
        problem = self.problem
        assert self.at.G is not None
        W = problem.W0 + torch.einsum("sam,sad->smd", self.C, self.at.G)
        W[..., 0] += self.u - problem.W0[..., 0]
        return WeightState(problem, self.t, W)

    @property
    def W(self) -> Tensor:
        """The weights, computed from u and C."""
        return self.full.W

    def f(self, x: Tensor) -> Tensor:
        """Return the network's output."""
        return self.full.f(x)

    def margin(self, batch: Batch, attack: Attack | None = None) -> Tensor:
        """Return the margins.

        On the training set they are computed from U and V. Under GTA they follow from the clean
        margins: the attack lowers every margin by α³(1 − (1 − γ)³)U.
        """
        if type(attack) is GTA:
            return self.margin(batch) - self.at.a3 * (1 - (1 - attack.gamma) ** 3) * self.U[:, None]
        if attack is not None:
            return self.full.margin(batch, attack)
        if batch is self.problem.train:
            return self.clean_margin
        if self._fresh is None or self._fresh[0] is not batch:
            self._fresh = batch, self.full.margin(batch)
        return self._fresh[1].clone()

    def inner(self, v: Tensor) -> Tensor:
        """Return ⟨w_r, v⟩."""
        return self.full.inner(v)

    def interval(self, batch: Batch, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Return sound bounds on the outputs over B_p(x, radius)."""
        return self.full.interval(batch, p, radius)

    def risk(self) -> Tensor:
        """Return the training objective, eq. (O) of CGRO."""
        loss = torch.nn.functional.softplus
        clean, robust = loss(-self.clean_margin), loss(-self.robust_margin)
        return ((1 - self.at.lam) * clean + self.at.lam * robust).mean(-1)

    @property
    def gradient_norm(self) -> Tensor:
        """‖∇L‖_F, one number per replica, computed from the coordinates only."""
        after, eta = self.step(), self.at.eta
        along, D = (after.u - self.u) / eta, (after.C - self.C) / eta[..., None]
        return (along.square().sum(-1) + (D * (self.at.K @ D)).sum((1, 2))).clamp_min(0).sqrt()

    def step(self) -> "SignalNoiseState":
        """Take one step of gradient descent.

        The update is the first line of the displayed formula in the proof of Theorem C.2 of CGRO.
        """
        at, n = self.at, self.problem.recipe.n
        clean = (1 - at.lam) * torch.sigmoid(-self.clean_margin)  # ψ(z) = 1/(1 + eᶻ)
        robust = at.lam * torch.sigmoid(-self.robust_margin)
        pull = (clean + at.g3 * robust).mean(-1, keepdim=True)
        u = self.u + at.signal_rate * self.u.square() * pull
        psi = at.noise_rate / n * (clean + robust)[..., None]
        S, a, m = self.v.shape
        D = (psi[..., None] * self.v.square().view(S, n, -1, m)).view(S, a, m)
        return SignalNoiseState(self.problem, at, self.t + 1, u, self.v + at.K @ D, self.C + D)


def start(problem: PatchSetting) -> SignalNoiseState:
    """Return the state at t = 0."""
    data, batch = problem.data, problem.train
    S, n, P, d = batch.x.shape
    patch = torch.arange(P, device=batch.x.device).expand(S, n, P)
    noise = patch != batch.signal[..., None]
    G = (batch.y[..., None, None] * batch.x)[noise].view(S, n * (P - 1), d)
    gamma = problem.attack.gamma if problem.attack is not None else 0.0
    lam = problem.recipe.risk.lam if problem.attack is not None else 0.0
    numbers = (data.alpha**3, (1 - gamma) ** 3, lam, problem.recipe.eta)
    at = Coordinates(G, G @ G.mT, *(G.new_full((S, 1), number) for number in numbers))
    v = G @ problem.W0.mT
    return SignalNoiseState(problem, at, 0, problem.W0[..., 0], v, torch.zeros_like(v))


@dataclass(frozen=True)
class Cells:
    """Several problems stacked on the replica axis.

    `state` contains all of them; `starts` are their states at t = 0, which store the constants.
    """

    state: SignalNoiseState
    starts: tuple[SignalNoiseState, ...]


def _shape(problem: AnyProblem) -> Hashable:
    """Return the properties that problems must share to run together.

    The problems may differ in d, α, σ, γ, λ and η.
    """
    recipe, place = problem.recipe, (problem.device, problem.dtype)
    return recipe.n, problem.data.P, problem.network.m, recipe.steps, place


_BATCHING = Batching(_shape, {"cpu": 10, "cuda": 40}, {"cpu": 256, "cuda": 4096})


@dataclass(frozen=True)
class SignalNoise:
    """Gradient descent in (u, v, K), §4.1 of CGRO."""

    name: str = "signal_noise"
    version: int = 1
    batching: Batching = _BATCHING

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Recipe) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        if type(data) is not PatchData or type(network) is not CubicCNN:
            return (
                "signal_noise needs the data PatchData and the network CubicCNN: only for these "
                "is training a closed system in (u, v)"
            )
        if attack is not None and type(attack) is not GTA:
            return (
                "signal_noise needs attack=None or GTA, which does not depend on the weights, got "
                f"{attack}"
            )
        if recipe.optimiser != GradientDescent() or recipe.risk.loss != "cross_entropy":
            return "signal_noise needs full-batch gradient descent on the logistic loss"
        return ""

    def init(self, problems: Sequence[AnyProblem]) -> Cells:
        """Return the state at t = 0."""
        starts = tuple(start(problem) for problem in problems)
        if len(starts) == 1:
            return Cells(starts[0], starts)
        names = ("K", "a3", "g3", "lam", "eta")
        whole = Coordinates(
            None, *(torch.cat([getattr(part.at, name) for part in starts]) for name in names)
        )
        u, v, C = (torch.cat([getattr(part, name) for part in starts]) for name in ("u", "v", "C"))
        return Cells(SignalNoiseState(starts[0].problem, whole, 0, u, v, C), starts)

    def step(self, cells: Cells) -> Cells:
        """Return the next state."""
        return replace(cells, state=cells.state.step())

    def split(self, cells: Cells) -> list[SignalNoiseState]:
        """Return one state per problem of the stack."""
        if len(cells.starts) == 1:
            return [cells.state]
        made, begin, state = [], 0, cells.state
        for part in cells.starts:
            at = slice(begin, begin + len(part.u))
            uvC = (state.u[at], state.v[at], state.C[at])
            made.append(SignalNoiseState(part.problem, part.at, state.t, *uvC))
            begin = at.stop
        return made
