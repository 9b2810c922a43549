"""Rows of format 1 as blocks of today: keys without probes, arrays with names, numbers unchanged.

A row was once (run, seed, probe, t, number); components had numbers (`outputs[2]`), a run's key
held its probes, and trials lived beside the plans. What depends on the run alone (`scales`,
`step_size`, `C_eff`) is no longer stored.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adversarium.digest import digest
from adversarium.plans.evidence import Series
from adversarium.runs.blocks import TRIAL, Block, Kept

_DYNAMICS = ("data", "network", "attack", "n", "steps", "eta", "risk", "optimiser", "dtype")

# numbered components that are named now
_NAMES = {
    "outputs": ("true_logit", "doubt", "log_doubt", "class_balance"),
    "attacked_outputs": (
        "attacked_true_logit",
        "attacked_doubt",
        "attacked_log_doubt",
        "attacked_class_balance",
    ),
    "decomposition": ("length_A", "length_B", "length_C", "length_D", "length_off", "off_l1"),
    "noise_correlations": ("noise_correlation", "noise_correlation_off"),
    "fresh_noise": ("transfer_deficit", "noise_asymmetry", "signal_to_noise"),
    "predicted_times": ("predicted_T0", "predicted_T1_first", "predicted_T1_median"),
}
# numbered components that are places of an axis; a probe by radius keeps its radii
_AXES = {
    "robust_features": "class",
    "nonrobust_features": "class",
    "nonrobust_total": "class",
    "signals": "unit",
    "memorised": "point",
    "recursion.A": "class",
    "recursion.B": "class",
}
_RENAMED = {"recursion.A": "recursion_A", "recursion.B": "recursion_B"}
_GONE = {"scales", "step_size", "C_eff"}
# trials: where they stood → where they stand; the axis of their numbered components
_TRIALS = {
    "cgro.setting.identities": "cubic.cubic_identities",
    "cgro.setting.sequences": "sequences.growth_and_decay",
    "cgro.setting.cubic_form": "cubic.cubic_form",
    "cgro.setting.sauer": "counting.sauer",
    "cgro.constructions.gates": "parts.gates",
    "cgro.constructions.regions": "planes.regions",
    "cgro.constructions.shattering": "counting.shattering",
    "cgro.constructions.classifiers": "explicit.classifiers",
    "cgro.constructions.counts": "sizes.memorising_counts",
    "cgro.constructions.ray": "explicit.ray",
    "cgro.flatness.gaps": "flatness.flatness_gaps",
    "cgro.flatness.densities": "densities.density_powers",
    "cgro.flatness.taylor": "flatness.taylor",
    "cgro.flatness.first_order": "flatness.first_order",
    "cgro.flatness.factors": "flatness.flatness_factors",
    "cgrm.constructions.boundary": "planes.boundary",
    "cgrm.constructions.distances": "parts.distances",
    "cgrm.constructions.memorising": "explicit.memorising",
    "cgrm.constructions.closeness": "explicit.closeness",
    "cgrm.constructions.counts": "sizes.ball_counts",
    "cgrm.constructions.order": "sizes.complexity_order",
    "cgrm.constructions.vc_orders": "counting.vc_orders",
    "cgrm.linear.directions": "margins.max_margin_directions",
    "cgrm.linear.cauchy": "margins.cauchy",
    "cgrm.linear.angles": "margins.tilted_errors",
    "cgrm.modified.modified": "modified.modified_training",
    "cgrm.modified.generic": "modified.generic_training",
    "rnrf.setting.features": "two_features.feature_axes",
    "rnrf.setting.assumptions": "two_features.feature_assumptions",
    "rnrf.setting.activation": "two_features.activation_slope",
    "rnrf.setting.explicit_networks": "feature_networks.explicit_networks",
    "rnrf.setting.separated_networks": "feature_networks.separated_networks",
    "rnrf.setting.gaussian_maxima": "gaussians.gaussian_maxima",
    "rnrf.setting.gaussian_tails": "gaussians.gaussian_tails",
    "rnrf.setting.tensor_power": "sequences.tensor_power",
    "rnrf.setting.impossibility": "two_features.impossibility",
    "rnrf.setting.masking": "feature_networks.masking",
    "conv.eq16.one_step": "regret.one_step",
}
_TRIAL_AXES: dict[str, tuple[str, tuple[float, ...]]] = {
    "flatness.flatness_gaps": ("N", (32, 64, 128, 256, 512)),
    "flatness.first_order": ("radius", (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
    "explicit.ray": ("distance", tuple(round(0.02 * i, 2) for i in range(36))),
    "margins.tilted_errors": ("angle", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
}
_TRIAL_GONE = {"margins.max_margin_directions": {"N'", "d"}}

OldRows = Mapping[str, tuple[np.ndarray, np.ndarray]]  # name → times, values (seed, t)


def shortened(config: Any) -> Any:
    """A configuration with today's names of functions: the last part of the module, the name."""
    if isinstance(config, dict):
        return {k: shortened(v) for k, v in config.items() if k not in ("label", "symbol")}
    if isinstance(config, list):
        return [shortened(v) for v in config]
    if isinstance(config, str) and config.startswith("adversarium."):
        moved = config.removeprefix("adversarium.experiments.")
        return _TRIALS.get(moved, ".".join(config.split(".")[-2:]))
    return config


def converted(
    experiment: str,
    config: Mapping[str, Any],
    engine: str,
    refused: Mapping[str, str],
    seeds: tuple[int, ...],
    seconds: float,
    provenance: Mapping[str, Any],
    rows: OldRows,
) -> Block:
    """A block of format 1 (all engines had version 1) as one of today."""
    told = shortened(dict(config))
    if told["is"] == "Trial":
        told["parameters"] = _parameters(told["function"], told["parameters"])
        dynamics = {name: told[name] for name in ("function", "parameters", "version")}
        kept = {TRIAL: Kept(None, _trial_series(told, rows))}
        version = told["version"]
    else:
        dynamics = {name: told[name] for name in _DYNAMICS}
        kept, version = _run_series(told, rows), 1
    key = digest({"task": dynamics, "engine": engine, "version": version})
    return Block(key, experiment, dynamics, engine, refused, seeds, seconds, provenance, kept)


def _parameters(function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A trial's parameters as today's function takes them: a kind of network in two words."""
    if function != "sizes.memorising_counts":
        return dict(given)
    norm, gate = given["kind"].split()
    return {**{k: v for k, v in given.items() if k != "kind"}, "norm": norm, "gate": gate}


def _trial_series(told: Mapping[str, Any], rows: OldRows) -> dict[str, Series]:
    name = told["function"]
    axis, at = _TRIAL_AXES.get(name, ("place", ()))
    if name == "margins.max_margin_directions":
        axis, at = "N", tuple(told["parameters"]["counts"])
    gone = _TRIAL_GONE.get(name, set())
    grouped = _grouped(rows)
    return {base: _stacked(parts, axis, at) for base, parts in grouped.items() if base not in gone}


def _run_series(told: Mapping[str, Any], rows: OldRows) -> dict[str, Kept]:
    """The recorded probes of a run, each under the digest of what it is."""
    kept: dict[str, Kept] = {}
    grouped = _grouped(rows)
    recorded = [(p, False) for p in (*told["probes"], *told["final"])]
    recorded += [(f, True) for f in told["folds"]]
    for config, is_fold in recorded:
        inner = config["probe"] if _is(config, "At") else config
        names = [n for n in _row_names(inner) if n in grouped]
        if _base(inner) in _GONE or not names:
            continue
        series: dict[str, Series] = {}
        for name in names:
            series |= _named(name, inner, grouped[name])
        times = None if is_fold else tuple(int(t) for t in next(iter(series.values())).t)
        kept[digest(inner, 16)] = Kept(times, series)
    return kept


def _is(config: Any, kind: str) -> bool:
    return isinstance(config, dict) and config.get("is") == kind


def _base(config: Any) -> str:
    """The name under which a probe's rows stood."""
    if isinstance(config, str):
        return config.rpartition(".")[2].partition("@")[0]
    kind = str(config["is"]).partition("@")[0]
    if kind == "FeatureError":
        return f"{config['keep']}_only_error"
    known = {"CertifiedError": "certified_error"}
    return str(config.get("name") or known.get(kind, kind))


def _row_names(config: Any) -> list[str]:
    """The names under which the rows of a probe or a fold stood."""
    kind = config["is"] if isinstance(config, dict) else ""
    match kind:
        case "FirstTime":
            return [f"first_time({_base(config['probe'])} >= {config['level']:g})"]
        case "Worst":
            name = f"worst({_base(config['probe'])})"
            return [name, f"{name}.t"]
        case "Total":
            return [f"total({_base(config['probe'])})"]
        case "WorstRegret":
            name = f"worst(eq16_excess(R={config['radius']:g}))"
            return [name, f"{name}.t"]
        case "SignalGrowth":
            return ["growth_violation", "attack_violation", "level", "decay"]
        case "NoiseResidual":
            shares = ["residual", "lower_residual", "residual_share", "lower_share"]
            return [*shares, "first_term", "second_term"]
        case "Decay":
            return ["decay_product"]
        case "GrowthLaw":
            return [f"{config['name']}_error", f"{config['name']}_T0"]
        case "FeatureRecursion":
            name = config["name"]
            return [f"{name}_error", f"{name}.A", f"{name}.B"]
        case _:
            return [_base(config)]


def _named(
    name: str, config: Any, parts: Sequence[tuple[np.ndarray, np.ndarray]]
) -> dict[str, Series]:
    """Rows under today's names, with today's axes."""
    measured = config["probe"] if isinstance(config, dict) and "probe" in config else config
    if _is(measured, "Error") and not measured["name"]:  # called by what it measures now
        robust = "" if measured["attacks"] == "none" else "robust_"
        name = name.replace("Error", f"{robust}{measured['on']}_error")
    if name in _NAMES:
        return {
            new: Series(t, values) for new, (t, values) in zip(_NAMES[name], parts, strict=True)
        }
    if name.endswith(".t") and name.startswith("worst("):
        name = f"step of {name.removesuffix('.t')}"
    if _is(config, "ErrorByRadius"):
        return {name: _stacked(parts, "radius", tuple(config["radii"]))}
    if name in _AXES:
        new = _RENAMED.get(name, name)
        return {new: _stacked(parts, _AXES[name], tuple(range(len(parts))), always=True)}
    return {name: _stacked(parts, "axis 1", ())}


def _grouped(rows: OldRows) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """The rows by name, numbered components together and in order."""
    groups: dict[str, dict[int, tuple[np.ndarray, np.ndarray]]] = {}
    for name, row in rows.items():
        match = re.fullmatch(r"(.+)\[(\d+)\]", name)
        base, number = (match[1], int(match[2])) if match else (name, -1)
        groups.setdefault(base, {})[number] = row
    return {base: [parts[i] for i in sorted(parts)] for base, parts in groups.items()}


def _stacked(
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
    axis: str,
    at: tuple[float, ...],
    always: bool = False,
) -> Series:
    """One row as it is; numbered ones as the places of an axis."""
    t = parts[0][0]
    if len(parts) == 1 and not always:
        return Series(t, parts[0][1])
    places = at or tuple(range(len(parts)))
    values = np.stack([values for _, values in parts], axis=-1)
    return Series(t, values, {axis: tuple(float(v) for v in places)})


def old_blocks(db: sqlite3.Connection) -> Iterator[Block]:
    """The blocks of a store of format 1, one a seed."""
    runs = db.execute(
        "SELECT id, experiment, config, engine, refused FROM runs ORDER BY id"
    ).fetchall()
    for run, experiment, config, engine, refused in runs:
        done = db.execute("SELECT seed, seconds, provenance FROM done WHERE run = ?", (run,))
        for seed, seconds, provenance in done.fetchall():
            table: dict[str, list[tuple[int, float]]] = {}
            query = "SELECT probe, t, value FROM rows WHERE run = ? AND seed = ? ORDER BY t"
            for probe, t, value in db.execute(query, (run, seed)):
                table.setdefault(probe, []).append((t, np.nan if value is None else value))
            rows = {
                probe: (
                    np.array([t for t, _ in pairs]),
                    np.array([[value for _, value in pairs]], dtype=float),
                )
                for probe, pairs in table.items()
            }
            yield converted(
                experiment,
                json.loads(config),
                engine,
                json.loads(refused),
                (seed,),
                seconds,
                json.loads(provenance),
                rows,
            )
