"""Numbers of parameters of the explicit networks."""

import math
from typing import Literal

import torch
from torch import Generator, Tensor

from adversarium.constructions import Balls, linear_clean, parameters, product
from adversarium.data import HyperplaneCells
from adversarium.rng import coins, uniform
from adversarium.shapes import Float
from adversarium.sockets import Numbers


def memorising_counts(
    rng: Generator,
    norm: Literal["linf", "l2"],
    gate: Literal["product", "exact"],
    n: int,
    D: int,
    accuracy: float = 1e-3,
    delta: float = 0.2,
    eps0: float = 0.05,
) -> Numbers:
    """poly(D) + Õ(ND) parameters, Theorem 5.2 of CGRO, of a network that memorises n random cells.

    The cells are points of {0.1, 0.9}^{D−1}; ε is `accuracy`, and N = n.

    - `parameters`, `all_parameters`: the numbers of nonzero and of all parameters.
    - `share`, `per N·D`: the nonzero parameters divided by N D log₂(D/ε) and by N D.

    >>> from adversarium.rng import stream
    >>> counts = memorising_counts(stream(0, "example"), "linf", "exact", n=2, D=2)
    >>> counts["parameters"] <= counts["all_parameters"]
    True
    """
    bits = _random_cells(rng, n, D)
    y = coins((n,), rng)
    x = torch.cat([0.5 + 0.4 * bits, (0.5 + eps0 * y)[:, None]], dim=1)
    s = math.ceil(math.log2(D / accuracy) / 2)
    balls = Balls(x=x, y=y, delta=delta, R=0.8, p=2 if norm == "l2" else math.inf, s=s)
    used, total = parameters(balls.memorising_network(linear_clean(D, eps0), gate))
    share = used / (n * D * math.log2(D / accuracy))
    return {"parameters": used, "all_parameters": total, "share": share, "per N·D": used / (n * D)}


def _random_cells(rng: Generator, n: int, D: int) -> Float[Tensor, "n bits"]:
    """Draw n different cells, each given by D − 1 signs."""
    bits = torch.zeros(0, D - 1)
    while len(bits) < n:
        bits = torch.unique(torch.cat([bits, coins((1, D - 1), rng)]), dim=0)
    return bits


def ball_counts(rng: Generator, n: int, D: int, delta: float = 0.2, eps0: float = 0.05) -> Numbers:
    """Õ(μNd + poly d) parameters, Theorem 3.3 of CGRM, of the network with n balls in dimension D.

    - `parameters`: all parameters. `clean`: those of the clean classifier.
    - `memory`: those of the balls, without the clean classifier and the only product gate.
    - `per ball and dimension`: `memory` divided by n D.

    >>> from adversarium.rng import stream
    >>> one, two = (ball_counts(stream(0, "example"), n=n, D=2)["memory"] for n in (1, 2))
    >>> one < two
    True
    """
    x, y = uniform((n, D), rng), torch.ones(n).double()
    balls, clean = Balls(x=x, y=y, delta=delta, R=0.7), linear_clean(D, eps0)
    used, clean_count = parameters(balls.compact_network(clean))[0], parameters(clean)[0]
    memory = used - clean_count - parameters(product(1.0, balls.s))[0]
    return {
        "parameters": used,
        "clean": clean_count,
        "memory": memory,
        "per ball and dimension": memory / (n * D),
    }


def shattered(
    rng: Generator,
    n: int,
    D: int,
    labellings: int = 8,
    delta: float = 0.2,
    eps0: float = 0.05,
) -> Numbers:
    """√(Complexity/N), the standard bound of §6 of CGRM, bounded from below.

    Networks that differ only in their last weights realise every random labelling of n small-margin
    points. The class then shatters these points, so its VC dimension is at least n.

    - `VC dimension, at least`: n if all labellings are realised, else 0.
    - `bound`: the bound for N = n with this VC dimension.

    >>> from adversarium.rng import stream
    >>> shattered(stream(0, "example"), n=4, D=5, labellings=2)["VC dimension, at least"]
    4
    """
    cells, clean = _random_cells(rng, n, D), linear_clean(D, eps0)
    x = torch.cat([0.5 + 0.4 * cells, (0.5 + eps0 * coins((n,), rng))[:, None]], dim=1)
    realised = True
    for _ in range(labellings):
        y = coins((n,), rng)
        net = Balls(x=x, y=y, delta=delta, R=0.8).compact_network(clean)
        realised = realised and bool((y * net(x)[:, 0] > 0).all())
    dimension = n if realised else 0
    return {"VC dimension, at least": dimension, "bound": math.sqrt(dimension / n)}


def complexity_order(
    rng: Generator,
    sizes: tuple[int, ...] = (6, 8),
    n: int = 40,
    mu: float = 0.2,
    delta: float = 0.2,
    eps0: float = 0.05,
) -> Numbers:
    """clean < CGRM < robust, the inequality displayed in §3.2 of CGRM, by the number of parameters.

    - `clean, D = …`: the parameters of the clean network.
    - `CGRM, D = …`: those of a network that memorises μN balls (N = n).
    - `robust, D = …`: those of a network that memorises every cell.
    - `bound, D = …`: the standard bound √(Complexity/N) of §6 of CGRM, N the number of cells.

    >>> from adversarium.rng import stream
    >>> rows = complexity_order(stream(0, "example"), sizes=(3,), n=5)
    >>> rows["clean, D = 3"] < rows["CGRM, D = 3"] < rows["robust, D = 3"]
    True
    """
    rows: dict[str, float] = {}
    for D in sizes:
        data, clean = HyperplaneCells(D=D, eps0=eps0, each=True), linear_clean(D, eps0)
        points, count = data.sample(data.cells, rng), round(mu * n)
        few = Balls(x=points.x[:count], y=points.y[:count], delta=delta, R=data.R)
        every = Balls(x=points.x, y=points.y, delta=delta, R=data.R)
        robust = parameters(every.compact_network(clean))[0]
        rows[f"clean, D = {D}"] = parameters(clean)[0]
        rows[f"CGRM, D = {D}"] = parameters(few.compact_network(clean))[0]
        rows[f"robust, D = {D}"] = robust
        rows[f"bound, D = {D}"] = math.sqrt(robust / data.cells)
    return rows
