"""Parse command-line arguments into seeds, values and changed runs. Only public names and literals
are accepted; no expression is evaluated."""

import ast
import inspect
import math
import typing
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from types import FunctionType, UnionType
from typing import Any

from adversarium.digest import Json
from adversarium.plans.catalogue import nearest
from adversarium.plans.experiment import Experiment, merged
from adversarium.plans.knobs import Knob, knob, knob_of_symbol, name_of_symbol
from adversarium.plans.papers import papers
from adversarium.plans.run import PARTS, Run, Task, changed

_OWN = ("n", "steps", "eta", "dtype", "engine", *PARTS)
LARGEST = 2**63 - 1  # the largest seed of a store, and the largest size of a tensor


def parse_seeds(text: str | None) -> tuple[int, ...]:
    """Parse seeds: "10" → 0 … 9, "3,17" → these two, "5:15" → 5 … 14, None → none given."""
    if text is None:
        return ()
    try:
        if ":" in text:
            low, high = (int(part) for part in text.split(":"))
            seeds = tuple(range(low, min(high, low + 10_001)))
        elif "," in text:
            seeds = tuple(int(part) for part in text.split(","))
        else:
            seeds = tuple(range(min(int(text), 10_001)))
    except (ValueError, MemoryError, OverflowError):
        seeds = ()
    if not seeds or min(seeds) < 0 or len(set(seeds)) != len(seeds) or len(seeds) > 10_000:
        raise ValueError(
            "--seeds needs a number of seeds (10; at most 10000), a list of different seeds (3,17) "
            f"or an increasing range (5:15), got {text!r}."
        )
    if max(seeds) > LARGEST:
        raise ValueError(f"--seeds takes seeds up to {LARGEST} (2^63 − 1), got {max(seeds)}.")
    return seeds


def parse_value(text: str, name: str = "") -> object:
    """Parse a literal, a public name with literal arguments such as pgd(p=2, radius=1.2), or a
    word. `name` is the field to set, such as attack; errors then list the names that fit it."""
    text = text.strip()
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    return _value(tree, text, name)


def _value(node: ast.expr, text: str, name: str = "") -> object:
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or (node.args and not _literals(node.args)):
            raise ValueError(f"{text!r}: only NAME(field=literal, …) of a public name is allowed.")
        part = _public(node.func.id, name)
        keywords = {k.arg: _argument(k.value, text) for k in node.keywords if k.arg}
        return built(part, [ast.literal_eval(a) for a in node.args], keywords)
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_value(one, ast.unparse(one)) for one in node.elts)
    if isinstance(node, ast.Name):
        if node.id.lower() == "nan":
            raise ValueError("nan is not allowed as a value; inf and -inf are.")
        words = {"inf": math.inf, "none": None, "true": True, "false": False}
        return words.get(node.id.lower(), node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
        return -math.inf if node.operand.id == "inf" else text
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return text
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(f"a whole number can be at most {LARGEST} (2^63 − 1), got {text}.")
    return value


def _argument(node: ast.expr, text: str) -> object:
    """Return the value of a part's field; the name of a public function stands for it."""
    from adversarium import networks

    known = getattr(networks, node.id, None) if isinstance(node, ast.Name) else None
    return known if isinstance(known, FunctionType) else _value(node, text)


def _literals(nodes: Sequence[ast.expr]) -> bool:
    return all(isinstance(n, ast.Constant) for n in nodes)


def _public(name: str, kind: str) -> object:
    """Return a public part (data, network, attack or training rule) by name, ignoring case. If none
    has this name, the error lists the parts of the requested kind."""
    from adversarium import attacks, data, networks, training

    public = {n: getattr(r, n) for r in (data, networks, attacks, training) for n in r.__all__}
    known = {n.lower(): v for n, v in public.items() if is_dataclass(v)}
    if name in public and isinstance(public[name], FunctionType):
        return public[name]
    if name.lower() in known:
        return known[name.lower()]
    room, ability = {
        "data": (data, "k"), "network": (networks, "init"), "attack": (attacks, "__call__"),
    }.get(kind, (training, ""))  # fmt: skip
    fit = [n for n in room.__all__ if ability in _offers(public[n])]
    hint = f" Choose one of {', '.join(fit)}." if fit else _close(name.lower(), list(known))
    raise ValueError(f"no {kind if fit else 'part'} is named {name!r}.{hint}")


def _offers(part: object) -> set[str]:
    """Return the names of the attributes that a public class and its bases define."""
    return {name for base in getattr(part, "__mro__", ()) for name in vars(base)}


def built(part: Any, arguments: list[Any], keywords: Json) -> object:
    """Return part(…). If a field is unknown, missing or of a wrong type, raise a ValueError."""
    names = list(inspect.signature(part).parameters)
    for name in keywords:
        if name not in names:
            raise ValueError(f"{part.__name__} has no field {name!r}; it has {', '.join(names)}.")
    if is_dataclass(part):
        keywords = {n: fitted(part, n, v) for n, v in keywords.items()}
        if lacking := _lacking(part, names[: len(arguments)], keywords):
            missing = ", ".join(f"{name}=…" for name in lacking)
            whole = getattr(part, "__name__", repr(part))
            raise ValueError(f"{whole} also needs {missing}; its fields are {', '.join(names)}.")
    try:
        return part(*arguments, **keywords)
    except (TypeError, IndexError) as fault:
        raise ValueError(f"{part.__name__} cannot be built: {fault}.") from fault


def _lacking(part: Any, placed: Sequence[str], named: Json) -> list[str]:
    """Return the required fields that were not given."""
    return [
        f.name
        for f in fields(part)
        if f.init and f.default is MISSING and f.default_factory is MISSING
        and f.name not in (*placed, *named)
    ]  # fmt: skip


# types named in the annotations of Run; Run itself checks these fields, so any value fits here
_PARTS = dict.fromkeys(
    ("AnyData", "AnyLearner", "AnyAttack", "AnyProbe", "AnyFold", "Risk", "Optimiser"), Any
)


def fitted(part: object, name: str, value: object) -> object:
    """Return the value if it fits the field's declared type, else raise a ValueError."""
    cls = part if isinstance(part, type) else type(part)
    hint = typing.get_type_hints(cls, localns=_PARTS).get(name, Any)
    if hint is bool and value in ("yes", "no"):
        return value == "yes"
    if not _fits(value, hint):
        raise ValueError(f"{cls.__name__}.{name} needs {_shown(hint)}, got {value!r}.")
    return float(value) if hint is float and isinstance(value, int) else value


def _shown(hint: object) -> str:
    """Return a declared type as text."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " or ".join(map(str, inner))
    if origin is typing.Union or _is_union(hint):
        return " or ".join("none" if one is type(None) else _shown(one) for one in inner)
    return getattr(hint, "__name__", None) or str(hint).replace("typing.", "")


def _fits(value: object, hint: object) -> bool:
    if hint is Any:
        return True
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return value in inner
    if (origin is not None and type(None) in inner) or origin is typing.Union or _is_union(hint):
        return any(_fits(value, h) for h in inner)
    if hint is type(None) or hint is None:
        return value is None
    if hint in (int, float):
        number = isinstance(value, (int, float) if hint is float else int)
        return number and not isinstance(value, bool)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        fixed = len(inner) if inner and inner[-1] is not Ellipsis else None
        each = zip(value, inner, strict=False)
        return fixed is None or (len(value) == fixed and all(_fits(v, h) for v, h in each))
    if isinstance(hint, type):
        return isinstance(value, hint)
    return True


def _is_union(hint: object) -> bool:
    return isinstance(hint, UnionType)


def parse_changes(words: Sequence[str]) -> dict[str, object]:
    """Parse --set name=value arguments into a dictionary. Raise if a name occurs twice."""
    changes: dict[str, Any] = {}
    for given in words:
        name, equals, text = (part.strip() for part in given.partition("="))
        if not equals or not name or not text:
            raise ValueError(f"--set needs name=value, got {given!r}.")
        if name in changes:
            raise ValueError(f"--set names {name} twice; give it one value.")
        changes[name] = parse_value(text, name)
    return changes


def planned(experiment: Experiment, preset: str, changes: Mapping[str, object]) -> tuple[Task, ...]:
    """Return the experiment's tasks with the changes. Parameters of the plan, and all that depends
    on them, are changed first, then fields (data.alpha) and parts (attack) of every run. Runs that
    a change makes identical are merged."""
    knobs, fields_ = split_changes(experiment, preset, changes)
    with _plan_errors(experiment, knobs):
        tasks = list(experiment.tasks(preset, **knobs))
    for name, value in fields_.items():
        if not any(isinstance(task, Run) for task in tasks):
            raise ValueError(
                f"{experiment.id} has no training runs, so {name} has no effect; its knobs are "
                f"{', '.join(_knobs(experiment)) or 'none'}."
            )
        head, _, rest = name.partition(".")
        if rest and all(_part(t, head) is None for t in tasks if isinstance(t, Run)):
            raise ValueError(
                f"no run of {experiment.id} has a part {head}, so {name} has no effect; "
                f"add one with --set '{head}=NAME({rest}=…)'."
            )
        tasks = [_changed(t, name, value) if isinstance(t, Run) else t for t in tasks]
    return merged(tasks)


def split_changes(
    experiment: Experiment, preset: str, changes: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Split changes into parameters of the plan and fields of runs; symbols are replaced by names.
    Raise if a value is outside its limits."""
    named: dict[str, Any] = {}
    first: dict[str, str] = {}
    knobs = _knobs(experiment)
    for given, value in changes.items():
        name = own_name(experiment, given)
        if name in named:
            raise ValueError(f"{first[name]} and {given} are the same parameter; set one of them.")
        first[name] = given
        if name in knobs:
            value = _knob(experiment, preset, name, value)
        # a part raises its own error if a value does not fit its fields
        meaning = Knob(name=name.rpartition(".")[2]) if "." in name else knob(name, experiment.id)
        if why := meaning.refuses(value):
            raise ValueError(why)
        named[name] = value
    turned = {k: v for k, v in named.items() if k in knobs}
    rest = {k: v for k, v in named.items() if k not in knobs}
    for path in rest:
        whole = next((part for part in rest if path.startswith(f"{part}.")), None)
        if whole is not None:
            raise ValueError(
                f"{path} is a field of {whole}, which is also set; set it in {whole}=NAME(…)."
            )
    for turned_knob in turned:
        for path in rest:
            if _meet(knob(turned_knob, experiment.id).fields, path, rest[path]):
                raise ValueError(
                    f"{turned_knob} and {path} are the same parameter; set one of them."
                )
    return turned, rest


def _meet(names: Sequence[str], path: str, value: object) -> bool:
    """Return whether a change of a field, or of an entire part, sets one of the named fields. The
    field `steps` of the run is not the field `steps` of a part (attack.steps)."""
    inside = [name for name in names if name not in ("n", "steps", "eta")]
    if "." in path:
        return path.rpartition(".")[2] in inside
    if not is_dataclass(value):
        return path in names
    return any(field.name in inside for field in fields(value))


def _knobs(experiment: Experiment) -> list[str]:
    return list(inspect.signature(experiment.plan).parameters)


def own_name(experiment: Experiment, given: str) -> str:
    """Return the name of a parameter of the plan or of a field. A symbol (λ, ε, N) becomes the name
    of the parameter or field that it denotes in this experiment."""
    knobs, name = _knobs(experiment), unicodedata.normalize("NFKC", given)
    head, _, rest = name.partition(".")
    if name in knobs or (head in _OWN and (not rest or head in PARTS)):
        return name
    ours = name_of_symbol(name)
    paper = papers().get(experiment.id.split(".")[0]) if experiment.file is None else None
    letters = dict(paper.letters) if paper is not None else {}
    known = knob_of_symbol(name, knobs, experiment.id) or letters.get(name) or letters.get(ours)
    if known or ours in (*knobs, *_OWN):
        return known or ours
    if name in ("seed", "seeds"):
        raise ValueError(f"{given} is not a knob; choose the seeds with --seeds.")
    alias = f"; {given} denotes {ours} ({knob(ours).says})" if ours != name else ""
    raise ValueError(
        f"no knob or field of {experiment.id} is named {given!r}{alias}; its knobs are "
        f"{', '.join(knobs) or 'none'}; the fields of its runs are {', '.join(_OWN)}, and those of "
        f"the parts, such as data.FIELD.{_close(name, [*knobs, *_OWN])}"
    )


@contextmanager
def _plan_errors(experiment: Experiment, knobs: Mapping[str, object]) -> Iterator[None]:
    """Turn an error raised by a plan into one that names the changed parameters."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as fault:
        if experiment.file is not None or str(fault).endswith("."):
            raise  # the message is already a sentence
        if isinstance(fault, KeyError) and (known := _choices(experiment, fault.args[0])):
            raise ValueError(
                f"{experiment.id} has no choice {fault.args[0]!r}; choose from {', '.join(known)}."
            ) from fault
        given = ", ".join(f"{k}={v}" for k, v in knobs.items())
        raise ValueError(
            f"{experiment.id} cannot be planned with {given or 'its default knobs'} "
            f"({type(fault).__name__}: {fault}); its limits are shown by "
            f"`adversarium show {experiment.id}`."
        ) from fault


def _choices(experiment: Experiment, word: object) -> list[str]:
    """Return the words in the defaults and presets of a plan; empty if `word` is not text."""
    several = [knob.default for knob in inspect.signature(experiment.plan).parameters.values()]
    several += [v for given in experiment.presets.values() for v in given.values()]
    words = [w for v in several if isinstance(v, (tuple, list)) for w in v if isinstance(w, str)]
    return list(dict.fromkeys(words)) if isinstance(word, str) else []


def _knob(experiment: Experiment, preset: str, name: str, value: object) -> object:
    """Return a value that fits a parameter of the plan. A single value becomes a tuple if the
    parameter takes several."""
    default = inspect.signature(experiment.plan).parameters[name].default
    present = experiment.knob_value(preset, name) or default
    if isinstance(present, (tuple, list)) and not isinstance(value, (tuple, list)):
        value = (value,)
    several = isinstance(value, (tuple, list))
    if several and isinstance(present, (bool, int, float, str)):
        raise ValueError(f"the knob {name} needs one {type(present).__name__}, got {value!r}.")
    samples = present if isinstance(present, (tuple, list)) else (present,)
    for v in value if isinstance(value, (tuple, list)) else (value,):
        sample = samples[0] if samples else None
        if isinstance(sample, bool):
            if not isinstance(v, bool) and v not in ("yes", "no"):
                raise ValueError(f"the knob {name} needs yes or no, got {v!r}.")
            return v if isinstance(v, bool) else v == "yes"
        if sample is None or sample is inspect.Parameter.empty:
            continue
        kind = (int, float) if isinstance(sample, float) else type(sample)
        if not isinstance(v, kind) or isinstance(v, bool):
            raise ValueError(f"the knob {name} needs {type(sample).__name__}, got {v!r}.")
    return value


def _changed(task: Run, name: str, value: object) -> Run:
    head, _, rest = name.partition(".")
    if not rest:
        return changed(task, head, fitted(task, head, value))
    part = _part(task, head)
    if part is None:
        return task  # a run without that part does not change (clean training has no attack)
    known = [f.name for f in fields(part)]
    if rest not in known:
        raise ValueError(f"{type(part).__name__} has no field {rest!r}; it has {', '.join(known)}.")
    return changed(changed(task, head, part), name, fitted(part, rest, value))


def _part(task: Run, name: str) -> Any:
    """Return a part of a run. If the run sets no risk, return the default risk."""
    from adversarium.training import Risk

    part = getattr(task, name)
    return Risk() if part is None and name == "risk" else part


def _close(name: str, words: list[str]) -> str:
    hint = nearest(name, words)
    return hint if hint.startswith(" Nearest") else ""
