"""The runs beside which RNRF's recursions are iterated."""

from adversarium.plans import where

# families
STD, VARIED = "standard", "standard, random strengths"
ADV, CLOSED, LAW = "attacked", "attacked, d = 2k", "attack step"
OURS, LARGE = "small step", "large step"  # η̃ = 10, and d^0.9 from σ0 = 1/√d
ELEMENT, PATCH = (where(LARGE, clip=clip) for clip in ("element", "patch"))
