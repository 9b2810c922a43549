"""Minibatch training of any network, an nn.Module among them, with seeds as an axis."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from adversarium.data.batches import gathered
from adversarium.rng import streams
from adversarium.sockets import AnyAttack, AnyData, AnyLearner
from adversarium.training.engines.full import alike, remembered
from adversarium.training.rules import SGD, Adam, GradientDescent, Rule, Tree
from adversarium.training.setting import AnySetting, side_by_side
from adversarium.training.states import WeightState, perturbed, trainable, trained_outputs


def minibatches(setting: AnySetting) -> Iterator[Tensor]:
    """Indices (replica, batch): each seed walks its own random order, a new one every epoch."""
    batch, n = _stochastic(setting.rule).batch, setting.rule.n
    orders = streams(setting.seeds, "order")
    while True:
        epoch = torch.stack([torch.randperm(n, generator=g) for g in orders])
        for start in range(0, n - batch + 1, batch):
            yield epoch[:, start : start + batch].to(setting.device)


def step_size(rule: Rule, t: int) -> float:
    """η at step t: constant, or half a cosine down to 0."""
    if _stochastic(rule).schedule == "constant":
        return rule.eta
    return rule.eta * (1 + math.cos(math.pi * t / rule.steps)) / 2


def _stochastic(rule: Rule) -> SGD | Adam:
    assert not isinstance(rule.optimiser, GradientDescent)
    return rule.optimiser


@dataclass
class Walk:
    """The state of all settings, the optimiser's memory, and the order of the minibatches."""

    state: WeightState[Any]
    memory: Tree
    order: Iterator[Tensor]


@dataclass(frozen=True)
class Stochastic:
    """Momentum SGD or Adam on attacked minibatches. The attack climbs the network as it would be
    used (running statistics), the gradient is that of training (batch statistics)."""

    name: str = "sgd"
    version: int = 1
    width: Mapping[str, int] = field(default_factory=lambda: {"cpu": 5, "cuda": 10})
    wide: Mapping[str, int] = field(default_factory=lambda: {"cpu": 10, "cuda": 40})

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, rule: Rule) -> str:
        """Why this engine cannot run the four parts, or nothing."""
        if not isinstance(rule.optimiser, (SGD, Adam)):
            return "sgd runs minibatches; full-batch descent is full's"
        if rule.optimiser.batch > rule.n:
            return f"sgd needs batch <= n, got batch={rule.optimiser.batch} with n={rule.n}"
        return ""

    def shape(self, setting: AnySetting) -> Hashable:
        """What must agree for settings to run side by side."""
        return alike(setting)

    def init(self, settings: Sequence[AnySetting]) -> Walk:
        """The state at t = 0."""
        whole = side_by_side(settings)
        state = WeightState(whole, 0, whole.W0, fresh=True)
        moving, _ = trainable(whole.network, state.W)
        return Walk(state, _stochastic(whole.rule).start(moving), minibatches(whole))

    def step(self, walk: Walk) -> Walk:
        """The next state."""
        state, setting, t = walk.state, walk.state.setting, walk.state.t
        batch = gathered(setting.train, next(walk.order))
        x_adv = batch.x
        if setting.attack is not None:
            streams_ = setting.attack_streams
            x_adv = perturbed(setting, state.W, batch, setting.attack, t, streams_)
        moving, still = trainable(setting.network, state.W)

        def objective(W: Tree) -> tuple[Tensor, dict[str, Tensor]]:
            heard: dict[str, Tensor] = {}
            f = trained_outputs(setting.network, still, heard)
            return state.risk_at(f, W, batch.x, x_adv, batch.y).sum(), heard

        gradient, heard = torch.func.grad(objective, has_aux=True)(moving)
        eta = step_size(setting.rule, t)
        moved, memory = _stochastic(setting.rule).step(moving, gradient, walk.memory, eta, t)
        W = remembered(setting.network, moved, still, heard)
        return Walk(WeightState(setting, t + 1, W, fresh=True), memory, walk.order)

    def apart(self, walk: Walk) -> list[WeightState[Any]]:
        """The states of the settings that run side by side."""
        return walk.state.apart()
