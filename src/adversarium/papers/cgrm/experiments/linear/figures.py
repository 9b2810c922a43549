"""Draw the directions, the angles and the training of the linear part of CGRM."""

from adversarium.plans import Curves, Profile, Table, where

LINES = {
    "error": "‖u − w*‖",
    "bound": "bound ‖mean yξ‖/α",
    "predicted": "prediction, N' ≪ d",
}
ODDS = {"not_exact": "share of seeds with u ≠ w*", "wendel": "Wendel's probability"}
PATHS = {"direction_error": "‖w − w*‖", "max_margin_gap": "‖w − u‖"}
TRAINED = (where(("divided", "literal")),)
HALF_SPACE = {"2(d − 1)": 398.0}  # for the d of the presets

figures = (
    Profile(
        name="directions",
        title="The max-margin direction of N' large-margin points (d = 200, α = 5)",
        y=tuple(LINES),
        runs=(where("max margin"),),
        names=LINES,
        x_label="N'",
        y_label="distance of unit vectors",
        lines=HALF_SPACE,
        caption="Mean and range (band) over seeds. For N' of about 2d or more, the "
        "direction is exact.",
    ),
    Profile(
        name="wendel",
        title="When is the direction exact?",
        y=tuple(ODDS),
        runs=(where("max margin"),),
        names=ODDS,
        x_label="N'",
        y_label="probability",
        lines=HALF_SPACE,
        caption="The share of seeds (its band has no meaning) and the probability that N' "
        "symmetric points of R^(d − 1) lie in a half-space.",
    ),
    Curves(
        name="training",
        title="FGSM training of the linear part: gradients divided by the loss, and literal",
        y=tuple(PATHS),
        runs=TRAINED,
        names=PATHS,
        x_label="step k",
        y_label="distance of unit vectors",
        log_x=True,
        log_y=True,
        caption="Mean and range (band) over seeds. In literal descent, "
        "‖w − u‖ decreases like 1/log k.",
    ),
    Profile(
        name="angles",
        title="Assumption 6.1: clean error on small margins divided by that on large ones",
        y=("log10_ratio",),
        runs=(where("angles"),),
        names={"log10_ratio": "log₁₀ of the ratio"},
        x_label="angle θ between w and w*",
        y_label="log₁₀ Φ(−β cot θ)/Φ(−α cot θ)",
        caption="α = 5, β = 0.5: up to θ = 1 the ratio is far from O(1).",
    ),
    Table(
        name="gaps",
        title="Distance to the max-margin direction after training",
        y=("max_margin_gap", "direction_error"),
        runs=TRAINED,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
