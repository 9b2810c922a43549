"""The high-probability events behind BOAT's theorems: data, first weights, one noise vector;
Gaussian noise in law (any dimension), exact tails where there are any."""

import math

import numpy as np
import torch
from torch import Generator

from adversarium.data import Clusters
from adversarium.data.clusters import Flip
from adversarium.rng import normal
from adversarium.sockets import Along, Numbers
from adversarium.training.engines.law import triangular

C1 = 10.0  # 10/κ, κ = 1 in units of N(0, I) noise


def training_events(
    rng: Generator,
    n: int,
    d: int,
    m: int,
    mu: float,
    alpha: float,
    beta: float,
    C: float,
    flip: Flip = "independent",
    delta: float = 0.1,
    draws: int = 30,
) -> Numbers:
    """Lemma B.4 of BOAT (C1 to C7): in how many of the draws each event is true, and all of them
    (`joint`); the largest constants behind C2 to C4 over the draws. Balls are met exactly: what no
    x̃ in them can break.

    >>> from adversarium.rng import stream
    >>> sizes = dict(n=10, d=10**6, m=10, mu=60.0, alpha=1.0, beta=0.1, C=4.0)
    >>> training_events(stream(0, "example"), **sizes, draws=5)["C3"]
    5.0
    """
    data = Clusters(d=d, mu=mu, beta=beta, flip=flip)
    rows = [_events(data, n, m, alpha, C, delta, rng) for _ in range(draws)]
    told = {name: float(sum(row[name] for row in rows)) for name in rows[0] if name[0] == "C"}
    told["joint"] = float(sum(all(row[name] for name in told) for row in rows))
    for name in ("cross", "top", "bottom"):
        pick = min if name == "bottom" else max
        told[name] = float(pick(row[name] for row in rows))
    return told


def _events(
    data: Clusters, n: int, m: int, alpha: float, C: float, delta: float, rng: Generator
) -> dict[str, float]:
    mu, d = data.mu, float(data.d)
    clean_y = data.labels(n, rng)
    xi = triangular(n, 0, n + 1, data.d - 1, rng)
    y = data.flipped(clean_y, clean_y * xi[:, 0], rng)
    x = xi.clone()
    x[:, 0] += mu * clean_y
    noise, gram = xi @ xi.mT, x @ x.mT
    apart = ~torch.eye(n, dtype=torch.bool)
    lengths, squares = noise.diagonal(), gram.diagonal()
    log = math.log(n / delta)
    cross = float(noise[apart].abs().max()) / math.sqrt(d * log)
    both = float(gram[apart].abs().max()) / (mu**2 + math.sqrt(d * log))
    top = float(torch.linalg.eigvalsh(noise)[-1]) / d
    values = torch.linalg.eigvalsh(gram).clamp_min(0).sqrt()
    low, high = float(values[0]) - alpha * math.sqrt(n), float(values[-1]) + alpha * math.sqrt(n)
    signal = mu * y * x[:, 0]
    noisy = y != clean_y
    far = (signal - torch.where(noisy, -1.0, 1.0) * mu**2).abs()
    return {
        "C1": float(
            bool(((lengths >= d / 2) & (lengths <= 3.5 * d)).all())
            and bool(((squares >= d / C1) & (squares <= C1 * d)).all())
            and alpha <= math.sqrt(d / C1) / 2
        ),
        "C2": float(cross <= C1 and both <= C1),
        "C3": float(top <= 4),
        "C4": float(low >= math.sqrt(d / (8 * C1)) and high <= math.sqrt(8 * C1 * d)),
        "C5": float(bool((far[~noisy] <= mu**2 / 2).all())),
        "C6": float(bool((far[noisy] <= mu**2 / 2).all())),
        "C7": float(float(noisy.double().mean()) <= data.beta + math.sqrt(2 / C)),
        "cross": cross,
        "top": top,
        "bottom": low / math.sqrt(d),
    }


def signal_tails(
    rng: Generator, n: int, factors: tuple[float, ...] = (2.0, 4.0, 6.0, 8.0, 12.0, 16.0),
    delta: float = 0.1,
) -> Numbers:  # fmt: skip
    """Lemma B.4 of BOAT (C5, C6) by its exact law: P[|⟨μ, y x⟩ ∓ ‖μ‖²| ≤ ‖μ‖²/2 for all n points] =
    (1 − 2Φ(−‖μ‖/2))ⁿ where ‖μ‖² = C log(n/δ), by C.

    >>> from adversarium.rng import stream
    >>> told = signal_tails(stream(0, "example"), n=50, factors=(2.0, 8.0))["kept"].values
    >>> [round(1 - p, 2) for p in told]
    [0.98, 0.02]
    """
    kept = []
    for C in factors:
        half = math.sqrt(C * math.log(n / delta)) / 2
        kept.append(math.exp(n * math.log1p(-math.erfc(half / math.sqrt(2)))))
    return {"kept": Along("C", factors, tuple(kept))}


def flip_tails(
    rng: Generator, beta: float, counts: tuple[int, ...] = (50, 200, 1000, 4000), m: int = 50,
    delta: float = 0.1,
) -> Numbers:  # fmt: skip
    """Lemma B.4 of BOAT (C7) by its exact law: P[|N|/n ≤ β + √(2/C)] for n independent flips and
    C = n/log(m/δ), by n; `near` is the same with √(1/32C), `mean` with nothing beside β.

    >>> from adversarium.rng import stream
    >>> round(flip_tails(stream(0, "example"), beta=0.1, counts=(200,))["kept"].values[0], 6)
    1.0
    """
    rows: dict[str, list[float]] = {"kept": [], "near": [], "mean": []}
    for n in counts:
        C = n / math.log(m / delta)
        for name, room in (("kept", 2 / C), ("near", 1 / (32 * C)), ("mean", 0.0)):
            rows[name].append(_binomial(n, beta, (beta + math.sqrt(room)) * n))
    return {name: Along("n", tuple(map(float, counts)), tuple(v)) for name, v in rows.items()}


def _binomial(n: int, p: float, most: float) -> float:
    """P[Bin(n, p) ≤ most]."""
    k = torch.arange(min(math.floor(most), n) + 1).double()
    size = torch.tensor(float(n)).double()
    logs = (
        torch.lgamma(size + 1) - torch.lgamma(k + 1) - torch.lgamma(size - k + 1)
        + k * math.log(p) + (size - k) * math.log1p(-p)
    )  # fmt: skip
    return min(1.0, float(logs.exp().sum()))


def init_events(rng: Generator, m: int, d: int, share: float = 0.05, draws: int = 50) -> Numbers:
    """Lemmas B.3 and B.19 of BOAT: `lengths`, the exact probability that ½ω²d ≤ ‖w_s‖² ≤ 3/2 ω²d
    for all m units (m/2 independent ones); `spectral`, the largest ‖W⁰‖₂/(ω(√m + √d)) of the draws;
    `spread`, in how many draws every unit has at least ¼ of its mean square on a set of
    coordinates of that share.

    >>> from adversarium.rng import stream
    >>> told = init_events(stream(0, "example"), m=8, d=10_000, draws=5)
    >>> round(told["lengths"], 6), told["spread"]
    (1.0, 5.0)
    """
    half = max(m // 2, 1)
    a = torch.tensor(d / 2).double()
    one = torch.special.gammainc(a, 1.5 * a) - torch.special.gammainc(a, 0.5 * a)
    few = torch.full((half,), max(round(share * d), 1) / 2).double()
    largest, spread = 0.0, 0.0
    for _ in range(draws):
        few_rows = half < d
        W = triangular(half, 0, half + 1, d - 1, rng) if few_rows else normal((half, d), rng)
        top = float(torch.linalg.matrix_norm(W, 2))
        largest = max(largest, math.sqrt(2) * top / (math.sqrt(m) + math.sqrt(d)))
        inside, outside = (2 * torch._standard_gamma(s, generator=rng) for s in (few, a - few))
        spread += float(bool((inside / (2 * few) >= (inside + outside) / d / 4).all()))
    return {"lengths": float(one**half), "spectral": largest, "spread": spread}


def large_variances(rng: Generator, d: int, kappa: float, draws: int = 200) -> Numbers:
    """|G| ≥ κd/(2 − κ), Proposition B.18 of BOAT, G the coordinates with a variance of κ/2 or more:
    the largest quotient bound/|G| over random variances in [0, 1] of mean κ, and of the sharp ones
    (as many of variance 1 as are needed, the rest just below κ/2).

    >>> from adversarium.rng import stream
    >>> large_variances(stream(0, "example"), d=100, kappa=0.5)["largest"] <= 1
    True
    """
    quotients = []
    for power in torch.linspace(0.05, 4, draws).tolist():
        v = torch.rand(d, generator=rng, dtype=torch.float64) ** power
        mean = float(v.mean())  # the κ of these
        quotients.append(mean * d / (2 - mean) / float((v >= mean / 2).sum()))
    ones = math.ceil(kappa * d / (2 - kappa))
    rest = max((kappa * d - ones) / (d - ones), 0.0)
    sharp = np.concatenate([np.ones(ones), np.full(d - ones, rest)])
    mean = float(sharp.mean())
    tight = mean * d / (2 - mean) / float((sharp >= mean / 2 * (1 + 1e-12)).sum())
    return {"largest": max(quotients), "sharp": tight}


def least_upper_mass(rng: Generator, c: float, points: int = 2001) -> Numbers:
    """P[X ≥ 1/(10c²)] ≥ 0.04/(220^{2/3}c⁴), Proposition B.20 of BOAT: the least probability over
    *all* laws on a grid with mean 0, variance 1 and sub-Gaussian norm c or less, by a linear
    programme, over the bound (a finer grid has a little less); `power` c² times it.

    >>> from adversarium.rng import stream
    >>> least_upper_mass(stream(0, "example"), c=2.0, points=401)["quotient"] > 1
    True
    """
    from scipy.optimize import linprog

    reach = 4 * c + 4
    edge = 1 / (10 * c**2)
    x = np.sort([*np.linspace(-reach, reach, points), edge * (1 - 1e-9), -1.0, 1.0])
    cost = (x >= edge).astype(float)
    weight = np.exp(np.minimum(x**2 / c**2, 60.0))
    scale = np.maximum(weight, 1.0)
    # masses in units of 1/scale, so that the heaviest weights stay small
    made = linprog(
        cost / scale,
        A_ub=[weight / scale],
        b_ub=[2.0],
        A_eq=[1 / scale, x / scale, x**2 / scale],
        b_eq=[1.0, 0.0, 1.0],
        method="highs",
    )
    if made.status != 0:
        raise ValueError(f"no law of variance 1 has a sub-Gaussian norm of {c:g} on this grid.")
    least = float(made.fun)
    return {"least": least, "quotient": least / (0.04 / (220 ** (2 / 3) * c**4)),
            "power": least * c**2}  # fmt: skip


def noise_tails(
    rng: Generator, d: int, tails: tuple[float, ...] = (0.49, 0.1, 1e-3, 1e-6, 1e-12)
) -> Numbers:
    """Proposition B.23 of BOAT for N(0, I), exactly, by the probability δ̄: `constant` is the c₆
    with P[|⟨v, ξ⟩| > c₆‖v‖√log(1/δ̄)] = δ̄, `long` is P[‖ξ‖² > 9d log(1/δ̄)]/δ̄, `mean` is
    E[‖ξ‖1{‖ξ‖ ≥ 6√(d log(1/δ̄))}] over 8δ̄⁴√(d log(1/δ̄)); `one` is `long` with 1 for 9.

    >>> from adversarium.rng import stream
    >>> told = noise_tails(stream(0, "example"), d=10, tails=(0.1,))
    >>> told["long"].values[0] < 1, round(told["constant"].values[0], 3)
    (True, 1.084)
    """
    a = torch.tensor(d / 2).double()
    rows = []
    for tail in tails:
        log = math.log(1 / tail)
        normal_quantile = -float(torch.special.ndtri(torch.tensor(tail / 2).double()))
        cut = torch.tensor(18 * d * log).double()  # half of (6√(d log))²
        mean = math.sqrt(2) * torch.exp(torch.lgamma(a + 0.5) - torch.lgamma(a))
        mean = mean * torch.special.gammaincc(a + 0.5, cut)
        rows.append(
            {
                "constant": normal_quantile / math.sqrt(log),
                "long": float(torch.special.gammaincc(a, 9 * d * log / 2 * torch.ones(()).double()))
                / tail,
                "one": float(torch.special.gammaincc(a, d * log / 2 * torch.ones(()).double()))
                / tail,
                "mean": float(mean) / (8 * tail**4 * math.sqrt(d * log)),
            }
        )
    return {name: Along("δ̄", tails, tuple(row[name] for row in rows)) for name in rows[0]}
