"""`diagnose`: robust accuracy and the papers' measures on a user's own network, with what may be
said about each number, and what may not."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from adversarium.diagnosis.attack import Effort, attack
from adversarium.diagnosis.attacked import Attacked
from adversarium.diagnosis.subject import Box, Net, Subject, measuring_mode, subject
from adversarium.measure.features import inverted
from adversarium.measure.landscape import Landscape, bend, loss_landscape, position
from adversarium.rng import stream, uniform

EIGHTHS = tuple(i / 8 for i in range(13))  # of the radius
FEW = 40  # points at which the search is doubled
ENOUGH = 200  # points from which training and test points are compared
Interval = tuple[float, float, float]  # estimate, and the ends of its 99 % interval


@dataclass(frozen=True)
class Statement:
    """One measure: its numbers, what the papers say, and one sentence about this network; if
    nothing may be said, `silent` tells why."""

    name: str
    numbers: Mapping[str, float | Interval]
    papers: str
    sentence: str = ""
    silent: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """What was measured on a network: the attack on test (and training) points, the loss landscape,
    and a statement about each measure. `page` writes it as one HTML file."""

    attacked: Attacked
    trained: Attacked | None
    statements: tuple[Statement, ...]
    curves: Mapping[str, Any] = field(default_factory=dict)  # radius, and G and ΔL by points

    def __repr__(self) -> str:
        return self.text()

    def text(self) -> str:
        """Return the answer, then one paragraph per measure."""
        lines = [self.attacked.text(), ""]
        for one in self.statements:
            lines.append(f"{one.name}: {numbers_text(one.numbers)}")
            said = one.sentence or f"nothing can be said: {one.silent}."
            lines += [f"  {said}", f"  papers: {one.papers}"]
        return "\n".join(lines)

    def numbers(self) -> dict[str, Any]:
        """Return everything as plain numbers and text, for JSON."""
        return {
            "test": self.attacked.numbers(),
            "train": None if self.trained is None else self.trained.numbers(),
            "measures": [vars(one) for one in self.statements],
            "curves": dict(self.curves),
        }

    def page(self, path: Any) -> None:
        """Write one HTML page without links to other files."""
        from adversarium.diagnosis.page import write

        write(self, path)


def numbers_text(numbers: Mapping[str, float | Interval]) -> str:
    """Return numbers with their intervals.

    >>> numbers_text({"gap": (0.12, 0.1, 0.14), "share": 0.5})
    'gap 0.12 [0.1, 0.14], share 0.5'
    """
    made = []
    for name, value in numbers.items():
        if isinstance(value, tuple):
            made.append(f"{name} {value[0]:.3g} [{value[1]:.3g}, {value[2]:.3g}]")
        else:
            made.append(f"{name} {value:.3g}")
    return ", ".join(made)


def diagnose(
    net: Net,
    x: Any,
    y: Any,
    *,
    radius: float,
    p: float | str = "inf",
    box: Box | None = None,
    train: tuple[Any, Any] | None = None,
    references: Mapping[str, nn.Module] | None = None,
    effort: Effort = "standard",
    points: int = 200,
    seed: int = 0,
    device: str | None = None,
    quiet: bool = False,
) -> Diagnosis:
    """Measure a trained network at test points, and at training points if they are given.

    `points` limits the points of the loss landscape. `references` are two networks of the same
    data, {"standard": …, "adversarial": …}, neither of them the network itself: then the agreement
    of features is measured.

    >>> import adversarium as av
    >>> net, x = torch.nn.Linear(4, 2), torch.rand(20, 4)
    >>> found = av.diagnose(net, x, net(x).argmax(-1), radius=0.1, effort="quick", quiet=True)
    >>> [one.name for one in found.statements][:2]
    ['robust accuracy', 'loss landscape']
    """
    if points < 1:
        raise ValueError(f"diagnose needs points >= 1, got {points}.")
    if train is not None and not (isinstance(train, tuple | list) and len(train) == 2):
        raise ValueError("train needs a pair of inputs and labels, (x, y).")
    common: dict[str, Any] = dict(p=p, radius=radius, box=box, effort=effort, seed=seed,
                                  device=device, quiet=quiet)  # fmt: skip
    attacked = attack(net, x, y, **common)
    trained = None if train is None else attack(net, *train, **common)
    statements = [_accuracy(attacked), *([] if trained is None else [_gap(attacked, trained)])]
    curves: dict[str, Any] = {}
    why = _no_landscape(attacked)
    if not why:
        with measuring_mode(net):
            found = {"test": _search(subject(net, x, y, box, device=device), radius, points, seed)}
            if train is not None:
                seen = subject(net, *train, box, device=device)
                found["train"] = _search(seen, radius, points, seed)
        curves = _curves(found, radius)
        statements += _landscape(found)
    else:
        statements.append(Statement("loss landscape", {}, _PAPERS["bend"], silent=why))
    if references is not None:
        with measuring_mode(net):
            known = subject(net, x, y, box, device=device)
            statements.append(_features(known, references, seed, points))
    return Diagnosis(attacked, trained, tuple(statements), curves)


_PAPERS = {
    "accuracy": "an attack gives an upper bound on robust accuracy, a certificate a lower one",
    "gap": "CGRM prints robust accuracies of 99.7 % on training and 45.5 % on test points of "
    "CIFAR-10 (its Table 1), a gap of 54.2 points",
    "bend": "after adversarial training, the largest gradient norm G(ε) is small within the "
    "training radius and rises steeply outside (Figure 2 of CGRO, Figure 1 of CGRM)",
    "local": "late in training, G falls around training points and rises around test points "
    "(§6 and App. E of CGRO), and the robust gap grows with it",
    "features": "a standard network is more accurate on images rebuilt from the features of a "
    "standard reference, an adversarially trained one on those of an adversarial reference "
    "(Table 1 of RNRF)",
}


def _no_landscape(attacked: Attacked) -> str:
    """Return why the loss landscape of a network cannot be searched; empty if it can."""
    if attacked.wrong_share is not None:
        return "the network is random"
    if attacked.p != math.inf:
        return "it is measured in l_inf only"
    if not attacked.radius:
        return "the radius is 0"
    lost = {"gradient raised", "attacks raised", "network error"} & {
        d.name for d in attacked.doubts
    }
    if lost or any("needs a gradient" in row.skipped for row in attacked.members):
        return "the network has no gradient in its inputs, or it cannot be computed"
    return ""


def _accuracy(attacked: Attacked) -> Statement:
    """The bracket of the robust accuracy."""
    numbers: dict[str, float | Interval] = {
        "clean": _interval(attacked.correct.double().cpu().numpy()),
        "robust, at most": _interval((~attacked.broken).double().cpu().numpy()),
    }
    low = attacked.proven_accuracy
    if low is not None:
        numbers["robust, at least"] = low
    sentence = f"Of {len(attacked.x)} points, {int((~attacked.broken).sum())} withstood all attacks"
    sentence += "." if low is None else f"; {low:.1%} of all points are proven robust."
    if low is None:
        sentence += " Nothing is proven, so the network may be less robust than this."
    if attacked.doubts:
        named = ", ".join(d.name for d in attacked.doubts)
        sentence += f" The number is doubtful ({named}); see the doubts."
    return Statement("robust accuracy", numbers, _PAPERS["accuracy"], sentence)


def _gap(test: Attacked, train: Attacked) -> Statement:
    """The robust generalisation gap."""
    on = [(~one.broken).double().cpu().numpy() for one in (train, test)]
    clean = [one.correct.double().cpu().numpy() for one in (train, test)]
    gap, plain = _difference(*on), _difference(*clean)
    numbers: dict[str, float | Interval] = {
        "robust training accuracy, at most": _interval(on[0]),
        "robust gap": gap,
        "clean gap": plain,
    }
    sentence = (
        f"Under attack, accuracy on the given training points is {100 * gap[0]:.1f} points "
        f"{'higher' if gap[0] >= 0 else 'lower'} than on test points; without, "
        f"{100 * abs(plain[0]):.1f} points {'higher' if plain[0] >= 0 else 'lower'}."
    )
    if gap[1] <= 0 <= gap[2]:
        return Statement("robust gap", numbers, _PAPERS["gap"],
                         silent="the 99 % interval of the gap contains 0")  # fmt: skip
    return Statement("robust gap", numbers, _PAPERS["gap"], sentence)


@dataclass(frozen=True, eq=False)
class _Found:
    """The landscape of some points, and by how much a doubled search raises G at the radius."""

    landscape: Landscape
    growth: float
    usable: Tensor  # points with finite values


def _search(known: Subject, radius: float, points: int, seed: int) -> _Found:
    """Search the landscape around at most `points` points, and twice as hard around a few."""
    x, y = known.x[:points], known.y[:points]
    radii = tuple(radius * share for share in EIGHTHS)
    made = []
    for part, labels in known.parts(x, y):
        made.append(loss_landscape(known.f, part, labels, radii, stream(seed, "landscape"),
                                   box=known.box))  # fmt: skip
    fields = ("gradient", "change", "at_largest_loss", "clean", "at_point")
    whole = Landscape(radii, *(torch.cat([getattr(one, name) for one in made]) for name in fields))
    few, their = x[:FEW], y[:FEW]
    means = []
    for steps, starts in ((40, 8), (80, 16)):
        one = loss_landscape(known.f, few, their, (radius / 2, radius), stream(seed, "doubled"),
                             steps=steps, starts=starts, box=known.box)  # fmt: skip
        means.append(float(one.gradient[:, -1].nanmean()))
    growth = means[1] / means[0] - 1 if means[0] > 0 else math.nan
    usable = whole.gradient.isfinite().all(-1) & whole.change.isfinite().all(-1)
    return _Found(whole, growth, usable)


def _curves(found: Mapping[str, _Found], radius: float) -> dict[str, Any]:
    """Return the mean curves with their 99 % intervals, for the page and for JSON."""
    made: dict[str, Any] = {"radius": [radius * share for share in EIGHTHS]}
    for place, one in found.items():
        for name, values in (("G", one.landscape.gradient), ("ΔL", one.landscape.change)):
            rows = values[one.usable].double().cpu().numpy()
            made[f"{name}, {place}"] = [_interval(column) for column in rows.T]
    return made


def _landscape(found: Mapping[str, _Found]) -> list[Statement]:
    """The statements about the loss landscape: the bend at the radius, and training against test
    points."""
    test = found["test"]
    missed = float(test.landscape.missed)
    logs = (test.landscape.gradient[test.usable].double() + 1e-30).log()
    if not len(logs):
        return [Statement("loss landscape", {}, _PAPERS["bend"],
                          silent="the loss is not finite at any point")]  # fmt: skip
    bends = bend(EIGHTHS, logs, 1.0).cpu().numpy()
    places = position(EIGHTHS, logs, 1.0).cpu().numpy()
    centre = _interval(bends, np.median)
    at = test.landscape.gradient[test.usable][:, 8].double().cpu().numpy()
    numbers: dict[str, float | Interval] = {
        "G at the radius": _interval(at),
        "bend Π of log G at the radius (median)": centre,
        "place of the steepest rise, in radii (median)": _interval(places, np.median),
        "growth of G by a doubled search": test.growth,
        "share of radii with ΔL > ε G": missed,
        "vanished gradients": float(test.landscape.vanished),
    }
    made = [Statement("loss landscape", numbers, _PAPERS["bend"], *_bend_said(
        centre, test.growth, missed, float(test.landscape.vanished)))]  # fmt: skip
    if "train" in found:
        made.append(_local(found["train"], test))
    return made


def _bend_said(centre: Interval, growth: float, missed: float, gone: float) -> tuple[str, str]:
    """Return a sentence about the bend, and why there is none."""
    if missed > 0:
        return "", "the maximum was not found: the loss changes by more than ε G somewhere"
    if gone > 0.01:
        return "", f"the gradient has vanished at {gone:.0%} of the points"
    if not growth < 0.02:
        return "", f"a doubled search raises G by {growth:.1%}, more than 2 %"
    if centre[1] <= 1 <= centre[2] or not math.isfinite(centre[0]):
        return "", "the 99 % interval of the bend contains 1"
    if centre[1] > 1:
        return (f"log G bends upward at the radius (Π = {centre[0]:.2f}): beyond it the gradient "
                "norm rises faster than within it."), ""  # fmt: skip
    return (f"log G bends downward at the radius (Π = {centre[0]:.2f}): beyond it the gradient "
            "norm rises more slowly than within it."), ""  # fmt: skip


def _local(train: _Found, test: _Found) -> Statement:
    """Training points against test points: the ratio of the mean G at the radius."""
    at = [one.landscape.gradient[one.usable][:, 8].double().cpu().numpy() for one in (train, test)]
    ratio = _ratio(at[1], at[0])
    numbers: dict[str, float | Interval] = {"G of test points/G of training points": ratio}
    few = min(len(one) for one in at)
    silent = ""
    if few < ENOUGH:
        silent = f"there are fewer than {ENOUGH} points of each kind ({few})"
    elif max(train.growth, test.growth) >= 0.02 or not math.isfinite(ratio[0]):
        silent = "a doubled search raises G by more than 2 %"
    elif ratio[1] <= 1:
        silent = "the 99 % interval of the ratio does not lie above 1"
    sentence = (
        f"Around training points, the largest gradient norm within the radius is {ratio[0]:.2g} "
        "times smaller than around test points."
    )
    return Statement("training against test points", numbers, _PAPERS["local"],
                     "" if silent else sentence, silent)  # fmt: skip


def _features(
    known: Subject, references: Mapping[str, nn.Module], seed: int, points: int
) -> Statement:
    """Feature learning accuracy against two references, with its controls."""
    if set(references) != {"standard", "adversarial"}:
        raise ValueError("references needs two networks, {'standard': …, 'adversarial': …}, got "
                         f"{', '.join(map(str, references)) or 'none'}.")  # fmt: skip
    if any(one is known.net for one in references.values()):
        raise ValueError("a reference must be another network than the one that is diagnosed.")
    x, y = known.x[:points], known.y[:points]
    low, high = known.box or (float(x.min()), float(x.max()))
    start = (low + (high - low) * uniform(x.shape, stream(seed, "features"))).to(x)
    right: dict[str, np.ndarray] = {}
    numbers: dict[str, float | Interval] = {}
    for name, reference in references.items():
        with measuring_mode(reference):
            G = representation(reference)
            with torch.no_grad():
                wanted = torch.cat([G(part) for part in torch.split(x, known.at_once)])
            rebuilt, residual = inverted(G, wanted, start, 1, box=(low, high))
        right[name] = (known.margins(rebuilt, y) > 0).double().cpu().numpy()
        numbers[f"accuracy on images of the {name} reference"] = _interval(right[name])
        numbers[f"their residual, {name}"] = float(residual.double().mean())
    control = (known.margins(start, y) > 0).double().cpu().numpy()
    numbers["accuracy on the starting images"] = _interval(control)
    gap = _interval(right["adversarial"] - right["standard"])  # of the same points
    numbers["difference, adversarial − standard"] = gap
    if gap[1] <= 0 <= gap[2]:
        return Statement("features", numbers, _PAPERS["features"],
                         silent="the 99 % interval of the difference contains 0")  # fmt: skip
    kind = "adversarial" if gap[0] > 0 else "standard"
    return Statement("features", numbers, _PAPERS["features"], (
        f"The network agrees more with the {kind} reference: it is {100 * abs(gap[0]):.1f} points "
        f"more accurate on images rebuilt from the features of that reference."
    ))  # fmt: skip


def representation(net: nn.Module) -> Callable[[Tensor], Tensor]:
    """Return the map from points to the input of the last linear layer."""
    linear = [layer for layer in net.modules() if isinstance(layer, nn.Linear)]
    if not linear:
        raise ValueError("a reference needs a linear last layer, but it has no linear layer.")

    def inputs(x: Tensor) -> Tensor:
        seen: list[Tensor] = []
        hook = linear[-1].register_forward_pre_hook(lambda layer, given: seen.append(given[0]))
        try:
            net(x)
        finally:
            hook.remove()
        return seen[-1].flatten(1)

    return inputs


DRAWS = 2000
Centre = Callable[..., Any]


def _resampled(values: np.ndarray, centre: Centre, seed: int = 0) -> np.ndarray:
    index = np.random.default_rng(seed).integers(len(values), size=(DRAWS, len(values)))
    made: np.ndarray = centre(values[index], axis=1)
    return made


def _interval(values: np.ndarray, centre: Centre = np.mean) -> Interval:
    """Return a centre with its 99 % bootstrap interval over points."""
    if not len(values):
        return math.nan, math.nan, math.nan
    ends = np.quantile(_resampled(values, centre), (0.005, 0.995))
    return float(centre(values)), float(ends[0]), float(ends[1])


def _difference(one: np.ndarray, other: np.ndarray) -> Interval:
    """Return a difference of means with its 99 % bootstrap interval; points are independent."""
    drawn = _resampled(one, np.mean, 1) - _resampled(other, np.mean, 2)
    ends = np.quantile(drawn, (0.005, 0.995))
    return float(one.mean() - other.mean()), float(ends[0]), float(ends[1])


def _ratio(one: np.ndarray, other: np.ndarray) -> Interval:
    """Return a ratio of means with its 99 % bootstrap interval."""
    if not len(one) or not len(other) or other.mean() <= 0:
        return math.nan, math.nan, math.nan
    drawn = _resampled(one, np.mean, 1) / np.maximum(_resampled(other, np.mean, 2), 1e-300)
    ends = np.quantile(drawn, (0.005, 0.995))
    return float(one.mean() / other.mean()), float(ends[0]), float(ends[1])
