"""Lower and upper bounds on robust errors: attacks give the lower, proofs the upper bound."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from adversarium.measure.errors import certified_margin, error, worst_margin
from adversarium.measure.measuring import described
from adversarium.measure.scene import AnyScene
from adversarium.shapes import Float
from adversarium.sockets import AnyState, Attack, Batch, Bounded, Lipschitz, Measure, W, Waiting


def lipschitz_margin(
    network: Lipschitz[W], W: W, margins: Tensor, p: float, radius: float
) -> Tensor:
    """Return margin − radius·Lip, a lower bound on the margin over B_p(x, radius)."""
    return margins - radius * network.lipschitz(W, p)[..., None]


def bracket(
    state: AnyState,
    scene: AnyScene,
    batch: Batch,
    p: float,
    radius: float,
    attacks: Sequence[Attack],
) -> tuple[Tensor, Tensor]:
    """Return bounds on the robust error: the share of points misclassified under an attack, and the
    share of points not proven robust.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, by = av.data.PatchData(d=2, P=2, alpha=2.0, sigma=0.0), av.attacks.FGSM(radius=1.0)
    >>> net, recipe = av.networks.CubicCNN(m=1, sigma0=0.1), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, net, None, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, torch.tensor([[[1.0, 0.0]]]).double())
    >>> sides = bracket(state, av.measure.Scene(problem), problem.train, math.inf, 1.0, [by])
    >>> [side.item() for side in sides]  # nothing broken, nothing proven
    [0.0, 1.0]
    """
    proven = certified_margin(state, batch, p, radius)
    if isinstance(scene.network, Lipschitz):
        clean = certified_margin(state, batch, p, 0.0)  # rounded down
        other = lipschitz_margin(scene.network, state.W, clean, p, radius)
        proven = torch.maximum(proven, other)
    return error(worst_margin(state, batch, attacks)), error(proven)


@dataclass(frozen=True, kw_only=True)
class CertifiedError:
    """The share of points whose robustness in the training attack's ball is not proven: an upper
    bound on the robust error. The attack must have a ball.

    >>> import adversarium as av
    >>> data, network = av.data.Clusters(d=9, mu=1.0), av.networks.TwoLayer(m=4)
    >>> attack, final = av.attacks.PGD(p=2, radius=0.1, steps=2), [CertifiedError(on="test", n=50)]
    >>> run = av.Run(data=data, network=network, attack=attack, n=5, steps=9, eta=0.1, final=final)
    >>> [(recording.names, recording.times) for recording in run.recordings]
    [(frozenset({'certified_error'}), (9,))]
    """

    version: ClassVar[int] = 2  # 2: rounded outwards, linear relaxations in addition to intervals

    on: Literal["test", "train"] = "train"
    n: int = 1000

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The description of the error."""
        points = self.n if self.on == "test" else 0
        symbols = {"certified_error": "not proven robust"}
        return described(symbols, type(self).__doc__, points=points, share=True)

    def __call__(self, state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
        batch = scene.train if self.on == "train" else scene.test(self.n)
        attack = scene.attack
        if attack is None:
            return error(state.margin(batch))  # clean training: no perturbation
        ball = attack.ball if isinstance(attack, Bounded) else None
        if ball is None:
            raise TypeError(
                f"CertifiedError needs a training attack with a ball, got {type(attack).__name__} "
                "without one; robustness is proven over that ball."
            )
        waits = isinstance(attack, Waiting) and state.t < attack.after
        return error(certified_margin(state, batch, ball.p, 0.0 if waits else ball.radius))


def exact_margin(W: np.ndarray, x: np.ndarray, y: float, p: float, radius: float) -> float:
    """min of y f over B_p(x, radius), p ∈ {1, ∞}, for a tiny two-layer ReLU network with the top
    layer of BOAT: one linear programme per activation pattern. The tests use it as a reference."""
    from scipy.optimize import linprog

    m, d = W.shape
    if m > 12 or p not in (1, math.inf):
        raise ValueError(f"exact_margin needs m <= 12 and p = 1 or inf, got m={m}, p={p}.")
    a = np.where(np.arange(m) < m // 2, 1.0, -1.0) / math.sqrt(m)
    best = math.inf
    for pattern in itertools.product((0, 1), repeat=m):
        on = np.array(pattern)
        side = np.where(on == 1, -1.0, 1.0)[:, None] * W  # on: ⟨w, x'⟩ ≥ 0; off: ≤ 0
        if p == math.inf:
            A, b = side, np.zeros(m)
            cost, bounds = y * (a * on) @ W, [(v - radius, v + radius) for v in x]
        else:  # x' = x + s − t with s, t ≥ 0, Σ(s + t) ≤ radius
            A = np.vstack([np.hstack([side, -side]), np.ones(2 * d)])
            b = np.append(-side @ x, radius)
            w = y * (a * on) @ W
            cost, bounds = np.concatenate([w, -w]), [(0, None)] * (2 * d)
        result = linprog(cost, A_ub=A, b_ub=b, bounds=bounds)
        if result.status == 0:
            offset = 0.0 if p == math.inf else float(y * (a * on) @ W @ x)
            best = min(best, result.fun + offset)
    return best
