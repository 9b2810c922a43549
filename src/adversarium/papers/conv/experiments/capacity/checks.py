"""Checks of §6 of CONV."""

from adversarium.plans import (
    Check,
    Reading,
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


def _everywhere(name: str, low: float = 2.0) -> Reading:
    """Return 1 if a number is 1 at every d ≥ low, else 0."""

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
    """Return a share at the largest d."""
    return Reading(f"{name}, largest d", lambda run: run.last(name)[..., -1], (name,))


checks: dict[str, Check] = {
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
                "at half of δ·min(1/γ_k, 1) and just below it": every(
                    *(
                        each(where(family), lambda run: existence(last("placed", run)))
                        for family in ("clusters", "below the edge")
                    )
                ),
                "sharp: not just above it, from d = 5 on": each(
                    where("above the edge"), lambda run: existence(_missing.on(run))
                ),
            }
        ),
    ),
    "conv.sec6.n": setting("existence"),  # follows from the definition: nothing is run
    "conv.sec6.vc": cited("inequality", "the VC dimension of networks, up to logarithms"),
    "conv.eq7": counted_as(
        "inequality",
        parts(
            {
                "a network of four layers and O(n) parameters": cited(
                    "inequality", "its construction; for d ≫ n the inputs alone need d weights"
                ),
                "ours: labellings at d = 256 that sign(p(⟨v, x⟩)) has, told": setting(
                    "inequality",
                    *(
                        reading.on(where("labellings", n=n))
                        for n in (8, 14)
                        for reading in (_at_largest_d("found"), _at_largest_d("not excluded"))
                    ),
                ),
                "ours: sign(p(⟨v, x⟩)) with n + d parameters fits any n points and, by Warren's "
                "count of sign patterns, does not shatter those of Theorem 6.1": setting(
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
