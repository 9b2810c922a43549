"""A phase diagram's cells side by side on the replica axis against one after the other."""

import time

from adversarium.experiments.cgro.phases import cell, labelled
from adversarium.sweeps.run import rule_of
from adversarium.training import Setting
from adversarium.training.signal_noise import signal_noise_cells, signal_noise_descent

STEPS, SEEDS = 500, tuple(range(5))


def settings(count: int) -> list[Setting]:
    """The first cells of the (λ, 1 − γ) diagram, five seeds each."""
    runs = [cell(label, **knobs) for label, knobs in list(labelled("λ, 1 − γ").items())[:count]]
    found = []
    for run in runs:
        rule = rule_of(run)
        short = type(rule)(n=rule.n, steps=STEPS, eta=rule.eta, risk=rule.risk)
        found.append(Setting(run.data, run.network, run.attack, short, SEEDS))
    return found


def main() -> None:
    """Prints one line a number of cells."""
    for count in (12, 144):
        began = time.perf_counter()
        *_, together = signal_noise_cells(settings(count), (STEPS,))
        side_by_side = time.perf_counter() - began
        began = time.perf_counter()
        few = settings(count)[:12]
        for setting, cells in zip(few, together, strict=False):
            *_, alone = signal_noise_descent(setting)
            assert float((alone.v - cells.v).abs().max()) < 1e-12
        one_by_one = (time.perf_counter() - began) * count / len(few)
        print(
            f"{count} cells, five seeds, {STEPS} steps: one by one {one_by_one:.1f} s, side by "
            f"side {side_by_side:.1f} s; {one_by_one / side_by_side:.1f} × faster",
            flush=True,
        )


if __name__ == "__main__":
    main()
