"""A user's own trained network: attack it, measure it, and doubt the results."""

from adversarium.diagnosis.attack import attack
from adversarium.diagnosis.attacked import Attacked, Doubt, MemberRow
from adversarium.diagnosis.measures import Diagnosis, Statement, diagnose
from adversarium.diagnosis.peers import (
    AutoAttackLike,
    FoolboxAttack,
    from_art,
    from_foolbox,
    from_torchattacks,
)

__all__ = [
    "Attacked",
    "AutoAttackLike",
    "Diagnosis",
    "Doubt",
    "FoolboxAttack",
    "MemberRow",
    "Statement",
    "attack",
    "diagnose",
    "from_art",
    "from_foolbox",
    "from_torchattacks",
]
