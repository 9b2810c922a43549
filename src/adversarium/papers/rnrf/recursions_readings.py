"""The runs beside which RNRF's recursions are iterated."""

from adversarium.plans import where

# families
STD, VARIED = "standard", "standard, random strengths"
ADV, CLOSED = "attacked", "attacked, d = 2k"
OURS, PRINTED = "Figure 3's attack", "printed attack"
ELEMENT, PATCH = (where(PRINTED, clip=clip) for clip in ("element", "patch"))
