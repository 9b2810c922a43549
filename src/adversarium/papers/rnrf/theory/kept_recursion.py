"""Lemma D.18 of RNRF with all its coefficients, iterated alongside the training.

Its coefficients are A, B, C, D and E, those of the initial weights orthogonal to the features.
"""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from adversarium.measure.measuring import described
from adversarium.networks.smoothed_cnn import smoothed_relu, smoothed_slope
from adversarium.shapes import Float
from adversarium.sockets import Measure, Rows, State

from .recursions import Signals, off_features, signals
from .two_features import TwoFeatureScene, attack_step, attacked_by, every_correlation


@dataclass(frozen=True)
class RecursionMemory:
    """The running values of KeptRecursion.

    They are (A, B, C, D, E), the inner products of the P_⊥w⁽⁰⁾, the points, and the largest error
    so far.
    """

    M: Float[Tensor, "S k m c"]  # 2k features, then k·m initial weights
    gram: Float[Tensor, "S c c"]
    points: Signals
    error: Float[Tensor, " S"]


@dataclass(frozen=True)
class KeptRecursion:
    """The largest error in A, B, C, D at any step of the recursion of Lemma D.18 of RNRF, including
    its coefficients E.

    "printed": every coefficient of Lemma D.17 of RNRF moves by −min{ε, ·}. "unclipped": the
    coefficients of the features are clipped on both sides, those of the P_⊥w⁽⁰⁾ not at all.

    If nothing is clipped and there is no noise, the recursion is exact:

    >>> import adversarium as av
    >>> from adversarium.training import ENGINES, Recipe, Problem, train
    >>> data = av.data.TwoFeaturePatches(k=2, d=8, P=4, sigma_n=0.0)
    >>> network = av.networks.SmoothedCNN(m=3, sigma0=0.1)
    >>> attack = av.attacks.MarginStep(radius=1.2, step=0.1)
    >>> problem = Problem(data, network, attack, Recipe(n=6, steps=5, eta=0.1), (0, 1))
    >>> fold, memory, engine = KeptRecursion(), None, ENGINES["full"]
    >>> for joined in train(engine, (problem,)):
    ...     memory = fold.see(memory, engine.split(joined)[0], av.measure.Scene(problem))
    >>> bool((fold.rows(memory)["printed_recursion_error"] < 1e-12).all())
    True
    """

    clip: Literal["printed", "unclipped"] = "printed"

    @property
    def name(self) -> str:
        """The name of the row."""
        return f"{self.clip}_recursion_error"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The error."""
        return described({self.name: f"error of the recursion, {self.clip}"}, type(self).__doc__)

    def see(
        self, memory: RecursionMemory | None, state: State[Tensor], scene: TwoFeatureScene
    ) -> RecursionMemory:
        """Return the running values after one more state."""
        actual = every_correlation(state, scene)
        memory = self._start(actual, scene) if memory is None else memory
        gap = (memory.M[..., : actual.shape[-1]] - actual).abs().amax((1, 2, 3))
        error = torch.maximum(memory.error, gap)
        return replace(memory, M=self._step(memory, scene), error=error)

    def _start(self, actual: Tensor, scene: TwoFeatureScene) -> RecursionMemory:
        """Return the initial values; E⁽⁰⁾ is the identity, one coefficient per filter."""
        S, k, m, f = actual.shape
        W = off_features(scene.problem.W0, k).flatten(1, 2)
        identity = torch.eye(k * m, dtype=W.dtype, device=W.device).view(1, k, m, k * m)
        gram = torch.eye(f + k * m, dtype=W.dtype, device=W.device).repeat(S, 1, 1)
        gram[:, f:, f:] = W @ W.mT
        M = torch.cat([actual, identity.expand(S, -1, -1, -1)], dim=-1)
        return RecursionMemory(M, gram, signals(scene), torch.zeros(S).to(W))

    def _step(self, memory: RecursionMemory, scene: TwoFeatureScene) -> Float[Tensor, "S k m c"]:
        """M' = M + η E[(1{y=i} − π_i(x̃)) Σ_p s'(⟨w_{i,r}, x̃_p⟩)·(coefficients of x̃_p)]."""
        M, points, q, rho = memory.M, memory.points, scene.network.q, scene.network.rho
        k, f = M.shape[1], 2 * M.shape[1]
        c = points.strength[..., None] * one_hot(points.feature, M.shape[-1])  # x_p, (S, n, p, c)
        own_class = M[torch.arange(len(M))[:, None], points.y]  # (S, n, m, c)
        push = (
            attack_step(scene)
            * smoothed_slope(c[..., :f] @ own_class[..., :f].mT, q, rho)
            @ own_class
        )
        radius = attacked_by(scene).radius
        if self.clip == "printed":
            push = push.clamp(max=radius)
        else:
            push = torch.cat([push[..., :f].clamp(-radius, radius), push[..., f:]], dim=-1)
        c = c - push
        z = torch.einsum("sirc,snpc->snpir", M, c @ memory.gram[:, None])
        F = (smoothed_relu(z, q, rho) * points.count[..., None, None]).sum((2, 4))
        pull = points.weight[..., None] * (one_hot(points.y, k) - F.softmax(-1))
        slopes = smoothed_slope(z, q, rho) * points.count[..., None, None]
        slopes = slopes * pull[:, :, None, :, None]
        return M + scene.problem.recipe.eta * torch.einsum("snpir,snpc->sirc", slopes, c)

    def rows(self, memory: RecursionMemory) -> Rows:
        """Return the largest error of any step."""
        return {self.name: memory.error}
