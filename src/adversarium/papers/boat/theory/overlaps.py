"""Compute what no classifier can achieve on two noisy clusters under attack (Theorem 3.2 of BOAT):
the overlap of the shifted densities and the smallest robust error."""

import math

import numpy as np
import torch
from torch import Generator, Tensor

from adversarium.attacks import PGD
from adversarium.data import Clusters, overlap
from adversarium.data.clusters import least_robust_error, robust_floor
from adversarium.data.marginals import Marginal
from adversarium.networks import TwoLayer
from adversarium.networks.activations import LeakyReLU
from adversarium.sockets import Along, Numbers

RATIOS = (0.0, 0.1, 0.5, 0.9, 0.95, 1.0, 1.5)  # α/‖μ‖


def least_errors(
    rng: Generator,
    marginal: Marginal,
    mu: float,
    beta: float,
    ratios: tuple[float, ...] = RATIOS,
    cells: int = 100,
) -> Numbers:
    """Theorem 3.2 of BOAT for clusters ±μ on an axis with flipped labels: the smallest robust error
    of any classifier, for every α/‖μ‖ in `ratios`.

    `least` comes from an optimal matching of the two classes' points within distance 2α; `oracle`
    and `threshold` are the robust errors of sign⟨μ, x⟩ and of the best threshold; `printed` is the
    paper's lower bound, `tight` ours, and `closed` the exact value for Gaussian clusters. The noise
    is discretised on a grid with `cells` cells per unit length; μ and α must be multiples of a
    cell. For the discretised distribution all results except `closed` are exact.

    >>> from adversarium.data import Gauss
    >>> from adversarium.rng import stream
    >>> errors_at = least_errors(stream(0, "example"), Gauss(), mu=2.0, beta=0.1, ratios=(0.1,))
    >>> errors_at["printed"].values < errors_at["tight"].values < errors_at["least"].values
    True
    """
    p, shift = _masses(marginal, cells), _whole(mu * cells)
    plus, minus = _classes(p, shift, beta)
    rows = []
    for ratio in ratios:
        reach = _whole(ratio * mu * cells)
        shared = _shared(p, 2 * (shift - reach)) if ratio < 1 else 1.0
        errors = _threshold_errors(plus, minus, reach)
        rows.append(
            {
                "printed": robust_floor(beta, shared) if ratio < 1 else 0.5,
                "tight": robust_floor(beta, shared, tight=True),
                "least": matched(plus, minus, 2 * reach),
                "oracle": float(errors[len(plus) // 2]),
                "threshold": min(float(errors.min()), 0.5),
                "closed": least_robust_error(mu, ratio * mu, beta, math.sqrt(marginal.var)),
            }
        )
    return {name: Along("α/‖μ‖", ratios, tuple(row[name] for row in rows)) for name in rows[0]}


def _whole(cells: float) -> int:
    if abs(cells - round(cells)) > 1e-6:
        raise ValueError(f"‖μ‖ and α need to be multiples of the cell size, got {cells:g} cells.")
    return round(cells)


def _masses(marginal: Marginal, cells: int) -> np.ndarray:
    """Return the masses of the cells centred at (i + ½)/cells, symmetric about 0, out to a relative
    density of e^{−80}."""
    half = math.ceil(cells * (math.sqrt(160 / marginal.lam) + 3))
    x = (torch.arange(-half, half).double() + 0.5) / cells
    p: np.ndarray = marginal.log_density(x).exp().numpy()
    p /= p.sum()
    return p


def _shared(p: np.ndarray, v: int) -> float:
    """Return Σ min{p(ξ), p(ξ + v)}."""
    return float(np.minimum(p[v:], p[: len(p) - v]).sum()) if v < len(p) else 0.0


def _classes(p: np.ndarray, shift: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ½P[x | y = ±1] on one grid."""
    right, left = (np.pad(p, pads) for pads in ((2 * shift, 0), (0, 2 * shift)))
    return (1 - beta) / 2 * right + beta / 2 * left, (1 - beta) / 2 * left + beta / 2 * right


def _threshold_errors(plus: np.ndarray, minus: np.ndarray, reach: int) -> np.ndarray:
    """Return the robust error of sign(x − t) for every edge t between cells: the mass of class 1
    below t + α plus that of class −1 above t − α."""
    below = np.concatenate([[0.0], np.cumsum(plus)])
    above = minus.sum() - np.concatenate([[0.0], np.cumsum(minus)])
    edges = np.arange(len(below))
    last = len(below) - 1
    errors: np.ndarray = below[np.minimum(edges + reach, last)]
    errors += above[np.maximum(edges - reach, 0)]
    return errors


def matched(plus: np.ndarray, minus: np.ndarray, distance: int) -> float:
    """Return the largest mass of two measures on a grid that can be matched between points at most
    `distance` cells apart; greedy matching from left to right attains it.

    By duality, it is the smallest robust error of any classifier at half that distance.

    >>> matched(np.array([0.5, 0.0]), np.array([0.0, 0.5]), distance=1)
    0.5
    >>> matched(np.array([0.5, 0.0]), np.array([0.0, 0.5]), distance=0)
    0.0
    """
    a, b, i, j, total = plus.tolist(), minus.tolist(), 0, 0, 0.0
    while i < len(a) and j < len(b):
        if i < j - distance or a[i] == 0:
            i += 1
        elif j < i - distance or b[j] == 0:
            j += 1
        else:
            part = min(a[i], b[j])
            total += part
            a[i] -= part
            b[j] -= part
    return total


def shared_mass(
    rng: Generator, marginal: Marginal, mu: float, ratio: float, spread: int = 1,
    draws: int = 100_000,
) -> Numbers:  # fmt: skip
    """Return two estimates of ∫ min{p(ξ), p(ξ + v)} dξ of Theorem 3.2 of BOAT, with
    v = 2(1 − α/‖μ‖)μ and μ spread over `spread` coordinates.

    `sampled` uses the midpoint proposal (the density centred at −v/2) and has standard error `sd`;
    `exact` is a quadrature, over the summed log ratios if `spread` > 1. For comparison, `symmetric`
    is 2P[ξ_1 > ‖μ‖ − α] and `gaussian` is 2Φ(−√J(‖μ‖ − α)), with J the Fisher information.

    >>> from adversarium.data import Gauss
    >>> from adversarium.rng import stream
    >>> mass = shared_mass(stream(0, "example"), Gauss(), mu=2.0, ratio=0.1, spread=4)
    >>> abs(mass["sampled"] - mass["exact"]) < 4 * mass["sd"]
    True
    """
    step = 2 * (1 - ratio) * mu / math.sqrt(spread)
    z = marginal.sample((draws, spread), rng)
    here = marginal.log_density(z).sum(1)
    sides = [marginal.log_density(z + side * step / 2).sum(1) for side in (-1, 1)]
    weights = (torch.minimum(*sides) - here).exp()
    tail = _tail(marginal, (1 - ratio) * mu)
    return {
        "sampled": float(weights.mean()),
        "sd": float(weights.std()) / math.sqrt(draws),
        "exact": overlap(marginal, step) if spread == 1 else _convolved(marginal, step, spread),
        "symmetric": 2 * tail,
        "gaussian": 2 * _phi(-math.sqrt(_fisher(marginal)) * (1 - ratio) * mu),
    }


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def _grid(marginal: Marginal, points: int = 400_001) -> Tensor:
    reach = math.sqrt(160 / marginal.lam) + 3
    return torch.linspace(-reach, reach, points, dtype=torch.float64)


def _tail(marginal: Marginal, least: float) -> float:
    """Return P[ξ > least] by quadrature."""
    reach = math.sqrt(160 / marginal.lam) + 3
    most = min(max(reach, least + 1), marginal.quantile(1.0))
    if most <= least:
        return 0.0
    x = torch.linspace(least, most, 400_001, dtype=torch.float64)
    return float(torch.trapezoid(marginal.log_density(x).exp(), x))


def _fisher(marginal: Marginal) -> float:
    """Return the Fisher information E[V′²], V = −log p, by finite differences."""
    x = _grid(marginal)
    logs = marginal.log_density(x)
    inside = torch.isfinite(logs)
    x, logs = x[inside], logs[inside]
    slope = torch.gradient(logs, spacing=(x,))[0]
    return float(torch.trapezoid(slope.square() * logs.exp(), x))


def _convolved(marginal: Marginal, step: float, k: int, bins: int = 2**18) -> float:
    """Return E min(1, e^{ℓ_1 + … + ℓ_k}) with ℓ = log p(ξ + step) − log p(ξ), from the distribution
    of one ℓ by Fourier transform.

    Points with p(ξ + step) = 0, where ℓ is not finite, contribute nothing.
    """
    x = _grid(marginal)
    p = marginal.log_density(x).exp()
    logs = marginal.log_density(x + step) - marginal.log_density(x)
    valid = torch.isfinite(logs) & (p > 0)
    mass = (p * (x[1] - x[0]))[valid].numpy()
    values = logs[valid].numpy()
    mean = float((mass * values).sum() / mass.sum())
    sd = math.sqrt(float((mass * (values - mean) ** 2).sum() / mass.sum()))
    width = k * abs(mean) + 14 * math.sqrt(k) * sd
    h = 2 * width / bins
    at = np.clip((values - mean) / h, -bins / 2 + 1, bins / 2 - 2)
    low = np.floor(at).astype(int)
    law = np.zeros(bins)
    np.add.at(law, low % bins, mass * (1 - (at - low)))
    np.add.at(law, (low + 1) % bins, mass * (at - low))
    law_of_sum = np.fft.irfft(np.fft.rfft(law) ** k, bins)
    index = np.arange(bins)
    total = k * mean + h * np.where(index < bins // 2, index, index - bins)
    return float((law_of_sum * np.exp(np.minimum(total, 0.0))).sum())


def oracle_error(
    rng: Generator, mu: float, ratio: float, beta: float, d: int = 10, points: int = 100_000
) -> Numbers:
    """Return the robust error of a network that computes sign⟨μ, x⟩, on fresh points under a
    gradient attack of radius α = ratio·‖μ‖ (`found`).

    `closed` is its closed form (1 − β)Φ(−(‖μ‖ − α)) + βΦ(‖μ‖ + α).

    >>> from adversarium.rng import stream
    >>> error = oracle_error(stream(0, "example"), mu=2.0, ratio=0.1, beta=0.1, points=1000)
    >>> abs(error["found"] - error["closed"]) < 0.05
    True
    """
    batch = Clusters(d=d, mu=mu, beta=beta).sample(points, rng)
    network = TwoLayer(m=2, activation=LeakyReLU(gamma=1.0))
    W = torch.zeros(2, d, dtype=torch.float64)
    W[0, 0], W[1, 0] = 1.0, -1.0
    alpha = ratio * mu
    attack = PGD(p=2, radius=alpha, steps=10, step=alpha / 4)
    x = attack(lambda x: -batch.y * network.f(W, x), batch, 0, rng)
    wrong = batch.y * network.f(W, x) <= 0
    return {
        "found": float(wrong.double().mean()),
        "closed": (1 - beta) * _phi(-(mu - alpha)) + beta * _phi(mu + alpha),
    }


def halfspace_errors(
    rng: Generator,
    marginal: Marginal,
    mu: float,
    ratio: float,
    beta: float,
    spread: int,
    draws: int = 200_000,
) -> Numbers:
    """Return the robust error of the best half-space sign(⟨μ, x⟩ − t), with μ spread over `spread`
    coordinates and ξ sampled (`found`).

    `printed` and `tight` are the bounds of Theorem 3.2 of BOAT, with the overlap by quadrature.

    >>> from adversarium.data import Gauss
    >>> from adversarium.rng import stream
    >>> given = dict(mu=2.0, ratio=0.1, beta=0.1, spread=4, draws=1000)
    >>> errors = halfspace_errors(stream(0, "example"), Gauss(), **given)
    >>> errors["printed"] < errors["tight"] < errors["found"] + 0.05
    True
    """
    along = marginal.sample((draws, spread), rng).sum(1).sort().values / math.sqrt(spread)
    thresholds = torch.linspace(-0.5, 0.5, 41, dtype=torch.float64) * mu
    alpha = ratio * mu

    def below(z: Tensor) -> Tensor:
        return torch.searchsorted(along, z) / draws

    t = thresholds
    plus = (1 - beta) * below(t + alpha - mu) + beta * below(t + alpha + mu)
    minus = 1 - (1 - beta) * below(t - alpha + mu) - beta * below(t - alpha - mu)
    shared = _convolved(marginal, 2 * (1 - ratio) * mu / math.sqrt(spread), spread)
    return {
        "found": float(((plus + minus) / 2).min()),
        "printed": robust_floor(beta, shared),
        "tight": robust_floor(beta, shared, tight=True),
    }
