"""The scene of a measurement: the data, network and attack of the run, and fresh points."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from adversarium.sockets import DataSet
from adversarium.training.problem import A, B, D, L, Problem

T = TypeVar("T")


@dataclass(frozen=True)
class Scene(Generic[D, L, A, B]):
    """The information that a probe receives in addition to the state.

    The type parameters are the types of the data, the network, the attack and the batches that the
    probe can read.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem
    >>> data, recipe = av.data.Clusters(d=3, mu=1.0), Recipe(n=5, steps=1, eta=0.1)
    >>> scene = Scene(Problem(data, av.networks.TwoLayer(m=4), None, recipe, seeds=(0, 1)))
    >>> tuple(scene.train.x.shape), tuple(scene.test(7).x.shape)
    ((2, 5, 3), (2, 7, 3))
    >>> scene.test(7) is scene.test(7)  # drawn once
    True
    """

    problem: Problem[D, L, A, B]

    @property
    def data(self) -> D:
        """The distribution."""
        return self.problem.data

    @property
    def network(self) -> L:
        """The network."""
        return self.problem.network

    @property
    def attack(self) -> A:
        """The training attack."""
        return self.problem.attack

    @property
    def train(self) -> B:
        """The training set."""
        return self.problem.train

    @cached_property
    def _made(self) -> dict[str, object]:
        return {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called at the first request of this name."""
        if name not in self._made:
            self._made[name] = make()
        return cast(T, self._made[name])

    def test(self, n: int) -> B:
        """Return n fresh points per seed, from the distribution or from a separate test set."""
        data = self.data.held_out if isinstance(self.data, DataSet) else self.data
        return self.once(f"test/{n}", lambda: self.problem.draw(data, n, "test"))


AnyScene = Scene[Any, Any, Any, Any]
