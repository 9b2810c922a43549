"""Draw and tabulate the modified training of CGRM and plain training of the same model."""

from adversarium.plans import Curves, Table, where

SETS = (
    "N = 2d",
    "few points",
    "b far below",
    "b below",
    "b a little below",
    "b above",
    "a large radius",
    "no window",
)
SPREAD = tuple(f"spread margins, d = {d}" for d in (16, 32, 64))
COLUMNS = {
    "clean_train": "clean train",
    "clean_test": "clean test",
    "robust_train": "robust train, found",
    "robust_train_bound": "robust train, upper bound",
    "robust_test": "robust test",
    "robust_small": "robust test, small margins",
    "robust_large": "robust test, large margins",
    "least_margin": "smallest robust margin at memorised points",
    "inside": "b in the window",
}
UNITS = {
    "active_units": "active pairs (point, unit)",
    "unit_drift": r"$\max_i\|w_i - w_i^{(0)}\|$",
}
PLAIN = {
    "train_error": "clean train",
    "robust_train_error": "robust train, training FGSM",
    "strong_train_error": "robust train, strong attacks",
}
GENERIC = {
    "clean_error": "clean error of f̂",
    "clean_error_before": "clean error of f̂_clean",
    "memorised": "share of memorised points",
    "turned": "‖w − ŵ_clean‖ after the last step",
}

figures = (
    Table(
        name="sets",
        title="Theorem 4.2's algorithm: errors inside and outside the window of b",
        y=tuple(COLUMNS),
        runs=(where(SETS),),
        names=COLUMNS,
        caption="Mean over seeds with its 99 % interval.",
    ),
    Curves(
        name="units",
        title="Plain adversarial training: units with a threshold above the data stay inactive",
        y=tuple(UNITS),
        runs=(where("plain training"),),
        names=UNITS,
        x_label="step k",
        y_label="",
        log_x=True,
        caption="Mean and range (band) over seeds.",
    ),
    Table(
        name="plain",
        title="Plain adversarial training of the mixed model",
        y=tuple(PLAIN),
        runs=(where("plain training"),),
        names=PLAIN,
        caption="With b = d/2, no unit is active at any training point; with b = 0, units learn.",
    ),
    Table(
        name="generic",
        title="Theorem 6.2's algorithm",
        y=tuple(GENERIC),
        runs=(where(SPREAD),),
        names=GENERIC,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
