"""Evaluate BOAT's assumptions as numbers, and predict accuracies from a linearised network."""

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
    """Return the largest C that each inequality of Assumption 1 of BOAT permits.

    The inequalities of (A) are included if the activation is smooth, those of (B) otherwise.
    Without η, the condition on η is left out. All sizes are in units of N(0, I) noise. The
    inequalities without a C (ω√(md) ≤ η and α ≤ ‖μ‖) are not included.

    >>> allowed = permitted_constants(n=10, d=4000, mu=2.0, alpha=1.0, m=64, beta=0.25)
    >>> allowed["d ≥ C‖μ‖²n"], allowed["β ≤ 1/C"]
    (100.0, 4.0)
    """
    log_n = math.log(n / delta)
    permitted = {
        "d ≥ C‖μ‖²n": d / (mu**2 * n),
        "d ≥ Cn²(log(n/δ) + α²)": d / (n**2 * (log_n + alpha**2)),
        "β ≤ 1/C": 1 / beta if beta > 0 else math.inf,
        "n ≥ C log(m/δ)": n / math.log(m / delta),
    }
    if eta is not None:
        permitted["η ≤ 1/(Cd²)"] = 1 / (eta * float(d) ** 2)
    if smooth:
        return permitted | {"‖μ‖⁴ ≥ Cd": mu**4 / d, "‖μ‖² ≥ C log(n/δ)": mu**2 / log_n}
    noise = max(math.sqrt(d / n * math.log(m * d / (n * delta))), log_n)
    return permitted | {
        "m ≥ C log(n/δ)": m / log_n,
        "‖μ‖² ≥ C max(√(d/n log(md/nδ)), log(n/δ))": mu**2 / noise,
    }


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def lazy_accuracies(
    n: int, m: int, d: int, mu: float, ratio: float, beta: float, eta: float, offset: bool = True
) -> tuple[float, float]:
    """Predict the clean and robust test accuracy on noisy Gaussian clusters (our derivation, not
    the paper's).

    The prediction linearises a ReLU network with PyTorch's default initialisation and has no fitted
    constants. η is the sum of all learning rates. Without `offset`, it leaves out the shift of the
    output that comes from the accidental mean of the training labels.

    >>> [round(a, 3) for a in lazy_accuracies(100, 1000, 6000, 5.0, 0.1, 0.1, 55.0)]
    [0.816, 0.737]
    """
    A, alpha = 1 - 2 * beta, ratio * mu
    k0 = m / (6 * math.pi) + 13 / 12  # the kernel of two orthogonal inputs
    D = (d + m) / 6 - k0  # the excess over k0 of a point's kernel with itself
    ell = (1 + m / d) / 12  # the kernel's slope in ⟨x, x′⟩
    hidden = (1 - 1 / math.pi) / 6  # the variance of a hidden unit
    M = math.log(1 + eta * D / n)  # the training margin
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
