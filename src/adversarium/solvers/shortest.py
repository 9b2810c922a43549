"""The function of minimum norm in a Hilbert space of functions, given bounds on its values.

This is robust interpolation with minimum norm; only a Gram matrix is needed.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MinimumNorm:
    """g = Σ β_t φ_t of minimum norm with low ≤ ⟨φ_t, g⟩ ≤ high.

    `norm` is ∞ if no such g exists; `lower_bound` is a proven lower bound of the norm of every such
    g; `violation` is the largest violation of the bounds.
    """

    norm: float
    lower_bound: float
    violation: float
    beta: np.ndarray


def shortest(gram: np.ndarray, low: np.ndarray, high: np.ndarray) -> MinimumNorm:
    """Return the g of minimum norm, solved by non-negative least squares.

    With the constraints written as s_t⟨φ_t, g⟩ ≥ h_t, every p ≥ 0 proves |g| ≥ (Σ p_t h_t)/|Σ p_t
    s_t φ_t|.

    >>> g = shortest(np.eye(2), np.array([1.0, -math.inf]), np.array([math.inf, -2.0]))
    >>> round(g.norm, 6), round(g.lower_bound, 6)
    (2.236068, 2.236068)
    >>> conflict = np.array([1.0, -math.inf]), np.array([math.inf, -1.0])
    >>> shortest(np.ones((2, 2)), *conflict).norm
    inf
    """
    from scipy.optimize import nnls

    values, vectors = np.linalg.eigh(gram)
    positive = values > 1e-11 * values.max()
    phi = vectors[:, positive] * np.sqrt(values[positive])
    up, down = np.isfinite(low), np.isfinite(high)
    G = np.concatenate([phi[up], -phi[down]])
    h = np.concatenate([low[up], -high[down]])
    system = np.vstack([G.T, h])
    target = np.append(np.zeros(phi.shape[1]), 1.0)
    dual, _ = nnls(system, target, maxiter=200 * len(h))
    residual = system @ dual - target
    if abs(residual[-1]) < 1e-9:  # the dual is unbounded: no g satisfies all bounds
        return MinimumNorm(math.inf, math.inf, math.inf, np.zeros(len(gram)))
    g = -residual[:-1] / residual[-1]
    outputs = phi @ g
    violation = max(0.0, float((low - outputs).max()), float((outputs - high).max()))
    dual_norm = float(np.linalg.norm(G.T @ dual))
    lower_bound = float(h @ dual) / dual_norm if dual_norm else 0.0
    beta = vectors[:, positive] @ (g / np.sqrt(values[positive]))
    return MinimumNorm(float(np.linalg.norm(g)), lower_bound, violation, beta)
