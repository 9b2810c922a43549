"""Planted bugs: each breaks one part of the laboratory, and the claim that must turn.

The audit is itself audited: with the bug in place the claim no longer holds. `knobs` shrink the
experiment where the healthy verdict stays the same. `python -m tests.planted ID` plants the bugs of
one experiment, one after the other, and prints the verdicts with and without them.
"""

import copy
import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

import adversarium.attacks.gradient as gradient
import adversarium.attacks.transfer as transfer
import adversarium.constructions.classifiers as classifiers
import adversarium.constructions.parts as construction_parts
import adversarium.data.clusters as clusters
import adversarium.data.patches as patches
import adversarium.data.two_features as two_features
import adversarium.experiments.cgrm.constructions as margins
import adversarium.experiments.cgrm.linear as linear
import adversarium.experiments.cgrm.modified as modified
import adversarium.experiments.cgro.dynamics as dynamics
import adversarium.experiments.cgro.flatness as flatness
import adversarium.experiments.cgro.setting as identities
import adversarium.experiments.rnrf.phases as phases
import adversarium.experiments.rnrf.recursions as recursions
import adversarium.experiments.rnrf.setting as setting
import adversarium.networks.two_layer as two_layer
import adversarium.training.sgd as sgd
import adversarium.training.signal_noise as signal_noise
import adversarium.training.states as states
from adversarium.experiments.catalogue import claims, load
from adversarium.networks import CubicCNN, SmoothedCNN
from adversarium.rng import integers, uniform
from adversarium.sweeps.audit import Reader, evidence, judged, run_missing
from adversarium.sweeps.grid import planned
from adversarium.sweeps.store import Store


@dataclass(frozen=True)
class Bug:
    """A bug, the claim that it must turn, others that turn in the same run, and the knobs."""

    name: str
    claim: str
    plant: Callable[[], AbstractContextManager[Any]]
    knobs: dict[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    only: tuple[str, ...] = ()  # labels of the tasks that the claim needs; () all
    seeds: int = 0  # 0: as many as the quick preset has


def _property(owner: Any, name: str, value: Callable[[Any], Any]) -> Callable[[], Any]:
    """Replaces a property."""
    return lambda: patch.object(owner, name, property(value))


def _exponentials(original, shape, rng):
    """Exponential numbers with random signs."""
    return original(shape, rng).sign() * -torch.log1p(-uniform(shape, rng))


def _replaced_by_universal(original, self, loss, batch, t, rng):
    """The model-free attack is swapped for the universal one."""
    return transfer.UniversalFeature(radius=self.radius, k=self.k)(loss, batch, t, rng)


def _method(owner: Any, name: str, change: Callable[..., Any]) -> Callable[[], Any]:
    """Replaces a method by change(original, …)."""
    original = getattr(owner, name)
    changed = functools.wraps(original)(lambda *a, **k: change(original, *a, **k))
    return lambda: patch.object(owner, name, changed)


def _hundredth(original, self, loss, batch, t, rng):
    """The training attack gets a hundredth of its step."""
    return batch.x + 0.01 * (original(self, loss, batch, t, rng) - batch.x)


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


def _both_parts(original, setting):
    """Clean training is half against the attack."""
    rule = replace(setting.rule, risk=replace(setting.rule.risk, lam=0.5))
    return original(replace(setting, rule=rule))


def _over_points(original, state, scene):
    """The mean over points is divided by their number once more."""
    return original(state, scene) / scene.setting.rule.n


def _tiny_clusters(original, self, n, rng):
    """The inputs shrink to a twentieth of their size."""
    batch = original(self, n, rng)
    return type(batch)(x=batch.x / 20, y=batch.y, clean_y=batch.clean_y)


def _wide_interval(original, self, h, reach):
    """The certificate's intervals are forty times too wide: sound, and useless."""
    return original(self, h, 40 * reach)


def _other_eta(factor):
    """The engine takes steps of another size than the rule says."""

    def change(original, setting):
        rule = copy.copy(setting.rule)
        object.__setattr__(rule, "eta", factor * setting.rule.eta)  # past the door's check
        return original(replace(setting, rule=rule))

    return change


def _no_adversary(original, setting, W, batch, attack, t, rng):
    """The training attack does nothing, so both trainings are one."""
    if len(batch.y[0]) == setting.rule.optimiser.batch:
        return batch.x
    return original(setting, W, batch, attack, t, rng)


def _strength(factor):
    """The robust strengths are multiplied."""

    def change(original, self, n, rng):
        return original(replace(self, alpha=factor * self.alpha), n, rng)

    return change


def _random_labels(original, self, n, rng):
    """The labels have nothing to do with the inputs."""
    batch = original(self, n, rng)
    return replace(batch, y=integers(self.k, (n,), rng))


def _still(original, self, loss, batch, t, rng):
    """The attack does nothing."""
    return batch.x


def _louder(original, self, loss, batch, t, rng):
    """The attack spends ten times its budget."""
    return batch.x + 10 * (original(self, loss, batch, t, rng) - batch.x)


@contextmanager
def _blind_attacks():
    """Neither of the strong attacks moves a point."""
    with ExitStack() as stack:
        for kind in (gradient.APGD, gradient.PGD):
            stack.enter_context(_method(kind, "__call__", _still)())
        yield


def _clips(kind):
    """The attack clips in another way than it was asked to."""
    return lambda original, self, *a: original(replace(self, clip=kind), *a)


def _noisy(original, self, n, rng):
    """Noise where there should be none."""
    return original(replace(self, sigma_n=0.1), n, rng)


def _one_label(original, self, n, rng):
    """All labels are +1."""
    batch = original(self, n, rng)
    x = batch.x.clone()
    x[torch.arange(n), batch.signal, 0] = self.alpha
    return type(batch)(x=x, y=torch.ones_like(batch.y), signal=batch.signal)


def _faster(original, x, y, S, *more):
    """The slower sequence is a tenth faster, and may win."""
    try:
        return original(x, y, 1.1 * S, *more)
    except OverflowError:
        return 1e6


def _features_only(original, self, rng, shape, k):
    """The initial weights have no part off the features."""
    W = original(self, rng, shape, k)
    W[..., 2 * k :] = 0
    return W


def _one_loss(original, name, f, x, y, risk):
    """Every attack climbs the logit difference, whatever it asked for."""
    return original("logit_difference", f, x, y, risk)


def _scaled(factor):
    """A function's result times a factor."""
    return lambda original, *a, **k: factor * original(*a, **k)


def _mostly_zero(original, shape, rng):
    """Four fifths of the rows are zero."""
    return original(shape, rng) * (uniform((shape[0], *[1] * (len(shape) - 1)), rng) < 0.2)


def _half_ball(original, self, x):
    """Membership of balls of half the radius."""
    return original(replace(self, delta=self.delta / 2), x)


def _no_ascent():
    """Adaptive and plain ascents return the clean point."""
    still = lambda self, loss, batch, t, rng: batch.x
    stack = ExitStack()
    stack.enter_context(patch.object(gradient.APGD, "__call__", still))
    stack.enter_context(patch.object(gradient.PGD, "__call__", still))
    return stack


_SHORT, _SHORTER = dict(steps=100), dict(steps=300)
_FIG3 = dict(steps=300, m=30, points=30)
_LATE = (
    "rnrf.phase2.crossing", "rnrf.fig3.robust_rise", "rnrf.thm4.4.robust_features",
    "rnrf.thm4.4.weak", "rnrf.lemD.21.offdiag_adv", "rnrf.phase1",
)  # fmt: skip
_CLEAN = (
    "rnrf.fig3.std_dominated", "rnrf.fig3.std_acc", "rnrf.thm4.3.train_perfect",
    "rnrf.thm4.3.nonrobust_features", "rnrf.thm4.3.attack", "rnrf.lemE.5.balance",
    "rnrf.lemE.6.sum", "rnrf.lemD.5.logit", "rnrf.lemD.6", "rnrf.sec3.decomp",
    "rnrf.lemD.11.logF",
)  # fmt: skip
_DIGITS = dict(epochs=40, n_test=200)
_ONE = dict(rules=("exact",))
_DATA = two_features.TwoFeaturePatches
_HALF_ATTACK = _method(signal_noise, "start", _half_gamma)
_HALF_BALLS = _method(classifiers.Balls, "inside", _half_ball)
_SHORT_RAMPS = _method(classifiers, "soft_indicator", lambda f, a, b: f(a / 4, a / 2))

BUGS = (
    Bug("training attack a hundredth of its size", "rnrf.fig3.transition",
        _method(gradient.MarginStep, "__call__", _hundredth), also=_LATE),
    Bug("labels drawn again at random", "rnrf.thm4.3.test_good",
        _method(_DATA, "sample", _random_labels), _FIG3, also=_CLEAN),
    Bug("strong attacks do nothing", "rnrf.thm4.4.robust_test", _blind_attacks, _FIG3,
        also=("rnrf.thm4.4.train_perfect", "rnrf.remark2.5.pgd_inner")),
    Bug("signal patch without its label", "cgro.thm4.1",
        _method(patches.PatchData, "sample", _no_signal)),
    Bug("reduced dynamics train against half the attack", "cgro.thm4.1", _HALF_ATTACK),
    Bug("inputs a twentieth of their size", "boat.thm3.1.train_error",
        _method(clusters.Clusters, "sample", _tiny_clusters)),
    Bug("certificate forty times too wide", "boat.thm3.1.train_error",
        _method(two_layer.TwoLayer, "interval_at", _wide_interval)),
    Bug("steps twice as long as the rule says", "conv.eq16",
        lambda: _patched_engine("full", _other_eta(2.0)), _ONE),
    Bug("full-batch descent goes uphill", "conv.eq16",
        lambda: _patched_engine("full", _other_eta(-1.0)), _ONE),
    Bug("training attack does nothing", "cgrm.tab1.digits",
        _method(sgd, "perturbed", _no_adversary), _DIGITS),
    Bug("non-robust features equal the robust ones", "rnrf.def2.1.features",
        _property(_DATA, "V", lambda self: self.U), only=("features",)),
    Bug("robust strengths halved", "rnrf.asm2.3.strength",
        _method(_DATA, "sample", _strength(0.5)), only=("assumptions",)),
    Bug("robust strengths halved", "rnrf.asm2.3.density",
        _method(_DATA, "sample", _strength(0.5)), only=("assumptions",)),
    Bug("the search forgets the density", "rnrf.asm2.3.conflict",
        _method(setting, "_both", lambda original, rng, c, *more: True), only=("assumptions",)),
    Bug("robust strengths doubled", "rnrf.sec2.5.separation",
        _method(_DATA, "sample", _strength(2.0)), only=("assumptions",)),
    Bug("slope a tenth too small", "rnrf.act.smooth",
        _method(setting, "smoothed_slope", lambda f, *a: 0.9 * f(*a)), only=("activation",)),
    Bug("non-robust features with the wrong sign", "rnrf.prop3.1.clean",
        _property(_DATA, "V", lambda self: -torch.eye(self.d).double()[self.k : 2 * self.k]),
        only=("networks",)),
    Bug("feature replacement does nothing", "rnrf.prop3.1.nonrobust",
        _method(transfer.FeatureReplacement, "__call__", _still), only=("networks",)),
    Bug("robust features with the wrong sign", "rnrf.prop3.2.clean",
        _property(_DATA, "U", lambda self: -torch.eye(self.d).double()[: self.k]),
        only=("networks",)),
    Bug("universal attack does nothing", "rnrf.prop3.2.robust",
        _method(transfer.UniversalFeature, "__call__", _still), only=("networks",)),
    Bug("universal attack spends ten times its budget", "rnrf.prop3.2.robust.corrected",
        _method(transfer.UniversalFeature, "__call__", _louder), only=("separated",)),
    Bug("feature replacement swapped for the universal attack", "rnrf.prop3.2.weak",
        _method(transfer.FeatureReplacement, "__call__", _replaced_by_universal),
        only=("networks",)),
    Bug("normals replaced by exponentials", "rnrf.lemD.3.init",
        _method(setting, "normal", _exponentials), only=("maxima",)),
    Bug("normals half as large again", "rnrf.lemD.3.init.corrected",
        _method(setting, "normal", lambda f, *a: 1.5 * f(*a)), only=("maxima",)),
    Bug("normals half as large again", "rnrf.lemB.1.max",
        _method(setting, "normal", lambda f, *a: 1.5 * f(*a)), only=("tails",)),
    Bug("the slower sequence a tenth faster", "rnrf.lemB.2.tpm",
        _method(setting, "_at_arrival", _faster), only=("tensor power",)),
    Bug("robust strengths doubled", "rnrf.x.impossibility",
        _method(_DATA, "sample", _strength(2.0)), only=("impossibility",)),
    Bug("every attack climbs the logit difference", "rnrf.x.masking",
        _method(setting, "loss_map", _one_loss), only=("masking",)),
    Bug("steps twice as long as the rule says", "rnrf.lem5.1.recursion",
        lambda: _patched_engine("full", _other_eta(2.0)), _SHORT,
        also=("rnrf.lemD.8.poly", "rnrf.lemE.4", "rnrf.lem5.2.poly",
              "rnrf.lemD.18.recursion.corrected"),
        only=(*recursions.STD.values(), recursions.VARIED, recursions.NOISY, recursions.ADV,
              recursions.CLOSED)),
    Bug("noise where there should be none", "rnrf.lemD.2.decomp",
        _method(_DATA, "sample", _noisy), _SHORT, only=tuple(recursions.STD.values())),
    Bug("full-batch descent goes uphill", "rnrf.lemD.7.offdiag",
        lambda: _patched_engine("full", _other_eta(-1.0)), _SHORT,
        only=(*recursions.STD.values(), recursions.NOISY)),
    Bug("the patch clip clips elements", "rnrf.lemD.17.advex.corrected",
        _method(gradient.MarginStep, "__call__", _clips("element")), only=(recursions.PATCH,)),
    Bug("every clip rescales patches", "rnrf.lemD.16.decomp",
        _method(gradient.MarginStep, "__call__", _clips("patch")), _SHORTER,
        only=(recursions.OURS, recursions.PATCH, recursions.ELEMENT)),
    Bug("no initial weights off the features", "rnrf.lemD.18.recursion",
        _method(SmoothedCNN, "init", _features_only), only=(recursions.ADV,)),
    Bug("training attack a hundredth of its size", "rnrf.phase2.plateau",
        _method(gradient.MarginStep, "__call__", _hundredth), dict(steps=620),
        only=tuple(phases.STEPS)),
    Bug("full-batch descent goes uphill", "rnrf.lemD.19",
        lambda: _patched_engine("full", _other_eta(-1.0)), also=("rnrf.lemD.20", "rnrf.lemD.26"),
        only=(phases.FIG3,)),
    Bug("transfer attack half as strong", "cgro.eq.gta",
        _method(identities, "gta", lambda f, x, signal, gamma: f(x, signal, gamma / 2)),
        also=("cgro.eq.decomp",), only=("identities",)),
    Bug("all labels are +1", "cgro.eq.grad",
        _method(patches.PatchData, "sample", _one_label), only=("identities",)),
    Bug("reduced steps twice as long as the rule says", "cgro.eq.grad.corrected",
        lambda: _patched_engine("signal_noise", _other_eta(2.0)), only=("identities",)),
    Bug("reduced steps half as long as the rule says", "cgro.lem4.2",
        lambda: _patched_engine("signal_noise", _other_eta(0.5)), dict(steps=1500),
        only=(dynamics.E,)),
    Bug("initial weights twenty times as large", "cgro.lemC.11",
        _method(CubicCNN, "init", _scaled(20.0)), dict(steps=300), only=(dynamics.E,)),
    Bug("reduced dynamics train against half the attack", "cgro.lem4.3", _HALF_ATTACK,
        also=("cgro.lemC.8", "cgro.lemC.9", "cgro.stages", "cgro.lem4.4.corrected"),
        only=(dynamics.E,)),
    Bug("signal patch without its label", "cgro.thmC.12.clean",
        _method(patches.PatchData, "sample", _no_signal), also=("cgro.thmC.12.robust",),
        only=(dynamics.E,)),
    Bug("reduced dynamics train against half the attack", "cgro.thm4.1.phase-gamma", _HALF_ATTACK,
        only=tuple(f"1 − γ = {gap:g}" for gap in dynamics.GAPS)),
    Bug("reduced dynamics train against half the attack", "cgro.thm4.1.N-critical", _HALF_ATTACK,
        dict(ratios=(0.25, 4.0))),
    Bug("clean training is half against the attack", "cgro.thm4.1.control-lam0",
        _method(signal_noise, "start", _both_parts), only=(dynamics.CLEAN,), seeds=30),
    Bug("a mean over points is divided by their number once more", "cgro.lemC.10",
        _method(dynamics, "attacked_doubt", _over_points),
        only=tuple(f"T₁, N = {N}" for N in dynamics.LATE["N"])),
    Bug("units without a kink", "cgro.propD.5",
        lambda: patch.object(torch, "relu", torch.nn.functional.softplus), only=("regions",)),
    Bug("the kernel sees half of the ball", "cgro.thmF.1.I",
        _method(flatness, "ball", lambda f, D, side: (f(D, side) + 1) / 2),
        dict(draws=800, repeats=(10, 2)), only=("density, D = 1", "density, D = 2")),
    Bug("noise mostly zero", "cgro.lemA.4.corrected",
        _method(identities, "normal", _mostly_zero), only=("cubic form",)),
    Bug("teeth a tenth too low", "cgro.lemD.2",
        lambda: patch.object(construction_parts, "_TOOTH", 0.9 * construction_parts._TOOTH),
        also=("cgro.lemD.3",), only=("gates",)),
    Bug("balls of half the radius", "cgro.eq.C",
        _HALF_BALLS, only=("D = 6",)),
    Bug("gradients a fifth too small", "cgro.thmF.1.taylor",
        _method(flatness.Features, "slope", _scaled(0.8)), only=("taylor",)),
    Bug("gradients a fifth too large", "cgro.propE.2",
        _method(flatness.Features, "slope", _scaled(1.2)), only=("first order",)),
    Bug("the tournament takes the smaller", "cgrm.lemA.4",
        _method(construction_parts, "largest", lambda f, k: construction_parts.least(k)),
        only=("distance",)),
    Bug("half of the decision boundary is lost", "cgrm.prop3.1.corrected",
        _method(margins, "_roots", lambda f, *a: f(*a)[::2][:50]), only=("boundary",)),
    Bug("balls of half the radius", "cgrm.prop3.2",
        _HALF_BALLS, only=("f_adv",)),
    Bug("soft indicators end inside the ball", "cgrm.cor3.4",
        _SHORT_RAMPS, only=("f_adv",)),
    Bug("soft indicators end inside the ball", "cgrm.thm3.3.corrected", _SHORT_RAMPS,
        only=("closeness", *(f"balls = {n}" for n in margins.COUNTED_N),
              *(f"D = {D}" for D in margins.COUNTED_D))),
    Bug("all training points count as small margins", "cgrm.complexity-order",
        lambda: patch.object(margins, "MU", 1.0), only=("order",)),
    Bug("balls of half the radius", "cgrm.thm6.2", _HALF_BALLS,
        only=tuple(f"N = {N}" for N in modified.SAMPLES), seeds=20),
    Bug("small margins as wide as the large ones", "cgrm.assump6.1",
        lambda: patch.object(linear, "BETA", linear.ALPHA), only=("angles",)),
    Bug("noise a thousandth of its size", "cgrm.thm4.1",
        _method(linear, "normal", _scaled(0.001)), also=("cgrm.thm4.1.corrected",),
        only=("max margin",)),
    Bug("one-step attack a tenth short", "cgrm.eq.B1-cauchy",
        _method(gradient.FGSM, "__call__",
                lambda f, self, loss, batch, t, rng: 0.9 * f(self, loss, batch, t, rng)
                + 0.1 * batch.x), only=("attack",)),
    Bug("linear descent goes uphill", "cgrm.lemB.2",
        lambda: _patched_engine("linear", _other_eta(-1.0)),
        only=("divided, N' = 200", "divided, N' = 800")),
    Bug("attacks do nothing", "cgrm.thm4.2", _no_ascent, also=("cgrm.thm4.2.cgrm",),
        only=(modified.M, modified.HIGH)),
    Bug("linear steps go uphill", "cgrm.thm4.2.target",
        _method(modified, "linear_step", lambda f, w, Z, r, eta, log: f(w, Z, r, -eta, log)),
        only=(modified.M, modified.FEW)),
    Bug("robust strengths doubled", "rnrf.lemD.9.dominance",
        _method(_DATA, "sample", _strength(2.0)),
        dict(theory=(), attacked=(), sizes=(50, 100, 200, 400, 800))),
)  # fmt: skip


# undecided or failing with and without any bug, holding whatever is broken, or not yet tried
UNTURNED = (
    "rnrf.lemD.10.stage2", "rnrf.lemD.23", "rnrf.lemE.7.final", "rnrf.lemE.3.noise", "rnrf.lemE.10",
    "rnrf.lemD.17.advex", "rnrf.lemD.24", "rnrf.lemD.25", "rnrf.lemE.11", "cgro.lemA.1",
    "cgro.lemA.2", "cgro.lemA.3", "cgro.lemA.4", "cgro.lemA.7", "cgro.lemA.8", "cgro.lem4.4",
    "cgro.lemC.3", "cgro.lemC.5", "cgro.lemC.5.corrected", "cgro.lemC.7", "cgro.lemC.10.corrected",
    "cgro.thm5.2", "cgro.thm5.3", "cgro.thmE.1", "cgro.thmF.1.II", "cgrm.prop3.1", "cgrm.thm3.3",
    "cgrm.lemA.7", "cgrm.std-bound",
)  # fmt: skip


def _patched_engine(name: str, change: Callable[..., Any]) -> Any:
    from adversarium.training import engines

    changed = tuple(
        replace(e, states=lambda s, e=e: change(e.states, s)) if e.name == name else e
        for e in engines.ENGINES
    )
    return patch.object(engines, "ENGINES", changed)


def home(bug: Bug) -> str:
    """The experiment that a bug's claims belong to."""
    return claims()[bug.claim].experiment


def verdicts(bug: Bug, wanted: Iterable[str], fresh: bool) -> dict[str, str]:
    """The verdicts of claims at the bug's knobs: from nothing, or, without a bug, with the help of
    the rows that come with the code."""
    experiment = load(home(bug))
    chosen = lambda task: not bug.only or task.label in bug.only
    tasks = [task for task in planned(experiment, "quick", bug.knobs) if chosen(task)]
    seeds = range(bug.seeds or experiment.seeds("quick"))
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Store(Path(folder) / "s.sqlite"), experiment.id)
        failures = run_missing(experiment, tasks, seeds, reader, "cpu", None, fresh=fresh)
        rows = evidence(reader, tasks, seeds)
    if failures or rows is None:
        return dict.fromkeys(wanted, f"failed: {failures}")
    return {id: judged(experiment, id, rows).verdict for id in wanted}


def planted(id: str) -> Iterator[dict[str, Any]]:
    """Every bug of an experiment: its name, its claims' verdicts without it (the ledger's where
    nothing is changed) and with it. One healthy run serves all bugs that run the same."""
    own = [bug for bug in BUGS if home(bug) == id]
    runs = lambda bug: repr((bug.knobs, bug.only, bug.seeds))
    healthy: dict[str, dict[str, str]] = {}
    for bug in own:
        if runs(bug) not in healthy and (bug.knobs or bug.only):
            all_ = dict.fromkeys(c for b in own if runs(b) == runs(bug) for c in (b.claim, *b.also))
            healthy[runs(bug)] = verdicts(bug, all_, fresh=False)
        with bug.plant():
            found = verdicts(bug, (bug.claim, *bug.also), fresh=True)
        before = healthy.get(runs(bug), {})
        yield {"bug": bug.name, "healthy": {c: before[c] for c in found if before}, "found": found}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(list(planted(sys.argv[1]))))
