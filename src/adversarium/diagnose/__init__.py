"""A user's own trained network: attack it, and doubt the result."""

from adversarium.diagnose.attack import attack
from adversarium.diagnose.attacked import Attacked, Doubt, MemberRow

__all__ = ["Attacked", "Doubt", "MemberRow", "attack"]
