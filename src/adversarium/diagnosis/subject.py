"""A user's network and points, as attacks and measures see them.

The network is any callable from a batch of inputs to logits (n, k), or to one number per point,
(n,) or (n, 1). Labels are 0 … k−1 for logits; ±1, or 0 and 1, for one number, whose sign is the
class.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from adversarium.sockets import Loss
from adversarium.training.objectives import logit_difference, margin

Net = Callable[[Tensor], Any]
Box = tuple[float, float]
POINTS = 2**20  # numbers in the inputs of one call, on a CPU


class NetworkError(ValueError):
    """The user's network raised an exception, or returned something that is not a prediction."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A network with the points at which it is measured; create one with `subject`."""

    net: Net
    x: Tensor
    y: Tensor  # 0 … k−1, or ±1 in the type of x
    box: Box | None
    k: int = 1  # outputs; 1: one number per point
    classes: Tensor | None = None  # the outputs that compete
    draws: int = 1  # calls whose outputs are averaged; more than one for a random network
    logarithm: bool = False  # the outputs are probabilities: ascents follow their logarithms
    copies: bool = False  # the network changes its input, so it is given copies
    enters: torch.dtype = torch.float32  # the type that the network receives
    notes: tuple[str, ...] = field(default=())

    @property
    def at_once(self) -> int:
        """Return how many points the network receives in one call."""
        size = max(1, self.x[:1].numel())
        most = POINTS if self.x.device.type == "cpu" else 8 * POINTS
        return min(4096, max(16, most // size))

    def raw(self, x: Tensor) -> Tensor:
        """Return the outputs of one call, in the type of x: (n, k), or (n,) for one number."""
        given = x.to(self.enters)
        try:
            F = self.net(given.clone() if self.copies else given)
        except torch.cuda.OutOfMemoryError:
            raise
        except Exception as fault:
            said = " ".join(str(fault).split()) or type(fault).__name__
            raise NetworkError(
                f"the network raised {type(fault).__name__} on inputs of shape {tuple(x.shape)} "
                f"and type {_plain(self.enters)}: {said}"
            ) from fault
        return self._read(F, len(x)).to(x.dtype)

    def outputs(self, x: Tensor) -> Tensor:
        """Return the outputs; of a random network their mean over `draws` calls."""
        F = self.raw(x)
        for _ in range(self.draws - 1):
            F = F + self.raw(x)
        return F / self.draws if self.draws > 1 else F

    def f(self, x: Tensor) -> Tensor:
        """Return the logits that ascents follow."""
        F = self.outputs(x)
        return F.clamp_min(torch.finfo(F.dtype).tiny).log() if self.logarithm else F

    def margins(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the margins of points, in full precision, without a gradient; NaN where the
        network answers NaN."""
        with torch.no_grad(), torch.backends.cudnn.flags(allow_tf32=False):
            found = [margin(self.outputs(some), labels) for some, labels in self.parts(x, y)]
        return torch.cat(found) if found else torch.zeros(0, dtype=x.dtype, device=x.device)

    def lead(self, y: Tensor) -> Loss:
        """Return the logit difference as a function of points with labels y; it is positive where
        they are misclassified."""
        return lambda z: logit_difference(self.f(z), y)

    def parts(self, x: Tensor, y: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield points and labels in parts that the network receives in one call."""
        return zip(torch.split(x, self.at_once), torch.split(y, self.at_once), strict=True)

    def _read(self, F: Any, n: int) -> Tensor:
        F = getattr(F, "logits", F)  # the outputs of transformers
        if not isinstance(F, Tensor):
            raise NetworkError(
                f"the network must return a tensor of logits, got {type(F).__name__}; pass a "
                "function that picks the logits from its output."
            )
        if F.is_complex():
            raise NetworkError("the network must return real numbers, got complex ones.")
        if len(F.shape) == 0 or len(F) != n or F[:1].numel() == 0:
            raise NetworkError(
                f"the network must return {n} rows of logits for {n} inputs, got shape "
                f"{tuple(F.shape)}."
            )
        F = F.reshape(n, -1) if F.ndim > 2 and F[:1].numel() == max(F.shape[1:]) else F
        if F.ndim > 2:
            raise NetworkError(
                f"the network must return logits (n, k) or one number per input, got shape "
                f"{tuple(F.shape)}."
            )
        if self.classes is not None and F.ndim == 2 and F.shape[-1] > 1:
            F = F[:, self.classes]
        one: Tensor = F.squeeze(-1) if F.ndim == 2 and F.shape[-1] == 1 else F
        return one


def subject(
    net: Net,
    x: Any,
    y: Any,
    box: Box | None = None,
    classes: Sequence[int] | None = None,
    device: str | torch.device | None = None,
) -> Subject:
    """Check a user's network and points, and return them in the forms that attacks need."""
    notes: list[str] = []
    if not callable(net):
        raise ValueError(f"attack needs a callable network, got {type(net).__name__}.")
    place, kind = _home(net, device)
    points, enters = _points(x, box, kind, notes)
    made = Subject(net=net, x=points.to(place), y=torch.zeros(0), box=box, enters=enters)
    before = made.x.clone()
    if isinstance(net, nn.Module) and kind in (torch.float16, torch.bfloat16):
        notes.append(f"the network computes in {_plain(kind)}; inputs are rounded to it first")
    with torch.no_grad():
        F = torch.cat([made.raw(some) for some in torch.split(made.x, made.at_once)])
    if not torch.equal(made.x, before):
        notes.append("the network changes its input; it was given copies")
        made = replace(made, x=before, copies=True)
        with torch.no_grad():
            F = torch.cat([made.raw(some) for some in torch.split(made.x, made.at_once)])
    if classes is not None:
        classes = _classes(classes, F)
        F = F[:, classes]
        made = replace(made, classes=torch.tensor(classes, device=place))
    labels = _labels(y, F, classes, notes).to(place)
    sums = F.sum(-1) if F.ndim == 2 else torch.zeros(1)
    if F.ndim == 2 and bool((F >= 0).all()) and bool(((sums - 1).abs() < 1e-3).all()):
        notes.append("the outputs are probabilities; attacks follow their logarithms")
        made = replace(made, logarithm=True)
    if F.ndim == 1 and len(F) >= 8 and bool(((F >= 0) & (F <= 1)).all()):
        raise ValueError(
            "a network with one output per input must return a number whose sign is the class, got "
            "values in [0, 1] only; if they are probabilities p, return torch.logit(p)."
        )
    return replace(made, y=labels, k=1 if F.ndim == 1 else F.shape[-1], notes=tuple(notes))


@contextmanager
def measuring_mode(net: Net) -> Iterator[None]:
    """Put every module of the network in evaluation mode, with ordinary gradients and without the
    caller's autocast; afterwards restore the modes, and the buffers if a call changed them."""
    modules = list(net.modules()) if isinstance(net, nn.Module) else []
    modes = [module.training for module in modules]
    buffers = {id(b): (b, b.detach().clone()) for module in modules for b in module.buffers(False)}
    for module in modules:
        module.training = False
    try:
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
            for kind in ("cpu", "cuda"):
                if torch.is_autocast_enabled(kind):
                    stack.enter_context(torch.autocast(kind, enabled=False))
            yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode
        with torch.no_grad():
            for buffer, before in buffers.values():
                if not torch.equal(buffer, before):
                    buffer.copy_(before)


def _classes(classes: Sequence[int], F: Tensor) -> list[int]:
    """Return the outputs that compete; raise unless they are at least two of those of F."""
    k = F.shape[-1] if F.ndim == 2 else 1
    known = [c for c in classes if isinstance(c, int) and 0 <= c < k]
    if len(known) < len(classes) or len(set(known)) < max(2, len(known)):
        raise ValueError(
            f"classes needs at least two different outputs of 0 … {k - 1}, got {list(classes)}."
        )
    return known


def checked_box(box: Any) -> Box | None:
    """Return a box as two numbers; raise unless it is one."""
    if box is None:
        return None
    try:
        low, high = (float(v) for v in box)
    except (TypeError, ValueError, RuntimeError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"box needs two numbers (low, high) with low < high, got {box!r}.")
    return low, high


def _tensor(values: Any, what: str) -> Tensor:
    try:
        made = torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError) as fault:
        raise ValueError(
            f"{what} must be a tensor, an array or lists of numbers of equal length, got "
            f"{type(values).__name__} ({' '.join(str(fault).split())[:100]})."
        ) from fault
    if made.is_complex():
        raise ValueError(f"{what} must be real numbers, got {_plain(made.dtype)}.")
    return made


def _home(net: Net, device: str | torch.device | None) -> tuple[torch.device, torch.dtype]:
    """Return the device and the floating type of the network's weights."""
    weights = list(net.parameters()) if isinstance(net, nn.Module) else []
    kinds = [w.dtype for w in weights if w.is_floating_point()]
    here = weights[0].device if weights else torch.device(device or "cpu")
    if device is not None and here.type != torch.device(device).type:
        raise ValueError(
            f"the network is on {here.type}, but device={str(device)!r} was asked for; move it "
            f"there first (net.to({str(device)!r}))."
        )
    return here, kinds[0] if kinds else torch.float32


def _points(
    x: Any, box: Box | None, kind: torch.dtype, notes: list[str]
) -> tuple[Tensor, torch.dtype]:
    """Return the points as single or double precision, and the type that the network receives."""
    points = _tensor(x, "x")
    if points.ndim < 2 or not points.numel():
        raise ValueError(
            f"attack needs inputs of shape (n, …) with n >= 1, got {tuple(points.shape)}; for one "
            "number per input, pass x[:, None]."
        )
    if points.dtype == torch.bool:
        raise ValueError("attack needs numbers as inputs, got bool.")
    if not points.is_floating_point():
        if box is None:
            raise ValueError(
                f"inputs of type {_plain(points.dtype)} need a box: box=(0, 1) divides them by "
                "255, box=(0, 255) leaves their scale."
            )
        points = points.float()
        if tuple(box) == (0, 1):
            points = points / 255
            notes.append("the inputs were integers; they were divided by 255")
    if points.dtype in (torch.float16, torch.bfloat16):
        points = points.float()
    if kind == torch.float64 or points.dtype == torch.float64:
        points = points.double()
    if not bool(points.isfinite().all()):
        bad = int((~points.isfinite()).flatten(1).any(1).sum()) if points.ndim > 1 else 0
        raise ValueError(
            f"attack needs finite inputs, got {max(bad, 1)} with infinite or NaN entries."
        )
    return points.clone(), kind


def _labels(y: Any, F: Tensor, classes: Sequence[int] | None, notes: list[str]) -> Tensor:
    """Return the labels for outputs F: 0 … k−1 for logits, ±1 for one number."""
    labels = _tensor(y, "y").to(F.device)
    if labels.ndim == 2 and labels.shape[-1] == 1:
        labels = labels.squeeze(-1)
    if labels.shape != F.shape[:1]:
        raise ValueError(
            f"attack needs one label per input, {len(F)} of them, got y of shape "
            f"{tuple(labels.shape)}."
        )
    whole = labels.double()
    seen = sorted(set(whole.tolist()))
    shown = ", ".join(f"{v:g}" for v in seen[:6])
    if F.ndim == 1:
        if set(seen) <= {-1.0, 1.0}:
            return whole.to(F)
        if set(seen) <= {0.0, 1.0}:
            notes.append("labels 0 and 1 were read as −1 and +1")
            return (2 * whole - 1).to(F)
        raise ValueError(
            f"a network with one output per input needs labels ±1, or 0 and 1, got {shown}."
        )
    if bool((whole != whole.round()).any()):
        raise ValueError(f"attack needs whole numbers as labels, got {shown}.")
    if classes is not None:
        wrong = sorted(set(seen) - {float(c) for c in classes})
        if wrong:
            raise ValueError(
                f"every label must be one of classes={list(classes)}, got {wrong[0]:g}."
            )
        place = {int(c): i for i, c in enumerate(classes)}
        return torch.tensor([place[int(v)] for v in whole.tolist()], device=F.device)
    k = F.shape[-1]
    if k == 2 and seen[:1] == [-1.0]:
        raise ValueError("a network with two logits needs the labels 0 and 1, got −1.")
    if seen[0] < 0 or seen[-1] >= k:
        raise ValueError(f"labels must lie in 0 … {k - 1} for {k} logits, got {shown}.")
    return labels.long()


def _plain(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")


def checked_ball(p: Any, radius: Any) -> tuple[float, float]:
    """Return the norm and the radius; raise unless p is 1, 2 or inf and the radius is ≥ 0."""
    known = {"inf": math.inf, "linf": math.inf, "l_inf": math.inf, "Linf": math.inf, "∞": math.inf,
             "l2": 2.0, "L2": 2.0, "l1": 1.0, "L1": 1.0}  # fmt: skip
    size = known[p] if isinstance(p, str) and p in known else p
    try:
        order, r = float(size), float(radius)
    except (TypeError, ValueError):
        order, r = math.nan, math.nan
    if order not in (1.0, 2.0, math.inf):
        raise ValueError(f"attack needs p = 1, 2 or inf, got {p!r}.")
    if not 0 <= r < 1e18:
        raise ValueError(f"attack needs a finite radius >= 0 (below 1e18), got {radius!r}.")
    return order, r
