"""The engines, in order of preference: the first that does not refuse runs.

All compute the same dynamics; they differ in coordinates, hence in speed. A version is raised
when an engine's numbers change: it is part of every run's key.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from adversarium.training import dynamics, gram, linear, sgd, signal_noise
from adversarium.training.rules import Rule
from adversarium.training.states import Setting


@dataclass(frozen=True)
class Engine:
    """A way to run the dynamics; `refuses` gives a reason or nothing."""

    name: str
    version: int
    refuses: Callable[[Any, Any, Any, Rule], str]
    states: Callable[[Setting], Iterator[Any]]
    width: dict[str, int]  # replicas in a block, by kind of device


ENGINES = (
    Engine("gram", 1, gram.refuses, gram.gram_descent, {"cpu": 5, "cuda": 20}),
    Engine(
        "signal_noise",
        1,
        signal_noise.refuses,
        signal_noise.signal_noise_descent,
        {"cpu": 10, "cuda": 40},
    ),
    Engine("linear", 1, linear.refuses, linear.linear_descent, {"cpu": 5, "cuda": 20}),
    Engine("full", 1, dynamics.refuses, dynamics.gradient_descent, {"cpu": 5, "cuda": 10}),
    Engine("sgd", 1, sgd.refuses, sgd.stochastic_descent, {"cpu": 5, "cuda": 10}),
)


def choose(
    data: Any, network: Any, attack: Any, rule: Rule, name: str | None = None
) -> tuple[Engine, dict[str, str]]:
    """The engine that runs these parts, and why those before it do not.

    A name asks for one engine; its refusal is then an error.
    """
    refused: dict[str, str] = {}
    for engine in ENGINES:
        if name is not None and engine.name != name:
            continue
        reason = engine.refuses(data, network, attack, rule)
        if not reason:
            return engine, refused
        refused[engine.name] = reason
    if name is not None and not refused:
        raise ValueError(f"no engine {name!r}; there are {', '.join(e.name for e in ENGINES)}.")
    raise ValueError(
        "no engine runs these parts: " + "; ".join(f"{n}: {why}" for n, why in refused.items())
    )
