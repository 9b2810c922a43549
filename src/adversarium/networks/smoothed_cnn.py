"""The smoothed-ReLU CNN: the learner of RNRF.

Its backward pass is written by hand: matrix products with the slopes saved in the forward pass. The
tests compare it with autograd through the plain formula, which gives the same gradients.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.networks.certificates import gamma, largest_singular, patches_reached, slack
from adversarium.networks.duals import dual
from adversarium.rng import normal
from adversarium.shapes import Float


def smoothed_relu(z: Tensor, q: int, rho: float) -> Tensor:
    """s(z) = 0, z^q/(q ϱ^{q−1}), z − (1 − 1/q)ϱ on z ≤ 0, [0, ϱ], z ≥ ϱ, §2.3 of RNRF.

    >>> smoothed_relu(torch.tensor([-1.0, 1.0, 3.0]), q=2, rho=2.0).tolist()
    [0.0, 0.25, 2.0]
    """
    t = z.clamp(0, rho)
    return t.pow(q) / (q * rho ** (q - 1)) + torch.relu(z - rho)


def smoothed_slope(z: Tensor, q: int, rho: float) -> Tensor:
    """s'(z) = (clip(z, 0, ϱ)/ϱ)^{q−1}, §2.3 of RNRF."""
    return (z.clamp(0, rho) / rho).pow(q - 1)


def smoothed_cnn(
    W: Float[Tensor, "*S k m d"], x: Float[Tensor, "*S n P d"], q: int, rho: float
) -> Float[Tensor, "*S n k"]:
    """F_i(X) = Σ_r Σ_p s(⟨w_{i,r}, x_p⟩), eq. (1) of RNRF.

    >>> W, x = torch.eye(2)[:, None], torch.tensor([[[3.0, 0.5]]])
    >>> smoothed_cnn(W, x, q=2, rho=1.0).tolist()
    [[2.5, 0.125]]
    """
    return smoothed_relu(torch.einsum("...kmd,...npd->...nkmp", W, x), q, rho).sum((-1, -2))


class _HandWritten(torch.autograd.Function):
    """smoothed_cnn with ∂F_i/∂w_{i,r} = Σ_p s'(z) x_p and ∂F_i/∂x_p = Σ_r s'(z) w_{i,r}."""

    @staticmethod
    def forward(W: Tensor, x: Tensor, q: int, rho: float) -> tuple[Tensor, Tensor]:
        *S, k, m, d = W.shape
        n, P = x.shape[-3:-1]
        Z = x.reshape(*S, n * P, d) @ W.reshape(*S, k * m, d).mT
        t = Z.clamp(0, rho)
        linear = (Z - t).clamp_(min=0)  # z − ϱ above the threshold, 0 below it
        slope = t.pow(q - 1)
        F = linear.add_(slope * t, alpha=1 / (q * rho ** (q - 1)))
        slope /= rho ** (q - 1)
        return F.view(*S, n, P, k, m).sum((-1, -3)), slope

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        W, x, _, _ = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)  # do not allocate zeros for the slopes
        ctx.save_for_backward(W, x, output[1])

    @staticmethod
    def backward(
        ctx: Any, c: Tensor, slopes: None
    ) -> tuple[Tensor | None, Tensor | None, None, None]:
        W, x, slope = ctx.saved_tensors
        *S, k, m, d = W.shape
        n, P = x.shape[-3:-1]
        weighted = slope.view(*S, n, P, k, m) * c[..., :, None, :, None]
        weighted = weighted.view(*S, n * P, k * m)
        gW = gx = None
        if ctx.needs_input_grad[0]:
            gW = (weighted.mT @ x.reshape(*S, n * P, d)).view(W.shape)
        if ctx.needs_input_grad[1]:
            gx = (weighted @ W.reshape(*S, k * m, d)).view(x.shape)
        return gW, gx, None, None


# returns F and the slopes; torch does not annotate `apply`
_by_hand: Callable[[Tensor, Tensor, int, float], tuple[Tensor, Tensor]] = _HandWritten.apply


@dataclass(frozen=True, kw_only=True)
class SmoothedCNN:
    """m filters per class with w_{i,r} ~ N(0, σ0² I), output weights fixed to one, §2.3 of RNRF.

    >>> W, x = torch.eye(2)[:, None], torch.tensor([[[2.0, 0.0], [0.0, 3.0]]])
    >>> SmoothedCNN(m=1, q=2).f(W, x)
    tensor([[1.5000, 2.5000]])
    """

    m: int = 100
    q: int = 3  # power of the smoothed ReLU
    rho: float = 1.0  # ϱ, its threshold
    sigma0: float = 0.01  # σ0, standard deviation of the initial weights
    by_hand: bool = True  # the hand-written backward pass; False: autograd

    def __post_init__(self) -> None:
        if self.m < 1 or self.q < 2 or self.rho <= 0 or self.sigma0 < 0:
            raise ValueError(
                f"SmoothedCNN needs m >= 1, q >= 2, rho > 0 and sigma0 >= 0, got m={self.m}, "
                f"q={self.q}, rho={self.rho}, sigma0={self.sigma0}."
            )

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> Float[Tensor, "k m d"]:
        """Draw W⁽⁰⁾."""
        return self.sigma0 * normal((k, self.m, shape[-1]), rng)

    def f(self, W: Tensor, x: Tensor) -> Tensor:
        """Return k logits per point."""
        if self.by_hand:
            return _by_hand(W, x, self.q, self.rho)[0]
        return smoothed_cnn(W, x, self.q, self.rho)

    def patchwise(self, W: Tensor, x: Tensor) -> Tensor:
        """Return Σ_r s(⟨w_{i,r}, x_p⟩) for every patch p and class i, (*S, n, P, k)."""
        z = torch.einsum("...kmd,...npd->...npkm", W, x)
        return smoothed_relu(z, self.q, self.rho).sum(-1)

    def directions(self, W: Tensor) -> Tensor:
        """Return the filters of all classes."""
        return W.flatten(-3, -2)

    def interval(self, W: Tensor, x: Tensor, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Return bounds on every F_i over B_p(x, radius), for each side the better of two.

        One is interval arithmetic: ⟨w, x_p⟩ moves by at most radius·‖w‖_q. The second lower bound
        uses that s is convex: F_i lies above its tangent at x, which falls by at most
        radius·‖∇F_i(x)‖_q. The second upper bound is spectral.
        """
        bounds = [self._class_interval(w, x, p, radius) for w in W.unbind(-3)]
        low, high = zip(*bounds, strict=True)
        return torch.stack(low, dim=-1), torch.stack(high, dim=-1)

    def _class_interval(
        self, w: Tensor, x: Tensor, p: float, radius: float
    ) -> tuple[Tensor, Tensor]:
        """Return bounds on one F_i, whose filters are sorted by norm."""
        order = w.norm(dim=-1).argsort(dim=-1, descending=True)
        w = w.double().gather(-2, order[..., None].expand_as(w))
        z, reach, size = patches_reached(w, x, p, radius)  # (*S, n, P, m)
        low, here, high = (
            smoothed_relu(end, self.q, self.rho) for end in (z - reach, z, z + reach)
        )
        slope, error = smoothed_slope(z, self.q, self.rho), slack(x.shape[-1], size)
        gradient = torch.einsum("...npm,...md->...npd", slope, w).flatten(-2)
        falls = radius * gradient.norm(dual(p), dim=-1) + (slope * error).sum((-1, -2))
        give = slack(self.m * x.shape[-2] + x.shape[-1], (high + size).sum((-1, -2)))
        least = torch.maximum(low.sum((-1, -2)), here.sum((-1, -2)) - falls) - give
        far = radius * (math.sqrt(w.shape[-1]) if p == math.inf else 1.0)
        most = high.sum(-1)
        for long in (0, *(2**i for i in range(self.m.bit_length() - 1))):
            short = slice(long, None)
            rest = self._spectral(w[..., short, :], (z + error)[..., short], reach[..., short], far)
            most = torch.minimum(most, high[..., :long].sum(-1) + rest)
        return least, most.sum(-1) + give

    def _spectral(self, w: Tensor, z: Tensor, reach: Tensor, far: float) -> Tensor:
        """Σ_r s(⟨w_r, x_p + δ⟩) ≤ κ (‖z₊‖₂ + σ_max(w) ‖δ‖₂)² at every patch, for filters of small
        norm; intervals serve for the others. ‖δ‖₂ ≤ radius·√d in l_inf, ≤ radius in l1 and l2.

        Proof: let T be the largest ⟨w_r, x_p + δ⟩. Then s(z) ≤ κ z₊² for z ≤ T with κ = max_{z ≤ T}
        s(z)/z², attained at T or at 2(1 − 1/q)ϱ (s(z)/z² rises up to there); and ‖(z + wδ)₊‖₂ ≤
        ‖z₊‖₂ + ‖wδ‖₂.
        """
        top = (z + reach).amax(-1).clamp(min=0, max=2 * (1 - 1 / self.q) * self.rho)
        kappa = smoothed_relu(top, self.q, self.rho) / torch.where(top > 0, top, 1.0).square()
        length: Tensor = z.clamp_min(0).norm(dim=-1)
        bound = kappa * (length + largest_singular(w)[..., None, None] * far).square()
        return (1 + 4 * gamma(w.shape[-2] + 64)) * bound
