"""Folds that iterate RNRF's recursions alongside the training they describe.

Each starts from the initial weights of the run and stores the curves of the recursion and its
error.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from adversarium.attacks.gradient import MarginStep
from adversarium.measure.measuring import described, measures, sentence
from adversarium.networks.smoothed_cnn import smoothed_relu, smoothed_slope
from adversarium.shapes import Float, Int
from adversarium.sockets import Measure, Recorded, Rows, State

from .two_features import (
    TwoFeatureScene,
    attack_step,
    attacked_by,
    diagonal,
    every_correlation,
    off_diagonal,
    plateau,
)


@dataclass(frozen=True)
class Signals:
    """The training set without its noise.

    Every point has a class and a weight; every kind of patch has a feature, its strength and the
    number of patches that contain it.
    """

    y: Int[Tensor, "S n"]
    weight: Float[Tensor, "S n"]
    feature: Int[Tensor, "S n p"]
    strength: Float[Tensor, "S n p"]
    count: Float[Tensor, "S n p"]


def signals(scene: TwoFeatureScene) -> Signals:
    """Return the noiseless training set.

    With constant strengths, all points of a class are equal, and one point per class stands for
    them, weighted by the share of its class.
    """
    data, batch = scene.data, scene.train
    if data.strengths == "constant":
        k, S = data.k, len(batch.y)
        y = torch.arange(k, device=batch.y.device).expand(S, k)
        weight = one_hot(batch.y, k).double().mean(-2)

        def row(robust: float, other: float) -> Tensor:
            return torch.tensor((robust, other)).double().to(y.device).expand(S, k, 2)

        feature = torch.stack([y, k + y], dim=-1)
        count = row(data.n_robust, data.P - data.n_robust)
        return Signals(y, weight, feature, row(data.alpha, data.beta), count)
    feature = torch.where(batch.is_robust, batch.y[..., None], data.k + batch.y[..., None])
    strength = batch.strength.double()
    weight = torch.full_like(strength[..., 0], 1 / strength.shape[-2])
    return Signals(batch.y, weight, feature, strength, torch.ones_like(strength))


def feature_step(
    M: Float[Tensor, "S k m f"], points: Signals, scene: TwoFeatureScene
) -> Float[Tensor, "S k m f"]:
    """M'_{i,r,f} = M_{i,r,f} + η E[(1{y=i} − π_i(x̃)) Σ_p s'(⟨w_{i,r}, x̃_p⟩) ⟨x̃_p, f⟩].

    M = (A, B, C, D) after one step, Lemma 5.1 (= D.4) of RNRF. With an attack, these are Lemmas
    D.17 and D.18 of RNRF with a two-sided clip, exact if w⁽⁰⁾ is in the features' span.
    """
    network, eta = scene.network, scene.problem.recipe.eta
    q, rho, k = network.q, network.rho, M.shape[1]
    c = points.strength[..., None] * one_hot(points.feature, 2 * k)  # ⟨x_p, f⟩, (S, n, p, 2k)
    if scene.attack is not None and attack_step(scene):
        own_class = M[torch.arange(len(M))[:, None], points.y]  # (S, n, m, 2k)
        slopes = smoothed_slope(c @ own_class.mT, q, rho)  # s'(α_p A_{y,s}) or s'(β_p B_{y,s})
        push = attack_step(scene) * slopes @ own_class
        c = c - _clipped(push, scene.attack)
    z = torch.einsum("sirf,snpf->snpir", M, c)
    F = (smoothed_relu(z, q, rho) * points.count[..., None, None]).sum((2, 4))
    pull = points.weight[..., None] * (one_hot(points.y, k) - F.softmax(-1))
    slopes = smoothed_slope(z, q, rho) * points.count[..., None, None] * pull[:, :, None, :, None]
    return M + eta * torch.einsum("snpir,snpf->sirf", slopes, c)


def _clipped(push: Tensor, attack: MarginStep) -> Tensor:
    """Return the move of the attack, clipped by element or rescaled by patch."""
    if attack.clip == "element":
        return push.clamp(-attack.radius, attack.radius)
    height = push.abs().amax(-1, keepdim=True).clamp_min(1e-30)
    return push * (attack.radius / height).clamp(max=1)


def own_maxima(M: Float[Tensor, "S k m f"]) -> tuple[Float[Tensor, "S k"], Float[Tensor, "S k"]]:
    """Return max_r A_{i,r} and max_r B_{i,r} of every class."""
    A, B = own_parts(M, M.shape[1])
    return A.amax(-1), B.amax(-1)


@dataclass(frozen=True)
class RecursionMemory:
    """The running values of FeatureRecursion.

    They are the next (A, B, C, D) of the recursion, its points, its largest error so far, and its
    curves with their times.
    """

    M: Float[Tensor, "S k m f"]
    points: Signals
    error: Float[Tensor, " S"]
    t: tuple[int, ...]
    curves: tuple[tuple[Tensor, Tensor], ...]  # max_r A and max_r B of every class


@dataclass(frozen=True)
class FeatureRecursion:
    """`feature_step` iterated from W⁽⁰⁾ alongside the training, with its curves stored every
    `stride` steps, Lemmas 5.1 and D.18 of RNRF.

    error: The largest error of the recursion in any of A, B, C, D at any step, Lemmas 5.1 and D.18
        of RNRF.
    A: max_r A_{i,r} of every class i in the recursion, Lemmas 5.1 and D.18 of RNRF.
    B: max_r B_{i,r} of every class i in the recursion, Lemmas 5.1 and D.18 of RNRF.

    >>> [measure.name for measure in FeatureRecursion(stride=5).measures]
    ['recursion_error', 'recursion_A', 'recursion_B']
    """

    stride: int = 10
    name: str = "recursion"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The error and the curves."""
        doc, name = type(self).__doc__, self.name
        error = "largest error of the recursion"
        A, B = r"$\max_r A_{i,r}$, recursion", r"$\max_r B_{i,r}$, recursion"
        return (
            Measure(f"{name}_error", error, sentence(doc, "error")),
            Measure(f"{name}_A", A, sentence(doc, "A"), ("class",)),
            Measure(f"{name}_B", B, sentence(doc, "B"), ("class",)),
        )

    def see(
        self, memory: RecursionMemory | None, state: State[Tensor], scene: TwoFeatureScene
    ) -> RecursionMemory:
        """Return the running values after one more state."""
        actual = every_correlation(state, scene)
        if memory is None:
            memory = RecursionMemory(
                actual, signals(scene), torch.zeros(len(actual)).to(actual), (), ()
            )
        M, points, t, curves = memory.M, memory.points, memory.t, memory.curves
        error = torch.maximum(memory.error, (M - actual).abs().amax((1, 2, 3)))
        if state.t % self.stride == 0:
            t, curves = (*t, state.t), (*curves, own_maxima(M))
        return RecursionMemory(feature_step(M, points, scene), points, error, t, curves)

    def rows(self, memory: RecursionMemory) -> Rows:
        """Return the error and the curves (S, t, class)."""
        A, B = (torch.stack(part, dim=1) for part in zip(*memory.curves, strict=True))
        return {
            f"{self.name}_error": memory.error,
            f"{self.name}_A": Recorded(A, memory.t),
            f"{self.name}_B": Recorded(B, memory.t),
        }


def growth(
    M: Float[Tensor, "S k m f"], scene: TwoFeatureScene, rest: Float[Tensor, "S k m"] | None = None
) -> tuple[Tensor, Tensor]:
    """(η/k)(1 − 1/k) A^{q−1} Σ_R α^q (1 − min{ε/α, κ_A})^q/ϱ^{q−1}, Lemma 5.2 (= D.22) of RNRF.

    κ_A = η̃ α^{q−2} Σ_s A_s^q/ϱ^{q−1}. This is the increment of A; that of B has B, β and NR.
    Without an attack κ_A = 0, which is Lemma D.8 of RNRF. Given `rest` = ‖P_⊥w‖², the attack lowers
    each activation by η̃ α^{q−2} A^{q−2}‖P_⊥w‖²/ϱ^{q−1} of itself as well, so that q − 1 of the q
    factors are 1 − κ_A minus this. Returns the increments of A and of B, each (S, k, m).
    """
    network, data, k = scene.network, scene.data, M.shape[1]
    q, rho, eta = network.q, network.rho, scene.problem.recipe.eta
    parts = (
        (diagonal(M[..., :k]), data.alpha, data.n_robust),
        (diagonal(M[..., k:]), data.beta, data.P - data.n_robust),
    )
    increments = []
    for part, strength, count in parts:
        part = part.clamp_min(0)
        attenuation: Tensor | float = 1.0
        if scene.attack is not None and attack_step(scene):
            scale = attack_step(scene) * strength ** (q - 2) / rho ** (q - 1)
            kappa = scale * part.pow(q).sum(-1, keepdim=True)
            kept = 1 - kappa.clamp(max=scene.attack.radius / strength)
            lost = 0.0 if rest is None else scale * part.pow(q - 2) * rest
            attenuation = kept * (kept - lost).clamp_min(0).pow(q - 1)
        pull = eta / k * (1 - 1 / k) * count * strength**q / rho ** (q - 1)
        increments.append(pull * attenuation * part.pow(q - 1))
    return increments[0], increments[1]


# (A, B, C, D), ‖P_⊥w‖², and whether the early stage of the lemma lasts
Stage = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class GrowthLaw:
    """The relative error of `growth` in the filters with the largest A and B of every class, Lemmas
    5.2 and D.8 of RNRF.

    In the early stage, no activation is above ϱ and |π − 1/k| < (1 − 1/k)/20 (Lemma D.8); with an
    attack, Σ_s B_s^q is also below a tenth of its plateau (Lemma 5.2).

    error_A: The largest relative error of the growth law of A during the early stage, in the filter
        with the largest A of every class, Lemmas 5.2 and D.8 of RNRF.
    error_B: The largest relative error of the growth law of B during the early stage, in the filter
        with the largest B of every class, Lemmas 5.2 and D.8 of RNRF.
    damped_error_B: The same if the attack's effect on P_⊥w is included (Lemma 5.2 of RNRF).
    T0: The first step at which the relative error of the growth law exceeds a fifth, Lemmas 5.2 and
        D.8 of RNRF.

    >>> [measure.name for measure in GrowthLaw(name="law").measures]
    ['law_error_A', 'law_error_B', 'law_damped_error_B', 'law_T0']
    """

    name: str = "growth_law"

    version: ClassVar[int] = 4  # 4: also the error of B with P_⊥w

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The errors, and the step at which the growth law ends."""
        doc = type(self).__doc__
        error, end = "relative error of the growth law", "$T_0$, where the growth law ends"
        return (
            Measure(f"{self.name}_error_A", f"{error}, A", sentence(doc, "error_A")),
            Measure(f"{self.name}_error_B", f"{error}, B", sentence(doc, "error_B")),
            Measure(
                f"{self.name}_damped_error_B",
                f"{error} with $P_\\perp w$, B",
                sentence(doc, "damped_error_B"),
            ),
            Measure(f"{self.name}_T0", end, sentence(doc, "T0")),
        )

    def see(
        self,
        memory: tuple[Tensor, Tensor, Stage] | None,
        state: State[Tensor],
        scene: TwoFeatureScene,
    ) -> tuple[Tensor, Tensor, Stage]:
        """Return the largest errors, T₀ (or NaN) and the last stage after one more state."""
        M = every_correlation(state, scene)
        rest = off_features(state.W, scene.data.k).square().sum(-1)
        now = M, rest, self._early(M, state, scene)
        if memory is None:
            unknown = torch.full((len(M), 3), math.nan).to(M)  # NaN until a step of the early stage
            return unknown, unknown[:, 0], now
        largest, first, (old, old_rest, early) = memory
        k = scene.data.k
        printed = _relative_errors(M, old, growth(old, scene), k)
        damped = _relative_errors(M, old, growth(old, scene, old_rest), k)
        error = torch.cat([printed, damped[:, 1:]], dim=-1)
        largest = torch.where(early[:, None], torch.fmax(largest, error), largest)
        late = first.isnan() & (printed.amax(-1) > 0.2)
        return largest, torch.where(late, float(state.t - 1), first), now

    def _early(self, M: Tensor, state: State[Tensor], scene: TwoFeatureScene) -> Tensor:
        """Return whether each seed is in the early stage."""
        k, network = scene.data.k, scene.network
        doubt = (state.f(scene.train.x).softmax(-1) - 1 / k).abs().amax((1, 2))
        highest = (M.flatten(1).amax(-1)) * max(scene.data.alpha, scene.data.beta)
        early = (doubt < (1 - 1 / k) / 20) & (highest < network.rho)
        if scene.attack is None:
            return early
        B = diagonal(M[..., k:]).clamp_min(0)
        return early & (B.pow(network.q).sum(-1) < 0.1 * plateau(scene)).all(-1)

    def rows(self, memory: tuple[Tensor, Tensor, Stage]) -> Rows:
        """Return the largest errors of the early stage, and T₀."""
        A, B, damped = memory[0].unbind(-1)
        return {
            f"{self.name}_error_A": A,
            f"{self.name}_error_B": B,
            f"{self.name}_damped_error_B": damped,
            f"{self.name}_T0": memory[1],
        }


def _relative_errors(
    M: Tensor, old: Tensor, law: tuple[Tensor, Tensor], k: int
) -> Float[Tensor, "S 2"]:
    """Return the largest relative errors of the increments of A and of B, over classes."""
    errors = []
    for now, was, claimed in zip(own_parts(M, k), own_parts(old, k), law, strict=True):
        largest = was.argmax(-1, keepdim=True)
        step, expected = (now - was).gather(-1, largest), claimed.gather(-1, largest)
        errors.append((step / expected - 1).abs().flatten(1).amax(-1))
    return torch.stack(errors, dim=-1)


def own_parts(M: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return A and B, each (S, k, m)."""
    return diagonal(M[..., :k]), diagonal(M[..., k:])


@dataclass(frozen=True)
class OffDiagonalGrowth:
    """The largest increase in one step of a positive C or D, Lemma D.7 of RNRF; at most 0 if none
    grows.

    >>> assert OffDiagonalGrowth().measures[0].name == "off_diagonal_growth"
    """

    name: str = "off_diagonal_growth"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The increase."""
        return described({self.name: r"$\max(\Delta C, \Delta D)$"}, type(self).__doc__)

    def see(
        self, memory: tuple[Tensor, Tensor] | None, state: State[Tensor], scene: TwoFeatureScene
    ) -> tuple[Tensor, Tensor]:
        """Return C and D, and the largest increase so far."""
        M = every_correlation(state, scene)
        k = scene.data.k
        foreign = torch.cat([off_diagonal(M[..., :k]), off_diagonal(M[..., k:])], dim=-1)
        if memory is None:
            return foreign, torch.full_like(foreign[:, 0], -math.inf)
        before, largest = memory
        step = torch.where(before > 0, foreign - before, -math.inf).amax(-1)
        return foreign, torch.maximum(largest, step)

    def rows(self, memory: tuple[Tensor, Tensor]) -> Rows:
        """Return the largest increase of any step."""
        return {self.name: memory[1]}


def off_features(v: Tensor, k: int) -> Tensor:
    """P_⊥v, the component of v orthogonal to the features, which are the first 2k axes."""
    return torch.cat([torch.zeros_like(v[..., : 2 * k]), v[..., 2 * k :]], dim=-1)


@measures(r"$\max |P_\perp(w^{(t)} - w^{(0)})|$")
def off_feature_drift(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """max |P_⊥(w⁽ᵗ⁾ − w⁽⁰⁾)|, Lemma D.2 of RNRF.

    >>> off_feature_drift.measures[0].sentence
    'max |P_⊥(w⁽ᵗ⁾ − w⁽⁰⁾)|, Lemma D.2 of RNRF.'
    """
    moved = off_features(state.W - scene.problem.W0, scene.data.k)
    return moved.abs().flatten(1).amax(-1)


def _initial_span(scene: TwoFeatureScene) -> Float[Tensor, "S km d"]:
    """Return P_⊥w⁽⁰⁾_{i,r}, one row per filter.

    Raise if they span all dimensions orthogonal to the features.
    """
    W0: Tensor = scene.problem.W0
    rows = off_features(W0, scene.data.k).flatten(1, 2)
    if rows.shape[1] >= W0.shape[-1] - 2 * scene.data.k:
        raise ValueError(
            f"the initial weights span the entire space: k·m must be < d − 2k, got {rows.shape[1]} "
            f"filters and d − 2k = {W0.shape[-1] - 2 * scene.data.k}; use fewer filters."
        )
    return rows


def _residual(v: Tensor, scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """Return the largest coordinate of v (S, …, d) outside the features and the initial P_⊥w."""
    off = off_features(v, scene.data.k).flatten(1, -2)
    basis: Tensor = scene.once("span", lambda: torch.linalg.qr(_initial_span(scene).mT).Q)
    return (off - (off @ basis) @ basis.mT).abs().amax((1, 2))


@measures(r"$w$ off $\mathrm{span}\{u, v, P_\perp w^{(0)}\}$")
def weights_off_span(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The largest coordinate of the weights outside span{features, P_⊥w⁽⁰⁾}, Lemma D.16 of RNRF.

    >>> weights_off_span.measures[0].name, weights_off_span.measures[0].axes
    ('weights_off_span', ())
    """
    return _residual(state.W, scene)


@measures(r"$\tilde{X}$ off $\mathrm{span}\{u, v, P_\perp w^{(0)}\}$")
def attacked_off_span(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The largest coordinate of the attacked inputs outside span{features, P_⊥w⁽⁰⁾}, Lemma D.17 of
    RNRF.

    >>> attacked_off_span.measures[0].sentence.endswith("Lemma D.17 of RNRF.")
    True
    """
    return _residual(state.full.x_adv, scene)


@measures(r"error of the printed $\tilde{X}$")
def printed_attack_error(state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, " S"]:
    """The largest error of the published x̃ of Lemma D.17 of RNRF, in which every coefficient,
    including those of the P_⊥w⁽⁰⁾, moves by −min{ε, η̃ Σ_s s'(·)(coefficient of w_{y,s})}, a
    one-sided clip.

    >>> assert printed_attack_error.measures[0].axes == ()  # one number per seed
    """
    k, network, train = scene.data.k, scene.network, scene.train
    span = _initial_span(scene)
    E = torch.linalg.lstsq(span.mT, off_features(state.W, k).flatten(1, 2).mT).solution.mT
    M = torch.cat([every_correlation(state, scene).flatten(1, 2), E], dim=-1)
    M = M.view(*state.W.shape[:3], -1)[torch.arange(len(E))[:, None], train.y]  # (S, n, m, ·)
    z = train.x[..., : 2 * k] @ M[..., : 2 * k].mT
    push = attack_step(scene) * smoothed_slope(z, network.q, network.rho) @ M
    push = push.clamp(max=attacked_by(scene).radius)
    features, rest = push[..., : 2 * k], push[..., 2 * k :]
    moved = torch.cat([features, torch.zeros_like(train.x[..., 2 * k :])], dim=-1)
    printed = train.x - moved - rest @ span[:, None]
    return (printed - state.full.x_adv).abs().amax((1, 2, 3))
