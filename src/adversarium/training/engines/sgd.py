"""Minibatch training of any network, including an nn.Module, for several seeds at once."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Generator, Tensor
from torch.utils._pytree import tree_map

from adversarium.rng import stream, streams
from adversarium.sockets import AnyAttack, AnyData, AnyLearner, Batching
from adversarium.training.engines.full import alike, remembered
from adversarium.training.problem import AnyProblem, side_by_side
from adversarium.training.recipe import (
    SGD,
    Adam,
    GradientDescent,
    Recipe,
    Tree,
    clipped,
    step_factor,
)
from adversarium.training.states import (
    AnyWeightState,
    WeightState,
    perturbed,
    trainable,
    trained_outputs,
)


@dataclass(frozen=True)
class Order:
    """The random order in which every seed visits its points; every epoch has a new order."""

    streams: tuple[Generator, ...]
    epoch: Tensor  # (replica, n)
    position: int  # of the next minibatch

    def minibatch(self, batch: int) -> "tuple[Tensor, Order]":
        """Return the indices (replica, batch) of the next minibatch, and the order after it."""
        order = self
        if self.position + batch > self.epoch.shape[1]:
            order = Order(self.streams, shuffled(self.streams, self.epoch.shape[1]), 0)
        end = order.position + batch
        return order.epoch[:, order.position : end], Order(order.streams, order.epoch, end)


def shuffled(streams: Sequence[Generator], n: int) -> Tensor:
    """Return one random order of n points per stream."""
    return torch.stack([torch.randperm(n, generator=g) for g in streams])


def step_size(recipe: Recipe, t: int) -> float:
    """Return η at step t of the schedule."""
    return recipe.eta * step_factor(_stochastic(recipe).schedule, t, recipe.steps)


def mixed_precision(recipe: Recipe, device: str) -> AbstractContextManager[object]:
    """Return the context for networks and attacks: mixed precision if the optimiser uses it."""
    name = _stochastic(recipe).autocast
    if name is None:
        return nullcontext()
    return torch.autocast(device.split(":")[0], dtype=getattr(torch, name))


def _stochastic(recipe: Recipe) -> SGD | Adam:
    assert not isinstance(recipe.optimiser, GradientDescent)
    return recipe.optimiser


@dataclass
class Walk:
    """The state of all problems, the optimiser's memory, and the order of the minibatches."""

    state: AnyWeightState
    memory: Tree
    order: Order
    augmenting: tuple[Generator, ...] = ()  # one stream per seed
    average: Tree | None = None  # the running average of the weights and buffers


_BATCHING = Batching(alike, {"cpu": 5, "cuda": 10}, {"cpu": 10, "cuda": 40})


@dataclass(frozen=True)
class Stochastic:
    """Momentum SGD or Adam on attacked minibatches.

    The gradient uses the network in training mode (batch statistics); the attack uses it in the
    mode that the optimiser names, by default evaluation (running statistics).
    """

    name: str = "sgd"
    version: int = 1
    batching: Batching = _BATCHING

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Recipe) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        if not isinstance(recipe.optimiser, (SGD, Adam)):
            came = type(recipe.optimiser).__name__
            return f"sgd needs the optimiser SGD or Adam, got {came}; full runs full batches"
        if recipe.optimiser.batch > recipe.n:
            return f"sgd needs batch <= n, got batch={recipe.optimiser.batch} with n={recipe.n}"
        return ""

    def init(self, problems: Sequence[AnyProblem]) -> Walk:
        """Return the state at t = 0."""
        whole = side_by_side(problems)
        state = WeightState(whole, 0, whole.W0, fresh=True)
        moving, _ = trainable(whole.network, state.W)
        generators = tuple(stream(seed, "order") for seed in whole.seeds)
        order = Order(generators, shuffled(generators, whole.recipe.n), 0)
        optimiser = _stochastic(whole.recipe)
        augmenting = streams(whole.seeds, "augment") if optimiser.augment is not None else ()
        average = state.W if optimiser.average is not None else None
        return Walk(state, optimiser.start(moving), order, augmenting, average)

    def step(self, walk: Walk) -> Walk:
        """Return the next state."""
        state, problem, t = walk.state, walk.state.problem, walk.state.t
        optimiser = _stochastic(problem.recipe)
        indices, order = walk.order.minibatch(optimiser.batch)
        batch = problem.minibatch(indices)
        if optimiser.augment is not None:
            batch = replace(cast(Any, batch), x=optimiser.augment(batch.x, walk.augmenting))
        x_adv, precision = batch.x, mixed_precision(problem.recipe, problem.device)
        if problem.attack is not None:
            streams_ = problem.attack_streams
            with precision:
                x_adv = perturbed(
                    problem, state.W, batch, problem.attack, t, streams_, optimiser.attack_mode
                )
        moving, still = trainable(problem.network, state.W)

        def objective(W: Tree) -> tuple[Tensor, dict[str, Tensor]]:
            heard: dict[str, Tensor] = {}
            f = trained_outputs(problem.network, still, heard)
            with mixed_precision(problem.recipe, problem.device):
                return state.risk_at(f, W, batch.x, x_adv, batch.y).sum(), heard

        gradient, heard = torch.func.grad(objective, has_aux=True)(moving)
        gradient, eta = clipped(gradient, optimiser.clip), step_size(problem.recipe, t)
        moved, memory = optimiser.step(moving, gradient, walk.memory, eta, t)
        W = remembered(problem.network, moved, still, heard)
        state = WeightState(problem, t + 1, W, fresh=True)
        average = None
        if optimiser.average is not None:
            share = min(optimiser.average, (1 + t) / (10 + t))  # forget the first weights soon
            average = averaged(walk.average, W, share)
        return Walk(state, memory, order, walk.augmenting, average)

    def split(self, walk: Walk) -> list[AnyWeightState]:
        """Return one state per problem of the stack, with the averaged weights if there are any."""
        if walk.average is None:
            return walk.state.split()
        return replace(walk.state, W=walk.average).split()


def averaged(average: Tree, W: Tree, share: float) -> Tree:
    """Return share·average + (1 − share)·W; integer buffers are those of W.

    >>> averaged({"w": torch.tensor([1.0])}, {"w": torch.tensor([5.0])}, 0.75)
    {'w': tensor([2.])}
    """
    return tree_map(
        lambda a, w: share * a + (1 - share) * w if w.is_floating_point() else w, average, W
    )
