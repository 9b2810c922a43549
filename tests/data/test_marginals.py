"""Cluster marginals: their moments, and samples that have these moments."""

import math

import pytest
import torch

from adversarium.data import (
    Clusters,
    Gauss,
    GaussLaplace,
    Mixed,
    Quartic,
    Skew,
    TruncatedGauss,
    overlap,
)
from adversarium.data.clusters import least_robust_error, robust_floor
from adversarium.rng import stream

LAWS = (Gauss(), Gauss(0.5), Quartic(), GaussLaplace(), Skew(), TruncatedGauss(), Mixed())


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_have_mean_zero_and_the_variance_that_is_told(law):
    x = law.sample((40_000, 6), stream(0, "train"))
    scale = math.sqrt(law.var / x.numel())
    assert abs(float(x.mean())) < 5 * scale
    assert float(x.square().mean()) == pytest.approx(law.var, rel=0.02)


@pytest.mark.parametrize("law", LAWS[:-1], ids=str)
def test_a_density_has_mass_one_and_is_strongly_log_concave(law):
    x = torch.linspace(-13, 13, 260_001, dtype=torch.float64)
    assert float(torch.trapezoid(law.log_density(x).exp(), x)) == pytest.approx(1, abs=1e-4)
    middle = law.log_density(torch.linspace(-1, 1, 2001, dtype=torch.float64))
    bend = -(middle[2:] - 2 * middle[1:-1] + middle[:-2]) / 1e-6
    assert float(bend.min()) >= law.lam * (1 - 1e-3)


def test_the_gaussian_has_the_orlicz_norm_of_its_closed_form():
    cut = TruncatedGauss(R=12.0)  # the same law, on a grid
    assert cut.psi2 == pytest.approx(Gauss().psi2, rel=2e-3)


@pytest.mark.parametrize(
    ("law", "mu", "alpha", "wanted"),
    [
        (Gauss(), 3.0, 0.3, 0.006934),
        (Gauss(), 2.0, 1.0, 0.317311),
        (Quartic(), 2.0, 0.2, 0.001680),
        (GaussLaplace(), 3.0, 0.3, 0.000679),
        (Skew(), 2.0, 0.2, 0.019716),
    ],
    ids=str,
)
def test_the_overlap_of_theorem_3_2_by_quadrature(law, mu, alpha, wanted):
    assert overlap(law, 2 * (mu - alpha)) == pytest.approx(wanted, abs=2e-6)


def test_the_three_lower_bounds_are_in_order():
    shared = overlap(Gauss(), 3.6)
    paper, tight = robust_floor(0.1, shared), robust_floor(0.1, shared, tight=True)
    assert paper < tight < least_robust_error(2.0, 0.2, 0.1)
    assert least_robust_error(1.0, 1.0, 0.1) == 0.5


@pytest.mark.parametrize("flip", ["independent", "near", "far", "correlated", "exact"])
def test_flips_have_the_rate_and_the_place_that_are_told(flip):
    data = Clusters(d=4, mu=1.0, beta=0.2, flip=flip)
    batch = data.sample(20_000, stream(1, "train"))
    wrong = batch.y != batch.clean_y
    assert float(wrong.double().mean()) == pytest.approx(0.2, abs=0.03)
    along = batch.clean_y * batch.x[:, 0]
    if flip == "near":
        assert float(along[wrong].max()) < float(along[~wrong].min())
    if flip == "far":
        assert float(along[wrong].min()) > float(along[~wrong].max())
    if flip == "exact":
        assert int(wrong.sum()) == 4000


def test_balanced_labels_are_balanced_with_their_flips():
    batch = Clusters(d=3, mu=1.0, beta=0.1, balanced=True).sample(100, stream(2, "train"))
    assert float(batch.clean_y.sum()) == 0 and float(batch.y.sum()) == 0


def test_spread_keeps_the_length_of_the_mean():
    assert float(Clusters(d=9, mu=3.0, spread=4).mean.norm()) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Gauss(0.0), "sigma > 0"),
        (lambda: Quartic(q=-1.0), "q > 0"),
        (lambda: Mixed((Gauss(),)), "two laws"),
        (lambda: Clusters(d=3, mu=1.0, spread=4), "spread from 1"),
        (lambda: Clusters(d=3, mu=1.0, flip="far", marginal=Mixed()), "quantile"),
        (lambda: Clusters(d=3, mu=1.0, seen=4), "spread <= seen <= d"),
    ],
)
def test_what_does_not_fit_is_a_sentence(make, word):
    with pytest.raises(ValueError, match=word):
        make()
