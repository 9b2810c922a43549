"""Draw the unspecified constants of CGRO's lemmas against N and d."""

from adversarium.plans import Powers, Reading, Table, end

from .checks import COUNTS, ETAS, LARGE, SIZES, over_terms

_constants = {
    "least_growth": "4.2: least c before T₁",
    "signal_bound": "4.3: u over its bound",
    "residual_share": "C.5 corrected: residual share",
    "lower_share": "4.4 corrected: shortfall share",
    "least_steepness": "C.8: least ‖∇L‖/L",
    "decay_product": "C.9: L·η·(t − T₁ + 1)",
    "signal_peak": "C.11: α max u",
    "noise_peak": "C.11: max |v|",
}


def _along_N(name: str, number: Reading, label: str) -> Powers:
    return Powers(
        name=name,
        title=f"{label}, against N and d",
        number=number,
        sweeps={"N": COUNTS, "d": SIZES},
        claimed={"N": 0.0, "d": 0.0},
        along={"N": "N", "d": "d"},
        y_label=label,
        caption="Geometric mean and range (bar) over seeds; dashed: what the "
        "published lemma allows at fixed d.",
    )


figures = (
    _along_N("steepness", end("least_steepness"), "least ‖∇L‖/L from T₁ on (Lemma C.8)"),
    _along_N("decay", end("decay_product"), "largest L·η·(t − T₁ + 1) (Lemma C.9)"),
    _along_N("residual", over_terms, "residual/(sum of both published terms) (Lemma C.5)"),
    Table(
        name="constants",
        title="The unspecified constants, by N, d and η",
        y=tuple(_constants),
        runs=(COUNTS, SIZES, ETAS, LARGE),
        names=_constants,
        caption="Mean over all seeds with its 99 % interval.",
    ),
)
