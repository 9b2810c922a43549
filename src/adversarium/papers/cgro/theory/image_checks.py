"""The checks of Figures 1 to 3 of CGRO on one image data set, as parts of each sentence."""

import math

import numpy as np

from adversarium.networks import preact_resnet18
from adversarium.plans import (
    ABOVE_ZERO,
    Check,
    CountedAs,
    Every,
    Hypothesis,
    InRegime,
    Level,
    Ordering,
    Parts,
    last,
    quantity,
)

from .images import (
    accuracy,
    across,
    best_minus_last,
    collapsed,
    doubling,
    drop,
    exponential_steepening,
    following,
    group_steepening,
    has_network,
    log_at,
    positions,
    ratio_of_growth,
    sharpness,
    steepening,
    value_at,
)


def _converged(selection):
    """Require that a doubled search raises G(ε₀) by less than 2 %; otherwise “flat inside” is
    undecided."""
    growth = doubling(selection)
    room = quantity(
        "2 %/(growth of G(ε₀) by a doubled search)",
        lambda rows: 0.02 / growth.of(rows).mean(keepdims=True).clip(min=1e-6),
        *growth.needs,
    )
    return InRegime(room, at_least=1.0)


def sound(selection, check):
    """Judge only runs of which none overfitted catastrophically, and in which the attack works: at
    8 ε₀ it leaves an accuracy of at most chance."""
    lost, broken = collapsed(selection), last("wide_test_error", selection)
    fit = quantity(
        "no collapse, and an attack that works",
        lambda rows: (1 - lost.of(rows)) * (broken.of(rows) >= 0.9),
        *lost.needs,
        *broken.needs,
    )
    return Every(check, InRegime(fit, at_least=0.5))


def gradient_checks(adversarial, clean, groups=False):
    """Return the check of “flat within the training radius, very sharp outside” for G; with
    `groups`, the points that are fitted at ε₀ and the others are also reported apart."""
    apart = [group_steepening(adversarial, fitted) for fitted in (True, False)]
    beyond = {"fitted points, other points": Hypothesis("level", *apart)} if groups else {}
    name, other = "train_gradient_norm", "train_norm_at_largest_loss"
    ratio, clean_ratio = (steepening(name, net) for net in (adversarial, clean))
    return Parts(
        {
            "flat inside: below clean training at ε₀": Every(
                _converged(adversarial),
                sound(
                    adversarial,
                    Ordering(log_at("few_twice_gradient_norm", clean),
                             than=log_at("few_twice_gradient_norm", adversarial)),
                ),
            ),
            "sharp outside: slope at least 3 times that inside": sound(
                adversarial, Level(ratio, 3, math.inf)
            ),
            "sharp outside: ratio above clean training": sound(
                adversarial, Ordering(ratio, than=clean_ratio)
            ),
            "sharper than the exponential through G(0) and G(ε₀)": sound(
                adversarial, Ordering(ratio, than=exponential_steepening(name, adversarial))
            ),
            "bends and position of log G": Hypothesis(
                "level",
                last("train_bend", adversarial),
                last("train_bend", clean),
                last("test_bend", adversarial),
                last("unboxed_bend", adversarial),
                last("train_bend_position", adversarial),
            ),
            "norm at the largest loss: log at ε₀, and slopes": Hypothesis(
                "level",
                log_at(other, clean) - log_at(other, adversarial),
                steepening(other, adversarial),
            ),
            **beyond,
        }
    )  # fmt: skip


def loss_checks(adversarial, clean):
    """Return the check of the same sentence for ΔL."""
    name = "train_loss_change"
    return CountedAs(
        "level",
        Parts(
            {
                "flat inside: below clean training at ε₀": sound(
                    adversarial,
                    Ordering(value_at(name, clean), than=value_at(name, adversarial)),
                ),
                "sharp outside: ratio above clean training": sound(
                    adversarial,
                    Ordering(steepening(name, adversarial), than=steepening(name, clean)),
                ),
                "rise at 1.5 ε₀": Hypothesis(
                    "level", value_at(name, adversarial, 1.5), value_at(name, clean, 1.5)
                ),
                "bend of ΔL at ε₀": Hypothesis(
                    "level",
                    last("train_change_bend", adversarial),
                    last("train_change_bend", clean),
                ),
            }
        ),
    )


def trend(selection, split, rises):
    """Return the check that mean log G within ε₀ rises (or falls) from the middle epoch on; its
    change from the first epoch is only reported."""
    middle, end = (sharpness(selection, split, moment) for moment in ("middle", "last"))
    judged = Ordering(end, than=middle) if rises else Ordering(middle, than=end)
    word = "rises" if rises else "falls"
    changes = [
        sharpness(selection, split, "last", (radius,))
        - sharpness(selection, split, "middle", (radius,))
        for radius in (1.0, 0.5)
    ]
    late = {"the same at ε₀, and at ½ε₀": Hypothesis("ordering", *changes)}
    apart = late if split == "test" else {}
    others = [end - sharpness(selection, split, share) for share in ("quarter", "three-quarter")]
    return Parts(
        {
            f"{word} from the middle epoch to the last": sound(selection, judged),
            "change from the first epoch to the last": Hypothesis(
                "ordering", end - sharpness(selection, split, "first")
            ),
            "change from a quarter, and from three quarters of training": Hypothesis(
                "ordering", *others
            ),
            **apart,
        }
    )


def fall_at_test_points(selection):
    """Return the check that mean log G around test points falls, and report its fall beside that
    around training points."""
    falls = [
        sharpness(selection, split, "middle") - sharpness(selection, split, "last")
        for split in ("test", "train")
    ]
    return Parts(
        {
            **trend(selection, "test", rises=False).checks,
            "fall around test points, and around training points": Hypothesis("ordering", *falls),
        }
    )


def growth_checks(selection):
    """Return the check that G at test points grows more than at training points, at two radii; the
    logarithm of the factor is reported."""
    parts: dict[str, Check] = {}
    for radius in (1.0, 0.5):
        late, early = (
            sharpness(selection, "gap", moment, (radius,)) for moment in ("last", "middle")
        )
        parts[f"at {radius:g} ε₀"] = sound(selection, Ordering(late, than=early))
    parts["log of the factor, mean over ε"] = Hypothesis("ordering", ratio_of_growth(selection))
    return Parts(parts)


def gap_checks(selection, radii=()):
    """Return the check that the robust gap grows with G at test points; `radii` selects runs at
    several training radii, which are compared after training."""
    rivals = [following(selection, "accuracy", lead) for lead in ("train", "loss")]
    whole = following(selection, "accuracy", "test")
    beyond = {"between training radii": Hypothesis("ordering", across(radii))} if radii else {}
    return Parts(
        {
            "accuracy gap, rank correlation over epochs": sound(
                selection, Level(whole, ABOVE_ZERO, math.inf, kind="ordering")
            ),
            "accuracy gap, changes between epochs": sound(
                selection,
                Level(following(selection, "accuracy", differences=True),
                      ABOVE_ZERO, math.inf, kind="ordering"),
            ),
            "loss gap, the same": Hypothesis(
                "ordering",
                following(selection, "loss"),
                following(selection, "loss", differences=True),
            ),
            "with G at training points, with the robust training loss": Hypothesis(
                "ordering", *rivals
            ),
            **beyond,
        }
    )  # fmt: skip


def curve_checks(selection, stand_in=False):
    """Return the check of the learning curves of Figure 1: the printed levels, the drops from train
    to test, and robust overfitting. On a stand-in only the drops are judged."""
    clean, robust = (accuracy(f"{kind}test_error", selection) for kind in ("", "last_robust_"))
    drops = Ordering(drop("robust_", selection), than=drop("", selection))
    late = best_minus_last(selection)
    printed = InRegime(has_network(selection, preact_resnet18), at_least=1.0)
    if stand_in:
        return Parts(
            {
                "robust accuracy drops more from train to test": drops,
                "robust test accuracy at its best epoch, minus that of the last": Hypothesis(
                    "ordering", late
                ),
            }
        )
    return Parts(
        {
            "clean test accuracy above 0.80": Every(printed, Level(clean, 0.8, 1.0)),
            "robust test accuracy in [0.45, 0.55]": Every(printed, Level(robust, 0.45, 0.55)),
            "robust accuracy drops more from train to test": drops,
            "robust test accuracy ends below its best": Level(late, ABOVE_ZERO, math.inf),
        }
    )


def radius_check(selections, radii):
    """Return the check that log G rises most steeply at a place proportional to the training
    radius; an exponent needs four radii over a factor of eight."""
    span = quantity(
        "largest training radius/smallest, for four radii",
        lambda rows: np.array([max(radii) / min(radii) if len(radii) >= 4 else 0.0]),
        *positions(selections, radii).needs,
    )
    exponent = Level(positions(selections, radii), 0.9, 1.1, kind="exponent")
    return Every(InRegime(span, at_least=8 - 1e-9, kind="exponent"), exponent)
