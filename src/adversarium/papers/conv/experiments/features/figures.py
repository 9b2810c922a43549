"""Figures of CONV's random features and of the network of Theorem 5.2."""

from adversarium.plans import Lines, Powers, Reading, end, where


def _printed(run):
    """Return L_*/ε of the network as published."""
    return run.last("printed") / run.parameter("eps")


figures = (
    Powers(
        name="errors",
        title="Prop. C.1: the error of M features in units of |h|_RF/√M",
        number=end("scaled"),
        sweeps={"M": where("circle", h="any")},
        claimed={"M": 0},
        y_label="√M sup |ĥ − h|/|h|_RF",
        caption="Largest error on a grid of the circle; h: five kernel sections of both signs.",
    ),
    Lines(
        name="networks",
        title="Theorem 5.2: the network built from the robust interpolant of minimum norm",
        numbers=(
            end("L_*/ε", "with the sign a_r, worst start"),
            Reading("as printed, best start", _printed, ("printed",)),
        ),
        x="mε²/R⁴",
        by=("1/ε",),
        runs=(where("networks"),),
        y_label="L_*/ε",
        log_y=True,
        levels={"the theorem's": 1.0},
        caption="Worst or best start per seed, mean and 99 % interval over seeds. With the sign "
        "a_r, L_* ≤ ε holds at a quarter of the theorem's width; without, at none of these.",
    ),
    Powers(
        name="features",
        title="Theorem 5.2: largest difference between sampled features and g, over entire arcs",
        number=end("features"),
        sweeps={"m": where("errors")},
        claimed={"m": -0.5},
        y_label="sup |ĝ − g|",
        caption="g has minimum norm with |g − y| ≤ 0.1 on four arcs of a circle; ĝ: m/2 features.",
    ),
    Powers(
        name="linearisation",
        title="Theorem 5.2: largest difference between network and features, over entire arcs",
        number=end("linearisation"),
        sweeps={"m": where("errors")},
        claimed={},
        y_label="sup |f − ĝ|",
        caption="The error decreases like 1/m, because the signs a_r cancel its leading term; its "
        "bound decreases like m^(−½) and is at least 200 times larger.",
    ),
    Lines(
        name="built",
        title="Theorem 5.2: distance of the network from W_0, and its robust loss, against m",
        numbers=(
            end("distance/|g|", "distance/|g|"),
            end("L_*", "L_* with the sign a_r"),
            end("printed", "L_* as printed"),
        ),
        x="m",
        by=(),
        runs=(where("errors"),),
        log_y=True,
        y_label="value",
        caption="|g − y| ≤ 0.1 on the arcs; g has L_* = 0.005. Mean and 99 % interval over seeds.",
    ),
    Lines(
        name="norms",
        title="The minimum norm of a robust interpolant, against the radius of the arcs",
        numbers=(end("|g|"),),
        x="radius",
        by=("s",),
        runs=(where("norm by radius"),),
        log_x=False,
        log_y=True,
        y_label="|g|",
        caption="|g − y| ≤ 0.1 on four arcs. Arcs of different labels touch at 0.635, where the "
        "shifted ReLU's norm diverges. The kernel of the smoothed ReLU is linear plus even, so the "
        "labels of antipodes conflict beyond 0.35.",
    ),
    Lines(
        name="fits",
        title="The minimum norm of a robust interpolant, against the tolerance e of the fit",
        numbers=(end("|g|"), end("|g|_RF/|g|")),
        x="1/e",
        by=(),
        runs=(where("norm by e"),),
        log_y=True,
        y_label="value",
        caption="|g − y| ≤ e on four arcs of radius 0.2, smoothed ReLU. |g|_RF, the theorem's "
        "radius, is a lower bound.",
    ),
    Lines(
        name="sharpness",
        title="The minimum norm of a robust interpolant, against the sharpness b of the ReLU",
        numbers=(end("|g|"), end("|g|_RF/|g|")),
        x="b",
        by=(),
        runs=(where("norm by b"),),
        log_y=True,
        y_label="value",
        caption="|g − y| ≤ 0.1 on four arcs of radius 0.2; smoothed ReLU with slope Φ(bz), which "
        "tends to the ReLU's as b grows.",
    ),
)
