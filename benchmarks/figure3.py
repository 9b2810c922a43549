"""Figure 3 of RNRF: seconds of training (ten seeds, both trainings) and of its evaluation, the
ratio of our step to the plain one (autograd, one seed at a time), and float32 against float64."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from adversarium.measure.scene import Scene
from adversarium.plans.loading import load
from adversarium.plans.run import Run, filtered
from adversarium.runs.compute import compute, rows_of
from adversarium.runs.jobs import Unit, resolve
from adversarium.training import train

FEATURES = frozenset(("robust_features", "nonrobust_features"))


def features_only(run: Run, **changes: object) -> Run:
    """The run with the correlations alone recorded."""
    return replace(filtered(run, lambda recording: recording.names <= FEATURES), **changes)


def seconds(
    run: Run, seeds: Sequence[int], device: str, width: int
) -> tuple[float, dict[str, np.ndarray]]:
    """Seconds of all blocks, and the last one's numbers."""
    began, rows, job = time.perf_counter(), {}, resolve(run)
    for i in range(0, len(seeds), width):
        block = tuple(seeds[i : i + width])
        made = compute(Unit((job,), (block,), device, torch.get_num_threads()))
        assert not made.failures, made.failures
        kept = made.blocks[0].kept.values()
        rows = {name: one.values for probe in kept for name, one in probe.series.items()}
    return time.perf_counter() - began, rows


def evaluation(run: Run, seeds: tuple[int, ...], device: str) -> float:
    """Seconds of the costly probes: those at their own times, and the final ones."""
    job = resolve(run)
    problem = job.problem(seeds, device)
    costly = [r for r in run.recordings if r.times not in (None, run.times)]
    scene, spent = Scene(problem), 0.0
    assert job.engine is not None
    for t, whole in enumerate(train(job.engine, (problem,))):
        due = [r.probe for r in costly if r.times and t in r.times]
        (state,) = job.engine.split(whole) if due else (None,)
        began = time.perf_counter()
        for probe in due:
            for row in rows_of(probe, probe(state, scene)).values():
                row.values.sum().item()
        spent += time.perf_counter() - began
    return spent


def main() -> None:
    """Prints one line a measurement."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    device, width = options.device, 10 if options.device.startswith("cuda") else 5
    chosen = tuple(range(options.seeds))
    tasks = load("rnrf.fig3").tasks("quick", steps=options.steps)
    runs = [task for task in tasks if isinstance(task, Run)]
    total = 0.0
    for run in runs:
        spent, rows = seconds(features_only(run), chosen, device, width)
        total += spent
        print(f"{run.label}: {options.seeds} seeds, {run.steps} steps in {spent:.1f} s", flush=True)
        brief = min(100, options.steps)
        short = features_only(run, steps=brief, record=brief)
        ours, _ = seconds(short, chosen[:5], device, 5)
        plain = replace(short, network=replace(short.network, by_hand=False))
        slow, _ = seconds(plain, chosen[:5], device, 1)
        print(f"  autograd, seed by seed, takes {slow / ours:.2f} × as long", flush=True)
        _, exact = seconds(features_only(run, dtype="float64"), chosen[-5:], device, 5)
        apart = max(float(abs(rows[name][-5:] - exact[name]).max()) for name in rows)
        print(f"  float32 against float64: correlations differ by at most {apart:.2g}", flush=True)
    print(f"both trainings: {total:.1f} s (goal 120 s)", flush=True)
    spent = sum(evaluation(run, chosen[:5], device) for run in runs)
    print(f"evaluation apart, five seeds: {spent:.1f} s (goal 60 s)", flush=True)


if __name__ == "__main__":
    main()
