"""Building blocks of explicit ReLU networks; each is exact, or its error is stated."""

import math

import torch
from torch import Tensor, nn

from adversarium.constructions.relu import affine, in_parallel, network, numbers, then


def absolute(at: Tensor) -> nn.Sequential:
    """x ↦ |x − at| = relu(x − at) + relu(at − x), coordinate by coordinate. Exact.

    >>> absolute(torch.tensor([1.0, 2.0]))(torch.tensor([[0.0, 5.0]]).double()).tolist()
    [[1.0, 3.0]]
    """
    eye = torch.eye(len(at))
    return network([(torch.cat([eye, -eye]), torch.cat([-at, at])),
                    (torch.cat([eye, eye], dim=1), torch.zeros(len(at)))])  # fmt: skip


def largest(k: int) -> nn.Sequential:
    """(z_1, …, z_k) ↦ max z for z ≥ 0: a tournament of b + relu(a − b). Exact.

    >>> largest(3)(torch.tensor([[2.0, 7.0, 5.0]]).double()).item()
    7.0
    """
    return _tournament(k, [[1.0, -1.0], [0.0, 1.0]], [1.0, 1.0])


def least(k: int) -> nn.Sequential:
    """(z_1, …, z_k) ↦ min z for z ≥ 0: a tournament of a − relu(a − b). Exact.

    >>> least(4)(torch.tensor([[4.0, 1.0, 3.0, 2.0], [9.0, 8.0, 6.0, 7.0]]).double())[:, 0].tolist()
    [1.0, 6.0]
    """
    return _tournament(k, [[1.0, -1.0], [1.0, 0.0]], [-1.0, 1.0])


def _tournament(k: int, into: list[list[float]], out: list[float]) -> nn.Sequential:
    """Reduce pairs, layer by layer, until one value is left; an unpaired value passes unchanged."""
    match_ = network([(numbers(into), torch.zeros(2)), (numbers([out]), torch.zeros(1))])
    bye = network([(torch.ones(1, 1), torch.zeros(1))] * 2)
    rounds = []
    while k > 1:
        rounds.append(in_parallel(*[match_] * (k // 2), *[bye] * (k % 2)))
        k = (k + 1) // 2
    return then(*rounds) if rounds else affine([[1.0]])


_TOOTH = numbers([2.0, -4.0, 2.0])  # coefficients of relu(x), relu(x − ½), relu(x − 1)


def tooth() -> nn.Sequential:
    """g(x) = 2 relu(x) − 4 relu(x − ½) + 2 relu(x − 1), a tooth of height 1 at ½. Exact.

    >>> tooth()(torch.tensor([[0.0], [0.25], [0.5], [1.0]]).double())[:, 0].tolist()
    [0.0, 0.5, 1.0, 0.0]
    """
    bias = numbers([0.0, -0.5, -1.0])
    return network([(torch.ones(3, 1), bias), (_TOOTH[None], torch.zeros(1))])


def square(s: int) -> nn.Sequential:
    """q_s(x) = x − Σ_{k ≤ s} g_k(x)/4^k on [0, 1], g_k the k-fold tooth, Lemma D.2 of CGRO.

    It approximates x² from above with sup error exactly 4^{−(s+1)} (Yarotsky); s hidden layers.

    >>> [float(square(s)(torch.tensor([[0.25]]).double())) for s in (1, 2)]  # ¼² + 4^−2, then ¼²
    [0.125, 0.0625]
    """
    if s < 1:
        raise ValueError(f"square needs s >= 1 stages, got {s}.")
    bias = numbers([0.0, -0.5, -1.0, 0.0])
    maps = [(torch.ones(3, 1), bias[:3])]
    before = torch.stack([_TOOTH, numbers([1.0, 0.0, 0.0]) - _TOOTH / 4])  # g_1 and q_1
    for k in range(2, s + 1):
        spread = numbers([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        maps.append((spread @ before, bias))
        g = torch.cat([_TOOTH, torch.zeros(1)])
        before = torch.stack([g, numbers([0.0, 0.0, 0.0, 1.0]) - g / 4.0**k])
    return network([*maps, (before[1:], torch.zeros(1))])


def product(B: float, s: int) -> nn.Sequential:
    """(x, y) ↦ 2B²[q(|x + y|/2B) − q(|x|/2B) − q(|y|/2B)] on [−B, B]², Lemma D.3 of CGRO.

    It approximates x y with an error of at most 4B²4^{−(s+1)}, which is attained, and is exactly 0
    on both axes. The extension to negative x and y is ours.

    >>> gate = product(B=1.0, s=8)
    >>> gate(torch.tensor([[0.5, -0.25], [0.0, 0.75]]).double())[:, 0].tolist()
    [-0.125, 0.0]
    """
    sides = numbers([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]) / (2 * B)
    ends = affine(2 * B**2 * numbers([[1.0, -1.0, -1.0]]))
    return then(affine(sides), absolute(torch.zeros(3)), in_parallel(*[square(s)] * 3), ends)


def distance(at: Tensor, p: float, s: int = 0) -> nn.Sequential:
    """x ↦ ‖x − at‖_∞, exact; or, for p = 2, ‖x − at‖₂² on [0, 1]^D.

    For p = ∞ it has 10D − 4 parameters if D is a power of two. For p = 2 it has s stages per square
    and an error of at most D·4^{−(s+1)}.

    >>> far = distance(torch.tensor([1.0, 1.0]), math.inf)
    >>> far(torch.tensor([[4.0, -1.0], [1.0, 1.0]]).double())[:, 0].tolist()
    [3.0, 0.0]
    """
    if p == math.inf:
        return then(absolute(at), largest(len(at)))
    if p == 2:
        return then(
            absolute(at), in_parallel(*[square(s)] * len(at)), affine(torch.ones(1, len(at)))
        )
    raise ValueError(f"distance needs p = 2 or inf, got {p}.")


def soft_indicator(a: float, b: float) -> nn.Sequential:
    """t ↦ 1 − [relu(t − a) − relu(t − b)]/(b − a): 1 for t ≤ a, 0 for t ≥ b. Exact.

    >>> soft_indicator(1.0, 2.0)(torch.tensor([[0.5], [1.5], [3.0]]).double())[:, 0].tolist()
    [1.0, 0.5, 0.0]
    """
    if not a < b:
        raise ValueError(f"soft_indicator needs a < b (the ends of the ramp), got a={a}, b={b}.")
    ends = numbers([[-1.0, 1.0]]) / (b - a)
    return network([(torch.ones(2, 1), numbers([-a, -b])), (ends, torch.ones(1))])


def clip() -> nn.Sequential:
    """z ↦ −1 + relu(z + 1) − relu(z − 1), the nearest number in [−1, 1]. Exact.

    >>> clip()(torch.tensor([[-3.0], [0.5], [2.0]]).double())[:, 0].tolist()
    [-1.0, 0.5, 1.0]
    """
    ends = (numbers([[1.0, -1.0]]), -torch.ones(1))
    return network([(torch.ones(2, 1), numbers([1.0, -1.0])), ends])
