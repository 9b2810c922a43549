"""Certificates of our own image networks. Tracing a network calls it with stand-ins for tensors, so
this file is not among those whose shapes are checked."""

import math

import torch

from adversarium.networks import crown
from adversarium.networks.crown import proven_margins
from adversarium.networks.vision import resnet9, small_cnn
from adversarium.training.objectives import margin


def test_networks_of_the_papers_have_certificates(monkeypatch):
    monkeypatch.setattr(crown, "REFINED", 64)  # less work
    torch.manual_seed(0)
    for net, shape in (
        (small_cnn((1, 8, 8), 10), (1, 8, 8)),
        (resnet9((3, 32, 32), 10, width=4), (3, 32, 32)),
    ):
        net, x = net.eval(), torch.rand(2, *shape)
        with torch.no_grad():
            y = net(x).argmax(-1)
            low = proven_margins(net, x, y, 10, math.inf, 1e-5)
            assert (low <= margin(net(x), y).double()).all() and (low > -1).all()
