"""Draw BOAT's theory runs for increasing C and for one size varied at a time."""

from adversarium.plans import Powers, Table, end, where

from ...theory.families import SHARP, SMOOTH

figures = (
    Table(
        name="ladder",
        title="Measured constants of the lemmas at increasing C",
        y=(
            "worst(certified_error)",
            "largest_ratio",
            "least_mu",
            "least_margin_share",
            "found_increment",
            "proven_increment",
            "sign_share",
        ),
        runs=tuple(where(f, φ=phi) for f in ("L", "A", "R") for phi in (SHARP, SMOOTH)),
        names={"worst(certified_error)": "largest share not proven robust, t ≥ 1"},
        caption="Mean over seeds with its 99 % interval. L: small attack; A: α = ‖μ‖; R: α = ‖μ‖ "
        "at L's sizes, which violates Assumption 1 only through α.",
    ),
    *(
        Powers(
            name=f"arms-{number}",
            title=title,
            number=end(number),
            sweeps={arm: where(f"arm {arm}", φ=SHARP) for arm in ("n", "d", "‖μ‖", "m")},
            claimed=dict.fromkeys(("n", "d", "‖μ‖", "m"), 0.0),
            y_label=label,
            caption="ReLU, C = 8, one size at a time; geometric mean over seeds, bar: smallest to "
            "largest; fitted power with its 99 % interval; dashed: power 0, as claimed.",
        )
        for number, title, label in (
            ("largest_ratio", "Lemma 4.4: the loss ratio against each size", "max g̃_i/g̃_j"),
            (
                "least_margin_share",
                "Lemma B.33: the margin against each size",
                "margin/(‖W‖₂ √(n/d) ‖μ‖²)",
            ),
        )
    ),
)
