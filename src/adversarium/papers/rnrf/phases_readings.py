"""The runs of RNRF's phases of adversarial training, and what their checks read."""

import numpy as np

from adversarium.papers.rnrf.readings import ATTACKED, TOTAL, B, fitted, over_classes, plateau
from adversarium.plans import Reading, Rows, Where, where
from adversarium.plans.readings import when

STEP, READING = "", "reading"  # families: over the attack step alone, and its other readings
STEPS, READINGS, FIG3 = where(STEP), where(READING), Where(STEP, {"η̃": 10.0})
LOGIT = ATTACKED.row("true_logit")


def _at_log_d(rows: Rows) -> np.ndarray:
    """max_r B, mean over classes, when the mean of F_y(X̃) first reaches log d."""
    return when(rows[B].values.mean(-1), fitted(rows, ATTACKED))


at_log_d = Reading("max B when F_y(X̃) = log d", _at_log_d, (B, LOGIT))


def _later_change(rows: Rows) -> np.ndarray:
    """The largest relative change of max B after that; NaN if it never was."""
    start = _at_log_d(rows)
    change = np.abs(rows[B].values.mean(-1) / start[:, None] - 1)
    return np.where(fitted(rows, ATTACKED), change, 0).max(1) + 0 * start


later_change = Reading("largest relative change of max B since then", _later_change, (B, LOGIT))

final_total = over_classes(TOTAL)


def _share_of_law(rows: Rows) -> np.ndarray:
    return final_total.of(rows) / plateau(rows)


share_of_law = Reading("ΣB³ over its law at the end", _share_of_law, final_total.names)
