"""The training loop, which calls an engine's `init` and `step`."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from adversarium.sockets import Engine
from adversarium.training.problem import AnyProblem

S = TypeVar("S")


def train(
    engine: Engine[S], problems: Sequence[AnyProblem], state: S | None = None, first: int = 0
) -> Iterator[S]:
    """Yield W⁽⁰⁾, W⁽¹⁾, …, W⁽ˢᵗᵉᵖˢ⁾ of stacked problems of one shape.

    `engine.split` splits a state into one state per problem. If a state after step `first` is
    given, training continues from there.

    >>> from adversarium.data import Clusters
    >>> from adversarium.networks import TwoLayer
    >>> from adversarium.training import ENGINES, Recipe, Problem
    >>> recipe = Recipe(n=5, steps=3, eta=0.1)
    >>> problem = Problem(Clusters(d=3, mu=1.0), TwoLayer(m=4), None, recipe, seeds=(0,))
    >>> states = list(train(ENGINES["full"], [problem]))
    >>> [state.t for state in states], bool(states[-1].risk() < states[0].risk())
    ([0, 1, 2, 3], True)
    """
    state = engine.init(problems) if state is None else state
    yield state
    for _ in range(first, problems[0].recipe.steps):
        state = engine.step(state)
        yield state
