"""A state of training: what probes ask. Seeds are its leading axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from adversarium.attacks.balls import norm
from adversarium.data.batches import moved, stack
from adversarium.rng import Streams, stream, streams
from adversarium.training.objectives import LOSSES, log_mean_exponential, loss_map, margin
from adversarium.training.rules import Rule


@runtime_checkable
class State(Protocol):
    """W⁽ᵗ⁾ and what can be asked of it. Every answer has the replica axis first."""

    @property
    def t(self) -> int: ...
    @property
    def W(self) -> Any: ...
    @property
    def train(self) -> Any: ...
    @property
    def full(self) -> "WeightState": ...

    def f(self, x: Tensor) -> Tensor: ...
    def margin(self, batch: Any, attack: Any = None) -> Tensor: ...
    def inner(self, v: Tensor) -> Tensor: ...
    def interval(self, batch: Any, p: float, radius: float) -> tuple[Tensor, Tensor]: ...
    def risk(self) -> Tensor: ...


@dataclass(frozen=True)
class Setting:
    """The four parts of a run with its seeds, data and device: what every state shares."""

    data: Any
    network: Any
    attack: Any
    rule: Rule
    seeds: tuple[int, ...]
    device: str = "cpu"
    dtype: torch.dtype = torch.float64

    @cached_property
    def train(self) -> Any:
        """The training set of every seed."""
        return self.draw(self.data, self.rule.n, "train")

    def draw(self, data: Any, n: int, use: str) -> Any:
        """n points of every seed, from the stream of that use."""
        batches = [data.sample(n, stream(seed, use)) for seed in self.seeds]
        return moved(stack(batches), self.device, self.dtype)

    @cached_property
    def W0(self) -> Any:
        """The initial weights of every seed."""
        init = [
            self.network.init(stream(seed, "init"), self.data.shape, self.data.k)
            for seed in self.seeds
        ]
        return tree_map(lambda *w: torch.stack(w).to(self.device, self.dtype), *init)

    @cached_property
    def attack_streams(self) -> Streams:
        """One stream a seed for the training attack."""
        return streams(self.seeds, "attack")


def perturbed(setting: Setting, W: Any, batch: Any, attack: Any, t: int, rng: Streams) -> Tensor:
    """x' = attack(loss, batch, t, rng), its budget checked."""
    f = lambda x: setting.network.f(W, x)
    wanted = getattr(attack, "loss", "logit_difference")
    loss = loss_map(wanted, f, batch.x, batch.y, setting.rule.risk)
    x = attack(loss, batch, t, rng).detach()
    ball = getattr(attack, "ball", None)
    if ball is not None:
        lead = batch.y.ndim
        size = norm(x - batch.x, ball.p, lead)
        slack = 64 * torch.finfo(x.dtype).eps * (norm(batch.x, ball.p, lead) + ball.radius)
        if not bool((size <= ball.radius + slack).all()):
            raise RuntimeError(
                f"{type(attack).__name__} left its ball: {float(size.max())} > {ball.radius}"
            )
    return x


@dataclass
class WeightState:
    """A state that holds its weights: the plain one, in full space."""

    setting: Setting
    t: int
    W: Any

    @property
    def train(self) -> Any:
        """The training set."""
        return self.setting.train

    @property
    def full(self) -> "WeightState":
        """Itself: it holds its weights."""
        return self

    def f(self, x: Tensor) -> Tensor:
        """The network's output."""
        with torch.no_grad():
            return self.setting.network.f(self.W, x)

    def margin(self, batch: Any, attack: Any = None) -> Tensor:
        """Margins, at x or under an attack (from an evaluation stream of its own)."""
        if attack is None:
            return margin(self.f(batch.x), batch.y)
        if attack is self.setting.attack and batch is self.train:
            return margin(self.f(self.x_adv), batch.y)
        rng = streams(self.setting.seeds, f"evaluation/{self.t}/{attack!r}")
        x = perturbed(self.setting, self.W, batch, attack, self.t, rng)
        return margin(self.f(x), batch.y)

    def replica(self, i: int) -> "WeightState":
        """The state of one seed alone."""
        alone = replace(self.setting, seeds=self.setting.seeds[i : i + 1])
        return WeightState(alone, self.t, tree_map(lambda w: w[i : i + 1], self.W))

    def inner(self, v: Tensor) -> Tensor:
        """⟨w, v⟩ for every filter w."""
        return self.W @ v.to(self.W)

    def interval(self, batch: Any, p: float, radius: float) -> tuple[Tensor, Tensor]:
        """Sound lower and upper bounds of the outputs over B_p(x, radius)."""
        return self.setting.network.interval(self.W, batch.x, p, radius)

    @cached_property
    def x_adv(self) -> Tensor:
        """The training points under the training attack (drawn once a step)."""
        attack, s = self.setting.attack, self.setting
        if attack is None:
            return self.train.x
        return perturbed(s, self.W, self.train, attack, self.t, s.attack_streams)

    def risk_at(self, W: Any, x: Tensor, x_adv: Tensor, y: Tensor) -> Tensor:
        """(1 − λ) mean loss(x) + λ mean loss(x̃), one number a replica."""
        risk, f = self.setting.rule.risk, self.setting.network.f
        if risk.log:
            return log_mean_exponential(f(W, x_adv), y)
        loss = LOSSES[risk.loss]
        adversarial = loss(f(W, x_adv), y).mean(-1)
        if risk.lam == 1 or x_adv is x:
            return adversarial
        return (1 - risk.lam) * loss(f(W, x), y).mean(-1) + risk.lam * adversarial

    def risk(self) -> Tensor:
        """The training objective at W⁽ᵗ⁾."""
        with torch.no_grad():
            return self.risk_at(self.W, self.train.x, self.x_adv, self.train.y)

    @cached_property
    def gradient(self) -> Any:
        """∇_W of the training objective at fixed x̃: never through the attack."""
        x, x_adv, y = self.train.x, self.x_adv, self.train.y
        leaves, shape = tree_flatten(self.W)
        with torch.enable_grad():
            moving = [w.detach().requires_grad_(True) for w in leaves]
            risk = self.risk_at(tree_unflatten(moving, shape), x, x_adv, y).sum()
        return tree_unflatten(torch.autograd.grad(risk, moving), shape)

    @property
    def gradient_norm(self) -> Tensor:
        """‖∇L‖_F, one number a replica."""
        squares = [g.flatten(1).square().sum(-1) for g in tree_leaves(self.gradient)]
        return torch.stack(squares).sum(0).sqrt()


def distance(W: Any, V: Any) -> Tensor:
    """‖W − V‖_F, one number a replica."""
    pairs: Sequence[tuple[Tensor, Tensor]] = list(zip(tree_leaves(W), tree_leaves(V), strict=True))
    return torch.stack([(a - b).flatten(1).square().sum(-1) for a, b in pairs]).sum(0).sqrt()
