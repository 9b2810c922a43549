"""The points that an n-robust interpolation class shatters, §6 and App. D of CONV.

A cluster consists of the points c + s·e_j, j ≤ d, of which k are positive (j ∈ P) and the others
negative (j ∈ N). Two balls of radius δ must contain them, one per label. The centre
c + (s/k + q)Σ_P e_j − qΣ_N e_j lies above the centroid of the positive points, at height q√d along
the normal of the published hyperplane.
"""

import math
from fractions import Fraction

import numpy as np
from torch import Generator

from adversarium.rng import normal, uniform
from adversarium.sockets import Along, Numbers


def gamma(k: int, d: int) -> float:
    """γ_k of App. D of CONV: balls of radius r > γ_k·s fit on both sides of its hyperplane.

    >>> round(gamma(5, 10), 4), round(gamma(2, 5), 4)
    (1.423, 0.969)
    """
    return math.sqrt(d) / 2 * (1 + 1 / d - 1 / max(k, d - k))


def largest_spread(d: int, side: str = "printed") -> float:
    """Return the largest s/δ at which two disjoint balls separate every labelling of a cluster.

    The hyperplane between them is the published one ("printed") or arbitrary ("any").

    >>> round(largest_spread(10), 4), round(largest_spread(10, "any"), 4)
    (0.6396, 0.7027)
    """
    if side == "printed":
        return min([1.0, *(1 / gamma(k, d) for k in range(1, d) if max(k, d - k) > 1)])
    return min([1.0, *(_touching_spread(k, d) for k in range(1, d))])


def reach(k: int, d: int, s: float, delta: float = 1.0) -> float:
    """Return the largest distance of two centres whose δ-balls contain the k and the d − k points.

    It is the distance between the centroids plus, for each ball, the largest distance of its centre
    from its centroid; it is −∞ if a ball is too small to contain its points.
    """
    free = [delta**2 - s**2 * (1 - 1 / part) for part in (k, d - k)]
    if min(free) < 0:
        return -math.inf
    return s * math.sqrt(1 / k + 1 / (d - k)) + sum(map(math.sqrt, free))


def _touching_spread(k: int, d: int) -> float:
    """Return the s at which unit balls around k and d − k points of a cluster just touch.

    The value is 1 if they are still disjoint at s = 1.
    """
    low, high = 1e-9, 1.0
    if reach(k, d, high) > 2:
        return high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if reach(k, d, middle) > 2 else (low, middle)
    return low


def shattered_clusters(rng: Generator, d: int, share: float = 0.5) -> Numbers:
    """Test in rational arithmetic whether two balls separate every labelling of a cluster.

    The balls must contain their points, be disjoint, lie on different sides of the published
    hyperplane and have centres within 2δ of c. s is `share` times largest_spread(d). By symmetry
    only the number k of positive points matters; clusters 6δ apart do not interact.

    - `placed`: 1 if all of this holds, else 0.
    - `constants`: 1 if the two constant functions shatter the cluster too, else 0.
    - `smallest gap`: the smallest distance of two centres, divided by 2δ.
    - `farthest`: the largest distance of a centre from c, divided by 2δ.

    >>> from adversarium.rng import stream
    >>> shattered_clusters(stream(0, "example"), d=6)["placed"]
    1.0
    """
    s = Fraction(int(share * largest_spread(d) * 10**9), 10**9)
    placed = [s <= 1]  # one label only: the ball at c contains all points
    squared_gaps: list[Fraction] = []
    squared_distances: list[Fraction] = []
    for k in range(1, d):
        q = [_height(part, d, s) for part in (k, d - k)]
        if None in q:
            placed.append(False)
            continue
        one, two = (_centre(part, d, s, Fraction(height or 0)) for part, height in
                    zip((k, d - k), q, strict=True))  # fmt: skip
        placed += [_ball_is_valid(part, d, s, centre) for part, centre in ((k, one), (d - k, two))]
        # Centres have coordinates one[0], −two[1] on the k axes and −one[1], two[0] on the others.
        gap = k * (one[0] + two[1]) ** 2 + (d - k) * (two[0] + one[1]) ** 2
        squared_gaps.append(gap)
        squared_distances += [part * c[0] ** 2 + (d - part) * c[1] ** 2
                 for part, c in ((k, one), (d - k, two))]  # fmt: skip
    placed += [gap > 4 for gap in squared_gaps] + [far < 4 for far in squared_distances]
    constants = {(sign,) * d for sign in (1, -1)}  # labellings by {+1, −1}, a 1-robust class
    return {
        "placed": float(all(placed)),
        "constants": float(len(constants) == 2**d),
        "smallest gap": math.sqrt(min(squared_gaps, default=Fraction(4))) / 2,
        "farthest": math.sqrt(max(squared_distances, default=Fraction(0))) / 2,
    }


def _height(k: int, d: int, s: Fraction) -> Fraction | None:
    """Return a rational height q for the centre of a unit ball, or None if there is none.

    q lies strictly between the height at which the ball touches the hyperplane and the height at
    which it no longer contains its points.
    """
    low = (1 - float(s) / math.sqrt(d)) / math.sqrt(d)
    free = 1 - float(s) ** 2 * (1 - 1 / k)
    high = math.sqrt(free / d) if free >= 0 else -math.inf
    return Fraction(int((low + high) / 2 * 10**12), 10**12) if low < high else None


def _centre(k: int, d: int, s: Fraction, q: Fraction) -> tuple[Fraction, Fraction]:
    """Return a centre's coordinate along its points, and −1 times that along the other points."""
    return s / k + q, q


def _ball_is_valid(k: int, d: int, s: Fraction, centre: tuple[Fraction, Fraction]) -> bool:
    """Return, exactly, whether the unit ball contains its k points and lies on its side."""
    a, b = centre
    inside = (s - a) ** 2 + (k - 1) * a**2 + (d - k) * b**2 <= 1
    beyond = (k * a + (d - k) * b) ** 2 >= d
    return inside and beyond


def spread_limits(rng: Generator, most: int, s: float = 0.999) -> Numbers:
    """Test, for every d, whether two balls separate every labelling at a spread s < δ; δ = 1.

    The published condition takes a maximum over k in place of a minimum, and allows every s < δ.

    - `printed`: 1 if the balls lie on the two sides of the published hyperplane, else 0.
    - `any`: 1 if they lie on the two sides of some hyperplane, else 0.

    >>> from adversarium.rng import stream
    >>> numbers = spread_limits(stream(0, "example"), most=6)
    >>> numbers["any"].values  # d = 2, …, 6
    (1.0, 1.0, 1.0, 1.0, 0.0)
    """
    sizes = tuple(range(2, most + 1))
    printed, any_plane = [], []
    for d in sizes:
        gammas = [gamma(k, d) for k in range(1, d) if max(k, d - k) > 1]
        contained = s <= 1  # one label only: the ball at c contains all points
        printed.append(float(contained and all(s * g < 1 for g in gammas)))
        any_plane.append(float(contained and all(reach(k, d, s) > 2 for k in range(1, d))))
    along = tuple(float(d) for d in sizes)
    return {
        "printed": Along("d", along, tuple(printed)),
        "any": Along("d", along, tuple(any_plane)),
    }


def spread_curves(rng: Generator, most: int) -> Numbers:
    """Return, for every d ≥ 3, the largest s/δ at which two balls separate every labelling.

    - `printed hyperplane`, `any hyperplane`: with balls on two sides of the published or of some
      hyperplane.
    - `admitted`: the largest s/δ that the published condition allows.

    >>> from adversarium.rng import stream
    >>> numbers = spread_curves(stream(0, "example"), most=4)
    >>> [round(v, 3) for v in numbers["admitted"].values]
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
    """Compare γ_k and the spread at which two balls touch with a solver that uses neither formula.

    - `radius`: the difference between γ_k and the smallest radius of two balls on the two sides of
      the published hyperplane (0 if both sides have one point).
    - `distance`: the difference between `reach` and the largest distance of two centres found, at
      the spread at which the balls touch (δ = 1, so the distance is 2).
    - `gamma`, `edge`: γ_k and this spread.

    >>> from adversarium.rng import stream
    >>> numbers = placed_by_search(stream(0, "example"), d=3, k=1)
    >>> numbers["radius"] < 1e-5 and numbers["distance"] < 1e-5
    True
    """
    from scipy.optimize import minimize

    if not 1 <= k < d:
        raise ValueError(f"placed_by_search needs 1 <= k < d, got d={d}, k={k}.")
    points = [np.eye(d)[:k], np.eye(d)[k:]]
    n = np.where(np.arange(d) < k, 1.0, -1.0) / math.sqrt(d)
    options = {"maxiter": 500, "ftol": 1e-14}
    radii = []
    for sign, side in zip((1, -1), points, strict=True):

        def slack(z: np.ndarray, side: np.ndarray = side, sign: int = sign) -> np.ndarray:
            inside = z[-1] ** 2 - ((side - z[:-1]) ** 2).sum(1)
            return np.append(inside, [sign * (n @ z[:-1]) - z[-1], z[-1]])

        smallest = math.inf
        for noise in normal((starts, d), rng).numpy():
            start = np.append(side.mean(0) + 2 * sign * n + 0.3 * noise, 2.0)
            constraints = {"type": "ineq", "fun": slack}
            result = minimize(lambda z: z[-1], start, constraints=constraints, options=options)
            smallest = min(
                smallest, float(result.x[-1]) if slack(result.x).min() > -1e-9 else math.inf
            )
        radii.append(smallest)
    s = _touching_spread(k, d)

    def containment(z: np.ndarray) -> np.ndarray:
        both = zip(points, (z[:d], z[d:]), strict=True)
        return np.concatenate([1 - ((s * side - centre) ** 2).sum(1) for side, centre in both])

    largest, means = 0.0, s * np.concatenate([side.mean(0) for side in points])
    for noise in normal((starts, 2 * d), rng).numpy():
        constraints = {"type": "ineq", "fun": containment}
        result = minimize(
            lambda z: -((z[:d] - z[d:]) ** 2).sum(), means + 0.1 * noise, constraints=constraints,
            options=options,
        )  # fmt: skip
        if containment(result.x).min() > -1e-9:
            largest = max(largest, float(np.linalg.norm(result.x[:d] - result.x[d:])))
    single = max(k, d - k) == 1  # a side of one point fits in a ball of any radius
    return {
        "radius": 0.0 if single else abs(max(radii) - gamma(k, d)),
        "distance": abs(largest - reach(k, d, s)),
        "gamma": gamma(k, d),
        "edge": s,
    }


def touching_edges(rng: Generator, most: int, step: float = 1e-6) -> Numbers:
    """Test `reach` just below and just above its limit, for every d ≤ most, every k and three δ.

    The limit is the spread at which the balls touch. Violations of at most 0 mean none.

    - `below`: the largest violation by the explicit centres: distance > 2δ, points in their balls.
    - `above`: the largest violation above, where mean_j |x_j − centre|² ≤ δ² excludes such centres.
    - `averaging`: the relative error of the identity for this mean.

    >>> from adversarium.rng import stream
    >>> numbers = touching_edges(stream(0, "example"), most=8)
    >>> bool(numbers["below"] <= 0 and numbers["above"] <= 0 and numbers["averaging"] < 1e-12)
    True
    """
    below = above = averaging = -math.inf
    for d in range(2, most + 1):
        for k in range(1, d):
            edge = _touching_spread(k, d)
            if edge == 1.0:
                continue
            for delta in (0.1, 1.0, 10.0):
                under, over = (delta * edge * (1 + sign * step) for sign in (-1, 1))
                gap, excess = _best_centres(k, d, under, delta)
                below = max(below, (2 * delta - gap) / delta, excess / delta)
                above = max(above, (reach(k, d, over, delta) - 2 * delta) / delta)
            centre = normal((d,), rng).numpy()
            side = np.eye(d)[:k]
            mean = side.mean(0)
            averaged = ((side - centre) ** 2).sum(1).mean()
            closed = ((centre - mean) ** 2).sum() + 1 - 1 / k
            averaging = max(averaging, abs(averaged - closed) / averaged)
    return {"below": below, "above": above, "averaging": averaging}


def _best_centres(k: int, d: int, s: float, delta: float) -> tuple[float, float]:
    """Return the distance of the two best centres, and how far a point lies outside its ball."""
    points = s * np.eye(d)
    sides = points[:k], points[k:]
    means = [side.mean(0) for side in sides]
    direction = (means[0] - means[1]) / np.linalg.norm(means[0] - means[1])
    centres = []
    for sign, side, mean in zip((1, -1), sides, means, strict=True):
        free = math.sqrt(delta**2 - s**2 * (1 - 1 / len(side)))
        centres.append(mean + sign * free * direction)
    missed = max(
        float(np.linalg.norm(side - centre, axis=1).max()) - delta
        for side, centre in zip(sides, centres, strict=True)
    )
    return float(np.linalg.norm(centres[0] - centres[1])), missed - 1e-12 * delta


def polynomial_class(rng: Generator, n: int, d: int, tries: int = 20) -> Numbers:
    """Test the class sign(p(⟨v, x⟩)) with p of degree n − 1, which has n + d parameters.

    - `missed of eight points`: the largest error of the interpolating polynomial for random labels
      at eight random points (for n points it is Lagrange's polynomial).
    - `spare`: log₂ of Warren's bound on the number of sign patterns on the points of Theorem 6.1 of
      CONV, minus ⌊n/2⌋d. If negative, the class does not shatter these points.
    - `parameters`: n + d.

    >>> from adversarium.rng import stream
    >>> numbers = polynomial_class(stream(0, "example"), n=100, d=100, tries=0)
    >>> round(numbers["spare"])
    -1854
    """
    largest_error = 0.0
    for _ in range(tries):
        points, v = normal((8, d), rng).numpy(), normal((d,), rng).numpy()
        y = np.sign(normal((8,), rng).numpy())
        z = points @ v / np.abs(points @ v).max()
        p = np.polynomial.Polynomial.fit(z, y, deg=7)
        largest_error = max(largest_error, float(np.abs(p(z) - y).max()))
    P, N = n + d, n // 2 * d
    patterns = P * math.log2(8 * math.e * n * N / P)
    return {"missed of eight points": largest_error, "spare": patterns - N, "parameters": float(P)}


def polynomial_fits(
    rng: Generator, n: int, sizes: tuple[int, ...], labelings: int = 200, pool: int = 20000
) -> Numbers:
    """Label the c·d points x_ij = 6iδe_1 + s e_j of Theorem 6.1 of CONV by sign(p(⟨v, x⟩)).

    c = ⌊n/2⌋ and p has degree n − 1. Along v, the clusters are copies of d numbers u, shifted by D.
    The labels of the j-th points of all clusters are therefore a window (g(u), g(u + D), …) of one
    g = sign∘p, which has at most c(n − 1) + 1 windows. Labellings are random.

    - `not excluded`: the share of labellings that need at most that many windows.
    - `found`: the share of labellings that at least one of a pool of random g fits.

    >>> from adversarium.rng import stream
    >>> numbers = polynomial_fits(stream(0, "a"), n=14, sizes=(2, 256), labelings=20, pool=500)
    >>> numbers["found"].values[0], numbers["not excluded"].values[-1]
    (1.0, 0.0)
    """
    c = n // 2
    windows = _windows(rng, n, c, pool).astype(float)
    found, not_excluded = [], []
    for d in sizes:
        codes = (normal((labelings, d, c), rng).numpy() > 0) @ (1 << np.arange(c))
        needed = np.zeros((labelings, 2**c))
        np.put_along_axis(needed, codes, 1.0, axis=1)
        count = needed.sum(1)
        found.append(float((windows @ needed.T == count).any(0).mean()))
        not_excluded.append(float((count <= c * (n - 1) + 1).mean()))
    along = tuple(map(float, sizes))
    return {
        "found": Along("d", along, tuple(found)),
        "not excluded": Along("d", along, tuple(not_excluded)),
    }


def _windows(rng: Generator, n: int, c: int, pool: int, chunk: int = 500) -> np.ndarray:
    """Return which of the 2^c windows each of a pool of random step functions has (D = 1)."""
    shown = np.zeros((pool, 2**c), dtype=bool)
    for first in range(0, pool, chunk):
        count = min(chunk, pool - first)
        gaps = -np.log(uniform((count, n - 1), rng).numpy() + 1e-12)
        t = np.cumsum(gaps, 1) * 10 ** (uniform((count, 1), rng).numpy() * 2.5 - 2)
        steps = np.sort((t[:, :, None] - np.arange(c)).reshape(count, -1), axis=1)
        ends = np.concatenate([steps[:, :1] - 1, steps, steps[:, -1:] + 1], axis=1)
        u = (ends[:, 1:] + ends[:, :-1]) / 2  # one position between any two changes of the window
        at = u[:, :, None] + np.arange(c)
        sign = (at[..., None] > t[:, None, None]).sum(-1) + (
            uniform((count, 1, 1), rng).numpy() > 0.5
        )
        np.put_along_axis(
            shown[first : first + count], (sign % 2) @ (1 << np.arange(c)), True, axis=1
        )
    return shown


def shattered_by_classes(rng: Generator, n: int, d: int) -> Numbers:
    """Return the shares of labellings of the ⌊n/2⌋d points that two n-robust classes fit.

    `prototypes` gives x the label of its nearest centre; `unions of balls` is positive in the balls
    around positive centres. Both use the centres of the construction and are n-robust if these are
    more than 2δ apart: in a ball of radius δ, the nearest centre is then that of the ball.

    >>> from adversarium.rng import stream
    >>> shattered_by_classes(stream(0, "example"), n=4, d=2)["prototypes"]
    1.0
    """
    s, clusters = 0.5 * largest_spread(d), n // 2
    starts = np.zeros((clusters, d))
    starts[:, 0] = 6 * np.arange(1, clusters + 1)
    points = (starts[:, None] + s * np.eye(d)).reshape(-1, d)
    fitted = [0, 0]
    total = 2 ** len(points)
    for index in range(total):
        y = np.where([(index >> j) & 1 for j in range(len(points))], 1.0, -1.0)
        centres, labels = _centres(y.reshape(clusters, d), starts, s)
        distances = np.linalg.norm(points[:, None] - centres, axis=2)
        fitted[0] += bool((labels[distances.argmin(1)] == y).all())
        inside = ((distances <= 1 + 1e-12) & (labels > 0)).any(1)
        fitted[1] += bool((np.where(inside, 1.0, -1.0) == y).all())
    return {"prototypes": fitted[0] / total, "unions of balls": fitted[1] / total}


def _centres(y: np.ndarray, starts: np.ndarray, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres for a labelling, and their labels."""
    d = y.shape[1]
    centres, labels = [], []
    for cluster_labels, start in zip(y, starts, strict=True):
        for sign in (1.0, -1.0):
            k = int((cluster_labels == sign).sum())
            if k == d:
                centres.append(start)
                labels.append(sign)
            elif k:
                q = float(_height(k, d, Fraction(s)) or 0)
                at = np.where(cluster_labels == sign, s / k + q, -q)
                centres.append(start + at)
                labels.append(sign)
    return np.array(centres), np.array(labels)
