"""Networks made from any torch.nn.Module, which is evaluated by functional_call.

The weights are the module's parameters and buffers, and two empty tensors whose shapes store the
input shape and the number of outputs. A Module itself stores no state.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from threading import get_ident
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.func import functional_call, vmap
from torch.utils._pytree import tree_map

from adversarium.rng import torch_seeded

Weights = dict[str, Tensor]
Build = Callable[..., nn.Module]

_SHAPE, _CLASSES = "shape of x", "number of outputs"  # no parameter has such a name


class _Origin(NamedTuple):
    """Input shape and number of outputs of a network, and whether its weights are stacked."""

    shape: tuple[int, ...]
    k: int
    stacked: bool


@dataclass(frozen=True, kw_only=True)
class Module:
    """A network made by `build(shape, k, **options)`, e.g. build=small_cnn, options={"width": 8}.

    `build` is a function at the top level of a Python file; the key of stored results contains
    its name. The initial weights are drawn from the random stream of the run. To use other weights,
    merge them into fresh ones: {**network.init(rng, shape, k), **loaded}.

    >>> from adversarium.networks.vision import small_cnn
    >>> from adversarium.rng import stream
    >>> network = Module(build=small_cnn, options={"width": 2})
    >>> W = network.init(stream(0, "init"), (1, 8, 8), k=10)
    >>> network.f(W, torch.zeros(3, 1, 8, 8, dtype=torch.float64)).shape
    torch.Size([3, 10])
    """

    build: Build
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            hash(tuple(self.options.values()))
        except TypeError as fault:
            raise ValueError(
                f"Module needs hashable options, got {dict(self.options)} ({fault}); "
                "use tuples instead of lists."
            ) from fault

    def init(self, rng: Generator, shape: tuple[int, ...], k: int) -> Weights:
        """Draw the initial weights and buffers of the module, and add the two empty tensors."""
        _skeleton.cache_clear()  # data that `build` reads may have changed
        with torch_seeded(rng):
            module = self.build(shape, k, **self.options)
        tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        W = {
            name: w.detach().double() if w.is_floating_point() else w for name, w in tensors.items()
        }
        W[_SHAPE] = torch.empty(0, *shape, dtype=torch.float64)
        W[_CLASSES] = torch.empty(0, k, dtype=torch.float64)
        self._tried(W, shape, k)
        return W

    def f(self, W: Weights, x: Tensor) -> Tensor:
        """Return k logits per point, or one number if k = 1, in evaluation mode.

        W and x may both have a leading replica axis.
        """
        origin = _origin(W)
        module = self._skeleton(origin, training=False)

        def outputs(held: Weights, x: Tensor) -> Tensor:
            return _scalar_or_logits(functional_call(module, held, (x,)), origin.k)

        result: Tensor = _per_seed(outputs, origin)(_held(W), x)
        return result

    def representation(self, W: Weights, x: Tensor) -> Tensor:
        """Return the representation of every point, the input of the last linear layer, in
        evaluation mode."""
        origin = _origin(W)
        module = self._skeleton(origin, training=False)
        linear = [layer for layer in module.modules() if isinstance(layer, nn.Linear)]
        if not linear:
            name = getattr(self.build, "__name__", repr(self.build))
            raise ValueError(f"a representation needs a linear last layer, which {name} lacks.")

        def inputs(held: Weights, x: Tensor) -> Tensor:
            seen: list[Tensor] = []
            hook = linear[-1].register_forward_pre_hook(lambda layer, given: seen.append(given[0]))
            try:
                functional_call(module, held, (x,))
            finally:
                hook.remove()
            return seen[0]

        result: Tensor = _per_seed(inputs, origin)(_held(W), x)
        return result

    def trained_f(self, W: Weights, x: Tensor) -> tuple[Tensor, Weights]:
        """Return the outputs on a training batch, in training mode, and the updated buffers."""
        origin = _origin(W)
        module = self._skeleton(origin, training=True)
        memory = [name for name, _ in module.named_buffers()]

        def outputs(held: Weights, x: Tensor) -> tuple[Tensor, Weights]:
            # the module changes its buffers in place, or puts new ones into the dictionary
            held = {**held, **{name: held[name].clone() for name in memory}}
            F = _scalar_or_logits(functional_call(module, held, (x,)), origin.k)
            return F, {name: held[name].detach() for name in memory}

        result: tuple[Tensor, Weights] = _per_seed(outputs, origin)(_held(W), x)
        return result

    def sizes(self, shape: tuple[int, ...], k: int) -> tuple[int, int]:
        """Return the number of weights, and the size of the largest layer's output for one
        point."""
        module = self._skeleton(_Origin(shape, k, False), training=False)
        largest = [math.prod(shape)]

        def seen(layer: nn.Module, given: object, made: object) -> None:
            if isinstance(made, Tensor):
                largest.append(made.numel())

        hooks = [layer.register_forward_hook(seen) for layer in module.modules()]
        try:
            module(torch.empty(1, *shape, device="meta"))
        except (RuntimeError, ValueError, IndexError) as fault:
            raise ValueError(
                f"the module of {getattr(self.build, '__name__', 'build')} does not take a point "
                f"of shape {shape} ({fault}); build it for this shape."
            ) from fault
        finally:
            for hook in hooks:
                hook.remove()
        return sum(w.numel() for w in module.parameters()), max(largest)

    def buffers(self, W: Weights) -> frozenset[str]:
        """Return the names of the weights that gradient descent must not change."""
        module = self._skeleton(_origin(W), training=True)
        return frozenset({_SHAPE, _CLASSES, *(name for name, _ in module.named_buffers())})

    def _skeleton(self, origin: _Origin, training: bool) -> nn.Module:
        options = tuple(sorted(self.options.items()))
        return _skeleton(self.build, options, origin.shape, origin.k, training, get_ident())

    def _tried(self, W: Weights, shape: tuple[int, ...], k: int) -> None:
        """Test the network on two points; raise if it draws random numbers or does not have k
        outputs."""
        name = getattr(self.build, "__name__", repr(self.build))
        two = torch.zeros(2, *shape, dtype=torch.float64)
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            before = torch.get_rng_state()
            F, _ = self.f(W, two), self.trained_f(W, two)
            drawn = not torch.equal(before, torch.get_rng_state())
        if drawn:
            raise ValueError(
                f"Module needs a network that draws no random numbers when it is called, got "
                f"{name}; if it has dropout, remove it or set its probability to 0."
            )
        if F.shape != ((2,) if k == 1 else (2, k)):
            raise ValueError(
                f"Module needs {k} output(s) per point, got shape {tuple(F.shape[1:])} from "
                f"{name}; its last layer must have {k} output(s)."
            )


def _origin(W: Weights) -> _Origin:
    """Read the origin from shapes only, without fetching a number from the device."""
    if _SHAPE not in W or _CLASSES not in W:
        raise ValueError(
            f"Module needs weights from its init, with {_SHAPE!r} and {_CLASSES!r}, got "
            f"{', '.join(W)}; for loaded weights, use {{**network.init(…), **loaded}}."
        )
    stacked = W[_CLASSES].ndim == 3
    return _Origin(tuple(W[_SHAPE].shape[2 if stacked else 1 :]), W[_CLASSES].shape[-1], stacked)


def _per_seed(call: Callable[..., Any], origin: _Origin) -> Callable[..., Any]:
    """Return the call for stacked weights and points: all seeds together; or one after the other if
    there is only one, or in mixed precision, which vmap's batch normalisation does not take. Then
    the channels of images lie innermost in memory, which makes convolutions faster."""
    if not origin.stacked:
        return call

    def mapped(W: Weights, x: Tensor) -> Any:
        mixed = torch.is_autocast_enabled(x.device.type)
        if len(x) > 1 and not mixed:
            return vmap(call)(*_channels_inside(W, x))
        ordered = x.ndim == 5 and (mixed or x.dtype == torch.float32)
        parts = [_channels_last(part) for part in x] if ordered else x
        made = [call({name: w[i] for name, w in W.items()}, part) for i, part in enumerate(parts)]
        return tree_map(lambda *parts: torch.stack(parts), *made)

    return mapped


def _channels_inside(W: Weights, x: Tensor) -> tuple[Weights, Tensor]:
    """Return the same weights and images of several seeds; on a CPU in single precision, the
    channels of all seeds lie beside each other in memory, which makes convolutions faster."""
    if x.ndim != 5 or x.device.type != "cpu" or x.dtype != torch.float32:
        return W, x
    images = x.permute(1, 3, 4, 0, 2).contiguous().permute(3, 0, 4, 1, 2)
    return {name: filters_last(w) for name, w in W.items()}, images


def filters_last(w: Tensor) -> Tensor:
    """Return stacked filters (seed, out, in, height, width) with the input channels innermost in
    memory; other tensors as they are."""
    if w.ndim != 5:
        return w
    return w.permute(0, 1, 3, 4, 2).contiguous().permute(0, 1, 4, 2, 3)


def _channels_last(x: Tensor) -> Tensor:
    """Return images with the channels innermost in memory."""
    return x.contiguous(memory_format=torch.channels_last)


def _held(W: Weights) -> Weights:
    """Return the parameters and buffers, without the two empty tensors."""
    return {name: w for name, w in W.items() if name not in (_SHAPE, _CLASSES)}


def _scalar_or_logits(F: Tensor, k: int) -> Tensor:
    """Reshape a column of single outputs to one number per point if k = 1. Outputs in half
    precision become single, because losses of many logits need it."""
    F = F.float() if F.dtype in (torch.bfloat16, torch.float16) else F
    return F.squeeze(-1) if k == 1 and F.ndim == 2 else F


@cache
def _skeleton(
    build: Build,
    options: tuple[tuple[str, Any], ...],
    shape: tuple[int, ...],
    k: int,
    training: bool,
    thread: int,
) -> nn.Module:
    """Return the network without its weights, on the meta device.

    functional_call sets the weights for the duration of a call, so each mode and each thread has a
    separate skeleton.
    """
    with torch.random.fork_rng(devices=[]):  # the drawn weights are discarded
        module = build(shape, k, **dict(options))
    return module.to("meta").train(training)
