"""The one-hidden-layer CNN with cubic activation: the learner of CGRO."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from adversarium.networks.certificates import patches_reached, slack
from adversarium.rng import normal
from adversarium.shapes import Float


def cubic_cnn(W: Float[Tensor, "*S m d"], x: Float[Tensor, "*S n P d"]) -> Float[Tensor, "*S n"]:
    """f_W(X) = Σ_r Σ_j ⟨w_r, X[j]⟩³, eq. (M) of CGRO.

    >>> W, x = torch.tensor([[1.0, 0.0]]), torch.tensor([[[2.0, 5.0], [-1.0, 5.0]]])
    >>> cubic_cnn(W, x), cubic_cnn(-W, x)
    (tensor([7.]), tensor([-7.]))
    """
    return torch.einsum("...md,...npd->...nmp", W, x).pow(3).sum((-1, -2))


@dataclass(frozen=True, kw_only=True)
class CubicCNN:
    """m filters with w_r ~ N(0, σ0² I); the output layer is fixed to ones, §3.2 of CGRO.

    >>> W, x = torch.eye(2), torch.tensor([[[1.0, 2.0], [0.0, 3.0]]])
    >>> CubicCNN(m=2, sigma0=0.1).f(W, x)
    tensor([36.])
    """

    m: int
    sigma0: float  # σ0, standard deviation of the initial weights

    def __post_init__(self) -> None:
        if self.m < 1 or self.sigma0 < 0:
            raise ValueError(
                f"CubicCNN needs m >= 1 and sigma0 >= 0, got m={self.m}, sigma0={self.sigma0}."
            )

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> Float[Tensor, "m d"]:
        """Draw W⁽⁰⁾."""
        return self.sigma0 * normal((self.m, shape[-1]), rng)

    def f(self, W: Tensor, x: Tensor) -> Tensor:
        """Return one number per point."""
        return cubic_cnn(W, x)

    def patchwise(self, W: Tensor, x: Tensor) -> Tensor:
        """Return Σ_r ⟨w_r, X[j]⟩³ for every patch j, (*S, n, P)."""
        return torch.einsum("...md,...npd->...npm", W, x).pow(3).sum(-1)

    def directions(self, W: Tensor) -> Tensor:
        """Return the filters."""
        return W

    def interval(self, W: Tensor, x: Tensor, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Return bounds on f over B_p(x, radius).

        Each ⟨w_r, X[j]⟩ moves by at most radius·‖w_r‖_q.
        """
        z, reach, _ = patches_reached(W, x, p, radius)
        low, high = (z - reach).pow(3), (z + reach).pow(3)
        give = slack(self.m * x.shape[-2], torch.maximum(low.abs(), high.abs()).sum((-1, -2)))
        return low.sum((-1, -2)) - give, high.sum((-1, -2)) + give
