"""A trained nn.Module as a graph of operations that bounds can pass through, in double precision.

Operations: Linear, Conv2d, batch normalisation in evaluation mode, ReLU, leaky ReLU, tanh, sums,
multiples, average and maximum pooling, reshaping. A module with any other operation has no graph.
"""

import math
import operator
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

Map = Callable[[Tensor], Tensor]


class NoGraph(ValueError):
    """The module has an operation without bounds."""


@dataclass(frozen=True, eq=False)
class Op:
    """One operation on earlier nodes.

    affine: z ↦ map(z), with `magnitude(r)` = |W| r, `size(r)` = |W| r + |b| and `terms` summands
    per output; sum: the sum of its inputs; relu (with a slope below 0), tanh; maximum: maximum
    pooling, whose windows `windows` lists as an additional last axis.
    """

    kind: Literal["input", "affine", "sum", "relu", "tanh", "maximum"]
    inputs: tuple[int, ...] = ()
    map: Map | None = None
    magnitude: Map | None = None
    size: Map | None = None
    terms: int = 1
    slope: float = 0.0
    windows: Map | None = field(default=None)


def graph_of(net: nn.Module, x: Tensor) -> list[Op]:
    """Return the operations of a module in evaluation mode, inputs first; the last one is the
    output. `x` is one batch, with which the shapes are found.

    >>> net = nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> [op.kind for op in graph_of(net, torch.zeros(1, 2, 2))]
    ['input', 'affine', 'affine', 'relu', 'affine']
    """
    _refuse_hidden_code(net)
    try:
        traced = fx.symbolic_trace(deepcopy(net).eval().to("cpu", torch.float64))
    except Exception as fault:
        said = " ".join(str(fault).split())
        raise NoGraph(f"its forward cannot be traced ({said[:120]})") from fault
    ops: list[Op] = []
    place: dict[fx.Node, int] = {}
    values: dict[fx.Node, Any] = {}
    modules = dict(traced.named_modules())
    with torch.no_grad():
        for node in traced.graph.nodes:
            if node.op == "output":
                made = node.args[0]
                if not isinstance(made, fx.Node) or made not in place:
                    raise NoGraph("its output is not one tensor")
                if place[made] != len(ops) - 1:
                    ops.append(_identity(place[made]))
                return ops
            if node.op == "placeholder":
                if ops:
                    if node.args:
                        continue  # an optional argument, left at its default
                    raise NoGraph("it has several inputs")
                ops.append(Op("input"))
                place[node], values[node] = 0, x[:1].detach().to("cpu", torch.float64)
                continue
            if node.op == "get_attr":
                values[node] = _attribute(traced, str(node.target))
                continue
            try:
                _add(node, modules, ops, place, values)
            except NoGraph:
                raise
            except Exception as fault:
                said = " ".join(str(fault).split())
                raise NoGraph(
                    f"its operation {node.target} cannot be followed ({said[:120]})"
                ) from fault
    raise NoGraph("it has no output")


def _refuse_hidden_code(net: nn.Module) -> None:
    """Raise if calling the module runs code that its graph does not have: hooks, a replaced
    forward, or another __call__."""
    shared = nn.modules.module
    everywhere = (shared._global_forward_hooks, shared._global_forward_pre_hooks)
    for module in net.modules():
        own = (module._forward_hooks, module._forward_pre_hooks)
        if any((*own, *everywhere)):
            raise NoGraph(f"its layer {type(module).__name__} has a hook")
        replaced = "forward" in vars(module) or type(module).__call__ is not nn.Module.__call__
        if replaced and not isinstance(module, fx.GraphModule):
            raise NoGraph(f"the call of its layer {type(module).__name__} is replaced")


_VIEWS = (nn.Identity, nn.Flatten, nn.Unflatten, nn.Dropout, nn.Dropout2d)


def _refuse_overwriting(node: fx.Node, modules: dict[str, nn.Module]) -> None:
    """Raise if an operation overwrites a value that another one, or a view of it, still uses."""
    name = str(getattr(node.target, "__name__", node.target))
    inplace = bool(node.kwargs.get("inplace"))
    if node.op == "call_module":
        inplace = bool(getattr(modules[str(node.target)], "inplace", False))
    inplace |= name.endswith("_") and not name.endswith("__")
    inplace |= node.target in (operator.iadd, operator.imul, operator.isub, operator.itruediv)
    if not inplace:
        return
    for source in node.all_input_nodes[:1]:
        view = source.target in _SHAPES or (
            source.op == "call_module" and isinstance(modules[str(source.target)], _VIEWS)
        )
        if len(source.users) > 1 or view:
            raise NoGraph(f"its operation {name} overwrites a value that is used again")


def _add(
    node: fx.Node,
    modules: dict[str, nn.Module],
    ops: list[Op],
    place: dict[fx.Node, int],
    values: dict[fx.Node, Any],
) -> None:
    """Add the operation of one node of the traced graph."""
    _refuse_overwriting(node, modules)
    args = [values.get(a, a) if isinstance(a, fx.Node) else a for a in node.args]
    words = {n: values.get(v, v) if isinstance(v, fx.Node) else v for n, v in node.kwargs.items()}
    moving = [a for a in node.args if isinstance(a, fx.Node) and a in place]
    if any(a in place and a not in node.args for a in node.all_input_nodes):
        raise NoGraph(f"its operation {node.target} takes its inputs as a list or by name")
    if node.op == "call_module":
        module = modules[str(node.target)]
        op = _of_module(module, values[moving[0]])
        values[node] = module(*args, **words)
    else:
        if not moving:  # a number or a shape
            values[node] = _called(node, args, words)
            return
        values[node] = _called(node, args, words)
        if isinstance(values[node], int | float | tuple | torch.dtype | torch.device):
            return  # a shape
        if not isinstance(values[node], Tensor):
            raise NoGraph(f"its operation {node.target} has no bounds")
        op = _of_function(node, args, words, place, values)
    inputs = op.inputs or tuple(place[a] for a in moving[:1])
    ops.append(Op(**{**vars(op), "inputs": inputs}))
    place[node] = len(ops) - 1


def _called(node: fx.Node, args: list[Any], words: dict[str, Any]) -> Any:
    if node.op == "call_method":
        return getattr(args[0], str(node.target))(*args[1:], **words)
    assert callable(node.target)
    return node.target(*args, **words)


def _of_module(module: nn.Module, x: Tensor) -> Op:
    if isinstance(module, nn.Linear):
        return _linear(module.weight, module.bias)
    if isinstance(module, nn.Conv2d):
        return _convolution(module)
    if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
        if module.running_var is None or module.running_mean is None:
            raise NoGraph("its batch normalisation has no stored statistics")
        scale = (module.running_var + module.eps).rsqrt()
        scale = scale if module.weight is None else scale * module.weight
        mean = -module.running_mean * scale
        bias = torch.zeros_like(mean) if module.bias is None else module.bias
        shape = (1, -1, *[1] * (x.ndim - 2))
        parts = (scale, mean + bias, mean.abs() + bias.abs())  # the sum may cancel
        one, two, length = (part.detach().view(shape) for part in parts)
        return _elementwise(one, two, length, terms=8)
    if isinstance(module, nn.ReLU | nn.LeakyReLU):
        return Op("relu", slope=float(getattr(module, "negative_slope", 0.0)))
    if isinstance(module, nn.Tanh):
        return Op("tanh")
    if isinstance(module, nn.Identity | nn.Dropout | nn.Dropout2d | nn.Flatten | nn.Unflatten):
        return _reshaped(module, 1)
    if isinstance(module, nn.AvgPool2d) and module.divisor_override is not None:
        raise NoGraph("its average pooling has another divisor")
    if isinstance(module, nn.AvgPool2d | nn.AdaptiveAvgPool2d):
        return _reshaped(module, _pooled(module, x))
    if isinstance(module, nn.MaxPool2d):
        return _maximum(module)
    if isinstance(module, nn.AdaptiveMaxPool2d) and module.output_size in (1, (1, 1)):
        return Op("maximum", windows=lambda z: z.flatten(2)[..., None, None, :])
    raise NoGraph(f"its layer {type(module).__name__} has no bounds")


_SUMS = {operator.add, operator.iadd, torch.add}
_DIFFERENCES = {operator.sub, torch.sub}
_PRODUCTS = {operator.mul, torch.mul, operator.imul}
_QUOTIENTS = {operator.truediv, torch.div}
_SHAPES = {torch.flatten, "flatten", "view", "reshape", torch.reshape, "squeeze", "contiguous",
           torch.squeeze, "unsqueeze", torch.unsqueeze, "permute", "transpose"}  # fmt: skip


def _of_function(
    node: fx.Node,
    args: list[Any],
    words: dict[str, Any],
    place: dict[fx.Node, int],
    values: dict[fx.Node, Any],
) -> Op:
    target: Any = node.target
    known = [isinstance(a, fx.Node) and a in place for a in node.args]
    if target in _SUMS and all(known) and len(known) == 2:
        ends = tuple(place[a] for a in node.args if isinstance(a, fx.Node))
        if values[node.args[0]].shape != values[node.args[1]].shape:  # type: ignore[index]
            raise NoGraph("it adds tensors of different shapes")
        if words:
            raise NoGraph("it adds with a factor (alpha)")
        return Op("sum", inputs=ends)
    if target in (*_SUMS, *_DIFFERENCES, *_PRODUCTS, *_QUOTIENTS) and sum(known) == 1:
        return _with_constant(target, args, known.index(True), words)
    if target is functional.linear and known == [True, *[False] * (len(known) - 1)] and not words:
        return _linear(args[1], args[2] if len(args) > 2 else None)
    if target in (functional.relu, torch.relu, "relu", torch.relu_):
        return Op("relu")
    if target is functional.leaky_relu:
        return Op("relu", slope=float(words.get("negative_slope", (*args, 0.01)[1])))
    if target in (torch.tanh, "tanh", functional.tanh):
        return Op("tanh")
    if target in _SHAPES:
        return _reshaped(_without_batch(node, args, words), 1)
    if target is functional.avg_pool2d and (len(args) > 2 + 4 or "divisor_override" in words):
        raise NoGraph("its average pooling has another divisor")
    if target in (functional.avg_pool2d, functional.adaptive_avg_pool2d, torch.mean, "mean"):
        if target in (torch.mean, "mean"):
            axes = words.get("dim", args[1] if len(args) > 1 else None)
            axes = [axes] if isinstance(axes, int) else axes
            if axes is None or 0 in [a % args[0].ndim for a in axes]:
                raise NoGraph("it takes a mean over the batch")
        x = args[0]
        return _reshaped(_without_batch(node, args, words), max(1, x[0].numel()))
    raise NoGraph(f"its operation {getattr(target, '__name__', target)} has no bounds")


def _with_constant(target: Any, args: list[Any], moving: int, words: dict[str, Any]) -> Op:
    """Return z + c, z − c, c − z, z c or z/c as an elementwise affine map."""
    if words:
        raise NoGraph("it adds with a factor (alpha)")
    c = torch.as_tensor(args[1 - moving], dtype=torch.float64)
    z = args[moving]
    if (c + z).shape != z.shape or (c.ndim == z.ndim and len(c) != 1):
        raise NoGraph("it combines its input with a constant of another shape")
    one, none = torch.ones_like(c), torch.zeros_like(c)
    if target in _SUMS:
        return _elementwise(one, c)
    if target in _DIFFERENCES:
        return _elementwise(one, -c) if moving == 0 else _elementwise(-one, c)
    if target in _PRODUCTS:
        return _elementwise(c, none)
    if moving == 1:
        raise NoGraph("it divides by its input")
    return _elementwise(1 / c, none, terms=4)


def _elementwise(scale: Tensor, shift: Tensor, length: Tensor | None = None, terms: int = 2) -> Op:
    """Return z ↦ scale·z + shift; `length` is the sum of the absolute terms of the shift."""
    length = shift.abs() if length is None else length
    return Op(
        "affine", map=lambda z: z * scale + shift, magnitude=lambda r: r * scale.abs(),
        size=lambda r: r * scale.abs() + length, terms=terms,
    )  # fmt: skip


def _linear(w: Tensor, b: Tensor | None) -> Op:
    size, shift = w.detach().abs(), None if b is None else b.detach().abs()
    w, b = w.detach(), None if b is None else b.detach()
    return Op(
        "affine", map=lambda z: functional.linear(z, w, b),
        magnitude=lambda r: functional.linear(r, size),
        size=lambda r: functional.linear(r, size, shift), terms=w.shape[-1] + 1,
    )  # fmt: skip


def _convolution(module: nn.Conv2d) -> Op:
    if module.padding_mode != "zeros":
        raise NoGraph(f"its convolution pads with {module.padding_mode}")
    w, b = module.weight.detach(), None if module.bias is None else module.bias.detach()
    set_: dict[str, Any] = dict(stride=module.stride, padding=module.padding,
                                dilation=module.dilation, groups=module.groups)  # fmt: skip
    size, shift = w.abs(), None if b is None else b.abs()
    return Op(
        "affine", map=lambda z: functional.conv2d(z, w, b, **set_),
        magnitude=lambda r: functional.conv2d(r, size, **set_),
        size=lambda r: functional.conv2d(r, size, shift, **set_), terms=math.prod(w.shape[1:]) + 1,
    )  # fmt: skip


def _pooled(module: nn.Module, x: Tensor) -> int:
    """Return the number of values that one output of an average pooling sums."""
    if isinstance(module, nn.AvgPool2d):
        size = module.kernel_size
        return math.prod((size, size) if isinstance(size, int) else size)
    return math.prod(x.shape[2:])


def _reshaped(make: Map, terms: int) -> Op:
    """Return a linear map with nonnegative entries and without a shift."""
    return Op("affine", map=make, magnitude=make, size=make, terms=terms)


def _without_batch(node: fx.Node, args: list[Any], words: dict[str, Any]) -> Map:
    """Return a call on a batch of any size; a first length of 1 in a new shape means the batch."""
    rest = list(args[1:])
    if node.target in ("view", "reshape", torch.reshape):
        shape = list(rest[0]) if len(rest) == 1 and not isinstance(rest[0], int) else rest
        if shape and shape[0] == 1:
            shape = [-1, *shape[1:]]
            if -1 in shape[1:]:
                n = math.prod(args[0].shape[1:]) // max(1, -math.prod(shape[1:]))
                shape = [-1, *[n if s == -1 else s for s in shape[1:]]]
        return lambda z: z.reshape(tuple(int(s) for s in shape))
    if node.op == "call_method":
        return lambda z: getattr(z, str(node.target))(*rest, **words)
    target: Any = node.target
    return lambda z: target(z, *rest, **words)


def _maximum(module: nn.MaxPool2d) -> Op:
    """Return maximum pooling whose windows do not overlap the padding."""
    if module.ceil_mode or module.dilation not in (1, (1, 1)) or module.padding not in (0, (0, 0)):
        raise NoGraph("its maximum pooling is padded, dilated or rounded up")
    kernel = module.kernel_size
    step = module.stride
    h, w = (kernel, kernel) if isinstance(kernel, int) else kernel
    sh, sw = (step, step) if isinstance(step, int) else step

    def windows(z: Tensor) -> Tensor:
        return z.unfold(-2, int(h), int(sh)).unfold(-2, int(w), int(sw)).flatten(-2)

    return Op("maximum", windows=windows)


def _identity(place: int) -> Op:
    return Op("affine", (place,), map=torch.clone, magnitude=torch.clone, size=torch.clone)


def _attribute(module: nn.Module, path: str) -> Any:
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name)
    return found.detach() if isinstance(found, Tensor) else found
