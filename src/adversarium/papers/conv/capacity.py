"""§6 of CONV: what robust interpolation asks of a function class.

Paper: a class that fits any n balls of radius δ with any labels has VC dimension Ω(nd); networks
that fit any n points need O(n log n).
Reading: the proof is finite. For every labelling of the ⌊n/2⌋d points there are centres more than
2δ apart whose balls carry it: exchanging coordinates, k = 0, …, d positive points a cluster are all
there is, judged in rational arithmetic. n = 1 is judged apart. The printed spread rule takes a
maximum where the minimum is needed.
Cost: quick 15 s (2 cores).
"""

from adversarium.plans import (
    Profile,
    Read,
    Reading,
    Trial,
    at_most,
    cited,
    counted_as,
    each,
    every,
    existence,
    identity,
    last,
    parts,
    setting,
    where,
)
from adversarium.trials import (
    placed_by_search,
    polynomial_class,
    shattered_by_classes,
    shattered_clusters,
    spread_limits,
    touching_edges,
)

SPLITS = ((2, 1), (3, 1), (4, 2), (5, 2), (5, 4), (6, 3), (8, 3))
LARGE = ((10, 5), (10, 9), (20, 10), (20, 19))
SMALL = ((2, 2), (3, 2), (4, 2), (4, 3), (6, 2))
TRIED = ((4, 4), (6, 3), (6, 4), (4, 6), (8, 3))

quick = dict(seeds=5, sizes=(2, 3, 4, 5, 10, 30), most=30, splits=SPLITS, tried=SMALL)
paper = dict(
    seeds=10, sizes=tuple(range(2, 101)), most=100, splits=SPLITS + LARGE, tried=SMALL + TRIED
)


def plan(sizes, most, splits, tried):
    for d in sizes:
        at = {"d": Read("d")}
        yield Trial(family="clusters", at=at, function=shattered_clusters,
                    parameters={"d": d}, exact=True)  # fmt: skip
    for rule, factor in (("max", 0.999), ("min", 0.999), ("min", 1.001)):
        at = {"rule": Read("rule"), "factor": Read("factor")}
        parameters = dict(most=most, rule=rule, factor=factor)
        yield Trial(family="spreads", at=at, function=spread_limits, parameters=parameters,
                    exact=True)  # fmt: skip
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
                    parameters=dict(n=n, d=d))  # fmt: skip


def _everywhere(name: str, low: float = 2.0) -> Reading:
    """1 where a number is 1 at every d ≥ low."""

    def all_of(run):
        at = run[name].axes["d"]
        return run.last(name)[:, [i for i, d in enumerate(at) if d >= low]].min(1)

    told = "every d" if low == 2 else f"every d ≥ {low:g}"
    return Reading(f"two balls for every labelling, {name} hyperplane, {told}", all_of, (name,))


def _nowhere(name: str, low: float) -> Reading:
    """1 where a number is 0 at every d ≥ low."""

    def none_of(run):
        at = run[name].axes["d"]
        return 1 - run.last(name)[:, [i for i, d in enumerate(at) if d >= low]].max(1)

    return Reading(f"no two balls for some labelling, {name} hyperplane, d ≥ {low:g}", none_of,
                   (name,))  # fmt: skip


PRINTED = where("spreads", rule="max")
MENDED, BEYOND = where("spreads", rule="min", factor=0.999), where("spreads", factor=1.001)

checks = {
    "conv.thm6.1": counted_as(
        "existence",
        parts(
            {
                "n ≥ 2: every labelling of ⌊n/2⌋d points has its balls": every(
                    each(where("clusters"), lambda run: existence(last("placed", run))),
                    each(where("classes"), lambda run: existence(last("prototypes", run))),
                    each(where("classes"), lambda run: existence(last("unions of balls", run))),
                ),
                "n = 1: the class {+1, −1} is 1-robust and shatters one point, not d": each(
                    where("clusters"),
                    lambda run: existence(last("constants", run)),
                ),
            }
        ),
    ),
    "conv.thm6.1.gamma": counted_as(
        "existence", each(where("search"), lambda run: identity(last("radius", run), 1e-5))
    ),
    "conv.thm6.1.exact": counted_as(
        "existence",
        parts(
            {
                "a solver finds the same distance": each(
                    where("search"), lambda run: identity(last("distance", run), 1e-6)
                ),
                "if: explicit centres just below the edge": at_most(last("below", "edges"), 0.0),
                "only if: averaged containment just above it": every(
                    at_most(last("above", "edges"), 0.0),
                    identity(last("averaging", "edges"), 1e-12),
                ),
            }
        ),
    ),
    "conv.thm6.1.balls": counted_as(
        "existence",
        parts(
            {
                "on the printed hyperplane": existence(_everywhere("printed").on(PRINTED)),
                "on any hyperplane": existence(_everywhere("any").on(PRINTED)),
            }
        ),
    ),
    "conv.thm6.1.balls.corrected": counted_as(
        "existence",
        parts(
            {
                "below δ·min(1/γ_k, 1)": existence(_everywhere("printed").on(MENDED)),
                "sharp: not above it, from d = 5 on": existence(_nowhere("printed", 5).on(BEYOND)),
                "disjoint balls within 2δ of c": each(
                    where("clusters"), lambda run: existence(last("placed", run))
                ),
            }
        ),
    ),
    "conv.sec6.n": setting("existence", last("placed", where("clusters", d=2))),
    "conv.sec6.vc": cited("inequality", "the VC dimension of networks, up to logarithms"),
    "conv.eq7": counted_as(
        "inequality",
        parts(
            {
                "a network of four layers and O(n) parameters": cited(
                    "inequality", "its construction; for d ≫ n the inputs alone need d weights"
                ),
                "ours: sign(p(⟨v, x⟩)) with n + d parameters fits any n points and, by Warren's "
                "count of sign patterns, does not shatter those of Theorem 6.1": setting(
                    "inequality",
                    *(
                        last(name, where("polynomials", n=n))
                        for n in (100, 50)
                        for name in ("missed", "spare", "parameters")
                    ),
                ),
            }
        ),
    ),
}

figures = (
    Profile(
        name="spreads",
        title="App. D: are there two balls for every labelling?",
        y=("printed", "any"),
        runs=(PRINTED, MENDED, BEYOND),
        names={"printed": "on the printed hyperplane", "any": "on any hyperplane"},
        x_label="d",
        y_label="1: for every labelling",
        caption="Spread s of the points: 0.999 δ, which the printed maximum allows; 0.999 and "
        "1.001 of the corrected limit δ·min(1/γ_k, 1).",
    ),
)
