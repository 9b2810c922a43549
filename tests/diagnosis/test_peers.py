"""Attacks of other libraries in the suite, and the suite in their place."""

import foolbox
import pytest
import torch
from torch import nn

import adversarium as av
from adversarium.diagnosis import (
    AutoAttackLike,
    FoolboxAttack,
    from_art,
    from_foolbox,
    from_torchattacks,
)


def network():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    x = torch.rand(40, 6, generator=torch.Generator().manual_seed(1))
    return net.eval(), x, net(x).argmax(-1)


class ArtLike:
    """An attack in the manner of ART."""

    def generate(self, x, y):
        return x + 5.0  # far outside the ball


def test_members_of_other_libraries_stay_in_the_ball():
    net, x, y = network()
    peer = foolbox.attacks.LinfPGD(steps=10)
    more = [from_foolbox(peer, net, radius=0.05, box=(0, 1)), from_art(ArtLike()),
            from_torchattacks(lambda x, y: x - 3.0)]  # fmt: skip
    found = av.attack(net, x, y, p="inf", radius=0.05, box=(0, 1), effort="quick", more=more,
                      quiet=True)  # fmt: skip
    names = [row.name for row in found.members]
    assert {type(peer).__name__, "ArtLike", "<lambda>"} <= set(names)
    assert (found.distances <= 0.05).all()
    alone = av.attack(net, x, y, p="inf", radius=0.05, box=(0, 1), effort="quick", quiet=True)
    assert (found.broken | ~alone.broken).all()  # more attacks break no fewer points


@pytest.mark.parametrize("several", [False, True])
def test_the_suite_answers_as_an_attack_of_foolbox(several):
    net, x, y = network()
    model = foolbox.PyTorchModel(net, bounds=(0, 1))
    radii = [0.02, 0.1]
    asked = radii if several else 0.1
    mine = FoolboxAttack("inf", effort="quick")(model, x, y, epsilons=asked)
    theirs = foolbox.attacks.LinfPGD()(model, x, y, epsilons=asked)
    assert mine[2].shape == theirs[2].shape
    assert [len(part) if several else part.shape for part in mine[:2]] == [
        len(part) if several else part.shape for part in theirs[:2]
    ]
    assert int(mine[2].sum()) >= int(theirs[2].sum()) > 0


def test_the_suite_answers_as_autoattack():
    net, x, y = network()
    suite = AutoAttackLike(net, norm="Linf", eps=0.1, version="quick", verbose=False)
    x_adv = suite.run_standard_evaluation(x, y, bs=10)
    assert float((net(x_adv).argmax(-1) == y).double().mean()) == suite.last.robust_accuracy < 1
