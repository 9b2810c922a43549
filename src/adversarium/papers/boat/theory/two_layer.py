"""Test inequalities that hold for any weights of a two-layer network (Lemmas 4.2, 4.3, B.6 to B.8
and App. B.2 of BOAT).

The trials look for weights and inputs at which the two sides of an inequality are nearly equal.
"""

import math
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.data.marginals import Marginal
from adversarium.networks.activations import LeakyReLU, SmoothedLeakyReLU
from adversarium.networks.two_layer import TwoLayer, signs
from adversarium.rng import coins, normal, uniform
from adversarium.sockets import Along, Numbers

LINEAR = LeakyReLU(1.0)
SHAPES = ((4, 3), (10, 20), (40, 10))  # (m, d)


def _gradient(network: TwoLayer, W: Tensor, x: Tensor) -> Tensor:
    """Return ∇_W f(x; W) for every point, (n, m, d)."""
    a = signs(network.m, W) / math.sqrt(network.m)
    return (a * network.activation.slope(x @ W.mT))[..., None] * x[:, None, :]


def lipschitz_quotients(rng: Generator, activation: Any, tries: int = 40) -> Numbers:
    """|f(x) − f(x′)| ≤ ‖W‖₂‖x − x′‖, Lemma 4.2 of BOAT.

    `largest`: the largest ‖∇f(x)‖/‖W‖₂ over random weights, at random inputs and at inputs that
    activate only the units of one sign. `attained`: this quotient for a linear network with rows
    a_s w.

    >>> from adversarium.rng import stream
    >>> quotients = lipschitz_quotients(stream(0, "example"), LeakyReLU(0.5))
    >>> 0.5 < quotients["largest"] <= 1, round(quotients["attained"], 9)
    (True, 1.0)
    """
    largest = 0.0
    for m, d in SHAPES:
        a = signs(m, torch.ones(1).double())
        for _ in range(tries):
            noise = float(uniform((1,), rng))
            W = a[:, None] * normal((1, d), rng) + noise * normal((m, d), rng)
            x = torch.cat([50 * normal((20, d), rng), (torch.linalg.pinv(W) @ a)[None] * 50])
            slope = (a * activation.slope(x @ W.mT)) @ W / math.sqrt(m)
            largest = max(largest, float(slope.norm(dim=-1).max() / torch.linalg.norm(W, 2)))
    w = normal((5,), rng)
    W = signs(8, w)[:, None] * w
    slope = signs(8, w) @ W / math.sqrt(8)
    return {"largest": largest, "attained": float(slope.norm() / torch.linalg.norm(W, 2))}


def margin_tails(
    rng: Generator, marginal: Marginal, activation: Any, linear: bool = False, draws: int = 200_000
) -> Numbers:
    """P[y f − E[y f | y] ≤ −t | y] ≤ exp(−λt²/(2‖W‖₂²)), Lemma 4.2 of BOAT with c = ½.

    Both results are functions of t√λ/‖W‖₂. `excess`: the observed frequency minus three standard
    errors minus the bound. `with one`: the same difference for the bound with c = 1. With `linear`,
    the network has rows a_s e_1 and computes √m⟨e_1, x⟩.

    >>> from adversarium.data import Gauss
    >>> from adversarium.rng import stream
    >>> tails = margin_tails(stream(0, "example"), Gauss(), LINEAR, linear=True, draws=20_000)
    >>> max(tails["excess"].values) < 0 < max(tails["with one"].values)
    True
    """
    m, d = 10, 12
    network = TwoLayer(m=m, activation=LINEAR if linear else activation)
    a = signs(m, torch.ones(1).double())
    W = a[:, None] * torch.eye(1, d).double() if linear else normal((m, d), rng)
    x = marginal.sample((draws, d), rng)
    x[:, 0] += 0.0 if linear else 2.0
    values = network.f(W, x)
    scale = float(torch.linalg.norm(W, 2)) / math.sqrt(marginal.lam)
    at = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    excess: dict[str, list[float]] = {"excess": [], "with one": []}
    for t in at:
        share = float((values - values.mean() <= -t * scale).double().mean())
        low = share - 3 * math.sqrt(share * (1 - share) / draws)
        excess["excess"].append(low - math.exp(-t * t / 2))
        excess["with one"].append(low - math.exp(-t * t))
    return {name: Along("t", at, tuple(v)) for name, v in excess.items()}


def taylor_quotients(rng: Generator, gamma: float, H: float, tries: int = 60) -> Numbers:
    """|f(x; W) − f(x; V) − ⟨∇f(x; V), W − V⟩| ≤ H‖x‖²‖W − V‖₂²/(2√m), Lemma B.6 of BOAT, with the
    Lipschitz constant of φ′ as H.

    `largest`: the largest quotient of the two sides over random weights. `sharp`: this quotient if
    only the rows with a_s = 1 change, in the direction of x.

    >>> from adversarium.rng import stream
    >>> quotients = taylor_quotients(stream(0, "example"), gamma=0.5, H=1.0)
    >>> quotients["largest"] <= 1, round(quotients["sharp"], 9)
    (True, 1.0)
    """
    activation = SmoothedLeakyReLU(gamma=gamma, H=H)
    largest = 0.0
    for m, d in SHAPES:
        network = TwoLayer(m=m, activation=activation)
        for _ in range(tries):
            size = 10.0 ** float(2 * uniform((1,), rng) - 1)
            V, W = normal((m, d), rng), normal((m, d), rng)
            W = V + size * W
            largest = max(largest, float(_taylor(network, V, W, normal((30, d), rng)).max()))
    m, d = 8, 4
    network = TwoLayer(m=m, activation=activation)
    x = normal((1, d), rng)
    V = torch.zeros(m, d).double()
    W = V.clone()
    W[: m // 2] = x / x.square().sum() / (2 * H)
    return {"largest": largest, "sharp": float(_taylor(network, V, W, x))}


def _taylor(network: TwoLayer, V: Tensor, W: Tensor, x: Tensor) -> Tensor:
    """Return the quotient of the two sides of Lemma B.6 of BOAT at every point."""
    first = (_gradient(network, V, x) * (W - V)).sum((-1, -2))
    rest = (network.f(W, x) - network.f(V, x) - first).abs()
    H = network.activation.C2
    moved = torch.linalg.norm(W - V, 2).square()
    allowed: Tensor = H * x.square().sum(-1) * moved / (2 * math.sqrt(network.m))
    return rest / allowed


def step_quotients(rng: Generator, gamma: float, H: float, tries: int = 30) -> Numbers:
    """y[f(x; W′) − f(x; W)] ≥ (η/n)Σg̃_i(ρ_i⟨y_i x̃_i, y x⟩ − H‖x‖²C₂²dη/(2√m n)), Lemma 4.3 of
    BOAT, for one step on any points.

    ρ_i is the mean of φ′φ′ over the units, and C₂ = ‖∇L̂‖_F/(√(d/n)Ĝ) is the smallest value with
    which the proof works. The remainder is the term with H. `largest`: the largest
    (right side − left side)/remainder, also at inputs found by ascent; the inequality holds if it
    is at most 0. `without`: the same quotient if the right side lacks the remainder.

    >>> from adversarium.rng import stream
    >>> quotients = step_quotients(stream(0, "example"), gamma=0.5, H=1.0, tries=5)
    >>> quotients["largest"] <= 0 < quotients["without"]
    True
    """
    activation = SmoothedLeakyReLU(gamma=gamma, H=H)
    worst, without = -math.inf, -math.inf
    for m, d in SHAPES:
        network, n = TwoLayer(m=m, activation=activation), 5
        for _ in range(tries):
            W, x, y = normal((m, d), rng), normal((n, d), rng), coins((n,), rng)
            eta = 10.0 ** float(2 * uniform((1,), rng) - 0.5)
            g = torch.sigmoid(-y * network.f(W, x))
            step = torch.einsum("i,imd->md", g * y, _gradient(network, W, x)) / n
            V = W + eta * step
            C2 = float(step.norm()) / (math.sqrt(d / n) * float(g.mean()))
            for side in (1.0, -1.0):
                at = _worst_inputs(network, W, V, side, normal((20, d), rng))
                rho = activation.slope(at @ W.mT) @ activation.slope(x @ W.mT).mT / m
                first = (rho * (at @ x.mT) * (g * y)).sum(-1) * side * eta / n
                change = side * (network.f(V, at) - network.f(W, at))
                rest = (
                    activation.C2 * at.square().sum(-1) * C2**2 * d * eta / (2 * math.sqrt(m) * n)
                ) * (eta * float(g.mean()))
                worst = max(worst, float(((first - rest - change) / rest).max()))
                without = max(without, float(((first - change) / rest).max()))
    return {"largest": worst, "without": without}


def _worst_inputs(network: TwoLayer, W: Tensor, V: Tensor, side: float, x: Tensor) -> Tensor:
    """Return inputs, found by ascent, at which the first-order term most exceeds the true change of
    f in a step."""
    x = x.clone().requires_grad_()
    for _ in range(20):
        first = (_gradient(network, W, x) * (V - W)).sum((-1, -2))
        lost = side * (first - network.f(V, x) + network.f(W, x)) / x.square().sum(-1)
        (slope,) = torch.autograd.grad(lost.sum(), x)
        with torch.no_grad():
            x += 0.2 * slope / slope.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    return x.detach()


def gradient_quotients(rng: Generator, activation: Any, tries: int = 40) -> Numbers:
    """‖∇L̂‖_F ≤ max‖x̃_i‖·Ĝ and Ĝ ≤ min(L̂, 1), Lemma B.7 of BOAT.

    `largest`: the largest quotient of the first inequality over random weights and points. `sharp`:
    this quotient for a linear network and one point. `slope`: the largest g(z)/ℓ(z).

    >>> from adversarium.rng import stream
    >>> quotients = gradient_quotients(stream(0, "example"), LeakyReLU(0.5))
    >>> quotients["largest"] <= 1, round(quotients["sharp"], 9), quotients["slope"] <= 1
    (True, 1.0, True)
    """
    largest = 0.0
    for m, d in SHAPES:
        network = TwoLayer(m=m, activation=activation)
        for _ in range(tries):
            n = 1 + int(4 * uniform((1,), rng))
            W, x, y = normal((m, d), rng), normal((n, d), rng), coins((n,), rng)
            largest = max(largest, _gradient_quotient(network, W, x, y))
    single = TwoLayer(m=6, activation=LINEAR)
    sharp = _gradient_quotient(single, normal((6, 3), rng), normal((1, 3), rng), coins((1,), rng))
    z = torch.linspace(-50, 30, 10_001, dtype=torch.float64)
    ratio = torch.sigmoid(-z) / torch.nn.functional.softplus(-z)
    return {"largest": largest, "sharp": sharp, "slope": float(ratio.max())}


def _gradient_quotient(network: TwoLayer, W: Tensor, x: Tensor, y: Tensor) -> float:
    """Return ‖∇L̂‖_F divided by max‖x_i‖·Ĝ."""
    W = W.clone().requires_grad_()
    margin = y * network.f(W, x)
    loss = torch.nn.functional.softplus(-margin).mean()
    (slope,) = torch.autograd.grad(loss, W)
    mean = torch.sigmoid(-margin).mean().detach()
    return float(slope.norm() / (x.norm(dim=-1).max() * mean))


def gram_of_gradients(rng: Generator, activation: Any, gamma: float, tries: int = 20) -> Numbers:
    """⟨∇f(x), ∇f(x′)⟩ = ⟨x, x′⟩(1/m)Σφ′φ′, Lemma B.8 of BOAT.

    `error`: the largest error relative to ‖x‖‖x′‖, compared with automatic differentiation.
    `largest`: the largest γ²/((1/m)Σφ′φ′). `attained`: (1/m)Σφ′φ′/γ² if every slope is γ.

    >>> from adversarium.rng import stream
    >>> gram = gram_of_gradients(stream(0, "example"), LeakyReLU(0.5), gamma=0.5)
    >>> gram["error"] < 1e-12, gram["largest"] <= 1, gram["attained"]
    (True, True, 1.0)
    """
    error, largest = 0.0, 0.0
    for m, d in SHAPES:
        network = TwoLayer(m=m, activation=activation)
        for _ in range(tries):
            W, x = normal((m, d), rng), normal((2, d), rng)
            slopes = activation.slope(x @ W.mT)
            mean = float((slopes[0] * slopes[1]).mean())
            formula = float(x[0] @ x[1]) * mean
            found = _inner(network, W, x)
            size = float(x[0].norm() * x[1].norm())
            error, largest = max(error, abs(found - formula) / size), max(largest, gamma**2 / mean)
    smallest_slopes = activation.slope(torch.full((2, 6), -1e6).double())
    attained = float((smallest_slopes[0] * smallest_slopes[1]).mean()) / gamma**2
    return {"error": error, "largest": largest, "attained": attained}


def _inner(network: TwoLayer, W: Tensor, x: Tensor) -> float:
    """Return ⟨∇f(x_0), ∇f(x_1)⟩ by automatic differentiation."""
    W = W.clone().requires_grad_()
    one, other = (torch.autograd.grad(network.f(W, x[i : i + 1]).sum(), W)[0] for i in (0, 1))
    return float((one * other).sum())


def one_step_identities(rng: Generator, activation: Any, gamma: float, tries: int = 20) -> Numbers:
    """y f(x; W′) − y f(x; W) = (η/n)Σg_i λ_i(x)⟨y_i x_i, y x⟩ for one training step with a
    non-smooth activation, App. B.2 of BOAT.

    λ_i(x) is the units' mean of φ′ at x_i times φ's difference quotient at x. `error`: the largest
    error of this identity, with W′ from automatic differentiation. `least`: the smallest
    λ_i(x̃)/(γ²|A^i ∩ A′^i|/m) over points x̃ of the balls (Proposition B.24), where γ is the slope of
    an active unit and A^i, A′^i are the units active on the ball of x_i before and after the step.

    >>> from adversarium.rng import stream
    >>> step = one_step_identities(stream(0, "example"), LeakyReLU(0.2), gamma=1.0, tries=3)
    >>> step["error"] < 1e-10, step["least"] >= 1
    (True, True)
    """
    error, least = 0.0, math.inf
    for m, d in SHAPES:
        network, n, eta, alpha = TwoLayer(m=m, activation=activation), 4, 0.3, 0.2
        for _ in range(tries):
            W, x, y = normal((m, d), rng), normal((n, d), rng), coins((n,), rng)
            leaf = W.clone().requires_grad_()
            loss = torch.nn.functional.softplus(-y * network.f(leaf, x)).mean()
            (slope,) = torch.autograd.grad(loss, leaf)
            V = W - eta * slope
            g = torch.sigmoid(-y * network.f(W, x))
            direction = normal((n, d), rng)
            at = x + alpha * direction / direction.norm(
                dim=-1, keepdim=True
            )  # one point in every ball
            h, k = at @ W.mT, at @ V.mT
            across = (activation(k) - activation(h)) / (k - h)
            moved = torch.where(h * k > 0, activation.slope(h), across)
            lam = moved @ activation.slope(x @ W.mT).mT / m  # λ_i(x_j): (j, i)
            formula = eta / n * (lam * (at @ x.mT) * (g * y)).sum(-1)
            found = network.f(V, at) - network.f(W, at)
            error = max(error, float((found - formula).abs().max()))
            active = [x @ U.mT >= alpha * U.norm(dim=-1) for U in (W, V)]
            count = (active[0] & active[1]).double().sum(-1) / m
            share = lam.diagonal() / (gamma**2 * count)
            least = min(least, float(share[count > 0].min()) if bool((count > 0).any()) else least)
    return {"error": error, "least": least}


def slope_ratio(rng: Generator) -> Numbers:
    """g(x)/g(y) ≤ max(2, 2e^{y−x}), the fact behind Lemma 4.4 of BOAT.

    `largest`: the largest quotient of the two sides on a grid of x and y in [−30, 30].

    >>> from adversarium.rng import stream
    >>> round(slope_ratio(stream(0, "example"))["largest"], 6)
    0.5
    """
    z = torch.linspace(-30, 30, 601, dtype=torch.float64)
    log = torch.nn.functional.logsigmoid(-z)
    ratio = log[:, None] - log - math.log(2) - (z - z[:, None]).clamp_min(0)
    return {"largest": float(ratio.max().exp())}
