"""Errors and losses of a state. A point is misclassified if its margin is ≤ 0."""

from collections.abc import Iterator, Sequence
from dataclasses import Field, dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

import torch
from torch import Tensor

from adversarium.attacks.gradient import NoGradient
from adversarium.data.batches import leading, picked
from adversarium.measure.measuring import measures
from adversarium.measure.scene import AnyScene
from adversarium.shapes import Float
from adversarium.sockets import AnyState, Attack, Batch, Measure, Recorded


def worst_margin(state: AnyState, batch: Batch, attacks: Sequence[Attack]) -> Tensor:
    """Return the smallest margin that any of the attacks finds, never above the clean margin.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.MarginMixture(d=2, alpha=3.0), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.MixedLearner(), None, recipe, seeds=(0,))
    >>> W = {"w_0": torch.tensor([[2.0, 0.0]]).double()}
    >>> attacks = [av.attacks.FGSM(p=2, radius=radius) for radius in (0.5, 1.0)]
    >>> worst_margin(WeightState(problem, 0, W), problem.train, attacks).tolist()
    [[4.0, 4.0]]
    """
    *_, worst = hunt(state, batch, attacks)
    return worst


def hunt(state: AnyState, batch: Batch, attacks: Sequence[Attack]) -> Iterator[Tensor]:
    """Yield the smallest margins found so far: first at x, then after every attack.

    The first attack runs on every point. Later ones run on the points that are still correct, one
    replica at a time, so the attacks on one seed do not depend on the other seeds. If a loss has no
    gradient, attacks that need one are skipped; if all attacks need one, the error is raised.
    """
    worst = state.margin(batch)
    yield worst
    blind = 0
    for number, attack in enumerate(attacks):
        try:
            worst = torch.minimum(worst, _attacked(state, batch, attack, worst, number == 0))
        except NoGradient:
            blind += 1
            if blind == len(attacks):
                raise
        yield worst


def _attacked(
    state: AnyState, batch: Batch, attack: Attack, worst: Tensor, together: bool
) -> Tensor:
    """Return the margins under one attack at every point (`together`) or at those still correct."""
    if together:
        return state.margin(batch, attack) if (worst > 0).any() else worst
    found = worst.clone()
    for i in range(len(worst)):
        alive = (worst[i] > 0).nonzero().squeeze(-1)
        if len(alive):
            found[i, alive] = state.full.replica(i).margin(picked(batch, i, alive), attack)[0]
    return found


def certified_margin(state: AnyState, batch: Batch, p: float, radius: float) -> Tensor:
    """Return a lower bound on the margin over B_p(x, radius) from bounds on the outputs.

    If the bound of a point is positive, its robustness is proven.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data = av.data.PatchData(d=2, P=2, alpha=2.0, sigma=0.0)
    >>> net, recipe = av.networks.CubicCNN(m=1, sigma0=0.1), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, net, None, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, torch.tensor([[[1.0, 0.0]]]).double())
    >>> low = certified_margin(state, problem.train, p=torch.inf, radius=0.5)
    >>> bool((low < 3.25).all()), low.round(decimals=6).tolist()  # (2 − ½)³ − ½³, rounded down
    (True, [[3.25, 3.25]])
    """
    low, high = state.interval(batch, p, radius)
    if low.ndim == batch.y.ndim:
        return torch.where(batch.y > 0, low, -high)
    truth = batch.y[..., None]
    others = high.scatter(-1, truth, -torch.inf)
    return low.gather(-1, truth).squeeze(-1) - others.amax(-1)


def error(margins: Float[Tensor, "*S n"]) -> Float[Tensor, "*S"]:
    """Return the share of points without a positive margin; a NaN margin counts as wrong."""
    return 1 - (margins > 0).double().mean(-1)


@dataclass(frozen=True, kw_only=True)
class Error:
    """The share of misclassified points among fresh or training points, clean or attacked.

    `attacks` is "none", "training" (the attack of the run) or a tuple of attacks; then a point
    counts if any of them succeeds. Without a name, the probe is named after its quantity.

    >>> [Error(on="train", attacks=by).measures[0].name for by in ("none", "training")]
    ['train_error', 'robust_train_error']
    >>> Error(n=500).measures[0].symbol
    'clean test error'

    If all weights are 0, every margin is 0, which counts as wrong:

    >>> from adversarium.data import PatchData
    >>> from adversarium.networks import CubicCNN
    >>> from adversarium.measure import Scene
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, network = PatchData(d=4, P=2, alpha=1.0, sigma=0.1), CubicCNN(m=2, sigma0=0.5)
    >>> problem = Problem(data, network, None, Recipe(n=3, steps=1, eta=0.1), (0, 1))
    >>> Error(n=50)(WeightState(problem, 0, 0 * problem.W0), Scene(problem)).tolist()
    [1.0, 1.0]
    """

    on: Literal["test", "train"] = "test"
    n: int = 1000  # number of fresh points (test only)
    attacks: Literal["none", "training"] | tuple[Attack, ...] = "none"
    name: str = ""
    symbol: str = field(default="", compare=False)
    first: int = 0  # how many of the training points are measured (train only); 0: all

    later: ClassVar[tuple[str, ...]] = ("first",)

    def __post_init__(self) -> None:
        words = isinstance(self.attacks, str) and self.attacks not in ("none", "training")
        if self.on not in ("test", "train") or words:
            raise ValueError(
                "Error needs on='test' or 'train' and attacks='none', 'training' or a tuple of "
                f"attacks, got on={self.on!r} and attacks={self.attacks!r}."
            )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The description of the error."""
        fresh, clean = self.on == "test", self.attacks == "none"
        name = f"{self.on}_error" if clean else f"robust_{self.on}_error"
        kind, place = "clean" if clean else "robust", "test" if fresh else "training"
        points = "fresh" if fresh else "training"
        what = f"The share of {points} points that are misclassified{self._under()}."
        symbol = self.symbol or f"{kind} {place} error"
        return (
            Measure(self.name or name, symbol, what, points=self.n if fresh else 0, share=True),
        )

    def _under(self) -> str:
        if isinstance(self.attacks, str):
            return " under the training attack" if self.attacks == "training" else ""
        kinds = dict.fromkeys(type(attack).__name__ for attack in self.attacks)
        return f" under any of the attacks ({', '.join(kinds)})"

    def __call__(self, state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
        fresh = self.on == "test"
        batch = scene.test(self.n) if fresh else leading(scene.train, self.first)
        if self.attacks == "none":
            return error(state.margin(batch))
        if self.attacks == "training":
            return error(state.margin(batch, scene.attack))
        return error(worst_margin(state, batch, self.attacks))


class WithRadius(Attack, Protocol):
    """An attack that is a dataclass with a radius, so it can be copied with another radius."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def radius(self) -> float: ...


@dataclass(frozen=True, kw_only=True)
class ErrorByRadius:
    """The share of fresh points that are misclassified under attacks of several radii; without
    attacks, the share that interval bounds do not prove robust (l_inf).

    The error never falls as the radius grows: a point misclassified at a smaller radius counts as
    misclassified at larger ones, and a point proven robust at a radius is robust at smaller ones.

    >>> from adversarium.data import PatchData
    >>> from adversarium.networks import CubicCNN
    >>> from adversarium.measure import Scene
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, network = PatchData(d=4, P=2, alpha=1.0, sigma=0.1), CubicCNN(m=2, sigma0=0.5)
    >>> problem = Problem(data, network, None, Recipe(n=3, steps=1, eta=0.1), (0, 1))
    >>> probe = ErrorByRadius(attacks=(), radii=(0.1, 0.2, 0.4), n=20, name="unproven")
    >>> found = probe(WeightState(problem, 0, problem.W0), Scene(problem))["unproven"]
    >>> found.values.shape, found.at
    (torch.Size([2, 3]), {'radius': (0.1, 0.2, 0.4)})
    """

    version: ClassVar[int] = 2  # 2: the running maximum is taken point by point

    attacks: tuple[WithRadius, ...]
    radii: tuple[float, ...]  # in increasing order
    n: int
    name: str
    symbol: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if list(self.radii) != sorted(set(self.radii)):
            raise ValueError(f"ErrorByRadius needs increasing radii, got {self.radii}.")

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The description of the error at every radius."""
        kinds = ", ".join(dict.fromkeys(type(attack).__name__ for attack in self.attacks))
        symbol = "robust test error" if kinds else "not proven robust"
        broken = f"misclassified under attacks of that radius or a smaller one ({kinds})"
        unproven = "that interval bounds do not prove robust at that radius"
        words = f"The share of fresh points {broken if kinds else unproven}."
        return (Measure(self.name, self.symbol or symbol, words, ("radius",), self.n),)

    def __call__(self, state: AnyState, scene: AnyScene) -> dict[str, Recorded]:
        batch = scene.test(self.n)
        margins = [self._margin(state, batch, radius) for radius in self.radii]
        wrong = ~(torch.stack(margins) > 0)
        kept = wrong.cummax(0).values if self.attacks else wrong.flip(0).cummin(0).values.flip(0)
        values = kept.double().mean(-1).movedim(0, -1)
        return {self.name: Recorded(values, at={"radius": self.radii})}

    def _margin(self, state: AnyState, batch: Batch, radius: float) -> Tensor:
        if not self.attacks:
            return certified_margin(state, batch, torch.inf, radius)
        suite = tuple(replace(attack, radius=radius) for attack in self.attacks)
        return worst_margin(state, batch, suite)


@measures("clean training error", share=True)
def train_error(state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
    """The share of training points that are misclassified.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, recipe = av.data.Clusters(d=3, mu=1.0), Recipe(n=5, steps=1, eta=0.1)
    >>> problem = Problem(data, av.networks.TwoLayer(m=4), None, recipe, seeds=(0, 1))
    >>> state = WeightState(problem, 0, problem.W0)  # TwoLayer starts at f = 0
    >>> train_error(state, av.measure.Scene(problem)).tolist()
    [1.0, 1.0]
    """
    return error(state.margin(scene.train))


@measures("robust training error", share=True)
def robust_train_error(state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
    """The share of training points that are misclassified under the training attack.

    >>> import adversarium as av
    >>> from adversarium.training import Recipe, Problem, WeightState
    >>> data, attack = av.data.PatchData(d=2, P=2, alpha=2.0, sigma=0.0), av.attacks.GTA(gamma=1.0)
    >>> net, recipe = av.networks.CubicCNN(m=1, sigma0=0.1), Recipe(n=2, steps=1, eta=0.1)
    >>> problem = Problem(data, net, attack, recipe, seeds=(0,))
    >>> state = WeightState(problem, 0, torch.tensor([[[1.0, 0.0]]]).double())
    >>> scene = av.measure.Scene(problem)
    >>> train_error(state, scene).item(), robust_train_error(state, scene).item()
    (0.0, 1.0)
    """
    return error(state.margin(scene.train, scene.attack))


@measures("training loss")
def risk(state: AnyState, scene: AnyScene) -> Float[Tensor, " S"]:
    """The training objective: the mean loss of the training points, clean with weight 1 − λ and
    attacked with weight λ.

    >>> import adversarium as av
    >>> data, network = av.data.Clusters(d=9, mu=1.0), av.networks.TwoLayer(m=4)
    >>> run = av.Run(data=data, network=network, n=5, steps=2, eta=0.1, probes=[risk])
    >>> result = av.run(run, seeds=[0])
    >>> result["risk"].shape, round(float(result["risk"][0, 0]), 4)  # log 2 at f = 0
    ((1, 3), 0.6931)
    """
    return state.risk()
