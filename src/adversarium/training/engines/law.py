"""Gaussian clusters of any dimension d at the cost of n + m/2 + 1 coordinates.

If the attack is l2 ascent from zero, training depends only on the Gram matrix of data and initial
weights, on their coordinates along μ, and on the labels. Orthogonally to μ, the n points and m/2
different weights are Gaussian; up to a rotation that has no effect, they are the rows of a lower
triangular matrix with independent entries: N(0, 1) below the diagonal and the root of a χ² of d − 1
− j degrees of freedom in row j (Bartlett). Fresh points are Gaussian in the same coordinates.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Generator, Tensor

from adversarium.data.batches import moved, stack
from adversarium.data.clusters import ClusterBatch, Clusters
from adversarium.data.marginals import Gauss
from adversarium.networks.two_layer import TwoLayer
from adversarium.rng import normal, stream
from adversarium.shapes import Float
from adversarium.sockets import AnyAttack, AnyData, AnyLearner
from adversarium.training.engines.gram import Gram
from adversarium.training.problem import AnyProblem, Problem
from adversarium.training.recipe import Recipe


def triangular(
    rows: int, before: int, width: int, freedom: int, rng: Generator
) -> Float[Tensor, "rows width"]:
    """Draw the rows of the triangular factor that follow the first `before` rows.

    Column 0 is the coordinate along μ; row j has N(0, 1) in columns 1 … before + j, and in the next
    a χ variable with `freedom` − before − j degrees of freedom.
    """
    made = normal((rows, width), rng)
    column = torch.arange(width)
    for j in range(rows):
        at = 1 + before + j
        chi2 = 2 * torch._standard_gamma(
            torch.tensor((freedom - before - j) / 2, dtype=torch.float64), generator=rng
        )
        made[j, at] = chi2.sqrt()
        made[j, column > at] = 0.0
    return made


@dataclass(frozen=True)
class ProblemInLaw(Problem[Clusters, TwoLayer, Any, ClusterBatch]):
    """A problem whose training points and initial weights form a triangular matrix.

    For fresh points, the projection of x onto the same coordinates is drawn.
    """

    @property
    def _width(self) -> int:
        return self.data.shape[0]

    @cached_property
    def train(self) -> ClusterBatch:
        """The training set of every seed."""
        batches = [self._points(stream(seed, "train")) for seed in self.seeds]
        made: ClusterBatch = moved(stack(batches), self.device, self.dtype)
        return made

    def _points(self, rng: Generator) -> ClusterBatch:
        data, n = self.data, self.recipe.n
        clean_y = data.labels(n, rng)
        x = math.sqrt(data.marginal.var) * triangular(n, 0, self._width, data.d - 1, rng)
        y = data.flipped(clean_y, clean_y * x[:, 0], rng)
        x[:, 0] += data.mu * clean_y
        return ClusterBatch(x=x, y=y, clean_y=clean_y)

    @cached_property
    def W0(self) -> Tensor:
        """The initial weights of every seed."""
        return torch.stack([self._weights(stream(seed, "init")) for seed in self.seeds]).to(
            self.device, self.dtype
        )

    def _weights(self, rng: Generator) -> Tensor:
        network, n = self.network, self.recipe.n
        half = triangular(network.m // 2, n, self._width, self.data.d - 1, rng)
        return network.omega * torch.cat([half, half])


@dataclass(frozen=True)
class Law(Gram):
    """The gram engine with points and weights drawn in triangular coordinates."""

    name: str = "law"

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Recipe) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        if type(data) is not Clusters or type(data.marginal) is not Gauss or data.spread != 1:
            return "law needs the data Clusters with Gaussian noise and μ on an axis (spread = 1)"
        if data.seen is not None:
            return "law needs Clusters with seen=None, because it chooses the coordinates itself"
        if type(network) is not TwoLayer:
            return "law needs a TwoLayer network, whose initial weights are Gaussian"
        reason = super().refuses(data, network, attack, recipe)
        if reason:
            return reason.replace("gram", "law")
        need = _coordinates(recipe, network)
        if data.d < need:
            return f"law needs d >= n + m/2 + 1 = {need}, got {data.d}"
        return ""

    def placed(self, problem: AnyProblem) -> ProblemInLaw:
        """Return the problem in triangular coordinates."""
        data = replace(problem.data, seen=_coordinates(problem.recipe, problem.network))
        return ProblemInLaw(
            data, problem.network, problem.attack, problem.recipe, problem.seeds, problem.device,
            problem.dtype,
        )  # fmt: skip


def _coordinates(recipe: Recipe, network: TwoLayer) -> int:
    """Return n + m/2 + 1."""
    return recipe.n + network.m // 2 + 1
