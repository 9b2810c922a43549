"""Write a toy paper outside the package, and reset the catalogue afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adversarium.plans import papers as catalogue

PAPER = """
key = "TOY"
title = "Two clusters are learnt"
authors = "Nobody"

[letters]
n = "n"
d = "data.d"
"""

CLAIMS = """
[experiments."toy.thm1"]
title = "Theorem 1: the training error vanishes"
cost = "quick 1 s"

[claims."toy.error"]
source = "Theorem 1"
kind = "level"
statement = "Clean training fits every point."
experiment = "toy.thm1"
for_all = ["d"]
proved = true

[claims."toy.loss"]
source = "Theorem 1"
kind = "level"
statement = "The robust training loss ends below one."
experiment = "toy.thm1"

[claims."toy.later"]
source = "Theorem 2"
kind = "exponent"
statement = "Somebody will check this."
"""

THEOREM = '''"""Theorem 1 of TOY: the training error vanishes.

Paper: no training error after few steps.
Cost: quick 1 s.
"""

from adversarium.attacks import PGD
from adversarium.data import Clusters
from adversarium.networks import TwoLayer
from adversarium.plans import Level, Curves, Read, Run, last
from adversarium.measure import Error, risk, train_error

from ..theory.promised import LOSS

quick = dict(steps=30, seeds=5)


def plan(steps, d=6, n=10):
    for family, attack in (("clean", None), ("attacked", PGD(p=2, radius=0.1, steps=3, after=1))):
        yield Run(
            family=family,
            at={"d": Read("data.d")},
            data=Clusters(d=d, mu=6.0, beta=0.0),
            network=TwoLayer(m=16),
            attack=attack,
            n=n,
            steps=steps,
            eta=0.5,
            probes=(risk, train_error),
            final=(Error(n=50, name="test_error"),),
        )


def _last(name, family, high):
    return Level(last(name, family), 0, high)


checks = {
    "toy.error": _last("train_error", "clean", 0),
    "toy.loss": _last("risk", "attacked", LOSS),
}
figures = (Curves(name="loss", y=("risk",)),)
'''

PROMISED = '"""What the theorem promises."""\n\nLOSS = 1.0\n'


def write(folder: Path) -> Path:
    """Write the paper into a new folder."""
    for package in ("theory", "experiments"):
        (folder / package).mkdir(parents=True)
    files = {
        "paper.toml": PAPER,
        "claims.toml": CLAIMS,
        "experiments/thm1.py": THEOREM,
        "theory/promised.py": PROMISED,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@contextmanager
def forgotten() -> Iterator[None]:
    """Read the catalogue anew, and afterwards forget the directories that were named."""
    before = list(catalogue._named)
    _clear()
    try:
        yield
    finally:
        catalogue._named[:] = before
        _clear()


def _clear() -> None:
    for cached in (catalogue.papers, catalogue._toml, catalogue.claims, catalogue.experiments):
        cached.cache_clear()
