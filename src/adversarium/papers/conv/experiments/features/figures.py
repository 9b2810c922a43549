"""Figures of CONV's random features and of the network of Theorem 5.2."""

from adversarium.plans import Lines, Powers, Reading, end, where


def _printed(run):
    """Return L_*/ε of the network as published."""
    return run.last("printed") / run.parameter("eps")


figures = (
    Powers(
        name="errors",
        title="Prop. C.1: the error of M features, by |h|_RF/√M",
        number=end("scaled"),
        sweeps={"M": where("circle", h="any")},
        claimed={"M": 0},
        y_label="√M sup |ĥ − h|/|h|_RF",
        caption="Over the whole circle; five sections of both signs.",
    ),
    Lines(
        name="networks",
        title="Theorem 5.2: the network that is built of the shortest robust interpolant",
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
        caption="Of all starts of a seed; mean and 99 % interval over seeds. With the sign a_r the "
        "theorem's L_* ≤ ε is met at a quarter of its width; without it no width helps.",
    ),
    Powers(
        name="features",
        title="Theorem 5.2: how far sampled features miss the interpolant, over whole arcs",
        number=end("features"),
        sweeps={"m": where("errors")},
        claimed={"m": -0.5},
        y_label="sup |ĝ − g|",
        caption="Shortest g with |g − y| ≤ 0.1 on four arcs of a circle; m/2 features.",
    ),
    Powers(
        name="linearisation",
        title="Theorem 5.2: how far the network misses its features, over whole arcs",
        number=end("linearisation"),
        sweeps={"m": where("errors")},
        claimed={},
        y_label="sup |f − ĝ|",
        caption="The bound, 200 times larger or more, falls like m^(−½); the error like 1/m, "
        "since the signs a_r cancel its leading part.",
    ),
    Lines(
        name="built",
        title="Theorem 5.2: distance from the start and robust loss of the network, by m",
        numbers=(
            end("distance/|g|", "distance over |g|"),
            end("L_*", "L_* with the sign a_r"),
            end("printed", "L_* as printed"),
        ),
        x="m",
        by=(),
        runs=(where("errors"),),
        log_y=True,
        y_label="value",
        caption="|g − y| ≤ 0.1: L_* of g is 0.005. Mean and 99 % interval over seeds.",
    ),
    Lines(
        name="norms",
        title="The norm of the shortest robust interpolant, by the radius of the arcs",
        numbers=(end("|g|"),),
        x="radius",
        by=("s",),
        runs=(where("norm by radius"),),
        log_x=False,
        log_y=True,
        y_label="|g|",
        caption="|g − y| ≤ 0.1 on four arcs. Arcs of different labels touch at 0.635, where the "
        "shifted ReLU's norm grows without bound. The smoothed ReLU, linear plus even, meets a "
        "conflict of antipodes already beyond 0.35.",
    ),
    Lines(
        name="fits",
        title="The norm of the shortest robust interpolant, by the fit that is asked for",
        numbers=(end("|g|"), end("|g|_RF/|g|")),
        x="1/e",
        by=(),
        runs=(where("norm by e"),),
        log_y=True,
        y_label="value",
        caption="|g − y| ≤ e on four arcs of radius 0.2, smoothed ReLU. |g|_RF, the theorem's "
        "radius, is from below.",
    ),
    Lines(
        name="sharpness",
        title="The norm of the shortest robust interpolant, by the sharpness b of the ReLU",
        numbers=(end("|g|"), end("|g|_RF/|g|")),
        x="b",
        by=(),
        runs=(where("norm by b"),),
        log_y=True,
        y_label="value",
        caption="|g − y| ≤ 0.1 on four arcs of radius 0.2; zΦ(bz) and its smoothing: larger b is "
        "nearer to the ReLU.",
    ),
)
