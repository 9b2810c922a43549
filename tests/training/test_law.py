"""The engine `law`: states have the same distribution as with real vectors, in any dimension."""

import math

import pytest
import torch
from scipy import stats

import adversarium as av
from adversarium.papers.boat.theory.cluster_constants import loss_ratio, margin_share, weight_norm
from adversarium.training import ENGINES, choose
from adversarium.training.recipe import Recipe

SEEDS = 240


def run(d: int, engine: str, **data):
    n, m, eta = 6, 8, 2.0 / d
    return av.Run(
        data=av.data.Clusters(d=d, mu=4.0, **data),
        network=av.networks.TwoLayer(m=m, omega=0.1 / math.sqrt(d)),
        attack=av.attacks.PGD(p=2, radius=1.0, steps=5, after=1),
        n=n, steps=4, eta=eta, engine=engine,
        probes=(av.measure.risk, loss_ratio, margin_share, weight_norm),
        record=(4,),
    )  # fmt: skip


@pytest.mark.parametrize("flip", ["independent", "near"])
def test_runs_in_law_have_the_distribution_of_runs_on_real_vectors(flip):
    law = av.run(run(40, "law", flip=flip), seeds=range(SEEDS))
    real = av.run(run(40, "gram", flip=flip), seeds=range(SEEDS, 2 * SEEDS))
    for name in ("risk", "loss_ratio", "margin_share", "weight_norm"):
        told = stats.ks_2samp(law[name][:, -1], real[name][:, -1]).pvalue
        assert told > 1e-3, name  # eight tests of one seed set: fixed, so it never flickers


def test_any_dimension_has_the_same_few_coordinates():
    result = av.run(run(10**12, "law"), seeds=range(2))
    assert result.state(seed=0, t=4).W.shape[-1] == 6 + 4 + 1


def test_law_is_never_chosen_unasked_and_says_what_it_cannot_do():
    one = run(40, "law")
    recipe = Recipe(n=6, steps=1, eta=0.1)
    assert choose(one.data, one.network, one.attack, recipe)[0].name == "gram"
    law = ENGINES["law"]
    skew = av.data.Clusters(d=40, mu=1.0, marginal=av.data.Skew())
    assert "Gaussian" in law.refuses(skew, one.network, one.attack, recipe)
    assert "n + m/2 + 1 = 11" in law.refuses(
        av.data.Clusters(d=8, mu=1.0), one.network, one.attack, recipe
    )


def test_the_squared_lengths_of_the_rows_are_chi_squared():
    from adversarium.training.engines.law import triangular

    rows = torch.stack([triangular(3, 2, 6, 50, av.rng.stream(s, "x")) for s in range(4000)])
    off = rows[..., 1:].square().sum(-1)  # without the coordinate along μ
    assert off.mean(0).tolist() == pytest.approx([50.0] * 3, rel=0.02)
    assert off.var(0).tolist() == pytest.approx([100.0] * 3, rel=0.1)
