"""Draw the maps of Figure 1 of BOAT."""

import math

from adversarium.plans import Contours, where

from ...theory.figure_runs import LEVELS, MAP, accuracy, clean_ceiling, robust_ceiling
from .checks import is_predicted, predicted
from .plan import CLAIMED


def _predicted(i: int):
    """Return the clean (0) or robust (1) accuracy of the linearised network, or NaN if this
    prediction does not apply to the run."""
    return lambda run: predicted(run)[i] if is_predicted(run) else math.nan


figures = tuple(
    Contours(
        name=name,
        title=f"Figure 1: {name} test accuracy and its level sets",
        run=where(MAP),
        x="‖μ‖",
        y_along="d",
        number=accuracy(name),
        levels=LEVELS[name],
        predicted=_predicted(i),
        bound=bound,
        printed=CLAIMED[name],
        x_label="‖μ‖",
        y_label="d",
        caption="Mean over seeds. Solid: level sets with the fitted p of d ∝ ‖μ‖^p and its 99 % "
        "interval (jackknife over seeds); dashed: the linearised network's prediction, without a "
        "fit (ours); dotted: no classifier has this accuracy to its left; dash-dotted: the "
        "published p (the position is arbitrary).",
    )
    for i, (name, bound) in enumerate((("clean", clean_ceiling), ("robust", robust_ceiling)))
)
