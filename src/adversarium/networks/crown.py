"""Lower bounds on the margins of an nn.Module over B_p(x, radius), rounded outwards.

Intervals go forward through the graph; a linear relaxation (CROWN, Zhang et al. 2018) goes backward
from the margins to the input. α-CROWN (Xu et al. 2021) chooses the lower lines of the relaxation by
ascent. All is computed in double precision; every bound is moved by twice the largest effect of
rounding, as in `certificates`. The network itself runs in single precision, so a margin counts as
proven only if it exceeds twice the largest forward error of an evaluation by plain sums of products
(no TF32, no Winograd).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from adversarium.networks.certificates import slack
from adversarium.networks.duals import dual
from adversarium.networks.graph import NoGraph, Op, graph_of
from adversarium.rng import coins, stream

Box = tuple[float, float]
Alphas = dict[int, Tensor]
REFINED = 1024  # units of a layer whose inputs are bounded by the relaxation, not by intervals
LARGEST = 2**14  # values of a layer for one input, up to which a certificate is tried
HELD = 2**22  # numbers in one backward pass


@dataclass(frozen=True, eq=False)
class _Region:
    """B_p(x, radius) within a box."""

    x: Tensor
    p: float
    radius: float
    low: Tensor
    high: Tensor

    @classmethod
    def of(cls, x: Tensor, p: float, radius: float, box: Box | None) -> "_Region":
        x = x.double()
        low, high = x - radius, x + radius
        if box is not None:
            low, high = low.clamp_min(box[0]), high.clamp_max(box[1])
        u = 4 * 2.0**-53 * (x.abs() + radius)
        return cls(x, p, radius, low - u, high + u)

    def least(self, A: Tensor) -> Tensor:
        """Return a lower bound on ⟨A, x'⟩ for every row of A, (q, n, *shape), rounding included."""
        D = self.x[0].numel()
        ends = (A.clamp_min(0) * self.low + A.clamp_max(0) * self.high).flatten(2).sum(-1)
        if self.p != math.inf:
            length = A.flatten(2).norm(dual(self.p), dim=-1)
            ends = torch.maximum(ends, (A * self.x).flatten(2).sum(-1) - self.radius * length)
        size = (A.abs() * (self.x.abs() + self.radius)).flatten(2).sum(-1)
        return ends - slack(D, size)


def proven_margins(
    net: nn.Module,
    x: Tensor,
    y: Tensor,
    k: int,
    p: float,
    radius: float,
    box: Box | None = None,
    steps: int = 0,
    classes: Sequence[int] | None = None,
) -> Tensor:
    """Return lower bounds on the margins in the ball, less the forward error of single precision; a
    point is proven robust if its bound is positive. `steps` of α-CROWN follow for other points. k =
    1: one output, labels ±1; `classes`: the outputs that compete. The module must be in evaluation
    mode. NoGraph is raised if it has an operation without bounds, if its outputs are not those of
    its graph, or if it is too large for bounds that prove anything.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    >>> for layer in (net.eval()[0], net[2]):
    ...     _ = layer.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
    >>> x, y = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    >>> [round(float(proven_margins(net, x, y, 2, math.inf, r)), 4) for r in (0.25, 0.6)]
    [0.5, -0.2]
    """
    if not radius >= 0 or not math.isfinite(radius):
        raise ValueError(f"a certificate needs a finite radius >= 0, got {radius}.")
    if p not in (1, 2, math.inf):
        raise ValueError(f"a certificate needs p = 1, 2 or inf, got {p!r}.")
    if not len(x):
        return torch.zeros(0, dtype=torch.float64)
    if not bool(x.isfinite().all()):
        raise ValueError("a certificate needs finite inputs, got infinite or NaN entries.")
    if net.training:
        raise ValueError("a certificate needs a module in evaluation mode; call net.eval() first.")
    weights = [w for w in (*net.parameters(), *net.buffers()) if w.is_floating_point()]
    if any(w.dtype not in (torch.float32, torch.float64) for w in weights):
        raise NoGraph("it does not compute in single or double precision")
    ops = graph_of(net, x[:1])
    if not all(bool(w.isfinite().all()) for w in weights):
        return torch.full((len(x),), -math.inf, dtype=torch.float64)
    made = []
    x, y = x.detach().cpu(), y.detach().cpu()
    for n in (1, 3):
        first = x[:1].double().cpu()
        if any(len(v) != n for v in _values(ops, first.expand(n, *first.shape[1:]))):
            raise NoGraph("it merges the points of a batch")
    widest = _widest(ops, x[:1].double().cpu())
    if widest > LARGEST:
        raise NoGraph(f"one of its layers has {widest} values per input, more than {LARGEST}")
    size = max(1, min(len(x), HELD // (64 * widest)))
    for some, labels in zip(torch.split(x, size), torch.split(y, size), strict=True):
        bounds = _Bounds(ops, _Region.of(some, p, radius, box))
        _compare(net, bounds)
        made.append(bounds.margins(labels, k, steps, classes))
    return torch.nan_to_num(torch.cat(made), nan=-math.inf, posinf=-math.inf)


def _compare(net: nn.Module, bounds: "_Bounds") -> None:
    """Raise unless the module's outputs at points of the region, in evaluation mode, are those of
    its graph, up to the forward error of single precision."""
    region, where = bounds.region, next(iter(net.parameters()), torch.zeros(0))
    rng = stream(0, "graph")
    signs = [coins(region.x.shape, rng) for _ in range(4)]
    toward = [torch.where(s > 0, region.high, region.low) for s in signs]
    if region.p != math.inf:  # a corner is far outside other balls
        toward = [region.x + (z - region.x) / region.x[0].numel() for z in toward]
    kind = torch.float64 if where.dtype == torch.float64 else torch.float32
    for z in (region.x, *toward):
        at = z.to(kind)
        with torch.no_grad():
            own = net(at.to(where.device)).double().cpu()
            followed = _values(bounds.ops, at.double())[-1]
        gap = (own.reshape(followed.shape) - followed).abs()
        room = 2 * bounds.error[-1] + 1e-6 * followed.abs() + 1e-30
        if not bool((gap <= room).all()):
            raise NoGraph("its outputs differ from those of its graph in double precision")


def _widest(ops: Sequence[Op], x: Tensor) -> int:
    """Return the largest number of values of a node for one point."""
    return max(v[0].numel() for v in _values(ops, x))


def _values(ops: Sequence[Op], x: Tensor) -> list[Tensor]:
    """Return the values of all nodes at x."""
    made: list[Tensor] = []
    for op in ops:
        inputs = [made[i] for i in op.inputs]
        made.append(x if op.kind == "input" else _value(op, inputs))
    return made


def _value(op: Op, z: list[Tensor]) -> Tensor:
    if op.kind == "affine":
        assert op.map is not None
        return op.map(z[0])
    if op.kind == "sum":
        return z[0] + z[1]
    if op.kind == "relu":
        return torch.where(z[0] > 0, z[0], op.slope * z[0])
    if op.kind == "tanh":
        return z[0].tanh()
    assert op.windows is not None
    return op.windows(z[0]).amax(-1)


class _Bounds:
    """Bounds on every node of a graph over one region."""

    def __init__(self, ops: Sequence[Op], region: _Region) -> None:
        self.ops, self.region = ops, region
        self.low: list[Tensor] = []
        self.high: list[Tensor] = []
        self.error: list[Tensor] = []  # of the forward pass in single precision
        with torch.no_grad():
            for i, op in enumerate(ops):
                self._forward(op)
                feeds = any(o.kind in ("relu", "tanh", "maximum") and i in o.inputs for o in ops)
                if feeds and op.kind != "input" and self.low[i][0].numel() <= REFINED:
                    self._refine(i)

    def margins(
        self, y: Tensor, k: int, steps: int, classes: Sequence[int] | None = None
    ) -> Tensor:
        """Return lower bounds on the margins, less the forward errors."""
        last = len(self.ops) - 1
        n, outputs = len(y), self.low[-1][0].numel()
        if k == 1:
            C = y.double().view(1, n, 1)
        else:
            eye = torch.eye(outputs, dtype=torch.float64)
            eye = eye if classes is None else eye[list(classes)]
            others = (y[:, None] + torch.arange(1, k)) % k  # (n, k − 1)
            C = (eye[y][:, None] - eye[others]).transpose(0, 1)
        shape = (len(C), n, *self.low[-1].shape[1:])
        error = self.error[-1].flatten(1)
        forward = (C.abs() * error).sum(-1) * 2
        with torch.no_grad():
            best = (self._lowest(last, C.reshape(shape)) - forward).amin(0)
            plain = self._from_intervals(C) - forward
            best = torch.maximum(best, plain.amin(0))
        if steps and bool((best <= 0).any()):
            best = torch.maximum(best, self._chosen(last, C.reshape(shape), forward, steps))
        return best

    def _from_intervals(self, C: Tensor) -> Tensor:
        low, high = self.low[-1].flatten(1), self.high[-1].flatten(1)
        ends = (C.clamp_min(0) * low + C.clamp_max(0) * high).sum(-1)
        return ends - slack(C.shape[-1], (C.abs() * _most(low, high)).sum(-1))

    def _chosen(self, last: int, C: Tensor, forward: Tensor, steps: int) -> Tensor:
        """Return the best bound over choices of the lower lines of all unstable units."""
        alphas: Alphas = {}
        for i, op in enumerate(self.ops):
            if op.kind == "relu":
                low, high = self.low[op.inputs[0]], self.high[op.inputs[0]]
                start = torch.where(high > -low, 1.0, op.slope).double()
                alphas[i] = start.expand(len(C), *start.shape).clone().requires_grad_(True)
        best = torch.full((C.shape[1],), -math.inf, dtype=torch.float64)
        if not alphas:
            return best
        ascent = torch.optim.Adam(list(alphas.values()), lr=0.1)
        for _ in range(steps):
            with torch.enable_grad():
                bound = self._lowest(last, C, alphas) - forward
                ascent.zero_grad()
                (-bound.sum()).backward()  # type: ignore[no-untyped-call]
            best = torch.maximum(best, bound.detach().amin(0))
            ascent.step()
            with torch.no_grad():
                for i, a in alphas.items():
                    a.clamp_(min(self.ops[i].slope, 1.0), max(self.ops[i].slope, 1.0))
        return best

    def _forward(self, op: Op) -> None:
        """Append the interval and the forward error of one node."""
        low, high = ([side[i] for i in op.inputs] for side in (self.low, self.high))
        error = [self.error[i] for i in op.inputs]
        if op.kind == "input":
            self.low.append(self.region.low)
            self.high.append(self.region.high)
            self.error.append(torch.zeros_like(self.region.low))
            return
        if op.kind == "affine":
            assert op.map is not None and op.magnitude is not None and op.size is not None
            centre, reach = (low[0] + high[0]) / 2, (high[0] - low[0]) / 2
            most = _most(low[0], high[0])
            z, r, size = op.map(centre), op.magnitude(reach), op.size(most)
            give = slack(op.terms, size + r)
            self._append(z - r - give, z + r + give)
            self.error.append(op.magnitude(error[0])
                              + _single(op.terms) * op.size(most + error[0]))  # fmt: skip
        elif op.kind == "sum":
            size = _most(low[0], high[0]) + _most(low[1], high[1])
            give = slack(2, size)
            self._append(low[0] + low[1] - give, high[0] + high[1] + give)
            both = error[0] + error[1]
            self.error.append(both + _single(2) * (size + both))
        else:
            ends = [_value(op, [side[0]]) for side in (low, high)]
            give = slack(4, _most(*ends))
            exact = op.kind == "maximum" or (op.kind == "relu" and op.slope == 0)
            give = torch.zeros_like(give) if exact else give
            self._append(torch.minimum(*ends) - give, torch.maximum(*ends) + give)
            wide = op.windows(error[0]).amax(-1) if op.windows is not None else error[0]
            most = _most(*ends) + wide
            self.error.append(wide + (0.0 if exact else _single(8)) * most)

    def _append(self, low: Tensor, high: Tensor) -> None:
        self.low.append(low)
        self.high.append(high)

    def _refine(self, i: int) -> None:
        """Replace the interval of a node by the relaxation's bounds where they are better."""
        shape = self.low[i].shape
        units = shape[1:].numel()
        per = max(1, HELD // max(1, len(self.low[i]) * max(v[0].numel() for v in self.low)))
        eye = torch.eye(units, dtype=torch.float64)
        for rows in torch.split(torch.arange(units), per):
            A = eye[rows][:, None].expand(len(rows), shape[0], units)
            A = A.reshape(len(rows), *shape)
            for side in (1, -1):
                bound = side * self._lowest(i, side * A)  # (rows, n)
                bounds = self.low if side == 1 else self.high
                target = bounds[i].flatten(1).clone()
                better = torch.maximum if side == 1 else torch.minimum
                target[:, rows] = better(target[:, rows], bound.T)
                bounds[i] = target.view(shape)

    def _lowest(self, node: int, A: Tensor, alphas: Alphas | None = None) -> Tensor:
        """Return lower bounds on ⟨A, node⟩ for every row of A, (q, n, *shape of the node)."""
        q, n = A.shape[:2]
        waiting: dict[int, Tensor] = {node: A}
        total = torch.zeros(q, n, dtype=torch.float64)
        for i in range(node, 0, -1):
            here = waiting.pop(i, None)
            if here is None:
                continue
            op = self.ops[i]
            parts, constant, give = self._back(i, op, here, alphas)
            total = total + constant - give
            for j, part in zip(op.inputs, parts, strict=True):
                waiting[j] = waiting[j] + part if j in waiting else part
        left = waiting.get(0)
        return total if left is None else total + self.region.least(left)

    def _back(
        self, i: int, op: Op, A: Tensor, alphas: Alphas | None
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        """Return the coefficients of the inputs of a node, a constant, and the room for
        rounding."""
        low, high = ([side[j] for j in op.inputs] for side in (self.low, self.high))
        if op.kind == "sum":
            size = _most(low[0], high[0]) + _most(low[1], high[1])
            return [A, A], _total(A * 0.0), slack(2, _total(A.abs() * size))
        if op.kind == "affine":
            return self._back_affine(op, A, low[0], high[0])
        if op.kind == "maximum":
            return self._back_maximum(op, A, low[0], high[0])
        lines = _relu_lines if op.kind == "relu" else _tanh_lines
        alpha = None if alphas is None else alphas.get(i)
        below, above = lines(op, low[0], high[0], alpha)
        up, down = A.clamp_min(0), A.clamp_max(0)
        back = up * below[0] + down * above[0]
        constant = _total(up * below[1] + down * above[1])
        most = _most(low[0], high[0])
        size = A.abs() * (most * (below[0].abs() + above[0].abs())
                          + below[1].abs() + above[1].abs() + most)  # fmt: skip
        return [back], constant, slack(A[0, 0].numel(), _total(size)).detach()

    def _back_affine(
        self, op: Op, A: Tensor, low: Tensor, high: Tensor
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        assert op.map is not None and op.size is not None
        with torch.enable_grad():
            z = torch.zeros(A.shape[0] * A.shape[1], *low.shape[1:], dtype=torch.float64)
            z.requires_grad_(True)
            made = op.map(z)
            flat = A.reshape(made.shape)
            keeps = torch.is_grad_enabled() and A.requires_grad
            (back,) = torch.autograd.grad(made, z, flat, create_graph=keeps)
        shift = op.map(torch.zeros_like(low[:1]))  # the same for every point
        most = _most(low, high)
        size = op.size(most)
        give = slack(op.terms + A[0, 0].numel(), _total(A.abs() * size)).detach()
        return [back.view(*A.shape[:2], *low.shape[1:])], _total(A * shift), give

    def _back_maximum(
        self, op: Op, A: Tensor, low: Tensor, high: Tensor
    ) -> tuple[list[Tensor], Tensor, Tensor]:
        """Use z_j ≤ max z ≤ c, with j the member whose lower bound is largest, c the largest upper
        bound; if the lower bound of j exceeds all other upper bounds, max z = z_j."""
        assert op.windows is not None
        place = torch.arange(low[0].numel(), dtype=torch.float64).view(1, *low.shape[1:])
        lows, highs = op.windows(low), op.windows(high)
        best, member = lows.max(-1)
        others = highs.scatter(-1, member[..., None], -math.inf).amax(-1)
        alone = best >= others
        index = op.windows(place).expand_as(lows).gather(-1, member[..., None]).squeeze(-1).long()
        up = torch.where(alone, A, A.clamp_min(0))
        down = torch.where(alone, 0.0, A.clamp_max(0))
        q, n = A.shape[:2]
        back = torch.zeros(q, n, low[0].numel(), dtype=torch.float64)
        wide = index.flatten(1).expand(q, n, -1)
        back = back.scatter_add(-1, wide, up.flatten(2)).view(q, n, *low.shape[1:])
        top = highs.amax(-1)
        size = A.abs() * torch.maximum(top.abs(), lows.abs().amax(-1)) * 2
        return [back], _total(down * top), slack(A[0, 0].numel(), _total(size)).detach()


def _most(low: Tensor, high: Tensor) -> Tensor:
    """Return the largest absolute values in intervals."""
    return torch.maximum(low.abs(), high.abs())


def _total(v: Tensor) -> Tensor:
    """Sum over everything but rows and points."""
    return v.flatten(2).sum(-1)


def _single(terms: int) -> float:
    """Return γ of single precision for a number of summands, with room for the products."""
    u = 2.0**-24
    n = terms + 4
    return n * u / (1 - n * u)


Line = tuple[Tensor, Tensor]  # slope and value at 0


def _relu_lines(op: Op, low: Tensor, high: Tensor, alpha: Tensor | None) -> tuple[Line, Line]:
    """Return a line below and a line above z ↦ max(z, s z) on [low, high]; s in [0, 1] (for s > 1
    the two change places)."""
    s = op.slope
    if not 0 <= s <= 1:
        raise NoGraph(f"a leaky ReLU needs a slope in [0, 1], got {s}")
    at_low, at_high = (torch.where(z > 0, z, s * z) for z in (low, high))
    active, inactive = low >= 0, high <= 0
    wide = torch.where(high > low, high - low, 1.0)
    chord = torch.where(active, 1.0, torch.where(inactive, s, (at_high - at_low) / wide))
    above = torch.where(active | inactive, 0.0, at_low - chord * low)
    above = above + torch.where(active | inactive, 0.0, 1e-15 * (at_low.abs() + low.abs()))
    free = torch.where(high > -low, 1.0, s) if alpha is None else alpha
    slope = torch.where(active, 1.0, torch.where(inactive, s, free))
    return (slope, torch.zeros_like(low)), (chord, above)


def _tanh_lines(op: Op, low: Tensor, high: Tensor, alpha: Tensor | None) -> tuple[Line, Line]:
    """Return lines of the smaller end slope, which tanh' exceeds between: through the ends."""
    del op, alpha
    ends = [1 - z.tanh().square() for z in (low, high)]
    slope = torch.minimum(*ends) * (1 - 1e-12)
    below = low.tanh() - slope * low
    above = high.tanh() - slope * high
    room = 1e-14 * (1 + low.abs() + high.abs())
    return (slope, below - room), (slope, above + room)
