"""Training: one loop over an engine's `init` and `step`, whatever its coordinates."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from adversarium.sockets import Engine
from adversarium.training.setting import AnySetting

S = TypeVar("S")


def train(engine: Engine[S], settings: Sequence[AnySetting]) -> Iterator[S]:
    """W⁽⁰⁾, W⁽¹⁾, …, W⁽ˢᵗᵉᵖˢ⁾ of settings of one shape, side by side; `engine.apart` gives the
    states of each."""
    state = engine.init(settings)
    yield state
    for _ in range(settings[0].rule.steps):
        state = engine.step(state)
        yield state
