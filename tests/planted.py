"""Planted bugs: each breaks one part of the laboratory, and the claim that must turn.

The audit is itself audited: with the bug in place the claim no longer holds. `knobs` shrink the
experiment where the healthy verdict stays the same. `python -m tests.planted K` plants bug K and
prints the verdict; `python -m tests.planted K healthy` does the same without the bug.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

import adversarium.attacks.gradient as gradient
import adversarium.data.clusters as clusters
import adversarium.data.patches as patches
import adversarium.networks.two_layer as two_layer
import adversarium.probes.regret as regret
import adversarium.training.sgd as sgd
import adversarium.training.states as states
from adversarium.experiments.catalogue import claims, load
from adversarium.sweeps.audit import Reader, evidence, judged, run_missing
from adversarium.sweeps.grid import planned
from adversarium.sweeps.store import Store


@dataclass(frozen=True)
class Bug:
    """A bug, the claim that it must turn, and the knobs at which it is shown."""

    name: str
    claim: str
    plant: Callable[[], AbstractContextManager[Any]]
    knobs: dict[str, Any] = field(default_factory=dict)


def _method(owner: Any, name: str, change: Callable[..., Any]) -> Callable[[], Any]:
    """Replaces a method by change(original, …)."""
    original = getattr(owner, name)
    return lambda: patch.object(owner, name, lambda *a, **k: change(original, *a, **k))


def _halved_step(original, self, loss, batch, t, rng):
    """The training attack gets a hundredth of its step."""
    return batch.x + 0.01 * (original(self, loss, batch, t, rng) - batch.x)


def _wrong_sign(original, self, loss, batch, t, rng):
    """The attack helps instead of hurting."""
    return 2 * batch.x - original(self, loss, batch, t, rng)


def _no_signal(original, self, n, rng):
    """The signal patch loses its label."""
    batch = original(self, n, rng)
    x = batch.x.clone()
    x[torch.arange(n), batch.signal, 0] = self.alpha
    return type(batch)(x=x, y=batch.y, signal=batch.signal)


def _half_gamma(original, setting):
    """The reduced dynamics train against half the attack."""
    weaker = type(setting.attack)(gamma=setting.attack.gamma / 2)
    return original(states.Setting(
        setting.data, setting.network, weaker, setting.rule, setting.seeds, setting.device,
        setting.dtype,
    ))  # fmt: skip


def _small_mean(original, self, n, rng):
    """The clusters sit on top of each other and all labels are random."""
    batch = original(self, n, rng)
    flipped = batch.y.clone()
    flipped[::2] *= -1
    return type(batch)(x=batch.x / 20, y=flipped, clean_y=batch.clean_y)


def _leaky_interval(original, self, h, reach):
    """The certificate forgets the radius: then it proves what the attack refutes, or nothing."""
    low, high = original(self, h, 40 * reach)
    return low, high


def _wrong_growth(original, self, state, scene):
    """The growth factor's curvature has the wrong sign and the gap is counted once."""
    setting = scene.setting
    W_ref, L_ref = scene.once(self.name, lambda: self._reference(scene))
    eta = setting.rule.eta
    after = state.W - eta * state.full.gradient
    right = states.distance(state.W, W_ref).square() + eta * (L_ref - state.risk())
    return states.distance(after, W_ref).square() - right


def _easier_loss(original, network, W, batch, loss):
    """L_*(W_ref) is taken as the best instead of the worst member of every set."""
    from adversarium.attacks.finite import option_losses
    from adversarium.training.objectives import LOSSES

    options = option_losses(lambda x: LOSSES[loss](network.f(W, x), batch.y), batch.options)
    return options.amin(-1).mean(-1) - 1.0


def _ascent(original, rule, t):
    """Descent goes uphill."""
    return -original(rule, t)


def _no_adversary(original, setting, W, batch, attack, t, rng):
    """The training attack does nothing, so both trainings are one."""
    if len(batch.y[0]) == setting.rule.optimiser.batch:
        return batch.x
    return original(setting, W, batch, attack, t, rng)


_FIG3 = dict(steps=300)
_DIGITS = dict(epochs=50)

BUGS = (
    Bug("training attack a hundredth of its size", "rnrf.fig3.transition",
        _method(gradient.MarginStep, "__call__", _halved_step), _FIG3),
    Bug("training attack with the wrong sign", "rnrf.fig3.transition",
        _method(gradient.MarginStep, "__call__", _wrong_sign), _FIG3),
    Bug("signal patch without its label", "cgro.thm4.1",
        _method(patches.PatchData, "sample", _no_signal)),
    Bug("reduced dynamics train against half the attack", "cgro.thm4.1",
        lambda: _patched_engine("signal_noise", _half_gamma)),
    Bug("labels flipped against the clusters", "boat.thm3.1.train_error",
        _method(clusters.Clusters, "sample", _small_mean)),
    Bug("certificate forty times too wide", "boat.thm3.1.train_error",
        _method(two_layer.TwoLayer, "interval_at", _leaky_interval)),
    Bug("growth factor dropped, gap counted once", "conv.eq16",
        _method(regret.RegretExcess, "__call__", _wrong_growth), dict(rules=("exact",))),
    Bug("robust loss of the comparator minimised", "conv.eq16",
        _method(regret, "robust_loss", _easier_loss), dict(rules=("exact",))),
    Bug("training attack does nothing", "cgrm.tab1.digits",
        _method(sgd, "perturbed", _no_adversary), _DIGITS),
    Bug("descent goes uphill", "cgrm.tab1.digits",
        _method(sgd, "step_size", _ascent), _DIGITS),
)  # fmt: skip


def _patched_engine(name: str, change: Callable[..., Any]) -> Any:
    from dataclasses import replace

    from adversarium.training import engines

    changed = tuple(
        replace(e, states=lambda s, e=e: change(e.states, s)) if e.name == name else e
        for e in engines.ENGINES
    )
    return patch.object(engines, "ENGINES", changed)


def verdict(claim: str, knobs: dict[str, Any]) -> str:
    """The verdict of a claim at these knobs, from an empty store."""
    id = claims()[claim].experiment
    experiment = load(id)
    tasks = planned(experiment, "quick", knobs)
    seeds = range(experiment.seeds("quick"))
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Store(Path(folder) / "s.sqlite"), id)
        failures = run_missing(experiment, tasks, seeds, reader, "cpu", None)
        rows = evidence(reader, tasks, seeds)
    if rows is None:
        return f"failed: {failures}"
    return judged(experiment, claim, rows).verdict


if __name__ == "__main__":
    torch.set_num_threads(1)
    bug = BUGS[int(sys.argv[1])]
    if sys.argv[2:] == ["healthy"]:
        print(verdict(bug.claim, bug.knobs))
    else:
        with bug.plant():
            print(verdict(bug.claim, bug.knobs))
