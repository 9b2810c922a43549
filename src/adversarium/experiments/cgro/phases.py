"""Robust learning or robust memorisation: the boundary that CGRO's Theorem 4.1 does not mention.

Paper: N = poly(d). Ours: noise is memorised before the attacked signal is learnt only while
N < N_c = σ²d v*/(qα²(1 − γ)³), v* = σ0σ√d √(2 log((P − 1)m)), q = 2.
Reading: the race is decided by memory_share, V/(V + α³(1 − γ)³U), above or below ½ at the end;
d = 200, P = 3, m = 8, η = 0.1, λ = ½ unless swept; runs last about eight times as long as the
faster of the two is predicted to take, at most 80,000 steps.
Cost: quick 60 s (2 cores); paper minutes on a GPU.
"""

import itertools
import math

import numpy as np

from adversarium.bounds import critical_n
from adversarium.experiments import checks as rules
from adversarium.experiments.cgro.patches import patches
from adversarium.experiments.checks import level, measure
from adversarium.experiments.spec import Phase, Switch, Table
from adversarium.probes import Error, conclusion, median_memorised, memory_share, true_feature

_LADDER = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)  # N over N_c

quick = dict(ratios=(0.25, 0.5, 1.0, 2.0, 4.0), seeds=5)
paper = dict(
    d=(200, 400),
    gap=(0.065, 0.05, 0.04, 0.03),
    diagrams=("N, 1 − γ", "λ, 1 − γ", "N, d", "σ, α", "exponents"),
    seeds=10,
)


def geometric(low, high, count):
    """Numbers from low to high, each the same multiple of the one before, three digits."""
    ratio = (high / low) ** (1 / (count - 1))
    return tuple(float(f"{low * ratio**i:.3g}") for i in range(count))


_COUNTS = tuple(dict.fromkeys(round(n) for n in geometric(3, 120, 12)))
_GAPS = geometric(0.02, 0.3, 12)
# two knobs, their values, and what else is set
DIAGRAMS: dict = {
    "N, 1 − γ": (("N", _COUNTS), ("gap", _GAPS), {}),
    "λ, 1 − γ": (("lam", geometric(0.02, 0.9, 12)), ("gap", _GAPS), {"N": 10}),
    "N, d": (
        ("d", tuple(round(d) for d in geometric(50, 1600, 12))),
        ("N", _COUNTS),
        {"gap": "1/√d"},
    ),
    "σ, α": (("alpha", geometric(1, 10, 12)), ("sigma", geometric(0.02, 0.3, 12)),
             {"N": 10, "gap": 0.05}),
    "exponents": (("alpha", geometric(200**0.0 + 0.01, 200**0.5, 12)),
                  ("sigma", geometric(200**-0.8, 200**-0.2, 12)),
                  {"N": 10, "gap": 1 / (math.sqrt(200) * math.log(200))}),
}  # fmt: skip


def plan(
    d=(200,), gap=(0.12, 0.09, 0.065), N=None, lam=0.5, alpha=None, sigma=None, P=3, m=8, eta=0.1,
    ratios=_LADDER, diagrams=(), longest=80_000,
):  # fmt: skip
    knobs = dict(lam=lam, alpha=alpha, sigma=sigma, P=P, m=m, eta=eta, longest=longest)
    for one, other in itertools.product(d, gap):
        N_c = _critical(d=one, gap=other, alpha=alpha, sigma=sigma, P=P, m=m)
        ladder = (N,) if N is not None else dict.fromkeys(max(1, round(r * N_c)) for r in ratios)
        for count in ladder:
            label = f"d = {one}, 1 − γ = {other:g}, N = {count}, N_c = {N_c:.6g}"
            yield cell(label, d=one, gap=other, N=count, **knobs)
    for name in diagrams:
        for label, settings in labelled(name).items():
            yield cell(label, **settings, longest=longest)


def labelled(name):
    """The cells of a diagram: label → settings."""
    (x, xs), (y, ys), fixed = DIAGRAMS[name]
    return {
        f"({name}) {x} = {a:g}, {y} = {b:g}": settled({**fixed, x: a, y: b})
        for a, b in itertools.product(xs, ys)
    }


def settled(settings):
    """The settings of a cell, what depends on d worked out."""
    if settings.get("gap") == "1/√d":
        return {**settings, "gap": 1 / math.sqrt(settings["d"])}
    return settings


def _critical(d=200, gap=0.05, alpha=None, sigma=None, P=3, m=8):
    """N_c with the paper's exponents where nothing else is set."""
    alpha = d**0.249 if alpha is None else alpha
    sigma = d**-0.509 if sigma is None else sigma
    if not gap > 0 or not alpha > 0 or not sigma > 0:
        raise ValueError(
            f"the race needs 1 − γ, alpha and sigma > 0, got {gap}, {alpha} and {sigma}."
        )
    return critical_n(d, P, m, alpha, sigma, d**-0.5, gap)


def cell(label, *, d=200, gap=0.05, N=10, lam=0.5, alpha=None, sigma=None, P=3, m=8, eta=0.1,
         longest=80_000):  # fmt: skip
    """One run, as long as the race takes: a power of two times 2,500 steps."""
    N_c = _critical(d, gap, alpha, sigma, P, m)
    if not lam > 0 or N < 1:
        raise ValueError(f"the race needs lam > 0 and N >= 1, got lam={lam} and N={N}.")
    strength = d**0.249 if alpha is None else alpha
    signal_time = 2 / (3 * eta * lam * strength**2 * gap**3 * 2)
    memory_time = signal_time * N / N_c
    need = 8 * min(signal_time, memory_time)
    steps = min(longest, 2_500 * 2 ** max(0, math.ceil(math.log2(need / 2_500))))
    return patches(
        label,
        **dict(d=d, gap=gap, N=N, lam=lam, alpha=alpha, sigma=sigma, P=P, m=m, eta=eta),
        steps=steps,
        final=(
            memory_share,
            true_feature,
            median_memorised,
            Error(n=500, attacks="training", name="robust_test_error"),
            conclusion,
        ),
        record=(0,),
    )


def predicted(run):
    """log(N_c/N): positive where noise should be memorised first."""
    data, gap = run.data, 1 - run.attack.gamma
    sizes = dict(d=data.d, P=data.P, m=run.network.m)
    N_c = critical_n(
        **sizes, alpha=data.alpha, sigma=data.sigma, sigma0=run.network.sigma0, gap=gap
    )
    return math.log(N_c / run.n)


theorem = Switch(probe="conclusion", above=0.5, name="share of seeds with the theorem's conclusion")
switch = Switch(
    probe="memory_share", above=0.5, name="memorised share of the margin", predicted=predicted
)


def _ladders(rows):
    """(d, 1 − γ, N_c) → {N: memory_share, one a seed}, rising N."""
    found: dict = {}
    for label, run in rows.items():
        if label.startswith("d = "):
            d, gap, N, N_c = (part.split(" = ")[1] for part in label.split(", "))
            key = int(d), float(gap), float(N_c)
            found.setdefault(key, {})[int(N)] = run.last("memory_share")
    return {key: dict(sorted(ladder.items())) for key, ladder in found.items()}


def switch_point(ladder):
    """N at which memorisation loses, each seed: between the last N of an unbroken run of memorised
    ones and the next; NaN where all N or none are memorised."""
    counts = np.array(list(ladder))
    wins = np.stack(list(ladder.values()), axis=1) > 0.5
    last = np.cumprod(wins, axis=1).sum(1) - 1
    inside = (last >= 0) & (last < len(counts) - 1)
    low, high = counts[last.clip(0)], counts[(last + 1).clip(max=len(counts) - 1)]
    return np.where(inside, np.sqrt(low * high), np.nan)


def _near(d, gap, N_c):
    """N at the switch over N_c."""
    name = f"switch over N_c (d = {d}, 1 − γ = {gap:g})"
    ratio = lambda rows: switch_point(_ladders(rows)[d, gap, N_c]) / N_c
    return level(measure(name, ratio), 0.5, 2.0)


def _all_near(rows):
    """A check for every (d, 1 − γ) that was run, at least three gaps."""
    ladders = _ladders(rows)
    return [_near(*key) for key in ladders] if len({gap for _, gap, _ in ladders}) >= 3 else []


checks = {"cgro.thm4.1.N-critical": rules.found("level", _all_near, "needs three gaps")}

_names = {
    "memory_share": "V/(V + α³(1 − γ)³U)",
    "robust_test_error": "robust test error",
    "median_memorised": "median V",
}


_symbols = {"N": "N", "gap": "1 − γ", "lam": "λ", "d": "d", "alpha": "α", "sigma": "σ"}


def _phase(name):
    (x, _), (y, _), _ = DIAGRAMS[name]
    cells = {label: (s[x], s[y]) for label, s in labelled(name).items()}
    if name == "exponents":
        return Phase(
            name="phase-exponents",
            title="Where Theorem 4.1's conclusion holds: α = d^a, σ = d^s",
            cells=cells,
            switch=theorem,
            line=False,
            point=("paper: a = .249, s = −.509", 200**0.249, 200**-0.509),
            x_label="α  (1 = d⁰ … 14 = d^½)",
            y_label="σ  (d^−0.8 … d^−0.2)",
            caption="d = 200, N = 10, the paper's γ, at most 80,000 steps (the lowest row is not "
            "memorised by then): share of seeds with clean test error ≤ 0.01, robust training "
            "error 0 and robust test error about ½.",
        )
    return Phase(
        name="phase-" + "-".join((x, y)),
        title=f"Memorised or learnt: ({name})",
        cells=cells,
        switch=switch,
        predicted={label: predicted(cell(label, **s)) for label, s in labelled(name).items()},
        x_label=_symbols[x],
        y_label=_symbols[y],
        caption="Colour: mean over seeds of the memorised share of an attacked margin. Dashed: "
        "N = N_c; solid: fitted line with its 99 % band (seeds and cells resampled).",
    )


figures = (
    *(_phase(name) for name in DIAGRAMS),
    Table(
        name="ladders",
        title="Along N: who wins the race",
        y=tuple(_names),
        names=_names,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
