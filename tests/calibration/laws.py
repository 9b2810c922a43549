"""Calibrate windows in t, crossing times, level sets and sizes with known finite-size terms: each
estimator is applied to the exact recursion or closed form of its claim."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from adversarium.plans.evidence import Evidence, Rows, Where
from adversarium.plans.slopes import _reading
from tests.calibration.cases import (
    Case,
    distance,
    fits_of,
    fitted,
    half_width,
    levels_of,
    listed,
    rows_of,
    series,
    sizes_of,
    synthetic,
)

PHASES = np.exp(
    (np.arange(40) + 0.5) / 40 * math.log(2)
)  # constants of a law, over a factor of two


def _worst(cases: list[Case]) -> Case:
    return min(cases, key=lambda case: case.ratio)


# CGRO: the reduced dynamics of the signal and of the noise


def _starts(seeds: int, units: int, scale: float) -> np.ndarray:
    """Return initial values (seed, unit) for seeds in which some value is positive."""
    start = np.random.default_rng(0).standard_normal((2 * seeds, units)) * scale
    return start[start.max(1) > 0][:seeds]


def signal_times() -> Iterator[Case]:
    """T₀ of u_r ← u_r + 3ηα³(1 − λ)u_r²ψ(α³ Σ u³), Lemma C.3 of CGRO."""
    from adversarium.papers.cgro.experiments.dynamics.readings import T0, scaled_time, signal_time

    for fit in fits_of("cgro.lemC.3"):
        tasks, values = sizes_of("cgro.lemC.3", fit), []
        for task in tasks.values():
            alpha, lam = task.data.alpha, task.risk.lam
            u = _starts(40, 8, task.network.sigma0)
            first = np.full(len(u), np.nan)
            largest = alpha * u.max(1)
            for t in range(task.steps + 1):
                reached = np.isnan(first) & (alpha * u.max(1) >= 1)
                first[reached] = t
                if np.isnan(first).mean() < 0.1:
                    break
                psi = 1 / (1 + np.exp(np.minimum(alpha**3 * (u**3).sum(1), 30)))
                u = u + 3 * task.eta * alpha**3 * (1 - lam) * u**2 * psi[:, None]
            row = synthetic(task, {T0: series(first), "largest_signal": series(largest)})
            values.append((scaled_time if fit.along == "d" else signal_time).of(row))
        kept = np.isfinite(values).all(0)
        slopes = fitted(fit, tasks, [one[kept] for one in values])
        yield Case(
            ("cgro.lemC.3",), f"power of {fit.along} in T₀", "recursion of the signal",
            listed(list(tasks)), float(slopes.mean()) - fit.claimed,
            distance(fit, fit.claimed), half_width(slopes),
        )  # fmt: skip


def memory_times() -> Iterator[Case]:
    """T₁ of v ← v + 3ηλ(σ²d/N)v²ψ(V_i), V_i = Σ v³, Lemma C.7 of CGRO."""
    for fit in fits_of("cgro.lemC.7", "in T₁"):
        tasks, values = sizes_of("cgro.lemC.7", fit), []
        for task in tasks.values():
            data, N = task.data, task.n
            scale = task.network.sigma0 * data.sigma * math.sqrt(data.d)
            v = np.random.default_rng(0).standard_normal((40, N, 2 * 8)) * scale
            v = np.take_along_axis(v, v.max(2).argmin(1)[:, None, None], 1)[:, 0]  # the slowest
            rate = 3 * task.eta * task.risk.lam * data.sigma**2 * data.d / N
            first = np.full(40, np.nan)
            for t in range(task.steps + 1):
                V = (v * v * v).sum(1)
                first[np.isnan(first) & (V >= 1)] = t
                if not np.isnan(first).any():
                    break
                v += rate * v * v / (1 + np.exp(np.minimum(V, 30)))[:, None]
            values.append(first)
        kept = np.isfinite(values).all(0)
        slopes = fitted(fit, tasks, [one[kept] for one in values])
        yield Case(
            ("cgro.lemC.7",), f"power of {fit.along} in T₁ over the claimed one",
            "recursion of the slowest of N points, no cross terms", listed(list(tasks)),
            float(slopes.mean()), distance(fit, 0.0), half_width(slopes),
            "cross terms, omitted here, help the slowest point" if fit.along == "N" else "",
        )  # fmt: skip


def signal_plateau() -> Case:
    """α³U of the recursion of the signal over the closed form s(t), cgro.stages."""
    from adversarium.papers.cgro.experiments.lemmas.checks import NOISE_BEGINS, plateau_power
    from adversarium.papers.cgro.theory.bounds import phase_two_level

    found = []
    for level in levels_of("cgro.stages", plateau_power.name):
        run = rows_of("cgro.stages").one(level.quantity.needs[0].where)
        task, t = run.task, run["true_feature"].t
        alpha, lam, ends = task.data.alpha, task.risk.lam, run.last(NOISE_BEGINS)
        u = _starts(len(ends), 8, task.network.sigma0)
        curve = []
        for step in range(int(np.nanmax(ends)) + 1):
            if step in t:
                curve.append(alpha**3 * (u**3).sum(1))
            psi = 1 / (1 + np.exp(alpha**3 * (u**3).sum(1)))
            u = u + 3 * task.eta * alpha**3 * (1 - lam) * u**2 * psi[:, None]
        t = t[: len(curve)]
        closed = np.array([phase_two_level(int(s), task.eta, alpha, lam) for s in t])
        made = {
            "true_feature": series(np.stack(curve, 1), t),
            "predicted_level": series(np.tile(closed, (len(u), 1)), t),
            NOISE_BEGINS: series(ends),
        }
        powers = plateau_power.of(synthetic(task, made))
        powers = powers[np.isfinite(powers)]
        found.append(Case(
            ("cgro.stages",), "power of t in α³U/s(t) before the first V_i = 0.1",
            "recursion of the signal", f"N = {task.n}", float(powers.mean()),
            distance(level, 0.0), half_width(powers),
        ))  # fmt: skip
    return _worst(found)


def growth_after_memory() -> Iterator[Case]:
    """The constant c of Lemma 4.2 of CGRO after T₁: constant, as claimed, or e^{−V}, with V of the
    recursion of one memorised point."""
    from adversarium.papers.cgro.experiments.lemmas.checks import T1_ALL, late_growth

    exact, tail = [], []
    for level in levels_of("cgro.lem4.2", late_growth.name):
        run = rows_of("cgro.lem4.2").one(level.quantity.needs[0].where)
        task, t = run.task, run["growth_constant"].t
        start = run.last(T1_ALL)
        start = start[np.isfinite(start)]
        rate = 3 * task.eta * task.risk.lam * task.data.sigma**2 * task.data.d / task.n
        v = 1 / (1 + rate * start / 2)  # so that v reaches 1 at the measured time
        curve: list[np.ndarray] = []
        begun = np.full(len(v), np.nan)
        for step in range(task.steps + 1):
            V = v**3
            begun[np.isnan(begun) & (V >= 1)] = step
            if step in t:
                curve.append(np.exp(-V))
            v = v + rate * v**2 / (1 + np.exp(V))
        made = {"growth_constant": series(np.stack(curve, 1), t), T1_ALL: series(begun)}
        powers = late_growth.of(synthetic(task, made))
        flat = {"growth_constant": series(np.ones((5, len(t))), t), T1_ALL: series(start[:5])}
        where = f"10 T₁ … end of run, N = {task.n}"
        name = "power of t in c long after T₁"
        exact.append(Case(("cgro.lem4.2",), name, "constant", where,
                          float(late_growth.of(synthetic(task, flat)).mean()),
                          distance(level, 0.0)))  # fmt: skip
        known = powers[np.isfinite(powers)]
        tail.append(Case(
            ("cgro.lem4.2",), name, "c = e^−V, V by its recursion (tail 1/t up to logarithms)",
            where, float(known.mean()) + 1, 0.9, half_width(known),
            "logarithms of the tail",
        ))  # fmt: skip
    yield _worst(exact)
    yield max(tail, key=lambda case: abs(case.bias))


def signal_level() -> Iterator[Case]:
    """α³U by its closed form s(T₁), T₁ a fifth of the run, over log t, Theorem 4.1 of CGRO."""
    from adversarium.papers.cgro.theory.bounds import phase_two_level

    for fit in fits_of("cgro.thm4.1.corrected", "true_feature/log t"):
        tasks = sizes_of("cgro.thm4.1.corrected", fit)
        values = [
            np.full(5, phase_two_level(task.steps // 5, task.eta, task.data.alpha, task.risk.lam))
            for task in tasks.values()
        ]
        bias = float(fitted(fit, tasks, values).mean())
        yield Case(("cgro.thm4.1.corrected",), f"power of {fit.along} in α³U/log t",
                   "closed form of α³U", listed(list(tasks)), bias, distance(fit, 0.0))  # fmt: skip


def gaussian_tail() -> Iterator[Case]:
    """The power of x in −log P[|Z| ≥ x sd(Z)] of a Gaussian Z minus its own, Theorem C.12 of
    CGRO."""
    from scipy import stats

    from adversarium.papers.cgro.experiments.lemmas.checks import tail_power
    from adversarium.papers.cgro.theory.open_constants import TAILS
    from adversarium.plans.evidence import Series

    (level,) = levels_of("cgro.thmC.12.clean", tail_power.name)
    task = rows_of("cgro.thmC.12.clean").one(level.quantity.needs[0].where).task
    x = TAILS
    shares = 2 * stats.norm.sf(np.array(x))
    drawn = np.random.default_rng(0).binomial(100_000, shares, (40, 3)) / 100_000
    for law, values in (("Gaussian, exact", np.tile(shares, (5, 1))),
                        ("Gaussian, 100,000 draws", drawn)):  # fmt: skip
        row = synthetic(task, {"noise_tail": Series(np.zeros(1), values[:, None], {"x": x})})
        powers = tail_power.of(row)
        yield Case(("cgro.thmC.12.clean",), "power of x in the tail minus a Gaussian's",
                   law, listed(x), float(powers.mean()), distance(level, 0.0),
                   half_width(powers))  # fmt: skip


def switch() -> Case:
    """The N at which memorisation ends, on the ladder of N, if it ends exactly at N_c times a
    constant; in the logarithm of N."""
    from adversarium.papers.cgro.theory.ladders import ladders, switch_point
    from adversarium.papers.cgro.theory.regime import critical_count

    rows = rows_of("cgro.thm4.1.N-critical")
    ladder_rows = Evidence(tuple(run for run in rows if run.task.family == "ladder"))
    gaps = []
    for ladder in ladders(ladder_rows):
        N_c = critical_count(ladder.runs[0].task)
        at = N_c * PHASES / math.sqrt(2)
        made = [synthetic(run.task, {"memory_share": series((run.task.n < at).astype(float))})
                for run in ladder]  # fmt: skip
        gaps.append(np.log(switch_point(Evidence(tuple(made))) / at))
    values = np.concatenate(gaps)
    values = values[np.isfinite(values)]
    return Case(("cgro.thm4.1.N-critical",), "log(N at the switch/N_c)", "switch at c N_c",
                "N = ¼ … 4 N_c (9)", float(np.abs(values).max()), math.log(2),
                note="the largest error")  # fmt: skip


def density_fluctuation() -> Iterator[Case]:
    """The power of δ in the fluctuation of a kernel density estimate, from its exact variance
    (E K_δ² − (E K_δ)²)/N, Theorem F.1 of CGRO."""
    import torch

    from adversarium.papers.cgro.theory.densities import _gaussian, _smoothed
    from adversarium.papers.cgro.theory.powers import power
    from adversarium.papers.cgro.theory.smooth import ball

    for level in levels_of("cgro.thmF.1.II", "in_delta"):
        D = level.quantity.needs[0].where.at["D"]
        line = torch.linspace(-2, 2, 201 if D == 1 else 25).double()
        at = torch.cartesian_prod(*[line] * D).view(-1, D)
        radii = (0.02, 0.04, 0.08, 0.16) if D == 1 else (0.1, 0.2, 0.4, 0.8)
        nodes = ball(D, 41)
        cell = (2 / 40) ** D  # nodes form a grid of [−1, 1]^D
        spread = []
        for delta in radii:
            square = (0.75 * (1 - nodes.square())).prod(-1).square() * cell / delta**D
            second = (_gaussian(at[:, None] + delta * nodes) * square).sum(-1)
            variance = (second - _smoothed(at, delta).square()).clamp_min(0)
            spread.append(float(variance.sqrt().mean()))
        bias = power(radii, spread) + D / 2
        yield Case(("cgro.thmF.1.II",), f"power of δ in the fluctuation, D = {D}",
                   "exact variance of the estimate", listed(radii), bias,
                   distance(level, 0.0))  # fmt: skip


# sizes that are counted


def counted() -> Iterator[Case]:
    """A count a·x + b, with a and b of the two largest networks that were built."""
    for claim, word in (("cgrm.complexity-order.memory", "memory"),
                        ("cgrm.thm3.3.corrected", "balls"),
                        ("cgrm.thm3.3.corrected", "dimensions"),
                        ("cgro.lemD.2", "weights")):  # fmt: skip
        for fit in fits_of(claim, word):
            if (claim == "cgrm.thm3.3.corrected") != bool(getattr(fit, "decay", False)):
                continue  # of a pair of bounds, the one that the law approaches
            tasks = sizes_of(claim, fit)
            runs = rows_of(claim).where(fit.selection).by(fit.along)
            x = np.array(list(runs), dtype=float)
            name = fit.number if isinstance(fit.number, str) else fit.number.names[0]
            y = np.array([run.last(name).mean() for run in runs.values()])
            whole = y if claim.endswith("memory") else y * x
            a = (whole[-1] - whole[-2]) / (x[-1] - x[-2])
            law = a * x + (whole[-1] - a * x[-1])
            values = law if claim.endswith("memory") else law / x
            claimed = 1.0 if claim.endswith("memory") else 0.0
            bias = float(fitted(fit, tasks, [np.full(5, v) for v in values]).mean()) - claimed
            rule = "" if claim.endswith("memory") else " over it"
            yield Case((claim,), f"power of {fit.along} in the size{rule} ({word})",
                       "a x + b", listed(list(tasks)), bias, 0.1)  # fmt: skip


def rounded() -> Iterator[Case]:
    """Integer counts and times of an exact power law, with its constant over a factor of 1.1."""
    for claim, c in (("conv.thm5.1.proof", 7.7), ("conv.cor5.1", 7.05)):
        (fit,) = fits_of(claim, "time to ε")
        tasks = sizes_of(claim, fit)
        values = [np.ceil(c * PHASES**0.14 * K) for K in tasks]
        slopes = fitted(fit, tasks, values)
        yield Case((claim,), "power of R² in the time to ε", "t = ⌈cK⌉", listed(list(tasks)),
                   float(slopes.mean()) - 1, distance(fit, 1.0))  # fmt: skip
    for words in ((" (depths, H = 4)",), (" (depths, H = 2)",), (" (widths)",),
                  ("flips/(m", "m in"), ("flips/(m", "R in")):  # fmt: skip
        (fit,) = fits_of("conv.eq10", *words)
        tasks = sizes_of("conv.eq10", fit)
        runs = rows_of("conv.eq10").where(fit.selection).by(fit.along)
        values = []
        for task in tasks.values():
            per = task.parameters["m"] ** (2 / 3) * task.parameters["R"] ** (2 / 3)
            level = float(np.mean([run.last("flips").mean() for run in runs.values()]))
            values.append(
                np.floor((level * per + 0.5) * PHASES**0.14 / PHASES.mean() ** 0.14) / per
            )
        slopes = fitted(fit, tasks, values)
        yield Case(("conv.eq10",), f"power of {fit.along} in flips/(m τ^{{2/3}}){words[0]}"
                   if words[0].startswith(" ") else f"power of {fit.along} in flips/(m τ^{{2/3}})",
                   "largest whole number below", listed(list(tasks)), float(slopes.mean()),
                   distance(fit, 0.0))  # fmt: skip


def spectral_norms() -> Iterator[Case]:
    """E‖A‖₂ of an m × d Gaussian matrix: (√m + √d) with the Tracy–Widom correction, Lemma A.1 of
    CONV."""
    for fit in fits_of("conv.lemA.1", "power of m in A") + fits_of(
        "conv.lemA.1", "power of m in W"
    ):
        tasks = sizes_of("conv.lemA.1", fit)
        share, values = fit.selection.at["d/m"] if " A " in fit.name else 1.0, []
        for m in tasks:
            d = share * m
            root = math.sqrt(m - 1) + math.sqrt(d)
            width = root * (1 / math.sqrt(m - 1) + 1 / math.sqrt(d)) ** (1 / 3)
            values.append(np.full(5, math.sqrt((root**2 - 1.2065 * width) / m)))
        bias = float(fitted(fit, tasks, values).mean())
        yield Case(("conv.lemA.1",), f"power of m in ‖·‖₂/√m, d = {share:g} m",
                   "√m + √d with the Tracy–Widom correction", listed(list(tasks)), bias,
                   distance(fit, 0.0))  # fmt: skip


def failure_exponent() -> Iterator[Case]:
    """−log of a failure share that follows A e^{−cx} or A x^{−1/2} e^{−cx}, x = m/H, with half a
    failure counted if none happens, Lemma A.2 of CONV."""
    (fit,) = fits_of("conv.lemA.2.corrected", "power of m/H")
    tasks = sizes_of("conv.lemA.2.corrected", fit)
    runs = rows_of("conv.lemA.2.corrected").where(fit.selection).by("m/H")
    y = [float(-np.log(run.last("failed")).mean()) for run in runs.values()]
    x = np.array(list(tasks), dtype=float)
    draws, rng = 40_000, np.random.default_rng(0)
    for law, prefactor in (("e^−cx", 0.0), ("A x^−½ e^−cx (a Gaussian tail)", 0.5)):
        if prefactor:
            c = (y[-1] - y[-2] - prefactor * math.log(x[-1] / x[-2])) / (x[-1] - x[-2])
            exponent = y[-1] + c * (x - x[-1]) + prefactor * np.log(x / x[-1])
        else:
            exponent = y[-1] * x / x[-1]
        shares = rng.binomial(draws, np.exp(-exponent), (40, len(x))) / draws
        values = -np.log(np.maximum(shares, 1 / (2 * draws)))
        slopes = fitted(fit, tasks, list(values.T))
        bias = float(slopes.mean()) - 1
        tolerance = fit.high - 1 if bias > 0 else 1 - fit.low  # the range is not centred at 1
        yield Case(("conv.lemA.2.corrected",), "power of m/H in −log P, H = 4", law, listed(x),
                   bias, tolerance, half_width(slopes))  # fmt: skip


# RNRF: record times, and the approach to a law


def _recorded(t: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the first record time that is not before each time; NaN after the last."""
    place = np.searchsorted(times, t)
    return np.where(place < len(times), times[np.minimum(place, len(times) - 1)], np.nan)


def recorded_times() -> Iterator[Case]:
    """First times c·d², read off the record times of the runs."""
    for claim, word in (("rnrf.lemD.24", "first t"), ("rnrf.lemD.25", "first t"),
                        ("rnrf.lemD.10.stage2", "T′ over")):  # fmt: skip
        (fit,) = fits_of(claim, word)
        tasks = sizes_of(claim, fit)
        c = min(task.steps / d**2 for d, task in tasks.items()) / 2.1
        values = [_recorded(c * PHASES * d**2, np.array(task.times)) for d, task in tasks.items()]
        slopes = fitted(fit, tasks, values)
        yield Case((claim,), fit.name.replace("slope", "power"), "c d², record times of the runs",
                   listed(list(tasks)), float(slopes.mean()), distance(fit, 0.0),
                   note=f"a single c is off by up to {np.abs(slopes).max():.2g}")  # fmt: skip


def difference_powers() -> Case:
    """A difference that equals κ_B exactly, at the κ_B of the stored runs, rnrf.phase1."""
    from adversarium.papers.rnrf.experiments.phases.readings import EARLY, PLAIN
    from adversarium.papers.rnrf.theory.readings import TOTAL, A, B, plateau

    rows, found = rows_of("rnrf.phase1"), []
    for level in levels_of("rnrf.phase1", "power of κ_B"):
        place = next(n.where for n in level.quantity.needs if EARLY.family == n.where.family)
        same = {name: value for name, value in place.at.items() if name != "η̃"}
        attacked, standard = rows.one(place), rows.one(Where(PLAIN.family, same))
        kappa = (attacked[TOTAL].values / plateau(attacked)).max(-1)[..., None]
        made = {f: series(standard[f].values * (1 + kappa), standard[f].t) for f in (A, B)}
        made[TOTAL] = attacked[TOTAL]
        pair = Evidence((standard, synthetic(attacked.task, made)))
        powers = level.quantity.of(pair)
        powers = powers[np.isfinite(powers)]
        found.append(Case(("rnrf.phase1",), "power of κ_B in the difference from standard training",
                          "difference = κ_B, record times of the runs", "κ_B = 0.003 … 0.1 (4)",
                          float(powers.mean()) - 1, distance(level, 1.0),
                          half_width(powers)))  # fmt: skip
    return _worst(found)


def log_levels() -> Case:
    """F = log(c t) at the end of runs of length ∝ d, divided by log d."""
    claim = "rnrf.lemD.11.logF"
    (fit,) = fits_of(claim, "F_y/log d")
    tasks = sizes_of(claim, fit)
    runs = rows_of(claim).where(fit.selection).by("d")
    end = float(_reading(fit.number).of(list(runs.values())[-1]).mean())
    last = list(tasks.values())[-1].steps
    values = [np.full(5, end + math.log(task.steps / last)) for task in tasks.values()]
    bias = float(fitted(fit, tasks, values).mean())
    return Case((claim,), fit.name.replace("slope", "power"), "log(c t), t the end of the run",
                listed(list(tasks)), bias, distance(fit, 0.0))  # fmt: skip


# BOAT: curves in t, Gaussian tails, level sets


def loss_ratios() -> Iterator[Case]:
    """max g̃_i/g̃_j of two margins z ← z + a/(1 + e^z) with a = ½ and a = ½r: its limit r is the
    measured last ratio."""
    for level in levels_of("boat.lem4.4.loss_ratio", "power of t"):
        run = rows_of("boat.lem4.4.loss_ratio").one(level.quantity.needs[0].where)
        t, last = run["loss_ratio"].t, float(np.median(run.last("loss_ratio")))
        z, curve = np.zeros((1, 2)), []
        for step in range(int(t[-1]) + 1):
            if step in t:
                g = 1 / (1 + np.exp(z))
                curve.append(g.max(1) / g.min(1))
            z = z + 0.5 * np.array([[1.0, last]]) / (1 + np.exp(z))
        row = synthetic(run.task, {"loss_ratio": series(np.stack(curve, 1), t)})
        value = level.quantity.of(Evidence((row,)))
        yield Case(("boat.lem4.4.loss_ratio",),
                   f"power of t in max g̃_i/g̃_j ({run.task.coordinates['φ']})",
                   f"ratio of two margins with the limit {last:.2g}", "t = 20 … 2000",
                   float(value[0]), distance(level, 0.0))  # fmt: skip


def loss_powers() -> Iterator[Case]:
    """L̂ = log 2/√(1 + t), the slowest decay that the claims allow, and L̂ of one margin."""
    claim = "boat.thm3.1.train_loss_smooth"
    level = levels_of(claim, "power of t in L̂")[0]
    run = rows_of(claim).one(level.quantity.needs[0].where)
    t = run["risk"].t
    place = f"t = {t[-1] / 10:g} … {t[-1]:g}"
    curve = math.log(2) / np.sqrt(1 + t)
    z, margins = 0.0, []
    for step in range(int(t[-1]) + 1):
        if step in t:
            margins.append(math.log1p(math.exp(-z)))
        z += 0.5 / (1 + math.exp(z))
    for law, values, power in (("log 2/√(1 + t)", curve, -0.5),
                               ("one margin, 1/t", np.array(margins), -1.0)):  # fmt: skip
        row = synthetic(run.task, {"risk": series(values[None], t)})
        value = level.quantity.of(Evidence((row,)))
        yield Case((claim, "boat.thm3.1.train_loss_nonsmooth", "boat.corB.16.rate"),
                   "power of t in L̂", law, place, float(value[0]) - power,
                   distance(level, power))  # fmt: skip


def norm_growth() -> Case:
    """‖W‖ = ‖W⁰‖ + ct, the growth that boat.lemB.15.norm_sublinear excludes."""
    found = []
    for level in levels_of("boat.lemB.15.norm_sublinear", "power of t in ‖W‖ − ‖W⁰‖"):
        run = rows_of("boat.lemB.15.norm_sublinear").one(level.quantity.needs[0].where)
        t, values = run["weight_norm"].t, run["weight_norm"].values
        linear = values[:, :1] + (values[:, -1:] - values[:, :1]) * t / t[-1]
        row = synthetic(run.task, {"weight_norm": series(linear, t)})
        value = level.quantity.of(Evidence((row,)))
        found.append(Case(("boat.lemB.15.norm_sublinear",), "power of t in ‖W‖ − ‖W⁰‖",
                          "‖W⁰‖ + ct, which is excluded", f"t = 20 … {t[-1]:g}",
                          float(value.mean()) - 1, 0.5,
                          ))  # fmt: skip
    return _worst(found)


def error_rates() -> Iterator[Case]:
    """−log Φ(−s) over s²/2 up to a constant: the error of a Gaussian margin s, which is s²/2 only
    for large s; s is the measured one at the largest size."""
    from scipy import optimize, stats

    from adversarium.papers.boat.experiments.rates.checks import _reach

    kinds: tuple[tuple[str, Callable[[Rows], float], tuple[str, ...]], ...] = (
        ("−log of the robust error over (q", lambda run: _reach(run) ** 2,
         ("boat.thm3.1.robust_error",)),
    )  # fmt: skip
    for word, scale, names in kinds:
        for claim in names:
            found = []
            for fit in fits_of(claim, word):
                tasks = sizes_of(claim, fit)
                runs = list(rows_of(claim).where(fit.selection).by(fit.along).values())
                top = max(runs, key=scale)
                target = float(np.median(fit.number.of(top))) * scale(top)
                s = optimize.brentq(lambda s, y=target: -stats.norm.logcdf(-s) - y, 0.0, 1e4)
                c = s**2 / scale(top)
                values = [np.full(5, -stats.norm.logcdf(-math.sqrt(c * scale(run))) / scale(run))
                          for run in runs]  # fmt: skip
                found.append(Case((claim,), fit.name, "−log Φ(−s), s² ∝ the scale",
                                  listed(list(tasks)), float(fitted(fit, tasks, values).mean()),
                                  distance(fit, 0.0)))  # fmt: skip
            yield _worst(found)


def level_sets() -> Iterator[Case]:
    """Maps with the exact law d ∝ ‖μ‖^p: every row is the middle row of the measured map, shifted
    along log ‖μ‖, plus the measured differences of the seeds from their mean."""
    from scipy.interpolate import PchipInterpolator

    from adversarium.papers.boat.theory import figure_runs, image_runs

    for claim, kinds in (("boat.fig1.transition", figure_runs.ACCURACIES),
                         ("boat.fig4.transition", image_runs.ACCURACIES)):  # fmt: skip
        for level in levels_of(claim, "power of ‖μ‖ in d"):
            kind = "robust" if "robust" in level.quantity.name else "clean"
            number, row = kinds[kind]
            runs = rows_of(claim).where(level.quantity.needs[0].where)
            mu, d, tables = figure_runs.grid_of(runs, "‖μ‖", "d", number)
            mean, power = tables.mean(0), (level.low + level.high) / 2
            middle = len(d) // 2
            x = np.log(mu)
            smooth = PchipInterpolator(x, np.maximum.accumulate(mean[middle]))
            shifts = np.log(d / d[middle]) / power
            law = np.stack([smooth(np.clip(x - one, x[0], x[-1])) for one in shifts])
            bias = (
                figure_runs.exact_slope(
                    mu, d, mean[middle], power, float(level.quantity.name.split()[-1])
                )
                - power
            )
            too_large = abs(bias) > (level.high - level.low) / 6
            judged = " (not judged, because of this bias)" if too_large else ""
            for label, noise in (("", 0.0), (" with the measured noise", tables - mean)):
                made = []
                for run in runs:
                    i = int(np.flatnonzero(d == run.task.coordinates["d"])[0])
                    j = int(np.flatnonzero(mu == run.task.coordinates["‖μ‖"])[0])
                    accuracy = np.broadcast_to(law + noise, tables.shape)[:, i, j]
                    error = 1 - accuracy
                    if row == "clean_error_c":
                        beta = run.task.data.beta
                        error = (1 - beta - accuracy) / (1 - 2 * beta)
                    made.append(synthetic(run.task, {row: series(error)}))
                values = level.quantity.of(Evidence(tuple(made)))
                half = half_width(values) if label else 0.0
                yield Case((claim,), f"power of ‖μ‖ in d, {kind} accuracies",
                           f"d ∝ ‖μ‖^{power:g}{label}{judged}", f"{len(mu)} ‖μ‖, {len(d)} d",
                           float(values.mean()) - power, distance(level, power), half,
                           f"at {level.quantity.name.split()[-1]}")  # fmt: skip


def level_gaps() -> Iterator[Case]:
    """The predicted map plus the measured noise: its power less the predicted one."""
    from adversarium.papers.boat.experiments.fig1.checks import predicted
    from adversarium.papers.boat.theory.figure_runs import ACCURACIES, grid_of

    for level in levels_of("boat.fig1.refined", "less the predicted one"):
        if "(" in level.quantity.name:
            continue
        kind = "robust" if "robust" in level.quantity.name else "clean"
        which = 0 if kind == "clean" else 1
        number, row = ACCURACIES[kind]
        runs = rows_of("boat.fig1.refined").where(level.quantity.needs[0].where)
        mu, d, tables = grid_of(runs, "‖μ‖", "d", number)
        noise = tables - tables.mean(0)
        made = []
        for run in runs:
            i = int(np.flatnonzero(d == run.task.coordinates["d"])[0])
            j = int(np.flatnonzero(mu == run.task.coordinates["‖μ‖"])[0])
            accuracy = predicted(run.task)[which] + noise[:, i, j]
            beta = run.task.data.beta
            error = 1 - accuracy if which else (1 - beta - accuracy) / (1 - 2 * beta)
            made.append(synthetic(run.task, {row: series(error)}))
        values = level.quantity.of(Evidence(tuple(made)))
        yield Case(("boat.fig1.refined",), f"power of ‖μ‖ in d less the predicted one, {kind}",
                   "predicted map with the measured noise", f"{len(mu)} ‖μ‖, {len(d)} d",
                   float(values.mean()), distance(level, 0.0), half_width(values),
                   f"at {level.quantity.name.split()[-1]}")  # fmt: skip


LAWS: tuple[Callable[[], Case | Iterator[Case]], ...] = (
    signal_times, memory_times, signal_plateau, growth_after_memory, signal_level, gaussian_tail,
    switch, density_fluctuation, counted, rounded, spectral_norms, failure_exponent,
    recorded_times, difference_powers, log_levels, loss_ratios, loss_powers, norm_growth,
    error_rates, level_sets, level_gaps,
)  # fmt: skip
