"""Checks of App. B of CONV."""

from adversarium.plans import (
    AtMost,
    Check,
    CountedAs,
    Each,
    Every,
    Hypothesis,
    Identity,
    Level,
    Open,
    Parts,
    Reading,
    last,
    where,
)

from ...theory.orders import bounded
from .plan import ACTIVATIONS

SHARES, RADII = (1 / 16, 1 / 4, 1), (0.25, 1.0)
ROUNDING = 1e-9


def _below_one(family: str, name: str) -> Check:
    """Check that a quotient is at most 1 for random pairs and for the sharp pair."""
    return Each(
        where(family, s=name),
        lambda run: Every(
            AtMost(last("largest", run), 1 + ROUNDING),
            AtMost(last("sharp", run), 1 + 1e-6),
        ),
    )


def _sharp(family: str, least: float) -> Check:
    """Check that the sharp pair attains at least the share `least` of the bound.

    The constant can then not be much smaller.
    """
    return Each(where(family), lambda run: Level(last("sharp", run), least, always=True))


DESCENTS = ("descents", "descents in a small ball")  # families with R = 2 and R = 0.1


def _descents(name: str) -> Check:
    """Check that a left minus right side is at most 0 in all descents, up to rounding."""
    return Every(
        *(Each(where(family), lambda run: AtMost(last(name, run), 1e-8)) for family in DESCENTS)
    )


needed_constant = Reading("what O(α) must make up, less G²/2", lambda row: row.last("printed, best")
                 - row.last("G²/2"), ("printed, best", "G²/2"))  # fmt: skip
excess = Reading("use − (1 + ρ)²", lambda row: row.last("use") - row.last("allowed"),
                ("use", "allowed"))  # fmt: skip


def _bounded_gradients(sphere: int) -> dict[str, Check]:
    """Check that the largest gradient in B(R) does not grow with m, at one x and over all x."""
    return {
        f"O(1): d = {share:g} m, R = {r:g} √m": Every(
            *(bounded(number, "m", where("sizes", sphere=sphere, r=r, **{"d/m": share}), 0.03)
              for number in ("one x", "all x"))
        )
        for share in SHARES
        for r in RADII
    }  # fmt: skip


checks: dict[str, Check] = {
    "conv.fn6": Parts(
        {
            name: Each(where("start", s=name), lambda run: Identity(last("f", run), 1e-13))
            for name in ACTIVATIONS
        }
    ),
    "conv.eqB.grad": Parts(
        {
            name: Each(
                where("gradient", s=name),
                lambda run: Every(
                    Identity(last("autograd", run), 1e-8), Identity(last("difference", run), 1e-6)
                ),
            )
            for name in ACTIVATIONS
        }
    ),
    "conv.eqB.lip": CountedAs(
        "inequality",
        Parts(
            {
                **{f"{name}": _below_one("Lipschitz", name) for name in ACTIVATIONS},
                "C2 is attained to 1 %": _sharp("Lipschitz", 0.99),
            }
        ),
    ),
    "conv.eq14": CountedAs(
        "inequality",
        Parts(
            {
                f"m = {m}: the constant needed is bounded as W' → W": bounded(
                    "constant", "1/t", where("reversed", m=m), 0.03
                )
                for m in (16, 64, 256)
            }
        ),
    ),
    "conv.eq14.corrected": CountedAs(
        "inequality",
        Parts(
            {
                **{f"{name}": _below_one("curvature", name) for name in ACTIVATIONS},
                "Lip·C2/2 is attained to 5 %": _sharp("curvature", 0.95),
            }
        ),
    ),
    "conv.eq15": CountedAs(
        "inequality",
        Parts(
            {
                "first inequality": Every(
                    Each(where("sizes", sphere=0),
                         lambda run: AtMost(last("quotient", run), 1 + ROUNDING)),
                    Each(where("sizes, softplus"),
                         lambda run: AtMost(last("quotient", run), 1 + ROUNDING)),
                ),
                **_bounded_gradients(0),
            }
        ),
    ),
    "conv.eq15.sphere": CountedAs(
        "inequality",
        Parts(
            {
                "first inequality": Each(
                    where("sizes", sphere=1),
                    lambda run: AtMost(last("quotient", run), 1 + ROUNDING),
                ),
                **_bounded_gradients(1),
            }
        ),
    ),
    "conv.eq17": CountedAs(
        "inequality",
        Parts(
            {
                "against W_*, f kept at a level: the excess over α does not grow in 1/α": (
                    bounded("printed", "1/α", where("level kept"), 0.05)
                ),
                "against the best W found, what O(α) must make up, less G²/2, reported": Hypothesis(
                    "inequality",
                    *(needed_constant.on(where(family, A="exact", m=1024, α=0.1))
                      for family in DESCENTS),
                ),
                "as printed, on the side of ascent: excess divided by α, reported": Hypothesis(
                    "inequality",
                    *(last("printed, ascent", where("descents", A="exact", m=1024, α=alpha))
                      for alpha in (0.5, 0.1, 0.02)),
                ),
            }
        ),
    ),
    "conv.eq17.corrected": CountedAs(
        "inequality",
        Parts(
            {
                **{
                    f"against {label}": _descents(name)
                    for name, label in (
                        ("best", "the best W found in B(R)"),
                        ("ascent", "a W on the side of ascent"),
                        ("random", "a random W"),
                    )
                },
                "against W_*, an attack that keeps f at a level": Each(
                    where("level kept"), lambda run: AtMost(last("half", run), 1e-8)
                ),
                "eq. (16) at every step of the same descents": Every(
                    *(_descents(f"(16), {name}") for name in ("best", "ascent", "random"))
                ),
                "the step with the least room, against the best W found, reported": Hypothesis(
                    "inequality",
                    *(last(name, where("descents", A="exact", m=1024, α=0.1))
                      for name in ("best", "t of best", "(16), best")),
                ),
            }
        ),
    ),
    "conv.sec2.cert": CountedAs(
        "inequality",
        Parts(
            {
                "with c(1 + ρ)²": Each(
                    where("certified"), lambda run: AtMost(excess.on(run), 1e-6)
                ),
                "the deep network of §4, and Lipschitz bounds": Open(
                    "inequality",
                    "these runs have two layers and interval bounds; the same ascent through the "
                    "interval bounds of H = 2 and 4 layers would take minutes of one core",
                ),
                "how much of the plain c a step can use, reported": Hypothesis(
                    "inequality",
                    *(last("use", where("certified", ρ=rho, m=256)) for rho in (0.1, 0.5, 1.0)),
                ),
            }
        ),
    ),
    "conv.fn10": CountedAs(
        "existence", Each(where("balls"), lambda run: AtMost(last("Frobenius", run), 1.0))
    ),
    "conv.fn10.corrected": Hypothesis(
        "inequality", *(last("largest", where("balls", m=m)) for m in (16, 64))
    ),
}  # fmt: skip
