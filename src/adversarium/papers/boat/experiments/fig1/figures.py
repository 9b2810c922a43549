"""Draw the maps of Figure 1 of BOAT."""

import math

from adversarium.plans import Contours, where

from ...theory.figure_runs import FINE, LEVELS, MAP, accuracy, clean_ceiling, robust_ceiling
from .checks import is_predicted, predicted
from .plan import CLAIMED


def _predicted(i: int):
    """Return the clean (0) or robust (1) accuracy of the linearised network, or NaN if this
    prediction does not apply to the run."""
    return lambda run: predicted(run)[i] if is_predicted(run) else math.nan


_TITLES = {MAP: "test accuracy and its level sets", FINE: "level sets and their powers, finer map"}

figures = tuple(
    Contours(
        name=name if family == MAP else f"{name}-levels",
        title=f"Figure 1: {name} {title}",
        run=where(family),
        x="‖μ‖",
        y_along="d",
        number=accuracy(name),
        levels=LEVELS[name],
        predicted=_predicted(i),
        bound=bound,
        printed=CLAIMED[name],
        power=family == FINE,
        x_label="‖μ‖",
        y_label="d",
        caption="Mean over seeds. Solid: level sets, on the finer map with the fitted p of d ∝ "
        "‖μ‖^p and its 99 % interval (jackknife over seeds); dashed: the linearised network's "
        "prediction, without a fit (ours); dotted: no classifier has this accuracy to its left; "
        "dash-dotted: the published p (the position is arbitrary).",
    )
    for family, title in _TITLES.items()
    for i, (name, bound) in enumerate((("clean", clean_ceiling), ("robust", robust_ceiling)))
)
