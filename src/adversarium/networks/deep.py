"""The deep ReLU network of §4 of CONV: input and output layers fixed, hidden ones drawn."""

import math
from dataclasses import dataclass

from torch import Generator, Tensor

from adversarium.rng import normal


@dataclass(frozen=True)
class Deep:
    """A drawn network: A (m × d), W⁽¹⁾ … W⁽ᴴ⁾ (m × m), a (m).

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
        """The network at its initialisation."""
        scale = math.sqrt(2 / m)
        weights = tuple(scale * normal((m, m), rng) for _ in range(H))
        return cls(scale * normal((m, d), rng), weights, normal((m,), rng))

    def features(self, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """x⁽⁰⁾ … x⁽ᴴ⁾ and the patterns D⁽¹⁾ … D⁽ᴴ⁾ (1 where x̄ ≥ 0)."""
        at, patterns = [self.A @ x], []
        for W in self.W:
            before = W @ at[-1]
            patterns.append((before >= 0).to(before))
            at.append(before * patterns[-1])
        return at, patterns

    def f(self, x: Tensor) -> Tensor:
        """The output."""
        return self.a @ self.features(x)[0][-1]

    def back(self, patterns: list[Tensor]) -> list[Tensor]:
        """b_h = D⁽ʰ⁾W⁽ʰ⁺¹⁾ᵀ … D⁽ᴴ⁾a, h = 1, …, H: the gradient in W⁽ʰ⁾ is b_h x⁽ʰ⁻¹⁾ᵀ."""
        made = [patterns[-1] * self.a]
        for W, D in zip(reversed(self.W[1:]), reversed(patterns[:-1]), strict=True):
            made.append(D * (W.T @ made[-1]))
        return made[::-1]
