"""Whether somebody's own parts give the same numbers again: what no seed repeats is refused before
it is trained."""

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from adversarium.digest import configuration, is_own
from adversarium.plans.run import Run
from adversarium.probes.scene import AnyScene, Scene
from adversarium.runs.faults import RAISED, PartFault
from adversarium.runs.jobs import Job
from adversarium.sockets import Along, AnyFold, AnyProbe, Recorded, State
from adversarium.training import train
from adversarium.watching import watching

_STEPS = 2  # of training, that are made twice


class Unrepeated(PartFault):
    """Numbers that are others when they are made again with the same seed."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} came out otherwise when made again with the same seed beside another one; "
            "draw from the rng that is given (of an attack: a generator for every seed) and from "
            "no other chance, clock or counter, and take no norm, sum or mean over the first axis, "
            "that of the seeds"
        )


@contextmanager
def known_files(*jobs: Job) -> Iterator[None]:
    """Refuses own code that reads a file which is no part of its key: nobody would notice an edit
    of it."""
    known = [job.own for job in jobs if job.own is not None]
    if not known:
        yield
        return
    with watching() as seen:
        yield
    if strange := sorted(seen.difference(*known)):
        raise PartFault(
            f"own code read {strange[0]}, which its key does not tell, so that an edit would go "
            "unnoticed; name it by one plain string in the code, or by a field or a knob"
        )


Witness = dict[str, list[float]]  # what own parts gave first, by name: what they are known by


def must_repeat(job: Job, seed: int, device: str) -> Witness:
    """What a run with own parts gave first; refuses one whose data, start, first steps or own
    probes are others when they are made again with the same seed."""
    assert isinstance(job.task, Run)
    found: Witness = {}
    if job.own is None:
        return found
    pair = (seed, seed ^ 1)
    beside = list(_first(job, pair, device))
    for i, one in enumerate(pair):
        for (what, name, alone), (_, _, both) in zip(
            _first(job, (one,), device), beside, strict=False
        ):
            apart = [(a, b[i : i + 1]) for a, b in zip(alone, both, strict=False)
                     if b.shape[:1] == (2,) and a.shape[:1] == (1,)]  # fmt: skip
            whole = zip(alone, both, strict=False) if i == 0 else ()
            shared = [(a, b) for a, b in whole if a.shape == b.shape]  # with no axis of seeds
            if not all(_agree([a], [b], 1e-9) for a, b in (*apart, *shared)):
                raise Unrepeated(what)
            if one == seed:
                found[name] = _numbers(alone)
    return found


def _numbers(tensors: list[Tensor]) -> list[float]:
    """Few numbers that others than these hardly have: their size, and two weighted sums."""
    flat = [_wide(t).abs().flatten() if t.is_complex() else _wide(t).flatten() for t in tensors]
    whole = torch.cat(flat).cpu() if flat else torch.zeros(0)
    whole = whole.nan_to_num()
    along = torch.arange(len(whole), dtype=torch.float64)
    return [float(v) for v in (whole.abs().sum(), (whole * along.cos()).sum(),
                               (whole * (along * along).cos()).sum())]  # fmt: skip


def as_before(job: Job, seed: int, before: Witness, device: str, exact: bool) -> bool:
    """Whether a run with own parts still gives first what it gave when its rows were made; on
    another device or in single precision but for rounding."""
    tolerance = 1e-9 if exact and getattr(job.task, "dtype", "") == "float64" else 1e-3
    try:
        for _, name, tensors in _first(job, (seed,), device):
            now, was = _numbers(tensors), before.get(name, None)
            near = tolerance * (abs(now[0]) + 1e-9)
            if was is not None and any(
                not abs(a - b) <= near for a, b in zip(now, was, strict=True)
            ):
                return False
    except RAISED:  # the code has come to fail: its run says so
        return False
    return True


def same_numbers(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a trial gave the same numbers twice.

    >>> same_numbers({"x": 1.0}, {"x": 1.0}), same_numbers({"x": 1.0}, {"x": 1.1})
    (True, False)
    """
    return one.keys() == other.keys() and all(
        _agree(_plain(one[name]), _plain(other[name])) for name in one
    )


def _plain(value: Any) -> list[Tensor]:
    return [torch.as_tensor(np.asarray(value.values if isinstance(value, Along) else value))]


def _first(
    job: Job, seeds: tuple[int, ...], device: str
) -> Iterator[tuple[str, str, list[Tensor]]]:
    """What is made first, in words and by name: the data, the initial weights, the first steps, own
    probes."""
    assert isinstance(job.task, Run) and job.engine is not None
    setting = job.setting(seeds, device)
    yield "the data", "data", _tensors(vars(setting.train))
    if is_own(configuration(job.task.data)):
        yield "the test data", "test", _tensors(vars(Scene(setting).test(job.task.n)))
    whole = itertools.islice(train(job.engine, [setting]), _STEPS + 1)
    states = [job.engine.apart(state)[0] for state in whole]
    yield "the network's start", "start", _tensors(setting.W0)
    attacked = " under its attack" if job.task.attack is not None else ""
    yield (
        f"training{attacked}",
        "training",
        [leaf for state in states for leaf in _tensors(vars(state))],
    )
    for recording in job.task.recordings:
        asked = recording.probe
        if is_own(configuration(asked)):
            name = getattr(asked, "__name__", type(asked).__name__)
            seen: Any = None
            with suppress(*RAISED):  # what goes wrong here goes wrong again where it is told
                seen = _seen(asked, recording.times, states, Scene(setting))
            yield f"probe {name}", job.id_of(asked), _tensors(seen)


def _seen(asked: Any, times: Any, states: list[State[Any]], scene: AnyScene) -> Any:
    """What a probe says of the last of the first states, or a fold of all of them."""
    if times is not None:
        return cast(AnyProbe, asked)(states[-1], scene)
    fold, memory = cast(AnyFold, asked), None
    for state in states:
        memory = fold.see(memory, state, scene)
    return fold.rows(memory)


def _tensors(held: Any) -> list[Tensor]:
    leaves = (leaf.values if isinstance(leaf, Recorded) else leaf for leaf in tree_leaves(held))
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def _agree(one: list[Tensor], other: list[Tensor], near: float = 1e-12) -> bool:
    """Whether numbers are the same but for rounding (sums on a GPU have no fixed order)."""

    def same(a: Tensor, b: Tensor) -> bool:
        exact = a.dtype == torch.float64 and a.device.type == "cpu"
        rtol, atol = (near, near) if exact else (1e-4, 1e-6)
        return a.shape == b.shape and torch.allclose(_wide(a), _wide(b), rtol, atol, equal_nan=True)

    return len(one) == len(other) and all(map(same, one, other))


def _wide(given: Tensor) -> Tensor:
    return given if given.is_complex() else given.double()
