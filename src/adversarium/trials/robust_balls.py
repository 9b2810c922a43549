"""Two balls a cluster: the points that an n-robust interpolation class shatters, §6 and App. D of
CONV. Points c + s·e_j, j ≤ d, of which k are positive; balls of radius δ.

A centre c + (s/k + q)Σ_P e_j − qΣ_N e_j stands straight above the centroid of the positive points,
q√d over it along the normal of the printed hyperplane.
"""

import math
from fractions import Fraction

import numpy as np
from torch import Generator

from adversarium.rng import normal, uniform
from adversarium.sockets import Along, Numbers


def gamma(k: int, d: int) -> float:
    """γ_k of App. D: balls of radius r > γ_k·s on both sides of the printed hyperplane.

    >>> round(gamma(5, 10), 4), round(gamma(2, 5), 4)
    (1.423, 0.969)
    """
    return math.sqrt(d) / 2 * (1 + 1 / d - 1 / max(k, d - k))


def largest_spread(d: int, side: str = "printed") -> float:
    """The largest s/δ at which every labelling of a cluster has its two balls: on the printed
    hyperplane, or on any.

    >>> round(largest_spread(10), 4), round(largest_spread(10, "any"), 4)
    (0.6396, 0.7027)
    """
    if side == "printed":
        return min([1.0, *(1 / gamma(k, d) for k in range(1, d) if max(k, d - k) > 1)])
    return min([1.0, *(_edge(k, d) for k in range(1, d))])


def reach(k: int, d: int, s: float, delta: float = 1.0) -> float:
    """The largest distance of two centres whose δ-balls hold the k and the d − k points: the
    distance of the centroids and the two free heights; −∞ where a ball cannot hold its points."""
    free = [delta**2 - s**2 * (1 - 1 / part) for part in (k, d - k)]
    if min(free) < 0:
        return -math.inf
    return s * math.sqrt(1 / k + 1 / (d - k)) + sum(map(math.sqrt, free))


def _edge(k: int, d: int) -> float:
    """The s at which two δ-balls of a split k, d − k just touch, δ = 1 (1 where they never do)."""
    low, high = 1e-9, 1.0
    if reach(k, d, high) > 2:
        return high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if reach(k, d, middle) > 2 else (low, middle)
    return low


def shattered_clusters(rng: Generator, d: int, share: float = 0.5) -> Numbers:
    """Whether every labelling of a cluster has two balls that contain their points, lie on their
    own side, are disjoint and within 2δ of c: in rational arithmetic, s at a share of the corrected
    limit. By exchange of the e_j the numbers k = 0, …, d of positive points are all there is, and
    clusters 6δ apart do not meet. `constants`: whether the two constant functions shatter it too.

    >>> from adversarium.rng import stream
    >>> shattered_clusters(stream(0, "example"), d=6)["placed"]
    1.0
    """
    s = Fraction(int(share * largest_spread(d) * 10**9), 10**9)
    placed, apart, near = [s <= 1], [], []  # no or all positive: the ball at c holds all points
    for k in range(1, d):
        q = [_height(part, d, s) for part in (k, d - k)]
        if None in q:
            placed.append(False)
            continue
        one, two = (_centre(part, d, s, Fraction(height or 0)) for part, height in
                    zip((k, d - k), q, strict=True))  # fmt: skip
        placed += [_holds(part, d, s, centre) for part, centre in ((k, one), (d - k, two))]
        # one's own coordinates are the other's foreign ones
        gap = k * (one[0] + two[1]) ** 2 + (d - k) * (two[0] + one[1]) ** 2
        apart.append(gap)
        near += [part * c[0] ** 2 + (d - part) * c[1] ** 2
                 for part, c in ((k, one), (d - k, two))]  # fmt: skip
    placed += [gap > 4 for gap in apart] + [far < 4 for far in near]
    constants = {(sign,) * d for sign in (1, -1)}  # what {+1, −1}, a 1-robust class, makes of them
    return {
        "placed": float(all(placed)),
        "constants": float(len(constants) == 2**d),
        "smallest gap": math.sqrt(min(apart, default=Fraction(4))) / 2,
        "farthest": math.sqrt(max(near, default=Fraction(0))) / 2,
    }


def _height(k: int, d: int, s: Fraction) -> Fraction | None:
    """A rational q strictly between the height at which a ball touches the hyperplane and the one
    at which it loses its points; none where there is none (δ = 1)."""
    low = (1 - float(s) / math.sqrt(d)) / math.sqrt(d)
    free = 1 - float(s) ** 2 * (1 - 1 / k)
    high = math.sqrt(free / d) if free >= 0 else -math.inf
    return Fraction(int((low + high) / 2 * 10**12), 10**12) if low < high else None


def _centre(k: int, d: int, s: Fraction, q: Fraction) -> tuple[Fraction, Fraction]:
    """The coordinate of a centre in its own directions, and in the others with the sign turned."""
    return s / k + q, q


def _holds(k: int, d: int, s: Fraction, centre: tuple[Fraction, Fraction]) -> bool:
    """Whether the ball of radius 1 holds its k points and lies beyond the hyperplane, exactly."""
    a, b = centre
    inside = (s - a) ** 2 + (k - 1) * a**2 + (d - k) * b**2 <= 1
    beyond = (k * a + (d - k) * b) ** 2 >= d
    return inside and beyond


def spread_limits(rng: Generator, most: int, s: float = 0.999) -> Numbers:
    """Along d: whether every labelling has its two balls, on the printed hyperplane and on any, at
    a spread in units of δ below 1, which the printed maximum always allows.

    >>> from adversarium.rng import stream
    >>> told = spread_limits(stream(0, "example"), most=6)
    >>> told["any"].values  # d = 2, …, 6
    (1.0, 1.0, 1.0, 1.0, 0.0)
    """
    sizes = tuple(range(2, most + 1))
    printed, whatever = [], []
    for d in sizes:
        gammas = [gamma(k, d) for k in range(1, d) if max(k, d - k) > 1]
        contained = s <= 1  # one label: the ball at c
        printed.append(float(contained and all(s * g < 1 for g in gammas)))
        whatever.append(float(contained and all(reach(k, d, s) > 2 for k in range(1, d))))
    along = tuple(float(d) for d in sizes)
    return {
        "printed": Along("d", along, tuple(printed)),
        "any": Along("d", along, tuple(whatever)),
    }


def spread_curves(rng: Generator, most: int) -> Numbers:
    """Along d ≥ 3: the largest s/δ at which every labelling has its two balls, on the printed
    hyperplane and on any, and what the printed maximum admits.

    >>> from adversarium.rng import stream
    >>> told = spread_curves(stream(0, "example"), most=4)
    >>> [round(v, 3) for v in told["admitted"].values]
    [1.386, 1.333]
    """
    sizes = tuple(range(3, most + 1))
    admitted = [max([1.0, *(1 / gamma(k, d) for k in range(1, d))]) for d in sizes]
    along = tuple(float(d) for d in sizes)
    return {
        "admitted": Along("d", along, tuple(admitted)),
        "printed hyperplane": Along("d", along, tuple(largest_spread(d) for d in sizes)),
        "any hyperplane": Along("d", along, tuple(largest_spread(d, "any") for d in sizes)),
    }


def placed_by_search(rng: Generator, d: int, k: int, starts: int = 6) -> Numbers:
    """γ_k and the touching spread of a split, by a solver that knows neither: the smallest radius
    of two balls on the two sides of the printed hyperplane, and the largest distance of two centres
    at s = the closed edge (δ = 1; above 2 by nothing).

    >>> from adversarium.rng import stream
    >>> told = placed_by_search(stream(0, "example"), d=3, k=1)
    >>> told["radius"] < 1e-5 and told["distance"] < 1e-5
    True
    """
    from scipy.optimize import minimize

    if not 1 <= k < d:
        raise ValueError(f"a split of d points has 1 <= k < d, got d={d}, k={k}.")
    points = [np.eye(d)[:k], np.eye(d)[k:]]
    n = np.where(np.arange(d) < k, 1.0, -1.0) / math.sqrt(d)
    often = {"maxiter": 500, "ftol": 1e-14}
    radii = []
    for sign, own in zip((1, -1), points, strict=True):

        def slack(z: np.ndarray, own: np.ndarray = own, sign: int = sign) -> np.ndarray:
            held = z[-1] ** 2 - ((own - z[:-1]) ** 2).sum(1)
            return np.append(held, [sign * (n @ z[:-1]) - z[-1], z[-1]])

        found = math.inf
        for noise in normal((starts, d), rng).numpy():
            start = np.append(own.mean(0) + 2 * sign * n + 0.3 * noise, 2.0)
            held = {"type": "ineq", "fun": slack}
            made = minimize(lambda z: z[-1], start, constraints=held, options=often)
            found = min(found, float(made.x[-1]) if slack(made.x).min() > -1e-9 else math.inf)
        radii.append(found)
    s = _edge(k, d)

    def room(z: np.ndarray) -> np.ndarray:
        both = zip(points, (z[:d], z[d:]), strict=True)
        return np.concatenate([1 - ((s * own - centre) ** 2).sum(1) for own, centre in both])

    far, means = 0.0, s * np.concatenate([own.mean(0) for own in points])
    for noise in normal((starts, 2 * d), rng).numpy():
        held = {"type": "ineq", "fun": room}
        made = minimize(
            lambda z: -((z[:d] - z[d:]) ** 2).sum(), means + 0.1 * noise, constraints=held,
            options=often,
        )  # fmt: skip
        if room(made.x).min() > -1e-9:
            far = max(far, float(np.linalg.norm(made.x[:d] - made.x[d:])))
    single = max(k, d - k) == 1  # a side of one point needs no least radius
    return {
        "radius": 0.0 if single else abs(max(radii) - gamma(k, d)),
        "distance": abs(far - reach(k, d, s)),
        "gamma": gamma(k, d),
        "edge": s,
    }


def touching_edges(rng: Generator, most: int, step: float = 1e-6) -> Numbers:
    """Both sides of the closed condition for every d ≤ most and k, at three scales of δ: just below
    the touching spread the explicit centres are more than 2δ apart and hold their points; just
    above it the averaged containment leaves no such centres. The largest violations (≤ 0: none).

    >>> from adversarium.rng import stream
    >>> told = touching_edges(stream(0, "example"), most=8)
    >>> bool(told["below"] <= 0 and told["above"] <= 0 and told["averaging"] < 1e-12)
    True
    """
    below = above = averaging = -math.inf
    for d in range(2, most + 1):
        for k in range(1, d):
            edge = _edge(k, d)
            if edge == 1.0:
                continue
            for delta in (0.1, 1.0, 10.0):
                under, over = (delta * edge * (1 + sign * step) for sign in (-1, 1))
                gap, worst = _explicit(k, d, under, delta)
                below = max(below, (2 * delta - gap) / delta, worst / delta)
                above = max(above, (reach(k, d, over, delta) - 2 * delta) / delta)
            centre = normal((d,), rng).numpy()
            own = np.eye(d)[:k]
            mean = own.mean(0)
            averaged = ((own - centre) ** 2).sum(1).mean()
            closed = ((centre - mean) ** 2).sum() + 1 - 1 / k
            averaging = max(averaging, abs(averaged - closed) / averaged)
    return {"below": below, "above": above, "averaging": averaging}


def _explicit(k: int, d: int, s: float, delta: float) -> tuple[float, float]:
    """The distance of the best two centres, and by how much they miss their points."""
    points = s * np.eye(d)
    sides = points[:k], points[k:]
    means = [side.mean(0) for side in sides]
    along = (means[0] - means[1]) / np.linalg.norm(means[0] - means[1])
    centres = []
    for sign, side, mean in zip((1, -1), sides, means, strict=True):
        free = math.sqrt(delta**2 - s**2 * (1 - 1 / len(side)))
        centres.append(mean + sign * free * along)
    missed = max(
        float(np.linalg.norm(side - centre, axis=1).max()) - delta
        for side, centre in zip(sides, centres, strict=True)
    )
    return float(np.linalg.norm(centres[0] - centres[1])), missed - 1e-12 * delta


def polynomial_class(rng: Generator, n: int, d: int, tries: int = 20) -> Numbers:
    """sign(p(⟨v, x⟩)), p of degree n − 1: n + d parameters. How far the interpolating polynomial
    misses random labels at eight random points (for n of them it is Lagrange's), how many sign
    patterns the class has on the points of Theorem 6.1 at most (Warren; log₂ less ⌊n/2⌋d: negative,
    so it does not shatter them), and the parameters.

    >>> from adversarium.rng import stream
    >>> told = polynomial_class(stream(0, "example"), n=100, d=100, tries=0)
    >>> round(told["spare"])
    -1854
    """
    worst = 0.0
    for _ in range(tries):
        points, v = normal((8, d), rng).numpy(), normal((d,), rng).numpy()
        y = np.sign(normal((8,), rng).numpy())
        z = points @ v / np.abs(points @ v).max()
        p = np.polynomial.Polynomial.fit(z, y, deg=7)
        worst = max(worst, float(np.abs(p(z) - y).max()))
    P, N = n + d, n // 2 * d
    patterns = P * math.log2(8 * math.e * n * N / P)
    return {"missed of eight points": worst, "spare": patterns - N, "parameters": float(P)}


def polynomial_fits(
    rng: Generator, n: int, sizes: tuple[int, ...], labelings: int = 200, pool: int = 20000
) -> Numbers:
    """Random labellings of the c·d points x_ij = 6iδe_1 + s e_j of Theorem 6.1 of CONV, c = ⌊n/2⌋,
    by sign(p(⟨v, x⟩)), p of degree n − 1, by d. Along v the clusters are one set of d numbers,
    shifted: the labels of the j-th points of all clusters are a window (g(u), g(u + D), …) of one
    g = sign∘p, which has at most c(n − 1) + 1 windows. The share of labellings that need no more
    (`not excluded`), and the share that one of a pool of random g fits (`found`).

    >>> from adversarium.rng import stream
    >>> told = polynomial_fits(stream(0, "example"), n=14, sizes=(2, 256), labelings=20, pool=500)
    >>> told["found"].values[0], told["not excluded"].values[-1]
    (1.0, 0.0)
    """
    c = n // 2
    windows = _windows(rng, n, c, pool).astype(float)
    found, open_still = [], []
    for d in sizes:
        codes = (normal((labelings, d, c), rng).numpy() > 0) @ (1 << np.arange(c))
        needed = np.zeros((labelings, 2**c))
        np.put_along_axis(needed, codes, 1.0, axis=1)
        count = needed.sum(1)
        found.append(float((windows @ needed.T == count).any(0).mean()))
        open_still.append(float((count <= c * (n - 1) + 1).mean()))
    along = tuple(map(float, sizes))
    return {
        "found": Along("d", along, tuple(found)),
        "not excluded": Along("d", along, tuple(open_still)),
    }


def _windows(rng: Generator, n: int, c: int, pool: int, chunk: int = 500) -> np.ndarray:
    """Which of the 2^c windows each of a pool of step functions with n − 1 changes has, D = 1."""
    shown = np.zeros((pool, 2**c), dtype=bool)
    for first in range(0, pool, chunk):
        count = min(chunk, pool - first)
        gaps = -np.log(uniform((count, n - 1), rng).numpy() + 1e-12)
        t = np.cumsum(gaps, 1) * 10 ** (uniform((count, 1), rng).numpy() * 2.5 - 2)
        steps = np.sort((t[:, :, None] - np.arange(c)).reshape(count, -1), axis=1)
        ends = np.concatenate([steps[:, :1] - 1, steps, steps[:, -1:] + 1], axis=1)
        u = (ends[:, 1:] + ends[:, :-1]) / 2  # one between each two changes of the window
        at = u[:, :, None] + np.arange(c)
        sign = (at[..., None] > t[:, None, None]).sum(-1) + (
            uniform((count, 1, 1), rng).numpy() > 0.5
        )
        np.put_along_axis(
            shown[first : first + count], (sign % 2) @ (1 << np.arange(c)), True, axis=1
        )
    return shown


def shattered_by_classes(rng: Generator, n: int, d: int) -> Numbers:
    """Every labelling of the ⌊n/2⌋d points, tried: the share that nearest labelled prototypes and
    that unions of balls fit, both with the n centres of the construction. Both classes are n-robust
    for centres more than 2δ apart: in a ball of radius δ its own centre is nearest.

    >>> from adversarium.rng import stream
    >>> shattered_by_classes(stream(0, "example"), n=4, d=2)["prototypes"]
    1.0
    """
    s, clusters = 0.5 * largest_spread(d), n // 2
    starts = np.zeros((clusters, d))
    starts[:, 0] = 6 * np.arange(1, clusters + 1)
    points = (starts[:, None] + s * np.eye(d)).reshape(-1, d)
    good = [0, 0]
    total = 2 ** len(points)
    for index in range(total):
        y = np.where([(index >> j) & 1 for j in range(len(points))], 1.0, -1.0)
        centres, labels = _centres(y.reshape(clusters, d), starts, s)
        far = np.linalg.norm(points[:, None] - centres, axis=2)
        good[0] += bool((labels[far.argmin(1)] == y).all())
        inside = ((far <= 1 + 1e-12) & (labels > 0)).any(1)
        good[1] += bool((np.where(inside, 1.0, -1.0) == y).all())
    return {"prototypes": good[0] / total, "unions of balls": good[1] / total}


def _centres(y: np.ndarray, starts: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
    """The centres of a labelling and their labels."""
    d = y.shape[1]
    made, labels = [], []
    for own, start in zip(y, starts, strict=True):
        for sign in (1.0, -1.0):
            k = int((own == sign).sum())
            if k == d:
                made.append(start)
                labels.append(sign)
            elif k:
                q = float(_height(k, d, Fraction(s)) or 0)
                at = np.where(own == sign, s / k + q, -q)
                made.append(start + at)
                labels.append(sign)
    return np.array(made), np.array(labels)
