"""Tabulate the explicit classifiers of CGRM."""

from adversarium.plans import Table, where

ORDERED = (6, 8)  # the values of D in the trial `complexity_order`
ERRORS = {
    "f_adv.robust_train": "robust train error",
    "f_adv.clean_test": "clean test error",
    "f_adv.robust_test/mu": "robust test error/μ",
    "network.robust_train": "robust train error, network",
    "network.clean_test": "clean test error, network",
    "network.robust_test/mu": "robust test error/μ, network",
}

figures = (
    Table(
        name="errors",
        title="f_adv and its network: errors",
        y=tuple(ERRORS),
        runs=(where("network"), where("covering")),
        names=ERRORS,
        caption="First row: few points, many cells. Other rows: D = 3, four cells; once N points "
        "cover the cells, memorised balls contain the test points: robust test error < μ.",
    ),
    Table(
        name="counts",
        title="Parameters of the CGRM network",
        y=("parameters", "memory", "per ball and dimension"),
        runs=(where("more balls"), where("more dimensions")),
        caption="The number of balls varies at D = 4, D varies with 8 balls.",
    ),
    Table(
        name="order",
        title="Clean < CGRM < robust: nonzero parameters",
        y=tuple(f"{what}, D = {D}" for D in ORDERED for what in ("clean", "CGRM", "robust")),
        runs=(where("order"),),
        caption="CGRM: 8 memorised balls; robust: all 2^(D−1) cells are memorised.",
    ),
)
