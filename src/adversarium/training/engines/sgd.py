"""Minibatch training of any network, including an nn.Module, with seeds as an axis."""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import Generator, Tensor

from adversarium.rng import stream, streams
from adversarium.sockets import AnyAttack, AnyData, AnyLearner
from adversarium.training.engines.full import alike, remembered
from adversarium.training.rules import (
    SGD,
    Adam,
    GradientDescent,
    Rule,
    Tree,
    clipped,
    step_factor,
)
from adversarium.training.setting import AnySetting, side_by_side
from adversarium.training.states import WeightState, perturbed, trainable, trained_outputs


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


def step_size(rule: Rule, t: int) -> float:
    """Return η at step t of the schedule."""
    return rule.eta * step_factor(_stochastic(rule).schedule, t, rule.steps)


def mixed_precision(rule: Rule, device: str) -> AbstractContextManager[object]:
    """Return the context for networks and attacks: mixed precision if the optimiser uses it."""
    name = _stochastic(rule).autocast
    if name is None:
        return nullcontext()
    return torch.autocast(device.split(":")[0], dtype=getattr(torch, name))


def _stochastic(rule: Rule) -> SGD | Adam:
    assert not isinstance(rule.optimiser, GradientDescent)
    return rule.optimiser


@dataclass
class Walk:
    """The state of all settings, the optimiser's memory, and the order of the minibatches."""

    state: WeightState[Any]
    memory: Tree
    order: Order
    augmenting: tuple[Generator, ...] = ()  # one stream per seed


@dataclass(frozen=True)
class Stochastic:
    """Momentum SGD or Adam on attacked minibatches.

    The attack uses the network in evaluation mode (running statistics), the gradient uses it in
    training mode (batch statistics).
    """

    name: str = "sgd"
    version: int = 1
    width: Mapping[str, int] = field(default_factory=lambda: {"cpu": 5, "cuda": 10})
    wide: Mapping[str, int] = field(default_factory=lambda: {"cpu": 10, "cuda": 40})

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, rule: Rule) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        if not isinstance(rule.optimiser, (SGD, Adam)):
            return "sgd runs minibatches; full-batch descent is full's"
        if rule.optimiser.batch > rule.n:
            return f"sgd needs batch <= n, got batch={rule.optimiser.batch} with n={rule.n}"
        return ""

    def shape(self, setting: AnySetting) -> Hashable:
        """Return the properties that settings must share to run together."""
        return alike(setting)

    def init(self, settings: Sequence[AnySetting]) -> Walk:
        """Return the state at t = 0."""
        whole = side_by_side(settings)
        state = WeightState(whole, 0, whole.W0, fresh=True)
        moving, _ = trainable(whole.network, state.W)
        generators = tuple(stream(seed, "order") for seed in whole.seeds)
        order = Order(generators, shuffled(generators, whole.rule.n), 0)
        optimiser = _stochastic(whole.rule)
        augmenting = streams(whole.seeds, "augment") if optimiser.augment is not None else ()
        return Walk(state, optimiser.start(moving), order, augmenting)

    def step(self, walk: Walk) -> Walk:
        """Return the next state."""
        state, setting, t = walk.state, walk.state.setting, walk.state.t
        optimiser = _stochastic(setting.rule)
        indices, order = walk.order.minibatch(optimiser.batch)
        batch = setting.minibatch(indices)
        if optimiser.augment is not None:
            batch = replace(cast(Any, batch), x=optimiser.augment(batch.x, walk.augmenting))
        x_adv, precision = batch.x, mixed_precision(setting.rule, setting.device)
        if setting.attack is not None:
            streams_ = setting.attack_streams
            with precision:
                x_adv = perturbed(setting, state.W, batch, setting.attack, t, streams_)
        moving, still = trainable(setting.network, state.W)

        def objective(W: Tree) -> tuple[Tensor, dict[str, Tensor]]:
            heard: dict[str, Tensor] = {}
            f = trained_outputs(setting.network, still, heard)
            with mixed_precision(setting.rule, setting.device):
                return state.risk_at(f, W, batch.x, x_adv, batch.y).sum(), heard

        gradient, heard = torch.func.grad(objective, has_aux=True)(moving)
        gradient, eta = clipped(gradient, optimiser.clip), step_size(setting.rule, t)
        moved, memory = optimiser.step(moving, gradient, walk.memory, eta, t)
        W = remembered(setting.network, moved, still, heard)
        return Walk(WeightState(setting, t + 1, W, fresh=True), memory, order, walk.augmenting)

    def apart(self, walk: Walk) -> list[WeightState[Any]]:
        """Return one state per setting of the stack."""
        return walk.state.apart()
