"""Describe figures as values: which recorded quantities of which runs to draw.

The report draws them. Importing this module does not import torch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adversarium.plans.evidence import Quantity, Reading, Where

EVERY = (Where(),)


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Plot quantities against t with mean and band over seeds, one panel per run.

    A quantity with an axis has one line per coordinate. `names` overrides the probes' symbols.

    >>> Curves(name="training", y=("risk",), log_x=True).runs  # without a choice, every run
    (Where(family=None, at={}),)
    """

    name: str
    y: tuple[str, ...]
    runs: tuple[Where, ...] = EVERY  # one panel per run; only the first four of a single Where
    title: str = ""
    x_label: str = "t"
    y_label: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    pick: Mapping[str, int] = field(default_factory=dict)  # axis → the only index that is drawn
    log_x: bool = False
    log_y: bool = False
    lines: Mapping[str, float] = field(default_factory=dict)  # vertical marks: text → t
    levels: Mapping[str, "float | Callable[[Any], float]"] = field(  # horizontal marks: text →
        default_factory=dict  # value, or the value of a run
    )
    moments: Mapping[str, "Moment"] = field(default_factory=dict)  # times computed from the rows
    caption: str = ""


@dataclass(frozen=True)
class Moment:
    """A time to mark in the panel of one run: the mean over seeds of a quantity.

    >>> from adversarium.plans.evidence import last
    >>> Moment(Where("theorem"), last("first_time", "theorem")).of.name
    'first_time (theorem)'
    """

    run: Where
    of: Quantity


@dataclass(frozen=True, kw_only=True)
class Course:
    """Plot one seed of one run against t, one panel per group of quantities.

    A quantity with an axis has one line per coordinate. `times` names quantities with one number
    per seed, which are drawn as vertical marks.

    >>> panels = {"signal and noise": {"true_feature": "α³U", "memorised": "V_i"}}
    >>> Course(name="course", run=Where("theorem"), panels=panels).y
    ('true_feature', 'memorised')
    """

    name: str
    run: Where
    panels: Mapping[str, Mapping[str, str]]  # title → quantity → symbol
    times: Mapping[str, str] = field(default_factory=dict)  # text → quantity
    seed: int = 0
    title: str = ""
    x_label: str = "t"
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """Return the names of the quantities."""
        return tuple(number for panel in self.panels.values() for number in panel)

    @property
    def runs(self) -> tuple[Where, ...]:
        """Return the run, as a tuple."""
        return (self.run,)


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Plot last values as bars with mean and interval over seeds, one group per run.

    >>> Bars(name="errors", y=("error",), levels={"a guess": 0.5}).levels
    {'a guess': 0.5}
    """

    name: str
    y: tuple[str, ...]
    runs: tuple[Where, ...] = EVERY
    title: str = ""
    y_label: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    log_y: bool = False
    levels: Mapping[str, float] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Plot last values along their axis with mean and band over seeds, one panel per run.

    With `by`, there is one panel per quantity and one line per value of these coordinates. If the
    axis has no order, `places` names its values: points with bars are drawn instead of lines.

    >>> Profile(name="radius", y=("error_by_radius",), complement=True).y
    ('error_by_radius',)
    """

    name: str
    y: tuple[str, ...]
    runs: tuple[Where, ...] = EVERY
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False  # values below 10⁻¹² are not drawn
    by: tuple[str, ...] = ()
    stack: bool = False  # stack the means on top of each other, without bands
    complement: bool = False  # draw 1 − value, for example an error as an accuracy
    places: tuple[str, ...] = ()  # names of the values on the axis
    levels: Mapping[str, float] = field(default_factory=dict)  # horizontal marks: text → value
    between: tuple[str, str] | None = None  # two quantities; the region between them is shaded
    steps: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    lines: Mapping[str, float] = field(default_factory=dict)  # vertical marks: text → x
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Print last values as a table of mean ± half the interval, one row per run.

    >>> Table(name="errors", y=("error", "robust_error")).y
    ('error', 'robust_error')
    """

    name: str
    y: tuple[str, ...]
    runs: tuple[Where, ...] = EVERY
    title: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Switch:
    """Define the outcome of a sweep: whether the last value of `probe` is above or below a level.

    `predicted(run)` gives the theorem's boundary: it is positive if the value should be above the
    level and negative if below. `printed` is the exponent p if the paper states the boundary as
    y ∝ x^p without a constant.

    >>> switch = Switch(probe="memory_share", above=0.5, predicted=lambda run: 20 - run.n)
    >>> switch.above
    0.5
    """

    probe: str
    above: float
    name: str = ""
    predicted: Callable[[Any], float] | None = None
    printed: float | None = None


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Plot a quantity over two positive coordinates, with the boundary where it switches.

    Both the predicted and the fitted boundary are drawn.

    >>> switch = Switch(probe="memory_share", above=0.5)
    >>> Phase(name="plane", run=Where("cells"), x="N", y_along="gap", switch=switch).y
    ('memory_share',)
    """

    name: str
    run: Where
    x: str  # coordinates
    y_along: str
    switch: Switch
    line: bool = True  # fit a straight boundary
    point: tuple[str, float, float] | None = None  # a marked point: text, x, y
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """Return the name of the quantity, as a tuple."""
        return (self.switch.probe,)

    @property
    def runs(self) -> tuple[Where, ...]:
        """Return the selection of the cells, as a tuple."""
        return (self.run,)


@dataclass(frozen=True, kw_only=True)
class Contours:
    """Plot a quantity over two positive coordinates x and y, with its level sets.

    Each level set is labelled with the fitted p of y ∝ x^p and its 99 % interval. The level sets of
    a prediction and of an upper bound are also drawn if `predicted` and `bound` are given.

    >>> accuracy = Reading("accuracy", lambda run: 1 - run.last("error"), ("error",))
    >>> Contours(name="map", run=Where(), x="‖μ‖", y_along="d", number=accuracy, levels=(0.8,)).y
    ('error',)
    """

    name: str
    run: Where
    x: str  # coordinates
    y_along: str
    number: Reading
    levels: tuple[float, ...]
    predicted: Callable[[Any], float] | None = None
    bound: Callable[[Any], float] | None = None
    printed: float | None = None  # the published exponent p, if the constant is not published
    power: bool = True  # fit y ∝ x^p to every level set
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """Return the names of the recorded quantities that are shown."""
        return self.number.names

    @property
    def runs(self) -> tuple[Where, ...]:
        """Return the selection of the cells, as a tuple."""
        return (self.run,)


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Plot quantities of runs against a coordinate, with mean and interval over seeds.

    There is one panel per quantity and one line per value of the coordinates `by`.

    >>> loss = Reading("L_A", lambda run: run.last("L_A"), ("L_A",))
    >>> Lines(name="widths", numbers=(loss,), x="m", by=("A",), runs=(Where("circle"),)).y
    ('L_A',)
    """

    name: str
    numbers: tuple[Reading, ...]
    x: str
    by: tuple[str, ...]
    runs: tuple[Where, ...]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = True
    log_y: bool = False
    levels: Mapping[str, float] = field(default_factory=dict)  # horizontal marks: text → value
    caption: str = ""

    def __post_init__(self) -> None:
        for number in self.numbers:
            if not isinstance(number, Reading):
                raise ValueError(
                    f"Lines {self.name!r} needs readings, which it applies to every run, such as "
                    f'end("risk"); got {number!r}.'
                )

    @property
    def y(self) -> tuple[str, ...]:
        """Return the names of the recorded quantities that are shown."""
        return tuple(name for number in self.numbers for name in number.names)


@dataclass(frozen=True, kw_only=True)
class Heat:
    """Plot quantities of runs, as means over seeds, in a matrix with coloured cells.

    There is one column per quantity, one row per value of `rows` and one panel per value of `by`.

    >>> loss = Reading("raw", lambda run: run.last("raw"), ("raw",))
    >>> Heat(name="parity", numbers=(loss,), rows=("s",), runs=(Where("trained"),)).y
    ('raw',)
    """

    name: str
    numbers: tuple[Reading, ...]
    rows: tuple[str, ...]
    runs: tuple[Where, ...]
    by: tuple[str, ...] = ()
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    value_label: str = ""
    floor: float = 1e-6  # colours are logarithmic above this value
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """Return the names of the recorded quantities that are shown."""
        return tuple(name for number in self.numbers for name in number.names)


@dataclass(frozen=True, kw_only=True)
class Powers:
    """Plot a quantity of each run against a swept parameter on log–log axes, one panel per sweep.

    Each panel shows the fitted exponent with its 99 % interval, and the claimed exponent.

    >>> time = Reading("T₀", lambda run: run.last("T0"), ("T0",))
    >>> Powers(name="T0", number=time, sweeps={"η": Where("eta")}, claimed={"η": -1}).y
    ('T0',)
    """

    name: str
    number: Reading
    sweeps: Mapping[str, Where]  # swept parameter → the runs
    claimed: Mapping[str, float]  # swept parameter → exponent, if one is claimed
    title: str = ""
    y_label: str = ""
    caption: str = ""
    along: Mapping[str, str] = field(default_factory=dict)  # swept parameter → its coordinate

    @property
    def y(self) -> tuple[str, ...]:
        """Return the names of the recorded quantities that are shown."""
        return self.number.names

    @property
    def runs(self) -> tuple[Where, ...]:
        """Return the runs of all sweeps."""
        return tuple(self.sweeps.values())


Figure = Curves | Course | Bars | Profile | Table | Phase | Contours | Powers | Lines | Heat
