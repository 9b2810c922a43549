"""CONV's deep ReLU network at initialisation: Lemmas A.1 to A.4, eqs. (9), (11) and (13).

Paper: with high probability ‖A‖₂, ‖W⁽ʰ⁾‖₂ = O(1), all features have norms in [2/3, 4/3], and
products back to layer h are O(√(mH)). Moving x is equivalent to a rank-one change of W⁽¹⁾. Features
drift by O(τH^{5/2}√log m), τ = R/√m + δ.
Reading: the norms of one input are drawn from their exact distribution, which does not depend on d;
other quantities are measured in drawn networks. Orders are judged by the slope of the quantity
divided by its order. Drifts are found by an attack along leading singular vectors, for τ down to
10⁻¹⁰, so that τH^{9/2}(log m)³ ≤ 1 for every H.
Cost: quick 26 s (one core).
"""

import itertools
from typing import Any

from adversarium.plans import Profile, Read, Table, Trial, where

from ...theory.regime import gates as gates
from ...theory.relu_norms import (
    back_products,
    deep_gradients,
    feature_drift,
    first_norm,
    moved_input,
    norm_events,
    norm_profile,
    product_tail,
    spectral_norms,
)

DRAWS = 4000  # draws of the norms of one input, per seed
SHARES = (1 / 16, 1 / 4, 1)  # d/m
MOVED = ((0.0, 0.0), (0.25, 0.25), (0.25, 1.0), (1.0, 1.0))  # (d/m, R/√m); d/m = 0: d = 2
WIDE_SHARES = (1, 4, 16, 64)  # d/m beyond m ≥ d


PER_LAYER = (16, 32, 64, 128, 256)  # m/H
SMALL_TAU = 1e-8  # satisfies τH^{9/2}(log m)³ ≤ 1, the hypothesis of eq. (11), at every depth

quick = dict(seeds=5, widths=(16, 32, 64), depths=(1, 2, 4), draws=5)
paper = dict(seeds=40, widths=(64, 128, 256, 512, 1024), depths=(1, 2, 4, 8, 16), draws=200)


def plan(widths, depths, draws):
    m_and_H: dict[str, Any] = {"m": Read("m"), "H": Read("H")}
    at: dict[str, Any]

    def trial(family, function, at, exact=False, **parameters):
        return Trial(family=family, at=at, function=function, parameters=parameters, exact=exact,
                     version=2 if function is feature_drift else 1)  # fmt: skip

    for m, share in itertools.product(widths, (*SHARES, 4)):
        at = {"m": Read("m"), "d/m": Read("share"), "d": round(share * m)}
        yield trial("spectral", spectral_norms, at, m=m, H=1, share=share, draws=4)
    for H in depths:
        yield trial(
            "spectral, all layers", spectral_norms, m_and_H, m=128, H=H, share=0.25, draws=4
        )
    for m, some in ((64, draws), (128, draws), (256, max(1, draws // 4))):
        yield trial("spectral, often", spectral_norms, m_and_H, m=m, H=1, share=0.25, draws=some)
    for m in (64, 256, 1024, 4096):
        yield trial("first norm", first_norm, {"m": Read("m")}, exact=True, m=m)
    for H, width_per_layer in itertools.product((1, 2, 4, 8, 16, 32), PER_LAYER):
        at = {"H": Read("H"), "m/H": width_per_layer}
        yield trial("norms", norm_events, at, m=width_per_layer * H, H=H, draws=DRAWS)
    for width_per_layer in PER_LAYER[:4]:
        at = {"H": Read("H"), "m/H": width_per_layer}
        yield trial("failures", norm_events, at, m=width_per_layer * 4, H=4, draws=10 * DRAWS)
    yield trial("one network", norm_profile, m_and_H, m=1024, H=8)
    for m in widths:
        yield trial("products", back_products, m_and_H, m=m, H=2, draws=20)
    for H in depths:
        yield trial("products over H", back_products, m_and_H, m=max(widths), H=H, draws=4)
    for m in (32, 64, 128, 256):
        yield trial("products, often", product_tail, m_and_H, m=m, H=4, draws=10 * DRAWS)
    for H in (1, 2, 4, 8, 16, 32):
        at = {**m_and_H, "m/H": 16}
        yield trial("products, often, over H", product_tail, at, m=16 * H, H=H, draws=DRAWS)
    for H in (1, 2, 4, 8):
        yield trial("gradients", deep_gradients, m_and_H, m=64, H=H)
    for m, (share, R) in itertools.product(widths, MOVED):
        d = max(2, round(share * m))
        at = {"m": Read("m"), "d/m": share, "R/√m": Read("share")}
        yield trial("moved inputs", moved_input, at, m=m, d=d, H=2, share=R)
    for H in (1, 4):
        at = {**m_and_H, "R/√m": Read("share")}
        yield trial("moved inputs, depths", moved_input, at, m=128, d=32, H=H, share=0.25)
    for share in WIDE_SHARES:
        at = {"m": Read("m"), "d": Read("d")}
        yield trial("moved inputs, d over m", moved_input, at, m=64, d=64 * share, H=1, share=0.0)
    at = {**m_and_H, "τ": Read("tau")}
    for m in widths:
        yield trial("drift", feature_drift, at, m=m, H=4, tau=SMALL_TAU, draws=8)
        yield trial("drift at the gate", feature_drift, m_and_H, m=m, H=1, draws=8)
    for H in depths:
        yield trial("drift over H", feature_drift, at, m=256, H=H, tau=SMALL_TAU, draws=4)
        yield trial("gate over H", feature_drift, m_and_H, m=256, H=H, draws=4)
    for tau in (1e-10, 1e-8, 1e-6, 1e-5):
        yield trial("drift over τ", feature_drift, at, m=256, H=2, tau=tau)
    for tau in (1e-6, 1e-4, 1e-3, 5e-3):  # up to the limit of the hypothesis, where units flip
        yield trial("drift over τ, flips", feature_drift, at, m=256, H=1, tau=tau, draws=8)
    yield trial("drift, outside", feature_drift, at, m=256, H=4, tau=1.0)


figures = (
    Profile(
        name="norms",
        title="Lemma A.2: norms before and after the activation, one network",
        y=("before", "after"),
        runs=(where("one network"),),
        names={"before": r"$|\bar x^{(h)}|$", "after": r"$|x^{(h)}|$"},
        x_label="layer h",
        y_label="norm",
        levels={"2/3": 2 / 3, "4/3": 4 / 3},
        caption="m = 1024, H = 8. The norms tend to 2 and √2; the lemma claims [2/3, 4/3].",
    ),
    Table(
        name="events",
        title="Number of draws in which all norms lie in the interval",
        y=("after", "corrected after", "corrected before"),
        runs=(where("norms", H=4),),
        names={
            "after": "after, [2/3, 4/3]",
            "corrected after": "after, [2/3, 4/3]·√2",
            "corrected before": "before, [2/3, 4/3]·2",
        },
        caption=f"{DRAWS} draws per seed, H = 4.",
    ),
)
