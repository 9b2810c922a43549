"""A picture of a result in one call, for notebooks."""

from collections.abc import Sequence
from typing import Any

from adversarium.report.figures import COLOURS, DASHES, pyplot
from adversarium.sweeps.local import Result


def plot(result: Result, probes: Sequence[str] = (), log_x: bool = False) -> Any:
    """The recorded probes against t, mean and band over seeds; returns a matplotlib figure."""
    plt = pyplot()
    curves = [p for p in result.probes if result.rows.curve(p)[0].size > 1]
    chosen = list(probes) or curves
    picture, axis = plt.subplots(figsize=(6.2, 4))
    for i, probe in enumerate(chosen):
        t, values = result.rows.curve(probe)
        colour = COLOURS[i % len(COLOURS)]
        axis.plot(t, values.mean(0), color=colour, linestyle=DASHES[i % len(DASHES)], label=probe)
        axis.fill_between(t, values.min(0), values.max(0), color=colour, alpha=0.18, linewidth=0)
    if log_x:
        axis.set_xscale("symlog", linthresh=1)
    axis.set_xlabel("t")
    axis.legend(frameon=False, fontsize=8)
    plt.close(picture)
    return picture
