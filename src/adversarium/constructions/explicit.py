"""Trials of explicit classifiers that memorise points above and below a hyperplane."""

import math

import torch
from torch import Generator, Tensor, nn

from adversarium.constructions import Balls, linear_clean
from adversarium.constructions.cells import Classifier, misclassified_in_l2, misclassified_in_linf
from adversarium.constructions.certified import memorised_margins, separated_margins
from adversarium.constructions.classifiers import Gate
from adversarium.data import CellBatch, HyperplaneCells
from adversarium.rng import integers, uniform
from adversarium.shapes import Int
from adversarium.sockets import Along, Numbers

GATES: tuple[Gate, ...] = ("product", "exact")
_RAY = tuple(round(0.02 * i, 2) for i in range(36))


def _scalar(net: nn.Sequential) -> Classifier:
    """Return a network as a function with one number per point."""

    def f(z: Tensor) -> Tensor:
        values: Tensor = net(z)[..., 0]
        return values

    return f


def _share(wrong: Tensor) -> float:
    """Return the share of true entries."""
    return float(wrong.double().mean())


def classifiers(
    rng: Generator,
    D: int,
    memorised: int = 16,
    looked: int = 16,
    delta: float = 0.2,
    eps0: float = 0.05,
) -> Numbers:
    """Measure f_S (eq. (C) of CGRO), the networks of Theorem 5.2 of CGRO and the clean classifier.

    The data are cells with a random labelling; … stands for `f_S`, `clean` or a network's gate.

    - `….clean_test`: the clean error on all cells.
    - `….robust_train`: the robust error on memorised points. `….uncertified`: the share of
      memorised points without a certificate.
    - `….robust_test`: the robust error over all cells, memorised or not.
    - `l2.…`: the errors of the network for l2 balls, if D ≤ 8.

    >>> import adversarium as av
    >>> trial = av.Trial(function=classifiers, parameters={"D": 6, "memorised": 8})
    >>> trial.dynamics["function"]
    'explicit.classifiers'
    """
    number = int(integers(2**31, (), rng))
    data = HyperplaneCells(D=D, eps0=eps0, labelling=number, each=True)
    points = data.sample(data.cells, rng)
    order = torch.randperm(data.cells, generator=rng)
    memorised_cells, other_cells = order[:memorised], order[memorised:]
    attacked, share = (
        (memorised_cells[:looked], other_cells[:looked]),
        len(other_cells) / data.cells,
    )
    clean = linear_clean(D, eps0)
    balls = Balls(x=points.x[memorised_cells], y=points.y[memorised_cells], delta=delta, R=data.R)

    def f_S(z: Tensor) -> Tensor:
        return balls.f_S(clean, z)

    functions: dict[str, Classifier] = {
        **{gate: _scalar(balls.memorising_network(clean, gate)) for gate in GATES},
        "f_S": f_S,
        "clean": _scalar(clean),
    }
    errors: dict[str, float] = {}
    for name, f in functions.items():
        errors[f"{name}.clean_test"] = _share(points.y * f(points.x) <= 0)
        robust_errors = [
            _share(misclassified_in_linf(f, points.x[i], points.y[i], delta, rng)) for i in attacked
        ]
        errors[f"{name}.robust_train"] = robust_errors[0]
        errors[f"{name}.robust_test"] = (1 - share) * robust_errors[0] + share * robust_errors[1]
    x, y = points.x[memorised_cells], points.y[memorised_cells]
    errors["f_S.uncertified"] = _share(separated_margins(balls, x, y) <= 0)
    for gate in GATES:
        margins = memorised_margins(balls, gate, x, y, eps0)
        errors[f"{gate}.uncertified"] = _share(margins <= 0)
    if D <= 8:
        errors |= _errors_in_l2(rng, data, points, attacked, memorised_cells, delta)
    return errors


def _errors_in_l2(
    rng: Generator,
    data: HyperplaneCells,
    points: CellBatch,
    attacked: tuple[Int[Tensor, " a"], Int[Tensor, " b"]],
    memorised_cells: Int[Tensor, " memorised"],
    delta: float,
) -> dict[str, float]:
    """Return the errors of the network of Theorem 5.2 of CGRO for l2 balls."""
    balls = Balls(
        x=points.x[memorised_cells], y=points.y[memorised_cells], delta=delta, R=data.R, p=2, s=8
    )
    f = _scalar(balls.memorising_network(linear_clean(data.D, data.eps0), "product"))
    margins = memorised_margins(
        balls, "product", points.x[memorised_cells], points.y[memorised_cells], data.eps0
    )
    errors = {
        "l2.clean_test": _share(points.y * f(points.x) <= 0),
        "l2.uncertified": _share(margins <= 0),
    }
    shares = []
    for which in attacked:
        x, y = points.x[which], points.y[which]
        across = x.clone()
        across[:, -1] -= delta * y  # clip is flat at these heights, so ascents may miss this point
        wrong = misclassified_in_l2(f, x, y, delta, rng) | (y * f(across) <= 0)
        shares.append(_share(wrong))
    memorised = len(memorised_cells) / data.cells
    errors["l2.robust_train"] = shares[0]
    errors["l2.robust_test"] = memorised * shares[0] + (1 - memorised) * shares[1]
    return errors


def shattered_cells(
    rng: Generator, D: int, labellings: int = 8, delta: float = 0.2, eps0: float = 0.05
) -> Numbers:
    """Test the point set of Theorem 5.3 of CGRO for random labellings φ of all 2^{D−1} cells.

    - `realised`: the share of labellings for which S_φ is 2δ-separated, f_clean is correct but
      nowhere robust, and the network that memorises every cell is certified over every ball.
    - `closed_form`: the largest difference between that network and its closed form, at random
      points of 64 balls.

    >>> from adversarium.rng import stream
    >>> shattered_cells(stream(0, "example"), D=3, labellings=2)["realised"]
    1.0
    """
    clean, realised, largest_gap = linear_clean(D, eps0), 0, 0.0
    for _ in range(labellings):
        number = int(integers(2**31, (), rng))
        data = HyperplaneCells(D=D, eps0=eps0, labelling=number, each=True)
        points = data.sample(data.cells, rng)
        x, y = points.x, points.y
        distances = torch.cdist(x, x, p=math.inf)[y[:, None] != y]
        across = x.clone()
        across[:, -1] -= delta * y
        separable = (y * clean(x)[:, 0] > 0).all() and (y * clean(across)[:, 0] <= 0).all()
        balls = Balls(x=x, y=y, delta=delta, R=data.R)
        certified = (memorised_margins(balls, "exact", x, y, eps0) > 0).all()
        separated = not distances.numel() or float(distances.min()) > 2 * delta
        realised += int(separated and bool(separable) and bool(certified))
        near = x[:64] + delta * (2 * uniform((min(len(x), 64), D), rng) - 1)
        gap = balls.memorising_network(clean, "exact")(near)[:, 0] - balls.closed_form(near, eps0)
        largest_gap = max(largest_gap, float(gap.abs().max()))
    return {"realised": realised / labellings, "closed_form": largest_gap}


def ray(
    rng: Generator,
    D: int = 6,
    memorised: int = 16,
    delta: float = 0.2,
    eps0: float = 0.05,
    distances: tuple[float, ...] = _RAY,
) -> Numbers:
    """Return y f along the ray from a memorised point to the other side of the hyperplane.

    f is f_S of eq. (C) of CGRO, the clean classifier, and the two networks of Theorem 5.2 of CGRO.

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
        "product": balls.memorising_network(clean, "product")(line)[:, 0],
        "exact": balls.memorising_network(clean, "exact")(line)[:, 0],
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
    """f_adv(x) = Σ_i y_i 1[x in ball i] + f_clean(x) 1[x in none], Proposition 3.2 of CGRM.

    Its network (Corollary 3.4 of CGRM) is tested too. Errors are measured on n training points of
    the mixture and on fresh points; `….robust_test/mu` is the robust test error divided by μ,
    computed from equally many points of small and of large margin.

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
        functions["network"] = _scalar(balls.compact_network(clean) if small.any() else clean)
    errors: dict[str, float] = {}
    attacked_points = slice(0, min(n, 40))
    for name, f in functions.items():
        robust_errors = {
            k: _share(misclassified_in_linf(f, b.x, b.y, delta, rng)) for k, b in fresh.items()
        }
        wrong = misclassified_in_linf(
            f, train.x[attacked_points], train.y[attacked_points], delta, rng
        )
        test = data.sample(2000, rng)
        errors[f"{name}.robust_train"] = _share(wrong)
        errors[f"{name}.clean_test"] = _share(test.y * f(test.x) <= 0)
        errors |= {f"{name}.robust_{k}": share for k, share in robust_errors.items()}
        errors[f"{name}.robust_test/mu"] = (
            robust_errors["small"] + (1 - mu) / mu * robust_errors["large"]
        )
    return errors


def closeness(
    rng: Generator,
    D: int,
    n: int,
    delta: float = 0.2,
    eps0: float = 0.05,
    accuracy: float = 1e-4,
) -> Numbers:
    """|f̂(x) − f_adv(x)| < ε, Theorem 3.3 of CGRM.

    - `off_shells`: 1 if this holds for the explicit network outside the shells, else 0. (A shell is
      the region outside a ball where its soft indicator is not yet 0.)
    - `everywhere`: 1 if half the largest jump of f_adv is < ε, else 0: no continuous f̂ is closer.
    - `gap`, `gap_off`: the largest difference, everywhere and outside the shells.
    - `shell`: the share of points in the shells. `half_jump`: half the largest jump.

    >>> from adversarium.rng import stream
    >>> numbers = closeness(stream(0, "example"), D=2, n=1)
    >>> numbers["everywhere"], numbers["off_shells"]
    (0.0, 1.0)
    """
    number = int(integers(2**31, (), rng))
    data = HyperplaneCells(D=D, eps0=eps0, rho=0.05, labelling=number)
    train, clean = data.sample(n, rng), linear_clean(D, eps0)
    balls = Balls(x=train.x, y=train.y, delta=delta, R=data.R)
    net = balls.compact_network(clean)
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
    """½ sup |f_adv(x⁺) − f_adv(x⁻)| over the two sides of the boundaries of the balls, §3 of CGRM.

    Boundaries are crossed along the last coordinate, towards the other class.
    """
    wall = torch.zeros_like(balls.x)
    wall[:, -1] = -balls.delta * balls.y
    sides = [balls.f_adv(clean, balls.x + share * wall) for share in (1 - 1e-6, 1 + 1e-6)]
    return float((sides[0] - sides[1]).abs().max()) / 2
