"""Test the cubic network on patch data: its margins, attack, gradient and noise (CGRO)."""

import math
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import logsigmoid

from adversarium.attacks import GTA, gta
from adversarium.data import PatchBatch, PatchData
from adversarium.networks import CubicCNN
from adversarium.rng import integers, normal
from adversarium.shapes import Bool, Float
from adversarium.sockets import Engine, Numbers
from adversarium.training import ENGINES, Problem, Recipe, Risk, train

_Problem = Problem[PatchData, CubicCNN, GTA, PatchBatch]


def cubic_identities(rng: Generator, data: PatchData, n: int, m: int, gamma: float) -> Numbers:
    """y f(X) = α³U + V and y f(X^adv) = α³(1 − γ)³U + V, §4.1 of CGRO.

    `decomposition` is the largest relative error of both identities. `attack` is the largest error
    of the attack, in closed form or by automatic differentiation of g. `printed_gradient` and
    `signed_gradient` are the errors of the gradient of the training loss at λ = 0.37, as published
    (without y_i on the noise patches) and with y_i. `reduced` is the error of the reduced dynamics.

    >>> from adversarium.rng import stream
    >>> data = PatchData(d=6, P=2, alpha=2.0, sigma=0.3)
    >>> errors = cubic_identities(stream(0, "example"), data, n=3, m=2, gamma=0.5)
    >>> errors["signed_gradient"] < 1e-12 < errors["printed_gradient"]
    True
    """
    network, batch = CubicCNN(m=m, sigma0=0.3), data.sample(n, rng)
    W = network.init(rng, data.shape, data.k)
    x_adv = gta(batch.x, batch.signal, gamma)
    noise = _noise_patches(batch)
    G = batch.x[noise].view(n, data.P - 1, data.d)
    U = W[:, 0].pow(3).sum()
    V = batch.y * (G @ W.mT).pow(3).sum((1, 2))
    margins = batch.y * network.f(W, batch.x), batch.y * network.f(W, x_adv)
    claimed = data.alpha**3 * U + V, data.alpha**3 * (1 - gamma) ** 3 * U + V
    scale = V.abs().max() + data.alpha**3 * U.abs()
    by_autograd = _training_gradient(network, W, batch, x_adv)
    printed, signed = _display(W, G, batch.y, margins, data.alpha, gamma)
    return {
        "decomposition": max(
            float((a - b).abs().max() / scale) for a, b in zip(margins, claimed, strict=True)
        ),
        "attack": max(
            _attack_error(batch, _generic_attack(batch, gamma), noise, gamma, data.alpha),
            float((_generic_attack(batch, gamma) - x_adv).abs().max()),
        ),
        "printed_gradient": float((printed - by_autograd).abs().max()),
        "signed_gradient": float((signed - by_autograd).abs().max()),
        "reduced": _reduced_error(rng, data, n, m, gamma),
    }


def _noise_patches(batch: PatchBatch) -> Bool[Tensor, "n P"]:
    """Return which patches contain no signal."""
    noise = torch.ones(batch.x.shape[:2], dtype=torch.bool)
    noise[torch.arange(len(batch.x)), batch.signal] = False
    return noise


def _attack_error(
    batch: PatchBatch,
    x_adv: Float[Tensor, "n P d"],
    noise: Bool[Tensor, "n P"],
    gamma: float,
    alpha: float,
) -> float:
    """Return the largest error of X^adv[signal] = (1 − γ)X[signal], X^adv[j] = X[j] elsewhere and
    ‖X^adv − X‖₂ = γα, eq. (A) of CGRO."""
    points = torch.arange(len(batch.x))
    moved = x_adv - batch.x
    shrunk = x_adv[points, batch.signal] - (1 - gamma) * batch.x[points, batch.signal]
    errors = (
        moved[noise].abs().max(),
        shrunk.abs().max(),
        (moved.flatten(1).norm(dim=-1) - gamma * alpha).abs().max(),
    )
    return float(torch.stack(errors).max())


def _generic_attack(batch: PatchBatch, gamma: float) -> Float[Tensor, "n P d"]:
    """Return X − γ g(X)∇g(X)/‖∇g(X)‖, eq. (A) of CGRO, by automatic differentiation of g(X) = ⟨w*,
    X[signal(X)]⟩."""
    points = torch.arange(len(batch.x))
    with torch.enable_grad():
        x = batch.x.clone().requires_grad_(True)
        g = x[points, batch.signal, 0]
        (slope,) = torch.autograd.grad(g.sum(), x)
    length = slope.flatten(1).norm(dim=-1)
    moved: Tensor = batch.x - (gamma * g.detach() / length)[:, None, None] * slope
    return moved


LAM = 0.37  # λ of the training loss whose gradient is tested


def _training_gradient(
    network: CubicCNN, W: Float[Tensor, "m d"], batch: PatchBatch, x_adv: Float[Tensor, "n P d"]
) -> Float[Tensor, "m d"]:
    """Return ∇_W of mean_i (1 − λ)ℓ(y_i f(X_i)) + λℓ(y_i f(X_i^adv)) by automatic differentiation,
    with ℓ the logistic loss."""
    with torch.enable_grad():
        w = W.clone().requires_grad_(True)
        clean, attacked = (-logsigmoid(batch.y * network.f(w, x)) for x in (batch.x, x_adv))
        loss = ((1 - LAM) * clean + LAM * attacked).mean()
        (gradient,) = torch.autograd.grad(loss, w)
    return gradient


def _display(
    W: Float[Tensor, "m d"],
    G: Float[Tensor, "n j d"],
    y: Float[Tensor, " n"],
    margins: tuple[Float[Tensor, " n"], Float[Tensor, " n"]],
    alpha: float,
    gamma: float,
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "m d"]]:
    """∇_{w_r} L = −(3/N) Σ_i [((1 − λ)ψ_i + λ(1 − γ)³ψ_i^adv)α³u_r² w* + ψ̃_i Σ_j v² X_i[j]], proof
    of Theorem C.2 of CGRO: return it as published, and with y_i X_i[j] on the noise patches."""
    clean, attacked = (torch.sigmoid(-margin) for margin in margins)
    psi = (1 - LAM) * clean + LAM * attacked
    pull = (1 - LAM) * clean + LAM * (1 - gamma) ** 3 * attacked
    signal = torch.zeros_like(W)
    signal[:, 0] = -3 * alpha**3 * pull.mean() * W[:, 0].square()
    weights = (G @ W.mT).square() * psi[:, None, None] * (-3 / len(y))  # (n, P − 1, m)
    printed = signal + torch.einsum("ijr,ijd->rd", weights, G)
    return printed, signal + torch.einsum("i,ijr,ijd->rd", y, weights, G)


def _reduced_error(rng: Generator, data: PatchData, n: int, m: int, gamma: float) -> float:
    """Return the largest difference of W between the reduced dynamics and automatic differentiation
    after 60 steps."""
    seed = int(integers(2**31, (), rng))
    network, attack = CubicCNN(m=m, sigma0=0.3), GTA(gamma=gamma)
    recipe = Recipe(n=n, steps=60, eta=0.02, risk=Risk(lam=0.37))
    problem: _Problem = Problem(data, network, attack, recipe, (seed,))
    reduced, full = (_last_weights(name, problem) for name in ("signal_noise", "full"))
    return float((reduced - full).abs().max())


def _last_weights(name: str, problem: _Problem) -> Float[Tensor, "S m d"]:
    """Return W⁽ˢᵗᵉᵖˢ⁾ computed by an engine."""
    engine: Engine[Any] = ENGINES[name]
    *_, state = train(engine, (problem,))
    W: Tensor = engine.split(state)[0].W
    return W


SHAPES = ((1, 2), (1, 4), (5, 2), (5, 4))  # (m, P)


def cubic_form(
    rng: Generator,
    d: int,
    draws: int = 20_000,
    epsilons: tuple[float, ...] = (1e-3, 1e-2, 0.1, 1.0),
) -> Numbers:
    """P(|Z| ≤ ε sd(Z)) ≤ C ε^{1/3} for Z = Σ_r Σ_j ⟨v_r, ξ_j⟩³, Lemma A.4 of CGRO with the exponent
    of Carbery and Wright.

    `share` is the largest P/ε^{1/3} over all ε, widths, numbers of patches, and equal or
    independent v_r; frequencies P are lowered by three standard errors. For one cube of a Gaussian
    it tends to 2φ(0)15^{1/6} = 1.253 as ε → 0.

    >>> from adversarium.rng import stream
    >>> 1 < cubic_form(stream(0, "example"), d=4, draws=4_000)["share"] < 1.4
    True
    """
    share = 0.0
    for m, P in SHAPES:
        for rank_one in (True, False):
            v = normal((1 if rank_one else m, d), rng).expand(m, d) / math.sqrt(d)
            along = normal((draws, P - 1, d), rng) @ v.mT
            Z = along.pow(3).sum((1, 2))
            for e in epsilons:
                p = float((Z.abs() <= e * Z.std()).double().mean())
                low = p - 3 * math.sqrt(p * (1 - p) / draws)
                share = max(share, low / e ** (1 / 3))
    return {"share": share}


def signal_alone(
    rng: Generator,
    d: float,
    m: int,
    eta: float,
    lam: float = 0.5,
    steps: int = 400,
    draws: int = 200,
) -> Numbers:
    """The recursion of the signal alone (V_i = 0), with CGRO's exponents, for any d.

    `signal_peak` is the peak of α max_r u_r, Lemma C.11 of CGRO; `signal_bound` is the largest
    max_r u_r/(1/α + ηα³(1 − γ)³ Σψ) from T₀ on, Lemma 4.3 of CGRO. Both are medians over the draws
    with some u_r(0) > 0 that reach T₀: a bound below them is violated with probability ½. `learnt`
    is the share of these draws.

    >>> from adversarium.rng import stream
    >>> signal_alone(stream(1, "example"), d=1e6, m=8, eta=1.0)["signal_peak"] > 1
    True
    """
    alpha, remaining = d**0.249, (math.sqrt(d) * math.log(d)) ** -3.0
    u = normal((draws, m), rng) / math.sqrt(d)
    learnt = u.amax(-1) > 0
    peak, bound, total = (torch.zeros(draws, dtype=u.dtype) for _ in range(3))
    for _ in range(steps):
        margin = alpha**3 * u.pow(3).sum(-1)
        clean, attacked = torch.sigmoid(-margin), torch.sigmoid(-remaining * margin)
        total = total + eta * alpha**3 * remaining * attacked
        pull = (1 - lam) * clean + lam * remaining * attacked
        u = u + 3 * eta * alpha**3 * u.square() * pull[:, None]
        top = u.amax(-1)
        peak = torch.maximum(peak, alpha * top)
        late = torch.where(alpha * top >= 1, top / (1 / alpha + total), 0.0)
        bound = torch.maximum(bound, late)
    learnt &= bound > 0
    return {
        "signal_peak": float(peak[learnt].median()),
        "signal_bound": float(bound[learnt].median()),
        "learnt": float(learnt.double().mean()),
    }
