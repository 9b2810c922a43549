"""A training state that stores its weights. The first axis of each weight is that of replicas."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from adversarium.attacks.balls import norm
from adversarium.data.batches import split_points
from adversarium.rng import Streams, measuring
from adversarium.sockets import (
    Aimed,
    AnyLearner,
    Attack,
    Batch,
    Batched,
    Bounded,
    Certified,
    Directed,
    Guide,
    Loss,
    PatchAdditive,
    RealLabelled,
    Sized,
)
from adversarium.training.objectives import (
    REGRESSION,
    leads,
    log_mean_exponential,
    loss_map,
    margin,
)
from adversarium.training.problem import AnyProblem
from adversarium.training.recipe import Mode, Tree

W_ = TypeVar("W_")
Outputs = Callable[[Any, Tensor], Tensor]


def perturbed(
    problem: AnyProblem,
    W: Tree,
    batch: Batch,
    attack: Attack,
    t: int,
    rng: Streams,
    mode: Mode = "evaluation",
) -> Tensor:
    """Return x' = attack(loss, batch, t, rng), after checking its shape, type and ball.

    In the mode "training" the attack sees the network with the statistics of each batch, which it
    leaves as they are.
    """
    wanted = attack.loss if isinstance(attack, Aimed) else "logit_difference"
    if isinstance(problem.data, RealLabelled) and wanted not in (*REGRESSION, "risk"):
        if wanted != "logit_difference":
            raise ValueError(
                f"{type(attack).__name__} maximises {wanted}, which real labels do not have; use "
                f"loss='risk' or one of {', '.join(REGRESSION)}."
            )
        wanted = "risk"  # the default of attacks, a margin, is undefined for real labels
    network, y = problem.network, batch.y

    def outputs(x: Tensor) -> Tensor:
        if mode == "training" and isinstance(network, Batched):
            return network.trained_f(W, x)[0]
        return cast(Tensor, network.f(W, x))

    loss = loss_map(wanted, outputs, batch.x, y, problem.recipe.risk)
    version = batch.x._version
    made = attack(guided(loss, network, W, y), batch, t, rng)
    name = getattr(attack, "__name__", type(attack).__name__)
    if batch.x._version != version:
        raise ValueError(f"{name} changed the points it was given; work on a copy (x.clone()).")
    if not isinstance(made, Tensor) or made.shape != batch.x.shape:
        came = tuple(made.shape) if isinstance(made, Tensor) else type(made).__name__
        raise ValueError(f"{name} must return points of shape {tuple(batch.x.shape)}, got {came}.")
    if made.dtype != batch.x.dtype:
        raise ValueError(f"{name} must return points of type {batch.x.dtype}, got {made.dtype}.")
    x = made.detach()
    ball = attack.ball if isinstance(attack, Bounded) else None
    if ball is not None:
        lead = batch.y.ndim
        size = norm(x - batch.x, ball.p, lead)
        slack = 64 * torch.finfo(x.dtype).eps * (norm(batch.x, ball.p, lead) + ball.radius)
        if not bool((size <= ball.radius + slack).all()):
            raise RuntimeError(
                f"{type(attack).__name__} left its ball: {float(size.max())} > {ball.radius}"
            )
    return x


CHUNK = 2**28  # largest number of values of the largest layer in one evaluation


def points_at_once(network: object, shape: tuple[int, ...], k: int, replicas: int) -> int:
    """Return how many points per replica a network can evaluate at once within `CHUNK`."""
    if isinstance(network, Sized):
        numbers = network.sizes(shape, k)[1]
    else:
        width = getattr(network, "m", 1)
        numbers = max(math.prod(shape), width * math.prod(shape[:-1]))
    return max(1, CHUNK // (max(1, replicas) * numbers))


def guided(loss: Loss, network: AnyLearner, W: Tree, y: Tensor) -> Guide:
    """Return the loss with the directions and the patchwise function of the network, if any."""
    return Guide(
        loss,
        directions=network.directions(W) if isinstance(network, Directed) else None,
        patchwise=(lambda x: leads(network.patchwise(W, x), y))
        if isinstance(network, PatchAdditive)
        else None,
    )


def trainable(network: object, W: Tree) -> tuple[Tree, dict[str, Tensor]]:
    """Split W into the weights that gradient descent changes and the network's buffers."""
    if not isinstance(network, Batched):
        return W, {}
    memory = network.buffers(W)
    moving = {name: w for name, w in W.items() if name not in memory}
    return moving, {name: w for name, w in W.items() if name in memory}


@dataclass
class WeightState(Generic[W_]):
    """A state that stores its weights.

    `whole`: the state of several stacked problems of which this one is a slice; its results are
    reused. `fresh`: only minibatches are attacked during training, so the training set is
    attacked when it is measured.

    >>> from adversarium.data import Clusters
    >>> from adversarium.networks import TwoLayer
    >>> from adversarium.training import Recipe, Problem
    >>> recipe = Recipe(n=5, steps=1, eta=0.1)
    >>> problem = Problem(Clusters(d=3, mu=1.0), TwoLayer(m=4), None, recipe, seeds=(0, 1))
    >>> state = WeightState(problem, 0, problem.W0)
    >>> [round(value, 4) for value in state.risk().tolist()]  # log 2: TwoLayer starts at f = 0
    [0.6931, 0.6931]
    """

    problem: AnyProblem
    t: int
    W: W_
    whole: "tuple[WeightState[W_], slice] | None" = None
    fresh: bool = False

    @property
    def train(self) -> Any:
        """The training set."""
        return self.problem.train

    @property
    def full(self) -> "WeightState[W_]":
        """The state itself, because it stores its weights."""
        return self

    def f(self, x: Tensor) -> Tensor:
        """Return the network's output, evaluated in chunks of points that fit `CHUNK`, without the
        reduced precision that convolutions on a GPU have otherwise."""
        network = self.problem.network
        with torch.no_grad(), torch.backends.cudnn.flags(allow_tf32=False):
            chunks = [network.f(self.W, part) for part in torch.split(x, self._chunk(x), 1)]
            return cast(Tensor, chunks[0] if len(chunks) == 1 else torch.cat(chunks, 1))

    def _chunk(self, x: Tensor) -> int:
        """Return how many points per replica are evaluated at once."""
        problem = self.problem
        return points_at_once(problem.network, tuple(problem.data.shape), problem.data.k, len(x))

    def margin(self, batch: Batch, attack: Attack | None = None) -> Tensor:
        """Return the margins at x, or under an attack (with a random stream for evaluation)."""
        if isinstance(self.problem.data, RealLabelled):
            raise TypeError(
                f"{type(self.problem.data).__name__} has real labels, so it has no margins and no "
                "errors; measure losses instead (av.measure.Loss, av.measure.ExcessRisk)"
            )
        if attack is None:
            return margin(self.f(batch.x), batch.y)
        if attack is self.problem.attack and batch is self.train:
            return margin(self.f(self.x_adv), batch.y)
        return margin(self.f(self._measured(batch, attack)), batch.y)

    def _measured(self, batch: Batch, attack: Attack) -> Tensor:
        """Return the attacked points of a batch, for measuring, computed in chunks of points."""
        rng = measuring(self.problem.seeds, self.t, attack)
        size = self._chunk(batch.x)
        made = [
            perturbed(self.problem, self.W, part, attack, self.t, rng)
            for part in split_points(batch, size)
        ]
        return made[0] if len(made) == 1 else torch.cat(made, 1)

    def losses(self, batch: Batch, attack: Attack | None = None) -> Tensor:
        """Return the losses at x, or under an attack (with a random stream for evaluation)."""
        x = batch.x if attack is None else self._measured(batch, attack)
        return self.problem.recipe.risk.function(self.f(x), batch.y)

    def replica(self, i: int) -> "WeightState[W_]":
        """Return the state of one seed."""
        alone = replace(self.problem, seeds=self.problem.seeds[i : i + 1])
        return WeightState(alone, self.t, tree_map(lambda w: w[i : i + 1], self.W))

    def split(self) -> "list[WeightState[W_]]":
        """Return one state per problem of the stack."""
        if not self.problem.beside:
            return [self]
        return [
            WeightState(part, self.t, tree_map(lambda w, at=at: w[at], self.W), (self, at),
                        self.fresh)
            for part, at in zip(self.problem.beside, self.problem.slices(), strict=True)
        ]  # fmt: skip

    def inner(self, v: Tensor) -> Tensor:
        """Return ⟨w, v⟩ for every filter w."""
        W = cast(Tensor, self.W)
        return W @ v.to(W)

    def interval(self, batch: Batch, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Return sound lower and upper bounds on the outputs over B_p(x, radius)."""
        network = self.problem.network
        if not isinstance(network, Certified):
            raise TypeError(
                f"{type(network).__name__} has no certified bounds; define its method "
                "`interval(W, x, p, radius)`, or measure only errors under attacks."
            )
        return network.interval(cast(Any, self.W), batch.x, p, radius)

    @cached_property
    def x_adv(self) -> Tensor:
        """The training points under the training attack (drawn once per step)."""
        attack, s = self.problem.attack, self.problem
        if attack is None:
            return cast(Tensor, self.train.x)
        if self.fresh:
            return self._measured(self.train, attack)
        if self.whole is not None:
            state, at = self.whole
            return state.x_adv[at]
        return perturbed(s, self.W, self.train, attack, self.t, s.attack_streams)

    def risk_at(self, f: Outputs, W: Tree, x: Tensor, x_adv: Tensor, y: Tensor) -> Tensor:
        """Return (1 − λ) mean loss(x) + λ mean loss(x̃), one number per replica."""
        risk = self.problem.recipe.risk
        if risk.log:
            return log_mean_exponential(f(W, x_adv), y)
        loss = risk.function
        adversarial = loss(f(W, x_adv), y).mean(-1)
        if risk.lam == 1 or x_adv is x:
            return adversarial
        return (1 - risk.lam) * loss(f(W, x), y).mean(-1) + risk.lam * adversarial

    def risk(self) -> Tensor:
        """Return the training objective at W⁽ᵗ⁾."""
        with torch.no_grad():
            x, x_adv, y = self.train.x, self.x_adv, self.train.y
            return self.risk_at(lambda W, x: self.f(x), self.W, x, x_adv, y)

    @cached_property
    def descent(self) -> tuple[Tree, dict[str, Tensor]]:
        """∇_W of the training objective at fixed x̃ (never through the attack), and the
        buffers of the network after the step."""
        if self.whole is not None:
            state, at = self.whole
            return cast(tuple[Tree, dict[str, Tensor]], tree_map(lambda g: g[at], state.descent))
        x, x_adv, y = self.train.x, self.x_adv, self.train.y
        moving, memory = trainable(self.problem.network, self.W)
        leaves, shape = tree_flatten(moving)
        heard: dict[str, Tensor] = {}
        with torch.enable_grad():
            free = [w.detach().requires_grad_(True) for w in leaves]
            f = trained_outputs(self.problem.network, memory, heard)
            risk = self.risk_at(f, tree_unflatten(free, shape), x, x_adv, y).sum()
        return tree_unflatten(torch.autograd.grad(risk, free), shape), heard

    @property
    def gradient(self) -> Tree:
        """∇_W of the training objective."""
        return self.descent[0]

    @property
    def gradient_norm(self) -> Tensor:
        """‖∇L‖_F, one number per replica."""
        squares = [g.flatten(1).square().sum(-1) for g in tree_leaves(self.gradient)]
        return torch.stack(squares).sum(0).sqrt()


def trained_outputs(
    network: AnyLearner, memory: dict[str, Tensor], heard: dict[str, Tensor]
) -> Outputs:
    """Return the network in training mode as a function; its updated buffers go into `heard`."""
    if not isinstance(network, Batched):
        return cast(Outputs, network.f)

    def f(W: dict[str, Tensor], x: Tensor) -> Tensor:
        outputs, after = network.trained_f({**memory, **W}, x)
        heard.update({name: w.detach() for name, w in after.items()})
        return outputs

    return f


def distance(W: Tree, V: Tree) -> Tensor:
    """Return ‖W − V‖_F, one number per replica."""
    pairs = list(zip(tree_leaves(W), tree_leaves(V), strict=True))
    return torch.stack([(a - b).flatten(1).square().sum(-1) for a, b in pairs]).sum(0).sqrt()


AnyWeightState = WeightState[Any]
