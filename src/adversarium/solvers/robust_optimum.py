"""The smallest robust loss of a linear model in a ball, over finite perturbation sets.

Every iterate of the solver proves an upper and a lower bound on the optimum.
"""

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
    """low ≤ min_{|v| ≤ R} mean_i max_j ℓ(u⁰_ij + ⟨φ_ij, v⟩, y_i) ≤ high.

    `coefficients` gives the v that attains `high` as a combination of the φ_ij.
    """

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
    """Return bounds on the optimum, by sequential quadratic programming on smoothed maxima.

    `gram` is the Gram matrix of the φ_ij (i before j), `start` the outputs u⁰ at v = 0 (default 0).
    The upper bound is the loss of an iterate. For the lower bound, take any weights λ_ij ≥ 0 with
    Σ_j λ_ij = 1/n and any outputs u_ij; by convexity the optimum is at least Σ λ_ij(ℓ(u_ij) −
    ℓ'(u_ij)(u_ij − u⁰_ij)) − R|Σ λ_ij ℓ'(u_ij)φ_ij|.

    >>> optimum = robust_optimum(torch.eye(2).double(), torch.tensor([1.0, -1.0]).double(), 1.0,
    ...                          lambda f, y: (f - y).square() / 2)
    >>> round(optimum.low, 2), round(optimum.high, 2)  # v = (1, −1)/√2
    (0.04, 0.04)
    """
    from scipy.optimize import minimize

    n, K = len(y), len(gram) // len(y)
    first = torch.zeros(n, K, dtype=torch.float64) if start is None else start
    values, vectors = torch.linalg.eigh(gram.double())
    positive = values > 1e-12 * values.max()
    phi = (vectors[:, positive] * values[positive].sqrt()).view(n, K, -1) * R  # v in units of R
    best = v = np.zeros(phi.shape[-1])
    low, high = -math.inf, math.inf

    def evaluate(at: np.ndarray, temperature: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the change of the outputs, losses, slopes, and weights of a smoothed maximum."""
        added = phi @ torch.from_numpy(at)
        losses, slopes = _losses_and_slopes(loss, first + added, y)
        return added, losses, slopes, torch.softmax(losses / temperature, -1) / n

    def smoothed(at: np.ndarray, temperature: float) -> tuple[float, np.ndarray]:
        _, losses, slopes, weight = evaluate(at, temperature)
        value = temperature * torch.logsumexp(losses / temperature, -1).mean()
        return float(value), torch.einsum("nk,nkr->r", weight * slopes, phi).numpy()

    inside = {"type": "ineq", "fun": lambda at: (1 - at @ at) / 2, "jac": lambda at: -at}
    for temperature in (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4):
        options = {"maxiter": 200, "ftol": 1e-10}
        v = minimize(smoothed, v, (temperature,), "SLSQP", jac=True, constraints=inside,
                     options=options).x  # fmt: skip
        v = v / max(float(np.linalg.norm(v)), 1.0)
        added, losses, slopes, weight = evaluate(v, temperature)
        gradient = torch.einsum("nk,nkr->r", weight * slopes, phi)
        low = max(low, float((weight * (losses - slopes * added)).sum() - gradient.norm()))
        robust_loss = float(losses.amax(-1).mean())
        best, high = (v, robust_loss) if robust_loss < high else (best, high)
        if high - low <= close:
            break
    coefficients = vectors[:, positive] @ (torch.from_numpy(best) / values[positive].sqrt()) * R
    return Optimum(low, high, coefficients.view(n, K))


def _losses_and_slopes(loss: Loss, u: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return ℓ and ℓ' at the outputs."""
    with torch.enable_grad():
        at = u.detach().requires_grad_(True)
        losses = loss(at, y[:, None].expand_as(at))
        (slopes,) = torch.autograd.grad(losses.sum(), at)
    return losses.detach(), slopes
