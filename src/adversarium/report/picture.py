"""Draw the picture of a claim: what was measured against what is claimed, one panel per part.

The kind of a part's check decides the panel. A fitted exponent has its points, the fitted and the
claimed line on logarithmic axes. Every other kind has one row per quantity: the mean with its 99 %
interval and, for inequalities and paired differences, one dot per seed, over the accepted range,
which is shaded. The picture is an SVG whose colours come from classes of the site's style sheet.
"""

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from adversarium.plans.evidence import Summary
from adversarium.plans.findings import formatted
from adversarium.plans.mathematics import plain_text
from adversarium.plans.rules import ABOVE_ZERO
from adversarium.plans.verdict import Fit, Outcome, Part
from adversarium.report.symbols import quantity_text, with_scripts
from adversarium.report.tables import GLYPHS, between
from adversarium.runs.ledger import Entry

PANELS, ROWS, LINES = 4, 7, 4  # largest number of panels, of rows in a panel, of fits in a panel
_WIDE, _MARGIN = 360.0, 10.0
_ROW = 36  # height of a row
_ORDER = (Outcome.FAILS, Outcome.UNDECIDED, Outcome.MIXED, Outcome.HOLDS)
_AXES = {
    "inequality": "each dot is a seed; shaded: allowed",
    "ordering": "paired difference, one dot per seed; shaded: claimed",
    "frequency": "share of trials with its 99 % interval; shaded: claimed",
}


def claim_picture(entry: Entry) -> list[str]:
    """Return the panels of a claim's picture as SVG texts; empty if nothing was measured."""
    return [panel for part in pictured(entry) if (panel := _panel(part))]


def deciding_panel(entry: Entry) -> str:
    """Return the panel of the part that decides the verdict; empty if nothing was measured."""
    ranked = sorted(pictured(entry), key=_rank)
    return next((panel for part in ranked if (panel := _panel(part))), "")


def _rank(part: Part) -> int:
    return _ORDER.index(part.outcome) if part.outcome in _ORDER else len(_ORDER)


def pictured(entry: Entry) -> list[Part]:
    """Return the parts that the picture shows, in their order: the judged parts, and of many those
    that decide the verdict."""
    judged = [part for part in entry.parts if part.outcome in _ORDER and _rows(part)]
    if not judged:
        judged = [part for part in entry.parts if _rows(part)]
        return judged[:PANELS]
    deciding = sorted(judged, key=_rank)[:PANELS]
    return [part for part in judged if part in deciding]


def _rows(part: Part) -> list[Summary]:
    """Return the measured quantities of a part that have an accepted range, or else all."""
    known = [m for m in part.measured if m.mean is not None]
    ranged = [m for m in known if m.wanted and any(end is not None for end in m.wanted)]
    return ranged or known


def _panel(part: Part) -> str:
    if part.fits:
        return _fits_panel(part)
    chosen = sorted(_rows(part), key=part.room)[:ROWS]
    return _rows_panel(part, [m for m in _rows(part) if m in chosen])


@dataclass(frozen=True)
class _Axis:
    """A horizontal or vertical axis from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def at(self, value: float) -> float:
        """Return the place of a value; values beyond an end are drawn at this end."""
        a, b, v = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            a, b, v = math.log(a), math.log(b), math.log(v)
        return self.start + (self.end - self.start) * ((v - a) / (b - a) if b > a else 0.5)

    def ticks(self) -> list[float]:
        """Return three to six round numbers between the ends."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            step = max(1, math.ceil((last - first) / 4))
            powers = [10.0**k for k in range(first, last + 1, step)]
            if len(powers) >= 2:
                return powers
            steps = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 3, 5, 7)]
            return [v for v in steps if self.low <= v <= self.high][:5] or [self.low, self.high]
        span = self.high - self.low
        step = 10 ** math.floor(math.log10(span / 3))
        step *= next((m for m in (1, 2, 5) if span / (m * step) <= 5), 10)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _axis(values: Iterable[float], start: float, end: float, log: bool | None = None) -> _Axis:
    """Return an axis on which all values have room; without `log`, it is logarithmic if the values
    are not negative and the positive ones span more than a factor of fifty."""
    known = [0.0 if v == ABOVE_ZERO else v for v in values if math.isfinite(v)]
    positive = [v for v in known if v > 0]
    if log is None:
        log = bool(positive) and min(known) >= 0 and max(positive) > 50 * min(positive)
    if log:
        low, high = min(positive), max(positive)
        room = max((high / low) ** 0.08, 1.3)
        lower = low / room / (3 if min(known) <= 0 else 1)
        return _Axis(lower, high * room, start, end, True)
    low, high = min(known), max(known)
    room = 0.08 * (high - low) or 0.5 * abs(low) or 0.5
    return _Axis(low - room, high + room, start, end, False)


def _rows_panel(part: Part, rows: Sequence[Summary]) -> str:
    """Draw one row per quantity over its accepted range."""
    common, labels = _labels([m.name for m in rows])
    dots = part.kind in ("inequality", "ordering")
    numbers = [v for m in rows for v in (m.mean, m.low, m.high, *(m.wanted or ())) if v is not None]
    if dots:
        numbers += [v for m in rows for v in m.values if v is not None]
    x = _axis(numbers, _MARGIN, _WIDE - _MARGIN)
    head, top = _heading(part, common)
    body = [_ticks_below(x, top, top + _ROW * len(rows))]
    for i, (m, label) in enumerate(zip(rows, labels, strict=True)):
        y = top + _ROW * i + 26
        inside = part.room(m) >= -1e-12 * max(1.0, abs(m.mean or 0.0))
        body.append(_accepted(x, m.wanted or (None, None), y))
        body.append(_text(_MARGIN, y - 14, _short(label, 54), "rl", label))
        body += [_row(m, x, y, dots, inside or part.outcome == Outcome.SETTING)]
    height = top + _ROW * len(rows) + 24
    note = _AXES.get(part.kind, "mean and 99 % interval; shaded: the accepted range")
    if not any(m.wanted and any(end is not None for end in m.wanted) for m in rows):
        note = "mean and 99 % interval; reported, not judged"
    if len(_rows(part)) > len(rows):
        legend = note.rpartition("; ")[2]
        note = f"the {len(rows)} of {len(_rows(part))} nearest to the limit; {legend}"
    body.append(_text(_MARGIN, height + 10, note, "nt"))
    return _svg(height + 16, [head, *body], part)


def _row(m: Summary, x: _Axis, y: float, dots: bool, inside: bool) -> str:
    colour = "1" if inside else "2"
    mean = m.mean if m.mean is not None else math.nan
    low, high = (mean if end is None else end for end in (m.low, m.high))
    parts = []
    if dots:
        parts += [
            f'<circle class="f{colour} seed" cx="{x.at(v):.1f}" cy="{y:.1f}" r="2.6"/>'
            for v in m.values[:40] if v is not None
        ]  # fmt: skip
    parts.append(_line(f"s{colour} iv", x.at(low), y, x.at(high), y))
    at = x.at(mean)
    shape = (
        f'<circle class="f{colour} pt" cx="{at:.1f}" cy="{y:.1f}" r="4.6"/>'
        if inside
        else f'<path class="f{colour} pt" d="M{at:.1f} {y - 6:.1f}l6 6-6 6-6-6z"/>'
    )
    return "".join([*parts, shape])


def _accepted(x: _Axis, wanted: tuple[float | None, float | None], y: float) -> str:
    """Shade the accepted range behind a row, with its ends dashed."""
    low, high = wanted
    if low is None and high is None:
        return ""
    a = x.start if low is None else x.at(low)
    b = x.end if high is None else x.at(high)
    ends = [v for v, end in ((a, low), (b, high)) if end is not None]
    box = f'x="{a:.1f}" y="{y - 9:.1f}" width="{max(b - a, 1):.1f}" height="18"'
    edges = "".join(_line("claim", v, y - 9, v, y + 9) for v in ends)
    return f'<rect class="claimzone" {box}/>{edges}'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _ticks_below(x: _Axis, top: float, bottom: float) -> str:
    lines = []
    for tick in x.ticks():
        at = x.at(tick)
        anchor = "start" if at < x.start + 12 else "end" if at > x.end - 12 else "middle"
        lines.append(_line("gr", at, top, at, bottom))
        lines.append(_text(at, bottom + 14, _number(tick), f"tk a-{anchor}"))
    return "".join(lines)


def _fits_panel(part: Part) -> str:
    """Draw the points of fitted exponents, each with its fitted and its claimed line."""
    fits = part.fits[:LINES]
    head, top = _heading(part, "")
    bottom = top + 190.0
    x = _axis((v for f in fits for v in f.sizes), 46, _WIDE - 58, log=True)
    y = _axis((v for f in fits for v in f.means), bottom, top, log=True)
    body = []
    for tick in sorted({v for f in fits for v in f.sizes})[:: max(1, len(fits[0].sizes) // 5)]:
        body.append(_line("gr", x.at(tick), top, x.at(tick), bottom))
        body.append(_text(x.at(tick), bottom + 15, _number(tick), "tk a-middle"))
    for tick in y.ticks():
        body.append(_line("gr", x.start, y.at(tick), x.end, y.at(tick)))
        body.append(_text(42, y.at(tick) + 4, _number(tick), "tk a-end"))
    places: list[float] = []
    for i, fit in enumerate(fits, start=1):
        alone = len(fits) == 1 and part.outcome == Outcome.FAILS
        body.append(_fit(fit, x, y, 2 if alone else i, places))
    body.append(_text(x.end / 2 + 23, bottom + 32, fits[0].along, "tk a-middle it"))
    more = f"; {len(fits)} of {len(part.fits)} fits" if len(part.fits) > len(fits) else ""
    body.append(
        _text(
            _MARGIN,
            bottom + 52,
            f"fitted power at each line; dashed: the claimed power{more}",
            "nt",
        )
    )
    return _svg(bottom + 58, [head, *body], part)


def _fit(fit: Fit, x: _Axis, y: _Axis, i: int, places: list[float]) -> str:
    logs = [math.log(v) for v in fit.sizes], [math.log(v) for v in fit.means]
    mid = [sum(values) / len(values) for values in logs]
    wide = sum((a - mid[0]) ** 2 for a in logs[0])
    slope = sum((a - mid[0]) * (b - mid[1]) for a, b in zip(*logs, strict=True)) / wide
    ends = fit.sizes[0], fit.sizes[-1]

    def line(power: float, kind: str) -> str:
        points = [(x.at(v), y.at(math.exp(mid[1] + power * (math.log(v) - mid[0])))) for v in ends]
        drawn = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        return f'<polyline class="{kind}" points="{drawn}"/>'

    last = y.at(math.exp(mid[1] + slope * (logs[0][-1] - mid[0]))) + 4
    while any(abs(last - other) < 13 for other in places):
        last += 13
    places.append(last)
    dots = "".join(
        f'<circle class="f{i} pt" cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="4.2"><title>'
        f"{html.escape(quantity_text(fit.name))}</title></circle>"
        for a, b in zip(fit.sizes, fit.means, strict=True)
    )
    return (
        line(fit.claimed, "claim") + line(slope, f"s{i} l") + dots
        + _text(x.end + 6, last, _number(round(slope, 2)), f"f{i} a-start", fit.name)
    )  # fmt: skip


def _heading(part: Part, common: str) -> tuple[str, float]:
    """Return the title of a panel, the part with its verdict, and the height below it."""
    title = f"{GLYPHS[part.outcome]} {quantity_text(part.name)}"
    lines = [*_wrapped(title, 44)[:2], *([_short(common, 56)] if common else [])]
    kinds = ["tt"] * (len(lines) - bool(common)) + ["nt"] * bool(common)
    texts = [
        _text(_MARGIN, 14 + 15 * i, line, kind)
        for i, (line, kind) in enumerate(zip(lines, kinds, strict=True))
    ]
    return "".join(texts), 22.0 + 15 * len(lines)


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    lines = textwrap.wrap(text, width)
    return lines if len(lines) <= 2 else [lines[0], _short(" ".join(lines[1:]), width)]


_PLACE = re.compile(r"^(.*?) \((.*)\)$")


def _labels(names: Sequence[str]) -> tuple[str, list[str]]:
    """Split the names of quantities into what they have in common and what differs."""
    texts = [quantity_text(name) for name in names]
    found = [_PLACE.match(text) for text in texts]
    if len(texts) > 1 and all(found):
        bases = {m[1] for m in found if m}
        places = {m[2] for m in found if m}
        if len(bases) == 1:
            return bases.pop(), [m[2] for m in found if m]
        if len(places) == 1:
            return places.pop(), [m[1] for m in found if m]
    return "", texts


def _text(x: float, y: float, text: str, kind: str, whole: str = "") -> str:
    tip = f"<title>{html.escape(plain_text(whole))}</title>" if whole and whole != text else ""
    shown = html.escape(with_scripts(text))
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{shown}{tip}</text>'


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _number(value: float) -> str:
    """Return a number of an axis.

    >>> _number(1000), _number(0.00002), _number(-0.25)
    ('1000', '2·10⁻⁵', '−0.25')
    """
    return formatted(value, ".3g")


def _svg(height: float, parts: Sequence[str], part: Part) -> str:
    first = next(iter(_rows(part)), None)
    said = f"{part.name}: {part.outcome}"
    if first is not None and first.wanted:
        said += f"; {quantity_text(first.name)} is {_number(first.mean or 0.0)}"
        accepted = between(*first.wanted)
        said += f", accepted {accepted}" if accepted else ""
    return (
        f'<svg class="fig" viewBox="0 0 {_WIDE:.0f} {height:.0f}" role="img" '
        f'aria-label="{html.escape(plain_text(said))}">{"".join(parts)}</svg>'
    )


_TOKENS = {  # names of colours in the site's style sheet → light and dark values
    "ink": ("#1c2026", "#e9e6df"), "soft": ("#555c66", "#a8afb9"), "grid": ("#e6e2d9", "#2a3038"),
    "card": ("#ffffff", "#1b1f25"), "one": ("#0072b2", "#5db4ec"), "two": ("#bf4f00", "#ff8f4d"),
    "three": ("#007a5e", "#45c9a5"), "four": ("#b0568f", "#e39acb"),
}  # fmt: skip


def standalone(panel: str) -> str:
    """Return a panel as an SVG file of its own, with the colours of the site in light and dark."""
    sheet = (files("adversarium.report.site") / "style.css").read_text(encoding="utf-8")
    rules = re.findall(r"^(?:\.fig|\.s\d)[^{]*\{[^}]*\}(?:[^\n]*\})?", sheet, re.M)
    light, dark = (
        ";".join(f"--{name}:{values[i]}" for name, values in _TOKENS.items()) for i in (0, 1)
    )
    style = (
        f"svg{{{light};--sans:sans-serif}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}"
        + "".join(" ".join(rule.split()) for rule in rules)
    )
    _, _, box = panel.partition('viewBox="0 0 ')
    width, height = box.partition('"')[0].split()
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" class="fig"'
    body = panel.removeprefix('<svg class="fig"').partition(">")
    return f"{head}{body[0]}><style>{style}</style>{body[2]}\n"
