"""Certificates of the explicit classifiers never exceed what an attack reaches, and fail if a ball
of the other class comes too close."""

import pytest
import torch

from adversarium.constructions import Balls, linear_clean
from adversarium.constructions.certified import memorised_margins, separated_margins
from adversarium.data import HyperplaneCells
from adversarium.papers.cgrm.theory.separated import separated_training
from adversarium.rng import stream, uniform

EPS0, DELTA = 0.05, 0.2


def _cells(p):
    data = HyperplaneCells(D=5, each=True)
    points = data.sample(data.cells, stream(0, "cells"))
    return points, Balls(x=points.x[:8], y=points.y[:8], delta=DELTA, R=data.R, p=p)


@pytest.mark.parametrize(
    ("gate", "p"), (("exact", torch.inf), ("product", torch.inf), ("product", 2))
)
def test_the_certificate_lies_below_the_network_all_over_the_ball(gate, p):
    points, balls = _cells(p)
    net, rng = balls.memorising_network(linear_clean(5, EPS0), gate), stream(0, "steps")
    bound = memorised_margins(balls, gate, points.x, points.y, EPS0)
    assert (bound[:8] > 0).all() and (bound[8:] <= 0).all()
    for _ in range(200):
        step = 2 * uniform(points.x.shape, rng) - 1
        step = DELTA * step / step.norm(p, dim=1, keepdim=True)
        assert (points.y * net(points.x + step)[:, 0] >= bound - 1e-6).all()


def test_a_ball_of_the_other_class_that_meets_the_own_one_takes_the_certificate():
    points, balls = _cells(torch.inf)
    x, y = points.x[:8], points.y[:8]
    assert (separated_margins(balls, x, y) == 1).all()
    near = x[:1] + torch.tensor([0.3, 0, 0, 0, 0]).double()
    crowded = Balls(x=torch.cat([x, near]), y=torch.cat([y, -y[:1]]), delta=DELTA, R=0.8)
    assert separated_margins(crowded, x, y)[0] == -1


def test_where_margins_are_equally_hard_the_clean_error_falls_with_n():
    few, many = (separated_training(stream(0, "trial"), N=n, d=16, draws=20) for n in (8, 64))
    assert many["clean_error"] < few["clean_error"] / 2
    assert 0.8 < few["ratio"] < 1.25 and few["open_train"] == many["open_train"] == 0
