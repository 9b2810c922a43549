"""Define two-parameter grids on which training changes from robust learning to memorisation."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adversarium.plans import Phase, Read, Run, Switch, Table, where

from .regime import critical_count

# the parameters of a cell: their symbols in the paper, and their paths in a run
_LETTERS = {"N": "N", "gap": "1 − γ", "lam": "λ", "d": "d", "alpha": "α", "sigma": "σ"}
_PATHS = {
    "N": "n",
    "gap": "attack.gap",
    "lam": "risk.lam",
    "d": "data.d",
    "alpha": "data.alpha",
    "sigma": "data.sigma",
}


@dataclass(frozen=True)
class Diagram:
    """A grid over two parameters: their values, and the settings of the other parameters."""

    name: str
    x: str
    xs: tuple[float, ...]
    y: str
    ys: tuple[float, ...]
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The family name of its runs."""
        return f"diagram ({self.name})"

    @property
    def at(self) -> dict[str, Read]:
        """The coordinates of its runs: the two parameters."""
        return {_LETTERS[knob]: Read(_PATHS[knob]) for knob in (self.x, self.y)}

    def cells(self) -> Iterator[dict[str, Any]]:
        """Yield the settings of every cell."""
        for a, b in itertools.product(self.xs, self.ys):
            yield _resolved({**self.others, self.x: a, self.y: b})


def _resolved(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a cell with numbers only: the gap 1/√d is computed from d."""
    if settings.get("gap") == "1/√d":
        return {**settings, "gap": 1 / math.sqrt(settings["d"])}
    return settings


def geometric(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return `count` numbers in geometric progression from low to high, rounded to three digits."""
    ratio = (high / low) ** (1 / (count - 1))
    return tuple(float(f"{low * ratio**i:.3g}") for i in range(count))


_COUNTS = tuple(dict.fromkeys(round(n) for n in geometric(3, 120, 12)))
_SIZES = tuple(round(d) for d in geometric(50, 1600, 12))
_GAPS = geometric(0.02, 0.3, 12)
_SMALL = {"N": 10, "gap": 0.05}
_PAPER = {"N": 10, "gap": 1 / (math.sqrt(200) * math.log(200))}

DIAGRAMS = {
    diagram.name: diagram
    for diagram in (
        Diagram("N, 1 − γ", "N", _COUNTS, "gap", _GAPS),
        Diagram("λ, 1 − γ", "lam", geometric(0.02, 0.9, 12), "gap", _GAPS, {"N": 10}),
        Diagram("N, d", "d", _SIZES, "N", _COUNTS, {"gap": "1/√d"}),
        Diagram("σ, α", "alpha", geometric(1, 10, 12), "sigma", geometric(0.02, 0.3, 12), _SMALL),
        Diagram("exponents", "alpha", geometric(200**0.0 + 0.01, 200**0.5, 12),
                "sigma", geometric(200**-0.8, 200**-0.2, 12), _PAPER),
    )
}  # fmt: skip


def predicted(run: Run) -> float:
    """Return log(N_c/N), which is positive if noise should be memorised first."""
    return math.log(critical_count(run) / run.n)


theorem = Switch(probe="conclusion", above=0.5, name="share of seeds with the theorem's conclusion")
switch = Switch(
    probe="memory_share", above=0.5, name="memorised share of the margin", predicted=predicted
)


def phase(diagram: Diagram) -> Phase:
    """Return the figure of a diagram."""
    x, y, runs = _LETTERS[diagram.x], _LETTERS[diagram.y], where(diagram.family)
    if diagram.name == "exponents":
        return Phase(
            name="phase-exponents",
            title="Where Theorem 4.1's conclusion holds: α = d^a, σ = d^s",
            run=runs,
            x=x,
            y_along=y,
            switch=theorem,
            line=False,
            point=("paper: a = .249, s = −.509", 200**0.249, 200**-0.509),
            x_label="α  (1 = d⁰ … 14 = d^½)",
            y_label="σ  (d^−0.8 … d^−0.2)",
            caption="d = 200, N = 10, the paper's γ, at most 80,000 steps (too few to "
            "memorise the lowest row): share of seeds with clean test error ≤ 0.01, robust "
            "training error 0 and robust test error about ½.",
        )
    return Phase(
        name=f"phase-{diagram.x}-{diagram.y}",
        title=f"Noise memorised or signal learnt, over {diagram.name}",
        run=runs,
        x=x,
        y_along=y,
        switch=switch,
        x_label=x,
        y_label=y,
        caption="Colour: mean over seeds of the memorised share of an attacked margin. Dashed: "
        "N = N_c; solid: fitted line with its 99 % band (seeds and cells resampled).",
    )


_numbers = {
    "memory_share": "V/(V + α³(1 − γ)³U)",
    "robust_test_error": "robust test error",
    "median_memorised": "median V",
}

ladder_table = Table(
    name="ladders",
    title="Noise memorised or signal learnt, along N",
    y=tuple(_numbers),
    names=_numbers,
    caption="Mean over seeds with its 99 % interval.",
)
