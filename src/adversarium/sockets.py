"""The sockets: what every part of the laboratory must offer, so that any of them can be swapped.

A part is any object that fits; there is no base class. Optional abilities (a certificate, a test
part, attacks that need no model) are sockets of their own: what asks for one asks whether the part
fits it, never which paper the part comes from.

Every tensor may carry a leading axis of replicas: seeds, or the seeds of several runs side by side.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from torch import Generator, Tensor

from adversarium.rng import Streams

Weights = Tensor | dict[str, Tensor]
Loss = Callable[[Tensor], Tensor]  # x ↦ one number per example
Rows = Mapping[str, "Tensor | Recorded"]

W = TypeVar("W", Tensor, dict[str, Tensor])
W_co = TypeVar("W_co", covariant=True)
W_contra = TypeVar("W_contra", Tensor, dict[str, Tensor], contravariant=True)
B_co = TypeVar("B_co", bound="Batch", covariant=True)
M = TypeVar("M")
S = TypeVar("S")
State_contra = TypeVar("State_contra", contravariant=True)
Scene_contra = TypeVar("Scene_contra", contravariant=True)


@runtime_checkable
class Points(Protocol):
    """What an attack is given: the inputs. Some attacks ask for more, and say so."""

    @property
    def x(self) -> Tensor: ...


@runtime_checkable
class Labelled(Points, Protocol):
    """Points with labels."""

    @property
    def y(self) -> Tensor: ...


@runtime_checkable
class Batch(Points, Protocol):
    """Points with labels: `y` is ±1 (float) for a scalar classifier, 0 … k−1 (int) for k logits.

    A batch is a frozen dataclass of tensors, its latent truth among them.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def y(self) -> Tensor: ...


@runtime_checkable
class Distribution(Protocol[B_co]):
    """A source of batches: the shape of an input, the number of outputs k (1: one scalar, labels
    ±1), and n points from a random stream."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def k(self) -> int: ...

    def sample(self, n: int, rng: Generator) -> B_co: ...


@runtime_checkable
class Centred(Protocol):
    """Data that are others, `centred`, moved: x about a mean is x about 0 and that mean."""

    @property
    def centred(self) -> Distribution[Any]: ...

    def about(self, batch: Any) -> Any: ...


@runtime_checkable
class RealLabelled(Protocol):
    """Data for regression: labels are real numbers, and `best(x)` is the function that predicts
    them best, E[y | x], from which an excess risk is measured."""

    def best(self, x: Tensor) -> Tensor: ...


@runtime_checkable
class Pooled(Protocol[B_co]):
    """A data set that is held once for all seeds: `pool` has every point, as it is stored, and
    `indices` draws which of them a seed sees."""

    @property
    def pool(self) -> B_co: ...

    def indices(self, n: int, rng: Generator) -> Tensor: ...


@runtime_checkable
class DataSet(Protocol[B_co]):
    """A distribution with a part of its own for testing."""

    @property
    def held_out(self) -> Distribution[B_co]: ...


@dataclass(frozen=True)
class Named:
    """A part by its public name and fields: what a room that does not know another can say of it.

    >>> Named("GTA", {"gamma": 0.5})
    Named(part='GTA', fields={'gamma': 0.5})
    """

    part: str
    fields: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Structured(Protocol):
    """A distribution that knows what no network can change about it.

    `budget` is the norm and the radius at which its signal is spent, `model_free` names the
    attacks on a batch that need no network, and `ceiling` is the accuracy that no classifier
    exceeds in B_p(x, radius).
    """

    @property
    def budget(self) -> tuple[float, float]: ...

    def model_free(self, batch: Batch, p: float, radius: float) -> Mapping[str, Named]: ...
    def ceiling(self, p: float, radius: float) -> float: ...


@runtime_checkable
class Learner(Protocol[W]):
    """A network: `init` draws weights, `f` is a pure function of them, one number per point (k = 1)
    or k logits. W and x may both carry a leading replica axis."""

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> W: ...
    def f(self, W: W, x: Tensor) -> Tensor: ...


@runtime_checkable
class Certified(Protocol[W_contra]):
    """A network with sound bounds of its outputs over B_p(x, radius)."""

    def interval(
        self, W: W_contra, x: Tensor, p: float, radius: float
    ) -> tuple[Tensor, Tensor]: ...


@runtime_checkable
class Lipschitz(Protocol[W_contra]):
    """A network with a Lipschitz constant in the norm p, one a replica."""

    def lipschitz(self, W: W_contra, p: float) -> Tensor: ...


@runtime_checkable
class PatchAdditive(Protocol[W_contra]):
    """A network that adds up what it makes of each patch: f(W, x) = Σ_p patchwise(W, x)[p]."""

    def patchwise(self, W: W_contra, x: Tensor) -> Tensor: ...


@runtime_checkable
class Directed(Protocol[W_contra]):
    """A network that names the directions along which its units look at an input, or at a patch:
    (*S, r, d)."""

    def directions(self, W: W_contra) -> Tensor: ...


@runtime_checkable
class Silent(Protocol):
    """A network that is 0 everywhere at its start. There the gradient of an attack would be
    rounding, so a training attack that can wait (`Waiting`) starts at t = 1."""

    silent: ClassVar[bool]


@runtime_checkable
class Sized(Protocol):
    """A network that knows how many weights it has, and how many numbers its largest layer makes
    of one point."""

    def sizes(self, shape: tuple[int, ...], k: int) -> tuple[int, int]: ...


@runtime_checkable
class Batched(Protocol):
    """A network with a memory that training moves without a gradient (batch normalisation):
    `buffers` names it, `trained_f` returns the outputs on a training batch and the next memory."""

    def buffers(self, W: dict[str, Tensor]) -> frozenset[str]: ...
    def trained_f(self, W: dict[str, Tensor], x: Tensor) -> tuple[Tensor, dict[str, Tensor]]: ...


@runtime_checkable
class Guiding(Protocol):
    """A loss that tells more than its values, for attacks that use what a network is made of.

    `directions`, (*S, r, d): along which its units look at an input or a patch. `patchwise`: what
    every patch adds to the lead of every rival class, (*S, n, P, rivals); the loss is the largest
    sum over patches. None where the network does not say.
    """

    @property
    def directions(self) -> Tensor | None: ...
    @property
    def patchwise(self) -> Loss | None: ...

    def __call__(self, x: Tensor) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class Guide:
    """A loss with what it knows of its network.

    >>> Guide(lambda x: x.sum(-1)).directions is None
    True
    """

    loss: Loss
    directions: Tensor | None = None
    patchwise: Loss | None = None

    def __call__(self, x: Tensor) -> Tensor:
        return self.loss(x)


@runtime_checkable
class Attack(Protocol):
    """x' = attack(loss, batch, t, rng), a point of its perturbation set for every example; it never
    sees a network. A plain function will do."""

    def __call__(self, loss: Loss, batch: Any, t: int, rng: Streams) -> Tensor: ...


@runtime_checkable
class Aimed(Protocol):
    """An attack that names the map it climbs (`logit_difference`, where it does not say)."""

    @property
    def loss(self) -> str: ...


@runtime_checkable
class Region(Protocol):
    """The ball that an attack promises to stay in."""

    @property
    def p(self) -> float: ...
    @property
    def radius(self) -> float: ...
    @property
    def box(self) -> tuple[float, float] | None: ...


@runtime_checkable
class Bounded(Protocol):
    """An attack with a ball; None where it has none. Every perturbation is checked against it."""

    @property
    def ball(self) -> Region | None: ...


@runtime_checkable
class Waiting(Protocol):
    """An attack that leaves the points alone before the training step `after`."""

    @property
    def after(self) -> int: ...


@runtime_checkable
class State(Protocol[W_co]):
    """W⁽ᵗ⁾ and what can be asked of it; every answer has the replica axis first.

    An engine answers cheaply where its coordinates hold the answer; `full` is the same state with
    its weights rebuilt.
    """

    @property
    def t(self) -> int: ...
    @property
    def W(self) -> W_co: ...
    @property
    def full(self) -> "FullState[W_co]": ...

    def f(self, x: Tensor) -> Tensor: ...
    def margin(self, batch: Batch, attack: Attack | None = None) -> Tensor: ...
    def inner(self, v: Tensor) -> Tensor: ...
    def interval(self, batch: Batch, p: float, radius: float) -> tuple[Tensor, Tensor]: ...
    def risk(self) -> Tensor: ...


@runtime_checkable
class FullState(State[W_co], Protocol[W_co]):
    """A state that holds its weights: also the attacked training points, the length of the
    gradient, and the state of one replica alone."""

    @property
    def x_adv(self) -> Tensor: ...
    @property
    def gradient_norm(self) -> Tensor: ...

    def replica(self, i: int) -> "FullState[W_co]": ...
    def losses(self, batch: Batch, attack: Attack | None = None) -> Tensor: ...


@dataclass(frozen=True)
class Measure:
    """What one recorded number is: its name, the paper's symbol, a sentence, and the axes that it
    has beside seed and time (class, radius, unit, …). `points`: it is a share of so many drawn
    points, so that a seed's number has an error of its own. `share`: it is one of others
    (of training points), so that it lies in [0, 1] too."""

    name: str
    symbol: str = ""
    sentence: str = ""
    axes: tuple[str, ...] = ()
    points: int = 0
    share: bool = False


@dataclass(frozen=True, eq=False)
class Recorded:
    """Numbers with axes of their own: `values` (replica, t?, *axes), `t` where a fold kept a curve,
    and the coordinates of the axes that have any (the radii, say)."""

    values: Tensor
    t: tuple[int, ...] | None = None
    at: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Along:
    """A trial's number at several places of one axis.

    >>> Along("N", (10, 20), (0.5, 0.25)).axis
    'N'
    """

    axis: str
    at: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.at) != len(self.values):
            raise ValueError(
                f"Along needs a value for every place, got {len(self.values)} values at "
                f"{len(self.at)} places."
            )


Numbers = Mapping[str, float | Along]  # what a trial returns


@runtime_checkable
class Probe(Protocol[State_contra, Scene_contra]):
    """A measurement of a state: one number a replica, or several by name. `measures` says what
    each is; a plain function measures one number under its own name."""

    @property
    def measures(self) -> tuple[Measure, ...]: ...

    def __call__(self, state: State_contra, scene: Scene_contra) -> "Tensor | Rows": ...


@runtime_checkable
class Fold(Protocol[M, State_contra, Scene_contra]):
    """What must be seen at every step and is stored once: `see` takes the memory (None before the
    first step) past one more state, `rows` tells what is kept of it at the end."""

    @property
    def measures(self) -> tuple[Measure, ...]: ...

    def see(self, memory: M | None, state: State_contra, scene: Scene_contra) -> M: ...
    def rows(self, memory: M) -> Rows: ...


AnyProbe = Probe[Any, Any] | Callable[[Any, Any], "Tensor | Rows"]  # a plain function will do
AnyFold = Fold[Any, Any, Any]
AnyData = Distribution[Batch]
AnyLearner = Learner[Any]
AnyAttack = Attack | None  # none: clean training


@runtime_checkable
class Engine(Protocol[S]):
    """A way to run the dynamics of several settings of one shape, side by side on the replica axis.

    `refuses` gives the reason why it cannot run four parts, or nothing. `shape` is what must agree
    for settings to run together. `init` is the state at t = 0 of all of them, `step` the next one,
    `apart` the states of the single settings. A run alone has blocks of `width` replicas, runs
    side by side at most `wide`, by kind of device. Raise `version` when the numbers change.
    """

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def width(self) -> Mapping[str, int]: ...
    @property
    def wide(self) -> Mapping[str, int]: ...

    def refuses(self, data: AnyData, network: AnyLearner, attack: AnyAttack, rule: Any) -> str: ...
    def shape(self, setting: Any) -> Hashable: ...
    def init(self, settings: Sequence[Any]) -> S: ...
    def step(self, state: S) -> S: ...
    def apart(self, state: S) -> Sequence[State[Any]]: ...


@runtime_checkable
class Placing(Protocol):
    """An engine that draws data and first weights in coordinates of its own."""

    def placed(self, setting: Any) -> Any: ...
