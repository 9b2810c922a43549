"""Test flatness and the robust gap on smooth random networks (App. E and F of CGRO; §6 of CGRM).

Reading: l_inf balls of radius δ = N^{−1/(D+2)} (the choice of the proof), l1 gradient norms,
Gaussian inputs, the logistic loss; C(D, L) = 1.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import softplus

from adversarium.rng import coins, normal
from adversarium.shapes import Float
from adversarium.sockets import Along, Numbers

from .bounds import flatness_factor
from .powers import power
from .smooth import GRID, Features, Field, ball, label_of, random_features, worst

FREQUENCIES = (5.0, 25.0, 125.0, 625.0)


class _Fresh(NamedTuple):
    """A network on fresh points: L_adv, E max ‖∇L‖₁ (the global flatness) and L_adv − L_clean."""

    adversarial: float
    flatness: float
    rise: float


def flatness_gaps(
    rng: Generator,
    D: int,
    sets: int,
    fresh: int,
    sizes: tuple[int, ...] = (32, 64, 128, 256, 512),
    chances: tuple[float, ...] = (0.05, 0.1, 0.25),
) -> Numbers:
    """L_adv ≤ L̂_adv + N^{−1/(D+2)} O(global flatness), Theorem E.1 of CGRO, for many S.

    c(N) is (L_adv − L̂_adv)/(N^{−1/(D+2)}(global flatness + C/√Δ)). `fixed` and `fitted` are its
    1 − Δ quantiles over training sets S for fixed networks and for networks fitted to S, at the
    first Δ in `chances`; `fixed_slope` and `fitted_slope` are their largest slopes in N for any Δ.
    `rise` is L_adv − L_clean at δ = N^{−1/(D+2)}, and `rise_slope` is its slope in N.

    >>> from adversarium.rng import stream
    >>> numbers = flatness_gaps(stream(0, "example"), D=1, sets=1, fresh=5, sizes=(8, 16))
    >>> numbers["rise"].axis, numbers["rise"].at, round(numbers["claimed_slope"], 3)
    ('N', (8, 16), -0.333)
    """
    fixed = [random_features(rng, D) for _ in range(4)]
    quantiles: dict[str, list[Tensor]] = {"fixed": [], "fitted": []}  # for every N, one per Δ
    rises = []
    for N in sizes:
        gaps, rise = _gaps(rng, N, D, fixed, sets, fresh)
        for name, pairs in gaps.items():
            quantiles[name].append(_quantiles(pairs, chances))
        rises.append(rise)
    by_chance = {name: torch.stack(rows, dim=1) for name, rows in quantiles.items()}
    slopes = {
        f"{name}_slope": max(power(sizes, line.clamp_min(1e-6).tolist()) for line in lines)
        for name, lines in by_chance.items()
    }
    return {
        **{name: Along("N", sizes, tuple(lines[0].tolist())) for name, lines in by_chance.items()},
        "rise": Along("N", sizes, tuple(rises)),
        **slopes,
        "rise_slope": power(sizes, rises),
        "claimed_slope": -1 / (D + 2),
    }


def _quantiles(
    gaps: Float[Tensor, "sets 2"], chances: Sequence[float]
) -> Float[Tensor, " chances"]:
    """Return the 1 − Δ quantile over S of gap/(flatness + C/√Δ) for every Δ, C = 1."""
    quantiles = [
        (gaps[:, 0] / (gaps[:, 1] + 1 / math.sqrt(chance))).quantile(1 - chance)
        for chance in chances
    ]
    return torch.stack(quantiles)


def _gaps(
    rng: Generator, N: int, D: int, fixed: Sequence[Features], sets: int, fresh: int
) -> tuple[dict[str, Float[Tensor, "sets 2"]], float]:
    """Return (L_adv − L̂_adv)/N^{−1/(D+2)} and the global flatness for every training set of N
    points, for one of the fixed networks and for a fitted one; and the fixed networks' mean
    L_adv − L_clean."""
    grid, radius = ball(D, GRID[D]), flatness_factor(N, D)
    test = normal((fresh, D), rng)
    fixed_fresh = [_on_fresh(net, test, grid, radius) for net in fixed]

    def gap_and_flatness(net: Features, on_fresh: _Fresh, x: Tensor) -> tuple[float, float]:
        gap = on_fresh.adversarial - float(worst(net.loss, x, grid, radius).mean())
        return gap / radius, on_fresh.flatness

    gaps: dict[str, list[tuple[float, float]]] = {"fixed": [], "fitted": []}
    for k in range(sets):
        x = normal((N, D), rng)
        net = random_features(rng, D).fitted(x, label_of(x))
        gaps["fixed"].append(
            gap_and_flatness(fixed[k % len(fixed)], fixed_fresh[k % len(fixed)], x)
        )
        gaps["fitted"].append(gap_and_flatness(net, _on_fresh(net, test, grid, radius), x))
    rise = sum(on_fresh.rise for on_fresh in fixed_fresh) / len(fixed_fresh)
    return {name: torch.tensor(pairs).double() for name, pairs in gaps.items()}, rise


def _on_fresh(
    net: Features, test: Float[Tensor, "n D"], grid: Float[Tensor, "places D"], radius: float
) -> _Fresh:
    adversarial = float(worst(net.loss, test, grid, radius).mean())
    flatness = float(worst(net.slope, test, grid, radius).mean())
    clean = float(net.loss(test, label_of(test)).mean())
    return _Fresh(adversarial, flatness, adversarial - clean)


def taylor(rng: Generator, nets: int = 8, points: int = 200) -> Numbers:
    """L_adv − L_clean ≤ δ max_ball ‖∇L‖₁, the Taylor step of Theorem F.1 of CGRO.

    `ratio` is the largest quotient of the two sides over points in D = 1, 2, 3. The maximum of the
    gradient is taken over a grid on the ball and over the segment from x to the worst point, which
    contains the point of the mean-value theorem.

    >>> from adversarium.rng import stream
    >>> taylor(stream(0, "example"), nets=1, points=3)["ratio"] <= 1
    True
    """
    largest = 0.0
    for D in (1, 2, 3):
        for _ in range(nets):
            x, net = normal((points, D), rng), random_features(rng, D)
            for radius in (0.05, 0.2, 0.5):
                largest = max(largest, float(_rise_over_slope(net, x, radius).max()))
    return {"ratio": largest}


def _rise_over_slope(net: Features, x: Float[Tensor, "n D"], radius: float) -> Float[Tensor, " n"]:
    """Return (L_adv − L_clean)/(δ max_ball ‖∇L‖₁) for every point, proof of Theorem F.1 of CGRO."""
    y, grid = label_of(x), ball(x.shape[-1], GRID[x.shape[-1]])
    along = torch.linspace(0, 1, 101).double()[:, None]
    places, labels = x[:, None] + radius * grid, y[:, None].expand(-1, len(grid))
    values = net.loss(places, labels)
    end = radius * grid[values.argmax(1)]
    path = x[:, None] + along * end[:, None]
    largest_slope = torch.maximum(
        net.slope(places, labels).amax(1),
        net.slope(path, y[:, None].expand(-1, len(along))).amax(1),
    )
    return (values.amax(1) - net.loss(x, y)) / (radius * largest_slope)


def first_order(
    rng: Generator,
    points: int = 2000,
    radii: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
) -> Numbers:
    """(L_adv − L_clean)/(δ E‖∇L‖₁) ≥ Ω(1), Proposition E.2 of CGRO, in D = 2.

    `smooth`, `convex` and `oscillating` are this ratio at every radius δ, for a smooth random
    network, a linear one (whose loss is convex in x) and a fast oscillation. `short_at_0` is 1
    minus the ratio at the smallest radius, for the smooth network; `convex_short` is 1 minus the
    smallest ratio over all radii, for the convex loss. `in_frequency` is the power of ω in the
    ratio for f = sin(ω(x_1 + x_2)) at δ = 1, where the largest loss that f can have replaces L_adv.

    >>> from adversarium.rng import stream
    >>> numbers = first_order(stream(0, "example"), points=10, radii=(0.01, 1.0))
    >>> min(numbers["convex"].values) >= 1 > numbers["oscillating"].values[1]
    True
    """
    x = normal((points, 2), rng)
    linear, net = normal((2,), rng), random_features(rng, 2)

    def affine(z: Tensor, y: Tensor) -> Tensor:
        return softplus(-y * (z @ linear))

    def affine_slope(z: Tensor, y: Tensor) -> Tensor:
        return torch.sigmoid(-y * (z @ linear)) * linear.abs().sum()

    smooth = _first_order_ratios(net.loss, net.slope, x, radii)
    convex = _first_order_ratios(affine, affine_slope, x, radii)
    oscillating = _first_order_ratios(_wave, _wave_slope, x, radii)
    y = label_of(x)
    largest_ratios = [_wave_bound(x, y, omega) for omega in FREQUENCIES]
    return {
        "smooth": Along("radius", radii, smooth),
        "convex": Along("radius", radii, convex),
        "oscillating": Along("radius", radii, oscillating),
        "short_at_0": 1 - smooth[0],
        "convex_short": 1 - min(convex),
        "in_frequency": power(FREQUENCIES, largest_ratios),
    }


def _first_order_ratios(
    loss: Field, slope: Field, x: Float[Tensor, "n 2"], radii: Sequence[float]
) -> tuple[float, ...]:
    """Return (L_adv − L_clean)/(δ E‖∇L‖₁) at every radius, Proposition E.2 of CGRO."""
    y, grid = label_of(x), ball(2, 9)
    ratios = []
    for radius in radii:
        rise = worst(loss, x, grid, radius).mean() - loss(x, y).mean()
        ratios.append(float(rise / (radius * slope(x, y).mean())))
    return tuple(ratios)


def _wave(
    z: Float[Tensor, "*n 2"], y: Float[Tensor, "*n"], omega: float = 25.0
) -> Float[Tensor, "*n"]:
    """Return the logistic loss of f(x) = sin(ω(x_1 + x_2))."""
    return softplus(-y * torch.sin(omega * z.sum(-1)))


def _wave_slope(
    z: Float[Tensor, "*n 2"], y: Float[Tensor, "*n"], omega: float = 25.0
) -> Float[Tensor, "*n"]:
    """Return ‖∇_x loss‖₁ of the wave."""
    outer = torch.sigmoid(-y * torch.sin(omega * z.sum(-1)))
    return outer * 2 * omega * torch.cos(omega * z.sum(-1)).abs()


def _wave_bound(x: Float[Tensor, "n 2"], y: Float[Tensor, " n"], omega: float) -> float:
    """Return (max loss − L_clean)/E‖∇L‖₁, an upper bound of the ratio for any perturbation at δ =
    1, because |f| ≤ 1."""
    largest_rise = math.log1p(math.e) - _wave(x, y, omega).mean()
    return float(largest_rise / _wave_slope(x, y, omega).mean())


def flatness_factors(rng: Generator) -> Numbers:
    """N^{−1/(D+2)}, Theorem E.1 of CGRO, for the sizes of image data sets.

    >>> from adversarium.rng import stream
    >>> round(flatness_factors(stream(0, "example"))["MNIST"], 3)
    0.986
    """
    sizes = {"MNIST": (6e4, 784), "CIFAR-10": (5e4, 3072), "D = 2, N = 512": (512, 2)}
    return {name: flatness_factor(N, D) for name, (N, D) in sizes.items()}


def constant_gaps(rng: Generator, counts: tuple[int, ...] = (64, 256, 1024, 4096)) -> Numbers:
    """L_adv − L̂_adv ≤ 0 for the constant f ≡ 1, whose flatness is 0; by Theorem E.1 of CGRO as
    published, this always holds.

    `kept` is the number of samples S, of 200 over all sizes N, for which it holds.

    >>> from adversarium.rng import stream
    >>> 0 < constant_gaps(stream(0, "example"), counts=(9,))["kept"] < 200
    True
    """
    sets, count = 200 // len(counts), 0
    plus, minus = (float(softplus(torch.tensor(-z).double())) for z in (1.0, -1.0))
    for n in counts:
        ones = coins((sets, n), rng).gt(0).double().mean(-1)  # labels are ±1 with probability ½
        gap = (plus + minus) / 2 - (ones * plus + (1 - ones) * minus)
        count += int((gap <= 0).sum())
    return {"kept": float(count)}
