"""Checks of §6 of CONV."""

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Existence,
    Hypothesis,
    Identity,
    NotTestable,
    Parts,
    Reading,
    Why,
    last,
    where,
)


def _everywhere(name: str, low: float = 2.0) -> Reading:
    """Return a reading that is 1 if a quantity is 1 at every d ≥ low, else 0."""

    def all_of(run):
        axis = run[name].axes["d"]
        return run.last(name)[:, [i for i, d in enumerate(axis) if d >= low]].min(1)

    dimensions = "every d" if low == 2 else f"every d ≥ {low:g}"
    return Reading(
        f"two balls for every labelling, {name} hyperplane, {dimensions}", all_of, (name,)
    )


_missing = Reading("some labelling has no two balls", lambda run: 1 - run.last("placed"),
                   ("placed",))  # fmt: skip
PRINTED = where("spreads")


def _at_largest_d(name: str) -> Reading:
    """Return a reading of a share at the largest d."""
    return Reading(f"{name}, largest d", lambda run: run.last(name)[..., -1], (name,))


checks: dict[str, Check] = {
    "conv.thm6.1": CountedAs(
        "existence",
        Parts(
            {
                "n ≥ 2: every labelling of ⌊n/2⌋d points has its balls": Every(
                    Each(where("clusters"), lambda run: Existence(last("placed", run))),
                    Each(where("classes"), lambda run: Existence(last("prototypes", run))),
                    Each(where("classes"), lambda run: Existence(last("unions of balls", run))),
                ),
                "n = 1: {+1, −1}, which fits any one ball, shatters d points": Every(
                    *(Existence(last("constants", where("clusters", d=d))) for d in (2, 3))
                ),
            }
        ),
    ),
    "conv.thm6.1.gamma": CountedAs(
        "existence", Each(where("search"), lambda run: Identity(last("radius", run), 1e-5))
    ),
    "conv.thm6.1.exact": CountedAs(
        "existence",
        Parts(
            {
                "a solver finds the same distance": Each(
                    where("search"), lambda run: Identity(last("distance", run), 1e-6)
                ),
                "if: explicit centres just below the edge": AtMost(last("below", "edges"), 0.0),
                "only if: averaged containment just above it": Every(
                    AtMost(last("above", "edges"), 0.0),
                    Identity(last("averaging", "edges"), 1e-12),
                ),
            }
        ),
    ),
    "conv.thm6.1.balls": CountedAs(
        "existence",
        Parts(
            {
                "on the printed hyperplane": Existence(_everywhere("printed").on(PRINTED)),
                "on any hyperplane": Existence(_everywhere("any").on(PRINTED)),
            }
        ),
    ),
    "conv.thm6.1.balls.corrected": CountedAs(
        "existence",
        Parts(
            {
                "at half of δ·min(1/γ_k, 1) and just below it": Every(
                    *(
                        Each(where(family), lambda run: Existence(last("placed", run)))
                        for family in ("clusters", "below the edge")
                    )
                ),
                "sharp: not just above it, from d = 5 on": Each(
                    where("above the edge"), lambda run: Existence(_missing.on(run))
                ),
            }
        ),
    ),
    "conv.sec6.n": Hypothesis("existence"),  # follows from the definition: nothing is run
    "conv.sec6.vc": NotTestable(
        "inequality", Why.CITED, "the VC dimension of networks, up to logarithms"
    ),
    "conv.eq7": CountedAs(
        "inequality",
        Parts(
            {
                "a network of four layers and O(n) parameters": NotTestable(
                    "inequality",
                    Why.CITED,
                    "its construction; for d ≫ n the inputs alone need d weights",
                ),
                "ours: labellings at d = 256 that sign(p(⟨v, x⟩)) has, reported": Hypothesis(
                    "inequality",
                    *(
                        reading.on(where("labellings", n=n))
                        for n in (8, 14)
                        for reading in (_at_largest_d("found"), _at_largest_d("not excluded"))
                    ),
                ),
                "ours: sign(p(⟨v, x⟩)) with n + d parameters fits any n points and, by Warren's "
                "count of sign patterns, does not shatter those of Theorem 6.1": Hypothesis(
                    "inequality",
                    *(
                        last(name, where("polynomials", n=n))
                        for n in (100, 50)
                        for name in ("missed of eight points", "spare", "parameters")
                    ),
                ),
            }
        ),
    ),
}
