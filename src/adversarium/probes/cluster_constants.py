"""The constants that BOAT's lemmas leave open, worked out at every step of a training."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import normalize

from adversarium.attacks.gradient import PGD
from adversarium.networks.certificates import increment_bounds
from adversarium.probes.cluster_looks import Attacked, ClusterScene, Look
from adversarium.probes.measuring import described, measures
from adversarium.shapes import Float
from adversarium.sockets import Measure, Rows

DELTA = 0.1  # δ of the statements
C7 = 0.05  # of Corollary B.31: one for all sizes
INCREMENTS = (0, 1, 2, 5, 12, 30, 59)  # the steps whose increment is looked at over whole balls


@measures(r"$\max_{i,j} \tilde g_i/\tilde g_j$")
def loss_ratio(state: Attacked, scene: ClusterScene) -> Float[Tensor, " S"]:
    """max g̃_i/g̃_j over the training points, g̃_i = 1/(1 + exp(y_i f(x̃_i))), Lemma 4.4 of BOAT.

    >>> loss_ratio.measures[0].name
    'loss_ratio'
    """
    log_g = Look(state, scene).log_g
    return (log_g.amax(-1) - log_g.amin(-1)).exp()


@measures(
    least_cosine=r"$\min_i \cos(y_i(\tilde x_i - x_i), -\sum_k y_k x_k)$",
    median_cosine=r"median $\cos(y_i(\tilde x_i - x_i), -\sum_k y_k x_k)$",
)
def attack_angle(state: Attacked, scene: ClusterScene) -> dict[str, Float[Tensor, " S"]]:
    """The angle between a training perturbation and the sum of the training points, §4.1 of BOAT.

    least_cosine: The least over the points.
    median_cosine: The median over the points.

    >>> [measure.name for measure in attack_angle.measures]
    ['least_cosine', 'median_cosine']
    """
    look = Look(state, scene)
    moved = look.y[..., None] * (look.x - scene.train.x)
    total = -(look.y[..., None] * scene.train.x).sum(-2, keepdim=True)
    cosine = torch.cosine_similarity(moved, total, dim=-1)
    return {"least_cosine": cosine.amin(-1), "median_cosine": cosine.median(-1).values}


@measures(r"median angle of $y_i(\tilde x_i - x_i)$ and $-\sum_k y_k x_k$")
def attack_turn(state: Attacked, scene: ClusterScene) -> Float[Tensor, " S"]:
    """The median angle between a training perturbation and the sum of the training points, §4.1 of
    BOAT; small ones keep their digits, which a cosine near 1 does not.

    >>> attack_turn.measures[0].name
    'attack_turn'
    """
    look = Look(state, scene)
    moved = look.y[..., None] * (look.x - scene.train.x)
    total = -(look.y[..., None] * scene.train.x).sum(-2, keepdim=True)
    apart = normalize(moved, dim=-1, eps=1e-300) - normalize(total, dim=-1, eps=1e-300)
    half: Tensor = torch.linalg.vector_norm(apart, dim=-1) / 2
    return 2 * half.clamp_max(1).asin().median(-1).values


@measures(r"$\|W\|_F$")
def weight_norm(state: Attacked, scene: ClusterScene) -> Float[Tensor, " S"]:
    """‖W‖_F, Lemma B.15 of BOAT.

    >>> weight_norm.measures[0].name
    'weight_norm'
    """
    W: Tensor = state.W
    length: Tensor = W.flatten(1).norm(dim=-1)
    return length


@measures(r"$\min_{\bar y} E[yf|\bar y]/(\|W\|_2\sqrt{n/d}\,\|\mu\|^2)$")
def margin_share(state: Attacked, scene: ClusterScene) -> Float[Tensor, " S"]:
    """min over y of E[y f(x; W) | y]/‖W‖₂ over √(n/d)‖μ‖², Lemmas B.14 and B.33 of BOAT.

    >>> margin_share.measures[0].name
    'margin_share'
    """
    return _margin_share(Look(state, scene))


def _margin_share(look: Look) -> Tensor:
    data, n = look.scene.data, look.scene.setting.rule.n
    unit = math.sqrt(n / data.d) * data.mu**2
    return look.expected_margin().amin(0) / (look.spectral * unit)


@dataclass(frozen=True)
class Remembered:
    """What ClusterConstants keeps: its numbers, the sum of Ĝ before this step, W⁽⁰⁾'s numbers and
    the last state."""

    numbers: dict[str, Tensor]
    G: Float[Tensor, " S"]
    first: Look
    before: Look | None


_MAX = {
    "largest_ratio": r"$\max_t \max \tilde g_i/\tilde g_j$",
    "span_distance": r"$\max_t \max_i \mathrm{dist}(\tilde x_i, \mathrm{span} X)$",
    "largest_mu": r"$\max_t \max_i y^c_i\langle\mu, \tilde x_i\rangle/\|\mu\|^2$",
    "cross_inner": r"$\max |\langle\tilde x_i, \tilde x_j\rangle|$ over its law",
    "norm_growth": r"$\max_t (\|W\|_F - \|W^0\|_F)/(\eta\sqrt{d/n}\sum\hat G)$",
    "unit_length": r"$\max_t \max_s \|w_s\|\sqrt{m}/(\eta(\|\mu\|+\sqrt{d/n}+\alpha)\sum\hat G)$",
    "loss_over_average": r"$\max_T T\hat L(W^T)/(2\sum\hat G)$",
    "gradient_share": r"$\max_t \|\nabla\hat L\|_F/((\sqrt{10d}+\alpha)\hat G)$",
    "lost_pairs": r"$\#(A(t)\cap T) \setminus A(t+1)$",
    "sign_excess": r"$\max_t \log P[\mathrm{fail}] - \log 4(d/n)^{-11}$",
    "increment_sign_excess": r"$\max_t \log P[\mathrm{fail}] - \log 3(d/n)^{-11}$",
    "largest_increment": r"$\max y\,\Delta f(\tilde x)/(\eta d\tilde g_i/n)$",
}
_MIN = {
    "least_mu": r"$\min_t \min_i y^c_i\langle\mu, \tilde x_i\rangle/\|\mu\|^2$",
    "gradient_along_mu": r"$\min_t \langle -\nabla\hat L, V\rangle/(\|\mu\|\hat G)$",
    "least_margin_share": r"$\min_t$ margin over $\|W\|_2\sqrt{n/d}\|\mu\|^2$",
    "sign_share": r"$\min_t \min_s z_s/\sqrt{22\log(d/n)}$",
    "proven_increment": r"proven $\min y\,\Delta f(\tilde x)/(\eta d\tilde g_i/n)$",
    "found_increment": r"found $\min y\,\Delta f(\tilde x)/(\eta d\tilde g_i/n)$",
}
_ONCE = {
    "first_move": r"$\|W^1 - W^0\|_F/(\|W^0\|_F\|\mu\|)$",
    "active_points_0": r"$\min_s \#\{i\}/n$ at $t=0$",
    "active_units_0": r"$\min_i \#\{s\}/m$ at $t=0$",
    "active_points_1": r"$\min_s \#\{i\}/n$ at $t=1$",
    "active_units_1": r"$\min_i \#\{s\}/m$ at $t=1$",
    "active_kept": r"$|A(1)\cap T| \geq |A(0)\cap T|$",
}


@dataclass(frozen=True)
class ClusterConstants:
    """The constants of BOAT's lemmas at every step of a run, δ = 0.1.

    largest_ratio: The largest g̃_i/g̃_j at any step, Lemma 4.4 of BOAT.
    span_distance: The largest distance of an attacked point from the span of the training points,
        Lemma 4.1 of BOAT.
    largest_mu: The largest y_c⟨μ, x̃_i⟩/‖μ‖², Lemmas B.11 and B.28 of BOAT.
    least_mu: The least of the same.
    cross_inner: The largest |⟨x̃_i, x̃_j⟩| over ‖μ‖² + √(d log(n/δ)) + α√(d/n), §4.1 of BOAT.
    norm_growth: The largest (‖W‖_F − ‖W⁰‖_F)/(η√(d/n) ΣĜ), Lemma B.12 of BOAT.
    unit_length: The largest ‖w_s‖√m/(η(‖μ‖ + √(d/n) + α) ΣĜ): Lemma B.32 of BOAT at its worst x.
    loss_over_average: The largest T·L̂(W^T)/(2ΣĜ), Lemma B.15 of BOAT.
    gradient_share: The largest ‖∇L̂‖_F over (√(10d) + α)Ĝ, Lemma B.7 of BOAT.
    gradient_along_mu: The least ⟨−∇L̂, V⟩/(‖μ‖Ĝ), V with rows a_s μ/(‖μ‖√m), Lemma B.15 of BOAT.
    lost_pairs: How many pairs of A(t) ∩ T are not in A(t + 1), over all t, Lemma B.26 of BOAT.
    least_margin_share: The least E[yf|y]/‖W‖₂ over √(n/d)‖μ‖² from t = 1 on, Lemma B.33 of BOAT.
    sign_share: The least (a_s⟨w_s, μ⟩ − threshold)/‖w_s‖ over √(22 log(d/n)) from t = 1 on,
        Corollary B.31 of BOAT with c₇ = 0.05.
    sign_excess: The largest log ΣΦ(−z_s) − log 4(d/n)^{−11}: P[fail] from above, Corollary B.31 of
        BOAT.
    increment_sign_excess: The same of w_s − w_s⁰ and 3(d/n)^{−11}, Lemma B.30 of BOAT.
    proven_increment: A lower bound of y_i[f(x̃; W^{t+1}) − f(x̃; W^t)]/(ηd g̃_i/n) over whole balls,
        at t = 0, 1, 2, 5, 12, 30, 59, Lemma B.26 (E2) of BOAT.
    found_increment: The least that an attack on the difference finds, at the same steps.
    largest_increment: An upper bound of the same difference, at the same steps.
    first_move: ‖W¹ − W⁰‖_F/‖W⁰‖_F over ‖μ‖, Proposition B.34 of BOAT.
    active_points_0: The least share over units of points that they see, with their sign, at t = 0,
        Lemma 4.5 of BOAT.
    active_units_0: The least share over points of units that see them, with their sign, at t = 0.
    active_points_1: As active_points_0 over whole balls at t = 1.
    active_units_1: As active_units_0 over whole balls at t = 1.
    active_kept: 1 where every such count at t = 1 is at least that at t = 0.

    >>> [measure.name for measure in ClusterConstants().measures][:2]
    ['largest_ratio', 'span_distance']
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All of them."""
        return described({**_MAX, **_MIN, **_ONCE}, type(self).__doc__)

    def see(self, memory: Remembered | None, state: Attacked, scene: ClusterScene) -> Remembered:
        """The memory after one more state."""
        look = Look(state, scene)
        if memory is None:
            return Remembered(_start(look), look.G, look, look)
        before = memory.before
        assert before is not None
        t = state.t
        found = {
            **_points(look),
            **_weights(look, memory),
            **_signs(look, memory),
            "lost_pairs": memory.numbers["lost_pairs"] + _lost(before, look),
        }
        if t - 1 in INCREMENTS:
            found |= _increments(before, look)
        if t == 1:
            found |= _once(memory.first, look)
        numbers = dict(memory.numbers)
        for name, value in found.items():
            was = numbers.get(name)
            if was is None:
                numbers[name] = value
            elif name in _MIN:
                numbers[name] = torch.minimum(was, value)
            else:
                numbers[name] = torch.maximum(was, value)
        return Remembered(numbers, memory.G + look.G, memory.first, look)

    def rows(self, memory: Remembered) -> Rows:
        """The numbers, in their order."""
        known = [name for name in (*_MAX, *_MIN, *_ONCE) if name in memory.numbers]
        return {name: memory.numbers[name] for name in known}


def _start(look: Look) -> dict[str, Tensor]:
    """At t = 0: which units see which points."""
    points, units = _shares(look.active() & look.own)
    zero = torch.zeros_like(look.G)
    return {"active_points_0": points, "active_units_0": units, "lost_pairs": zero}


def _shares(pairs: Tensor) -> tuple[Tensor, Tensor]:
    """The least share of points over units, and of units over points."""
    seen = pairs.double()
    return seen.mean(-2).amin(-1), seen.mean(-1).amin(-1)


def _once(first: Look, look: Look) -> dict[str, Tensor]:
    """After the first step."""
    was, now = ((one.active() & one.own).double() for one in (first, look))
    kept = [(now.sum(axis) >= was.sum(axis)).all(-1) for axis in (-1, -2)]
    points, units = _shares(now)
    step = (look.W - first.W).flatten(1).norm(dim=-1) / first.W.flatten(1).norm(dim=-1)
    return {
        "first_move": step / look.scene.data.mu,
        "active_points_1": points,
        "active_units_1": units,
        "active_kept": (kept[0] & kept[1]).double(),
    }


def _lost(before: Look, look: Look) -> Tensor:
    return (before.active() & before.own & ~look.active()).double().sum((-1, -2))


def _points(look: Look) -> dict[str, Tensor]:
    """What is said of the attacked points."""
    data, n = look.scene.data, look.scene.setting.rule.n
    scene, d, mu = look.scene, data.d, data.mu
    basis = scene.once("span of X", lambda: torch.linalg.qr(scene.train.x.mT).Q)
    moved = look.x - scene.train.x
    off = moved - (moved @ basis) @ basis.mT
    along = scene.train.clean_y * (look.x @ look.mean) / mu**2
    inner = look.x @ look.x.mT
    inner = inner - torch.diag_embed(inner.diagonal(dim1=-2, dim2=-1))
    law = mu**2 + math.sqrt(d * math.log(n / DELTA)) + look.alpha * math.sqrt(d / n)
    return {
        "largest_ratio": (look.log_g.amax(-1) - look.log_g.amin(-1)).exp(),
        "span_distance": off.norm(dim=-1).amax(-1),
        "largest_mu": along.amax(-1),
        "least_mu": along.amin(-1),
        "cross_inner": inner.abs().flatten(1).amax(-1) / law,
    }


def _weights(look: Look, memory: Remembered) -> dict[str, Tensor]:
    """What is said of the weights and of the gradient."""
    data, rule = look.scene.data, look.scene.setting.rule
    n, d, m, mu = rule.n, data.d, len(look.a), data.mu
    pulled = rule.eta * memory.G  # η ΣĜ before this step
    weight = look.log_g.exp() * look.y
    away = look.W.flatten(1).norm(dim=-1) - memory.first.W.flatten(1).norm(dim=-1)
    reach = mu + math.sqrt(d / n) + look.alpha
    along = (weight * (look.x @ look.mean) * look.slope.mean(-1)).mean(-1) / mu
    kernel = (look.x @ look.x.mT) * (look.slope @ look.slope.mT) / m
    steep = torch.einsum("si,sij,sj->s", weight, kernel, weight).clamp_min(0).sqrt() / n
    return {
        "norm_growth": away / (math.sqrt(d / n) * pulled),
        "unit_length": look.lengths.amax(-1) * math.sqrt(m) / (reach * pulled),
        "loss_over_average": look.state.t * look.loss / (2 * memory.G),
        "gradient_share": steep / ((math.sqrt(10 * d) + look.alpha) * look.G),
        "gradient_along_mu": along / (mu * look.G),
        "least_margin_share": _margin_share(look),
    }


def _signs(look: Look, memory: Remembered) -> dict[str, Tensor]:
    """Corollary B.31 and Lemma B.30 of BOAT: given W, a_s y⟨w_s, x⟩ is Gaussian."""
    data, rule = look.scene.data, look.scene.setting.rule
    ratio = math.log(data.d / rule.n)
    scale = rule.eta * data.mu**2 * memory.G / math.sqrt(len(look.a))
    away = look.W - memory.first.W

    def failing(W: Tensor, threshold: Tensor) -> tuple[Tensor, Tensor]:
        z = (look.a * (W @ look.mean) - threshold[:, None]) / W.norm(dim=-1)
        return z.amin(-1), torch.special.log_ndtr(-z).logsumexp(-1)

    least, log_p = failing(look.W, C7 * scale / 4)
    _, log_p_away = failing(away, C7 * scale)
    return {
        "sign_share": least / math.sqrt(22 * ratio),
        "sign_excess": log_p - (math.log(4) - 11 * ratio),
        "increment_sign_excess": log_p_away - (math.log(3) - 11 * ratio),
    }


def _increments(before: Look, look: Look) -> dict[str, Tensor]:
    """y[f(x̃; W^{t+1}) − f(x̃; W^t)] over whole balls, bounded and attacked."""
    scene, rule = look.scene, look.scene.setting.rule
    m, x, y = len(look.a), scene.train.x, look.y
    c = look.a / math.sqrt(m)
    low, high = increment_bounds(c, scene.network.activation, before.W, look.W, x, look.alpha)
    unit = rule.eta * scene.data.d * before.log_g.exp() / rule.n
    proven = torch.where(y > 0, low, -high) / unit
    most = torch.where(y > 0, high, -low) / unit

    def fallen(at: Tensor) -> Tensor:
        gap = scene.network.top(at @ look.W.mT) - scene.network.top(at @ before.W.mT)
        return -y * gap

    attack = PGD(p=2, radius=look.alpha, steps=10)
    found = -fallen(attack(fallen, replace(scene.train), 0, ())) / unit
    return {
        "proven_increment": proven.amin(-1),
        "found_increment": found.amin(-1),
        "largest_increment": most.amax(-1),
    }
