"""Evaluate closed forms of CGRO's times, levels and critical counts."""

import math


def signal_time(u0: float, alpha: float, eta: float, lam: float) -> float:
    """T₀ ≈ (1/u0 − α)/(3ηα³(1 − λ)/2), with u0 = max_r u_r⁽⁰⁾ > 0: our closed form of the time at
    which max_r u_r reaches 1/α.

    >>> [signal_time(u0=0.25, alpha=1.0, eta=0.5, lam=lam) for lam in (0.0, 0.5, 1.0)]
    [4.0, 8.0, inf]
    """
    return (1 / u0 - alpha) / (1.5 * eta * alpha**3 * (1 - lam)) if u0 > 0 and lam < 1 else math.inf


def memory_time(v0: float, N: int, d: int, sigma: float, eta: float, lam: float) -> float:
    """T₁ ≈ 2N/(3ηλσ²d v0), with v0 the largest v_{i,j,r}⁽⁰⁾ of a point: our closed form of the time
    at which V_i reaches 1.

    >>> [memory_time(v0=0.5, N=N, d=4, sigma=1.0, eta=1.0, lam=1.0) for N in (3, 6)]
    [1.0, 2.0]
    """
    return 2 * N / (3 * eta * lam * sigma**2 * d * v0) if v0 > 0 and lam > 0 else math.inf


def phase_two_level(t: int, eta: float, alpha: float, lam: float) -> float:
    """s with s = log(9ηα²(1 − λ) t s^{4/3}), our closed form of α³U in phase II, but at least 1,
    the value at which phase II begins.

    >>> s = phase_two_level(1000, eta=0.1, alpha=1.0, lam=0.0)
    >>> abs(s - math.log(0.9 * 1000 * s ** (4 / 3))) < 1e-9
    True
    """
    rise, s, before = math.log(max(9 * eta * alpha**2 * (1 - lam) * t, 1.0)), 1.0, 0.0
    while abs(s - before) > 1e-12 * s:  # the map is a contraction once s > 4/3
        s, before = max(1.0, rise + 4 / 3 * math.log(s)), s
    return s


def typical_noise(d: int, P: int, m: int, sigma: float, sigma0: float) -> float:
    """v* = σ0σ√d √(2 log((P − 1)m)), the typical maximum of the (P − 1)m values v⁽⁰⁾ of one point.

    >>> small, large = (typical_noise(d, P=2, m=10, sigma=0.1, sigma0=0.01) for d in (100, 400))
    >>> round(large / small, 9)  # proportional to √d
    2.0
    """
    return sigma0 * sigma * math.sqrt(2 * d * math.log(max((P - 1) * m, 2)))


def critical_n(
    d: int, P: int, m: int, alpha: float, sigma: float, sigma0: float, gap: float, q: float = 2.0
) -> float:
    """N_c = σ²d v*/(q α²(1 − γ)³), with gap = 1 − γ, our estimate of the critical number of
    training points.

    For N < N_c, noise is memorised before the attacked signal is learnt; for N > N_c, the signal is
    learnt first.

    >>> sizes = dict(d=100, P=2, m=10, alpha=1.0, sigma=0.1, sigma0=0.01)
    >>> round(critical_n(**sizes, gap=0.1) / critical_n(**sizes, gap=0.2), 9)
    8.0
    """
    return sigma**2 * d * typical_noise(d, P, m, sigma, sigma0) / (q * alpha**2 * gap**3)


def flatness_factor(N: float, D: int) -> float:
    """N^{−1/(D+2)}, the factor of Theorem E.1 of CGRO and Theorem 6.3 of CGRM.

    >>> [round(flatness_factor(N=16, D=D), 2) for D in (2, 1000)]
    [0.5, 1.0]
    """
    factor: float = N ** (-1 / (D + 2))
    return factor
