"""Draw CGRO's explicit classifiers along a ray; tabulate their parameters, errors and widths."""

from adversarium.plans import Profile, Table, where

from .plan import DELTA, R

_functions = {
    "clean": r"$f_{\mathrm{clean}}$",
    "f_S": r"$f_S$, eq. (C)",
    "product": "network, product gate",
    "exact": "network, exact gate",
}
_columns = {"parameters": "nonzero parameters", "per N·D": "per N·D", "share": "per N·D·log₂(D/ε)"}

figures = (
    Profile(
        name="ray",
        title="y f along a ray from a memorised point across the hyperplane",
        y=tuple(_functions),
        runs=(where("ray"),),
        names=_functions,
        x_label="distance from the memorised point",
        y_label="y f",
        lines={"δ": DELTA, "R − δ": R - DELTA},
        caption="In the ball of radius δ the label is memorised; f_S jumps at its boundary; "
        "a network is continuous.",
    ),
    Table(
        name="counts",
        title="Parameters of the memorising network",
        y=tuple(_columns),
        runs=(where("parameters"),),
        names=_columns,
        caption="N varies at D = 8, D at N = 8; accuracy ε = 1e-3.",
    ),
    Table(
        name="errors",
        title="Errors of the explicit classifiers",
        y=tuple(
            f"{name}.{kind}"
            for name in _functions
            for kind in ("clean_test", "robust_train", "robust_test")
        ),
        runs=(where("classifiers"),),
        caption="Robust errors: the worst of every corner of the l_inf cell and a gradient attack; "
        "robust test: on points that were not memorised.",
    ),
    Table(
        name="widths",
        title="Robust error after adversarial training, by width",
        y=("robust_error",),
        runs=(where("trained"),),
        caption="Trained on all 2^(D−1) points of a random labelling. The constructed "
        "network, with 2^(D−1) indicators, is a certified upper bound.",
    ),
)
