"""Find faults of a drawn picture from the boxes of its artists."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox


def faults(picture: Any) -> list[str]:
    """Return texts outside the canvas or overlapping, legends over data, and axes without a
    label."""
    picture.draw_without_rendering()
    return [*_clipped(picture), *_covered(picture), *_bare(picture), *_collisions(picture)]


def _axes(picture: Any) -> list[Any]:
    return [axis for axis in picture.axes if axis.axison]


def _legends(picture: Any) -> list[Any]:
    own = [axis.get_legend() for axis in picture.axes]
    return [*picture.legends, *(legend for legend in own if legend is not None)]


def _clipped(picture: Any) -> Iterator[str]:
    x0, y0, x1, y1 = picture.bbox.extents
    titles = [] if picture._suptitle is None else [picture._suptitle]
    boxes = [(axis, axis.get_tightbbox()) for axis in _axes(picture)]
    boxes += [(one, one.get_window_extent()) for one in (*titles, *_legends(picture))]
    for artist, box in boxes:
        if box.x0 < x0 - 1 or box.y0 < y0 - 1 or box.x1 > x1 + 1 or box.y1 > y1 + 1:
            yield f"{artist} is clipped"


def _covered(picture: Any) -> Iterator[str]:
    for legend in _legends(picture):
        for axis in _axes(picture):
            if _overlap(legend.get_window_extent(), axis.get_window_extent()):
                yield "a legend covers data"


def _bare(picture: Any) -> Iterator[str]:
    for axis in _axes(picture):
        place = axis.get_subplotspec()
        bar = axis.get_label() == "<colorbar>"
        alone = len(axis.get_shared_x_axes().get_siblings(axis)) == 1
        low = alone or place is None or place.is_last_row()
        if low and not bar and not axis.get_xlabel():
            yield "an x axis has no label"
        first = place is None or place.is_first_col()
        if first and not axis.get_ylabel() and len(axis.get_yticks()):
            yield "a y axis has no label"


def _told(picture: Any) -> list[Text]:
    texts = [picture._suptitle, *(axis.title for axis in _axes(picture))]
    for axis in _axes(picture):
        texts += [axis.xaxis.label, axis.yaxis.label]
        texts += [child for child in axis.get_children() if isinstance(child, Annotation)]
    return [text for text in texts if text is not None and text.get_text()]


def _collisions(picture: Any) -> Iterator[str]:
    boxes = [(text.get_text(), text.get_window_extent()) for text in _told(picture)]
    boxes += [("legend", legend.get_window_extent()) for legend in _legends(picture)]
    for (one, a), (other, b) in combinations(boxes, 2):
        if _overlap(a, b):
            yield f"{one!r} lies over {other!r}"
    for axis in _axes(picture):
        for side in (axis.xaxis, axis.yaxis):
            ticks = [tick.label1 for tick in side._update_ticks() if tick.label1.get_visible()]
            drawn = [t.get_window_extent() for t in ticks if t.get_text() and not t.get_rotation()]
            if any(_overlap(a, b) for a, b in combinations(drawn, 2)):
                yield f"ticks lie over each other: {[t.get_text() for t in ticks]}"


def _overlap(a: Bbox, b: Bbox, slack: float = 1.5) -> bool:
    both = Bbox.intersection(a, b)
    return both is not None and both.width > slack and both.height > slack
