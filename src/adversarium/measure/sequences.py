"""Sequences that grow or decay like their own square: the tensor power lemmas of CGRO and RNRF."""

import math

from torch import Generator

from adversarium.rng import uniform
from adversarium.sockets import Numbers


def growth_and_decay(rng: Generator, draws: int = 20) -> Numbers:
    """z_{t+1} = z_t ± Θ(z_t²), Lemmas A.1, A.2 and A.3 of CGRO on random sequences: the largest
    ratio of the time to its bound (A.1, and A.2 with disturbances), and the largest z_t A t (A.3).

    >>> from adversarium.rng import stream
    >>> max(growth_and_decay(stream(0, "example"), draws=1).values()) <= 1
    True
    """
    growth, slack, decay, v = [], [], [], 1.0
    for _ in range(draws):
        z0 = 0.01 + 0.05 * float(uniform((), rng))
        m = 0.02 + 0.1 * float(uniform((), rng))
        M = m * (1 + 3 * float(uniform((), rng)))
        doublings = math.ceil(math.log2(v / z0))
        time = _growth_time(rng, z0, v, m, M)
        growth.append(time / (3 / (m * z0) + 8 * M / m * doublings))
        time = _slack_time(rng, z0, v, m)
        slack.append(time / (8 * doublings + 21 / (z0 * m)))
        decay.append(_decay(rng))
    return {"A.1": max(growth), "A.2": max(slack), "A.3": max(decay)}


def _growth_time(rng: Generator, z: float, v: float, m: float, M: float) -> int:
    """The first t with z_t ≥ v, z_{t+1} = z_t + c_t z_t² with c_t uniform in [m, M], Lemma A.1 of
    CGRO."""
    t = 0
    while z < v:
        z, t = z + (m + (M - m) * float(uniform((), rng))) * z * z, t + 1
    return t


def _slack_time(rng: Generator, z0: float, v: float, A: float) -> int:
    """The first t with z_t ≥ v, z_t = z_0 + A Σ_{s<t} z_s² − C_t with C_t uniform in [0, z_0/2],
    Lemma A.2 of CGRO."""
    total, t, z = 0.0, 0, z0
    while z < v:
        total, t = total + A * z * z, t + 1
        z = z0 + total - z0 / 2 * float(uniform((), rng))
    return t


def _decay(rng: Generator, steps: int = 300) -> float:
    """max_t z_t A t for z_{t+1} ≤ z_t − A z_t², at most 1 by Lemma A.3 of CGRO."""
    A = 0.1 + 0.8 * float(uniform((), rng))
    z, largest = float(uniform((), rng)) / A, 0.0
    for t in range(1, steps):
        z = max(0.0, z - A * z * z * (1 + 0.1 * float(uniform((), rng))))
        largest = max(largest, z * A * t)
    return largest


def tensor_power(rng: Generator, eta: float = 1e-3, goal: float = 0.5) -> Numbers:
    """y(T_x)/y₀ ≤ (1 − S(y₀/x₀)^{q−2})^{−1/(q−2)}, Lemma B.2 of RNRF, x₀ = y₀S^{1/(q−2)}(1 + c) and
    random S, y₀, c: the largest ratio of left to right side for q = 3 and q = 4; and for S = 1 and
    small c the largest relative error of the closed form 1/(1 − S y₀(1/x₀ − 1/goal)) of y(T_x)/y₀.

    >>> from adversarium.rng import stream
    >>> tensor_power(stream(0, "example"), eta=1e-2)["third"] <= 1
    True
    """
    shares: dict[int, list[float]] = {3: [], 4: []}
    for _ in range(12):
        S = 0.3 + float(uniform((), rng))
        y0 = 0.01 + 0.02 * float(uniform((), rng))
        c = 0.1 + float(uniform((), rng))
        for q in (3, 4):
            x0 = y0 * S ** (1 / (q - 2)) * (1 + c)
            y = _at_arrival(x0, y0, S, q, 50 * eta if q == 4 else eta, goal)
            left = 1 - S * (y0 / x0) ** (q - 2)
            shares[q].append(y / y0 * left ** (1 / (q - 2)))
    errors = []
    for c in (0.5, 0.1, 0.02):
        x0 = 0.02 * (1 + c)
        closed = 1 / (1 - 0.02 * (1 / x0 - 1 / goal))
        errors.append(abs(_at_arrival(x0, 0.02, 1.0, 3, eta, goal) / 0.02 / closed - 1))
    return {"third": max(shares[3]), "fourth": max(shares[4]), "closed_form": max(errors)}


def _at_arrival(x: float, y: float, S: float, q: int, eta: float, goal: float) -> float:
    """y_t at the first t with x_t ≥ goal, x ← x + ηx^{q−1} and y ← y + ηS y^{q−1}, Lemma B.2 of
    RNRF."""
    while x < goal:
        x, y = x + eta * x ** (q - 1), y + eta * S * y ** (q - 1)
    return y
