"""Runs from Python, with the user's own data, network and attack as plain objects."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.rng import normal


@dataclass(frozen=True)
class Points:
    x: torch.Tensor
    y: torch.Tensor


class TwoBlobs:
    """Two blobs in the plane."""

    shape = (2,)
    k = 1

    def __init__(self, gap):
        self.gap = gap

    def sample(self, n, rng):
        y = torch.arange(n).double() % 2 * 2 - 1
        return Points(x=normal((n, 2), rng) + self.gap * y[:, None], y=y)


class Linear:
    """f(x) = ⟨w, x⟩."""

    def init(self, rng, shape, k):
        return torch.zeros(shape).double()

    def f(self, W, x):
        return (x * W[..., None, :]).sum(-1)


def shove(loss, batch, t, rng):
    """Every point moves a tenth against its label."""
    return batch.x - 0.1 * batch.y[..., None]


def test_own_data_network_and_attack_need_no_base_class():
    run = av.Run(
        data=TwoBlobs(3.0), network=Linear(), attack=shove, n=20, steps=50, eta=0.1,
        probes=[av.probes.risk, av.probes.train_error, av.probes.robust_train_error],
    )  # fmt: skip
    result = av.run(run, seeds=range(3))
    assert result["risk"].shape == (3, len(run.times))
    assert (result["risk"][:, -1] < result["risk"][:, 0]).all()
    assert (result["robust_train_error"][:, -1] >= result["train_error"][:, -1]).all()
    assert set(result.refused) == {"gram", "signal_noise", "linear"}
    other = av.run(av.Run(**{**vars(run), "data": TwoBlobs(1.0)}), seeds=range(3))
    assert not np.array_equal(other["risk"], result["risk"])


def test_a_state_is_trained_again_and_equals_the_recorded_one(tmp_path):
    run = av.Run(
        data=av.data.TwoFeaturePatches(k=2, d=10, P=4), network=av.networks.SmoothedCNN(m=4),
        attack=av.attacks.MarginStep(radius=1.2, step=10.0), n=10, steps=20, eta=0.1,
        probes=[av.probes.robust_feature, av.probes.robust_features],
    )  # fmt: skip
    result = av.run(run, seeds=(2, 5), store=tmp_path / "s.sqlite")
    W = result.state(seed=5, t=20).W
    assert W.shape == (2, 4, 10)
    expected = torch.stack([W[i, :, i].max() for i in (0, 1)]).mean()
    assert result["robust_feature"][1, -1] == pytest.approx(float(expected))
    assert result["robust_features"].shape == (2, len(run.times), 2)
    assert av.plot(result).axes
    with pytest.raises(KeyError, match="no probe"):
        result["nonsense"]
    with pytest.raises(ValueError, match="0 … 20"):
        result.state(seed=5, t=21)
    with pytest.raises(AttributeError, match="it has"):
        _ = av.nonsense


def test_a_slope_is_fitted_seed_by_seed_with_an_interval():
    from adversarium.experiments.evidence import Rows

    t = np.arange(1, 6)
    power = np.stack([3.0 * t**-1.5, 2.0 * t**-1.5, t**-1.5])
    rows = Rows(
        (0, 1, 2), {"loss": (t, power), "half": (t, power / 2), "once": (t[:1], power[:, :1])}
    )
    result = av.Result(av.Trial(function=len), rows)
    found = av.slope(result, "t", "loss")
    assert found.mean == pytest.approx(-1.5) and found.low == pytest.approx(found.high)
    assert av.slope(result, "loss", "half", log=False).values == pytest.approx([0.5] * 3)
    by_size = {10.0: result, 20.0: result}
    assert av.slope(by_size, "d", "loss").mean == pytest.approx(0)
    with pytest.raises(ValueError, match="different times"):
        av.slope(result, "once", "loss")
    with pytest.raises(ValueError, match="two different points"):
        av.slope(result, "t", "loss", between=(100, 200))


def test_an_experiment_from_python_brings_verdicts_and_pictures():
    outcome = av.experiment("rnrf.recursions", steps=12, m=4, d=30, seeds=(0, 1))
    assert outcome.verdicts["rnrf.lemD.2.decomp"].verdict == "holds"
    assert "rnrf.lemD.2.decomp" in outcome._repr_html_() and "lemD.2" in repr(outcome)
    assert outcome["attacked"]["robust_features"].shape == (2, 3, 2)
    assert av.plot(outcome, "recursions").axes
    with pytest.raises(ValueError, match="no picture"):
        av.plot(outcome, "laws")
    with pytest.raises(KeyError, match="no run"):
        outcome["attack"]
