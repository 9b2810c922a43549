"""BOAT's assumptions as numbers."""

import math


def permitted_constants(
    n: int, d: int, mu: float, alpha: float, m: int, beta: float, delta: float = 0.1
) -> dict[str, float]:
    """The largest C that each inequality of Assumptions 1 and B (non-smooth) of BOAT permits.

    Units of N(0, I) noise. Left out: η ≤ 1/(C d²), an artefact of the proof that would take an
    astronomical number of steps, and the inequalities without a C (ω√(md) ≤ η, α ≤ ‖μ‖).

    >>> allowed = permitted_constants(n=10, d=4000, mu=2.0, alpha=1.0, m=64, beta=0.25)
    >>> allowed["d ≥ C‖μ‖²n"], allowed["β ≤ 1/C"]
    (100.0, 4.0)
    """
    log_n = math.log(n / delta)
    return {
        "d ≥ C‖μ‖²n": d / (mu**2 * n),
        "d ≥ Cn²(log(n/δ) + α²)": d / (n**2 * (log_n + alpha**2)),
        "β ≤ 1/C": 1 / beta if beta > 0 else math.inf,
        "n ≥ C log(m/δ)": n / math.log(m / delta),
        "m ≥ C log(n/δ)": m / log_n,
        "‖μ‖² ≥ C max(√(d/n log(md/nδ)), log(n/δ))": mu**2
        / max(math.sqrt(d / n * math.log(m * d / (n * delta))), log_n),
    }
