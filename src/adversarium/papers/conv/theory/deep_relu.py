"""The deep ReLU network of §4 of CONV, whose input and output layers are fixed."""

import math
from dataclasses import dataclass

from torch import Generator, Tensor

from adversarium.rng import normal


@dataclass(frozen=True)
class Deep:
    """A deep ReLU network, eq. (1) of CONV: A (m × d), W⁽¹⁾ … W⁽ᴴ⁾ (m × m), a (m).

    >>> from adversarium.rng import stream
    >>> net = Deep.drawn(m=8, d=2, H=3, rng=stream(0, "example"))
    >>> len(net.W), tuple(net.A.shape)
    (3, (8, 2))
    """

    A: Tensor
    W: tuple[Tensor, ...]
    a: Tensor

    @classmethod
    def drawn(cls, m: int, d: int, H: int, rng: Generator) -> "Deep":
        """Draw a network at initialisation."""
        scale = math.sqrt(2 / m)
        weights = tuple(scale * normal((m, m), rng) for _ in range(H))
        return cls(scale * normal((m, d), rng), weights, normal((m,), rng))

    def features(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return x⁽⁰⁾ … x⁽ᴴ⁾ and the activation patterns D⁽¹⁾ … D⁽ᴴ⁾ (1 at inputs ≥ 0, else 0)."""
        features, patterns = [self.A @ x], []
        for W in self.W:
            before = W @ features[-1]
            patterns.append((before >= 0).to(before))
            features.append(before * patterns[-1])
        return features, patterns

    def f(self, x: Tensor) -> Tensor:
        """f = ⟨a, x⁽ᴴ⁾⟩, eq. (1) of CONV."""
        return self.a @ self.features(x)[0][-1]

    def back(self, patterns: list[Tensor]) -> list[Tensor]:
        """b_h = D⁽ʰ⁾W⁽ʰ⁺¹⁾ᵀ … D⁽ᴴ⁾a, h = 1, …, H; ∇f in W⁽ʰ⁾ is b_h x⁽ʰ⁻¹⁾ᵀ, eq. (9) of CONV."""
        products = [patterns[-1] * self.a]
        for W, D in zip(reversed(self.W[1:]), reversed(patterns[:-1]), strict=True):
            products.append(D * (W.T @ products[-1]))
        return products[::-1]
