"""A user's own trained network: attack it, measure it, and doubt the results."""

from adversarium.diagnosis.attack import attack
from adversarium.diagnosis.attacked import Attacked, Doubt, MemberRow
from adversarium.diagnosis.measures import Diagnosis, Statement, diagnose

__all__ = ["Attacked", "Diagnosis", "Doubt", "MemberRow", "Statement", "attack", "diagnose"]
