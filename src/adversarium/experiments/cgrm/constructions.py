"""CGRM's explicit classifier f_adv (§3, App. A): only small-margin points are memorised.

Paper: f_adv has robust training error 0, clean test error 0 and robust test error Ω(μ) (Prop. 3.2);
a ReLU network with Õ(μNd + poly d) parameters is close to it (Theorem 3.3).
Reading: l_inf balls of radius δ = 0.2 over the smeared cells {0.1, 0.9}^{D−1} (classes 0.7 apart),
a share μ of heights ½ ± 0.05, the others ½ ± 0.4; robust errors over every corner of the l_inf cell
and by a gradient attack. Smooth heights over uniform coordinates would not be well separated.
Cost: quick 25 s (2 cores).
"""

import math

import torch
from torch.nn.functional import max_pool2d

from adversarium.constructions import Balls, distance, linear_clean, parameters, product
from adversarium.data import HyperplaneCells
from adversarium.experiments import checks as rules
from adversarium.experiments.cgro.cells import broken
from adversarium.experiments.checks import (
    at_most,
    existence,
    exponent,
    identity,
    last,
    level,
    ordering,
)
from adversarium.experiments.spec import Table, Trial
from adversarium.rng import coins, integers, normal, uniform

DELTA, EPS0, MU, ACCURACY = 0.2, 0.05, 0.2, 1e-4
COUNTED_N, COUNTED_D = (8, 16, 32, 64), (16, 32, 64, 128)  # balls and dimensions
CROWDS = (5, 20, 80, 320, 1280)  # training points of the covering experiment

quick = dict(seeds=5)
paper = dict(seeds=20)


def plan(D=10, n=40, grid=201):
    yield Trial(label="boundary", function=boundary, parameters=dict(grid=grid), version=3)
    yield Trial(label="distance", function=distances)
    yield Trial(label="f_adv", function=memorising, parameters=dict(D=D, n=n))
    for crowd in CROWDS:
        parameters_ = dict(D=3, n=crowd, network=False)
        yield Trial(label=f"N = {crowd}", function=memorising, parameters=parameters_)
    yield Trial(label="closeness", function=closeness, parameters=dict(D=6, n=40))
    for size in COUNTED_N:
        yield Trial(label=f"balls = {size}", function=counts, parameters=dict(n=size, D=8))
    for size in COUNTED_D:
        yield Trial(label=f"D = {size}", function=counts, parameters=dict(n=8, D=size))
    yield Trial(label="order", function=order)
    yield Trial(label="VC", function=vc_orders)


def boundary(rng, grid, delta=0.3):
    """The share of points at which {min_ball y f ≥ 0} and {dist(x, DB) ≥ δ} disagree by more than
    one and a half grid cells of the threshold (two grids, half a cell apart), l_inf, for random
    ReLU networks of the plane: all points with random labels ("all"), those with y f > 0
    ("right")."""
    h = 4 / (grid - 1)
    line = torch.linspace(-2, 2, grid, dtype=torch.float64)
    width = round(delta / h)
    place = slice(width + 1, -width - 1, 4)
    points = torch.cartesian_prod(line, line).view(grid, grid, 2)[place, place].reshape(-1, 2)
    everywhere, right = [], []
    for _ in range(3):
        f = _random_net(rng)
        far, low, high = torch.full((len(points),), math.inf), [], []
        for lines in (line, line + h / 2):  # two grids: neither misses what the other sees
            values = f(torch.cartesian_prod(lines, lines)).view(1, 1, grid, grid)
            window = lambda v: max_pool2d(v, 2 * width + 1, 1, width)[0, 0][place, place].flatten()
            low.append(-window(-values))
            high.append(window(values))
            roots = _roots(lines, values[0, 0])
            far = torch.minimum(far, torch.cdist(points, roots, p=math.inf).amin(1))
        y = coins((len(points),), rng)
        least = torch.where(y > 0, torch.minimum(*low), -torch.maximum(*high))
        wrong = ((least >= 0) != (far >= delta)) & ((far - delta).abs() > 1.5 * h)
        everywhere.append(wrong.double().mean())
        right.append(wrong[y * f(points) > 0].double().mean())
    return {"all": float(sum(everywhere) / 3), "right": float(sum(right) / 3)}


def _random_net(rng):
    A, a = normal((2, 12), rng), normal((12,), rng)
    B, b = normal((12, 8), rng) / 3, normal((8,), rng)
    c, bias = normal((8,), rng), normal((), rng)  # without the bias f has plateaus of zeros
    return lambda x: torch.relu(torch.relu(x @ A + a) @ B + b) @ c + bias


def _roots(line, values):
    """Points at which a function changes its sign along the lines of a grid, given its values."""
    n, found = len(line), []
    points = torch.cartesian_prod(line, line).view(n, n, 2)
    for p, v in ((points, values), (points.transpose(0, 1), values.mT)):
        a, b = v[:-1], v[1:]
        turns = a * b < 0
        share = (a / (a - b))[turns][:, None]
        found.append(p[:-1][turns] + share * (p[1:] - p[:-1])[turns])
    far_away = torch.full((1, 2), 1e9, dtype=torch.float64)  # a net without a boundary here
    return torch.cat([*found, far_away])


def distances(rng, sizes=(2, 3, 4, 6, 8, 16, 50)):
    """The l_inf distance network: its largest error, and its parameters over 10d − 4."""
    error, share = 0.0, 0.0
    for d in sizes:
        at, x = uniform((d,), rng), 3 * uniform((500, d), rng) - 1
        net = distance(at, math.inf)
        error = max(error, float((net(x)[:, 0] - (x - at).abs().amax(1)).abs().max()))
        share = max(share, (parameters(net)[0] - 2) / (10 * d - 4))  # 2: odd ones out are carried
    return {"exact": float(error <= 1e-15 and share <= 1), "error": error, "share": share}


def memorising(rng, D, n, network=True, looked=24):
    """Errors of f_adv, and of its network, on n training points of the mixture and on fresh ones:
    robust test over μ from equally many small and large margins."""
    number = int(integers(2**31, (), rng))
    data = lambda mu: HyperplaneCells(D=D, rho=0.05, mu=mu, labelling=number)
    train, clean = data(MU).sample(n, rng), linear_clean(D, EPS0)
    small = train.is_small
    balls = Balls(x=train.x[small], y=train.y[small], delta=DELTA, R=data(MU).R)
    fresh = {"small": data(1.0).sample(looked, rng), "large": data(0.0).sample(looked, rng)}
    functions = {"f_adv": lambda z: balls.f_adv(clean, z)}
    if network and small.any():
        net = balls.cgrm(clean)
        functions["network"] = lambda z: net(z)[..., 0]
    found = {}
    for name, f in functions.items():
        seen = slice(0, min(n, 40))
        wrong = {k: broken(f, b.x, b.y, DELTA, rng).double().mean() for k, b in fresh.items()}
        found[f"{name}.robust_train"] = float(
            broken(f, train.x[seen], train.y[seen], DELTA, rng).double().mean()
        )
        test = data(MU).sample(2000, rng)
        found[f"{name}.clean_test"] = float((test.y * f(test.x) <= 0).double().mean())
        found |= {f"{name}.robust_{k}": float(v) for k, v in wrong.items()}
        found[f"{name}.robust_test/mu"] = float(wrong["small"] + (1 - MU) / MU * wrong["large"])
    return found


def closeness(rng, D, n):
    """Is the network within ε of f_adv everywhere, and off the ramp shells?"""
    data = HyperplaneCells(D=D, rho=0.05, labelling=int(integers(2**31, (), rng)))
    train, clean = data.sample(n, rng), linear_clean(D, EPS0)
    balls = Balls(x=train.x, y=train.y, delta=DELTA, R=data.R)
    net = balls.cgrm(clean)
    near = train.x[integers(n, (4000,), rng)] + 0.6 * (2 * uniform((4000, D), rng) - 1)
    x = torch.cat([train.x, data.sample(500, rng).x, uniform((4000, D), rng), near.clamp(0, 1)])
    gap = (net(x)[:, 0] - balls.f_adv(clean, x)).abs()
    shell = balls.on_ramp(x)
    return {
        "everywhere": float(gap.max() < ACCURACY),
        "off_shells": float(gap[~shell].max() < ACCURACY and bool((~shell).sum() > 500)),
        "gap": float(gap.max()),
        "gap_off": float(gap[~shell].max()),
        "shell": float(shell.double().mean()),
    }


def counts(rng, n, D):
    """The nonzero parameters of the network with n balls in dimension D, and those of its balls:
    without the clean classifier and the one product gate."""
    x, y = uniform((n, D), rng), torch.ones(n).double()
    balls, clean = Balls(x=x, y=y, delta=DELTA, R=0.7), linear_clean(D, EPS0)
    used = parameters(balls.cgrm(clean))[0]
    memory = used - parameters(clean)[0] - parameters(product(1.0, balls.s))[0]
    return {"parameters": used, "memory": memory, "per ball and dimension": memory / (n * D)}


def order(rng, sizes=(6, 8), n=40):
    """Parameters of the clean, the CGRM (μN balls) and the fully memorising network (all cells)."""
    found: dict[str, float] = {}
    for D in sizes:
        clean, data = linear_clean(D, EPS0), HyperplaneCells(D=D, each=True)
        points = data.sample(data.cells, rng)
        some = round(MU * n)
        few = Balls(x=points.x[:some], y=points.y[:some], delta=DELTA, R=data.R)
        whole = Balls(x=points.x, y=points.y, delta=DELTA, R=data.R)
        found[f"clean, D = {D}"] = parameters(clean)[0]
        found[f"CGRM, D = {D}"] = parameters(few.cgrm(clean))[0]
        robust = parameters(whole.cgrm(clean))[0]
        found |= {f"robust, D = {D}": robust, f"bound, D = {D}": math.sqrt(robust / data.cells)}
    return found


def vc_orders(rng):
    """The power of L in the cited lower bound W L log(W/L) over the printed W log(WL), W = L²."""
    ratio = lambda L: L * math.log(L) / math.log(L**3)
    return {"power": math.log(ratio(1e6) / ratio(1e3)) / math.log(1e3)}


def _errors(name, label):
    return rules.every(
        level(last(f"{name}.robust_small", label), 0.9),  # with no large one: within [.9, 1] μ
        level(last(f"{name}.robust_large", label), 0, 0),
        level(last(f"{name}.robust_train", label), 0, 0),
        level(last(f"{name}.clean_test", label), 0, 0),
    )


def _short_of_one(D):
    """1 − the standard bound √(Complexity/N), Complexity the parameters of the network that fits N
    perturbed points."""
    return lambda rows: 1 - rows["order"].last(f"bound, D = {D}")


_at = lambda what, D: last(f"{what}, D = {D}", "order")
_sizes = lambda name, sizes: {f"{name} = {size}": float(size) for size in sizes}

checks = {
    "cgrm.prop3.1": identity(last("all", "boundary"), 0.0),
    "cgrm.prop3.1.corrected": identity(last("right", "boundary"), 0.0),
    "cgrm.prop3.2": _errors("f_adv", "f_adv"),
    "cgrm.thm3.3": existence(last("everywhere", "closeness")),
    "cgrm.thm3.3.corrected": rules.every(
        existence(last("off_shells", "closeness")),
        exponent("power of the number of balls", "memory", _sizes("balls", COUNTED_N), 1, 0.15),
        exponent("power of D", "memory", _sizes("D", COUNTED_D), 1, 0.15),
    ),
    "cgrm.lemA.4": existence(last("exact", "distance")),
    "cgrm.cor3.4": _errors("network", "f_adv"),
    "cgrm.complexity-order": rules.every(
        *(
            ordering(_at(more, D), than=_at(less, D))
            for D in (6, 8)
            for less, more in (("clean", "CGRM"), ("CGRM", "robust"))
        )
    ),
    "cgrm.std-bound": rules.every(
        *(
            at_most(rules.measure(f"1 − √(parameters/N) (D = {D})", _short_of_one(D)), 0.0)
            for D in (6, 8)
        )
    ),
    "cgrm.lemA.7": at_most(last("power", "VC"), 0.0),
}

_names = {
    "f_adv.robust_train": "robust train error",
    "f_adv.clean_test": "clean test error",
    "f_adv.robust_test/mu": "robust test error/μ",
    "network.robust_train": "robust train error, network",
    "network.clean_test": "clean test error, network",
    "network.robust_test/mu": "robust test error/μ, network",
}
_orders = {f"{what}, D = {D}": f"{what}, D = {D}"
           for D in (6, 8) for what in ("clean", "CGRM", "robust")}  # fmt: skip

figures = (
    Table(
        name="errors",
        title="f_adv and its network: errors",
        y=tuple(_names),
        of=("f_adv", *(f"N = {crowd}" for crowd in CROWDS)),
        names=_names,
        caption="First row D = 10, N = 40. The others: D = 3, four cells; once N points cover the "
        "cells, memorising covers the test points and the robust test error falls below μ.",
    ),
    Table(
        name="counts",
        title="Parameters of the CGRM network",
        y=("parameters", "memory", "per ball and dimension"),
        of=(*(f"balls = {n}" for n in COUNTED_N), *(f"D = {D}" for D in COUNTED_D)),
        caption="Balls swept at D = 8, D swept with 8 balls.",
    ),
    Table(
        name="order",
        title="Clean < CGRM < robust: nonzero parameters",
        y=tuple(_orders),
        of=("order",),
        names=_orders,
        caption="CGRM: 8 balls; robust: every one of the 2^(D−1) cells is memorised.",
    ),
)
