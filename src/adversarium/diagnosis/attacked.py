"""The result of an attack on a user's network: what broke, by which attack, and what is
doubtful."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adversarium.diagnosis.subject import Box


@dataclass(frozen=True)
class Doubt:
    """A reason why a robust accuracy may be too high: its name, its number, and one sentence."""

    name: str
    number: float
    sentence: str


@dataclass(frozen=True)
class MemberRow:
    """What one attack of the suite did: points that it tried, points that it broke first, and the
    seconds that it took; `skipped` tells why it did not run, `complete` whether it ran to its
    end."""

    name: str
    tried: int
    broken: int
    seconds: float
    skipped: str = ""
    complete: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Attacked:
    """The points of a user's network under the suite; print it for a summary.

    `x_adv` are the perturbed points, `correct` tells which points were classified correctly before,
    `broken` which are misclassified at x_adv (points that were wrong before included), `by` names
    the attack that broke each point first, `proven` which points are proven robust (None: there is
    no certificate). All are in the order of the user's points.
    """

    p: float
    radius: float
    box: Box | None
    x: Tensor
    x_adv: Tensor
    y: Tensor
    correct: Tensor
    broken: Tensor
    margin: Tensor
    by: tuple[str, ...]
    members: tuple[MemberRow, ...]
    key: str
    proven: Tensor | None = None
    unproven: str = ""  # why there is no certificate
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()
    finished: bool = True
    seconds: float = 0.0
    wrong_share: Tensor | None = field(default=None)  # of a random network: share of wrong calls

    @property
    def clean_accuracy(self) -> float:
        """Return the share of points that are classified correctly without a perturbation."""
        return float(self.correct.double().mean())

    @property
    def robust_accuracy(self) -> float:
        """Return the share of points that no attack broke: an upper bound on the robust
        accuracy."""
        return float((~self.broken).double().mean())

    @property
    def proven_accuracy(self) -> float | None:
        """Return the share of points that are proven robust, a lower bound; None without proof."""
        return None if self.proven is None else float(self.proven.double().mean())

    @property
    def perturbation(self) -> Tensor:
        """Return x_adv − x."""
        return self.x_adv - self.x

    @property
    def distances(self) -> Tensor:
        """Return the norms of the perturbations, in double precision."""
        moved = (self.x_adv.double() - self.x.double()).flatten(1)
        length: Tensor = moved.norm(self.p, dim=-1)
        return length

    def __repr__(self) -> str:
        return self.text()

    def text(self) -> str:
        """Return the answer, the doubts, and the table of attacks."""
        n, norm = len(self.x), "∞" if self.p == math.inf else f"{self.p:g}"
        where = f"l_{norm}, radius {self.radius:.4g}"
        where += f", box [{self.box[0]:g}, {self.box[1]:g}]" if self.box else ", no box"
        low = self.proven_accuracy
        why = f" ({self.unproven})" if self.unproven else ""
        lower = f"no certificate{why}" if low is None else f"at least {low:.1%} (proven)"
        lines = [
            f"robust accuracy at most {self.robust_accuracy:.1%} "
            f"({n - int(self.broken.sum())} of {n} points); {lower}",
            f"clean accuracy {self.clean_accuracy:.1%}; {where}; {self.seconds:.1f} s",
        ]
        if not self.finished:
            lines.append("stopped early: attacks are missing, so this bound may be too high")
        lines += [f"doubt, {d.name} ({d.number:.3g}): {d.sentence}" for d in self.doubts]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, *table(self.members)])

    def numbers(self) -> dict[str, Any]:
        """Return everything but the points, for JSON."""
        return {
            "p": "inf" if self.p == math.inf else self.p,
            "radius": self.radius,
            "box": self.box,
            "points": len(self.x),
            "clean_accuracy": self.clean_accuracy,
            "robust_accuracy_at_most": self.robust_accuracy,
            "robust_accuracy_at_least": self.proven_accuracy,
            "largest_distance": float(self.distances.max()),
            "finished": self.finished,
            "seconds": self.seconds,
            "doubts": [vars(d) for d in self.doubts],
            "notes": list(self.notes),
            "members": [vars(m) for m in self.members],
        }

    def save(self, path: str | Path) -> None:
        """Write everything to an .npz file, which `Attacked.load` reads; a file that is there is
        replaced only when the new one is complete."""
        arrays = {n: v for n, v in vars(self).items() if isinstance(v, Tensor)}
        plain = {n: v for n, v in vars(self).items() if n not in arrays}
        rows = {
            "members": [vars(m) for m in self.members],
            "doubts": [vars(d) for d in self.doubts],
        }
        target = Path(path)
        part = target.with_name(target.name + ".part")
        with part.open("wb") as file:
            held: dict[str, Any] = {n: v.detach().cpu().numpy() for n, v in arrays.items()}
            np.savez_compressed(file, plain=np.array(json.dumps(plain | rows)), **held)
        part.replace(target)

    @classmethod
    def load(cls, path: str | Path) -> "Attacked":
        """Read what `save` wrote; nothing in the file is executed."""
        with np.load(path, allow_pickle=False) as held:
            arrays: dict[str, Any] = {
                n: torch.from_numpy(held[n]) for n in held.files if n != "plain"
            }
            plain = json.loads(str(held["plain"]))
        plain["members"] = tuple(MemberRow(**row) for row in plain["members"])
        plain["doubts"] = tuple(Doubt(**row) for row in plain["doubts"])
        plain |= {n: tuple(plain[n]) for n in ("by", "notes")}
        plain["box"] = None if plain["box"] is None else tuple(plain["box"])
        return cls(**arrays, **plain)


def table(members: Sequence[MemberRow]) -> list[str]:
    """Return the table of the attacks that broke points or did not run, and what the others
    cost."""
    shown = [m for m in members if m.broken or m.skipped or not m.complete]
    idle = [m for m in members if m not in shown]
    width = max((len(m.name) for m in shown), default=0)
    lines = []
    if shown:
        lines.append(f"{'attack':<{width}} {'tried':>7} {'broken':>7} {'seconds':>8}")
    for m in shown:
        end = m.skipped or ("" if m.complete else "stopped")
        row = f"{m.name:<{width}} {m.tried:>7} {m.broken:>7} {m.seconds:>8.1f}"
        lines.append(f"{row}  {end}".rstrip())
    if idle:
        spent, other = sum(m.seconds for m in idle), "other attacks" if shown else "attacks"
        lines.append(f"{len(idle)} {other} broke no further point in {spent:.1f} s")
    return lines
