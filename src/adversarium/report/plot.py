"""Draw a result or a figure of an experiment in one call, for notebooks."""

from collections.abc import Sequence

from adversarium.api import Outcome, Result
from adversarium.plans.evidence import Evidence
from adversarium.plans.figures import Curves, Table
from adversarium.report.figures import drawing


def plot(result: Result | Outcome, probes: str | Sequence[str] = (), log_x: bool = False) -> object:
    """Return a matplotlib figure that a notebook displays; the backend is not changed.

    For a result, the figure shows the named probes (all if none is named) against t, with mean and
    band over seeds. For an experiment, it is the figure of that name (the first if none is named).

    >>> import adversarium as av
    >>> run = av.Run(data=av.data.Clusters(d=9, mu=3.0), network=av.networks.TwoLayer(m=2), n=6,
    ...              steps=9, eta=0.1, probes=[av.measure.risk])
    >>> len(av.plot(av.run(run, seeds=range(2)), "risk").axes)
    1
    """
    if not isinstance(result, (Result, Outcome)):
        raise ValueError(
            f"av.plot needs a result of av.run or av.experiment, got {type(result).__name__}."
        )
    names = (probes,) if isinstance(probes, str) else tuple(probes)
    if isinstance(result, Outcome):
        return _named_figure(result, names[0] if names else result.experiment.figures[0].name)
    curves = [p for p in result.probes if result.t(p).size > 1]
    figure = Curves(name="plot", y=names or tuple(curves), log_x=log_x)
    curve_drawing = drawing(figure, Evidence((result.rows,)))
    if curve_drawing is None or not figure.y:
        asked = ", ".join(names) or "curve"
        raise ValueError(f"the run has no {asked}; it recorded {', '.join(result.probes)}.")
    return curve_drawing.picture


def _named_figure(outcome: Outcome, name: str) -> object:
    known = {f.name: f for f in outcome.experiment.figures}
    named = drawing(known[name], outcome.rows) if name in known else None
    if named is None or named.picture is None:
        pictures = [n for n, f in known.items() if not isinstance(f, Table)]
        listed = ", ".join(pictures) or "none"
        raise ValueError(f"{outcome.experiment.id} has no picture {name!r}; it has {listed}.")
    return named.picture
