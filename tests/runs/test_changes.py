"""Words of the command line: seeds, changes, axes; nothing is evaluated."""

import math

import pytest

from adversarium.attacks import APGD, PGD
from adversarium.experiments.catalogue import load
from adversarium.networks import ReLU
from adversarium.sweeps.grid import (
    cells,
    parse_axis,
    parse_changes,
    parse_seeds,
    parse_value,
    planned,
)


def test_seeds():
    assert parse_seeds("3") == (0, 1, 2)
    assert parse_seeds("3,17") == (3, 17)
    assert parse_seeds("5:8") == (5, 6, 7)
    assert parse_seeds("") == ()
    for bad in ("0", "x", "3:3", "1,1", "-2", "3:", "1.5"):
        with pytest.raises(ValueError, match="--seeds needs"):
            parse_seeds(bad)


def test_values_are_literals_or_public_parts():
    assert parse_value("3") == 3 and parse_value("1e3") == 1000.0 and parse_value("-2") == -2
    assert parse_value("inf") == math.inf and parse_value("None") is None
    assert parse_value("(1, 2)") == (1, 2)
    assert parse_value("pgd(p=2, radius=1.2, steps=20)") == PGD(p=2, radius=1.2, steps=20)
    assert parse_value("APGD(p=inf, radius=1)") == APGD(p=math.inf, radius=1.0)
    assert parse_value("GTA(gamma=0.5)").gamma == 0.5
    assert parse_value("TwoLayer(m=4, activation=relu())").activation == ReLU()
    for bad, said in (
        ("pgd(p=2, radius=-1)", "attack=None"),
        ("pgd(p=2, radios=1)", "no field 'radios'"),
        ("pgd(radius='big')", "needs float"),
        ("pgd(radius=1, steps=2.5)", "needs int"),
        ("pdg(radius=1)", "Nearest"),
        ("pgd()", "cannot be built"),
        ("pgd(radius=1, box=(1,))", "needs"),
        ("pgd(radius=1, box=(0, 'a'))", "needs"),
        ("engines()", "no public part"),
        ("os.system('ls')", "only NAME"),
        ("__import__('os')", "no public part"),
    ):
        with pytest.raises(ValueError, match=said):
            parse_value(bad)


def test_changes_turn_knobs_fields_and_parts():
    experiment = load("rnrf.fig3")
    standard, adversarial = planned(experiment, "quick", parse_changes(["d=40", "data.alpha=3"]))
    assert standard.data.d == 40 and standard.data.alpha == 3.0
    assert adversarial.attack.radius == 1.2
    _, swapped = planned(experiment, "quick", parse_changes(["attack=pgd(p=2, radius=1.2)"]))
    assert swapped.attack == PGD(p=2, radius=1.2)
    _, field = planned(experiment, "quick", parse_changes(["attack.radius=0.5"]))
    assert field.attack.radius == 0.5
    theorem = load("cgro.thm4.1")
    tasks = planned(theorem, "quick", parse_changes(["scaling=300"]))
    assert tasks[-1].data.alpha == 300**0.249


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("dd=4", "nothing is called 'dd'"),
        ("data.beeta=4", "no field 'beeta'"),
        ("d=hello", "the knob d needs int"),
        ("data.alpha=hello", "needs float"),
        ("attack=3", "needs a part"),
        ("d", "name=value"),
        ("d=", "name=value"),
        ("d=3", "d >= 2k"),
        ("attack.radius=-1", "radius >= 0"),
        ("label=x", "nothing is called"),
    ],
)
def test_a_wrong_change_gets_one_sentence(word, said):
    with pytest.raises(ValueError, match=said):
        planned(load("rnrf.fig3"), "quick", parse_changes([word]))


def test_axes():
    assert parse_axis("d=10:40:10").values == (10, 20, 30, 40)
    assert parse_axis("a=0:1:0.25").values == (0, 0.25, 0.5, 0.75, 1)
    assert parse_axis("g=0.1:0.3:0.1").values == (0.1, 0.2, 0.3)
    assert parse_axis("n=log:10:1000:3").values == (10, 100, 1000)
    assert parse_axis("x=1,2.5,word").values == (1, 2.5, "word")
    for bad in ("d", "d=", "d=1:2:0", "d=log:0:1:3", "d=5:1:1"):
        with pytest.raises(ValueError, match="--over"):
            parse_axis(bad)
    axes = [parse_axis("a=1,2"), parse_axis("b=3,4")]
    assert len(cells(axes)) == 4
    assert cells(axes, zipped=True) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    parts = parse_axis("attack=pgd(p=2, radius=1),fgsm(p=2, radius=1)").values
    assert [type(part).__name__ for part in parts] == ["PGD", "FGSM"]
    with pytest.raises(ValueError, match="twice"):
        cells([parse_axis("a=1,2"), parse_axis("a=3")])
    with pytest.raises(ValueError, match="one length"):
        cells([parse_axis("a=1,2"), parse_axis("b=3")], zipped=True)
