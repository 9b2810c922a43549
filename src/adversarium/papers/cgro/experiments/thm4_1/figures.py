"""Draw Theorem 4.1 of CGRO on the set E: one seed over time, the stages, and the errors."""

from adversarium.measure.folds import FirstTime
from adversarium.plans import Course, Curves, where

from ...theory.features import largest_signal, least_memorised, most_memorised

SET_E = where("theorem", set="E")

_errors = {
    "clean_test_error": "clean test error",
    "robust_train_error": "robust train error (GTA)",
    "robust_test_error": "robust test error (GTA)",
}
_parts = {
    "true_feature": r"$\alpha^3 U$ (signal)",
    "least_memorised": r"$\min_i V_i$ (noise)",
    "median_memorised": r"median$_i$ $V_i$",
    "most_memorised": r"$\max_i V_i$",
}

figures = (
    Course(
        name="course",
        title="Set E, one seed: first the signal is learnt, then the noise",
        run=SET_E,
        panels={
            "signal": {
                "true_feature": r"$\alpha^3 U$",
                "predicted_level": "closed form",
                "signals": r"$\alpha u_r$, every r",
            },
            "noise": {"memorised": r"$V_i$, every i"},
            "errors": _errors,
        },
        times={
            r"$T_0$": FirstTime(largest_signal, 1.0).name,
            r"$T_1$ first": FirstTime(most_memorised, 1.0).name,
            r"$T_1$ all": FirstTime(least_memorised, 1.0).name,
            r"$T_1$ first, closed form": "predicted_T1_first",
        },
        x_label="step t",
        caption="Dotted: measured times, and the closed form of the first T₁.",
    ),
    Curves(
        name="stages",
        title="Set E: signal first, memorised noise later",
        y=tuple(_parts),
        runs=(SET_E,),
        names=_parts,
        log_x=True,
        x_label="step t",
        y_label="part of the margin",
        caption="Mean and range (band) over seeds. The signal jumps, then grows "
        "like log t; the noise is memorised much later.",
    ),
    Curves(
        name="errors",
        title="Set E: clean generalisation and robust overfitting",
        y=tuple(_errors),
        runs=(SET_E,),
        names=_errors,
        log_x=True,
        x_label="step t",
        y_label="error",
        levels={"1/2": 0.5},
        caption="Mean and range (band) over seeds. The robust train error falls to "
        "0 while the robust test error stays at 1/2.",
    ),
)
