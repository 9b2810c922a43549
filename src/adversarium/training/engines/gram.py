"""Two-layer networks under l2 attacks in Gram coordinates: after set-up no cost depends on d.

If the attack is normalised l2 ascent from zero, every perturbation is a combination of weights, δ_i
= Wᵀe_i, and the weights stay in the span of W⁽⁰⁾ and X. The state consists of K = W Wᵀ, H = X Wᵀ +
1bᵀ and G = X Xᵀ; the attack updates E = (e_i) and K E; W = A W⁽⁰⁾ + B X is computed on demand. A
Perceptron may also train its biases b, top layer a and offset c. Runs in one stack may differ in
their data, dimension, radius and step size.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.networks.activations import ReLU
from adversarium.networks.certificates import slack
from adversarium.networks.perceptron import Perceptron
from adversarium.networks.two_layer import TwoLayer, signs
from adversarium.shapes import Float
from adversarium.sockets import (
    AnyAttack,
    AnyData,
    AnyLearner,
    Attack,
    Batch,
    Batching,
    RealLabelled,
)
from adversarium.training.engines.gram_attack import (
    Network,
    Top,
    check_budget,
    climbed,
    leaves_span,
    outputs_of,
)
from adversarium.training.engines.gram_kernels import look, plus_outer, rough_product, serves
from adversarium.training.engines.sharing import SharingProblem
from adversarium.training.problem import AnyProblem
from adversarium.training.recipe import GradientDescent, Recipe
from adversarium.training.states import AnyWeightState, WeightState


@dataclass(frozen=True)
class Fixed:
    """The quantities that stay constant during training; tensors may differ between replicas."""

    network: Network
    attack: PGD | None  # of the first run; all have the same steps, `best` and `after`
    recipe: Recipe
    y: Float[Tensor, "S n"]
    G: Float[Tensor, "S n n"]
    eta: Float[Tensor, "S 1 1"]
    radius: Float[Tensor, "S 1 1"]
    stride: Float[Tensor, "S 1 1"]  # the step size of the attack

    def at(self, part: slice) -> "Fixed":
        """Return the same object for a slice of the replicas."""
        names = ("y", "G", "eta", "radius", "stride")
        return replace(self, **{name: getattr(self, name)[part] for name in names})


@dataclass
class Coordinates:
    """K (S, m, m), H (S, n, m), the coordinates A (S, m, m), B (S, m, n) of the weights, and the
    top layer."""

    fixed: Fixed
    t: int
    K: Float[Tensor, "S m m"]
    H: Float[Tensor, "S n m"]
    A: Float[Tensor, "S m m"]
    B: Float[Tensor, "S m n"]
    top: Top
    whole: "tuple[Coordinates, slice] | None" = None  # the larger stack, and the slice

    @cached_property
    def attacked(self) -> tuple[Tensor, Tensor]:
        """E and K E after the training attack."""
        if self.whole is not None:
            E, KE = self.whole[0].attacked
            return E[self.whole[1]], KE[self.whole[1]]
        fixed, by = self.fixed, self.fixed.attack
        if by is None or self.t < by.after:
            return torch.zeros_like(self.H), torch.zeros_like(self.H)
        return climbed(
            fixed.network, self.K, self.H, self.top, fixed.y, by, fixed.radius, fixed.stride
        )

    def outputs(self, h: Tensor) -> Tensor:
        """Return f, computed from the pre-activations."""
        return outputs_of(self.fixed.network, h, self.top)

    def step(self) -> "Coordinates":
        """Take one step of gradient descent on x̃ = X + E W, Algorithm 1 of BOAT."""
        fixed, network, recipe, top = self.fixed, self.fixed.network, self.fixed.recipe, self.top
        E, KE = self.attacked
        lifted, active, sloped, on, f = self._looked(KE)
        f.requires_grad_(True)
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(recipe.risk.function(f, fixed.y).sum(), f)
        pull = -fixed.eta * recipe.decayed(self.t) / recipe.n * slope[..., None]
        C = pull * sloped
        XX = lifted @ E.mT  # (H + KE − b) Eᵀ
        XW = XX - KE @ E.mT  # X Wᵀ Eᵀ
        half = torch.baddbmm(lifted, fixed.G + XX + XW.mT, C, alpha=0.5)
        eye = torch.eye(recipe.n, dtype=C.dtype, device=C.device)
        H = torch.baddbmm(self.H, fixed.G + XW, C)
        K = self._plus(self.K, on, pull, half, mirrored=True)
        # E A and E B enter only the weights, and ‖E W‖ ≤ radius is small: TF32 (10 bits) suffices
        A = self._plus(self.A, on, pull, rough_product(E, self.A), rough=True)
        B = torch.baddbmm(self.B, C.mT, rough_product(E, self.B) + eye)
        if not isinstance(network, TwoLayer):
            still = network.still
            b = 0 * top.b if "b" in still else C.sum(-2, keepdim=True)
            H = H + b
            top = Top(
                top.a if "a" in still else top.a + pull.mT @ active,
                top.b + b,
                top.c if "c" in still else top.c + pull.sum(-2),
            )
        return Coordinates(fixed, self.t + 1, K, H, A, B, top)

    def _looked(self, KE: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return h − b, φ(h), a·φ'(h), φ'(h) and f of the units under attack, h = H + KE."""
        network, top = self.fixed.network, self.top
        if serves(KE) and isinstance(network, Perceptron) and isinstance(network.activation, ReLU):
            return look(self.H, KE, top.a, top.b, top.c)
        h = self.H + KE
        on = network.activation.slope(h)
        return h - top.b, network.activation(h), on * top.a, on, self.outputs(h)

    def _plus(
        self, base: Tensor, on: Tensor, pull: Tensor, Z: Tensor, mirrored: bool = False,
        rough: bool = False,
    ) -> Tensor:  # fmt: skip
        """Return base + U with U = diag(a)·onᵀ(pull·Z), plus Uᵀ if `mirrored`.

        `on` contains the slopes of the units. `rough` allows products in TF32 (10-bit mantissas).
        """
        if serves(base) and isinstance(self.fixed.network.activation, ReLU):
            return plus_outer(base, on, pull, Z, self.top.a, mirrored, rough)
        U = (on * self.top.a).mT @ (pull * Z)
        return (base + U).add_(U.mT) if mirrored else base + U

    def at(self, part: slice) -> "Coordinates":
        """Return the same object for a slice of the replicas."""
        moving = self.K[part], self.H[part], self.A[part], self.B[part], self.top.at(part)
        return Coordinates(self.fixed.at(part), self.t, *moving, (self, part))


@dataclass
class GramState:
    """The state of one problem in Gram coordinates."""

    problem: AnyProblem
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
    def _first_layer(self) -> Float[Tensor, "S m d"]:
        """W, computed from A and B."""
        W0 = self.problem.W0
        first: Tensor = W0 if isinstance(W0, Tensor) else W0["w"]
        x: Tensor = self.problem.train.x
        return self.at.A @ first + self.at.B @ x

    @cached_property
    def full(self) -> AnyWeightState:
        """The same state with its weights W."""
        W, top = self._first_layer, self.at.top
        if isinstance(self.problem.network, TwoLayer):
            return WeightState(self.problem, self.t, W)
        above = {"b": top.b[:, 0], "a": top.a[:, 0], "c": top.c[:, 0]}
        return WeightState(self.problem, self.t, {"w": W, **above})

    @property
    def W(self) -> Any:
        """The weights, computed from A and B."""
        return self.full.W

    @cached_property
    def x_adv(self) -> Tensor:
        """The training points under the training attack, X + E W."""
        x: Tensor = self.problem.train.x
        return x + self.at.attacked[0] @ self._first_layer

    def f(self, x: Tensor) -> Tensor:
        """Return the network's output."""
        return self.full.f(x)

    def margin(self, batch: Batch, attack: Attack | None = None) -> Tensor:
        """Return the margins.

        On the training set, clean or under the training attack, they are computed from K and H. On
        other points, under an attack that stays in the span of the weights, they are computed from
        K and the pre-activations.
        """
        at, y = self.at, self.at.fixed.y
        if batch is self.problem.train and attack is None:
            return y * at.outputs(at.H)
        if batch is self.problem.train and attack is self.problem.attack:
            return y * at.outputs(at.H + at.attacked[1])
        if not isinstance(attack, PGD) or leaves_span(attack) or self.t < attack.after:
            return self.full.margin(batch, attack)
        H = batch.x @ self._first_layer.mT + at.top.b
        radius, stride = (H.new_full((1, 1, 1), v) for v in (attack.radius, attack.step_size))
        E, KE = climbed(self.problem.network, at.K, H, at.top, batch.y, attack, radius, stride)
        check_budget(E, KE, attack)
        return batch.y * at.outputs(H + KE)

    def inner(self, v: Tensor) -> Tensor:
        """Return ⟨w_s, v⟩."""
        return self.full.inner(v)

    def interval(self, batch: Batch, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Return sound bounds on the outputs over B_p(x, radius).

        The l2 bounds on the training set are computed from K and H.
        """
        if batch is self.problem.train and p == 2:
            K, H = self.at.K.double(), self.at.H.double()
            lengths = K.diagonal(dim1=-2, dim2=-1).clamp_min(0).sqrt()
            reach = radius * lengths[..., None, :].expand_as(H)
            network: Network = self.problem.network

            def spread(e: Tensor) -> Tensor:
                square = torch.linalg.vecdot(e, e @ K)
                terms = torch.linalg.vecdot(e.abs(), e.abs() @ K.abs())
                length: Tensor = (square.clamp_min(0) + slack(2 * network.m, terms)).sqrt()
                return radius * length

            if isinstance(network, TwoLayer):
                return network.interval_at(H, reach, H.abs() + reach, spread, 2 * network.m)
        return self.full.interval(batch, p, radius)

    def risk(self) -> Tensor:
        """Return the training objective."""
        f = self.at.outputs(self.at.H + self.at.attacked[1])
        return self.problem.recipe.risk.function(f, self.problem.train.y).mean(-1)


@dataclass(frozen=True)
class Together:
    """The coordinates of all replicas, and the problems to which they belong."""

    problems: tuple[AnyProblem, ...]
    at: Coordinates


def _shape(problem: AnyProblem) -> Hashable:
    """Return the properties that problems must share to run together.

    The problems may differ in d, the radius and η.
    """
    recipe, network, by = problem.recipe, problem.network, problem.attack
    climb = None if by is None else (by.steps, by.best, by.after)
    place = problem.device, problem.dtype
    kind = replace(network, omega=1.0) if isinstance(network, TwoLayer) else network
    return recipe.n, recipe.steps, recipe.risk, kind, recipe.optimiser, climb, place


_BATCHING = Batching(_shape, {"cpu": 5, "cuda": 20}, {"cpu": 40, "cuda": 100})


@dataclass(frozen=True)
class Gram:
    """Adversarial training in (K, H, G), Algorithm 1 of BOAT."""

    name: str = "gram"
    version: int = 1
    batching: Batching = _BATCHING

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Recipe) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        if type(network) not in (TwoLayer, Perceptron) or len(data.shape) != 1:
            return "gram needs a TwoLayer or Perceptron network, and data that are vectors"
        if type(recipe.optimiser) is not GradientDescent:
            return (
                f"gram needs the optimiser GradientDescent, got {type(recipe.optimiser).__name__}"
            )
        if recipe.risk.log:
            return "gram needs risk.log = False: it cannot train on the logarithm of the risk"
        if isinstance(data, RealLabelled):
            return "gram needs class labels; full and sgd also accept real labels"
        if attack is not None and (recipe.risk.lam != 1 or recipe.risk.log):
            return f"gram needs risk.lam = 1 with an attack, got {recipe.risk.lam}"
        return "" if attack is None else leaves_span(attack)

    def placed(self, problem: AnyProblem) -> AnyProblem:
        """Return the problem as a `SharingProblem`, so that runs share their draws."""
        return SharingProblem(
            problem.data, problem.network, problem.attack, problem.recipe, problem.seeds,
            problem.device, problem.dtype,
        )  # fmt: skip

    def init(self, problems: Sequence[AnyProblem]) -> Together:
        """Return the state at t = 0."""
        first = problems[0]
        parts = [(s.W0 if isinstance(s.W0, Tensor) else s.W0["w"], s.train.x) for s in problems]
        K = torch.cat([W @ W.mT for W, _ in parts])
        H = torch.cat([x @ W.mT for W, x in parts])
        G = torch.cat([x @ x.mT for _, x in parts])
        top = _tops(problems, H)
        S, n, m = H.shape
        A = torch.eye(m, dtype=K.dtype, device=K.device).expand(S, m, m)
        B = torch.zeros(S, m, n, dtype=K.dtype, device=K.device)
        by = [s.attack for s in problems]
        fixed = Fixed(
            first.network,
            first.attack,
            first.recipe,
            torch.cat([s.train.y for s in problems]),
            G,
            _each(problems, [s.recipe.eta for s in problems], K),
            _each(problems, [0.0 if a is None else a.radius for a in by], K),
            _each(problems, [0.0 if a is None else a.step_size for a in by], K),
        )
        return Together(tuple(problems), Coordinates(fixed, 0, K, H + top.b, A, B, top))

    def step(self, state: Together) -> Together:
        """Return the next state."""
        return replace(state, at=state.at.step())

    def split(self, state: Together) -> list[GramState]:
        """Return one state per problem of the stack."""
        if len(state.problems) == 1:
            return [GramState(state.problems[0], state.at)]
        made, start = [], 0
        for problem in state.problems:
            part = slice(start, start + len(problem.seeds))
            made.append(GramState(problem, state.at.at(part)))
            start = part.stop
        return made


def _tops(problems: Sequence[AnyProblem], H: Tensor) -> Top:
    """Return the top layer of every replica at t = 0."""
    S, _, m = H.shape
    if isinstance(problems[0].network, TwoLayer):
        a = (signs(m, H) / math.sqrt(m)).expand(S, 1, m)
        return Top(a, torch.zeros(S, 1, m).to(H), torch.zeros(S, 1).to(H))
    a, b, c = (torch.cat([s.W0[name] for s in problems]) for name in ("a", "b", "c"))
    return Top(a[:, None], b[:, None], c[:, None])


def _each(problems: Sequence[AnyProblem], numbers: Sequence[float], like: Tensor) -> Tensor:
    """Expand one number per problem to one per replica, (S, 1, 1)."""
    column = [n for s, n in zip(problems, numbers, strict=True) for _ in s.seeds]
    return torch.tensor(column, dtype=like.dtype, device=like.device)[:, None, None]
