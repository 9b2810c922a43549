"""Largest gradient norms and loss changes in balls, compared with a classifier that has closed
forms, and with weaker and stronger searches."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import softplus

import adversarium as av
from adversarium.data import Digits
from adversarium.measure.landscape import (
    LandscapeProbe,
    bend,
    loss_landscape,
    position,
    slope_between,
)
from adversarium.networks import Module, small_cnn
from adversarium.plans.run import Run
from adversarium.rng import stream
from adversarium.training import SGD

RADII = tuple(i / 8 for i in range(13))


def linear(count=6, d=5):
    """A linear logit with its points: f, x, y, the margins and ‖w‖₁."""
    w = torch.randn(d, generator=stream(0, "w")).double()
    x = torch.randn(count, d, generator=stream(0, "x")).double()
    y = torch.where(x @ w > 0, 1.0, -1.0).double()
    return lambda z: z @ w, x, y, y * (x @ w), w.abs().sum()


def test_a_linear_classifier_has_the_landscape_of_the_formula():
    f, x, y, margin, norm = linear()
    found = loss_landscape(f, x, y, RADII, stream(0, "search"), box=None)
    radii = torch.tensor(RADII).double()
    worst = margin[:, None] - radii * norm
    assert torch.allclose(found.gradient, norm * torch.sigmoid(-worst))
    assert torch.allclose(found.change, softplus(-worst) - softplus(-margin)[:, None])
    assert float(found.missed) == 0


def test_log_g_of_a_linear_classifier_never_bends_upward():
    f, x, y, *_ = linear()
    found = loss_landscape(f, x, y, RADII, stream(0, "search"), box=None)
    assert bool((bend(RADII, found.gradient.log(), 1.0) <= 1 + 1e-9).all())


def test_a_kink_at_the_radius_bends_there_and_its_position_is_found():
    kinked = torch.tensor([[r if r <= 1 else 1 + 5 * (r - 1) for r in RADII]])
    assert float(bend(RADII, kinked, 1.0)) == pytest.approx(5)
    assert float(position(RADII, kinked, 1.0)) == pytest.approx(1.0625)
    with pytest.raises(ValueError, match="two radii between"):
        slope_between((0.0, 1.0), kinked[:, :2], 0.2, 0.9)


def test_maxima_are_nested_and_a_longer_search_finds_no_less():
    network = Module(build=small_cnn, options={"width": 4})
    W = network.init(stream(0, "init"), (1, 8, 8), 10)
    batch = Digits().sample(8, stream(0, "x"))

    def f(z):
        return network.f(W, z)

    radii = (0.0, 0.1, 0.2)
    short, long = (
        loss_landscape(f, batch.x, batch.y, radii, stream(0, "s"), steps=steps, starts=2)
        for steps in (2, 16)
    )
    for found in (short, long):
        assert bool((found.gradient.diff(dim=-1) >= 0).all())
        assert bool((found.change.diff(dim=-1) >= 0).all())
    assert float(long.gradient[:, -1].mean()) >= float(short.gradient[:, -1].mean())
    assert float(long.missed) <= float(short.missed)


def test_a_weak_search_is_reported_as_missed():
    found = loss_landscape(*linear()[:3], (0.0, 1.0), stream(0, "s"), box=None)
    weak = replace(found, gradient=found.gradient * 0.1)
    assert float(weak.missed) > 0


def test_radii_must_increase():
    f, x, y, *_ = linear()
    with pytest.raises(ValueError, match="increasing radii"):
        loss_landscape(f, x, y, (0.2, 0.1), stream(0, "s"))
    with pytest.raises(ValueError, match="epsilon > 0"):
        LandscapeProbe(epsilon=0.0)


def test_the_probe_records_curves_over_the_radius_and_numbers_per_seed():
    probe = LandscapeProbe(on="test", epsilon=0.1, n=5, grid=RADII[::2], steps=4, starts=2)
    made = av.run(
        Run(
            data=Digits(), network=Module(build=small_cnn, options={"width": 2}), n=40, steps=2,
            eta=0.1, optimiser=SGD(batch=20), probes=(), final=(probe,),
        ),
        seeds=range(2),
    )  # fmt: skip
    curve = made.series("test_gradient_norm")
    assert curve.axes["radius"] == RADII[::2]
    assert curve.values.shape[-1] == len(RADII[::2])
    assert (curve.values[..., 1:] >= curve.values[..., :-1]).all()
    assert math.isfinite(float(made["test_bend"][0, -1]))


def test_the_mean_over_images_is_of_gradients_and_not_the_gradient_of_the_mean():
    f, x, y, *_ = linear()
    together = loss_landscape(f, x, y, (0.0, 0.5), stream(0, "s"), box=None)
    alone = loss_landscape(f, x[:1], y[:1], (0.0, 0.5), stream(0, "s"), box=None)
    assert torch.allclose(together.gradient[:1], alone.gradient)
