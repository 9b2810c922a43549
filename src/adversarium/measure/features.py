"""Which features a network uses: its accuracy on images rebuilt from another network's
representation, and attacks that match this representation.

Feature learning accuracy (FLA), §5 of RNRF: a reference network has the representation G (the input
of its last layer). Each test image X is replaced by an image X̂ with G(X̂) ≈ G(X), found from a
start that shows nothing of X; the accuracy of a learner on the X̂ with the labels of the X is its
FLA. A reference after standard training gives non-robust features (NR), one after adversarial
training robust features (R).
"""

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from adversarium.attacks.balls import Ball
from adversarium.data.batches import picked
from adversarium.digest import configuration, digest
from adversarium.measure.errors import error
from adversarium.measure.measuring import described
from adversarium.measure.scene import AnyScene
from adversarium.networks.modules import Module
from adversarium.rng import Streams, integers, measuring, uniform
from adversarium.shapes import Float, Int
from adversarium.sockets import AnyState, Attack, Batch, Measure, Recorded, Rows
from adversarium.training.engines import ENGINES
from adversarium.training.loop import train
from adversarium.training.objectives import margin
from adversarium.training.problem import AnyProblem
from adversarium.training.recipe import Tree

Representation = Callable[[Tensor], Tensor]
T = TypeVar("T")


@dataclass(frozen=True)
class Inversion:
    """Images X̂ rebuilt from a representation, with their labels, and ‖G(X̂) − G(X)‖₂/‖G(X)‖₂."""

    x: Tensor
    y: Int[Tensor, "*S n"]
    residual: Float[Tensor, "*S n"]


def inverted(
    G: Representation,
    wanted: Tensor,
    start: Tensor,
    lead: int = 1,
    *,
    steps: int = 150,
    step: float = 0.1,
    box: tuple[float, float] | None = (0.0, 1.0),
) -> tuple[Tensor, Tensor]:
    """Minimise ‖G(X̂) − wanted‖₂ over images in the box by Adam with a falling step, and return the
    best X̂ of every point and its relative residual; `lead` axes count the points.

    >>> G, X = (lambda x: 3 * x), torch.full((1, 2), 0.5)
    >>> found, residual = inverted(G, G(X), torch.zeros(1, 2))
    >>> bool((found - X).abs().max() < 0.01), bool(residual < 0.01)
    (True, True)
    """
    scale = wanted.flatten(lead).norm(dim=-1).clamp_min(1e-12)
    z, best = start.clone(), start.clone()
    least = torch.full_like(scale, math.inf)
    first, second = torch.zeros_like(z), torch.zeros_like(z)
    for k in range(steps + 1):
        with torch.enable_grad():
            at = z.detach().requires_grad_(True)
            far = (G(at) - wanted).flatten(lead).square().sum(-1)
            (g,) = torch.autograd.grad(far.sum(), at)
        distance = far.detach().sqrt() / scale
        better = distance < least
        least = torch.where(better, distance, least)
        best = torch.where(better.view(*better.shape, *[1] * (z.ndim - better.ndim)), z, best)
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g.square()
        a, b = 1 - 0.9 ** (k + 1), 1 - 0.999 ** (k + 1)
        size = step * (1 + math.cos(math.pi * k / (steps + 1))) / 2
        z = z - size * (first / a) / ((second / b).sqrt() + 1e-8)
        z = z if box is None else z.clamp(*box)
    return best, least


def matched(
    G: Representation,
    x: Tensor,
    wanted: Tensor,
    ball: Ball,
    lead: int,
    *,
    steps: int = 50,
    step: float | None = None,
    start: Tensor | None = None,
) -> Tensor:
    """Return x + Δ of least ‖G(x + Δ) − wanted‖₂ over the ball, by sign steps of ε/8 from Δ = 0, or
    from the points `start`: NRF-PGD or RF-PGD of RNRF, with G of a standard or an adversarially
    trained reference.

    >>> x, ball = torch.zeros(1, 2), Ball(math.inf, 0.5)
    >>> matched(lambda z: z, x, torch.tensor([[0.25, 3.0]]), ball, 1, steps=4)
    tensor([[0.2500, 0.2500]])
    """
    z, size = x if start is None else start, ball.radius / 8 if step is None else step
    for _ in range(steps):
        with torch.enable_grad():
            at = z.detach().requires_grad_(True)
            far = (G(at) - wanted).flatten(lead).square().sum(-1)
            (g,) = torch.autograd.grad(far.sum(), at)
        z = ball.project(x, z - size * g.sign(), lead)
    return z


_kept: dict[str, Any] = {}  # references and their sets, by what determines them
_MOST = 16


def _once(problem: AnyProblem, about: object, make: Callable[[], T]) -> T:
    """Return what `make` returns, computed once per process for equal problems. The training
    attack of the problem does not count: learners of both kinds have the same references."""
    parts = [configuration(v) for v in (problem.data, problem.network, problem.recipe)]
    place = [list(problem.seeds), problem.device, str(problem.dtype)]
    key = digest([parts, place, configuration(about)])
    if key not in _kept:
        made = make()
        while len(_kept) >= _MOST:
            _kept.pop(next(iter(_kept)))
        _kept[key] = made
    return cast(T, _kept[key])


def reference_weights(problem: AnyProblem, attack: Attack | None) -> Tree:
    """Return the weights of the references of every seed: networks trained like those of the
    problem, but under the given attack and with the next seed, so none is the learner itself."""
    part = replace(_next_seeds(problem), attack=attack)

    def make() -> Tree:
        (walk,) = deque(train(ENGINES["sgd"], (part,)), maxlen=1)  # only the last state
        return cast(Any, ENGINES["sgd"]).split(walk)[0].full.W

    return _once(part, ["reference", attack], make)


def _next_seeds(problem: AnyProblem) -> AnyProblem:
    return replace(problem, seeds=tuple(seed + 1 for seed in problem.seeds), beside=())


START = Literal["noise", "image"]
_NAMES = {"nr": "non-robust features", "r": "robust features", "untrained": "an untrained network"}


@dataclass(frozen=True, kw_only=True)
class _WithReferences:
    """The references of a measurement: the same network after standard training (nr) and after
    training under `attack` (r)."""

    attack: Attack

    def _weights(self, scene: AnyScene) -> dict[str, Tree]:
        """Return the weights of the references of every seed."""
        problem = scene.problem
        if not isinstance(scene.network, Module):
            raise TypeError(
                "features need a network Module(build=…), which has a representation, got "
                f"{type(scene.network).__name__}."
            )
        return {
            "nr": reference_weights(problem, None),
            "r": reference_weights(problem, self.attack),
            "untrained": _next_seeds(problem).first_weights(),
        }


@dataclass(frozen=True, kw_only=True)
class FeatureAccuracy(_WithReferences):
    """The feature learning accuracy of the network on sets rebuilt from n test images, with its
    controls.

    `start` is where the inversion begins: uniform noise, or an unrelated test image. Recorded are
    the accuracies on the sets of the standard (nr), the adversarial (r) and an untrained reference,
    and on the start images themselves; the clean accuracy on the same images; the share of the
    class that is predicted most often on the sets of nr and r; and the mean relative residual of
    each inversion. The sets are made once and kept for the whole run.

    >>> from adversarium.attacks import PGD
    >>> [m.name for m in FeatureAccuracy(attack=PGD(radius=0.1)).measures][:3]
    ['fla_nr_noise', 'fla_r_noise', 'fla_untrained_noise']
    """

    n: int = 400
    start: START = "noise"
    steps: int = 150
    step: float = 0.1
    box: tuple[float, float] | None = (0.0, 1.0)

    version = 2  # 2: the share of the most common prediction

    def __post_init__(self) -> None:
        if self.start not in ("noise", "image") or self.n < 2 or self.steps < 1:
            raise ValueError(
                "FeatureAccuracy needs start='noise' or 'image', n >= 2 and steps >= 1, got "
                f"start={self.start!r}, n={self.n}, steps={self.steps}."
            )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The descriptions of the recorded accuracies and residuals."""
        shares = {f"fla_{name}_{self.start}": f"FLA, {text}" for name, text in _NAMES.items()}
        shares[f"fla_start_{self.start}"] = "accuracy on the start images"
        shares[f"fla_clean_{self.start}"] = "clean accuracy on the same images"
        shares |= {
            f"fla_most_{name}_{self.start}": f"largest share of one predicted class, {_NAMES[name]}"
            for name in ("nr", "r")
        }
        residuals = {
            f"fla_residual_{name}_{self.start}": f"residual, {text}"
            for name, text in _NAMES.items()
        }
        doc = f"Accuracy on images rebuilt from a representation, from a start of {self.start}."
        return (
            *described(shares, doc, points=self.n, share=True),
            *described(residuals, "The mean of ‖G(X̂) − G(X)‖/‖G(X)‖ over the rebuilt images."),
        )

    def __call__(self, state: AnyState, scene: AnyScene) -> Rows:
        sets = self.sets(scene)
        batch = scene.test(self.n)

        def accuracy(logits: Tensor) -> Tensor:
            return 1 - error(margin(logits, batch.y))

        outputs = {name: state.full.f(sets[name].x) for name in _NAMES}
        shares = [accuracy(logits) for logits in outputs.values()]
        shares += [accuracy(state.full.f(x)) for x in (self._starts(scene), batch.x)]
        shares += [_most_predicted(outputs[name]) for name in ("nr", "r")]
        residuals = [sets[name].residual.double().mean(-1) for name in _NAMES]
        values = (*shares, *residuals)
        return {m.name: value for m, value in zip(self.measures, values, strict=True)}

    def sets(self, scene: AnyScene) -> Mapping[str, Inversion]:
        """Return the set of every reference: nr, r and untrained."""
        return _once(scene.problem, ["sets", self], lambda: self._made(scene))

    def _made(self, scene: AnyScene) -> Mapping[str, Inversion]:
        weights, batch, start = self._weights(scene), scene.test(self.n), self._starts(scene)
        found: dict[str, Inversion] = {}
        for name, W in weights.items():
            images, residuals = [], []
            for i in range(len(batch.y)):  # one seed at a time: faster than all side by side
                G = _representation(scene, W, i)
                own = (torch.split(v[i : i + 1], _AT_ONCE, 1) for v in (batch.x, start))
                for x, z in zip(*own, strict=True):
                    with torch.no_grad():
                        wanted = G(x)
                    made = inverted(G, wanted, z, 2, steps=self.steps, step=self.step, box=self.box)
                    images.append(made[0][0])
                    residuals.append(made[1][0])
            residual = torch.cat(residuals).view(batch.y.shape)
            found[name] = Inversion(torch.cat(images).view(batch.x.shape), batch.y, residual)
        return found

    def _starts(self, scene: AnyScene) -> Tensor:
        """Return the start images: noise, or the test images in cyclic order, moved by half."""
        x = cast(Tensor, scene.test(self.n).x)
        if self.start == "image":
            return x.roll(self.n // 2, 1)
        low, high = self.box or (0.0, 1.0)
        drawn = uniform(x.shape, measuring(scene.problem.seeds, 0, self))
        return (low + (high - low) * drawn).to(x)


_AT_ONCE = 250  # images in one inversion


def _most_predicted(logits: Tensor) -> Tensor:
    """Return the share of the class that is predicted most often, per seed."""
    counts = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).double().mean(1)
    return counts.amax(-1)


@dataclass(frozen=True, kw_only=True)
class FeatureAttack(_WithReferences):
    """Targeted attacks that match features, Table 2 of RNRF, on pairs (source class, target class).

    Every source image of the n test images gets the features of random images of the target class
    (`draws` times), in a standard (nrf) or an adversarially trained (rf) reference. An attack
    succeeds if the network then predicts the target class. Beside the two attacks stand three that
    use no features: none, random signs of size ε, and the clipped step to the target image. RF-PGD
    with twice the steps tells whether it was stopped early. Both attacks are also counted among
    those images only that the network classifies correctly (`…_right`).

    >>> from adversarium.attacks import PGD
    >>> FeatureAttack(attack=PGD(radius=0.1), pairs=((3, 5),), radius=0.1).measures[0].axes
    ('pair',)
    """

    pairs: tuple[tuple[int, int], ...]
    radius: float
    n: int = 400
    draws: int = 3
    steps: int = 50
    box: tuple[float, float] | None = (0.0, 1.0)

    version = 2  # 2: RF-PGD with twice the steps, success among correctly classified images

    def __post_init__(self) -> None:
        if not self.pairs or any(a == b for a, b in self.pairs) or not self.radius > 0:
            raise ValueError(
                "FeatureAttack needs pairs of different classes and radius > 0, got "
                f"pairs={self.pairs}, radius={self.radius}."
            )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The descriptions of the success rates."""
        texts = {
            "nrf": "NRF-PGD", "rf": "RF-PGD", "rf_twice": "RF-PGD, twice the steps",
            "none": "no attack", "random": "random signs", "pixel": "pixel step",
            "nrf_right": "NRF-PGD, correct images", "rf_right": "RF-PGD, correct images",
        }  # fmt: skip
        symbols = {f"success_{name}": text for name, text in texts.items()}
        doc = "The share of source images that are classified as the target class."
        return described(symbols, doc, axes=("pair",), share=True)

    def __call__(self, state: AnyState, scene: AnyScene) -> Rows:
        moved = _once(scene.problem, ["moved", self], lambda: self._moved(scene))
        found: list[list[dict[str, float]]] = []
        for i, pairs in enumerate(moved):
            f = state.full.replica(i).full.f
            found.append(
                [_rates(f, images, *pair) for pair, images in zip(self.pairs, pairs, strict=True)]
            )
        at = {"pair": tuple(range(len(self.pairs)))}

        def recorded(attack: str) -> Recorded:
            return Recorded(
                torch.tensor([[rates[attack] for rates in row] for row in found]).double(), at=at
            )

        return {m.name: recorded(m.name.removeprefix("success_")) for m in self.measures}

    def _moved(self, scene: AnyScene) -> list[list[dict[str, Tensor]]]:
        """Return the attacked images of every seed, pair and attack. They depend on the references
        alone, not on the network that they are tried on."""
        weights, batch = self._weights(scene), scene.test(self.n)
        rngs = measuring(scene.problem.seeds, 0, self)
        made = []
        for i, rng in enumerate(rngs):
            maps = {key: _representation(scene, weights[key], i) for key in ("nr", "r")}
            one = picked(batch, i, torch.arange(self.n, device=batch.y.device))
            made.append([self._attacked(maps, one, rng, *pair) for pair in self.pairs])
        return made

    def _attacked(
        self,
        maps: Mapping[str, Representation],
        batch: Batch,
        rng: Streams,
        source: int,
        target: int,
    ) -> dict[str, Tensor]:
        """Return the images of one seed and pair under every attack."""
        of = {one: (batch.y[0] == one).nonzero().squeeze(-1) for one in (source, target)}
        if lacking := [one for one, found in of.items() if not len(found)]:
            raise ValueError(
                f"FeatureAttack needs test images of every class of its pairs; among {self.n} "
                f"images is none of class {lacking[0]}."
            )
        places = of[source].repeat(self.draws)
        drawn = integers(len(of[target]), (len(places),), rng).to(places)
        x, aim = batch.x[:, places], batch.x[:, of[target][drawn]]
        ball = Ball(math.inf, self.radius, self.box)
        signs = 2.0 * integers(2, x.shape, rng).to(x) - 1
        moved = {
            "none": x,
            "random": ball.project(x, x + self.radius * signs, 2),
            "pixel": ball.project(x, aim, 2),
        }
        for name, key in (("nrf", "nr"), ("rf", "r")):
            with torch.no_grad():
                wanted = maps[key](aim)
            moved[name] = matched(maps[key], x, wanted, ball, 2, steps=self.steps)
        moved["rf_twice"] = matched(
            maps["r"], x, wanted, ball, 2, steps=self.steps, start=moved["rf"]
        )
        return moved


def _rates(
    f: Callable[[Tensor], Tensor], images: Mapping[str, Tensor], source: int, target: int
) -> dict[str, float]:
    """Return the share of images that are classified as the target class, per attack; for the two
    feature attacks also among the images that are classified correctly without attack."""
    classes = {name: f(z).argmax(-1) for name, z in images.items()}
    rates = {name: float((found == target).double().mean()) for name, found in classes.items()}
    right = classes["none"] == source
    for name in ("nrf", "rf"):
        hit = (classes[name] == target) & right
        rates[f"{name}_right"] = float(hit.double().sum() / right.double().sum().clamp_min(1))
    return rates


def _representation(scene: AnyScene, W: Tree, replica: int) -> Representation:
    """Return the representation map of the reference of one seed."""
    own = tree_map(lambda w: w[replica : replica + 1], W)
    return lambda x: cast(Tensor, scene.network.representation(own, x))
