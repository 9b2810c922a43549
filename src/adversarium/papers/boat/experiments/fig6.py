"""Figure 6 of BOAT: robust training loss and robust test error on MNIST along training.

Paper: for ‖μ‖ = 3, 5, 7, 10 (d = 784), d = 289, 400, 784, 1024 (‖μ‖ = 5) and α/‖μ‖ = 0.05 to 0.2
(‖μ‖ = 10) the loss and the robust test error go to zero, because there is no label noise.
Reading: ‖μ‖ is the Euclidean norm of every image; 1024 pixels come from bilinear upsampling. "To
zero" means that the mean curve falls at least like t^−0.1 over the last decade of the training.
The quick preset uses the 8 × 8 digits as a stand-in; its rows decide nothing about MNIST. `--preset
paper --data DIR` needs MNIST's idx files in DIR.
Cost: quick 5 s (2 cores); paper 30 s on a GPU.
"""

import math

from adversarium.plans import (
    Check,
    CountedAs,
    Curves,
    Every,
    Hypothesis,
    Level,
    Parts,
    last,
    where,
)

from ..theory.figure_runs import Radius, trend
from ..theory.image_runs import MNIST, family_of, on_images
from ..theory.regime import gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

# (varied quantity, its value, (‖μ‖, side, α/‖μ‖))
PANELS = (
    *(("‖μ‖", mu, (mu, 28, 0.1)) for mu in (3.0, 5.0, 7.0, 10.0)),
    *(("d", side**2, (5.0, side, 0.1)) for side in (17, 20, 28, 32)),
    *(("α/‖μ‖", ratio, (10.0, 28, ratio)) for ratio in (0.05, 0.1, 0.15, 0.2)),
)

quick = dict(seeds=5, source="digits", m=32, steps=50)
paper = dict(seeds=20, source="mnist", m=1000, steps=1000)


def plan(m, steps, source, reading: Radius = "R1"):
    for panel, value, (mu, side, ratio) in PANELS:
        at = {"panel": panel, panel: value}
        yield on_images(
            family_of(source), at, source, side, mu, ratio, m, steps, reading, curves=True
        )  # fmt: skip


def _runs(panel: str, value: float):
    return where(MNIST, panel=panel, **{panel: value})


def _to_zero(number: str) -> dict[str, Check]:
    """Require of every curve of a panel that it falls at least like t^−0.1 until the end."""
    return {
        f"{number} falls to the end, varying {name}": Every(
            *(
                Level(trend(number).on(_runs(name, value)), -math.inf, -0.1, kind="exponent")
                for panel, value, _ in PANELS
                if panel == name
            )
        )
        for name in dict.fromkeys(panel for panel, _, _ in PANELS)
    }


def _at_the_end(number: str) -> Check:
    """Report the last value of every curve."""
    ends = (last(number, _runs(panel, value)) for panel, value, _ in PANELS)
    return Hypothesis("level", *ends)


checks = {
    "boat.fig6.to_zero": CountedAs(
        "level",
        Parts(
            {
                **_to_zero("risk"),
                **_to_zero("robust_test_error"),
                "the last losses": _at_the_end("risk"),
                "the last errors": _at_the_end("robust_test_error"),
            }
        ),
    )
}

figures = tuple(
    Curves(
        name=f"{what}-{file}",
        title=title,
        runs=(where(panel=panel),),
        y=(number,),
        log_x=True,
        log_y=what == "loss",
        x_label="step t",
        y_label=label,
        caption="Mean and range (band) over seeds.",
    )
    for panel, file in (("‖μ‖", "mu"), ("d", "d"), ("α/‖μ‖", "ratio"))
    for what, number, title, label in (
        ("loss", "risk", "Figure 6: robust training loss", "loss"),
        ("error", "robust_test_error", "Figure 6: robust test error", "robust test error"),
    )
)
