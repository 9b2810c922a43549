"""Figures 1 to 3 of CGRO on images: the runs, and the readings of their loss landscapes.

G(ε) is the largest l1 norm of the gradient of the cross-entropy in x over an l_inf ball of radius ε
within the box [0, 1], ΔL(ε) the largest increase of the loss, ε₀ the training radius. The papers
call G “flatness”: a larger G is a sharper landscape. Radii are in units of ε₀.
"""

import math

import numpy as np

from adversarium.measure import Error, Loss
from adversarium.measure.landscape import LandscapeProbe
from adversarium.plans import Quantity
from adversarium.plans.evidence import Need
from adversarium.plans.image_runs import errors, measuring_pgd, one_step

WIDE = (*(i / 8 for i in range(17)), 2.5, 3.0)
NEAR = WIDE[:13]
FEW = 20  # training points at which the search within ε₀ is doubled
EPOCHS = (0.25, 0.5, 0.75, 1.0)


def curve_probes(eps, points, n_eval, n_test, search):
    """Return what is recorded during training: clean and robust errors and robust losses (PGD-10),
    G at four radii within ε₀, and the errors that detect catastrophic overfitting."""
    ascent = measuring_pgd(eps, 10, loss="cross_entropy")
    budget = dict(epsilon=eps, n=points, grid=EPOCHS, steps=search[0], starts=search[1])
    return (
        *errors(eps, n_eval, n_test),
        Error(on="train", first=n_eval, attacks=(one_step(eps),), name="one_step_train_error"),
        Loss(on="train", first=n_eval, attacks=ascent, name="robust_train_loss"),
        Loss(on="test", n=n_test, attacks=ascent, name="robust_test_loss"),
        LandscapeProbe(on="train", name="train_inside", **budget),
        LandscapeProbe(on="test", name="test_inside", **budget),
    )


def last_landscapes(eps, points, search, doubled):
    """Return the landscapes after training: of training and test points, and of the margin; without
    the box; and G within ε₀ at a few training points, by a search and by twice that search."""
    steps, starts = search
    budget = dict(epsilon=eps, n=points, steps=steps, starts=starts)
    few = dict(epsilon=eps, n=min(points, FEW))
    (least, most), inside = doubled, (0.5, 1.0)
    return (
        LandscapeProbe(on="train", name="train", grid=WIDE, **budget),
        LandscapeProbe(on="test", name="test", grid=NEAR, **budget),
        LandscapeProbe(name="margin", grid=NEAR, loss="logit_difference", **budget),
        LandscapeProbe(name="unboxed", grid=NEAR, box=None, steps=steps, starts=starts, **few),
        LandscapeProbe(name="few", grid=inside, steps=least, starts=most, **few),
        LandscapeProbe(name="few_twice", grid=inside, steps=2 * least, starts=2 * most, **few),
    )


def _number(name, selection, names, of):
    """Return the quantity that `of` computes from the rows of one run."""
    label = f"{name} ({selection.description})"
    return Quantity(
        label, lambda rows: of(rows.one(selection)), (Need(selection, names, alone=True),)
    )


def _at(run, name, radius):
    """Return the last value of a curve at a radius, in units of ε₀."""
    series = run[name]
    return series.last()[:, series.axes["radius"].index(radius)]


_SYMBOLS = {
    "train_gradient_norm": "G",
    "train_loss_change": "ΔL",
    "train_norm_at_largest_loss": "norm at the largest loss",
    "few_gradient_norm": "G (few points)",
    "few_twice_gradient_norm": "G (few points, doubled search)",
}


def log_at(name, selection, radius=1.0):
    """Return log of the mean over points of a curve's last value at a radius."""
    return _number(
        f"log {_SYMBOLS[name]} at {radius:g} ε₀", selection, (name,),
        lambda run: np.log(np.maximum(_at(run, name, radius), 1e-30)),
    )  # fmt: skip


def value_at(name, selection, radius=1.0):
    """Return the last value of a curve at a radius."""
    return _number(
        f"{_SYMBOLS[name]} at {radius:g} ε₀", selection, (name,), lambda run: _at(run, name, radius)
    )


def _slope(radii, values, low, high):
    inside = [i for i, r in enumerate(radii) if low <= r <= high]
    x = np.array([radii[i] for i in inside])
    x = x - x.mean()
    return (values[:, inside] * x).sum(1) / (x**2).sum()


def steepening(name, selection):
    """Return the slope of a curve on [ε₀, 1.5 ε₀] over its slope on [0, ε₀]."""

    def of(run):
        series = run[name]
        radii = series.axes["radius"]
        inside = _slope(radii, series.last(), 0.0, 1.0)
        return _slope(radii, series.last(), 1.0, 1.5) / np.maximum(inside, 1e-30)

    return _number(f"{_SYMBOLS[name]}: slope outside/inside", selection, (name,), of)


def exponential_steepening(name, selection):
    """Return `steepening` of the exponential that has the curve's last values at 0 and at ε₀: what
    a network in the tail of the softmax would have."""

    def of(run):
        series = run[name]
        radii, last = np.array(series.axes["radius"]), np.maximum(series.last(), 1e-30)
        rate = np.log(last[:, list(radii).index(1.0)] / last[:, list(radii).index(0.0)])
        curve = np.exp(rate[:, None] * radii)
        return _slope(radii, curve, 1.0, 1.5) / np.maximum(_slope(radii, curve, 0.0, 1.0), 1e-30)

    label = f"{_SYMBOLS[name]}: slope outside/inside of an exponential"
    return _number(label, selection, (name,), of)


def doubling(selection):
    """Return by what share G(ε₀) grows if the search has twice the steps and starts."""
    names = ("few_twice_gradient_norm", "few_gradient_norm")

    def of(run):
        return _at(run, names[0], 1.0) / _at(run, names[1], 1.0) - 1

    return _number("growth of G(ε₀) by a doubled search", selection, names, of)


def _mean_log(run, split, radii=EPOCHS):
    """Return log G, G being the mean over points, averaged over radii within ε₀, (seed, t)."""
    series = run[f"{split}_inside_gradient_norm"]
    places = [series.axes["radius"].index(r) for r in radii]
    return np.log(np.maximum(series.values[:, :, places], 1e-30)).mean(-1)


SHARES = {"quarter": 0.25, "middle": 0.5, "three-quarter": 0.75}  # of the training time


def middle(run, share=0.5):
    """Return the index of the checkpoint nearest to the middle of training, t*, or to another share
    of it."""
    t = run["train_error"].t
    return int(np.argmin(np.abs(t - t[-1] * share)))


def sharpness(selection, split, moment, radii=EPOCHS):
    """Return mean log G within ε₀ at the first or the last recorded epoch, or at a share of
    training (`SHARES`); `split` is train, test, or gap: test − train."""
    series = [f"{one}_inside_gradient_norm" for one in ("train", "test")]
    names = tuple(series) if split == "gap" else (f"{split}_inside_gradient_norm",)

    def of(run):
        fixed = {"first": 0, "last": -1}
        place = fixed[moment] if moment in fixed else middle(run, SHARES[moment])
        if split == "gap":
            difference = _mean_log(run, "test", radii) - _mean_log(run, "train", radii)
            return difference[:, place]
        return _mean_log(run, split, radii)[:, place]

    where = "" if radii == EPOCHS else f" at {radii[0]:g} ε₀"
    return _number(
        f"mean log G{where} of {split} points, {moment} epoch", selection,
        (*names, "train_error"), of,
    )  # fmt: skip


def ratio_of_growth(selection):
    """Return mean log G within ε₀, its change from the middle to the last epoch, at test points
    minus at training points: the logarithm of the factor by which it grew more there."""
    late, early = (sharpness(selection, "gap", moment) for moment in ("last", "middle"))
    return late - early


_GAPS = {
    "accuracy": ("robust_test_error", "robust_train_error"),
    "loss": ("robust_test_loss", "robust_train_loss"),
}


def _late(run, kind, lead):
    """Return the robust gap and a leading series over the epochs from t* on, (seed, t) each."""
    test, train = (run[name].values for name in _GAPS[kind])
    if lead == "loss":
        series = -np.log(run["robust_train_loss"].values)
    else:
        series = _mean_log(run, lead, (1.0,))
    late = slice(middle(run), None)
    return (test - train)[:, late], series[:, late]


def _ranks(values):
    """Return ranks along each row; equal values share their mean rank."""
    from scipy.stats import rankdata

    return rankdata(values, axis=1)


def _correlation(a, b):
    """Return the correlation along each row; nan if a row is constant."""
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    size = np.sqrt((a**2).sum(1) * (b**2).sum(1))
    return np.where(size > 0, (a * b).sum(1) / np.maximum(size, 1e-30), np.nan)


def following(selection, kind, lead="test", differences=False):
    """Return the rank correlation over the epochs from t* on of the robust gap with log G(ε₀) of
    test (or training) points, or with minus the robust training loss (`lead` = "loss"); with
    `differences`, of their changes between epochs."""

    def of(run):
        gap, series = _late(run, kind, lead)
        if differences:
            return _correlation(_ranks(np.diff(gap, axis=1)), _ranks(np.diff(series, axis=1)))
        return _correlation(_ranks(gap), _ranks(series))

    what = "minus the robust training loss" if lead == "loss" else f"log G ({lead})"
    what = f"changes of {what}" if differences else what
    measured = "robust_train_loss" if lead == "loss" else f"{lead}_inside_gradient_norm"
    names = tuple(dict.fromkeys((*_GAPS[kind], measured, "train_error")))
    return _number(f"rank correlation of {kind} gap and {what}", selection, names, of)


def across(selections):
    """Return, per seed, the correlation over training radii of the robust gap after training with
    log G(ε₀) around test points; `selections` has one run per radius."""
    names = (*_GAPS["accuracy"], "test_inside_gradient_norm")

    def of(rows):
        runs = [rows.one(one) for one in selections]
        least = min(len(run.last(names[0])) for run in runs)
        gaps = [(run.last(names[0]) - run.last(names[1]))[:least] for run in runs]
        sharp = [_mean_log(run, "test", (1.0,))[:least, -1] for run in runs]
        return _correlation(np.stack(gaps, 1), np.stack(sharp, 1))

    needs = tuple(Need(one, names, alone=True) for one in selections)
    return Quantity("correlation over ε₀ of accuracy gap and log G (test), last epoch", of, needs)


def leading(selection, kind="accuracy"):
    """Return by how much the changes of the gap correlate more with the changes of log G(ε₀) one
    checkpoint earlier than with those one checkpoint later."""

    def of(run):
        gap, series = (np.diff(one, axis=1) for one in _late(run, kind, "test"))
        before = _correlation(_ranks(gap[:, 1:]), _ranks(series[:, :-1]))
        after = _correlation(_ranks(gap[:, :-1]), _ranks(series[:, 1:]))
        return before - after

    names = (*_GAPS[kind], "test_inside_gradient_norm", "train_error")
    return _number("correlation, G one epoch earlier − one later", selection, names, of)


def _best_epochs(errors):
    """Return the epoch at which the mean error of the other seeds is smallest, per seed: the least
    error of the seed's own curve would lie below its last one by chance alone."""
    return (errors.sum(0) - errors).argmin(1)


def best_minus_last(selection):
    """Return the robust test accuracy at the best epoch minus that of the last."""

    def of(run):
        errors = run["robust_test_error"].values
        best = errors[np.arange(len(errors)), _best_epochs(errors)]
        return errors[:, -1] - best if len(errors) > 1 else np.full(1, np.nan)

    return _number("best − last robust test accuracy", selection, ("robust_test_error",), of)


def collapsed(selection):
    """Return whether training overfitted catastrophically: at some epoch a one-step attack left
    more than .3 more training points correct than PGD, or PGD accuracy fell by more than .2."""

    def of(run):
        pgd, fast = run["robust_train_error"].values, run["one_step_train_error"].values
        fell = pgd - np.minimum.accumulate(pgd, axis=1)
        return ((pgd - fast > 0.3) | (fell > 0.2)).any(1).astype(float)

    names = ("robust_train_error", "one_step_train_error")
    return _number("collapsed", selection, names, of)


def drop(kind, selection):
    """Return the training accuracy minus the test accuracy, clean or robust, after training."""
    test, train = f"{kind}test_error", f"{kind}train_error"
    return _number(
        f"{kind or 'clean_'}drop from train to test", selection, (test, train),
        lambda run: run.last(test) - run.last(train),
    )  # fmt: skip


def has_network(selection, build):
    """Return whether the run trains the network that `build` returns."""
    return _number(
        f"the network is {build.__name__}", selection, ("test_error",),
        lambda run: np.array([float(run.task.network.build is build)]),
    )  # fmt: skip


def accuracy(name, selection):
    """Return 1 minus an error after training."""
    return _number(f"1 − {name}", selection, (name,), lambda run: 1 - run.last(name))


def unfitted_share(selection, split="train"):
    """Return 1 minus the share of points that the search found fitted at ε₀."""
    name = f"{split}_fitted"
    return _number(f"unfitted share of {split}", selection, (name,), lambda run: 1 - run.last(name))


def fitted_norm(split, selection):
    """Return log of the mean G(ε₀) over the points that are fitted at ε₀."""
    names = (f"{split}_fitted_norm", f"{split}_fitted")

    def of(run):
        norm, share = _at(run, names[0], 1.0), run.last(names[1])
        return np.log(np.maximum(norm, 1e-30) / np.maximum(share, 1e-12))

    return _number(f"log G(ε₀) of fitted {split} points", selection, names, of)


def group_steepening(selection, fitted):
    """Return the slope of G on [ε₀, 1.5 ε₀] over its slope on [0, ε₀], G being the mean over the
    training points that are fitted at ε₀, or over the others."""
    names = ("train_gradient_norm", "train_fitted_norm")

    def of(run):
        whole, part = (run[name].last() for name in names)
        radii, curve = run[names[0]].axes["radius"], part if fitted else whole - part
        inside = _slope(radii, curve, 0.0, 1.0)
        return _slope(radii, curve, 1.0, 1.5) / np.maximum(inside, 1e-30)

    which = "fitted" if fitted else "other"
    return _number(f"G of {which} points: slope outside/inside", selection, names, of)


def positions(selections, eps):
    """Return the log–log slope of the position of the steepest rise of log G against ε₀, one number
    per seed; `selections` has one run per radius."""
    x = np.log(np.array(eps))
    x = x - x.mean()

    def of(rows):
        places = [
            math.log(e) + np.log(rows.one(s).last("train_bend_position"))
            for e, s in zip(eps, selections, strict=True)
        ]
        least = min(len(p) for p in places)
        table = np.stack([p[:least] for p in places], 1)
        return (table * x).sum(1) / (x**2).sum()

    needs = tuple(Need(s, ("train_bend_position",), alone=True) for s in selections)
    return Quantity("exponent of the bend's position in ε₀", of, needs)
