"""A training problem: data, network, attack and recipe with seeds, initial weights and device."""

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from adversarium.data.batches import gathered, moved, stack, taken
from adversarium.rng import Streams, stream, streams
from adversarium.sockets import (
    AnyData,
    AnyLearner,
    Attack,
    Batch,
    Distribution,
    Pooled,
    RealLabelled,
    Silent,
    Waiting,
)
from adversarium.training.objectives import REGRESSION
from adversarium.training.recipe import Recipe, Tree

D = TypeVar("D", bound=Distribution[Any])
L = TypeVar("L")
A = TypeVar("A", bound=Attack | None)
B = TypeVar("B", bound=Batch)
T = TypeVar("T")


@dataclass(frozen=True)
class Problem(Generic[D, L, A, B]):
    """Data, network, attack and recipe with the seeds, the device and the precision.

    All states of one training run share its problem. The four type parameters are the types of the
    data, the network, the attack and the batch.

    >>> from adversarium.data import Clusters
    >>> from adversarium.networks import TwoLayer
    >>> recipe = Recipe(n=5, steps=1, eta=0.1)
    >>> problem = Problem(Clusters(d=3, mu=1.0), TwoLayer(m=4), None, recipe, seeds=(0, 1))
    >>> tuple(problem.train.x.shape), tuple(problem.W0.shape)
    ((2, 5, 3), (2, 4, 3))
    """

    data: D
    network: L
    attack: A
    recipe: Recipe
    seeds: tuple[int, ...]
    device: str = "cpu"
    dtype: torch.dtype = torch.float64
    beside: tuple["Problem[D, L, A, B]", ...] = ()  # the problems that this one combines

    def __post_init__(self) -> None:
        if isinstance(self.data, RealLabelled) and not self.recipe.risk.takes_real_labels:
            raise ValueError(
                f"{type(self.data).__name__} has real labels, which need a regression loss "
                f"({', '.join(REGRESSION)}, or a function), got {self.recipe.risk.loss}."
            )
        silent = isinstance(self.network, Silent) and self.network.silent
        attack: Any = self.attack
        if silent and isinstance(attack, Waiting) and attack.after < 1 and is_dataclass(attack):
            object.__setattr__(self, "attack", replace(cast(Any, attack), after=1))

    @cached_property
    def train(self) -> B:
        """The training set of every seed."""
        if self.beside:
            return _side_by_side([part.train for part in self.beside])
        if isinstance(self.data, Pooled):
            return self.converted(self.train_indices)
        return self.draw(self.data, self.recipe.n, "train")

    def prepare(self) -> None:
        """Draw the training set; for pooled data, draw the indices of its points."""
        pooled = isinstance(self.data, Pooled) and not self.beside
        _ = self.train_indices if pooled else self.train

    @cached_property
    def train_indices(self) -> Tensor:
        """For pooled data, the indices of the pool points that every seed trains on, (seed, n)."""
        pooled = cast(Pooled[Any], self.data)
        drawn = [pooled.indices(self.recipe.n, stream(seed, "train")) for seed in self.seeds]
        return torch.stack(drawn).to(self.device)

    @cached_property
    def pool(self) -> B:
        """All points of pooled data in their stored form, once for all seeds."""
        pooled = cast(Pooled[Any], self.data)
        return cast(B, moved(pooled.pool, self.device, None))

    def minibatch(self, indices: Tensor) -> B:
        """Return points of the training set, chosen per seed; `indices` is (seed, n)."""
        place = indices.to(self.device)
        if not isinstance(self.data, Pooled) or self.beside:
            return gathered(self.train, place)
        return self.converted(self.train_indices.gather(1, place))

    def converted(self, places: Tensor) -> B:
        """Return points of the pool in the problem's precision; bytes become numbers in [0, 1]."""
        return cast(B, taken(cast(Any, self.pool), places, self.dtype))

    def draw(self, data: AnyData, n: int, use: str) -> B:
        """Draw n points for every seed, from the stream of the given use."""

        def one(seed: int) -> Any:
            batch = _require_batch(data.sample(n, stream(seed, use)), data, n)
            return moved(batch, self.device, self.dtype)

        batch = stack(_of_every(one, self.seeds, n * math.prod(data.shape)))
        require_labels(batch.y, data)
        return cast(B, batch)

    @cached_property
    def W0(self) -> Tree:
        """The initial weights of every seed."""
        if self.beside:
            return tree_map(lambda *w: torch.cat(w), *(part.W0 for part in self.beside))
        return self.first_weights()

    def first_weights(self) -> Tree:
        """Draw the initial weights of every seed."""
        network = cast(Any, self.network)

        def one(seed: int) -> Tree:
            init = network.init(stream(seed, "init"), self.data.shape, self.data.k)
            return tree_map(self._placed, init)

        width = getattr(network, "m", 1)
        init = _of_every(one, self.seeds, width * math.prod(self.data.shape))
        return tree_map(lambda *w: torch.stack(w), *init)

    def _placed(self, w: Tensor) -> Tensor:
        """Move to the device; only floating-point weights change to the problem's precision."""
        return w.to(self.device, self.dtype if w.is_floating_point() else None)

    @cached_property
    def attack_streams(self) -> Streams:
        """One stream per seed for the training attack."""
        if self.beside:
            return tuple(g for part in self.beside for g in cast(Any, part.attack_streams))
        return streams(self.seeds, "attack")

    def slices(self) -> list[slice]:
        """Return the slice of the replica axis that each combined problem occupies."""
        ends = [0]
        for part in self.beside:
            ends.append(ends[-1] + len(part.seeds))
        return [slice(a, b) for a, b in itertools.pairwise(ends)]


MANY = 2**20  # from this number of values per seed, several threads draw in parallel


def _of_every(one: Callable[[int], T], seeds: Sequence[int], numbers: int) -> list[T]:
    """Return the draws of all seeds, each from its own stream; large draws run in parallel."""
    if numbers < MANY or len(seeds) < 2:
        return [one(seed) for seed in seeds]
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        return list(pool.map(one, seeds))


def _require_batch(drawn: object, data: AnyData, n: int) -> Any:
    """Return the batch; raise unless it has n points of the data's shape."""
    name = type(data).__name__
    if not (isinstance(drawn, Batch) and is_dataclass(drawn)):
        raise ValueError(
            f"{name}.sample must return a frozen dataclass with tensors x and y, got "
            f"{type(drawn).__name__}."
        )
    wanted = (n, *data.shape)
    if tuple(drawn.x.shape) != wanted or tuple(drawn.y.shape) != (n,):
        raise ValueError(
            f"{name}.sample must return x of shape {wanted} and y of shape {(n,)}, got "
            f"{tuple(drawn.x.shape)} and {tuple(drawn.y.shape)}."
        )
    if not drawn.x.is_floating_point():
        raise ValueError(f"{name}.sample must return floating-point x, got {drawn.x.dtype}.")
    if not bool(torch.isfinite(drawn.x).all()):
        raise ValueError(f"{name}.sample must return finite x, got infinite or NaN values.")
    return drawn


def require_labels(y: Tensor, data: AnyData) -> None:
    """Raise unless labels are ±1 for one output, 0 … k − 1 for k, or finite for regression."""
    if isinstance(data, RealLabelled):
        if not (y.is_floating_point() and bool(y.isfinite().all())):
            raise ValueError("regression needs finite floating-point labels.")
        return
    k = data.k
    if k > 1 and (y.is_floating_point() or y.dtype == torch.bool):
        raise ValueError(f"labels of {k} classes must be integers (y.long()), got {y.dtype}.")
    known = [-1, 1] if k == 1 else range(k)
    if not bool(torch.isin(y, torch.tensor(list(known), dtype=y.dtype, device=y.device)).all()):
        needed = "±1 (k = 1)" if k == 1 else f"integers 0 … {k - 1} (k = {k})"
        found = ", ".join(f"{v:g}" for v in sorted(set(y.flatten().tolist()))[:5])
        raise ValueError(
            f"labels must be {needed}, got {found}; for real labels, give the data a method "
            "best(x) that returns the best prediction."
        )


AnyProblem = Problem[Any, Any, Any, Any]


def fitting(problem: AnyProblem) -> AnyProblem:
    """Return the problem; raise if the network does not have k outputs on a point of the data."""
    if message := misfit(problem.network, problem.data, problem.W0, problem.train.x[:, :1]):
        raise ValueError(message)
    return problem


def misfit(network: AnyLearner, data: AnyData, W: Tree, x: Tensor) -> str:
    """Return why the network does not fit the data, tested on one point per seed, or ""."""
    k, replicas, name, source = data.k, len(x), type(network).__name__, type(data).__name__
    wanted = (replicas, 1) if k == 1 else (replicas, 1, k)
    message = f"{name} must return {k} output(s) for a point of {source} of shape {data.shape}"
    try:
        with torch.no_grad():
            came = tuple(network.f(W, x).shape)
    except (RuntimeError, IndexError) as fault:
        axes = "W and x have a leading axis of seeds (x @ W.mT, never W.T)"
        return f"{message}, but it fails ({fault}); {axes}."
    if came != wanted:
        return f"{message}: with axes for seeds and points, shape {wanted}, got {came}."
    return ""


def side_by_side(problems: Sequence[AnyProblem]) -> AnyProblem:
    """Combine several problems with the same network, attack, recipe and shape of data.

    >>> from adversarium.data import Clusters
    >>> from adversarium.networks import TwoLayer
    >>> net, recipe = TwoLayer(m=4), Recipe(n=5, steps=1, eta=0.1)
    >>> pair = [Problem(Clusters(d=3, mu=mu), net, None, recipe, seeds=(0, 1)) for mu in (1.0, 9.0)]
    >>> side_by_side(pair).slices()
    [slice(0, 2, None), slice(2, 4, None)]
    """
    if len(problems) == 1:
        return problems[0]
    seeds = tuple(seed for problem in problems for seed in problem.seeds)
    return replace(problems[0], seeds=seeds, beside=tuple(problems))


def _side_by_side(batches: Sequence[B]) -> B:
    """Concatenate several batches on the replica axis."""
    first = cast(Any, batches[0])
    names = [f.name for f in fields(first) if isinstance(getattr(first, f.name), Tensor)]
    others = [f.name for f in fields(first) if f.name not in names]
    if any(getattr(b, name) != getattr(first, name) for b in batches for name in others):
        raise ValueError("batches that run side by side may differ only in their tensors.")
    joined = {name: torch.cat([getattr(batch, name) for batch in batches]) for name in names}
    return cast(B, replace(first, **joined))
