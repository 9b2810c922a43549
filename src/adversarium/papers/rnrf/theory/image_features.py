"""Tables 1 and 2 and Figure 4 of RNRF on images: the runs, the readings and the checks.

FLA, feature learning accuracy: the accuracy of a learner on images rebuilt from the representation
of a reference network: non-robust features (NR) if the reference had standard training, robust
features (R) if it had adversarial training. References are never the learner: they are trained with
the next seed.
"""

import math
from typing import Literal

import numpy as np

from adversarium.attacks import strong_attacks
from adversarium.measure import Error
from adversarium.measure.features import FeatureAccuracy, FeatureAttack
from adversarium.plans import (
    ABOVE_ZERO,
    Check,
    Every,
    InRegime,
    Level,
    Ordering,
    Parts,
    Present,
    Quantity,
    Run,
)
from adversarium.plans.evidence import Need
from adversarium.plans.image_runs import BOX, measuring_pgd

STANDARD, ADVERSARIAL = "standard", "adversarial"
STARTS: tuple[Literal["noise", "image"], ...] = ("noise", "image")


def feature_run(
    family, data, network, attack, reference, eps, pairs, optimiser, eta, n, steps, times, n_test,
    n_sets, inversion, draws, at, suite=0,
):  # fmt: skip
    """Return a training run that records FLA at the given times, and at the end clean and robust
    errors and the attacks of Table 2; with `suite`, also errors under the suite of attacks on that
    many test images."""
    robust, strong = measuring_pgd(eps, 20), strong_attacks(math.inf, eps, k=10, box=BOX)
    sets = dict(attack=reference, n=n_sets, steps=inversion)
    return Run(
        family=family,
        at=at,
        data=data,
        network=network,
        attack=attack,
        optimiser=optimiser,
        n=n,
        steps=steps,
        eta=eta,
        probes=tuple(FeatureAccuracy(start=start, **sets) for start in STARTS),
        final=(
            Error(n=n_test, name="test_error"),
            Error(n=min(n_test, 2000), attacks=robust, name="robust_test_error"),
            FeatureAttack(attack=reference, pairs=pairs, radius=eps, n=n_test, draws=draws),
            *((Error(n=suite, attacks=strong, name="suite_error"),) if suite else ()),
        ),
        record=times,
        dtype="float32",
    )


def _number(name, selection, names, of):
    label = f"{name} ({selection.description})"
    return Quantity(
        label, lambda rows: of(rows.one(selection)), (Need(selection, names, alone=True),)
    )


def fla(kind, start, selection, relative=False):
    """Return FLA at the end; with `relative`, over the clean accuracy on the same images."""
    names = (f"fla_{kind}_{start}", f"fla_clean_{start}")

    def of(run):
        return run.last(names[0]) / (np.maximum(run.last(names[1]), 1e-9) if relative else 1.0)

    what = f"FLA {kind.upper()}/clean accuracy" if relative else f"FLA {kind.upper()}"
    return _number(f"{what}, from {start}", selection, names if relative else names[:1], of)


def _rebuilt(start, selection):
    """Require that both inversions came close, and equally close up to a factor 2: on average over
    seeds, relative residuals of at most 0.05."""
    names = tuple(f"fla_residual_{kind}_{start}" for kind in ("nr", "r"))

    def of(run):
        nr, r = (run.last(name).mean() for name in names)
        worst = max(nr, r)
        alike = 2 * max(min(nr, r), 1e-6) / max(worst, 1e-6) if worst > 0.005 else 2.0
        return np.array([min(0.05 / max(worst, 1e-9), alike, 10.0)])

    return InRegime(
        _number(f"inversion from {start}", selection, names, of),
        1.0,
        kind="ordering",
    )


def order_check(greater, than, selection):
    """Return the check of one order of FLA, from both starts."""
    return {
        f"from {start}": Every(
            _rebuilt(start, selection),
            Ordering(fla(greater, start, selection), than=fla(than, start, selection)),
        )
        for start in STARTS
    }


def _kept(standard, adversarial):
    """Require that adversarial training keeps at least 0.8 of the clean accuracy."""

    def of(rows):
        a, b = (1 - rows.one(s).last("test_error") for s in (adversarial, standard))
        return np.array([float(a.mean() / b.mean())])

    needs = tuple(Need(s, ("test_error",), alone=True) for s in (adversarial, standard))
    return InRegime(Quantity("clean accuracy kept", of, needs), 0.8, kind="ordering")


def change_check(kind, standard, adversarial, rises):
    """Return the check that FLA of one kind rises (or falls) from standard to adversarial
    training, also relative to the clean accuracy."""
    parts: dict[str, Check] = {}
    for start in STARTS:
        judged = []
        for relative in (False, True):
            one, other = (fla(kind, start, s, relative) for s in (adversarial, standard))
            judged.append(Ordering(one, than=other) if rises else Ordering(other, than=one))
        parts[f"from {start}"] = Every(
            *judged, _kept(standard, adversarial), _rebuilt(start, standard)
        )
    return parts


def robust_accuracy(selection, suite=False):
    """Return the test accuracy under PGD-20, or under the suite of attacks."""
    name = "suite_error" if suite else "robust_test_error"
    by = "suite" if suite else "PGD-20"
    return _number(
        f"test accuracy under attack ({by})", selection, (name,), lambda run: 1 - run.last(name)
    )


def curve_check(above, below, start, selection):
    """Return the check that one FLA curve lies above another at every checkpoint from the first on
    at which the mean clean accuracy is at least ½."""
    names = tuple(f"fla_{kind}_{start}" for kind in (above, below, "clean"))

    def make(rows):
        run = rows.one(selection)
        started = run[names[2]].values.mean(0) >= 0.5
        if not started.any():
            return []
        return [
            Level(
                _number(
                    f"FLA {above.upper()} − {below.upper()}, from {start}, step {int(t)}",
                    selection, names[:2],
                    lambda one, i=i: one[names[0]].values[:, i] - one[names[1]].values[:, i],
                ),
                ABOVE_ZERO, math.inf,
            )
            for i, t in enumerate(run[names[2]].t)
            if i >= started.argmax()
        ]  # fmt: skip

    needs = (Need(selection, names, alone=True),)
    return Present("ordering", make, "no checkpoint has a clean accuracy of ½", needs)


def success(attack, pair, selection, lift=True):
    """Return the success rate of an attack on the pair of this number; with `lift`, minus that of
    no attack."""
    names = (f"success_{attack}", "success_none")

    def of(run):
        rate = run.last(names[0])[:, pair]
        return rate - run.last(names[1])[:, pair] if lift else rate

    texts = {"nrf": "NRF-PGD", "rf": "RF-PGD", "pixel": "pixel step"}
    what = f"{texts[attack]}{' − no attack' if lift else ''}, pair {pair}"
    return _number(what, selection, names if lift else names[:1], of)


def nrf_beats_rf(pairs, standard):
    """Return the check that NRF-PGD succeeds more often than RF-PGD on the standard network."""
    return Parts(
        {
            name: Ordering(
                success("nrf", i, standard, lift=False), than=success("rf", i, standard, lift=False)
            )
            for i, name in enumerate(pairs)
        }
    )


def rf_beats_nrf(pairs, adversarial):
    """Return the check that RF-PGD lifts the success rate more than NRF-PGD, and than the step
    towards the target image without any feature, on the adversarially trained network."""
    parts: dict[str, Check] = {}
    for i, name in enumerate(pairs):
        rf = success("rf", i, adversarial)
        others = (success(attack, i, adversarial) for attack in ("nrf", "pixel"))
        parts[name] = Every(*(Ordering(rf, than=other) for other in others))
    return Parts(parts)


def _half(whole):
    return Quantity(f"½ {whole.name}", lambda rows: whole.of(rows) / 2, whole.needs)


def stays_low(pairs, standard, adversarial):
    """Return the check that both attacks succeed on the adversarially trained network less than
    half as often as NRF-PGD on the standard one, raw and as a lift."""
    parts: dict[str, Check] = {}
    for i, name in enumerate(pairs):
        judged = []
        for lift in (False, True):
            half = _half(success("nrf", i, standard, lift))
            judged += [
                Ordering(half, than=success(attack, i, adversarial, lift))
                for attack in ("nrf", "rf")
            ]
        parts[name] = Every(*judged)
    return Parts(parts)


def _mean(attack, places, selection, lift):
    one = [success(attack, i, selection, lift) for i in places]
    listed = " and ".join(str(i) for i in places)
    what = one[0].name.replace(f"pair {places[0]}", f"pairs {listed}")
    return Quantity(what, lambda rows: sum(q.of(rows) for q in one) / len(one), one[0].needs)


def similar_pairs(adversarial):
    """Return the check that the first two pairs succeed more often than the last two."""
    parts: dict[str, Check] = {}
    for attack, text in (("nrf", "NRF-PGD"), ("rf", "RF-PGD")):
        for lift, word in ((True, "lift"), (False, "raw")):
            parts[f"{text}, {word}"] = Ordering(
                _mean(attack, (0, 1), adversarial, lift),
                than=_mean(attack, (2, 3), adversarial, lift),
            )
    return Parts(parts)


def early_features(kind, start, selection):
    """Return FLA at the first checkpoint at which the clean accuracy, on average over seeds, is at
    least 0.3: before, the network has learned nothing."""
    names = (f"fla_{kind}_{start}", f"fla_clean_{start}")

    def of(run):
        learned = run[names[1]].values.mean(0) >= 0.3
        values = run[names[0]].values
        return values[:, learned.argmax()] if learned.any() else np.full(len(values), np.nan)

    what = f"early FLA {kind.upper()}, from {start}"
    return _number(what, selection, names, of)
