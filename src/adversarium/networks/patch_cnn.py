"""CGRO's one-hidden-layer CNN with other activations."""

from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor

from adversarium.networks.activations import Activation, Power, ReLU
from adversarium.networks.certificates import patches_reached, slack
from adversarium.networks.two_layer import signs
from adversarium.rng import normal
from adversarium.shapes import Float


@dataclass(frozen=True, kw_only=True)
class PatchCNN:
    """f_W(X) = Σ_r a_r Σ_j s(⟨w_r, X[j]⟩), w_r ~ N(0, σ0² I); eq. (M) of CGRO is s(z) = z³.

    a_r = 1 for odd activations. Other activations need both signs to separate the classes: a_r = 1
    for the first half of the filters, −1 for the second.

    >>> W, x = torch.eye(2), torch.tensor([[[3.0, 2.0], [-1.0, 0.0]]])
    >>> PatchCNN(m=2, sigma0=0.1).f(W, x)
    tensor([1.])
    """

    m: int
    sigma0: float  # σ0, standard deviation of the initial weights
    activation: Activation | Power = field(default_factory=ReLU)

    def __post_init__(self) -> None:
        if self.m < 2 or self.sigma0 < 0:
            raise ValueError(
                f"PatchCNN needs m >= 2 and sigma0 >= 0, got m={self.m}, sigma0={self.sigma0}."
            )

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> Float[Tensor, "m d"]:
        """Draw W⁽⁰⁾."""
        return self.sigma0 * normal((self.m, shape[-1]), rng)

    def f(self, W: Tensor, x: Tensor) -> Tensor:
        """Return one number per point."""
        z = torch.einsum("...md,...npd->...nmp", W, x)
        h = self.activation(z).sum(-1)
        return self._top(h)

    def patchwise(self, W: Tensor, x: Tensor) -> Tensor:
        """Return Σ_r a_r s(⟨w_r, X[j]⟩) for every patch j, (*S, n, P)."""
        return self._top(self.activation(torch.einsum("...md,...npd->...npm", W, x)))

    def directions(self, W: Tensor) -> Tensor:
        """Return the filters."""
        return W

    def _top(self, h: Tensor) -> Tensor:
        """Return Σ_r a_r h_r."""
        odd = isinstance(self.activation, Power)
        return h.sum(-1) if odd else (h * signs(self.m, h)).sum(-1)

    def interval(self, W: Tensor, x: Tensor, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Return bounds on f over B_p(x, radius).

        Each ⟨w_r, X[j]⟩ moves by at most radius·‖w_r‖_q.
        """
        z, reach, size = patches_reached(W, x, p, radius)
        low, high = self.activation(z - reach), self.activation(z + reach)
        a = torch.ones(self.m).to(z) if isinstance(self.activation, Power) else signs(self.m, z)
        beside = self.activation.offset(low) + self.activation.offset(high)
        terms = (low.abs() + high.abs() + size + beside).sum((-1, -2))
        give = slack(self.m * x.shape[-2], terms)
        least, most = torch.where(a > 0, low, -high), torch.where(a > 0, high, -low)
        return least.sum((-1, -2)) - give, most.sum((-1, -2)) + give
