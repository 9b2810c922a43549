"""Runs from Python, with the user's own data, network and attack as plain objects."""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

import adversarium as av
from adversarium.papers.rnrf.theory.features import robust_feature, robust_features
from adversarium.plans.evidence import Rows, Series
from adversarium.rng import normal
from adversarium.sockets import Along
from tests.runs.small import small


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
    """Move every point by a tenth against its label."""
    return batch.x - 0.1 * batch.y[..., None]


def test_own_data_network_and_attack_need_no_base_class():
    run = av.Run(
        data=TwoBlobs(3.0), network=Linear(), attack=shove, n=20, steps=50, eta=0.1,
        probes=[av.measure.risk, av.measure.train_error, av.measure.robust_train_error],
    )  # fmt: skip
    result = av.run(run, seeds=range(3))
    assert result["risk"].shape == (3, len(run.times))
    assert (result["risk"][:, -1] < result["risk"][:, 0]).all()
    assert (result["robust_train_error"][:, -1] >= result["train_error"][:, -1]).all()
    assert set(result.refused) == {"gram", "signal_noise", "linear"}
    other = av.run(replace(run, data=TwoBlobs(1.0)), seeds=range(3))
    assert not np.array_equal(other["risk"], result["risk"])


def test_a_state_is_trained_again_and_equals_the_recorded_one(tmp_path):
    run = av.Run(
        data=av.data.TwoFeaturePatches(k=2, d=10, P=4), network=av.networks.SmoothedCNN(m=4),
        attack=av.attacks.MarginStep(radius=1.2, step=10.0), n=10, steps=20, eta=0.1,
        probes=[robust_feature, robust_features],
    )  # fmt: skip
    result = av.run(run, seeds=(2, 5), store=tmp_path / "s.sqlite")
    W = result.state(seed=5, t=20).W
    assert W.shape == (2, 4, 10)
    expected = torch.stack([W[i, :, i].max() for i in (0, 1)]).mean()
    assert result["robust_feature"][1, -1] == pytest.approx(float(expected))
    assert result["robust_features"].shape == (2, len(run.times), 2)
    assert result.axes("robust_features") == {"class": (0.0, 1.0)}
    assert result.axes("robust_feature") == {}
    assert result.t("robust_feature").tolist() == list(run.times)
    assert result["robust_features"].mean(-1) == pytest.approx(result["robust_feature"])
    assert av.plot(result).axes
    with pytest.raises(KeyError, match="was not recorded"):
        result["nonsense"]
    with pytest.raises(ValueError, match="from 0 to 20"):
        result.state(seed=5, t=21)
    with pytest.raises(AttributeError, match="it has"):
        _ = av.nonsense


def test_a_slope_is_fitted_seed_by_seed_with_an_interval():
    t = np.arange(1, 6)
    power = np.stack([3.0 * t**-1.5, 2.0 * t**-1.5, t**-1.5])
    trial = av.Trial(function=len)
    series = {
        "loss": Series(t, power),
        "half": Series(t, power / 2),
        "once": Series(t[:1], power[:, :1]),
        "both": Series(t, np.stack([power, power], axis=-1), {"class": (0.0, 1.0)}),
    }
    result = av.Result(trial, Rows(trial, (0, 1, 2), series))
    found = av.slope(result, "t", "loss")
    assert found.mean == pytest.approx(-1.5) and found.low == pytest.approx(found.high)
    assert av.slope(result, "loss", "half", log=False).values == pytest.approx([0.5] * 3)
    assert av.slope(result, "t", "both").mean == pytest.approx(-1.5)
    by_size = {10.0: result, 20.0: result}
    assert av.slope(by_size, "d", "loss").mean == pytest.approx(0)
    with pytest.raises(ValueError, match="at the same times"):
        av.slope(result, "once", "loss")
    with pytest.raises(ValueError, match="two different values"):
        av.slope(result, "t", "loss", between=(100, 200))


def test_an_experiment_from_python_brings_verdicts_and_pictures():
    outcome = av.experiment("rnrf.recursions", steps=12, m=4, d=40, seeds=(0, 1))
    assert outcome.verdicts["rnrf.lemD.2.decomp"].verdict == "holds"
    assert "rnrf.lemD.2.decomp" in outcome._repr_html_() and "lemD.2" in repr(outcome)
    assert outcome["attacked"]["robust_features"].shape == (2, 13, 2)
    assert av.plot(outcome, "recursions").axes
    with pytest.raises(ValueError, match="no picture"):
        av.plot(outcome, "laws")
    with pytest.raises(KeyError, match="no run"):
        outcome["attack"]


def growing(rng, x):
    """Return a number, and a quantity with an axis."""
    return {"level": x, "curve": Along("N", (10, 20), (x, 2 * x))}


def test_a_trial_brings_arrays_with_the_axes_that_it_names():
    result = av.run(av.Trial(function=growing, parameters={"x": 3.0}), seeds=(4, 7))
    assert result.seeds == (4, 7) and set(result.probes) == {"level", "curve"}
    assert result["level"].tolist() == [[3.0], [3.0]]
    assert result["curve"].tolist() == [[[3.0, 6.0]], [[3.0, 6.0]]]
    assert result.axes("curve") == {"N": (10.0, 20.0)}
    assert set(result.last()) == {"level", "curve (N 10)", "curve (N 20)"}
    assert "curve (N 20)" in result._repr_html_() and "2 seeds" in repr(result)
    with pytest.raises(TypeError, match="trains no network"):
        result.state(seed=4, t=0)


def test_a_store_keeps_what_was_run_and_another_probe_is_added_to_it(tmp_path):
    def task(*probes):
        data, network = av.data.Clusters(d=6, mu=2.0, beta=0.0), av.networks.TwoLayer(m=4)
        return av.Run(data=data, network=network, n=5, steps=9, eta=0.1, probes=probes)

    path = tmp_path / "s.sqlite"
    first = av.run(task(av.measure.risk), seeds=range(2), store=path)
    both = av.run(task(av.measure.risk, av.measure.train_error), seeds=range(3), store=path)
    assert np.array_equal(both["risk"][:2], first["risk"]) and both["train_error"].shape[0] == 3
    assert np.isfinite(both["risk"]).all()


def test_what_cannot_be_run_gets_a_sentence():
    with pytest.raises(ValueError, match="distinct integers"):
        av.run(av.Trial(function=growing, parameters={"x": 1.0}), seeds=(1, 1))
    with pytest.raises(RuntimeError, match="missing 1 required"):
        av.run(av.Trial(function=growing), seeds=(0,))
    with pytest.raises(ValueError, match="names several experiments"):
        av.experiment("rnrf")
    with pytest.raises(ValueError, match="preset must be one of quick, paper"):
        av.experiment("rnrf.fig3", preset="slow")


def test_the_public_names_and_the_version_are_visible():
    about = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    assert set(av.__all__) <= set(dir(av))
    assert av.__version__ == about["project"]["version"]
    assert {"cluster", "frames", "xarray", "notebook"} <= set(
        about["project"]["optional-dependencies"]
    )


@pytest.mark.parametrize("seeds", [[True], [-1], [], [3, 2**63]], ids=str)
def test_seeds_are_whole_numbers_that_a_store_can_keep(seeds):
    with pytest.raises(ValueError, match=r"distinct integers >= 0 and < 2\^63"):
        av.run(av.Trial(function=growing, parameters={"x": 2.0}), seeds=seeds)


def test_an_unknown_device_is_refused():
    with pytest.raises(ValueError, match="the device must be cpu, cuda or cuda:N, got 'gpu'"):
        av.run(small(), device="gpu")


def test_a_slope_over_sizes_needs_two_results_with_the_same_seeds():
    with pytest.raises(ValueError, match="at least two results, got 0"):
        av.slope({}, "x", "level")
    trials = [av.Trial(function=growing, parameters={"x": x}) for x in (1.0, 2.0)]
    runs = {x: av.run(trial, seeds=(x, x + 1)) for x, trial in enumerate(trials, start=1)}
    with pytest.raises(ValueError, match="the same seeds"):
        av.slope(runs, "x", "level")


def test_a_result_is_a_mapping_with_states_at_whole_times():
    result = av.run(small(), seeds=range(2))
    assert "risk" in result and len(result) == len(result.probes) == 2
    assert list(result) == ["risk", "train_error"] == list(dict(result))
    with pytest.raises(ValueError, match="a step t from 0"):
        result.state(0, True)


def test_rows_become_frames_and_data_sets():
    result = av.run(small(), seeds=range(2))
    frame = pytest.importorskip("pandas") and result.to_frame()
    assert list(frame.columns) == ["probe", "seed", "t", "value"]
    last = frame[(frame.probe == "risk") & (frame.seed == 1)].sort_values("t").value.to_numpy()
    assert np.array_equal(last, result["risk"][1])
    whole = pytest.importorskip("xarray") and result.to_xarray()
    assert np.array_equal(whole["risk"].sel(seed=1).to_numpy(), result["risk"][1])


def test_an_unknown_schedule_is_rejected():
    with pytest.raises(ValueError, match="a schedule must be constant, cosine"):
        av.training.SGD(schedule="linear")
