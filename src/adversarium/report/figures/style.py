"""How every picture looks, and how it is written."""

import csv
import hashlib
import io
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

# Okabe and Ito: distinct for all common forms of colour blindness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")
ON_DARK, ON_BRIGHT = "#fefefe", "#010101"  # letters on coloured cells: the same in both schemes
NO_VALUE = "#b8b8b8"  # a cell without a number
_LOOK = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "adversarium",
}
# in the dark scheme of whoever looks, ink is pale and paper dark; data keeps its colours
_INK = {"#000000": "#e6edf3", "#444444": "#b6bfc8", "#666666": "#9aa4af", "#ffffff": "#0d1117"}
_DARK = "".join(
    f'[style*="{kind}: {old}"]{{{kind}:{new} !important}}'
    for old, new in _INK.items()
    for kind in ("fill", "stroke")
)
_SCHEME = f"<style>@media (prefers-color-scheme: dark){{svg{{fill:#e6edf3}}{_DARK}}}</style>"


P = ParamSpec("P")
T = TypeVar("T")


def styled(made: Callable[P, T]) -> Callable[P, T]:
    """The same call under the laboratory's look, whatever the user has set."""

    @wraps(made)
    def under_look(*given: P.args, **named: P.kwargs) -> T:
        from matplotlib.style import context

        with context(_LOOK, after_reset=True):
            return made(*given, **named)

    return under_look


def canvas(
    size: tuple[float, float], down: int = 1, across: int = 1, **shared: Any
) -> tuple[Any, Any]:
    """A picture, and the grid of its axes."""
    from adversarium.report.figures.picture import Picture

    picture = Picture(figsize=size, layout="constrained")
    return picture, picture.subplots(down, across, squeeze=False, **shared)


@styled
def save(picture: Any, path: Path) -> None:
    """Writes a picture, without a date in it; it is laid out once, whatever the formats. An SVG
    follows the colour scheme of whoever looks at it."""
    if picture.get_layout_engine() is not None:
        picture.draw_without_rendering()
        picture.set_layout_engine("none")
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    picture.savefig(path, metadata=undated, dpi=150)
    if path.suffix == ".svg":
        head, begin, rest = path.read_text(encoding="utf-8").partition("<defs>")
        path.write_text(f"{head}{_SCHEME}{begin}{rest}", encoding="utf-8")


def file_name(name: str) -> str:
    """A name as a file's: of letters, digits, dots and dashes; another one gets a digest.

    >>> file_name("cgro.thm4.1"), file_name("../x")
    ('cgro.thm4.1', 'x-d6b96a97')
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-")
    if plain == name and len(name) < 120:
        return name
    return f"{plain[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def write_csv(path: Path, header: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Numbers as a file of comma-separated values."""
    path.write_text(csv_text(header, lines), encoding="utf-8", newline="")


def csv_text(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Comma-separated values; a text that a spreadsheet would take for a formula is quoted.

    >>> csv_text(("a", "b"), [("=1+1", -2.0)])
    "a,b\\r\\n'=1+1,-2.0\\r\\n"
    """
    out = io.StringIO()
    csv.writer(out).writerows([_harmless(v) for v in line] for line in (header, *lines))
    return out.getvalue()


def _harmless(value: Any) -> Any:
    formula = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t")
    return f"'{value}" if formula else value


_RAISED = re.compile(
    r"(?<![A-Za-z])([^\W\d_])([_^])(?:\{([^{}]*)\}|\((.*?)\)(?!\))|([−-]?[\w.½]+|\*))"
)


def typeset(text: str) -> str:
    """Powers and indices of one letter as mathtext, where a text has no mathtext of its own.

    >>> typeset("σ (d^−0.8 … d^−0.2)")
    'σ ($d^{−0.8}$ … $d^{−0.2}$)'
    """
    if "$" in text or "\\" in text:
        return text
    return _RAISED.sub(
        lambda m: f"${m[1]}{m[2]}{{{_roman(m[2], m[3] or m[4] or m[5])}}}$".replace("½", "1/2"),
        text,
    )


def _roman(place: str, text: str) -> str:
    """A word as an index stands upright."""
    return f"\\mathrm{{{text}}}" if place == "_" and len(text) > 2 and text.isalpha() else text


def letters(text: str) -> int:
    """How many letters of a text are seen, mathtext or not."""
    return len(re.sub(r"\\[A-Za-z]+|[${}^_]", "", text))


def folded(text: str, width: int) -> str:
    """A long text in lines; one with mathtext stays whole."""
    return text if "$" in text else "\n".join(textwrap.wrap(text, width))


def plain_number(value: float) -> str:
    """A tick's number: as it is, or as a power of two or ten where it is long.

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


def log_ticks(side: Any) -> None:
    """Ticks of a logarithmic axis: 1, 2 and 5 of a decade where there are few decades."""
    from matplotlib import ticker

    low, high = side.get_view_interval()
    few = low > 0 and math.log10(high / low) < 2.2
    side.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    side.set_major_formatter(ticker.FuncFormatter(lambda v, _: plain_number(v)))
    side.set_minor_formatter(ticker.NullFormatter())


def legend_below(picture: Any, axis: Any, fontsize: float = 8) -> None:
    """The legend of an axis below all axes, in as many columns as fit."""
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        room = picture.get_figwidth() * 72 / (0.62 * fontsize)  # letters in a line
        most = max(map(letters, labels)) + 7
        columns = max(1, min(len(labels), int(room / most)))
        picture.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False,
                       fontsize=fontsize)  # fmt: skip


def marks(axis: Any, verticals: Mapping[str, float], levels: Mapping[str, float]) -> int:
    """Vertical marks with their texts above the axis, in as many lines as keep them apart, and
    horizontal ones; returns the number of lines."""
    ends: list[float] = []  # where the last text of every line ends, as a share of the axis
    width = axis.get_figure().get_figwidth() * axis.get_position().width * 72
    for text, t in sorted(verticals.items(), key=lambda mark: mark[1]):
        axis.axvline(t, color="#666666", linewidth=0.8, linestyle=":")
        share = 4.4 * letters(text) / width
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


def headed(picture: Any, text: str) -> None:
    """The title of a picture, in as many lines as it needs."""
    width = int(picture.get_figwidth() * 72 / 6.5)
    picture.suptitle(typeset(folded(text, width)), fontsize=11)


def titled(axis: Any, text: str, lines: int = 0) -> None:
    """The title of an axis, above the texts of its marks."""
    axis.set_title(typeset(text), fontsize=10, pad=6 + 10.5 * lines)
