"""Define the style of all pictures, and write them to files."""

import csv
import hashlib
import io
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito: distinct for all common forms of colour blindness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")
ON_DARK, ON_BRIGHT = "#fefefe", "#010101"  # text on coloured cells: the same in both schemes
NO_VALUE = "#b8b8b8"  # a cell without a number
_LOOK = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "adversarium",
}
# in a dark colour scheme, text is pale and the background dark; data keeps its colours
_INK = {"#000000": "#e6edf3", "#444444": "#b6bfc8", "#666666": "#9aa4af", "#ffffff": "#0d1117"}
_DARK = "".join(
    f'[style*="{kind}: {old}"]{{{kind}:{new} !important}}'
    for old, new in _INK.items()
    for kind in ("fill", "stroke")
)
_SCHEME = f"<style>@media (prefers-color-scheme: dark){{svg{{fill:#e6edf3}}{_DARK}}}</style>"


P = ParamSpec("P")
T = TypeVar("T")


def with_style(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to draw in the style of adversarium, whatever style the user has set."""

    @wraps(function)
    def styled(*given: P.args, **named: P.kwargs) -> T:
        from matplotlib.style import context

        with context(_LOOK, after_reset=True):
            return function(*given, **named)

    return styled


def canvas(
    size: tuple[float, float], down: int = 1, across: int = 1, **shared: Any
) -> tuple["Figure", Any]:
    """Return a picture and the grid of its axes."""
    from adversarium.report.figures.picture import Picture

    picture = Picture(figsize=size, layout="constrained")
    return picture, picture.subplots(down, across, squeeze=False, **shared)


@with_style
def save(picture: "Figure", path: Path) -> None:
    """Write a picture to a file without a date. An SVG follows the colour scheme of the reader.

    The picture is laid out once for all formats; `savefig` would draw it twice for each format.
    """
    from matplotlib.backend_bases import get_registered_canvas_class

    if (layout := picture.get_layout_engine()) is not None:
        layout.execute(picture)
        picture.set_layout_engine("none")
    form = path.suffix.removeprefix(".")
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    before, picture.dpi = picture.dpi, 150
    getattr(get_registered_canvas_class(form)(picture), f"print_{form}")(path, metadata=undated)
    picture.dpi = before
    if form == "svg":
        head, begin, rest = path.read_text(encoding="utf-8").partition("<defs>")
        path.write_text(f"{head}{_SCHEME}{begin}{rest}", encoding="utf-8")


def file_name(name: str) -> str:
    """Return a file name of letters, digits, dots and dashes; a changed name also gets a digest.

    >>> file_name("paper.thm4.1"), file_name("../x")
    ('paper.thm4.1', 'x-d6b96a97')
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-")
    if plain == name and len(name) < 120:
        return name
    return f"{plain[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def write_csv(path: Path, header: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Write comma-separated values to a file."""
    path.write_text(csv_text(header, lines), encoding="utf-8", newline="")


def csv_text(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values; a text that a spreadsheet would read as a formula is quoted.

    >>> csv_text(("a", "b"), [("=1+1", -2.0)])
    "a,b\\r\\n'=1+1,-2.0\\r\\n"
    """
    out = io.StringIO()
    csv.writer(out).writerows([_harmless(v) for v in line] for line in (header, *lines))
    return out.getvalue()


def _harmless(value: object) -> object:
    formula = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t")
    return f"'{value}" if formula else value


_RAISED = re.compile(
    r"(?<![A-Za-z])([^\W\d_])([_^])(?:\{([^{}]*)\}|\((.*?)\)(?!\))|([−-]?[\w.½]+|\*))"
)


def mathtext(text: str) -> str:
    """Return a text with x^y and x_y as mathtext; a text that already has mathtext is unchanged.

    >>> mathtext("σ (d^−0.8 … d^−0.2)")
    'σ ($d^{−0.8}$ … $d^{−0.2}$)'
    """
    if "$" in text or "\\" in text:
        return text
    return _RAISED.sub(
        lambda m: f"${m[1]}{m[2]}{{{_roman(m[2], m[3] or m[4] or m[5])}}}$".replace("½", "1/2"),
        text,
    )


def _roman(place: str, text: str) -> str:
    """Return a power or an index; an index is upright if it is a word."""
    return f"\\mathrm{{{text}}}" if place == "_" and len(text) > 2 and text.isalpha() else text


def visible_length(text: str) -> int:
    """Return the number of visible characters of a text with or without mathtext."""
    return len(re.sub(r"\\[A-Za-z]+|[${}^_]", "", text))


def wrapped(text: str, width: int) -> str:
    """Break a text into lines; a text with mathtext remains one line."""
    return text if "$" in text else "\n".join(textwrap.wrap(text, width))


def plain_number(value: float) -> str:
    """Return the label of a tick: a plain number, or a power of two or ten if that is shorter.

    >>> plain_number(0.05), plain_number(200000), plain_number(8192)
    ('0.05', '$2\\\\cdot10^{5}$', '$2^{13}$')
    """
    if value >= 2**13 and math.log2(value).is_integer():
        return f"$2^{{{round(math.log2(value))}}}$"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:g}"
    power = math.floor(math.log10(abs(value)) + 1e-9)
    lead = value / 10**power
    return f"$10^{{{power}}}$" if math.isclose(lead, 1) else f"${lead:g}\\cdot10^{{{power}}}$"


def set_log_scale(axis: "Axes", side: str) -> None:
    """Make the "x" or "y" axis logarithmic."""
    axis.set(**{f"{side}scale": "log"})
    log_ticks(getattr(axis, f"{side}axis"))


def log_ticks(side: Any) -> None:
    """Set the ticks of a logarithmic axis: 1, 2 and 5 of each decade if there are few decades."""
    from matplotlib import ticker

    low, high = side.get_view_interval()
    few = low > 0 and math.log10(high / low) < 2.2
    side.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    side.set_major_formatter(ticker.FuncFormatter(lambda v, _: plain_number(v)))
    side.set_minor_formatter(ticker.NullFormatter())


def add_legend(picture: "Figure", axis: "Axes", fontsize: float = 8) -> None:
    """Add the legend of an axis below all axes, in as many columns as fit."""
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        line = picture.get_figwidth() * 72 / (0.62 * fontsize)  # characters
        longest = max(map(visible_length, labels)) + 7
        columns = max(1, min(len(labels), int(line / longest)))
        picture.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False,
                       fontsize=fontsize)  # fmt: skip


def draw_marks(axis: "Axes", verticals: Mapping[str, float], levels: Mapping[str, float]) -> int:
    """Draw vertical marks with their texts above the axis, in so many lines that they do not
    overlap, and horizontal marks; return the number of lines."""
    ends: list[float] = []  # where the last text of every line ends, as a share of the axis
    picture = axis.get_figure(root=True)
    assert picture is not None
    width = picture.get_figwidth() * axis.get_position().width * 72
    for text, t in sorted(verticals.items(), key=lambda mark: mark[1]):
        axis.axvline(t, color="#666666", linewidth=0.8, linestyle=":")
        share = 4.4 * visible_length(text) / width
        place = axis.transAxes.inverted().transform(axis.transData.transform((t, 0)))[0]
        left = min(place, 1 - share)
        line = next((i for i, end in enumerate(ends) if end < left), len(ends))
        ends[line : line + 1] = [left + share + 0.02]
        axis.annotate(text, (left, 1), xycoords="axes fraction", xytext=(0, 3 + 10 * line),
                      textcoords="offset points", fontsize=7.5, color="#444444")  # fmt: skip
    for text, value in levels.items():
        axis.axhline(value, color="#666666", linewidth=0.8, linestyle=":")
        axis.annotate(text, (1, value), xycoords=("axes fraction", "data"), xytext=(-3, 3),
                      ha="right", textcoords="offset points", fontsize=8,
                      color="#444444")  # fmt: skip
    return len(ends)


def add_title(picture: "Figure", text: str) -> None:
    """Set the title of a picture, in as many lines as it needs."""
    width = int(picture.get_figwidth() * 72 / 6.5)
    picture.suptitle(mathtext(wrapped(text, width)), fontsize=11)


def set_panel_title(axis: "Axes", text: str, lines: int = 0) -> None:
    """Set the title of an axis, above the texts of its marks."""
    axis.set_title(mathtext(text), fontsize=10, pad=6 + 10.5 * lines)
