"""CGRO's explicit classifiers (§5, App. D): a memorising ReLU network, and what a robust one needs.

Paper: a network with poly(D) + Õ(ND) parameters has clean test error 0, robust training error 0 and
robust test error Ω(1) (Theorem 5.2); a robust one needs exp(Ω(D)) parameters (Theorem 5.3).
Reading: l_inf balls of radius δ = .2 about points over the cells {0.1, 0.9}^{D−1}, heights ½ ± .05;
robust errors over every corner of the l_inf cell and by a gradient attack, whichever is worse.
Cost: quick 40 s (2 cores).
"""

import itertools
import math

import numpy as np
import torch

from adversarium.attacks import PGD
from adversarium.bounds import shattering_constant
from adversarium.constructions import Balls, linear_clean, parameters, product, square
from adversarium.data import HyperplaneCells
from adversarium.experiments import checks as rules
from adversarium.experiments.cgro.cells import broken, broken_in_l2
from adversarium.experiments.checks import at_most, existence, exponent, last, level, measure
from adversarium.experiments.spec import Profile, Run, Table, Trial
from adversarium.networks import Perceptron
from adversarium.probes import Error, strong_attacks
from adversarium.rng import coins, integers, normal, uniform
from adversarium.training import Adam

DELTA, EPS0 = 0.2, 0.05
COUNTED_N, COUNTED_D = (4, 8, 16, 32), (4, 8, 16, 32)
KINDS = ("linf product", "linf exact", "l2 product")
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
TRAINED = (3, 4, 5)  # D
TABLE = {1e-4: 0.3266, 1e-3: 0.3205, 0.01: 0.2805, 0.02: 0.2488, 0.05: 0.1828, 0.1: 0.1146,
         0.15: 0.0709}  # C(μ), worked out by hand once  # fmt: skip
RAY = tuple(round(0.02 * i, 2) for i in range(36))

quick = dict(seeds=5)
paper = dict(seeds=10)


def plan(dimensions=(6, 10), stages=8, widths=WIDTHS, steps=2000):
    yield Trial(label="gates", function=gates, parameters=dict(stages=stages))
    yield Trial(label="regions", function=regions, version=2)
    yield Trial(label="C(μ)", function=shattering)
    for D in dimensions:
        yield Trial(label=f"D = {D}", function=classifiers, parameters=dict(D=D), version=4)
    for kind in KINDS:
        for n in COUNTED_N:
            yield _count(kind, n, 8)
        for D in COUNTED_D:
            yield _count(kind, 8, D, "D")
    yield Trial(label="ray", function=ray)
    for D, m in itertools.product(TRAINED, widths):
        yield _trained(D, m, steps)


def _count(kind, n, D, swept="N"):
    label = f"{kind}, {swept} = {n if swept == 'N' else D}"
    return Trial(label=label, function=counts, parameters=dict(kind=kind, n=n, D=D))


def _trained(D, m, steps):
    """Adversarial training of a network of width m on all 2^{D−1} points of a random labelling."""
    data = HyperplaneCells(D=D, each=True, labelling=None)
    strong = strong_attacks(math.inf, DELTA, k=1, steps=20)
    return Run(
        label=f"trained, D = {D}, width {m}",
        data=data,
        network=Perceptron(m=m),
        attack=PGD(radius=DELTA, steps=8, start="uniform", loss="risk"),
        optimiser=Adam(batch=data.cells),
        n=data.cells,
        steps=steps,
        eta=0.1,
        final=(Error(on="train", attacks=strong, name="robust_error"),),
        record=(0,),
    )


def gates(rng, stages):
    """Lemmas D.2 and D.3 of CGRO: is the sup error of the square 4^{−(s+1)} for every s, the
    product's at most 6B²4^{−(s+1)} and 0 on the axes? And its error over 4B²4^{−(s+1)}."""
    exact, tight, axes = True, 0.0, 0.0
    for s in range(1, stages + 1):
        x = torch.linspace(0, 1, 2 ** (s + 2) + 1, dtype=torch.float64)  # all kinks and midpoints
        error = square(s)(x[:, None])[:, 0] - x.square()
        exact &= abs(float(error.abs().max()) * 4 ** (s + 1) - 1) < 1e-9
    for s, B in itertools.product((4, 6, 8, 10), (1.0, 2.0)):
        line = B * torch.linspace(-1, 1, 257, dtype=torch.float64)
        random = B * (2 * uniform((20_000, 2), rng) - 1)
        pairs = torch.cat([torch.cartesian_prod(line, line), random])
        gate = product(B, s)
        error = gate(pairs)[:, 0] - pairs.prod(1)
        tight = max(tight, float(error.abs().max()) / (4 * B**2 * 4 ** -(s + 1)))
        zero = torch.zeros_like(line)
        for axis in ((line, zero), (zero, line)):
            axes = max(axes, float(gate(torch.stack(axis, dim=1)).abs().max()))
    bound = tight <= 1.5 * (1 + 1e-9) and axes == 0  # 6B² against 4B²
    return {"square": float(exact), "product": float(bound), "product_error": tight}


def regions(rng, nets=10):
    """Linear pieces of small random ReLU networks of the plane, Proposition D.5 of CGRO: the
    activation patterns on a grid over 2^n for n hidden units, the largest; and how far ∇f varies
    where the pattern does not (a piece is linear), the largest."""
    line = torch.linspace(-4, 4, 300, dtype=torch.float64)
    grid, worst, spread = torch.cartesian_prod(line, line), 0.0, 0.0
    for _ in range(nets):
        sizes = [2, *(1 + int(integers(4, (), rng)) for _ in range(1 + int(integers(2, (), rng))))]
        patterns, x = [], grid.clone().requires_grad_(True)
        with torch.enable_grad():
            h = x
            for a, b in itertools.pairwise(sizes):
                z = h @ normal((a, b), rng) + normal((b,), rng)
                patterns.append(z > 0)
                h = torch.relu(z)
            (slopes,) = torch.autograd.grad((h @ normal((b,), rng)).sum(), x)
        seen = torch.cat(patterns, dim=1)
        codes = (seen * 2 ** torch.arange(seen.shape[1])).sum(1)
        pieces, of = codes.unique(return_inverse=True)
        one = slopes.new_zeros(len(pieces), 2).index_copy(0, of, slopes)  # of every piece
        worst = max(worst, len(pieces) / 2 ** seen.shape[1])
        spread = max(spread, float((slopes - one[of]).abs().max()))
    return {"regions/2^n": worst, "spread": spread}


def shattering(rng):
    """Is C(μ) of the counting inequality the one worked out by hand, for every μ of the table?"""
    worst = max(abs(shattering_constant(mu) - value) for mu, value in TABLE.items())
    return {"table": float(worst < 6e-5), "error": worst}


def classifiers(rng, D, memorised=16, looked=16):
    """f_S of eq. (C), the two networks of Theorem 5.2 and the clean classifier on the cells with a
    random labelling: errors, and what Theorem 5.3's argument needs (D ≤ 8)."""
    data = HyperplaneCells(D=D, labelling=int(integers(2**31, (), rng)), each=True)
    points = data.sample(data.cells, rng)
    order = torch.randperm(data.cells, generator=rng)
    seen, fresh = order[:memorised], order[memorised:]
    clean = linear_clean(D, EPS0)
    balls = Balls(x=points.x[seen], y=points.y[seen], delta=DELTA, R=data.R)
    nets = {gate: balls.cgro(clean, gate) for gate in ("product", "exact")}
    functions: dict = {
        **{name: lambda z, net=net: net(z)[..., 0] for name, net in nets.items()},
        "f_S": lambda z: balls.f_S(clean, z),
        "clean": lambda z: clean(z)[..., 0],
    }
    found = {}
    for name, f in functions.items():
        found[f"{name}.clean_test"] = float((points.y * f(points.x) <= 0).double().mean())
        for kind, chosen in (("train", seen[:looked]), ("test", fresh[:looked])):
            wrong = broken(f, points.x[chosen], points.y[chosen], DELTA, rng)
            found[f"{name}.robust_{kind}"] = float(wrong.double().mean())
    if D <= 8:
        round_ = Balls(x=points.x[seen], y=points.y[seen], delta=DELTA, R=data.R, p=2, s=8)
        net = round_.cgro(clean, "product")
        f = lambda z: net(z)[..., 0]
        found["l2.clean_test"] = float((points.y * f(points.x) <= 0).double().mean())
        for kind, chosen in (("train", seen[:looked]), ("test", fresh[:looked])):
            x, y = points.x[chosen], points.y[chosen]
            across = x.clone()
            across[:, -1] -= DELTA * y  # clip is flat at these heights: ascents may not see the way
            wrong = broken_in_l2(f, x, y, DELTA, rng) | (y * f(across) <= 0)
            found[f"l2.robust_{kind}"] = float(wrong.double().mean())
        found["lower_bound"] = float(_lower_bound(data, points, clean, found))
    return found


def _lower_bound(data, points, clean, found):
    """Is S_φ 2δ-separated and separable by a linear classifier that is wrong everywhere under
    attack, and does a robust network (all cells memorised) realise φ on the hyperplane?"""
    apart = torch.cdist(points.x, points.x, p=math.inf)[points.y[:, None] != points.y].min()
    whole = Balls(x=points.x, y=points.y, delta=DELTA, R=data.R).cgro(clean, "exact")
    flat = torch.cat([points.x[:, :-1], torch.full_like(points.x[:, -1:], 0.5)], dim=1)
    realised = torch.sign(whole(flat)[:, 0]) == points.y
    separable = found["clean.clean_test"] == 0 and found["clean.robust_test"] == 1
    return separable and float(apart) > 2 * DELTA and bool(realised.all())


def counts(rng, kind, n, D, accuracy=1e-3):
    """The nonzero parameters of a network that memorises n random cells of {0.1, 0.9}^{D−1}."""
    p, gate = (2 if kind.startswith("l2") else math.inf), kind.split()[1]
    s = math.ceil(math.log2(D / accuracy) / 2)
    bits = torch.zeros(0, D - 1)
    while len(bits) < n:
        bits = torch.cat([bits, coins((1, D - 1), rng)]).unique(dim=0)
    y = coins((n,), rng)
    x = torch.cat([0.5 + 0.4 * bits, (0.5 + EPS0 * y)[:, None]], dim=1)
    balls = Balls(x=x, y=y, delta=DELTA, R=0.8, p=p, s=s)
    used, whole = parameters(balls.cgro(linear_clean(D, EPS0), gate))
    share = used / (n * D * math.log2(D / accuracy))
    return {"parameters": used, "all_parameters": whole, "share": share, "per N·D": used / (n * D)}


def ray(rng, D=6):
    """y f along the ray from a memorised point to the other side of the hyperplane."""
    data = HyperplaneCells(D=D, each=True)
    points = data.sample(data.cells, rng)
    balls = Balls(x=points.x[:16], y=points.y[:16], delta=DELTA, R=data.R)
    clean, y = linear_clean(D, EPS0), points.y[0]
    line = points.x[0].repeat(len(RAY), 1)
    line[:, -1] -= y * torch.tensor(RAY).double()
    nets = {gate: balls.cgro(clean, gate)(line)[:, 0] for gate in ("product", "exact")}
    values = {"f_S": balls.f_S(clean, line), "clean": clean(line)[:, 0], **nets}
    return {f"{n}[{i}]": float(y * v) for n, f in values.items() for i, v in enumerate(f)}


def _least_width(rows):
    """The slope in D of log₂ of the least width that ends with a robust error ≤ 0.05, each seed;
    NaN where no width does."""
    found = []
    for D in TRAINED:
        trained = {
            int(label.split()[-1]): run.last("robust_error")
            for label, run in rows.items()
            if label.startswith(f"trained, D = {D}, ")
        }
        if not trained:
            return np.full(len(next(iter(rows.values())).seeds), np.nan)
        widths = sorted(trained)
        good = np.stack([trained[m] for m in widths]) <= 0.05
        found.append(np.where(good.any(0), np.log2(widths)[good.argmax(0)], np.nan))
    x = np.array(TRAINED) - np.mean(TRAINED)
    return x @ np.stack(found) / (x @ x)


_errors = lambda name: (
    lambda label: rules.every(
        level(last(f"{name}.clean_test", label), 0, 0),
        level(last(f"{name}.robust_train", label), 0, 0),
        level(last(f"{name}.robust_test", label), 0.5, 1),
    )
)
_every_D = lambda name: rules.each(_errors(name), lambda label: label.startswith("D = "))
_sizes = lambda kind, swept, sizes: {f"{kind}, {swept} = {size}": float(size) for size in sizes}


def _counted(kind):
    return (
        exponent(
            f"power of N in parameters/(ND log(D/ε)) ({kind})",
            "share",
            _sizes(kind, "N", COUNTED_N),
            0.0,
            0.1,
        ),
        exponent(
            f"power of D in parameters/(ND log(D/ε)) ({kind})",
            "share",
            _sizes(kind, "D", COUNTED_D),
            0.0,
            (math.inf, 0.1),
        ),
    )


_as_existence = lambda check: rules.Check("existence", check.judge)

checks = {
    "cgro.eq.C": _as_existence(_every_D("f_S")),
    "cgro.thm5.2": _as_existence(
        rules.every(
            _every_D("product"),
            _every_D("exact"),
            _errors("l2")("D = 6"),
            *(c for kind in KINDS for c in _counted(kind)),
        )
    ),
    "cgro.lemD.2": existence(last("square", "gates")),
    "cgro.lemD.3": existence(last("product", "gates")),
    "cgro.propD.5": rules.every(
        at_most(last("regions/2^n", "regions"), 1.0), at_most(last("spread", "regions"), 1e-12)
    ),
    "cgro.thm5.3": rules.every(
        existence(last("table", "C(μ)")),
        existence(last("lower_bound", "D = 6")),
        level(measure("doublings of the least width a dimension", _least_width), 0.5),
    ),
}

_names = {
    "clean": r"$f_{\mathrm{clean}}$",
    "f_S": r"$f_S$, eq. (C)",
    "product": "network, product gate",
    "exact": "network, exact gate",
}
_columns = {"parameters": "nonzero parameters", "per N·D": "per N·D", "share": "per N·D·log₂(D/ε)"}

figures = (
    Profile(
        name="ray",
        title="From a memorised point across the hyperplane: y f",
        y=dict.fromkeys(_names, RAY),
        of=("ray",),
        names=_names,
        x_label="distance from the memorised point",
        y_label="y f",
        lines={"δ": DELTA, "R − δ": 0.8 - DELTA},
        caption="In the ball of radius δ the label is memorised; f_S jumps there, a network has a "
        "ramp.",
    ),
    Table(
        name="counts",
        title="Parameters of the memorising network",
        y=tuple(_columns),
        of=tuple(
            f"{kind}, {swept} = {size}"
            for kind in KINDS
            for swept, sizes in (("N", COUNTED_N), ("D", COUNTED_D))
            for size in sizes
        ),
        names=_columns,
        caption="N swept at D = 8, D swept at N = 8; accuracy ε = 1e-3.",
    ),
    Table(
        name="errors",
        title="Errors of the explicit classifiers",
        y=tuple(
            f"{name}.{kind}"
            for name in _names
            for kind in ("clean_test", "robust_train", "robust_test")
        ),
        of=("D = 6", "D = 10"),
        caption="Robust errors over every corner of the l_inf cell and a gradient attack; "
        "robust test: points that were not memorised.",
    ),
    Table(
        name="widths",
        title="Robust error after adversarial training, by width",
        y=("robust_error",),
        of=tuple(f"trained, D = {D}, width {m}" for D, m in itertools.product(TRAINED, WIDTHS)),
        caption="All 2^(D−1) points of a random labelling are trained on. The constructed "
        "network, with 2^(D−1) indicators, is a certified upper bound.",
    ),
)
