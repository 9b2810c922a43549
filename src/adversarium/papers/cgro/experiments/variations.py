"""Variations of CGRO's Theorem 4.1 beyond its setting.

Ours: attacks at the current weights instead of w* (a step of DeepFool on f itself, FGSM, PGD),
standard training, other radii, activations z^q (odd), ReLU and smoothed ReLU with signed filters,
and width.
Reading: set E with η = 0.1; robust errors under the paper's transfer attack and under strong l2
attacks at 0.05α, 0.1α, 0.2α and δ = γα. No claim of the paper is judged here.
"""

from dataclasses import replace
from typing import cast

from adversarium.attacks import APGD, FGSM, PGD, GenericGTA, PatchTransplant
from adversarium.measure.errors import Error, risk
from adversarium.networks import PatchCNN, Power, ReLU, SmoothedReLU
from adversarium.plans import Read, Table, where
from adversarium.sockets import Attack

from ..theory.patches import patches
from ..theory.regime import gates

__all__ = ["checks", "figures", "gates", "paper", "plan", "quick"]

D, GAMMA = 200, 1 - 0.01335
ALPHA, SIGMA0 = D**0.249, D**-0.5
RADII = {"0.05α": 0.05, "0.1α": 0.1, "0.2α": 0.2, "δ": GAMMA}
TRANSFER = cast(Attack, patches("", d=D).attack)

quick = dict(steps=5_000, seeds=5)
paper = dict(steps=10_000, seeds=10)

ATTACKS = {
    "transfer attack (paper)": TRANSFER,
    "standard training": None,
    "DeepFool step on f": GenericGTA(gamma=GAMMA, radius=GAMMA * ALPHA),
    "FGSM on f, δ": FGSM(p=2, radius=GAMMA * ALPHA),
    "PGD on f, δ": PGD(p=2, radius=GAMMA * ALPHA, steps=5),
    "PGD on f, 0.1α": PGD(p=2, radius=0.1 * ALPHA, steps=5),
    "PGD on f, 0.2α": PGD(p=2, radius=0.2 * ALPHA, steps=5),
}
ETA_FACTORS = {"FGSM on f, δ": 0.2, "PGD on f, δ": 0.2}  # factors of η; larger steps diverge
NETWORKS = {
    **{f"q = {q}": PatchCNN(m=8, sigma0=SIGMA0, activation=Power(q)) for q in (2, 3, 4, 5)},
    "ReLU": PatchCNN(m=8, sigma0=SIGMA0, activation=ReLU()),
    "smoothed ReLU": PatchCNN(m=8, sigma0=SIGMA0, activation=SmoothedReLU(b=10.0)),
}
WIDTHS = (2, 4, 8, 16, 32)


def plan(steps, eta=0.1, points=1000, attacked=100, ascent=20):
    run = dict(d=D, steps=steps, probes=(risk,), final=_errors(points, attacked, ascent))
    for name, attack in ATTACKS.items():
        own_eta = ETA_FACTORS.get(name, 1.0) * eta
        yield replace(patches("attacks", {"attack": name}, eta=own_eta, **run), attack=attack)
    for name, network in NETWORKS.items():
        base = patches("activations", {"activation": name}, eta=eta, **run)
        yield replace(base, network=network)
    for m in WIDTHS:
        yield patches("widths", {"m": Read("network.m")}, eta=eta, m=m, **run)


def _errors(points, attacked, ascent):
    """Return the errors on clean points, under the transfer attack and under strong l2 attacks."""
    errors = [Error(n=points, name="clean_test")]
    for on in ("train", "test"):
        errors.append(Error(on=on, n=points, attacks=(TRANSFER,), name=f"transfer_{on}"))
        for name, share in RADII.items():
            ball = dict(p=2, radius=share * ALPHA, steps=ascent)
            strong = (
                APGD(**ball, restarts=2),
                PGD(**ball, start="uniform"),
                PatchTransplant(radius=share * ALPHA),
            )
            errors.append(Error(on=on, n=attacked, attacks=strong, name=f"l2_{on} {name}"))
    return errors


checks: dict = {}

_names = {
    "risk": "training loss",
    "clean_test": "clean test",
    "transfer_train": "transfer attack, train",
    "transfer_test": "transfer attack, test",
    **{f"l2_{on} {name}": f"l2, {name}, {on}" for name in RADII for on in ("train", "test")},
}

figures = tuple(
    Table(
        name=family,
        title=title,
        y=tuple(_names),
        runs=(where(family),),
        names=_names,
        caption="Errors after training, mean over seeds with the 99 % interval; strong l2 attacks: "
        "two ascents and a search over patches, on the logit difference.",
    )
    for family, title in (
        ("attacks", "Training attacks that use w* or the current weights"),
        ("activations", "Activations, transfer attack"),
        ("widths", "Width m, transfer attack"),
    )
)
