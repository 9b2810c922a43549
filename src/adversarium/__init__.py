"""A laboratory for the theory of adversarial training.

`import adversarium as av` gives the packages (av.data, av.networks, av.attacks, av.training,
av.measure, av.plans, …), av.Run, av.Trial, av.run, av.experiment, av.slope and av.plot. Heavy
dependencies are imported only when they are used.
"""

from importlib import import_module
from typing import Any

_ROOMS = (
    "attacks",
    "constructions",
    "data",
    "diagnosis",
    "measure",
    "networks",
    "plans",
    "solvers",
    "training",
)
_NAMES = {
    "Outcome": "adversarium.api",
    "Result": "adversarium.api",
    "Run": "adversarium.plans.run",
    "Trial": "adversarium.plans.run",
    "attack": "adversarium.diagnosis",
    "diagnose": "adversarium.diagnosis",
    "experiment": "adversarium.api",
    "plot": "adversarium.report.plot",
    "run": "adversarium.api",
    "slope": "adversarium.api",
}

__all__ = [*_ROOMS, *_NAMES]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"adversarium.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    if name == "__version__":
        return import_module("importlib.metadata").version("adversarium")
    raise AttributeError(f"adversarium has no {name!r}; it has {', '.join(__all__)}.")
