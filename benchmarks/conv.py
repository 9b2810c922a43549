"""CONV's large sizes on this machine: E1, descents of T = √m/(cα) steps at m = 16,384 under nine
attacks, each with its certified optimum (goal: 3 minutes); E2, the kinks of a layer of a million
units in law, against a layer of 4,096 units that is drawn; E3, the network that is built of the
shortest robust interpolant at m = 65,536 (goal: 2 minutes). E1 in a process a core, of one thread
each."""

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import torch

from adversarium.networks import SmoothedReLU
from adversarium.papers.conv.theory.convergence import descent_gap
from adversarium.papers.conv.theory.features import built_networks
from adversarium.papers.conv.theory.kinks import kink_suprema
from adversarium.rng import normal, stream

RULES = ("pgd", "exact", "anti", "worst_of", "fgsm", "identity", "random", "cycle", "switch")
SMOOTHED = SmoothedReLU(b=2.0)
ROOM = 65_536 / 432  # 432 is R⁴/ε² of the circle's sets at ε = 0.2


def seconds(work: Callable[[], object]) -> float:
    """Seconds of a piece of work."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def descended(rule: str) -> float:
    """Seconds of a descent under an attack, with its certified optima."""
    torch.set_num_threads(1)
    of = dict(m=16_384, alpha=0.1, radii=(1.0, 2.0))
    return seconds(lambda: descent_gap(stream(0, rule), SMOOTHED, rule, **of))


def drawn(m: int) -> None:
    """The products of a drawn layer of m × m weights with one input."""
    rng = stream(0, "layer")
    _ = normal((m, m), rng) @ normal((m,), rng)


def main() -> None:
    """Prints one line an experiment."""
    torch.set_num_threads(1)
    began, cores = time.perf_counter(), os.cpu_count() or 1
    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as pool:
        spent = dict(zip(RULES, pool.map(descended, RULES), strict=True))
    whole, slowest = time.perf_counter() - began, max(spent, key=lambda rule: spent[rule])
    print(f"E1, m = 16,384, {len(RULES)} attacks: {whole:.0f} s on {cores} cores (goal: 180 s), "
          f"{sum(spent.values()):.0f} s of one; slowest {slowest}, "
          f"{spent[slowest]:.0f} s")  # fmt: skip
    law = seconds(lambda: kink_suprema(stream(0, "law"), m=2**20, R=0.1))
    plain = seconds(lambda: drawn(4_096))
    scaled = plain * (2**20 / 4_096) ** 2
    print(f"E2, m = 1,048,576 in law: {law:.2f} s; a drawn layer of 4,096 units takes {plain:.2f} "
          f"s, one of that width would take {scaled / law:,.0f} × as long")  # fmt: skip
    built = seconds(lambda: built_networks(stream(0, "E3"), SMOOTHED, eps=0.2, room=ROOM))
    print(f"E3, m = 65,536: {built:.1f} s (goal: 120 s)")


if __name__ == "__main__":
    main()
