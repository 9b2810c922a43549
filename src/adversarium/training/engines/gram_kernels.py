"""The gram engine's attack and updates as Triton kernels, for single precision on a CUDA device.

During an attack few ReLU units switch on or off, so the product K c (K: Gram matrix, c:
coefficients of the gradient) is updated by one row of K per switch. One Triton program attacks one
point. In products with a 0/1 matrix (exact in float16), the other matrix is split into two float16
matrices (together 21 bits); tensor cores sum in single precision.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator, no-untyped-call"
import math

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # torch without CUDA does not include Triton
    triton = None

TILE, INNER = 128, 32

if triton is not None:

    @triton.jit
    def _climb(
        K, H, first, power, a, y, radius, stride, E, KE, n, steps, m: tl.constexpr,
        WIDTH: tl.constexpr,
    ):  # fmt: skip
        row = tl.program_id(0).to(tl.int64)
        replica = row // n
        unit = tl.arange(0, WIDTH)
        there = unit < m
        h = tl.load(H + row * m + unit, mask=there, other=-1.0)
        side = -tl.load(y + row)
        back = side / tl.load(power + replica)
        high = (row + replica * n) * m + unit  # the two sums of a replica are adjacent
        Kc = tl.load(first + high, mask=there, other=0.0)
        Kc = back * (Kc + tl.load(first + high + n * m, mask=there, other=0.0))
        sign = side * tl.load(a + replica * m + unit, mask=there, other=0.0)
        reach, pace = tl.load(radius + replica), tl.load(stride + replica)
        e, Ke = tl.zeros([WIDTH], tl.float32), tl.zeros([WIDTH], tl.float32)
        on = h > 0
        for _ in range(steps):
            now = (h + Ke) > 0
            flips = tl.where(now != on, 2 * unit + now.to(tl.int32), -1)
            flip = tl.max(flips, 0)
            while flip >= 0:  # one unit at a time, the last first
                s = flip >> 1
                turn = (2 * (flip & 1) - 1).to(tl.float32)
                weight = side * tl.load(a + replica * m + s) * turn
                Kc += weight * tl.load(K + (replica * m + s) * m + unit, mask=there, other=0.0)
                flips = tl.where(flips == flip, -1, flips)
                flip = tl.max(flips, 0)
            on = now
            c = tl.where(on, sign, 0.0)
            square = tl.sum(c * Kc, 0)
            step = tl.where(square > 0, pace * tl.rsqrt(tl.where(square > 0, square, 1.0)), 0.0)
            e += step * c
            Ke += step * Kc
            size = tl.sum(e * Ke, 0)
            scale = tl.minimum(reach * tl.rsqrt(tl.where(size > 0, size, 1.0)), 1.0)
            scale = tl.where(size > 0, scale, 0.0)
            e *= scale
            Ke *= scale
        tl.store(E + row * m + unit, e, mask=there)
        tl.store(KE + row * m + unit, Ke, mask=there)

    @triton.jit
    def _look(
        H, KE, a, b, c, lifted, active, sloped, on, f, n, m: tl.constexpr, WIDTH: tl.constexpr
    ):  # fmt: skip
        row = tl.program_id(0).to(tl.int64)
        replica = row // n
        unit = tl.arange(0, WIDTH)
        there = unit < m
        at = row * m + unit
        h = tl.load(H + at, mask=there, other=0.0) + tl.load(KE + at, mask=there, other=0.0)
        top = tl.load(a + replica * m + unit, mask=there, other=0.0)
        shift = tl.load(b + replica * m + unit, mask=there, other=0.0)
        up = h > 0
        relu = tl.where(up, h, 0.0)
        tl.store(lifted + at, h - shift, mask=there)
        tl.store(active + at, relu, mask=there)
        tl.store(sloped + at, tl.where(up, top, 0.0), mask=there)
        tl.store(on + at, tl.where(up, 1.0, 0.0).to(tl.float16), mask=there)
        tl.store(f + row, tl.sum(relu * top, 0) + tl.load(c + replica))

    @triton.jit
    def _split(Z, scale, high, low, m: tl.constexpr, WIDTH: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        unit = tl.arange(0, WIDTH)
        there = unit < m
        at = row * m + unit
        whole = tl.load(scale + row) * tl.load(Z + at, mask=there, other=0.0)
        top = whole.to(tl.float16)
        tl.store(high + at, top, mask=there)
        tl.store(low + at, (whole - top.to(tl.float32)).to(tl.float16), mask=there)

    @triton.jit
    def _cut(K, a, power, pieces, m: tl.constexpr, TILE: tl.constexpr):
        replica = tl.program_id(1).to(tl.int64)
        across = tl.cdiv(m, TILE)
        i = tl.program_id(0) // across * TILE + tl.arange(0, TILE)
        j = tl.program_id(0) % across * TILE + tl.arange(0, TILE)
        at = replica * m * m + i[:, None] * m + j[None, :]
        into = at + replica * m * m  # the two pieces of a replica are adjacent
        inside = (i < m)[:, None] & (j < m)[None, :]
        scale = tl.load(a + replica * m + i, mask=i < m, other=0.0) * tl.load(power + replica)
        whole = scale[:, None] * tl.load(K + at, mask=inside, other=0.0)
        top = whole.to(tl.float16)
        tl.store(pieces + into, top, mask=inside)
        rest = (whole - top.to(tl.float32)).to(tl.float16)
        tl.store(pieces + into + m * m, rest, mask=inside)

    @triton.jit
    def _plus_outer(
        base, on, high, low, power, a, out, n, m: tl.constexpr, mirrored: tl.constexpr,
        rough: tl.constexpr,
        TILE: tl.constexpr, INNER: tl.constexpr,
    ):  # fmt: skip
        replica = tl.program_id(1).to(tl.int64)
        across = tl.cdiv(m, TILE)
        up, along = tl.program_id(0) // across, tl.program_id(0) % across
        if mirrored and up > along:  # the tile above the diagonal also writes this one
            return
        i, j = up * TILE + tl.arange(0, TILE), along * TILE + tl.arange(0, TILE)
        start = replica * n * m
        mine, mirror = tl.zeros([TILE, TILE], tl.float32), tl.zeros([TILE, TILE], tl.float32)
        for first in range(0, n, INNER):
            k = first + tl.arange(0, INNER)
            at_i = start + k[None, :] * m + i[:, None]
            in_i = (k < n)[None, :] & (i < m)[:, None]
            at_j = start + k[:, None] * m + j[None, :]
            in_j = (k < n)[:, None] & (j < m)[None, :]
            on_i = tl.load(on + at_i, mask=in_i, other=0.0)
            mine = tl.dot(on_i, tl.load(high + at_j, mask=in_j, other=0.0), mine)
            if not rough:
                mine = tl.dot(on_i, tl.load(low + at_j, mask=in_j, other=0.0), mine)
            if mirrored:
                on_j = tl.load(on + at_j, mask=in_j, other=0.0)
                mirror = tl.dot(tl.load(high + at_i, mask=in_i, other=0.0), on_j, mirror)
                mirror = tl.dot(tl.load(low + at_i, mask=in_i, other=0.0), on_j, mirror)
        back = 1 / tl.load(power + replica)
        a_i = back * tl.load(a + replica * m + i, mask=i < m, other=0.0)
        a_j = back * tl.load(a + replica * m + j, mask=j < m, other=0.0)
        at = replica * m * m + i[:, None] * m + j[None, :]
        inside = (i < m)[:, None] & (j < m)[None, :]
        total = tl.load(base + at, mask=inside, other=0.0) + a_i[:, None] * mine
        if mirrored:
            total += a_j[None, :] * mirror
        tl.store(out + at, total, mask=inside)
        if mirrored and up < along:
            there = replica * m * m + j[:, None] * m + i[None, :]
            tl.store(out + there, tl.trans(total), mask=tl.trans(inside))


def serves(K: Tensor) -> bool:
    """Return whether the kernels apply: K is in single precision on a CUDA device, with Triton."""
    return triton is not None and K.is_cuda and K.dtype == torch.float32


def _power(largest: Tensor) -> Tensor:
    """Return the power of two, (S,), that scales numbers of this size to about 2^14, which float16
    can represent."""
    one = torch.ones_like(largest)
    return torch.ldexp(one, (14 - torch.frexp(largest).exponent).clamp(-100, 100)).flatten()


def _first(K: Tensor, on: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    """Return p·(on ⊙ a) K as two sums per replica, (2S, n, m), and p, a power of two, (S,).

    `on` is exact in 16 bits; diag(a)K is split into two pieces of 16 bits. Each piece has its own
    sum, because tensor cores lose the bits of small numbers that are added to large ones.
    """
    S, m = K.shape[:2]
    power = _power(a.abs().amax((-1, -2)) * K.diagonal(dim1=-2, dim2=-1).amax(-1))
    pieces = torch.empty(2 * S, m, m, dtype=torch.float16, device=K.device)
    _cut[triton.cdiv(m, 64) ** 2, S](K, a, power, pieces, m=m, TILE=64)
    return torch.bmm(on.repeat_interleave(2, 0), pieces, out_dtype=torch.float32), power


def climb(
    K: Tensor, H: Tensor, a: Tensor, y: Tensor, radius: Tensor, stride: Tensor, steps: int
) -> tuple[Tensor, Tensor]:
    """Return E, the coefficients of the perturbations Wᵀe, and K E, their effect on H."""
    S, n, m = H.shape
    of_each = (t.expand(S, 1, 1) for t in (radius, stride))
    K, H, a, y, radius, stride = (t.contiguous() for t in (K, H, a, y, *of_each))
    first, power = _first(K, (H > 0).half(), a)
    E, KE = torch.empty_like(H), torch.empty_like(H)
    width = triton.next_power_of_2(m)
    _climb[(S * n,)](K, H, first, power, a, y, radius, stride, E, KE, n, steps, m=m, WIDTH=width)
    return E, KE


def look(
    H: Tensor, KE: Tensor, a: Tensor, b: Tensor, c: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return h − b, relu(h), a·1[h > 0], 1[h > 0] (float16) and f for ReLU units at h = H + KE."""
    S, n, m = H.shape
    H, KE, a, b, c = (t.contiguous() for t in (H, KE, a, b, c))
    lifted, active, sloped = (torch.empty_like(H) for _ in range(3))
    on, f = torch.empty_like(H, dtype=torch.float16), H.new_empty(S, n)
    width = triton.next_power_of_2(m)
    _look[(S * n,)](H, KE, a, b, c, lifted, active, sloped, on, f, n, m=m, WIDTH=width)
    return lifted, active, sloped, on, f


def plus_outer(
    base: Tensor, on: Tensor, pull: Tensor, Z: Tensor, a: Tensor, mirrored: bool, rough: bool
) -> Tensor:
    """Return base + U, U = diag(a)·onᵀ(pull·Z), where `on` contains 0 and 1.

    `mirrored`: return base + U + Uᵀ for a symmetric base; `rough`: round pull·Z to 11 bits.
    """
    S, n, m = Z.shape
    lengths = torch.linalg.vector_norm(Z, math.inf, -1, keepdim=True)
    power = _power((lengths * pull.abs()).amax((-1, -2)))
    base, on, a, Z = (t.contiguous() for t in (base, on.half(), a, Z))
    high, low = (torch.empty_like(on) for _ in range(2))
    scale = (pull * power[:, None, None]).contiguous()
    _split[(S * n,)](Z, scale, high, low, m=m, WIDTH=triton.next_power_of_2(m))
    out = torch.empty_like(base)
    _plus_outer[triton.cdiv(m, TILE) ** 2, S](
        base, on, high, low, power, a, out, n, m=m, mirrored=mirrored, rough=rough, TILE=TILE,
        INNER=INNER, num_warps=8,
    )  # fmt: skip
    return out


def rough_product(L: Tensor, R: Tensor) -> Tensor:
    """Return the product L R, computed in TF32 (10 bits) if these kernels apply to R."""
    if not serves(R):
        return L @ R
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return L @ R
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
