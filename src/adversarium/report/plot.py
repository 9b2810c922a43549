"""A picture of a result or of an experiment in one call, for notebooks."""

from collections.abc import Sequence
from typing import Any

from adversarium.experiments.spec import Curves, Table
from adversarium.report.figures import drawing
from adversarium.sweeps.local import Outcome, Result


def plot(result: Result | Outcome, probes: str | Sequence[str] = (), log_x: bool = False) -> Any:
    """A matplotlib figure. Of a result: the named probes (all, when none is named) against t,
    mean and band over seeds. Of an experiment: its figure of that name (the first, when none is
    named)."""
    names = (probes,) if isinstance(probes, str) else tuple(probes)
    if isinstance(result, Outcome):
        return _named(result, names[0] if names else result.experiment.figures[0].name)
    curves = [p for p in result.probes if result.rows.curve(p)[0].size > 1]
    named = [p for n in names for p in result.probes if p == n or p.startswith(f"{n}[")]
    figure = Curves(name="plot", y=tuple(named if names else curves), of=("",), log_x=log_x)
    made = drawing(figure, {"": result.rows})
    if made is None or not figure.y:
        raise ValueError(f"no rows of {', '.join(names)}; there are {', '.join(result.probes)}.")
    return made.picture


def _named(outcome: Outcome, name: str) -> Any:
    known = {f.name: f for f in outcome.experiment.figures}
    made = drawing(known[name], outcome.rows) if name in known else None
    if made is None or made.picture is None:
        drawn = [n for n, f in known.items() if not isinstance(f, Table)]
        raise ValueError(f"no picture {name!r} of {outcome.experiment.id}; it has {drawn}.")
    return made.picture
