"""The runs beside which RNRF's recursions are iterated, and what their checks read."""

from adversarium.plans import Reading, where

# families
STD, VARIED, NOISY = "standard", "standard, random strengths", "standard, with noise"
ADV, CLOSED = "attacked", "attacked, d = 2k"
OURS, PRINTED = "Figure 3's attack", "printed attack"
ELEMENT, PATCH = (where(PRINTED, clip=clip) for clip in ("element", "patch"))


def above(name: str, edge: float) -> Reading:
    """Whether a number exceeds an edge: 0 no, 1 yes."""
    return Reading(
        f"{name} > {edge:g}, 0 no, 1 yes",
        lambda rows: (rows.last(name) > edge).astype(float),
        (name,),
    )
