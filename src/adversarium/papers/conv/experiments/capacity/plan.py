"""§6 of CONV: the capacity that robust interpolation requires of a function class.

Paper: a class that fits any n balls of radius δ with any labels has VC dimension Ω(nd); networks
that fit any n points need O(n log n).
Reading: the proof is finite. For every labelling of the ⌊n/2⌋d points there are centres more than
2δ apart whose balls have these labels. By symmetry in the coordinates, only the number k = 0, …, d
of positive points per cluster matters; each k is tested in rational arithmetic. n = 1 is judged
separately. The published condition on the spread takes a maximum in place of a minimum. In
addition, we report the smallest networks that descent finds.
Cost: quick 14 s (one core); paper 2 min on 16 cores.
"""

from adversarium.plans import Lines, Powers, Profile, Read, Table, Trial, end, where

from ...theory.robust_balls import (
    placed_by_search,
    polynomial_class,
    polynomial_fits,
    shattered_by_classes,
    shattered_clusters,
    spread_curves,
    spread_limits,
    touching_edges,
)
from ...theory.widths import smallest_widths

SPLITS = ((3, 1), (4, 2), (5, 2), (5, 4), (6, 3), (8, 3))
LARGE_SPLITS = ((10, 5), (10, 9), (20, 10), (20, 19))
SMALL_SIZES = ((2, 2), (3, 2), (4, 2), (4, 3), (6, 2))
LARGE_SIZES = ((4, 4), (6, 3), (6, 4), (4, 6), (8, 3))
DIMENSIONS = (2, 4, 8, 16, 32, 64, 128, 256)
NETWORK_SIZES = tuple((n, d) for n in (4, 8) for d in (2, 4, 8, 16))

quick = dict(seeds=5, sizes=(2, 3, 4, 5, 10, 30), most=30, splits=SPLITS[:4], tried=SMALL_SIZES,
             fitted=((4, 2),), tries=2, steps=200, pool=200)  # fmt: skip
paper = dict(
    seeds=10, sizes=tuple(range(2, 101)), most=100, splits=SPLITS + LARGE_SPLITS,
    tried=SMALL_SIZES + LARGE_SIZES, fitted=NETWORK_SIZES, tries=8, steps=1500, pool=20000,
)  # fmt: skip


def plan(sizes, most, splits, tried, fitted, tries, steps, pool):
    for d in sizes:
        at = {"d": Read("d")}
        yield Trial(family="clusters", at=at, function=shattered_clusters,
                    parameters={"d": d}, exact=True)  # fmt: skip
        yield Trial(family="below the edge", at=at, function=shattered_clusters,
                    parameters={"d": d, "share": 0.999}, exact=True)  # fmt: skip
        if d >= 5:
            yield Trial(family="above the edge", at=at, function=shattered_clusters,
                        parameters={"d": d, "share": 1.001}, exact=True)  # fmt: skip
    yield Trial(family="spreads", function=spread_limits, parameters={"most": most}, exact=True)
    yield Trial(family="limits", function=spread_curves, parameters={"most": most}, exact=True)
    for d, k in splits:
        at = {"d": Read("d"), "k": Read("k")}
        yield Trial(family="search", at=at, function=placed_by_search,
                    parameters=dict(d=d, k=k))  # fmt: skip
    yield Trial(family="edges", function=touching_edges, parameters={"most": most})
    for n, d in tried:
        at = {"n": Read("n"), "d": Read("d")}
        yield Trial(family="classes", at=at, function=shattered_by_classes,
                    parameters=dict(n=n, d=d), exact=True)  # fmt: skip
    for n, d in ((100, 100), (50, 200)):
        at = {"n": Read("n"), "d": Read("d")}
        yield Trial(family="polynomials", at=at, function=polynomial_class,
                    parameters=dict(n=n, d=d), version=2)  # fmt: skip
    for n in (4, 8, 10, 12, 14, 16):
        yield Trial(family="labellings", at={"n": Read("n")}, function=polynomial_fits,
                    parameters=dict(n=n, sizes=DIMENSIONS, pool=pool))  # fmt: skip
    if odd := [n for n, _ in fitted if n % 2]:
        raise ValueError(
            f"fitted needs an even number of points (half of each label), got {odd[0]}."
        )
    for n, d in fitted:
        at = {"n": Read("n"), "d": Read("d")}
        yield Trial(family="widths", at=at, function=smallest_widths,
                    parameters=dict(n=n, d=d, tries=tries, steps=steps), version=3)  # fmt: skip


figures = (
    Powers(
        name="widths",
        title="§6: the smallest width found that fits balls, divided by that for points",
        number=end("robust/plain"),
        sweeps={f"d (n = {n})": where("widths", n=n) for n in (4, 8)},
        along={f"d (n = {n})": "d" for n in (4, 8)},
        claimed={},
        y_label="width that fits the balls/width that fits the points",
        caption="n random points of R^d, the nearest two 2.1 δ apart; 16 ReLU networks per width. "
        "Balls are fitted if a certificate, or an attack from 20 + 2m starts, finds no error.",
    ),
    Lines(
        name="found",
        title="§6: the smallest widths found",
        numbers=(
            end("plain", "fits the points"),
            end("robust", "fits the balls"),
        ),
        x="d",
        by=("n",),
        runs=(where("widths"),),
        y_label="width",
        caption="Two-layer ReLU networks with biases. Mean and 99 % interval over seeds.",
    ),
    Table(
        name="polynomials",
        title="§6: a class with n + d parameters that interpolates and is not robust",
        y=("parameters", "missed of eight points", "spare"),
        runs=(where("polynomials"),),
        names={
            "missed of eight points": "largest error at eight points",
            "spare": "log₂ of the bound on its sign patterns − ⌊n/2⌋d",
        },
        caption="sign(p(⟨v, x⟩)), p of degree n − 1. Negative: the class cannot shatter the points "
        "of Theorem 6.1.",
    ),
    Profile(
        name="labellings",
        title="§6: labellings of the points of Theorem 6.1 that sign(p(⟨v, x⟩)) fits",
        y=("found", "not excluded"),
        runs=(where("labellings"),),
        names={"found": "found", "not excluded": "not excluded by the count of windows"},
        x_label="d",
        y_label="share of 200 random labellings",
        log_x=True,
        caption="deg p = n − 1, n + d parameters. For n ≤ 8, and in some seeds for n = 10, one p "
        "of the pool has every window, so the class shatters the ⌊n/2⌋d points for every "
        "d. For n ≥ 14, large d exclude this. If only “found” falls, the pool is too "
        "small. Mean and range (band) over seeds.",
    ),
    Profile(
        name="limits",
        title="App. D: how far the points of a cluster may spread",
        y=("admitted", "printed hyperplane", "any hyperplane"),
        runs=(where("limits"),),
        names={
            "admitted": "δ·max(1/γ_k, 1), as printed",
            "printed hyperplane": "δ·min(1/γ_k, 1): balls on two sides of the published hyperplane",
            "any hyperplane": "balls on two sides of some hyperplane",
        },
        x_label="d",
        y_label="largest spread s/δ",
        log_x=True,
        caption="Below the lines of the hyperplanes, two disjoint balls of radius δ separate every "
        "labelling of a cluster; from d = 3 on, the published condition admits more.",
    ),
)
