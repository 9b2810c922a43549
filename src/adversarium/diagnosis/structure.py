"""Read structure off a network: the directions of its first linear layer, and whether its output is
a sum over patches. Attacks on units and patches use both."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from adversarium.diagnosis.subject import NetworkError, Subject

MOST = 2**22  # numbers in the Jacobian of a first layer


@dataclass(frozen=True, eq=False)
class Structure:
    """What was read off a network.

    `directions`, (r, d): the gradients of the units of the first layer in x, or in one patch.
    `patchwise`: the outputs' contributions of every patch, (n, P) or (n, P, k).
    """

    directions: Tensor | None = None
    patchwise: Callable[[Tensor], Tensor] | None = None


def structure(known: Subject) -> Structure:
    """Return the structure of a user's network; what was not found is None."""
    x = known.x[:8]
    if known.draws > 1 or not isinstance(known.net, nn.Module) or x.ndim < 2:
        return Structure()
    try:  # it is called with inputs that the user did not give
        patches = _sum_over_patches(known, x) if x.ndim == 3 else None
        return Structure(_first_layer(known, x, patches is not None), patches)
    except (NetworkError, RuntimeError):
        return Structure()


def _sum_over_patches(known: Subject, x: Tensor) -> Callable[[Tensor], Tensor] | None:
    """Return the contribution of every patch if the output is a sum of functions of one patch each:
    then f(x) = f(0) + Σ_p (f(x_p alone) − f(0))."""
    P = x.shape[1]
    if not 2 <= P <= 64 or known.logarithm:
        return None

    def contributions(z: Tensor) -> Tensor:
        alone = torch.diag_embed(torch.ones(P, dtype=z.dtype, device=z.device))  # (P, P)
        single = (z[:, None] * alone[..., None]).flatten(0, 1)  # (n P, P, d)
        outputs = known.f(single).view(len(z), P, *known.f(z[:1]).shape[1:])
        nothing = known.f(torch.zeros_like(z[:1]))
        return outputs - nothing[:, None] * (1 - 1 / P)

    with torch.no_grad():
        whole = known.f(x)
        gap = (contributions(x).sum(1) - whole).abs().max()
        scale = contributions(x).abs().sum(1).max()
    return contributions if float(gap) <= 1e-4 * float(scale) else None


def _first_layer(known: Subject, x: Tensor, patches: bool) -> Tensor | None:
    """Return the directions of the first linear layer that is called, if it is an affine function
    of x (or of one patch) with a constant Jacobian."""
    seen: list[Tensor] = []

    def record(layer: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> None:
        if not seen:
            seen.append(made)

    assert isinstance(known.net, nn.Module)
    first = next((m for m in known.net.modules() if isinstance(m, nn.Linear)), None)
    if first is None or first.out_features * x[0].numel() > MOST:
        return None
    hook = first.register_forward_hook(record)
    try:
        jacobians = []
        for point in (x[:1], x[1:2] if len(x) > 1 else x[:1] + 0.5):
            seen.clear()
            z = point.detach().clone().requires_grad_(True)
            with torch.enable_grad():
                known.raw(z)
            if not seen or not seen[0].requires_grad:
                return None
            units = seen[0].reshape(-1, seen[0].shape[-1])
            row = units[0] if patches else units.reshape(-1)
            if row.numel() * x[0].numel() > MOST:
                return None
            rows = [torch.autograd.grad(u, z, retain_graph=True)[0][0] for u in row]
            jacobians.append(torch.stack(rows))
    finally:
        hook.remove()
    one, other = jacobians
    if patches:
        one, other = one[:, 0], other[:, 0]  # of the first patch; all patches share it
    if not torch.allclose(one, other, rtol=1e-4, atol=1e-6 * float(one.abs().max())):
        return None
    return one.flatten(1).to(x.dtype)
