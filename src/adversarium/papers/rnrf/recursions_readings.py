"""The runs beside which RNRF's recursions are iterated."""

from adversarium.plans import where

# families
STD, VARIED = "standard", "standard, random strengths"
ADV, CLOSED, LAW = "attacked", "attacked, d = 2k", "attack step"
OURS, PRINTED = "small step", "printed step"  # η̃ = 10 and 10³
ELEMENT, PATCH = (where(PRINTED, clip=clip) for clip in ("element", "patch"))
