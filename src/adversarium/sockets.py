"""Protocols for data, networks, attacks, states, probes and engines, so that each can be replaced.

Any object with the required members satisfies a protocol; there is no base class. Optional
capabilities (a certificate, a test set, attacks that need no model) have separate protocols. Code
that needs a capability checks the protocol, never the paper that the object comes from.

A replica is one seed of one run. Every tensor may have a leading replica axis.
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
    """The inputs that an attack receives. An attack that needs more than x says so in its types."""

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

    A batch is a frozen dataclass of tensors, which include the latent variables of each point.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def y(self) -> Tensor: ...


@runtime_checkable
class Distribution(Protocol[B_co]):
    """A source of batches.

    `shape` is the shape of one input, `k` the number of outputs (1: one scalar, labels ±1), and
    `sample` draws n points from a random stream.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def k(self) -> int: ...

    def sample(self, n: int, rng: Generator) -> B_co: ...


@runtime_checkable
class Centred(Protocol):
    """Data that are a shift of other data: `about` adds the mean to a batch of `centred`."""

    @property
    def centred(self) -> Distribution[Any]: ...

    def about(self, batch: Any) -> Any: ...


@runtime_checkable
class RealLabelled(Protocol):
    """Data for regression with real labels.

    `best(x)` is the best prediction E[y | x]; the excess risk is measured relative to it.
    """

    def best(self, x: Tensor) -> Tensor: ...


@runtime_checkable
class Pooled(Protocol[B_co]):
    """A data set that is loaded once for all seeds.

    `pool` contains every point in its stored form; `indices` draws the points that a seed uses.
    """

    @property
    def pool(self) -> B_co: ...

    def indices(self, n: int, rng: Generator) -> Tensor: ...


@runtime_checkable
class DataSet(Protocol[B_co]):
    """A distribution with a separate test set."""

    @property
    def held_out(self) -> Distribution[B_co]: ...


@dataclass(frozen=True)
class Named:
    """The public name and the fields of an object from a package that the caller may not import.

    >>> Named("GTA", {"gamma": 0.5})
    Named(part='GTA', fields={'gamma': 0.5})
    """

    part: str
    fields: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Structured(Protocol):
    """A distribution with known limits that hold for every network.

    `budget` is the norm and the radius at which an attack can cancel the signal of the data,
    `model_free` names the attacks that need no network, and `ceiling` is an upper bound on the
    accuracy of every classifier under attacks in B_p(x, radius).
    """

    @property
    def budget(self) -> tuple[float, float]: ...

    def model_free(self, batch: Batch, p: float, radius: float) -> Mapping[str, Named]: ...
    def ceiling(self, p: float, radius: float) -> float: ...


@runtime_checkable
class Learner(Protocol[W]):
    """A network: `init` draws the weights, and `f` is a pure function of weights and inputs.

    `f` returns one number per point (k = 1) or k logits. W and x may both have a leading replica
    axis.
    """

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> W: ...
    def f(self, W: W, x: Tensor) -> Tensor: ...


@runtime_checkable
class Certified(Protocol[W_contra]):
    """A network with sound bounds on its outputs over B_p(x, radius)."""

    def interval(
        self, W: W_contra, x: Tensor, p: float, radius: float
    ) -> tuple[Tensor, Tensor]: ...


@runtime_checkable
class Lipschitz(Protocol[W_contra]):
    """A network with a Lipschitz constant in the norm p, one number per replica."""

    def lipschitz(self, W: W_contra, p: float) -> Tensor: ...


@runtime_checkable
class PatchAdditive(Protocol[W_contra]):
    """A network whose output is a sum over patches: f(W, x) = Σ_p patchwise(W, x)[p]."""

    def patchwise(self, W: W_contra, x: Tensor) -> Tensor: ...


@runtime_checkable
class Directed(Protocol[W_contra]):
    """A network that returns the directions onto which its units project an input, or a patch:
    (*S, r, d)."""

    def directions(self, W: W_contra) -> Tensor: ...


@runtime_checkable
class Silent(Protocol):
    """A network whose output is 0 everywhere at t = 0.

    The gradient that an attack follows is then only rounding error, so a training attack that can
    wait (`Waiting`) starts at t = 1.
    """

    silent: ClassVar[bool]


@runtime_checkable
class Sized(Protocol):
    """A network that reports its number of weights, and the size of its largest layer's output for
    one point."""

    def sizes(self, shape: tuple[int, ...], k: int) -> tuple[int, int]: ...


@runtime_checkable
class Batched(Protocol):
    """A network with buffers that training updates without a gradient (batch normalisation).

    `buffers` returns their names; `trained_f` returns the outputs on a training batch and the
    updated buffers.
    """

    def buffers(self, W: dict[str, Tensor]) -> frozenset[str]: ...
    def trained_f(self, W: dict[str, Tensor], x: Tensor) -> tuple[Tensor, dict[str, Tensor]]: ...


@runtime_checkable
class Guiding(Protocol):
    """A loss with additional information for attacks that use the structure of the network.

    `directions`, (*S, r, d): the directions onto which the units project an input or a patch.
    `patchwise`: the contribution of every patch to F_j − F_y for every wrong class j, (*S, n, P,
    rivals); the loss is the largest sum over patches. Each is None if the network does not provide
    it.
    """

    @property
    def directions(self) -> Tensor | None: ...
    @property
    def patchwise(self) -> Loss | None: ...

    def __call__(self, x: Tensor) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class Guide:
    """A loss together with the structure of its network.

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
    """x' = attack(loss, batch, t, rng), one point of the perturbation set for every example.

    An attack never receives a network. A plain function is also an attack.
    """

    def __call__(self, loss: Loss, batch: Any, t: int, rng: Streams) -> Tensor: ...


@runtime_checkable
class Aimed(Protocol):
    """An attack that names the loss it maximises; other attacks maximise `logit_difference`."""

    @property
    def loss(self) -> str: ...


@runtime_checkable
class Region(Protocol):
    """The ball that contains every perturbation of an attack."""

    @property
    def p(self) -> float: ...
    @property
    def radius(self) -> float: ...
    @property
    def box(self) -> tuple[float, float] | None: ...


@runtime_checkable
class Bounded(Protocol):
    """An attack whose perturbations must lie in its ball (checked); None: it has no ball."""

    @property
    def ball(self) -> Region | None: ...


@runtime_checkable
class Waiting(Protocol):
    """An attack that does not change the points before the training step `after`."""

    @property
    def after(self) -> int: ...


@runtime_checkable
class State(Protocol[W_co]):
    """The weights W⁽ᵗ⁾ and quantities computed from them; the replica axis always comes first.

    An engine may store a state in other coordinates; `full` is the same state with its weights.
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
    """A state that stores its weights.

    It also provides the attacked training points, the norm of the gradient, and the state of a
    single replica.
    """

    @property
    def x_adv(self) -> Tensor: ...
    @property
    def gradient_norm(self) -> Tensor: ...

    def replica(self, i: int) -> "FullState[W_co]": ...
    def losses(self, batch: Batch, attack: Attack | None = None) -> Tensor: ...


@dataclass(frozen=True)
class Measure:
    """The description of one recorded quantity.

    It has a name, the paper's symbol, a sentence, and the axes other than seed and time (class,
    radius, unit, …). `points`: the quantity is a share of that many drawn points, so its value for
    each seed has a sampling error. `share`: it is another share (for example of the training
    points), so it lies in [0, 1], too.
    """

    name: str
    symbol: str = ""
    sentence: str = ""
    axes: tuple[str, ...] = ()
    points: int = 0
    share: bool = False


@dataclass(frozen=True, eq=False)
class Recorded:
    """The values of a quantity with axes other than seed and time, or of a curve.

    `values` is (replica, *axes), or (replica, t, *axes) for a fold's curve at the times `t`; `at`
    contains the coordinates of those axes that have any (for example the radii).
    """

    values: Tensor
    t: tuple[int, ...] | None = None
    at: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Along:
    """The values of a trial at several positions on one axis.

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


Numbers = Mapping[str, float | Along]  # the result of a trial


@runtime_checkable
class Probe(Protocol[State_contra, Scene_contra]):
    """A measurement of a state: one quantity, or several by name, with one value per replica.

    `measures` describes each quantity. A plain function measures one quantity, named like itself.
    """

    @property
    def measures(self) -> tuple[Measure, ...]: ...

    def __call__(self, state: State_contra, scene: Scene_contra) -> "Tensor | Rows": ...


@runtime_checkable
class Fold(Protocol[M, State_contra, Scene_contra]):
    """A measurement that is accumulated over all steps and stored once.

    `see` updates the accumulated memory (None before the first step) with one more state and
    returns it; `rows` returns the values to store at the end.
    """

    @property
    def measures(self) -> tuple[Measure, ...]: ...

    def see(self, memory: M | None, state: State_contra, scene: Scene_contra) -> M: ...
    def rows(self, memory: M) -> Rows: ...


AnyProbe = Probe[Any, Any] | Callable[[Any, Any], "Tensor | Rows"]  # a plain function is accepted
AnyFold = Fold[Any, Any, Any]
AnyData = Distribution[Batch]
AnyState = State[Any]
AnyLearner = Learner[Any]
AnyAttack = Attack | None  # None: clean training


@dataclass(frozen=True)
class Batching:
    """How an engine runs many replicas at once.

    Problems with equal `shape` can be stacked on the replica axis. A single run is split into
    blocks of `block_size` replicas; a stack has at most `max_batched`. Both depend on the device.
    """

    shape: Callable[[Any], Hashable]
    block_size: Mapping[str, int]
    max_batched: Mapping[str, int]


@runtime_checkable
class Engine(Protocol[S]):
    """A method to run the training dynamics of several problems, stacked on the replica axis.

    `refuses` returns the reason why the engine cannot run the given data, network, attack and
    recipe, or an empty string. `init` returns the joint state of the problems at t = 0, `step` the
    next one, and `split` the state of each problem. Increase `version` when results change.
    """

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def batching(self) -> Batching: ...

    def refuses(
        self, data: AnyData, network: AnyLearner, attack: AnyAttack, recipe: Any
    ) -> str: ...
    def init(self, problems: Sequence[Any]) -> S: ...
    def step(self, state: S) -> S: ...
    def split(self, state: S) -> Sequence[AnyState]: ...


@runtime_checkable
class Placing(Protocol):
    """An engine that draws the data and the initial weights in its own coordinates."""

    def placed(self, problem: Any) -> Any: ...
