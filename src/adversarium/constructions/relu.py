"""ReLU networks given by their affine maps, with a ReLU between consecutive maps.

Every network is an nn.Sequential of Linear and ReLU layers that ends in a Linear. Two networks are
composed by multiplying the last affine map of one with the first of the other, so a composition is
again a layered network whose parameters can be counted.
"""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

Affine = tuple[Tensor, Tensor]  # weight (out, in) and bias (out,)

_block_diag: Callable[..., Tensor] = torch.block_diag  # torch does not annotate it


def numbers(values: object) -> Tensor:
    """Return a float64 tensor."""
    return torch.as_tensor(values, dtype=torch.float64)


def network(maps: Sequence[Affine]) -> nn.Sequential:
    """Return the network with these affine maps and a ReLU between consecutive ones."""
    layers: list[nn.Module] = []
    for A, b in maps:
        layer = nn.Linear(A.shape[1], A.shape[0], device="meta", dtype=torch.float64)
        layer.weight = nn.Parameter(A.double(), requires_grad=False)
        layer.bias = nn.Parameter(b.double(), requires_grad=False)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def affine_maps(net: nn.Sequential) -> list[Affine]:
    """Return the affine maps of a network, first to last."""
    return [(m.weight.detach(), m.bias.detach()) for m in net if isinstance(m, nn.Linear)]


def affine(
    weight: Sequence[Sequence[float]] | Tensor, bias: Sequence[float] | Tensor | None = None
) -> nn.Sequential:
    """x ↦ A x + b: a network without a hidden layer.

    >>> affine([[2.0, -1.0]], [1.0])(torch.tensor([[3.0, 4.0]]).double()).tolist()
    [[3.0]]
    """
    A = numbers(weight)
    b = torch.zeros(len(A)) if bias is None else numbers(bias)
    return network([(A, b)])


def identity(k: int) -> nn.Sequential:
    """x ↦ x without a hidden layer."""
    return affine(torch.eye(k))


def then(*nets: nn.Sequential) -> nn.Sequential:
    """Return the composition, first network first.

    >>> twice, plus = affine([[2.0]]), affine([[1.0]], [3.0])
    >>> then(twice, plus)(torch.tensor([[5.0]]).double()).item()
    13.0
    """
    maps = affine_maps(nets[0])
    for net in nets[1:]:
        (A, b), (B, c), *rest = maps[-1], *affine_maps(net)
        maps = [*maps[:-1], (B @ A, B @ b + c), *rest]
    return network(maps)


def depth(net: nn.Sequential) -> int:
    """Return the number of hidden layers.

    >>> from adversarium.constructions import product
    >>> depth(affine([[1.0]])), depth(product(B=1.0, s=4))
    (0, 5)
    """
    return len(affine_maps(net)) - 1


def deepened(net: nn.Sequential, layers: int) -> nn.Sequential:
    """Return the network with `layers` identity layers z = relu(z) − relu(−z) appended.

    >>> deep = deepened(affine([[-1.0]]), layers=2)
    >>> depth(deep), deep(torch.tensor([[5.0]]).double()).item()
    (2, -5.0)
    """
    if layers == 0:
        return net
    k = len(affine_maps(net)[-1][1])
    eye, zero = torch.eye(k), torch.zeros(k)
    identity_layer = network([(torch.cat([eye, -eye]), torch.cat([zero, zero])),
                     (torch.cat([eye, -eye], dim=1), zero)])  # fmt: skip
    return then(net, *[identity_layer] * layers)


def in_parallel(*nets: nn.Sequential) -> nn.Sequential:
    """Return the networks side by side, each on its own part of the input.

    >>> in_parallel(affine([[2.0]]), affine([[3.0]]))(torch.tensor([[1.0, 10.0]]).double()).tolist()
    [[2.0, 30.0]]
    """
    deepest = max(depth(net) for net in nets)
    equally_deep = [affine_maps(deepened(net, deepest - depth(net))) for net in nets]
    return network([
        (_block_diag(*(A for A, _ in maps)), torch.cat([b for _, b in maps]))
        for maps in zip(*equally_deep, strict=True)
    ])  # fmt: skip


def on_same_input(*nets: nn.Sequential) -> nn.Sequential:
    """Return the networks side by side on the same input.

    >>> on_same_input(affine([[2.0]]), affine([[3.0]]))(torch.tensor([[10.0]]).double()).tolist()
    [[20.0, 30.0]]
    """
    k = affine_maps(nets[0])[0][0].shape[1]
    return then(affine(torch.eye(k).repeat(len(nets), 1)), in_parallel(*nets))


def parameters(net: nn.Module) -> tuple[int, int]:
    """Return the number of nonzero parameters, and the number of all parameters.

    >>> parameters(affine([[2.0, 0.0]], [1.0]))
    (2, 3)
    """
    tensors = list(net.parameters())
    return sum(int((p != 0).sum()) for p in tensors), sum(p.numel() for p in tensors)


def save(net: nn.Sequential, path: str | Path) -> None:
    """Write the affine maps as plain arrays (npz): A0, b0, A1, b1, …

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(affine([[2.0]], [1.0]), Path(folder) / "net.npz")
    ...     [file.name for file in Path(folder).iterdir()]
    ['net.npz']
    """
    maps = affine_maps(net)
    arrays = {f"A{i}": A.numpy() for i, (A, _) in enumerate(maps)}
    arrays |= {f"b{i}": b.numpy() for i, (_, b) in enumerate(maps)}
    with Path(path).open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load(path: str | Path) -> nn.Sequential:
    """Read a network that `save` wrote, without executing code from the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(affine([[2.0]], [1.0]), Path(folder) / "net.npz")
    ...     load(Path(folder) / "net.npz")(torch.tensor([[3.0]]).double()).item()
    7.0
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: torch.from_numpy(file[name]).double() for name in file.files}
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is not a saved network ({error}).") from error
    maps: list[Affine] = []
    while f"A{len(maps)}" in arrays and f"b{len(maps)}" in arrays:
        maps.append((arrays[f"A{len(maps)}"], arrays[f"b{len(maps)}"]))
    fits = all(A.ndim == 2 and b.shape == A.shape[:1] for A, b in maps)
    meets = all(B.shape[1] == len(b) for (_, b), (B, _) in itertools.pairwise(maps))
    if not maps or 2 * len(maps) != len(arrays) or not fits or not meets:
        raise ValueError(
            f"{path} needs arrays A0, b0, A1, b1, … of matching shapes, got {', '.join(arrays)}."
        )
    return network(maps)
