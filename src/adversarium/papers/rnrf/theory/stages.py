"""Folds that test RNRF's lemmas at every step of training.

They measure increments divided by the growth law, correlations with the features of other classes
divided by their initial values, and the remainder of the noise update.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from adversarium.measure.measuring import described
from adversarium.networks.smoothed_cnn import smoothed_slope
from adversarium.shapes import Float
from adversarium.sockets import Measure, Rows, State

from .recursions import growth, own_parts
from .two_features import TwoFeatureScene, every_correlation


@dataclass(frozen=True)
class GrowthRange:
    """Increments divided by the growth law of Lemma D.8 of RNRF, in the filters with the largest A
    and B of a class, as long as max(αA, βB) < ϱ in this class (the polynomial part).

    least_growth: The smallest increment of A or B in the polynomial part, divided by the growth law
        of Lemma D.8 of RNRF.
    largest_growth: The largest increment of A or B in the polynomial part, divided by the growth
        law of Lemma D.8 of RNRF.

    >>> [measure.name for measure in GrowthRange().measures]
    ['least_growth', 'largest_growth']
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The smallest and the largest ratio."""
        symbols = {
            "least_growth": r"least $\Delta$/(growth law)",
            "largest_growth": r"largest $\Delta$/(growth law)",
        }
        return described(symbols, type(self).__doc__)

    def see(
        self,
        memory: tuple[Tensor, Tensor, Tensor] | None,
        state: State[Tensor],
        scene: TwoFeatureScene,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the smallest and the largest ratio so far, and the last (A, B, C, D)."""
        M = every_correlation(state, scene)
        if memory is None:
            infinite = torch.full_like(M[:, 0, 0, 0], math.inf)
            return infinite, -infinite, M
        low, high, old = memory
        k, data, rho = scene.data.k, scene.data, scene.network.rho
        A, B = own_parts(old, k)
        early = torch.maximum(data.alpha * A.amax(-1), data.beta * B.amax(-1)) < rho  # (S, k)
        for now, was, law in zip(own_parts(M, k), (A, B), growth(old, scene), strict=True):
            largest = was.argmax(-1, keepdim=True)
            ratio = ((now - was).gather(-1, largest) / law.gather(-1, largest)).squeeze(-1)
            low = torch.minimum(low, torch.where(early, ratio, torch.inf).amin(-1))
            high = torch.maximum(high, torch.where(early, ratio, -torch.inf).amax(-1))
        return low, high, M

    def rows(self, memory: tuple[Tensor, Tensor, Tensor]) -> Rows:
        """Return both ratios."""
        return {"least_growth": memory[0], "largest_growth": memory[1]}


@dataclass(frozen=True)
class ForeignRatio:
    """max_r C_{i,r,y} and max_r D_{i,r,y} over their initial values, Lemmas D.7 and D.21 of RNRF.

    foreign_robust_ratio: The largest max_r C_{i,r,y} at any later step divided by its initial
        value, over all i ≠ y, Lemmas D.7 and D.21 of RNRF.
    foreign_nonrobust_ratio: The largest max_r D_{i,r,y} at any later step divided by its initial
        value, over all i ≠ y, Lemmas D.7 and D.21 of RNRF.

    In this example, C and D decrease from the first step on:

    >>> import adversarium as av
    >>> from adversarium.training import ENGINES, Recipe, Problem, train
    >>> data = av.data.TwoFeaturePatches(k=2, d=8, P=4, sigma_n=0.0)
    >>> network = av.networks.SmoothedCNN(m=3, sigma0=0.1)
    >>> problem = Problem(data, network, None, Recipe(n=6, steps=5, eta=0.1), (0, 1))
    >>> fold, memory, engine = ForeignRatio(), None, ENGINES["full"]
    >>> for joined in train(engine, (problem,)):
    ...     memory = fold.see(memory, engine.split(joined)[0], av.measure.Scene(problem))
    >>> [bool((ratio < 1).all()) for ratio in fold.rows(memory).values()]
    [True, True]
    """

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Both ratios."""
        symbols = {
            "foreign_robust_ratio": r"$\max C/\max C^{(0)}$",
            "foreign_nonrobust_ratio": r"$\max D/\max D^{(0)}$",
        }
        return described(symbols, type(self).__doc__)

    def see(
        self, memory: tuple[Tensor, Tensor] | None, state: State[Tensor], scene: TwoFeatureScene
    ) -> tuple[Tensor, Tensor]:
        """Return the starting values (S, 2, pairs) and the largest ratios (S, 2)."""
        maxima = self._maxima(state, scene)
        if memory is None:
            return maxima, torch.full_like(maxima[..., 0], -math.inf)
        start, largest = memory
        ratio = torch.where(
            start > 0, maxima / start, -math.inf
        )  # with few filters, all may be negative
        return start, torch.maximum(largest, ratio.amax(-1))

    def _maxima(self, state: State[Tensor], scene: TwoFeatureScene) -> Float[Tensor, "S 2 f"]:
        """Return max_r C_{i,r,y} and max_r D_{i,r,y} of every pair i ≠ y."""
        k = scene.data.k
        maxima = every_correlation(state, scene).amax(2)  # (S, k, 2k)
        other = ~torch.eye(k, dtype=torch.bool, device=maxima.device)
        return torch.stack([maxima[..., :k][:, other], maxima[..., k:][:, other]], dim=1)

    def rows(self, memory: tuple[Tensor, Tensor]) -> Rows:
        """Return the ratios of C and of D."""
        C, D = memory[1].unbind(-1)
        return {"foreign_robust_ratio": C, "foreign_nonrobust_ratio": D}


@dataclass(frozen=True)
class NoiseRemainder:
    """The largest change of ⟨w, ξ⟩ in one step that the term of its own patch does not explain, in
    units of η/√d, Lemma E.4 of RNRF: |Δ⟨w_{i,r}, ξ⟩ − (η/N)(1{y=i} − π_i)
    s'(⟨w_{i,r}, x_p⟩)‖ξ_p‖²|·√d/η, the largest over all steps, filters and training patches.

    Without noise there is no remainder:

    >>> import adversarium as av
    >>> from adversarium.training import ENGINES, Recipe, Problem, train
    >>> data = av.data.TwoFeaturePatches(k=2, d=8, P=4, sigma_n=0.0)
    >>> network = av.networks.SmoothedCNN(m=3, sigma0=0.1)
    >>> problem = Problem(data, network, None, Recipe(n=6, steps=5, eta=0.1), (0, 1))
    >>> fold, memory, engine = NoiseRemainder(), None, ENGINES["full"]
    >>> for joined in train(engine, (problem,)):
    ...     memory = fold.see(memory, engine.split(joined)[0], av.measure.Scene(problem))
    >>> fold.rows(memory)["noise_remainder"].tolist()
    [0.0, 0.0]
    """

    name: str = "noise_remainder"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The remainder."""
        symbol = r"remainder of $\Delta\langle w, \xi\rangle$ in units of $\eta/\sqrt{d}$"
        return described({self.name: symbol}, type(self).__doc__)

    def see(
        self, memory: tuple[Tensor, Tensor] | None, state: State[Tensor], scene: TwoFeatureScene
    ) -> tuple[Tensor, Tensor]:
        """Return ⟨w, ξ⟩ plus its own patch's term of the next step, and the largest remainder."""
        train, network, recipe = scene.train, scene.network, scene.problem.recipe
        noise, x = train.noise.flatten(1, 2), train.x.flatten(1, 2)
        actual = state.W @ noise.mT[:, None]  # (S, k, m, nP)
        largest = torch.zeros(len(x)).to(x)
        if memory is not None:
            remainder = (actual - memory[0]).abs().amax((1, 2, 3))
            largest = torch.maximum(memory[1], remainder * scene.data.d**0.5 / recipe.eta)
        pull = one_hot(train.y, scene.data.k) - state.f(train.x).softmax(-1)
        pull = pull.repeat_interleave(scene.data.P, dim=1).mT[:, :, None]  # (S, k, 1, nP)
        slopes = smoothed_slope(state.W @ x.mT[:, None], network.q, network.rho)
        squared_norm = noise.square().sum(-1)[:, None, None]
        return actual + recipe.eta / recipe.n * pull * slopes * squared_norm, largest

    def rows(self, memory: tuple[Tensor, Tensor]) -> Rows:
        """Return the largest remainder of any step."""
        return {self.name: memory[1]}
