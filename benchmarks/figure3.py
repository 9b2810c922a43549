"""Figure 3 of RNRF: seconds of training (ten seeds, both trainings) and of its evaluation, the
ratio of our step to the plain one (autograd, one seed at a time), and float32 against float64."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

from adversarium.experiments.catalogue import load
from adversarium.experiments.spec import Run
from adversarium.probes.folds import At
from adversarium.sweeps.run import run_block, states

FEATURES = ("robust_features", "nonrobust_features")


def features_only(run: Run, **changes: object) -> Run:
    """The run with the correlations alone recorded."""
    kept = tuple(p for p in run.probes if getattr(p, "__name__", "") in FEATURES)
    return replace(run, probes=kept, final=(), **changes)


def seconds(run: Run, seeds: Sequence[int], device: str, width: int) -> tuple[float, dict]:
    """Seconds of all blocks, and the last one's rows."""
    began, rows = time.perf_counter(), {}
    for i in range(0, len(seeds), width):
        rows = run_block(run, tuple(seeds[i : i + width]), device)
    return time.perf_counter() - began, rows


def evaluation(run: Run, seeds: tuple[int, ...], device: str) -> float:
    """Seconds of the costly probes: those at their own times, and the final ones."""
    _, scene, iterator = states(run, seeds, device)
    spent = 0.0
    for state in iterator:
        due = [p for p in run.probes if isinstance(p, At) and state.t in p.times]
        began = time.perf_counter()
        for probe in (*due, *(run.final if state.t == run.steps else ())):
            probe(state, scene).sum().item()
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
    runs = load("rnrf.fig3").runs("quick", steps=options.steps)
    assert all(isinstance(run, Run) for run in runs)
    total = 0.0
    for run in runs:
        spent, rows = seconds(features_only(run), chosen, device, width)
        total += spent
        print(f"{run.label}: {options.seeds} seeds, {run.steps} steps in {spent:.1f} s", flush=True)
        short = features_only(run, steps=100, record=100)
        ours, _ = seconds(short, chosen[:5], device, 5)
        plain = replace(short, network=replace(short.network, by_hand=False))
        slow, _ = seconds(plain, chosen[:5], device, 1)
        print(f"  autograd, seed by seed, takes {slow / ours:.2f} × as long", flush=True)
        _, exact = seconds(features_only(run, dtype="float64"), chosen[-5:], device, 5)
        apart = max(float(abs(rows[p][1][-5:] - exact[p][1]).max()) for p in rows)
        print(f"  float32 against float64: correlations differ by at most {apart:.2g}", flush=True)
    print(f"both trainings: {total:.1f} s (goal 120 s)", flush=True)
    spent = sum(evaluation(run, chosen[:5], device) for run in runs)
    print(f"evaluation apart, five seeds: {spent:.1f} s (goal 60 s)", flush=True)


if __name__ == "__main__":
    main()
