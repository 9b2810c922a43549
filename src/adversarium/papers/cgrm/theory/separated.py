"""Run the modified training of Theorem 6.2 of CGRM on data that satisfy its Assumption 6.1: cells
in which points with small and with large margins are equally hard to learn."""

import torch
from torch import Generator, Tensor

from adversarium.rng import coins, uniform
from adversarium.shapes import Float, Int
from adversarium.sockets import Numbers


def _cells(n: int, d: int, rng: Generator) -> Int[Tensor, " n"]:
    """Sample n of the d cells, the c-th with a probability proportional to 1/c."""
    weight = 1 / torch.arange(1, d + 1).double()
    edges = weight.cumsum(0) / weight.sum()
    return torch.searchsorted(edges, uniform((n,), rng)).clamp_max(d - 1)


def separated_training(
    rng: Generator,
    N: int,
    d: int,
    mu: float = 0.2,
    draws: int = 50,
    fresh: int = 2000,
    delta: float = 0.2,
    eps0: float = 0.05,
    height: float = 0.4,
) -> Numbers:
    """Run the modified training of Theorem 6.2 of CGRM on d cells in which points with small and
    with large margins are equally hard to learn.

    The cells have centres 0.8 e_c and one label each; the last coordinate is ½ + s_c y h, where h =
    ε0 with probability μ, else `height`. The classes are 0.8 > 2δ apart in l_inf. The class F
    contains all choices of the signs s_c (VC dimension d). Clean risk minimisation learns s_c for
    every cell with a training point. For each training point that can still be attacked, an
    indicator of its ball is added to the network.

    Return, over `draws` training sets, the mean `clean_error` on fresh points, the `ratio` of the
    clean error on small margins to that on large ones (Assumption 6.1 of CGRM), and `open_train`,
    the largest share of training points over whose l_inf ball the network is not certified.

    >>> from adversarium.rng import stream
    >>> numbers = separated_training(stream(0, "example"), N=8, d=16, draws=5)
    >>> 0.5 < numbers["ratio"] < 2, numbers["open_train"]
    (True, 0.0)
    """
    small: list[float] = []
    large: list[float] = []
    largest_open = 0.0
    for _ in range(draws):
        signs, labels = coins((d,), rng), coins((d,), rng)
        cell, h = _cells(N, d, rng), torch.where(uniform((N,), rng) < mu, eps0, height)
        learnt = torch.ones(d).double()
        learnt[cell] = signs[cell]  # ERM has no training error; cells without a point get +1
        for errors, margin in ((small, eps0), (large, height)):
            errors.append(_error(learnt, signs, margin, _cells(fresh, d, rng)))
        open_ = _not_certified(cell, labels[cell], signs[cell] * learnt[cell], h, delta)
        largest_open = max(largest_open, float(open_.double().mean()))
    clean_small, clean_large = sum(small) / draws, sum(large) / draws
    return {
        "clean_error": mu * clean_small + (1 - mu) * clean_large,
        "ratio": clean_small / clean_large,
        "open_train": largest_open,
    }


def _error(
    learnt: Float[Tensor, " d"],
    signs: Float[Tensor, " d"],
    margin: float,
    cell: Int[Tensor, " n"],
) -> float:
    """Return the share of fresh points with y = 1 and last coordinate x_D = ½ + s_c h that the
    learnt classifier s̃_c(x_D − ½) misclassifies; s̃_c is `learnt`."""
    height = 0.5 + signs[cell] * margin
    return float((learnt[cell] * (height - 0.5) <= 0).double().mean())


def _not_certified(
    cell: Int[Tensor, " N"],
    y: Float[Tensor, " N"],
    right: Float[Tensor, " N"],
    h: Float[Tensor, " N"],
    delta: float,
) -> Tensor:
    """Return which training points have no certificate.

    At a point that is classified correctly with margin h > δ, the network learnt from clean data
    has a constant sign on the ball of radius δ. Other points are memorised; their balls must not
    meet a ball of the other class, whose cells are 0.8 away.
    """
    attackable = right * h <= delta
    other = y[:, None] * y < 0
    distance = torch.where(cell[:, None] == cell, 0.0, 0.8)
    meets = other & (distance <= 2 * delta)
    return attackable & meets.any(1)
