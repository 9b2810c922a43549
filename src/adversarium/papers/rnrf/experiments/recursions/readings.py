"""Families of runs on which RNRF's recursions are tested."""

from adversarium.plans import where

STD, VARIED = "standard", "standard, random strengths"
ADV, CLOSED, LAW = "attacked", "attacked, d = 2k", "attack step"
SMALL_STEP, LARGE_STEP = "small step", "large step"  # η̃ = 10; η̃ = d^0.9 with σ0 = 1/√d
ELEMENT_CLIP, PATCH_CLIP = (where(LARGE_STEP, clip=clip) for clip in ("element", "patch"))
