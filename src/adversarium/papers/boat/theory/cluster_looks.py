"""Provide one state of a training run on noisy clusters in the notation of BOAT's proofs."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from adversarium.attacks.gradient import PGD
from adversarium.data.clusters import ClusterBatch, Clusters
from adversarium.measure.scene import Scene
from adversarium.networks.two_layer import TwoLayer, signs
from adversarium.shapes import Float
from adversarium.sockets import State

ClusterScene = Scene[Clusters, TwoLayer, PGD, ClusterBatch]


class Attacked(State[Tensor], Protocol):
    """A state that provides the training points under the training attack."""

    @property
    def x_adv(self) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class ProofView:
    """One state of a training run in the notation of BOAT's proofs; x̃ are the attacked training
    points."""

    state: Attacked
    scene: ClusterScene

    @cached_property
    def W(self) -> Float[Tensor, "S m d"]:
        """The weights."""
        W: Tensor = self.state.W
        return W

    @property
    def y(self) -> Float[Tensor, "S n"]:
        """The observed labels."""
        return self.scene.train.y

    @property
    def a(self) -> Float[Tensor, " m"]:
        """The weights of the top layer, ±1."""
        return signs(self.scene.network.m, self.W)

    @property
    def alpha(self) -> float:
        """The radius α, or 0 without an attack."""
        return self.scene.attack.radius if self.scene.attack is not None else 0.0

    @cached_property
    def mean(self) -> Float[Tensor, " d"]:
        """The cluster mean μ."""
        return self.scene.data.mean.to(self.W)

    @cached_property
    def x(self) -> Float[Tensor, "S n d"]:
        """The attacked training points x̃."""
        x: Tensor = self.state.x_adv
        return x

    @cached_property
    def h(self) -> Float[Tensor, "S n m"]:
        """⟨w_s, x̃_i⟩."""
        return self.x @ self.W.mT

    @cached_property
    def slope(self) -> Float[Tensor, "S n m"]:
        """φ'(⟨w_s, x̃_i⟩)."""
        return self.scene.network.activation.slope(self.h)

    @cached_property
    def log_g(self) -> Float[Tensor, "S n"]:
        """log g̃_i, g̃_i = 1/(1 + exp(y_i f(x̃_i)))."""
        return torch.nn.functional.logsigmoid(-self.y * self.scene.network.top(self.h))

    @cached_property
    def G(self) -> Float[Tensor, " S"]:
        """Ĝ_rob, the mean of g̃_i."""
        return self.log_g.exp().mean(-1)

    @cached_property
    def loss(self) -> Float[Tensor, " S"]:
        """L̂_rob, the robust training loss."""
        margin = self.y * self.scene.network.top(self.h)
        return torch.nn.functional.softplus(-margin).mean(-1)

    @cached_property
    def lengths(self) -> Float[Tensor, "S m"]:
        """‖w_s‖."""
        lengths: Tensor = self.W.norm(dim=-1)
        return lengths

    @cached_property
    def spectral(self) -> Float[Tensor, " S"]:
        """‖W‖₂."""
        largest: Tensor = torch.linalg.matrix_norm(self.W, ord=2)
        return largest

    @cached_property
    def same_sign_pairs(self) -> Tensor:
        """The set T: the pairs (i, s) with y_i = a_s."""
        return self.y[..., None] == self.a

    def active(self) -> Tensor:
        """Return A, the pairs (i, s) with ⟨w_s, x⟩ > 0 on the entire ball of x_i; at t = 0, when no
        point is attacked, only at x_i."""
        z = self.scene.train.x @ self.W.mT
        return z > (0.0 if self.state.t == 0 else self.alpha) * self.lengths[..., None, :]

    def expected_margin(self) -> Float[Tensor, "2 S"]:
        """Return E[y f(x; W) | y] for y = 1 and y = −1 in closed form, as ⟨w_s, x⟩ is Gaussian."""
        data, phi = self.scene.data, cast(Any, self.scene.network.activation)
        sd = self.lengths * math.sqrt(data.marginal.var)
        along = self.W @ self.mean
        sides = [
            y * (self.a * phi.mean(y * along, sd)).sum(-1) / math.sqrt(len(self.a))
            for y in (1.0, -1.0)
        ]
        return torch.stack(sides)
