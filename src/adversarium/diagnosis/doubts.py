"""Reasons to distrust a robust accuracy, each measured on the attacked network."""

import math
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from adversarium.attacks import APGD, Ball
from adversarium.attacks.gradient import NoGradient, climb, flat
from adversarium.diagnosis.attacked import Doubt, MemberRow
from adversarium.diagnosis.subject import NetworkError, Subject
from adversarium.rng import stream

SAMPLE = 128  # points at which a doubt is measured
Measured = Callable[["Hunted"], Doubt | None]
WITHOUT_GRADIENTS = ("RandomSearch", "SmoothedAscent", "BoundaryWalk")


@runtime_checkable
class Hunted(Protocol):
    """An attacked network: the points, the ball, what is broken, and what each attack did."""

    known: Subject
    ball: Ball
    seed: int
    correct: Tensor
    broken: Tensor
    margin: Tensor
    x_adv: Tensor
    random: bool
    rows: dict[str, MemberRow]


def misled(hunt: Hunted) -> bool:
    """Return whether anything shows that gradient attacks are misled on this network: vanished
    gradients, false slopes, a gradient that cannot be computed, or an attack without gradients that
    broke points after them."""
    found = any(row.broken for name, row in hunt.rows.items() if name.startswith(WITHOUT_GRADIENTS))
    return found or any(_measured(one, hunt) is not None for one in (vanished, false_slopes))


def doubts_of(hunt: Hunted) -> tuple[Doubt, ...]:
    """Return every doubt that its measurement raises."""
    every = [no_answer, batches, without_gradients, attacks_raised]
    if not hunt.random:
        every += [vanished, false_slopes, more_steps, beyond_reach]
    found = [_measured(one, hunt) for one in every]
    return tuple({doubt.name: doubt for doubt in found if doubt is not None}.values())


def _measured(measure: Measured, hunt: Hunted) -> Doubt | None:
    try:
        return measure(hunt)
    except NetworkError:
        raise
    except Exception as fault:  # of the network's backward pass
        said = " ".join(str(fault).split())[:120]
        return Doubt("gradient raised", 1.0, "the gradient of the network cannot be computed "
                     f"({type(fault).__name__}: {said}).")  # fmt: skip


def attacks_raised(hunt: Hunted) -> Doubt | None:
    """Attacks did not run because something raised an exception."""
    lost = [row for row in hunt.rows.values() if row.skipped.startswith("raised")]
    if not lost:
        return None
    return Doubt("attacks raised", len(lost), f"{len(lost)} of {len(hunt.rows)} attacks did not "
                 f"run ({lost[0].name} {lost[0].skipped}).")  # fmt: skip


def _sample(hunt: Hunted, which: Tensor) -> Tensor:
    """Return at most `SAMPLE` indices of points, drawn without replacement."""
    index = which.nonzero().squeeze(-1)
    if len(index) <= SAMPLE:
        return index
    order = torch.randperm(len(index), generator=stream(hunt.seed, "doubts"))
    return index[order[:SAMPLE].to(index.device)].sort().values


def no_answer(hunt: Hunted) -> Doubt | None:
    """The network answers NaN: such points count as misclassified."""
    known = hunt.known
    count = int(known.margins(hunt.x_adv, known.y).isnan().sum())
    if not count:
        return None
    share = count / len(known.x)
    return Doubt("no answer", share, f"the network returned NaN at {count} of {len(known.x)} "
                 "points, which count as misclassified.")  # fmt: skip


def batches(hunt: Hunted) -> Doubt | None:
    """The prediction for a point depends on the other points of its batch."""
    known = hunt.known
    if hunt.random or len(known.x) < 2:
        return None
    x, y = known.x[:16], known.y[:16]
    together = known.margins(x, y)
    alone = torch.cat([known.margins(x[i : i + 1], y[i : i + 1]) for i in range(len(x))])
    scale = float(together.abs().nan_to_num(0.0).max())
    gap = float((together - alone).abs().nan_to_num(0.0).max())
    if gap <= 1e-3 * max(scale, 1e-30):
        return None
    return Doubt("batch", gap / scale, "the output for a point depends on the other points of its "
                 f"batch (by up to {gap / scale:.1%}), so an attack on one point also moves "
                 "others.")  # fmt: skip


def vanished(hunt: Hunted) -> Doubt | None:
    """At points that no attack broke, the gradient of the loss is 0."""
    known, index = hunt.known, _sample(hunt, ~hunt.broken)
    if not len(index) or not hunt.ball.radius:
        return None
    x, y = known.x[index], known.y[index]
    try:
        parts = [
            flat(known.lead(b), a, hunt.ball.p, hunt.ball.radius) for a, b in known.parts(x, y)
        ]
    except NoGradient:
        return Doubt("vanished gradients", 1.0, "the network has no gradient in its inputs, so "
                     "only attacks without gradients ran.")  # fmt: skip
    share = float(torch.cat(parts).double().mean())
    if share <= 0.01:
        return None
    return Doubt("vanished gradients", share, f"at {share:.0%} of the unbroken points the gradient "
                 "is 0, so gradient attacks say nothing there.")  # fmt: skip


def false_slopes(hunt: Hunted) -> Doubt | None:
    """The gradient disagrees with differences of the loss over small steps along it."""
    known, ball = hunt.known, hunt.ball
    index = _sample(hunt, hunt.correct)
    if not len(index) or not ball.radius:
        return None
    x, y = known.x[index], known.y[index]

    def loss(z: Tensor) -> Tensor:
        return torch.cat([known.lead(b)(a) for a, b in known.parts(z, y)])

    try:
        values, g = climb(loss, x)
    except NoGradient:
        return None
    wrong = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    judged = torch.zeros_like(wrong)
    for share in (1 / 8, 1 / 64):
        small = Ball(ball.p, share * ball.radius)
        ends = small.steepest(x, g, 1), small.steepest(x, -g, 1)
        with torch.no_grad():
            rise = (loss(ends[0]) - loss(ends[1])).double()
        predicted = ((ends[0] - ends[1]) * g).flatten(1).sum(-1).double()
        floor = 64 * torch.finfo(x.dtype).eps * values.abs().double()
        visible = torch.maximum(rise.abs(), predicted.abs()) > floor
        apart = (rise - predicted).abs() > 0.5 * torch.maximum(rise.abs(), predicted.abs())
        wrong = apart & visible if share == 1 / 8 else wrong & apart & visible
        judged = visible if share == 1 / 8 else judged & visible
    count = int(judged.sum())
    share_wrong = float(wrong.sum()) / count if count else 0.0
    if count < 4 or share_wrong <= 0.2:
        return None
    return Doubt("false slopes", share_wrong, f"at {share_wrong:.0%} of the points the gradient "
                 "disagrees with measured differences of the loss by more than half, so ascents "
                 "follow a wrong direction.")  # fmt: skip


def without_gradients(hunt: Hunted) -> Doubt | None:
    """Attacks without gradients broke points that gradient attacks had not."""
    won = sum(row.broken for name, row in hunt.rows.items() if name.startswith(WITHOUT_GRADIENTS))
    share = won / max(1, len(hunt.correct))
    if share <= 0.05:
        return None
    return Doubt("gradients are worse", share, f"attacks that use only outputs broke {share:.1%} "
                 "of the points after all gradient attacks had failed there, so the gradients "
                 "mislead.")  # fmt: skip


def more_steps(hunt: Hunted) -> Doubt | None:
    """A longer ascent breaks further points."""
    known, index = hunt.known, _sample(hunt, ~hunt.broken)
    if not len(index) or not hunt.ball.radius:
        return None
    x, y = known.x[index], known.y[index]
    ball = hunt.ball
    longer = APGD(p=ball.p, radius=ball.radius, steps=200, restarts=1, box=ball.box)
    try:
        lost = _lost(known, longer, x, y, hunt.seed)
    except NoGradient:
        return None
    share = float(lost.double().mean()) * float((~hunt.broken).double().mean())
    if share <= 0.005:
        return None
    return Doubt("more steps help", share, "an ascent of 200 steps broke points that the suite had "
                 f"not: about {share:.1%} of all points.")  # fmt: skip


def beyond_reach(hunt: Hunted) -> Doubt | None:
    """An attack fails in balls that contain a point which the network assigns to another class."""
    known, ball = hunt.known, hunt.ball
    index = _sample(hunt, hunt.correct)
    if len(index) < 8:
        return None
    x, y = known.x[index], known.y[index]
    apart = torch.cdist(x.flatten(1), x.flatten(1), p=ball.p)
    other = (y[:, None] != y[None, :]) & (apart > 0)
    nearest = torch.where(other, apart, math.inf).amin(1)
    reached = nearest.isfinite()
    if int(reached.sum()) < 8:
        return None
    radius = float(nearest[reached].max())
    far = APGD(p=ball.p, radius=radius, steps=40, restarts=1, box=ball.box)
    try:
        lost = _lost(known, far, x, y, hunt.seed)
    except NoGradient:
        return None
    stands = float((~lost)[reached].double().mean())
    if stands <= 0.1:
        return None
    return Doubt("gradients do not lead far", stands, f"at radius {radius:.3g}, within which every "
                 f"point has points of another class, gradient ascent fails at {stands:.0%} of the "
                 "points, so a failure of gradient ascent is no evidence here.")  # fmt: skip


def _lost(known: Subject, attack: APGD, x: Tensor, y: Tensor, seed: int) -> Tensor:
    """Return which points an ascent breaks."""
    rng, made = stream(seed, "doubts"), []
    for a, b in known.parts(x, y):
        start = attack.ball.sample(a, 1, rng)
        made.append(attack.ascent(known.lead(b), a, start).x)
    return ~(known.margins(torch.cat(made), y) > 0)
