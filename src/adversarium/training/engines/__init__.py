"""The engines, in order of preference: the first engine that accepts a run executes it.

All engines compute the same dynamics; they differ in coordinates, hence in speed. The last two run
only if you request them by name: `law` draws other points of the same distribution, and `captured`
draws its noise on the GPU. Stored results are identified by their engine's version, which increases
when results change.
"""

from typing import Any

from adversarium.sockets import AnyAttack, AnyData, AnyLearner, Engine
from adversarium.training.engines.captured import Captured
from adversarium.training.engines.full import Full
from adversarium.training.engines.gram import Gram
from adversarium.training.engines.law import Law
from adversarium.training.engines.linear import Linear, linear_step
from adversarium.training.engines.sgd import Stochastic
from adversarium.training.engines.signal_noise import SignalNoise
from adversarium.training.recipe import Recipe

AnyEngine = Engine[Any]

ENGINES: dict[str, AnyEngine] = {
    engine.name: engine
    for engine in (Gram(), SignalNoise(), Linear(), Full(), Stochastic(), Captured(), Law())
}
BY_NAME = (Captured, Law)  # engines that run only on request

__all__ = ["ENGINES", "AnyEngine", "choose", "linear_step"]


def choose(
    data: AnyData,
    network: AnyLearner,
    attack: AnyAttack,
    recipe: Recipe,
    name: str | None = None,
) -> tuple[AnyEngine, dict[str, str]]:
    """Return the engine for these objects, and the reasons why the engines before it cannot run.

    A name requests one engine; if that engine cannot run, an error is raised.

    >>> from adversarium.data import PatchData
    >>> from adversarium.networks import CubicCNN
    >>> data, recipe = PatchData(d=9, P=2, alpha=1.0, sigma=0.1), Recipe(n=3, steps=1, eta=0.1)
    >>> engine, refused = choose(data, CubicCNN(m=2, sigma0=0.1), None, recipe)
    >>> engine.name, list(refused)
    ('signal_noise', ['gram'])
    """
    if name is not None and name not in ENGINES:
        raise ValueError(f"no engine is named {name!r}; choose from {', '.join(ENGINES)}.")
    refused: dict[str, str] = {}
    asked = [ENGINES[name]] if name else [e for e in ENGINES.values() if type(e) not in BY_NAME]
    for engine in asked:
        reason = engine.refuses(data, network, attack, recipe)
        if not reason:
            return engine, refused
        refused[engine.name] = reason
    raise ValueError(
        "no engine can run these parts together: "
        + "; ".join(f"{n}: {why}" for n, why in refused.items())
    )
