"""The cubic network on patch data: its margins, its attack, its gradient, its noise (CGRO)."""

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
from adversarium.training import ENGINES, Risk, Rule, Setting, train

_Setting = Setting[PatchData, CubicCNN, GTA, PatchBatch]


def cubic_identities(rng: Generator, data: PatchData, n: int, m: int, gamma: float) -> Numbers:
    """y f(X) = α³U + V and y f(X^adv) = α³(1 − γ)³U + V, §4.1 of CGRO: the largest relative error
    of both; errors of the attack, of the logistic loss's gradient as printed (no y_i on the noise
    patches) and with y_i, and of the reduced dynamics.

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
    by_autograd = _logistic_gradient(network, W, batch)
    printed, signed = _display(W, G, batch.y, torch.sigmoid(-margins[0]), data.alpha)
    return {
        "decomposition": max(
            float((a - b).abs().max() / scale) for a, b in zip(margins, claimed, strict=True)
        ),
        "attack": _attack_error(batch, x_adv, noise, gamma, data.alpha),
        "printed_gradient": float((printed - by_autograd).abs().max()),
        "signed_gradient": float((signed - by_autograd).abs().max()),
        "reduced": _reduced_error(rng, data, n, m, gamma),
    }


def _noise_patches(batch: PatchBatch) -> Bool[Tensor, "n P"]:
    """Which patches hold no signal."""
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
    """X^adv[signal] = (1 − γ)X[signal], X^adv[j] = X[j] elsewhere and ‖X^adv − X‖₂ = γα, eq. (A) of
    CGRO: the largest error of the three."""
    points = torch.arange(len(batch.x))
    moved = x_adv - batch.x
    shrunk = x_adv[points, batch.signal] - (1 - gamma) * batch.x[points, batch.signal]
    errors = (
        moved[noise].abs().max(),
        shrunk.abs().max(),
        (moved.flatten(1).norm(dim=-1) - gamma * alpha).abs().max(),
    )
    return float(torch.stack(errors).max())


def _logistic_gradient(
    network: CubicCNN, W: Float[Tensor, "m d"], batch: PatchBatch
) -> Float[Tensor, "m d"]:
    """∇_W of mean_i log(1 + e^{−y_i f(X_i)}) by autograd."""
    with torch.enable_grad():
        w = W.clone().requires_grad_(True)
        loss = -logsigmoid(batch.y * network.f(w, batch.x)).mean()
        (gradient,) = torch.autograd.grad(loss, w)
    return gradient


def _display(
    W: Float[Tensor, "m d"],
    G: Float[Tensor, "n j d"],
    y: Float[Tensor, " n"],
    psi: Float[Tensor, " n"],
    alpha: float,
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "m d"]]:
    """∇_{w_r} L = −(3/N) Σ_i ψ_i [α³u_r² w* + Σ_j v_{i,j,r}² X_i[j]], proof of Theorem C.2 of CGRO
    at λ = 0: as printed, and with y_i X_i[j] on the noise patches."""
    signal = torch.zeros_like(W)
    signal[:, 0] = -3 * alpha**3 * psi.mean() * W[:, 0].square()
    weights = (G @ W.mT).square() * psi[:, None, None] * (-3 / len(y))  # (n, P − 1, m)
    printed = signal + torch.einsum("ijr,ijd->rd", weights, G)
    return printed, signal + torch.einsum("i,ijr,ijd->rd", y, weights, G)


def _reduced_error(rng: Generator, data: PatchData, n: int, m: int, gamma: float) -> float:
    """The largest difference of W between the reduced dynamics and autograd after 60 steps."""
    seed = int(integers(2**31, (), rng))
    network, attack = CubicCNN(m=m, sigma0=0.3), GTA(gamma=gamma)
    rule = Rule(n=n, steps=60, eta=0.02, risk=Risk(lam=0.37))
    setting: _Setting = Setting(data, network, attack, rule, (seed,))
    reduced, full = (_last_weights(name, setting) for name in ("signal_noise", "full"))
    return float((reduced - full).abs().max())


def _last_weights(name: str, setting: _Setting) -> Float[Tensor, "S m d"]:
    """W⁽ˢᵗᵉᵖˢ⁾ by an engine."""
    engine: Engine[Any] = ENGINES[name]
    *_, state = train(engine, (setting,))
    W: Tensor = engine.apart(state)[0].W
    return W


def cubic_form(
    rng: Generator,
    d: int,
    P: int,
    m: int,
    draws: int = 20_000,
    epsilons: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 0.1, 1.0),
) -> Numbers:
    """P(|Z| ≤ ε sd) over ε^{1/3} for Z = Σ_r Σ_j ⟨v_r, ξ_j⟩³, Lemma A.4 of CGRO with Carbery and
    Wright's exponent: the largest over all ε; and the printed probability 1 − d/2^{1/d}.

    >>> from adversarium.rng import stream
    >>> numbers = cubic_form(stream(0, "example"), d=4, P=2, m=2, draws=2_000)
    >>> round(numbers["printed"], 2)  # no probability
    -2.36
    """
    v = normal((m, d), rng) / math.sqrt(d)
    Z = torch.cat([
        (normal((2_000, P - 1, d), rng) @ v.mT).pow(3).sum((1, 2)) for _ in range(draws // 2_000)
    ])  # fmt: skip
    near = [float((Z.abs() <= e * Z.std()).double().mean()) / e ** (1 / 3) for e in epsilons]
    return {"share": max(near), "printed": 1 - d / 2 ** (1 / d)}
