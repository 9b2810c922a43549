"""Write docs/calibration.md: the biases of fitted estimators next to the claim's tolerance."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tests.calibration import sizes
from tests.calibration.cases import Case
from tests.calibration.laws import LAWS

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"
ENOUGH = 3.0  # a tolerance of this many times the bias is well above it
AMPLE = 5.0  # estimators with a larger quotient share one row per paper and tolerance

_HEAD = """\
# Calibration

The fitted powers, level sets, windows in t and crossing times that claims are judged by were applied to data that follow an exact law, with the same sizes, record times, window and number of seeds; this page compares the bias that they return with the tolerance of the claim, the distance from the law to the nearest end of the accepted range. `python -m tests.calibration --page docs/calibration.md` writes the page, and a test recomputes a part of it.

Along sizes, a power law without noise is returned exactly; the rows below put the measured values of the seeds, divided by their median at each size, on top of it. ± is the half-width of the 99 % interval over seeds. Other laws are recursions or closed forms that have the finite-size terms of the claim. A row names all claims with the same estimator on the same grid and shows the one with the smallest quotient of tolerance and bias.

Not calibrated: least-squares powers that are fitted inside a trial (`cgro.thmE.1.corrected`, `cgro.thmF.1.I`, the power of N in `cgro.thmF.1.II`, `cgro.propE.2`, `rnrf.lemD.3.init`, `conv.lemC.3.corrected`, the power of N' in `cgrm.assump6.1.at-u`), the powers of t in `boat.lem4.4.loss_ratio.published` and `boat.fig6.to_zero`, the comparison of two lengths in `boat.thm3.1.clean_error`, and the effects and crossings of `boat.fig1.refined`, `boat.fig1.balanced`, `boat.fig3` and `boat.fig5`.
"""  # noqa: E501

_COLUMNS = """\
| claims | what is fitted | law put in | sizes or window | bias | tolerance | tolerance/bias |
|---|---|---|---|---:|---:|---:|"""


def all_cases() -> list[Case]:
    """Return the calibration of every estimator; it takes about a minute."""
    found = list(sizes.cases())
    for law in LAWS:
        found += laws_of(law)
    return found


def laws_of(law: object) -> list[Case]:
    """Return the cases of one law."""
    made = law()  # type: ignore[operator]
    return [made] if isinstance(made, Case) else list(made)


def status(case: Case) -> str:
    """Return whether the tolerance is well above the bias: `biased`, `noise` if the bias does not
    differ significantly from 0, or `ok`."""
    if case.ratio >= ENOUGH:
        return "ok"
    certain = math.isnan(case.bias) or not case.tolerance or abs(case.bias) > case.half
    return "biased" if certain else "noise"


def grouped(cases: Iterable[Case]) -> list[Case]:
    """Join the cases with the same estimator on the same grid into one row."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        paper = case.claims[0].split(".")[0]
        places = (case.fitted, case.law, case.sizes)
        if case.ratio >= AMPLE and "‖μ‖ in d" not in case.fitted:
            places = ("", "", "")
        key = (status(case), paper, *places, f"{case.tolerance:.6g}")
        groups.setdefault(key, []).append(case)
    rows = []
    for (_, _, fitted, *_), group in groups.items():
        worst = min(group, key=lambda case: case.ratio)
        names = tuple(dict.fromkeys(claim for case in group for claim in case.claims))
        if not fitted and len({case.fitted for case in group}) > 1:
            known = (case.fitted.removeprefix("power of ") for case in group)
            letters = dict.fromkeys(one.removeprefix("power in ").split(" in ")[0] for one in known)
            worst = replace(worst, fitted=f"powers of {', '.join(letters)}", law="several",
                            sizes="several grids", note="")  # fmt: skip
        rows.append(replace(worst, claims=names))
    return sorted(rows, key=lambda case: case.ratio)


def line(case: Case) -> str:
    """Return a row of the table."""
    claims = ", ".join(f"`{claim}`" for claim in case.claims)
    law = f"{case.law} ({case.note})" if case.note else case.law
    cells = (claims, case.fitted, law, case.sizes, _bias(case), f"{case.tolerance:.3g}",
             _ratio(case))  # fmt: skip
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _bias(case: Case) -> str:
    if math.isnan(case.bias):
        return "no number"
    size = "0" if abs(case.bias) < 5e-4 else f"{case.bias:+.3f}".replace("-", "−")
    return f"{size} ± {case.half:.3f}" if case.half >= 5e-4 else size


def _ratio(case: Case) -> str:
    return "> 100" if case.ratio > 100 else f"{case.ratio:.1f}"


def page(cases: Iterable[Case]) -> str:
    """Return the text of the page."""
    rows = grouped(cases)
    parts = [_HEAD]
    for name, title, text in (
        ("biased", "Tolerances that are not well above the bias",
         "The tolerance is less than three times the bias. A tolerance of 0 belongs to a range that"
         " ends at the claimed power, so that exact data cannot be accepted with noise."),
        ("noise", "Biases within their noise",
         "The tolerance is less than three times the bias, but with this many seeds the bias does"
         " not differ significantly from 0."),
        ("ok", "All other estimators",
         "The tolerance is at least three times the bias. Estimators with a quotient of at"
         f" least {AMPLE:g} share a row per paper and tolerance; it shows the smallest quotient."),
    ):  # fmt: skip
        found = [line(row) for row in rows if status(row) == name]
        parts += [f"## {title}\n", f"{text}\n", _COLUMNS, *found, ""]
    return "\n".join(parts)


def lines_of(text: str) -> list[str]:
    """Return the rows of the tables of a page."""
    return re.findall(r"^\| `.*\|$", text, re.MULTILINE)
