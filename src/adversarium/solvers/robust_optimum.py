"""The least robust loss of a linear model in a ball, over finite perturbation sets, between bounds
that any of its iterates proves."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from adversarium.shapes import Float

Loss = Callable[[Tensor, Tensor], Tensor]  # (output, label) ↦ convex in the output


@dataclass(frozen=True)
class Optimum:
    """low ≤ min_{|v| ≤ R} mean_i max_j ℓ(u⁰_ij + ⟨φ_ij, v⟩, y_i) ≤ high, and the v that has `high`,
    as coefficients of the φ."""

    low: float
    high: float
    coefficients: Float[Tensor, "n K"]


def robust_optimum(
    gram: Float[Tensor, "nK nK"],
    y: Float[Tensor, " n"],
    R: float,
    loss: Loss,
    start: Float[Tensor, "n K"] | None = None,
    close: float = 1e-3,
) -> Optimum:
    """The bracket, from the Gram matrix of the φ_ij (i before j) and the outputs u⁰ at v = 0
    (none: 0), by sequential quadratic programming on smoothed maxima.

    Above: the loss of an iterate. Below: for any weights λ_ij ≥ 0 with Σ_j λ_ij = 1/n and any
    outputs u_ij, convexity gives Σ λ_ij(ℓ(u_ij) − ℓ'(u_ij)(u_ij − u⁰_ij)) − R|Σ λ_ij ℓ'(u_ij)φ_ij|.

    >>> told = robust_optimum(torch.eye(2).double(), torch.tensor([1.0, -1.0]).double(), 1.0,
    ...                       lambda f, y: (f - y).square() / 2)
    >>> round(told.low, 2), round(told.high, 2)  # v = (1, −1)/√2
    (0.04, 0.04)
    """
    from scipy.optimize import minimize

    n, K = len(y), len(gram) // len(y)
    first = torch.zeros(n, K, dtype=torch.float64) if start is None else start
    values, vectors = torch.linalg.eigh(gram.double())
    kept = values > 1e-12 * values.max()
    phi = (vectors[:, kept] * values[kept].sqrt()).view(n, K, -1) * R  # v in units of R
    best = v = np.zeros(phi.shape[-1])
    low, high = -math.inf, math.inf

    def told(at: np.ndarray, heat: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What v adds to the outputs, losses, slopes, and the weights of a smoothed maximum."""
        added = phi @ torch.from_numpy(at)
        losses, slopes = _sloped(loss, first + added, y)
        return added, losses, slopes, torch.softmax(losses / heat, -1) / n

    def smoothed(at: np.ndarray, heat: float) -> tuple[float, np.ndarray]:
        _, losses, slopes, weight = told(at, heat)
        value = heat * torch.logsumexp(losses / heat, -1).mean()
        return float(value), torch.einsum("nk,nkr->r", weight * slopes, phi).numpy()

    inside = {"type": "ineq", "fun": lambda at: (1 - at @ at) / 2, "jac": lambda at: -at}
    for heat in (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4):
        options = {"maxiter": 200, "ftol": 1e-10}
        v = minimize(smoothed, v, (heat,), "SLSQP", jac=True, constraints=inside,
                     options=options).x  # fmt: skip
        v = v / max(float(np.linalg.norm(v)), 1.0)
        added, losses, slopes, weight = told(v, heat)
        pull = torch.einsum("nk,nkr->r", weight * slopes, phi)
        low = max(low, float((weight * (losses - slopes * added)).sum() - pull.norm()))
        worst = float(losses.amax(-1).mean())
        best, high = (v, worst) if worst < high else (best, high)
        if high - low <= close:
            break
    coefficients = vectors[:, kept] @ (torch.from_numpy(best) / values[kept].sqrt()) * R
    return Optimum(low, high, coefficients.view(n, K))


def _sloped(loss: Loss, u: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """ℓ and ℓ' at the outputs."""
    with torch.enable_grad():
        at = u.detach().requires_grad_(True)
        losses = loss(at, y[:, None].expand_as(at))
        (slopes,) = torch.autograd.grad(losses.sum(), at)
    return losses.detach(), slopes
