"""Minibatch training of any network, an nn.Module among them, with seeds as an axis."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from adversarium.data.batches import gathered
from adversarium.rng import streams
from adversarium.training.rules import SGD, Adam, Rule
from adversarium.training.states import Setting, WeightState, perturbed


def refuses(data: Any, network: Any, attack: Any, rule: Rule) -> str:
    """Why this engine cannot run the four parts, or nothing."""
    if not isinstance(rule.optimiser, (SGD, Adam)):
        return "sgd runs minibatches; full-batch descent is full's"
    if rule.optimiser.batch > rule.n:
        return f"sgd needs batch <= n, got batch={rule.optimiser.batch} with n={rule.n}"
    return ""


def minibatches(setting: Setting) -> Iterator[Tensor]:
    """Indices (replica, batch): each seed walks its own random order, a new one every epoch."""
    batch, n = setting.rule.optimiser.batch, setting.rule.n
    orders = streams(setting.seeds, "order")
    while True:
        epoch = torch.stack([torch.randperm(n, generator=g) for g in orders])
        for start in range(0, n - batch + 1, batch):
            yield epoch[:, start : start + batch].to(setting.device)


def step_size(rule: Rule, t: int) -> float:
    """η at step t: constant, or half a cosine down to 0."""
    if rule.optimiser.schedule == "constant":
        return rule.eta
    return rule.eta * (1 + math.cos(math.pi * t / rule.steps)) / 2


def stochastic_descent(setting: Setting) -> Iterator[WeightState]:
    """Momentum SGD or Adam on attacked minibatches; yields t = 0 … steps."""
    rule, attack = setting.rule, setting.attack
    state = WeightState(setting, 0, setting.W0)
    memory = rule.optimiser.start(state.W)
    chosen = minibatches(setting)
    for t in range(rule.steps):
        yield state
        batch = gathered(setting.train, next(chosen))
        x_adv = batch.x
        if attack is not None:
            x_adv = perturbed(setting, state.W, batch, attack, t, setting.attack_streams)
        objective = lambda W, b=batch, z=x_adv, s=state: s.risk_at(W, b.x, z, b.y).sum()
        gradient = torch.func.grad(objective)(state.W)
        W, memory = rule.optimiser.step(state.W, gradient, memory, step_size(rule, t), t)
        state = WeightState(setting, t + 1, W)
    yield state
