"""Compute how often the high-probability events behind BOAT's theorems occur, for the data, the
initial weights and one noise vector.

The Gram matrices of Gaussian points are sampled instead of the points, so any dimension is cheap;
probabilities are exact where a closed form exists.
"""

import math

import numpy as np
import torch
from torch import Generator

from adversarium.data import Clusters
from adversarium.data.clusters import Flip
from adversarium.rng import normal
from adversarium.sockets import Along, Numbers
from adversarium.training.engines.law import triangular

C1 = 10.0  # the paper's C₁ = 10/κ; N(0, I) noise has κ = 1


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
    """Lemma B.4 of BOAT (C1 to C7): count the draws in which each event is true, and those in which
    all are true (`joint`).

    Also return, over the draws, the largest constants `cross` of C2 and `top` of C3 and the
    smallest constant `bottom` of C4. Conditions on entire balls are tested at the worst point.

    >>> from adversarium.rng import stream
    >>> sizes = dict(n=10, d=10**6, m=10, mu=60.0, alpha=1.0, beta=0.1, C=4.0)
    >>> training_events(stream(0, "example"), **sizes, draws=5)["C3"]
    5.0
    """
    data = Clusters(d=d, mu=mu, beta=beta, flip=flip)
    rows = [_events(data, n, m, alpha, C, delta, rng) for _ in range(draws)]
    counts = {name: float(sum(row[name] for row in rows)) for name in rows[0] if name[0] == "C"}
    counts["joint"] = float(sum(all(row[name] for name in counts) for row in rows))
    for name in ("cross", "top", "bottom"):
        pick = min if name == "bottom" else max
        counts[name] = float(pick(row[name] for row in rows))
    return counts


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
    off_diagonal = ~torch.eye(n, dtype=torch.bool)
    lengths, squares = noise.diagonal(), gram.diagonal()
    log = math.log(n / delta)
    cross = float(noise[off_diagonal].abs().max()) / math.sqrt(d * log)
    both = float(gram[off_diagonal].abs().max()) / (mu**2 + math.sqrt(d * log))
    top = float(torch.linalg.eigvalsh(noise)[-1]) / d
    values = torch.linalg.eigvalsh(gram).clamp_min(0).sqrt()
    low, high = float(values[0]) - alpha * math.sqrt(n), float(values[-1]) + alpha * math.sqrt(n)
    signal = mu * y * x[:, 0]
    noisy = y != clean_y
    deviation = (signal - torch.where(noisy, -1.0, 1.0) * mu**2).abs()
    return {
        "C1": float(
            bool(((lengths >= d / 2) & (lengths <= 3.5 * d)).all())
            and bool(((squares >= d / C1) & (squares <= C1 * d)).all())
            and alpha <= math.sqrt(d / C1) / 2
        ),
        "C2": float(cross <= C1 and both <= C1),
        "C3": float(top <= 4),
        "C4": float(low >= math.sqrt(d / (8 * C1)) and high <= math.sqrt(8 * C1 * d)),
        "C5": float(bool((deviation[~noisy] <= mu**2 / 2).all())),
        "C6": float(bool((deviation[noisy] <= mu**2 / 2).all())),
        "C7": float(float(noisy.double().mean()) <= data.beta + math.sqrt(2 / C)),
        "cross": cross,
        "top": top,
        "bottom": low / math.sqrt(d),
    }


def signal_tails(
    rng: Generator, n: int, factors: tuple[float, ...] = (2.0, 4.0, 6.0, 8.0, 12.0, 16.0),
    delta: float = 0.1,
) -> Numbers:  # fmt: skip
    """P[|⟨μ, y x⟩ ∓ ‖μ‖²| ≤ ‖μ‖²/2 for all n points] = (1 − 2Φ(−‖μ‖/2))ⁿ, the exact probability of
    (C5) and (C6) of Lemma B.4 of BOAT.

    `kept` is this probability for every C in `factors`, with ‖μ‖² = C log(n/δ).

    >>> from adversarium.rng import stream
    >>> values = signal_tails(stream(0, "example"), n=50, factors=(2.0, 8.0))["kept"].values
    >>> [round(1 - p, 2) for p in values]
    [0.98, 0.02]
    """
    probabilities = []
    for C in factors:
        half = math.sqrt(C * math.log(n / delta)) / 2
        probabilities.append(math.exp(n * math.log1p(-math.erfc(half / math.sqrt(2)))))
    return {"kept": Along("C", factors, tuple(probabilities))}


def flip_tails(
    rng: Generator, beta: float, counts: tuple[int, ...] = (50, 200, 1000, 4000), m: int = 50,
    delta: float = 0.1,
) -> Numbers:  # fmt: skip
    """P[|N|/n ≤ β + √(2/C)] for n independent flips and C = n/log(m/δ), the exact probability of
    (C7) of Lemma B.4 of BOAT, for every n in `counts`.

    `kept` is this probability; `near` has √(1/(32C)) in place of √(2/C), and `mean` has 0.

    >>> from adversarium.rng import stream
    >>> round(flip_tails(stream(0, "example"), beta=0.1, counts=(200,))["kept"].values[0], 6)
    1.0
    """
    rows: dict[str, list[float]] = {"kept": [], "near": [], "mean": []}
    for n in counts:
        C = n / math.log(m / delta)
        for name, square in (("kept", 2 / C), ("near", 1 / (32 * C)), ("mean", 0.0)):
            rows[name].append(_binomial(n, beta, (beta + math.sqrt(square)) * n))
    return {name: Along("n", tuple(map(float, counts)), tuple(v)) for name, v in rows.items()}


def _binomial(n: int, p: float, most: float) -> float:
    """Return P[Bin(n, p) ≤ most]."""
    k = torch.arange(min(math.floor(most), n) + 1).double()
    size = torch.tensor(float(n)).double()
    logs = (
        torch.lgamma(size + 1) - torch.lgamma(k + 1) - torch.lgamma(size - k + 1)
        + k * math.log(p) + (size - k) * math.log1p(-p)
    )  # fmt: skip
    return min(1.0, float(logs.exp().sum()))


def init_events(rng: Generator, m: int, d: int, share: float = 0.05, draws: int = 50) -> Numbers:
    """Lemmas B.3 and B.19 of BOAT on the initial weights.

    `lengths`: the exact probability that ½ω²d ≤ ‖w_s‖² ≤ 3/2 ω²d for all m units, of which m/2 are
    independent. `spectral`: the largest ‖W⁰‖₂/(ω(√m + √d)) over the draws. `spread`: the number of
    draws in which every unit's mean square over a fraction `share` of its coordinates is at least ¼
    of its mean square over all coordinates.

    >>> from adversarium.rng import stream
    >>> events = init_events(stream(0, "example"), m=8, d=10_000, draws=5)
    >>> round(events["lengths"], 6), events["spread"]
    (1.0, 5.0)
    """
    half = max(m // 2, 1)
    a = torch.tensor(d / 2).double()
    one = torch.special.gammainc(a, 1.5 * a) - torch.special.gammainc(a, 0.5 * a)
    half_count = torch.full((half,), max(round(share * d), 1) / 2).double()
    largest, spread = 0.0, 0.0
    for _ in range(draws):
        few_rows = half < d
        W = triangular(half, 0, half + 1, d - 1, rng) if few_rows else normal((half, d), rng)
        top = float(torch.linalg.matrix_norm(W, 2))
        largest = max(largest, math.sqrt(2) * top / (math.sqrt(m) + math.sqrt(d)))
        inside, outside = (
            2 * torch._standard_gamma(s, generator=rng) for s in (half_count, a - half_count)
        )
        spread += float(bool((inside / (2 * half_count) >= (inside + outside) / d / 4).all()))
    return {"lengths": float(one**half), "spectral": largest, "spread": spread}


LARGEST_VARIANCE = 3 / 8  # of a Gaussian coordinate with sub-Gaussian norm 1, Definition 2.1


def large_variances(rng: Generator, d: int, kappa: float, draws: int = 200) -> Numbers:
    """|G| ≥ κd/(2 − κ), Proposition B.18 of BOAT, where G is the set of coordinates with variance
    κ/2 or more, for independent Gaussian coordinates with sub-Gaussian norm at most 1.

    `largest`: the largest quotient bound/|G| over random variances in [0, 3/8] with mean about κ;
    a growing share of them is not 0. `sharp`: this quotient if as few variances as possible are
    3/8 and all others lie just below κ/2.

    >>> from adversarium.rng import stream
    >>> large_variances(stream(0, "example"), d=100, kappa=0.3)["largest"] <= 1
    True
    """
    top = LARGEST_VARIANCE
    quotients = []
    for share in torch.linspace(kappa / top, 1, draws).tolist():
        present, u = torch.rand((2, d), generator=rng, dtype=torch.float64)
        v = torch.where(present <= share, top * u ** (share * top / kappa - 1), 0.0)
        mean = float(v.mean())  # κ of these variances
        quotients.append(mean * d / (2 - mean) / float((v >= mean / 2).sum()))
    large = math.ceil(kappa * d / (2 * top - kappa))
    rest = max((kappa * d - large * top) / (d - large), 0.0)
    sharp = np.concatenate([np.full(large, top), np.full(d - large, rest)])
    mean = float(sharp.mean())
    tight = mean * d / (2 - mean) / float((sharp >= mean / 2 * (1 + 1e-12)).sum())
    return {"largest": max(quotients), "sharp": tight}


def least_upper_mass(rng: Generator, c: float, points: int = 2001) -> Numbers:
    """P[X ≥ 1/(10c²)] ≥ 0.04/(220^{2/3}c⁴), Proposition B.20 of BOAT.

    `least` is the smallest probability over *all* distributions on a grid with mean 0, variance 1
    and sub-Gaussian norm at most c, found by a linear programme; `quotient` is `least` divided by
    the bound (slightly smaller on a finer grid); `power` is c² times `least`.

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
    # masses are in units of 1/scale, which keeps the largest weights small
    solution = linprog(
        cost / scale,
        A_ub=[weight / scale],
        b_ub=[2.0],
        A_eq=[1 / scale, x / scale, x**2 / scale],
        b_eq=[1.0, 0.0, 1.0],
        method="highs",
    )
    if solution.status != 0:
        raise ValueError(
            f"no law of variance 1 has sub-Gaussian norm {c:g} on this grid; increase c."
        )
    least = float(solution.fun)
    return {"least": least, "quotient": least / (0.04 / (220 ** (2 / 3) * c**4)),
            "power": least * c**2}  # fmt: skip


def noise_tails(
    rng: Generator, d: int, tails: tuple[float, ...] = (0.49, 0.1, 1e-3, 1e-6, 1e-12)
) -> Numbers:
    """Proposition B.23 of BOAT for N(0, I): exact values for every probability δ̄ in `tails`.

    `constant` is the c₆ with P[|⟨v, ξ⟩| > c₆‖v‖√log(1/δ̄)] = δ̄; `long` is
    P[‖ξ‖² > 9d log(1/δ̄)]/δ̄; `mean` is E[‖ξ‖1{‖ξ‖ ≥ 6√(d log(1/δ̄))}] divided by
    8δ̄⁴√(d log(1/δ̄)); `one` is `long` with 1 in place of 9.

    >>> from adversarium.rng import stream
    >>> by_tail = noise_tails(stream(0, "example"), d=10, tails=(0.1,))
    >>> by_tail["long"].values[0] < 1, round(by_tail["constant"].values[0], 3)
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
