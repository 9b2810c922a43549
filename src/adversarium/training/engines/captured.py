"""Minibatch SGD on images whose whole step, from the choice of the minibatch to the update, is one
CUDA graph: nothing is launched from Python while it runs."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import torch
from torch import Generator, Tensor
from torch.utils._pytree import tree_leaves, tree_map

from adversarium.attacks import PGD, NoisyFGSM
from adversarium.networks.modules import filters_last
from adversarium.rng import device_streams, streams
from adversarium.sockets import AnyAttack, AnyData, AnyLearner, Batched, Batching
from adversarium.training.engines.full import alike
from adversarium.training.engines.sgd import Order, mixed_precision, shuffled
from adversarium.training.objectives import LOSSES
from adversarium.training.problem import AnyProblem, side_by_side
from adversarium.training.recipe import SGD, CropFlip, Recipe, Tree, step_factor
from adversarium.training.states import AnyWeightState, WeightState, trainable

Gradient = Callable[[Tensor], Tensor]  # of the attacked loss in x


@dataclass
class TimedState(WeightState[Tree]):
    """Weights with the seconds that training took so far, and the seconds before its first step."""

    seconds: float = 0.0
    preparation: float = 0.0


@dataclass
class Lap:
    """The state between two steps. `tensors` are changed in place by every step."""

    problem: AnyProblem
    t: int
    tensors: dict[str, Tree]  # W, velocity, average (if any), and the numbers t and place
    order: Order  # of the minibatches; its epoch is also on the device, in `tensors`
    noise: tuple[Generator, ...]  # one per seed, on the device
    seconds: float = 0.0
    clock: "Clock" = field(default_factory=lambda: Clock())


class Clock:
    """The replay of a step, and when training was last resumed. Not part of a checkpoint."""

    def __init__(self) -> None:
        self.replay: Callable[[], None] | None = None
        self.began: float | None = None
        self.preparation = 0.0


_BATCHING = Batching(alike, {"cpu": 1, "cuda": 1}, {"cpu": 1, "cuda": 1})


@dataclass(frozen=True)
class Captured:
    """Momentum SGD on attacked minibatches, for speed on one GPU.

    The minibatches are those of the engine `sgd`. Crops, reflections and the noise of the attack
    are drawn on the device, so they differ from those of `sgd`, with the same distribution. On a
    CPU the same steps run without a graph.
    """

    name: str = "captured"
    version: int = 1
    batching: Batching = _BATCHING

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Recipe) -> str:
        """Return why the engine cannot run these objects, or an empty string."""
        optimiser = recipe.optimiser
        if not isinstance(optimiser, SGD) or optimiser.clip is not None:
            return "captured needs the optimiser SGD without clip"
        if optimiser.batch > recipe.n:
            return f"captured needs batch <= n, got batch={optimiser.batch} with n={recipe.n}"
        if not isinstance(network, Batched):
            return "captured needs a Module"
        if optimiser.augment is not None and not isinstance(optimiser.augment, CropFlip):
            return "captured needs augment=CropFlip(…) or None"
        if recipe.risk.lam != 1 or recipe.risk.log:
            return "captured needs a risk with lam=1"
        return _refused_attack(attack)

    def init(self, problems: Sequence[AnyProblem]) -> Lap:
        """Return the state at t = 0."""
        problem = side_by_side(problems)
        recipe, device = problem.recipe, problem.device
        optimiser = cast(SGD, recipe.optimiser)
        W = tree_map(lambda w: filters_last(w.clone()), problem.W0)
        moving, _ = trainable(problem.network, W)
        generators = streams(problem.seeds, "order")
        order = Order(generators, shuffled(generators, recipe.n), 0)
        factors = [step_factor(optimiser.schedule, t, recipe.steps) for t in range(recipe.steps)]
        tensors: dict[str, Tree] = {
            "W": W,
            "velocity": tree_map(torch.zeros_like, moving),
            "epoch": order.epoch.to(device),
            "place": torch.zeros((), dtype=torch.long, device=device),
            "t": torch.zeros((), dtype=torch.long, device=device),
            "eta": torch.tensor([recipe.eta * f for f in factors] or [0.0], dtype=torch.float64).to(
                device
            ),
        }
        if optimiser.average is not None:
            tensors["average"] = tree_map(torch.clone, W)
        return Lap(problem, 0, tensors, order, device_streams(problem.seeds, "noise", device))

    def step(self, lap: Lap) -> Lap:
        """Return the next state; the tensors are those of the given one, changed."""
        clock, batch = lap.clock, cast(SGD, lap.problem.recipe.optimiser).batch
        if clock.replay is None:
            before = time.perf_counter()
            clock.replay = _prepared(lap)
            clock.preparation += time.perf_counter() - before
        if clock.began is None:
            _wait(lap.problem.device)
            clock.began = time.perf_counter()
        last = lap.order
        _, order = last.minibatch(batch)
        if order.epoch is not last.epoch:
            lap.tensors["epoch"].copy_(order.epoch)
            lap.tensors["place"].zero_()
        clock.replay()
        return replace(lap, t=lap.t + 1, order=order)

    def split(self, lap: Lap) -> list[AnyWeightState]:
        """Return one state per problem, with copies of the (averaged) weights. Time that passes
        until the next step does not count as training."""
        _wait(lap.problem.device)
        clock = lap.clock
        if clock.began is not None:
            lap.seconds += time.perf_counter() - clock.began
            clock.began = None
        W = tree_map(torch.clone, lap.tensors.get("average", lap.tensors["W"]))
        state = TimedState(
            lap.problem, lap.t, W, fresh=True, seconds=lap.seconds, preparation=clock.preparation
        )
        if not lap.problem.beside:
            return [state]
        return [
            replace(state, problem=part, W=tree_map(lambda w, at=at: w[at], W))
            for part, at in zip(lap.problem.beside, lap.problem.slices(), strict=True)
        ]


def _refused_attack(attack: AnyAttack) -> str:
    """Return why a training attack cannot be part of the graph, or an empty string."""
    if attack is None or isinstance(attack, NoisyFGSM):
        return ""
    if not isinstance(attack, PGD):
        return "captured needs attack=None, NoisyFGSM or PGD"
    plain = attack.p == math.inf and attack.start == "uniform" and attack.restarts == 1
    if not plain or attack.best or not attack.normalised or attack.after:
        return (
            "captured needs PGD with p=inf, start='uniform', one start, best=False, "
            "normalised=True and after=0"
        )
    return ""


def _wait(device: str) -> None:
    """Wait until the device has finished its work."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _prepared(lap: Lap) -> Callable[[], None]:
    """Return a function that makes one step: on a GPU the replay of its graph, which is captured
    after a few steps whose effect is undone."""
    device = lap.problem.device

    def step() -> None:
        _advance(lap.problem, lap.tensors, lap.noise)

    if not device.startswith("cuda"):
        return step
    kept = tree_map(torch.clone, lap.tensors)
    states = [g.get_state() for g in lap.noise]
    side = cast(Any, torch.cuda.Stream)(device)
    side.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream(device).wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    for generator in lap.noise:
        graph.register_generator_state(generator)
    with torch.cuda.graph(graph):
        step()
    for now, then in zip(tree_leaves(lap.tensors), tree_leaves(kept), strict=True):
        now.copy_(then)
    for generator, state in zip(lap.noise, states, strict=True):
        generator.set_state(state)
    torch.cuda.synchronize(device)
    return graph.replay


def _advance(problem: AnyProblem, tensors: dict[str, Tree], noise: tuple[Generator, ...]) -> None:
    """Make one step of training, in place, without reading a number from the device."""
    recipe = problem.recipe
    optimiser, network = cast(SGD, recipe.optimiser), cast(Any, problem.network)
    t, place, W = tensors["t"], tensors["place"], tensors["W"]
    chosen = torch.arange(optimiser.batch, device=place.device) + place
    batch = problem.minibatch(tensors["epoch"].index_select(1, chosen))
    x, y = batch.x, batch.y

    def drawn(shape: Sequence[int]) -> Tensor:
        one = [torch.rand(tuple(shape), generator=g, device=x.device, dtype=x.dtype) for g in noise]
        return torch.stack(one)

    if isinstance(optimiser.augment, CropFlip):
        x = _augmented(optimiser.augment, x, drawn)

    def outputs(z: Tensor) -> Tensor:
        if optimiser.attack_mode == "training":
            return cast(Tensor, network.trained_f(W, z)[0])
        return cast(Tensor, network.f(W, z))

    def gradient(z: Tensor) -> Tensor:
        z = z.detach().requires_grad_(True)
        with mixed_precision(recipe, problem.device):
            loss = _loss(problem, problem.attack)(outputs(z), y).sum()
        return torch.autograd.grad(loss, z)[0]

    x_adv = x if problem.attack is None else _attacked(problem.attack, x, gradient, drawn)
    moving, still = trainable(network, W)
    free = {name: w.detach().requires_grad_(True) for name, w in moving.items()}
    with mixed_precision(recipe, problem.device):
        F, after = network.trained_f({**still, **free}, x_adv)
        risk = recipe.risk.function(F, y).mean(-1).sum()
    gradients = torch.autograd.grad(risk, list(free.values()))
    with torch.no_grad():
        _update(tensors, list(moving.values()), gradients, optimiser)
        for name, value in after.items():
            W[name].copy_(value)
        if optimiser.average is not None:
            share = ((1 + t).double() / (10 + t)).clamp(
                max=optimiser.average
            )  # forget the first weights
            for a, w in zip(tree_leaves(tensors["average"]), tree_leaves(W), strict=True):
                part = share.to(w)
                a.copy_(part * a + (1 - part) * w if w.is_floating_point() else w)
        t.add_(1)
        place.add_(optimiser.batch)


def _loss(problem: AnyProblem, attack: AnyAttack) -> Callable[[Tensor, Tensor], Tensor]:
    """Return the loss that the training attack increases."""
    name = cast(Any, attack).loss
    return problem.recipe.risk.function if name == "risk" else LOSSES[name]


def _update(
    tensors: dict[str, Tree], moving: list[Tensor], gradients: Sequence[Tensor], optimiser: SGD
) -> None:
    """v ← momentum·v + g + decay·w, w ← w − η v, for all weights together."""
    velocity, eta = (
        list(tensors["velocity"].values()),
        tensors["eta"].index_select(0, tensors["t"].view(1)),
    )
    torch._foreach_mul_(velocity, optimiser.momentum)
    torch._foreach_add_(velocity, list(gradients))
    if optimiser.weight_decay:
        torch._foreach_add_(velocity, moving, alpha=optimiser.weight_decay)
    for w, v in zip(moving, velocity, strict=True):
        w.sub_(eta.to(w) * v)


def _augmented(augment: CropFlip, x: Tensor, drawn: Callable[[Sequence[int]], Tensor]) -> Tensor:
    """Return the images cropped and reflected at random."""
    count, places = (x.shape[1],), 2 * augment.pad + 1
    down, right = (drawn(count).mul(places).long() for _ in range(2))
    return augment.moved(x, down, right, drawn(count) < 0.5 if augment.flip else None)


def _attacked(
    attack: NoisyFGSM | PGD,
    x: Tensor,
    gradient: Gradient,
    drawn: Callable[[Sequence[int]], Tensor],
) -> Tensor:
    """Return x' as the attack itself does, with noise that is drawn on the device."""
    ball = attack.ball
    if isinstance(attack, NoisyFGSM):
        wide = attack.noise * attack.radius
        z = _boxed(x + wide * (2 * drawn(x.shape[1:]) - 1), attack.box)
        return _boxed(z + attack.radius * gradient(z).sign(), attack.box)
    z = ball.project(x, x + attack.radius * (2 * drawn(x.shape[1:]) - 1), 2)
    for _ in range(attack.steps):
        z = ball.project(x, z + attack.step_size * gradient(z).sign(), 2)
    return z


def _boxed(z: Tensor, box: tuple[float, float] | None) -> Tensor:
    return z if box is None else z.clamp(*box)
