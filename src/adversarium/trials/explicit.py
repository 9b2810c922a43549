"""Explicit classifiers that memorise, on points above and below a hyperplane: errors, closeness."""

import math

import torch
from torch import Generator, Tensor, nn

from adversarium.constructions import Balls, linear_clean
from adversarium.constructions.classifiers import Gate
from adversarium.data import CellBatch, HyperplaneCells
from adversarium.rng import integers, uniform
from adversarium.shapes import Int
from adversarium.sockets import Along, Numbers
from adversarium.trials.cells import Classifier, broken, broken_in_l2
from adversarium.trials.certified import memorised_margins, separated_margins

GATES: tuple[Gate, ...] = ("product", "exact")
_RAY = tuple(round(0.02 * i, 2) for i in range(36))


def _scalar(net: nn.Sequential) -> Classifier:
    """The one output of a network as a number per point."""

    def f(z: Tensor) -> Tensor:
        values: Tensor = net(z)[..., 0]
        return values

    return f


def _share(wrong: Tensor) -> float:
    return float(wrong.double().mean())


def classifiers(
    rng: Generator,
    D: int,
    memorised: int = 16,
    looked: int = 16,
    delta: float = 0.2,
    eps0: float = 0.05,
) -> Numbers:
    """f_S of eq. (C) of CGRO, the two networks of Theorem 5.2 and the clean classifier on the cells
    with a random labelling: clean errors on all of them, robust ones on memorised points ("train",
    also the share without a certificate) and over all cells, memorised or not ("test"); for D ≤ 8
    also in l2.

    >>> import adversarium as av
    >>> trial = av.Trial(function=classifiers, parameters={"D": 6, "memorised": 8})
    >>> trial.dynamics["function"]
    'explicit.classifiers'
    """
    number = int(integers(2**31, (), rng))
    data = HyperplaneCells(D=D, eps0=eps0, labelling=number, each=True)
    points = data.sample(data.cells, rng)
    order = torch.randperm(data.cells, generator=rng)
    seen, fresh = order[:memorised], order[memorised:]
    chosen, share = (seen[:looked], fresh[:looked]), len(fresh) / data.cells
    clean = linear_clean(D, eps0)
    balls = Balls(x=points.x[seen], y=points.y[seen], delta=delta, R=data.R)

    def f_S(z: Tensor) -> Tensor:
        return balls.f_S(clean, z)

    functions: dict[str, Classifier] = {
        **{gate: _scalar(balls.cgro(clean, gate)) for gate in GATES},
        "f_S": f_S,
        "clean": _scalar(clean),
    }
    errors: dict[str, float] = {}
    for name, f in functions.items():
        errors[f"{name}.clean_test"] = _share(points.y * f(points.x) <= 0)
        wrong = [_share(broken(f, points.x[i], points.y[i], delta, rng)) for i in chosen]
        errors[f"{name}.robust_train"] = wrong[0]
        errors[f"{name}.robust_test"] = (1 - share) * wrong[0] + share * wrong[1]
    x, y = points.x[seen], points.y[seen]
    errors["f_S.uncertified"] = _share(separated_margins(balls, x, y) <= 0)
    for gate in GATES:
        margins = memorised_margins(balls, gate, x, y, eps0)
        errors[f"{gate}.uncertified"] = _share(margins <= 0)
    if D <= 8:
        errors |= _errors_in_l2(rng, data, points, chosen, seen, delta)
    return errors


def _errors_in_l2(
    rng: Generator,
    data: HyperplaneCells,
    points: CellBatch,
    chosen: tuple[Int[Tensor, " a"], Int[Tensor, " b"]],
    seen: Int[Tensor, " memorised"],
    delta: float,
) -> dict[str, float]:
    """Errors of the network of Theorem 5.2 of CGRO for l2 balls."""
    balls = Balls(x=points.x[seen], y=points.y[seen], delta=delta, R=data.R, p=2, s=8)
    f = _scalar(balls.cgro(linear_clean(data.D, data.eps0), "product"))
    margins = memorised_margins(balls, "product", points.x[seen], points.y[seen], data.eps0)
    errors = {
        "l2.clean_test": _share(points.y * f(points.x) <= 0),
        "l2.uncertified": _share(margins <= 0),
    }
    shares = []
    for which in chosen:
        x, y = points.x[which], points.y[which]
        across = x.clone()
        across[:, -1] -= delta * y  # clip is flat at these heights: ascents may not see the way
        wrong = broken_in_l2(f, x, y, delta, rng) | (y * f(across) <= 0)
        shares.append(_share(wrong))
    memorised = len(seen) / data.cells
    errors["l2.robust_train"] = shares[0]
    errors["l2.robust_test"] = memorised * shares[0] + (1 - memorised) * shares[1]
    return errors


def shattered_cells(
    rng: Generator, D: int, labellings: int = 8, delta: float = 0.2, eps0: float = 0.05
) -> Numbers:
    """The point set of Theorem 5.3 of CGRO: the share of random labellings φ of all 2^{D−1} cells
    of which S_φ is 2δ-separated, f_clean is right and nowhere robust, and the network that
    memorises every cell is certified over every ball; and the largest difference of that network
    and its closed form at random places of 64 balls.

    >>> from adversarium.rng import stream
    >>> shattered_cells(stream(0, "example"), D=3, labellings=2)["realised"]
    1.0
    """
    clean, realised, off = linear_clean(D, eps0), 0, 0.0
    for _ in range(labellings):
        number = int(integers(2**31, (), rng))
        data = HyperplaneCells(D=D, eps0=eps0, labelling=number, each=True)
        points = data.sample(data.cells, rng)
        x, y = points.x, points.y
        apart = torch.cdist(x, x, p=math.inf)[y[:, None] != y]
        across = x.clone()
        across[:, -1] -= delta * y
        separable = (y * clean(x)[:, 0] > 0).all() and (y * clean(across)[:, 0] <= 0).all()
        whole = Balls(x=x, y=y, delta=delta, R=data.R)
        certified = (memorised_margins(whole, "exact", x, y, eps0) > 0).all()
        far = not apart.numel() or float(apart.min()) > 2 * delta
        realised += int(far and bool(separable) and bool(certified))
        near = x[:64] + delta * (2 * uniform((min(len(x), 64), D), rng) - 1)
        gap = whole.cgro(clean, "exact")(near)[:, 0] - whole.closed_form(near, eps0)
        off = max(off, float(gap.abs().max()))
    return {"realised": realised / labellings, "closed_form": off}


def ray(
    rng: Generator,
    D: int = 6,
    memorised: int = 16,
    delta: float = 0.2,
    eps0: float = 0.05,
    distances: tuple[float, ...] = _RAY,
) -> Numbers:
    """y f along the ray from a memorised point to the other side of the hyperplane: f_S of eq. (C)
    of CGRO, the clean classifier, and the two networks of Theorem 5.2 of CGRO.

    >>> from adversarium.rng import stream
    >>> values = ray(stream(0, "example"), D=2, memorised=1, distances=(0.0, 0.15))
    >>> values["f_S"].values, round(values["clean"].values[1], 9)  # in the ball, on the other side
    ((1.0, 1.0), -1.0)
    """
    data = HyperplaneCells(D=D, eps0=eps0, each=True)
    points = data.sample(data.cells, rng)
    balls = Balls(x=points.x[:memorised], y=points.y[:memorised], delta=delta, R=data.R)
    clean, y = linear_clean(D, eps0), points.y[0]
    line = points.x[0].repeat(len(distances), 1)
    line[:, -1] -= y * torch.tensor(distances).double()
    values: dict[str, Tensor] = {
        "f_S": balls.f_S(clean, line),
        "clean": clean(line)[:, 0],
        "product": balls.cgro(clean, "product")(line)[:, 0],
        "exact": balls.cgro(clean, "exact")(line)[:, 0],
    }
    return {
        name: Along("distance", distances, tuple(float(y * v) for v in f))
        for name, f in values.items()
    }


def memorising(
    rng: Generator,
    D: int,
    n: int,
    network: bool = True,
    looked: int = 24,
    mu: float = 0.2,
    delta: float = 0.2,
    eps0: float = 0.05,
) -> Numbers:
    """f_adv(x) = Σ_i y_i 1[x in ball i] + f_clean(x) 1[x in none], Proposition 3.2 of CGRM, and its
    network, Corollary 3.4 of CGRM: errors on n training points of the mixture and on fresh ones,
    robust test over μ from equally many small and large margins.

    >>> from adversarium.rng import stream
    >>> errors = memorising(stream(0, "example"), D=2, n=4, network=False, looked=1)
    >>> errors["f_adv.robust_train"], errors["f_adv.clean_test"]
    (0.0, 0.0)
    """
    number = int(integers(2**31, (), rng))

    def cells(share: float) -> HyperplaneCells:
        return HyperplaneCells(D=D, eps0=eps0, rho=0.05, mu=share, labelling=number)

    data, clean = cells(mu), linear_clean(D, eps0)
    train = data.sample(n, rng)
    small = train.is_small
    balls = Balls(x=train.x[small], y=train.y[small], delta=delta, R=data.R)
    fresh = {"small": cells(1.0).sample(looked, rng), "large": cells(0.0).sample(looked, rng)}

    def f_adv(z: Tensor) -> Tensor:
        return balls.f_adv(clean, z)

    functions: dict[str, Classifier] = {"f_adv": f_adv}
    if network:
        functions["network"] = _scalar(balls.cgrm(clean) if small.any() else clean)
    errors: dict[str, float] = {}
    seen = slice(0, min(n, 40))
    for name, f in functions.items():
        wrong = {k: _share(broken(f, b.x, b.y, delta, rng)) for k, b in fresh.items()}
        attacked = broken(f, train.x[seen], train.y[seen], delta, rng)
        test = data.sample(2000, rng)
        errors[f"{name}.robust_train"] = _share(attacked)
        errors[f"{name}.clean_test"] = _share(test.y * f(test.x) <= 0)
        errors |= {f"{name}.robust_{k}": share for k, share in wrong.items()}
        errors[f"{name}.robust_test/mu"] = wrong["small"] + (1 - mu) / mu * wrong["large"]
    return errors


def closeness(
    rng: Generator,
    D: int,
    n: int,
    delta: float = 0.2,
    eps0: float = 0.05,
    accuracy: float = 1e-4,
) -> Numbers:
    """|f̂(x) − f_adv(x)| < ε, Theorem 3.3 of CGRM: is it so off the ramp shells for the explicit
    network, and can it be so everywhere for any continuous f̂, which is no closer than half the
    jump of f_adv? And the largest difference, the same off the shells, the share of points in
    them, half the largest jump.

    >>> from adversarium.rng import stream
    >>> numbers = closeness(stream(0, "example"), D=2, n=1)
    >>> numbers["everywhere"], numbers["off_shells"]
    (0.0, 1.0)
    """
    number = int(integers(2**31, (), rng))
    data = HyperplaneCells(D=D, eps0=eps0, rho=0.05, labelling=number)
    train, clean = data.sample(n, rng), linear_clean(D, eps0)
    balls = Balls(x=train.x, y=train.y, delta=delta, R=data.R)
    net = balls.cgrm(clean)
    near = train.x[integers(n, (4000,), rng)] + 0.6 * (2 * uniform((4000, D), rng) - 1)
    x = torch.cat([train.x, data.sample(500, rng).x, uniform((4000, D), rng), near.clamp(0, 1)])
    gap = (net(x)[:, 0] - balls.f_adv(clean, x)).abs()
    shell = balls.on_ramp(x)
    half = _half_jump(balls, clean)
    return {
        "everywhere": float(half < accuracy),
        "half_jump": half,
        "off_shells": float(gap[~shell].max() < accuracy and bool((~shell).sum() > 500)),
        "gap": float(gap.max()),
        "gap_off": float(gap[~shell].max()),
        "shell": _share(shell),
    }


def _half_jump(balls: Balls, clean: nn.Sequential) -> float:
    """½ sup |f_adv(x⁺) − f_adv(x⁻)| over the two sides of the balls' walls, where they are crossed
    along the last coordinate, towards the other class; §3 of CGRM."""
    wall = torch.zeros_like(balls.x)
    wall[:, -1] = -balls.delta * balls.y
    sides = [balls.f_adv(clean, balls.x + share * wall) for share in (1 - 1e-6, 1 + 1e-6)]
    return float((sides[0] - sides[1]).abs().max()) / 2
