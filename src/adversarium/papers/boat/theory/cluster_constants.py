"""Compute the constants that BOAT's lemmas leave unspecified, at every step of a training run."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import normalize

from adversarium.attacks.gradient import PGD
from adversarium.measure.measuring import described, measures
from adversarium.networks.certificates import increment_bounds
from adversarium.shapes import Float
from adversarium.sockets import Measure, Rows

from .cluster_looks import Attacked, ClusterScene, ProofView

DELTA = 0.1  # δ, the failure probability in the lemmas
C7 = 0.05  # c₇ of Corollary B.31, the same for all sizes
# the steps t at which f(x̃; W^{t+1}) − f(x̃; W^t) is bounded over the training balls
INCREMENTS = (0, 1, 2, 5, 12, 30, 59)


@measures(r"$\max_{i,j} \tilde g_i/\tilde g_j$")
def loss_ratio(state: Attacked, scene: ClusterScene) -> Float[Tensor, " S"]:
    """max g̃_i/g̃_j over the training points, g̃_i = 1/(1 + exp(y_i f(x̃_i))), Lemma 4.4 of BOAT.

    >>> loss_ratio.measures[0].name
    'loss_ratio'
    """
    log_g = ProofView(state, scene).log_g
    return (log_g.amax(-1) - log_g.amin(-1)).exp()


@measures(
    least_cosine=r"$\min_i \cos(y_i(\tilde x_i - x_i), -\sum_k y_k x_k)$",
    median_cosine=r"median $\cos(y_i(\tilde x_i - x_i), -\sum_k y_k x_k)$",
)
def attack_angle(state: Attacked, scene: ClusterScene) -> dict[str, Float[Tensor, " S"]]:
    """The cosine of the angle between y_i(x̃_i − x_i), the signed perturbation of a training point,
    and −Σ_k y_k x_k, §4.1 of BOAT.

    least_cosine: The smallest cosine over the training points.
    median_cosine: The median cosine over the training points.

    >>> [measure.name for measure in attack_angle.measures]
    ['least_cosine', 'median_cosine']
    """
    view = ProofView(state, scene)
    moved = view.y[..., None] * (view.x - scene.train.x)
    total = -(view.y[..., None] * scene.train.x).sum(-2, keepdim=True)
    cosine = torch.cosine_similarity(moved, total, dim=-1)
    return {"least_cosine": cosine.amin(-1), "median_cosine": cosine.median(-1).values}


@measures(r"median angle of $y_i(\tilde x_i - x_i)$ and $-\sum_k y_k x_k$")
def attack_turn(state: Attacked, scene: ClusterScene) -> Float[Tensor, " S"]:
    """The median angle between y_i(x̃_i − x_i) and −Σ_k y_k x_k, §4.1 of BOAT; computed without a
    cosine, whose rounding errors would exceed small angles.

    >>> attack_turn.measures[0].name
    'attack_turn'
    """
    view = ProofView(state, scene)
    moved = view.y[..., None] * (view.x - scene.train.x)
    total = -(view.y[..., None] * scene.train.x).sum(-2, keepdim=True)
    difference = normalize(moved, dim=-1, eps=1e-300) - normalize(total, dim=-1, eps=1e-300)
    half: Tensor = torch.linalg.vector_norm(difference, dim=-1) / 2
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
    """min over y of E[y f(x; W) | y]/‖W‖₂, divided by √(n/d)‖μ‖², Lemmas B.14 and B.33 of BOAT.

    >>> margin_share.measures[0].name
    'margin_share'
    """
    return _margin_share(ProofView(state, scene))


def _margin_share(view: ProofView) -> Tensor:
    data, n = view.scene.data, view.scene.problem.recipe.n
    unit = math.sqrt(n / data.d) * data.mu**2
    return view.expected_margin().amin(0) / (view.spectral * unit)


@dataclass(frozen=True)
class Remembered:
    """The running values of ClusterConstants: its measures so far, the sum of Ĝ over the earlier
    steps, the state at t = 0 and the previous state."""

    numbers: dict[str, Tensor]
    G: Float[Tensor, " S"]
    first: ProofView
    before: ProofView | None


_MAX = {
    "largest_ratio": r"$\max_t \max \tilde g_i/\tilde g_j$",
    "span_distance": r"$\max_t \max_i \mathrm{dist}(\tilde x_i, \mathrm{span} X)$",
    "largest_mu": r"$\max_t \max_i y^c_i\langle\mu, \tilde x_i\rangle/\|\mu\|^2$",
    "cross_inner": r"$\max |\langle\tilde x_i, \tilde x_j\rangle|$ divided by its order",
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
    "least_margin_share": r"$\min_t$ margin$/(\|W\|_2\sqrt{n/d}\|\mu\|^2)$",
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
    """The constants of BOAT's lemmas, at their extremes over all steps of a run. Ĝ is the mean of
    g̃_i = 1/(1 + exp(y_i f(x̃_i))), y_c the clean label, and δ = 0.1.

    largest_ratio: The largest g̃_i/g̃_j at any step, Lemma 4.4 of BOAT.
    span_distance: The largest distance of an attacked point from the span of the training points,
        Lemma 4.1 of BOAT.
    largest_mu: The largest y_c⟨μ, x̃_i⟩/‖μ‖², Lemmas B.11 and B.28 of BOAT.
    least_mu: The smallest y_c⟨μ, x̃_i⟩/‖μ‖², Lemmas B.11 and B.28 of BOAT.
    cross_inner: The largest |⟨x̃_i, x̃_j⟩| divided by ‖μ‖² + √(d log(n/δ)) + α√(d/n), §4.1 of BOAT.
    norm_growth: The largest (‖W‖_F − ‖W⁰‖_F)/(η√(d/n) ΣĜ), Lemma B.12 of BOAT.
    unit_length: The largest ‖w_s‖√m/(η(‖μ‖ + √(d/n) + α) ΣĜ), the constant that Lemma B.32 of BOAT
        needs if ξ is long and parallel to w_s.
    loss_over_average: The largest T·L̂(W^T)/(2ΣĜ), Lemma B.15 of BOAT.
    gradient_share: The largest ‖∇L̂‖_F divided by (√(10d) + α)Ĝ, Lemma B.7 of BOAT.
    gradient_along_mu: The smallest ⟨−∇L̂, V⟩/(‖μ‖Ĝ), where V has the rows a_s μ/(‖μ‖√m), Lemma B.15
        of BOAT.
    lost_pairs: The number of pairs (i, s) with y_i = a_s whose unit s is active on the entire ball
        of x_i at t but not at t + 1, summed over all t, Lemma B.26 of BOAT.
    least_margin_share: The smallest E[yf|y]/‖W‖₂ for t ≥ 1, divided by √(n/d)‖μ‖², Lemma B.33 of
        BOAT.
    sign_share: The smallest z_s/√(22 log(d/n)) for t ≥ 1, where z_s
        = (a_s⟨w_s, μ⟩ − c₇η‖μ‖²ΣĜ/(4√m))/‖w_s‖ and c₇ = 0.05, Corollary B.31 of BOAT.
    sign_excess: The largest log ΣΦ(−z_s) − log 4(d/n)^{−11}, where ΣΦ(−z_s), with z_s as in
        sign_share, is an upper bound of the failure probability, Corollary B.31 of BOAT.
    increment_sign_excess: As sign_excess, with w_s − w_s⁰ in place of w_s, 4c₇ in place of c₇ and
        3(d/n)^{−11}, Lemma B.30 of BOAT.
    proven_increment: A lower bound of y_i[f(x̃; W^{t+1}) − f(x̃; W^t)]/(ηd g̃_i/n) over all x̃ in
        the training balls, at t = 0, 1, 2, 5, 12, 30, 59, Lemma B.26 (E2) of BOAT.
    found_increment: The smallest y_i[f(x̃; W^{t+1}) − f(x̃; W^t)]/(ηd g̃_i/n) that an attack finds in
        the training balls, at the steps of proven_increment.
    largest_increment: An upper bound of y_i[f(x̃; W^{t+1}) − f(x̃; W^t)]/(ηd g̃_i/n) over the training
        balls, at the steps of proven_increment.
    first_move: ‖W¹ − W⁰‖_F/‖W⁰‖_F divided by ‖μ‖, Proposition B.34 of BOAT.
    active_points_0: The smallest share, over the units s, of points i with y_i = a_s on which s is
        active, at t = 0, Lemma 4.5 of BOAT.
    active_units_0: The smallest share, over the points i, of units s with a_s = y_i that are active
        on i, at t = 0, Lemma 4.5 of BOAT.
    active_points_1: As active_points_0, at t = 1, with activity on the entire ball of a point.
    active_units_1: As active_units_0, at t = 1, with activity on the entire ball of a point.
    active_kept: 1 if no unit or point has fewer active pairs (y_i = a_s) at t = 1 than at 0, else
        0.

    >>> [measure.name for measure in ClusterConstants().measures][:2]
    ['largest_ratio', 'span_distance']
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, with the descriptions above."""
        return described({**_MAX, **_MIN, **_ONCE}, type(self).__doc__)

    def see(self, memory: Remembered | None, state: Attacked, scene: ClusterScene) -> Remembered:
        """Return the running values after one more state."""
        view = ProofView(state, scene)
        if memory is None:
            return Remembered(_start(view), view.G, view, view)
        before = memory.before
        assert before is not None
        t = state.t
        found = {
            **_points(view),
            **_weights(view, memory),
            **_signs(view, memory),
            "lost_pairs": memory.numbers["lost_pairs"] + _lost_pairs(before, view),
        }
        if t - 1 in INCREMENTS:
            found |= _increments(before, view)
        if t == 1:
            found |= _once(memory.first, view)
        numbers = dict(memory.numbers)
        for name, value in found.items():
            was = numbers.get(name)
            if was is None:
                numbers[name] = value
            elif name in _MIN:
                numbers[name] = torch.minimum(was, value)
            else:
                numbers[name] = torch.maximum(was, value)
        return Remembered(numbers, memory.G + view.G, memory.first, view)

    def rows(self, memory: Remembered) -> Rows:
        """Return the measures in their declared order."""
        known = [name for name in (*_MAX, *_MIN, *_ONCE) if name in memory.numbers]
        return {name: memory.numbers[name] for name in known}


def _start(view: ProofView) -> dict[str, Tensor]:
    """Return the shares of active pairs at t = 0, and zero lost pairs."""
    points, units = _shares(view.active() & view.same_sign_pairs)
    zero = torch.zeros_like(view.G)
    return {"active_points_0": points, "active_units_0": units, "lost_pairs": zero}


def _shares(pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Return the smallest share of points that any unit has, and of units that any point has."""
    values = pairs.double()
    return values.mean(-2).amin(-1), values.mean(-1).amin(-1)


def _once(first: ProofView, view: ProofView) -> dict[str, Tensor]:
    """Return the measures that are computed only after the first step."""
    was, now = ((one.active() & one.same_sign_pairs).double() for one in (first, view))
    not_fewer = [(now.sum(axis) >= was.sum(axis)).all(-1) for axis in (-1, -2)]
    points, units = _shares(now)
    step = (view.W - first.W).flatten(1).norm(dim=-1) / first.W.flatten(1).norm(dim=-1)
    return {
        "first_move": step / view.scene.data.mu,
        "active_points_1": points,
        "active_units_1": units,
        "active_kept": (not_fewer[0] & not_fewer[1]).double(),
    }


def _lost_pairs(before: ProofView, view: ProofView) -> Tensor:
    return (before.active() & before.same_sign_pairs & ~view.active()).double().sum((-1, -2))


def _points(view: ProofView) -> dict[str, Tensor]:
    """Return the measures of the attacked training points."""
    data, n = view.scene.data, view.scene.problem.recipe.n
    scene, d, mu = view.scene, data.d, data.mu
    basis = scene.once("span of X", lambda: torch.linalg.qr(scene.train.x.mT).Q)
    moved = view.x - scene.train.x
    off_span = moved - (moved @ basis) @ basis.mT
    along = scene.train.clean_y * (view.x @ view.mean) / mu**2
    inner = view.x @ view.x.mT
    inner = inner - torch.diag_embed(inner.diagonal(dim1=-2, dim2=-1))
    law = mu**2 + math.sqrt(d * math.log(n / DELTA)) + view.alpha * math.sqrt(d / n)
    return {
        "largest_ratio": (view.log_g.amax(-1) - view.log_g.amin(-1)).exp(),
        "span_distance": off_span.norm(dim=-1).amax(-1),
        "largest_mu": along.amax(-1),
        "least_mu": along.amin(-1),
        "cross_inner": inner.abs().flatten(1).amax(-1) / law,
    }


def _weights(view: ProofView, memory: Remembered) -> dict[str, Tensor]:
    """Return the measures of the weights and of the gradient."""
    data, recipe = view.scene.data, view.scene.problem.recipe
    n, d, m, mu = recipe.n, data.d, len(view.a), data.mu
    eta_G = recipe.eta * memory.G  # η ΣĜ over the earlier steps
    weight = view.log_g.exp() * view.y
    growth = view.W.flatten(1).norm(dim=-1) - memory.first.W.flatten(1).norm(dim=-1)
    reach = mu + math.sqrt(d / n) + view.alpha
    along = (weight * (view.x @ view.mean) * view.slope.mean(-1)).mean(-1) / mu
    kernel = (view.x @ view.x.mT) * (view.slope @ view.slope.mT) / m
    gradient_norm = torch.einsum("si,sij,sj->s", weight, kernel, weight).clamp_min(0).sqrt() / n
    return {
        "norm_growth": growth / (math.sqrt(d / n) * eta_G),
        "unit_length": view.lengths.amax(-1) * math.sqrt(m) / (reach * eta_G),
        "loss_over_average": view.state.t * view.loss / (2 * memory.G),
        "gradient_share": gradient_norm / ((math.sqrt(10 * d) + view.alpha) * view.G),
        "gradient_along_mu": along / (mu * view.G),
        "least_margin_share": _margin_share(view),
    }


def _signs(view: ProofView, memory: Remembered) -> dict[str, Tensor]:
    """Return the measures of Corollary B.31 and Lemma B.30 of BOAT, where a_s y⟨w_s, x⟩ is Gaussian
    for given W."""
    data, recipe = view.scene.data, view.scene.problem.recipe
    ratio = math.log(data.d / recipe.n)
    scale = recipe.eta * data.mu**2 * memory.G / math.sqrt(len(view.a))
    moved = view.W - memory.first.W

    def failing(W: Tensor, threshold: Tensor) -> tuple[Tensor, Tensor]:
        z = (view.a * (W @ view.mean) - threshold[:, None]) / W.norm(dim=-1)
        return z.amin(-1), torch.special.log_ndtr(-z).logsumexp(-1)

    least, log_p = failing(view.W, C7 * scale / 4)
    _, log_p_moved = failing(moved, C7 * scale)
    return {
        "sign_share": least / math.sqrt(22 * ratio),
        "sign_excess": log_p - (math.log(4) - 11 * ratio),
        "increment_sign_excess": log_p_moved - (math.log(3) - 11 * ratio),
    }


def _increments(before: ProofView, view: ProofView) -> dict[str, Tensor]:
    """Bound y[f(x̃; W^{t+1}) − f(x̃; W^t)] over the training balls, and minimise it with PGD."""
    scene, recipe = view.scene, view.scene.problem.recipe
    m, x, y = len(view.a), scene.train.x, view.y
    c = view.a / math.sqrt(m)
    low, high = increment_bounds(c, scene.network.activation, before.W, view.W, x, view.alpha)
    unit = recipe.eta * scene.data.d * before.log_g.exp() / recipe.n
    proven = torch.where(y > 0, low, -high) / unit
    most = torch.where(y > 0, high, -low) / unit

    def decrease(at: Tensor) -> Tensor:
        gap = scene.network.top(at @ view.W.mT) - scene.network.top(at @ before.W.mT)
        return -y * gap

    attack = PGD(p=2, radius=view.alpha, steps=10)
    found = -decrease(attack(decrease, replace(scene.train), 0, ())) / unit
    return {
        "proven_increment": proven.amin(-1),
        "found_increment": found.amin(-1),
        "largest_increment": most.amax(-1),
    }
