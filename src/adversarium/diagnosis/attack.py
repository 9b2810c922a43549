"""`attack`: the most trustworthy robust accuracy of a user's network, in one call."""

import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from adversarium.attacks import (
    APGD,
    Ball,
    BoundaryWalk,
    RandomSearch,
    SmoothedAscent,
    UnitSteps,
    strong_attacks,
)
from adversarium.attacks.gradient import NoGradient
from adversarium.diagnosis import chance
from adversarium.diagnosis.attacked import Attacked, Doubt, MemberRow
from adversarium.diagnosis.doubts import doubts_of, misled
from adversarium.diagnosis.structure import Structure, structure
from adversarium.diagnosis.subject import (
    Box,
    Net,
    NetworkError,
    Subject,
    checked_ball,
    checked_box,
    measuring_mode,
    subject,
)
from adversarium.networks.crown import proven_margins
from adversarium.networks.graph import NoGraph
from adversarium.rng import measuring, stream, torch_seeded
from adversarium.sockets import Aimed, Attack, Guide
from adversarium.training.objectives import Risk, leads, loss_map

Effort = Literal["quick", "standard", "strong"]


@dataclass(frozen=True, eq=False)
class _Some:
    """Some points with their labels, as an attack receives them."""

    x: Tensor
    y: Tensor


def suite(
    effort: Effort, p: float, radius: float, k: int, box: Box | None, random: bool = False
) -> tuple[Attack, ...]:
    """Return the attacks of an effort, cheap ones first; for a random network, ascents that average
    calls."""
    ball: dict[str, Any] = dict(p=p, radius=radius, box=box)
    search = RandomSearch(**ball, queries=200)
    if random:
        steps = {"quick": 20, "standard": 50, "strong": 100}[effort]
        restarts = {"quick": 1, "standard": 2, "strong": 4}[effort]
        entropy = APGD(**ball, steps=steps, restarts=1, loss="cross_entropy")
        return (APGD(**ball, steps=steps, restarts=restarts), entropy, search)
    if effort == "quick":
        return (
            APGD(**ball, steps=20, restarts=1),
            APGD(**ball, steps=20, restarts=1, loss="cross_entropy"),
            search,
        )
    return strong_attacks(p, radius, k, box, steps=100 if effort == "strong" else 50)


def gradient_free(
    effort: Effort, p: float, radius: float, box: Box | None, doubtful: bool
) -> tuple[Attack, ...]:
    """Return attacks that use no gradient: long ones if the gradients are doubtful or much effort
    is asked for, else short ones, which show whether gradients hide anything."""
    ball: dict[str, Any] = dict(p=p, radius=radius, box=box)
    if effort == "strong":
        return (SmoothedAscent(**ball, steps=120, restarts=2), BoundaryWalk(**ball, steps=48))
    if doubtful:
        return (SmoothedAscent(**ball), BoundaryWalk(**ball))
    return (SmoothedAscent(**ball, steps=10, queries=24), BoundaryWalk(**ball, steps=4))


def name_of(attack: Attack) -> str:
    """Return the name of an attack in the table: its class, and its loss if it is not the
    default."""
    name = getattr(attack, "__name__", type(attack).__name__)
    aim = str(getattr(attack, "loss", "logit_difference"))
    repeats = f" × {restarts}" if (restarts := getattr(attack, "restarts", 1)) > 1 else ""
    return f"{name}{repeats}" + ("" if aim == "logit_difference" else f", {aim.replace('_', ' ')}")


@dataclass
class _Hunt:
    """The state of an attack: the worst point found so far for every example."""

    known: Subject
    ball: Ball
    seed: int
    say: Callable[[str], None]
    found: Structure = field(default_factory=Structure)
    proven: Tensor | None = None
    unproven: str = ""  # why there is no certificate
    varies: float = 0.0  # by how much equal calls differ

    def __post_init__(self) -> None:
        known = self.known
        self.x_adv, self.random = known.x.clone(), known.draws > 1
        self.margin = known.margins(known.x, known.y)
        self.share: Tensor | None = None
        wrong = ~(self.margin > 0)
        if self.random:
            wrong, self.share = chance.lasting(known, known.x, known.y)
        self.correct, self.broken = ~wrong, wrong.clone()
        self.by = ["without an attack" if w else "" for w in wrong.tolist()]
        self.rows: dict[str, MemberRow] = {}

    def run(self, attack: Attack, name: str) -> None:
        """Run one attack on the points that are still correct."""
        alive = (~self.broken).nonzero().squeeze(-1)
        before, began, skipped = int(self.broken.sum()), time.perf_counter(), ""
        old, complete = self.rows.get(name), False
        try:
            for part in torch.split(alive, self.known.at_once):
                self._offer(part, self._points(attack, part), name)
            complete = True
        except NoGradient:
            skipped, complete = "needs a gradient in x, which the network does not have", True
        except NetworkError:
            raise
        except Exception as fault:  # of the network's backward pass, or of the user's attack
            said = " ".join(str(fault).split())
            skipped, complete = f"raised {type(fault).__name__}: {said[:120]}", True
        finally:
            spent = time.perf_counter() - began + (old.seconds if old else 0.0)
            won = int(self.broken.sum()) - before + (old.broken if old else 0)
            tried = max(len(alive), old.tried if old else 0)
            self.rows[name] = MemberRow(name, tried, won, spent, skipped, complete)
        self.say(f"{name}: broke {won} of {tried} points, {spent:.1f} s")

    def _points(self, attack: Attack, part: Tensor) -> Tensor:
        """Return the points that one attack finds for some examples, inside the ball."""
        known = self.known
        x, y = known.x[part], known.y[part]
        wanted = attack.loss if isinstance(attack, Aimed) else "logit_difference"
        patchwise = self.found.patchwise
        values = loss_map(wanted, known.f, x, y, Risk())
        (rng,) = measuring((self.seed,), int(part[0]), attack)
        if isinstance(attack, UnitSteps):  # units are directions in the flattened input
            loss = Guide(lambda z: values(z.view(-1, *x.shape[1:])), self.found.directions)
            made = attack(loss, _Some(x.flatten(1), y), 0, rng).view(x.shape)
        else:
            rivals = None if patchwise is None else (lambda z: leads(patchwise(z), y))
            loss = Guide(values, self.found.directions, rivals)
            made = attack(loss, _Some(x, y), 0, rng)
        if not isinstance(made, Tensor) or made.shape != x.shape:
            came = tuple(made.shape) if isinstance(made, Tensor) else type(made).__name__
            raise ValueError(
                f"{name_of(attack)} must return points of shape {tuple(x.shape)}, got {came}."
            )
        made = torch.where(made.isfinite(), made.detach().to(x), x)
        return self.ball.enclosed(x, made, 1)

    def _offer(self, part: Tensor, z: Tensor, name: str) -> None:
        """Keep the points that are worse than those found before."""
        known, y = self.known, self.known.y[part]
        margins = known.margins(z, y)
        worse = (margins < self.margin[part]) | margins.isnan()
        wrong = ~(margins > 0)
        if self.random:
            wrong, share = chance.lasting(known, z, y)
            assert self.share is not None
            worse = share > self.share[part]
            self.share[part] = torch.where(worse, share, self.share[part])
        worse = worse | wrong
        keep = worse.view(-1, *[1] * (z.ndim - 1))
        self.x_adv[part] = torch.where(keep, z, self.x_adv[part])
        self.margin[part] = torch.where(worse, margins, self.margin[part])
        self.broken[part] |= wrong
        for i in part[wrong].tolist():
            self.by[i] = self.by[i] or name

    def prove(self, steps: int) -> None:
        """Prove robustness where no attack succeeded, if the network has a certificate; with
        `steps` of α-CROWN where CROWN proves nothing."""
        known, ball = self.known, self.ball
        net, alive = known.net, (~self.broken).nonzero().squeeze(-1)
        if not isinstance(net, nn.Module) or self.varies or known.copies:
            self.unproven = "only a module whose equal calls agree exactly has one"
            return
        classes = None if known.classes is None else known.classes.tolist()
        x, y, began = known.x[alive], known.y[alive], time.perf_counter()
        words = (known.k, ball.p, ball.radius, ball.box)
        try:
            low = proven_margins(net, x, y, *words, classes=classes)
            rest = low <= 0
            if steps and bool(rest.any()):
                low[rest] = proven_margins(net, x[rest.to(x.device)], y[rest.to(x.device)], *words,
                                           steps=steps, classes=classes)  # fmt: skip
        except (NoGraph, RuntimeError) as fault:
            self.unproven = " ".join(str(fault).split())
            return
        self.proven = torch.zeros_like(self.broken)
        self.proven[alive] = (low > 0).to(alive.device)
        spent = time.perf_counter() - began
        self.say(f"certificate: {int(self.proven.sum())} of {len(alive)} proven, {spent:.1f} s")

    def result(self, key: str, began: float, finished: bool, doubts: tuple[Doubt, ...]) -> Attacked:
        """Return what was found so far."""
        known = self.known
        return Attacked(
            p=self.ball.p, radius=self.ball.radius, box=self.ball.box, x=known.x,
            x_adv=self.x_adv.clone(), y=known.y, correct=self.correct, broken=self.broken.clone(),
            margin=self.margin.clone(), by=tuple(self.by), members=tuple(self.rows.values()),
            key=key, doubts=doubts, notes=known.notes, finished=finished, proven=self.proven,
            unproven=self.unproven,
            seconds=time.perf_counter() - began, wrong_share=self.share,
        )  # fmt: skip

    def restore(self, earlier: Attacked) -> None:
        """Continue from an earlier result: from its points, after checking them again."""
        z = self.ball.enclosed(self.known.x, earlier.x_adv.to(self.known.x), 1)
        self._offer(torch.arange(len(z), device=z.device), z, "an earlier call")
        self.by = [old or new for old, new in zip(earlier.by, self.by, strict=True)]
        self.rows = {row.name: row for row in earlier.members}


def attack(
    net: Net,
    x: Any,
    y: Any,
    *,
    p: float | str,
    radius: float,
    box: Box | None = None,
    classes: Sequence[int] | None = None,
    effort: Effort = "standard",
    seed: int = 0,
    device: str | None = None,
    more: Sequence[Attack] = (),
    resume: Attacked | None = None,
    anew: bool = False,
    quiet: bool = False,
    after: Callable[[Attacked], None] | None = None,
) -> Attacked:
    """Attack a trained network with every attack of the suite, and doubt the result.

    `net` maps a batch of inputs to logits (n, k), or to one number per input; `y` are the labels:
    0 … k−1; for one number ±1, or 0 and 1. `radius` is the size of the l_p ball about every input,
    `box` the range of valid inputs (images: (0, 1)), `classes` the outputs that compete (default:
    all), `more` further attacks. Ctrl-C ends the call with what was found; pass that result as
    `resume` to continue; if it belongs to another call, it is refused, or ignored with `anew`.
    `after` is called with the result so far after every attack.

    >>> import adversarium as av
    >>> net = torch.nn.Linear(2, 2)
    >>> _ = net.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
    >>> x = torch.tensor([[1.0, 0.0], [0.3, 0.0]])
    >>> found = av.attack(net, x, [0, 0], p="inf", radius=0.25, quiet=True)
    >>> found.broken.tolist(), found.by
    ([False, True], ('', 'APGD'))
    """
    if effort not in get_args(Effort):
        raise ValueError(f"effort must be one of {', '.join(get_args(Effort))}, got {effort!r}.")
    order, size = checked_ball(p, radius)
    ball = Ball(order, size, checked_box(box))
    began = time.perf_counter()

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    with measuring_mode(net), torch_seeded(stream(seed, "attack")):
        known = subject(net, x, y, ball.box, classes, device)
        ball.check(known.x)
        varies = chance.noise(known)
        if varies > 1e-3:
            known = replace(known, draws=chance.DRAWS, notes=(*known.notes, (
                f"the network is random: a point counts as broken if two sets of {chance.VERDICT} "
                "fresh calls both have a wrong majority, and two thirds of all calls are wrong"
            )))  # fmt: skip
        elif varies > 0:
            known = replace(known, notes=(*known.notes, (
                f"equal calls differ by up to {varies:.1e} of a point's margin"
            )))  # fmt: skip
        key = _key(known, ball, effort, seed)
        hunt = _Hunt(known, ball, seed, say, structure(known), varies=varies)
        if resume is not None and resume.key == key:
            hunt.restore(resume)
        elif resume is not None and not anew:
            raise ValueError(
                "resume needs the result of a call with the same network outputs, points, ball, "
                "effort and seed, got another one."
            )
        doubts: tuple[Doubt, ...] = ()

        def run(name: str, member: Attack) -> None:
            row = hunt.rows.get(name)
            if not (row and row.complete) and not bool(hunt.broken.all()):
                hunt.run(member, name)
                if after is not None:
                    after(hunt.result(key, began, False, ()))

        finished = False
        try:
            members = suite(effort, order, size, known.k, ball.box, known.draws > 1)
            for name, member in _named((*members, *more)).items():
                run(name, member)
            if effort != "quick" and known.draws == 1:
                doubtful = misled(hunt)
                for name, member in _named(
                    gradient_free(effort, order, size, ball.box, doubtful)
                ).items():
                    run(name, member)
                if not doubtful and effort == "standard" and misled(hunt):  # the short ones helped
                    for name, member in _named(
                        gradient_free("standard", order, size, ball.box, True)
                    ).items():
                        run(f"{name}, long", member)
            hunt.prove(steps=0 if effort == "quick" else 20)
            doubts = doubts_of(hunt)
            finished = True
        except KeyboardInterrupt:
            say("stopped; pass the result as `resume` to continue")
        except NetworkError as fault:
            doubts = (Doubt("network error", 1.0, f"attacks are missing, because {fault}"),)
            hunt.unproven = "attacks are missing"
        made = hunt.result(key, began, finished, doubts)
    if after is not None:
        after(made)
    return made


def _named(members: Sequence[Attack]) -> dict[str, Attack]:
    """Return every attack by a name that no other one has."""
    made: dict[str, Attack] = {}
    for member in members:
        name, again = name_of(member), 2
        while name in made:
            name, again = f"{name_of(member)} ({again})", again + 1
        made[name] = member
    return made


def _key(known: Subject, ball: Ball, effort: str, seed: int) -> str:
    """Return a digest of what a result depends on; the network counts by its clean outputs, unless
    it is random."""
    with torch.no_grad():
        outputs = known.margins(known.x, known.y) if known.draws == 1 else known.y
    parts = (known.x, known.y, (outputs * 1e4).round().double())
    sizes = (ball.p, ball.radius, ball.box, effort, seed, known.k)
    made = hashlib.sha256(repr(sizes).encode())
    for part in parts:
        made.update(part.detach().cpu().contiguous().numpy().tobytes())
    return made.hexdigest()[:24]
