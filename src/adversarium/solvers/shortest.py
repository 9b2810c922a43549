"""The shortest element of a Hilbert space with given bounds on its values: minimum-norm robust
interpolation, from a Gram matrix alone."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Shortest:
    """g = Σ β_t φ_t with low ≤ ⟨φ_t, g⟩ ≤ high: its norm, a proven lower bound on the norm of any
    such g, the largest violation; norm ∞: there is none."""

    norm: float
    least: float
    violation: float
    beta: np.ndarray


def shortest(gram: np.ndarray, low: np.ndarray, high: np.ndarray) -> Shortest:
    """The least-norm g, as a least-distance problem by non-negative least squares; every dual point
    p ≥ 0 proves |g| ≥ (Σ p_t h_t)/|Σ p_t s_t φ_t| for the constraints s_t⟨φ_t, g⟩ ≥ h_t.

    >>> told = shortest(np.eye(2), np.array([1.0, -math.inf]), np.array([math.inf, -2.0]))
    >>> round(told.norm, 6), round(told.least, 6)
    (2.236068, 2.236068)
    >>> shortest(np.ones((2, 2)), np.array([1.0, -math.inf]), np.array([math.inf, -1.0])).norm
    inf
    """
    from scipy.optimize import nnls

    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-11 * values.max()
    phi = vectors[:, kept] * np.sqrt(values[kept])
    up, down = np.isfinite(low), np.isfinite(high)
    G = np.concatenate([phi[up], -phi[down]])
    h = np.concatenate([low[up], -high[down]])
    system = np.vstack([G.T, h])
    target = np.append(np.zeros(phi.shape[1]), 1.0)
    dual, _ = nnls(system, target, maxiter=200 * len(h))
    rest = system @ dual - target
    if abs(rest[-1]) < 1e-9:  # the dual is unbounded: no g meets all bounds
        return Shortest(math.inf, math.inf, math.inf, np.zeros(len(gram)))
    g = -rest[:-1] / rest[-1]
    values_of = phi @ g
    violation = max(0.0, float((low - values_of).max()), float((values_of - high).max()))
    pull = float(np.linalg.norm(G.T @ dual))
    least = float(h @ dual) / pull if pull else 0.0
    beta = vectors[:, kept] @ (g / np.sqrt(values[kept]))
    return Shortest(float(np.linalg.norm(g)), least, violation, beta)
