"""Figures as values: what is drawn, of which runs. No torch at import; the report draws them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adversarium.plans.evidence import Quantity, Reading, Where

EVERY = (Where(),)


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Numbers against t, mean and band over seeds, one panel a run; a number with an axis has one
    line for each of its places. `names` overrides the probes' own symbols.

    >>> Curves(name="training", y=("risk",), log_x=True).runs  # without a choice, every run
    (Where(family=None, at={}),)
    """

    name: str
    y: tuple[str, ...]
    runs: tuple[Where, ...] = EVERY  # one panel a run; of one Where the first four
    title: str = ""
    x_label: str = "t"
    y_label: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    pick: Mapping[str, int] = field(default_factory=dict)  # axis → the one place that is drawn
    log_x: bool = False
    log_y: bool = False
    lines: Mapping[str, float] = field(default_factory=dict)  # vertical marks: text → t
    levels: Mapping[str, "float | Callable[[Any], float]"] = field(  # horizontal marks: text →
        default_factory=dict  # value, or the value of a run
    )
    moments: Mapping[str, "Moment"] = field(default_factory=dict)  # times that the rows decide
    caption: str = ""


@dataclass(frozen=True)
class Moment:
    """A time of one run that its rows decide, one number a seed; drawn as their mean.

    >>> from adversarium.plans.evidence import last
    >>> Moment(Where("theorem"), last("first_time", "theorem")).of.name
    'first_time (theorem)'
    """

    run: Where
    of: Quantity


@dataclass(frozen=True, kw_only=True)
class Course:
    """One seed of one run against t, one panel a group of numbers; a number with an axis is drawn
    with all of its places. Marked times are rows with one number a seed.

    >>> panels = {"signal and noise": {"true_feature": "α³U", "memorised": "V_i"}}
    >>> Course(name="course", run=Where("theorem"), panels=panels).y
    ('true_feature', 'memorised')
    """

    name: str
    run: Where
    panels: Mapping[str, Mapping[str, str]]  # title → number → symbol
    times: Mapping[str, str] = field(default_factory=dict)  # text → number
    seed: int = 0
    title: str = ""
    x_label: str = "t"
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """The numbers."""
        return tuple(number for panel in self.panels.values() for number in panel)

    @property
    def runs(self) -> tuple[Where, ...]:
        """The run."""
        return (self.run,)


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Last values, one group a run, mean and interval over seeds.

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
    """Last values along their axis, mean and band over seeds: one panel a run, or with `by` one
    panel a number and one line a place of these coordinates.

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
    log_y: bool = False  # what is below 10⁻¹² is not drawn
    by: tuple[str, ...] = ()
    stack: bool = False  # means above each other, without bands
    complement: bool = False  # draw 1 − value: an error as an accuracy
    levels: Mapping[str, float] = field(default_factory=dict)  # horizontal marks: text → value
    between: tuple[str, str] | None = None  # two numbers whose means bound a shaded bracket
    steps: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    lines: Mapping[str, float] = field(default_factory=dict)  # vertical marks: text → x
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Last values, one row a run: mean ± half the interval.

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
    """What a sweep looks for: a number's last value above or below a level; and the theorem's
    boundary, `predicted(run)`: positive where it should be above, negative where below; or the
    power of x in y that a paper prints without a constant.

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
    """A number over a plane of two positive coordinates, the predicted boundary where a switch
    happens and the fitted one.

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
    point: tuple[str, float, float] | None = None  # a marked place: text, x, y
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """The number."""
        return (self.switch.probe,)

    @property
    def runs(self) -> tuple[Where, ...]:
        """The cells."""
        return (self.run,)


@dataclass(frozen=True, kw_only=True)
class Contours:
    """A number over a plane of two positive coordinates, with its level sets: the power of x in y
    along each, with its 99 % interval; where a prediction has the same level, and the largest
    number that `bound` leaves.

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
    printed: float | None = None  # a power that a paper prints without a constant
    power: bool = True  # fit one along every level set
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """The numbers that are read."""
        return self.number.names

    @property
    def runs(self) -> tuple[Where, ...]:
        """The cells."""
        return (self.run,)


@dataclass(frozen=True, kw_only=True)
class Lines:
    """A number a run against a coordinate of the runs, mean and interval over seeds: one panel a
    number, one line a place of other coordinates.

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

    @property
    def y(self) -> tuple[str, ...]:
        """The numbers that are read."""
        return tuple(name for number in self.numbers for name in number.names)


@dataclass(frozen=True, kw_only=True)
class Heat:
    """Numbers of runs as a matrix with coloured cells, means over seeds: one column a number, one
    row a place of `rows`, one panel a place of `by`.

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
    floor: float = 1e-6  # colours are logarithmic from here on
    caption: str = ""

    @property
    def y(self) -> tuple[str, ...]:
        """The numbers that are read."""
        return tuple(name for number in self.numbers for name in number.names)


@dataclass(frozen=True, kw_only=True)
class Powers:
    """A number a run against what is swept, on logarithmic axes, one panel a sweep: the fitted
    power with its 99 % interval, and the claimed one.

    >>> time = Reading("T₀", lambda run: run.last("T0"), ("T0",))
    >>> Powers(name="T0", number=time, sweeps={"η": Where("eta")}, claimed={"η": -1}).y
    ('T0',)
    """

    name: str
    number: Reading
    sweeps: Mapping[str, Where]  # what is swept, a coordinate of the runs → the runs
    claimed: Mapping[str, float]  # what is swept → power, where one is
    title: str = ""
    y_label: str = ""
    caption: str = ""
    along: Mapping[str, str] = field(default_factory=dict)  # what is swept → its coordinate

    @property
    def y(self) -> tuple[str, ...]:
        """The numbers that are read."""
        return self.number.names

    @property
    def runs(self) -> tuple[Where, ...]:
        """The runs of all sweeps."""
        return tuple(self.sweeps.values())


Figure = Curves | Course | Bars | Profile | Table | Phase | Contours | Powers | Lines | Heat
