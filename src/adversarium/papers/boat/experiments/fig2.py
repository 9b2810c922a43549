"""Figure 2 of BOAT: robust training loss and robust test error along training.

Paper: in every panel (‖μ‖ = 4, 6, 8, 10 at d = 1000; d = 500, 1000, 1500 and α/‖μ‖ = 0.05, 0.1,
0.15 at ‖μ‖ = 5) the loss goes to zero and the robust test error converges to β = 0.1.
Reading: PyTorch's default initialisation; all layers and biases are trained for 1,000 steps; the
radius is α = ratio·‖μ‖. The sizes are outside the theorem's regime. Each curve is judged
separately; "goes to zero" means that the mean curve falls at least like t^−0.1 over the last decade
of the training, "converges to 0.1" that the final error is within 0.01 of 0.1. The quick preset has
width 32 and 80 steps.
Cost: quick 8 s (2 cores); paper 1 min on a GPU.
"""

from adversarium.plans import (
    Check,
    CountedAs,
    Curves,
    Hypothesis,
    Level,
    Ordering,
    Parts,
    last,
    where,
)

from ..theory.figure_runs import BETA, Radius, on_clusters, robust_ceiling, trend
from ..theory.regime import gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

# (varied quantity, its value, (‖μ‖, d, α/‖μ‖))
PANELS = (
    ("‖μ‖", 4.0, (4.0, 1000, 0.1)),
    ("‖μ‖", 6.0, (6.0, 1000, 0.1)),
    ("‖μ‖", 8.0, (8.0, 1000, 0.1)),
    ("‖μ‖", 10.0, (10.0, 1000, 0.1)),
    ("d", 500, (5.0, 500, 0.1)),
    ("d", 1000, (5.0, 1000, 0.1)),
    ("d", 1500, (5.0, 1500, 0.1)),
    ("α/‖μ‖", 0.05, (5.0, 1000, 0.05)),
    ("α/‖μ‖", 0.1, (5.0, 1000, 0.1)),
    ("α/‖μ‖", 0.15, (5.0, 1000, 0.15)),
)

quick = dict(seeds=5, m=32, steps=80, points=200)
paper = dict(seeds=20, m=1000, steps=1000, points=2000)


def plan(m, steps, points, reading: Radius = "R1"):
    for panel, value, (mu, d, ratio) in PANELS:
        at = {panel: value}
        yield on_clusters(
            f"over {panel}", at, d, mu, ratio, m, steps, points, curves=True, reading=reading
        )


def _runs(panel, value):
    return where(f"over {panel}", **{panel: value})


def _curves(make) -> dict[str, Check]:
    return {f"{panel} = {value:g}": make(_runs(panel, value)) for panel, value, _ in PANELS}


def _worse(panel: str, worse: float, better: float) -> Check:
    """Require a larger final robust test error, seed by seed."""
    return Ordering(
        last("robust_error", _runs(panel, worse)), than=last("robust_error", _runs(panel, better))
    )


checks: dict[str, Check] = {
    "boat.fig2.loss_to_zero": CountedAs(
        "level",
        Parts(
            {
                **_curves(lambda run: Level(trend("risk").on(run), high=-0.1, kind="exponent")),
                "the last losses": Hypothesis(
                    "level", *(last("risk", _runs(panel, value)) for panel, value, _ in PANELS)
                ),
            }
        ),
    ),
    "boat.fig2.err_to_beta": CountedAs(
        "level",
        Parts(_curves(lambda run: Level(last("robust_error", run), BETA - 0.01, BETA + 0.01))),
    ),
    "boat.fig2.monotone": CountedAs(
        "ordering",
        Parts(
            {
                f"{panel}: {worse:g} worse than {better:g}": _worse(panel, worse, better)
                for panel, pairs in (
                    ("‖μ‖", ((4.0, 6.0), (6.0, 8.0), (8.0, 10.0))),
                    ("d", ((1000, 500), (1500, 1000))),
                    ("α/‖μ‖", ((0.1, 0.05), (0.15, 0.1))),
                )
                for worse, better in pairs
            }
        ),
    ),
}


def _smallest_error(run) -> float:
    return 1 - robust_ceiling(run)


figures = tuple(
    Curves(
        name=f"{what}-{file}",
        title=title,
        runs=tuple(_runs(panel, value) for name, value, _ in PANELS if name == panel),
        y=(number,),
        log_x=True,
        log_y=what == "loss",
        levels={} if what == "loss" else {"β; no classifier below": _smallest_error},
        x_label="step t",
        y_label=label,
        caption="Mean and range (band) over seeds; a line in the error plots marks the "
        "smallest robust error of any classifier.",
    )
    for panel, file in (("‖μ‖", "mu"), ("d", "d"), ("α/‖μ‖", "ratio"))
    for what, number, title, label in (
        ("loss", "risk", "Figure 2: robust training loss", "loss"),
        ("error", "robust_error", "Figure 2: robust test error", "robust test error"),
    )
)
