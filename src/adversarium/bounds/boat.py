"""BOAT's assumptions as numbers, and the bounds of its two theorems."""

import math


def permitted_constants(
    n: int,
    d: int,
    mu: float,
    alpha: float,
    m: int,
    beta: float,
    eta: float | None = None,
    smooth: bool = False,
    delta: float = 0.1,
) -> dict[str, float]:
    """The largest C that each inequality of Assumption 1 of BOAT permits, with those of (A) for
    smooth activations or (B) for others; without η the condition on it is left out.

    Units of N(0, I) noise. The inequalities without a C (ω√(md) ≤ η, α ≤ ‖μ‖) are no part of it.

    >>> allowed = permitted_constants(n=10, d=4000, mu=2.0, alpha=1.0, m=64, beta=0.25)
    >>> allowed["d ≥ C‖μ‖²n"], allowed["β ≤ 1/C"]
    (100.0, 4.0)
    """
    log_n = math.log(n / delta)
    told = {
        "d ≥ C‖μ‖²n": d / (mu**2 * n),
        "d ≥ Cn²(log(n/δ) + α²)": d / (n**2 * (log_n + alpha**2)),
        "β ≤ 1/C": 1 / beta if beta > 0 else math.inf,
        "n ≥ C log(m/δ)": n / math.log(m / delta),
    }
    if eta is not None:
        told["η ≤ 1/(Cd²)"] = 1 / (eta * float(d) ** 2)
    if smooth:
        return told | {"‖μ‖⁴ ≥ Cd": mu**4 / d, "‖μ‖² ≥ C log(n/δ)": mu**2 / log_n}
    noise = max(math.sqrt(d / n * math.log(m * d / (n * delta))), log_n)
    return told | {
        "m ≥ C log(n/δ)": m / log_n,
        "‖μ‖² ≥ C max(√(d/n log(md/nδ)), log(n/δ))": mu**2 / noise,
    }


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def robust_floor(beta: float, shared: float, tight: bool = False) -> float:
    """β + (1 − 2β)·shared/4, the lower bound of Theorem 3.2 of BOAT on the robust error of any
    classifier, `shared` being the overlap of the shifted densities; `tight`: with ½ for ¼ (ours).

    >>> robust_floor(0.0, 0.5), robust_floor(0.0, 0.5, tight=True)
    (0.125, 0.25)
    """
    return beta + (1 - 2 * beta) * shared / (2 if tight else 4)


def least_robust_error(mu: float, alpha: float, beta: float, sigma: float = 1.0) -> float:
    """The least robust error of any classifier on Gaussian clusters with independent flips (ours):
    min(½, (1 − β)Φ(−(‖μ‖ − α)/σ) + βΦ((‖μ‖ + α)/σ)), the oracle sign⟨μ, x⟩'s.

    >>> round(least_robust_error(2.0, 0.2, 0.1), 6), least_robust_error(1.0, 0.6, 0.3)
    (0.130947, 0.5)
    """
    if alpha >= mu:
        return 0.5
    missed, met = _phi(-(mu - alpha) / sigma), _phi((mu + alpha) / sigma)
    return min(0.5, (1 - beta) * missed + beta * met)


def lazy_accuracies(
    n: int, m: int, d: int, mu: float, ratio: float, beta: float, eta: float, offset: bool = True
) -> tuple[float, float]:
    """Clean and robust test accuracy of a ReLU network of PyTorch's default initialisation on noisy
    Gaussian clusters, predicted by its linearisation without any fit (ours); η is the sum of all
    learning rates, and without `offset` the labels' accidental mean is left out.

    >>> [round(a, 3) for a in lazy_accuracies(100, 1000, 6000, 5.0, 0.1, 0.1, 55.0)]
    [0.816, 0.737]
    """
    A, alpha = 1 - 2 * beta, ratio * mu
    k0 = m / (6 * math.pi) + 13 / 12  # of two orthogonal inputs
    D = (d + m) / 6 - k0  # what a point's own kernel has beside it
    ell = (1 + m / d) / 12  # the kernel's slope in ⟨x, x′⟩
    hidden = (1 - 1 / math.pi) / 6  # variance of a unit
    M = math.log(1 + eta * D / n)  # training margin
    z = n * ell * mu**2 / D
    rho, rho_c = z / (1 + z), n * k0 / (D + n * k0)
    core = 1 - A**2 * rho * (2 - rho)
    S = A * rho * M
    learnt = n * M**2 / D**2 * core
    V = learnt * (ell**2 * d + m * hidden**2) + (S / mu) ** 2 + hidden / 3
    if offset:
        V += rho_c**2 * M**2 / n + (1 - rho_c) ** 2 / (18 * math.pi)
    reach = alpha * math.sqrt(learnt * (ell**2 * d + m * hidden / 6) + (S / mu) ** 2 + 1 / 18)
    sd = math.sqrt(V)
    clean = beta + A * _phi(S / sd)
    return clean, (1 - beta) * _phi((S - reach) / sd) + beta * _phi(-(S + reach) / sd)
