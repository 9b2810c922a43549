"""Problems that share their random draws.

Runs that differ in ‖μ‖, the attack or the recipe need the same initial weights and the same noise
for each seed.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar, cast

from torch import Tensor
from torch.utils._pytree import tree_leaves

from adversarium.sockets import AnyData, Centred
from adversarium.training.problem import A, B, D, L, Problem
from adversarium.training.recipe import Tree

T = TypeVar("T")
MOST = {"cpu": 2**28, "cuda": 2**33}  # bytes of draws to keep for the next run

_held: OrderedDict[Hashable, Future[Any]] = OrderedDict()
_asked: set[tuple[int, str]] = set()  # number of points and use of every draw so far
_lock = Lock()


def _bytes(drawn: object) -> int:
    """Return the size of a batch or of weights in bytes."""
    leaves = tree_leaves(drawn if isinstance(drawn, Tensor | dict) else vars(drawn))
    return sum(leaf.nbytes for leaf in leaves if isinstance(leaf, Tensor))


def shared(key: tuple[object, ...], device: str, make: Callable[[], T]) -> T:
    """Return the result of `make`, or that of an earlier call if it is still cached.

    A call that arrives while another one is drawing the same values waits for them.

    >>> import torch
    >>> a = shared(("example",), "cpu", lambda: torch.zeros(3))
    >>> a is shared(("example",), "cpu", lambda: torch.zeros(3))
    True
    """
    whole = (*key, device)
    with _lock:
        known = _held.get(whole)
        if known is None:
            mine: Future[T] = Future()
            _held[whole] = mine
        else:
            _held.move_to_end(whole)
    if known is not None:
        return cast(T, known.result())
    try:
        mine.set_result(make())
    except BaseException as fault:
        with _lock:
            del _held[whole]
        mine.set_exception(fault)
        raise
    _forget(MOST["cuda" if device.startswith("cuda") else "cpu"])
    return mine.result()


def _forget(most: int) -> None:
    """Drop the oldest draws until the rest is small enough; the latest always stays."""
    with _lock:
        sizes = {k: _bytes(drawn.result()) for k, drawn in _held.items() if drawn.done()}
        for key in list(sizes)[:-1]:
            if sum(sizes.values()) > most:
                del _held[key], sizes[key]


@dataclass(frozen=True)
class SharingProblem(Problem[D, L, A, B]):
    """A problem whose points and initial weights are drawn once for all runs that need them.

    >>> from adversarium.data import Clusters
    >>> from adversarium.networks import TwoLayer
    >>> from adversarium.training import Recipe
    >>> given = TwoLayer(m=4), None, Recipe(n=5, steps=1, eta=0.1), (0, 1)
    >>> near, far = (SharingProblem(Clusters(d=3, mu=mu), *given) for mu in (1.0, 9.0))
    >>> near.W0 is far.W0, near.train.x.equal(far.train.x)
    (True, False)
    """

    def draw(self, data: AnyData, n: int, use: str) -> B:
        """Draw n points for every seed, from the stream of the given use."""
        if not isinstance(data, Centred):  # other data have no known shared noise
            return super().draw(data, n, use)
        _asked.add((n, use))
        noise = shared(
            (data.centred, n, use, self.seeds, self.dtype), self.device,
            lambda: super(SharingProblem, self).draw(data.centred, n, use),
        )  # fmt: skip
        return cast(B, data.about(noise))

    @cached_property
    def W0(self) -> Tree:
        """The initial weights of every seed."""
        return shared(
            (self.network, self.data.shape, self.data.k, self.seeds, self.dtype), self.device,
            self.first_weights,
        )  # fmt: skip

    def ahead(self) -> None:
        """Draw in advance the points that earlier problems needed."""
        _ = self.W0, self.train
        for n, use in [asked for asked in _asked if asked[1] != "train"]:
            self.draw(self.data, n, use)
