"""Packages import only to their left; papers, labels and parts are used only where they belong."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import adversarium
from adversarium.plans.papers import papers

SOURCE = Path(__file__).parents[1] / "src" / "adversarium"
ORDER = (
    ("rng", "shapes", "digest"),
    ("sockets",),
    ("data", "networks", "attacks", "solvers"),
    ("constructions", "training"),
    ("measure",),
    ("plans",),
    ("papers", "runs"),
    ("api",),
    ("report",),
    ("diagnosis",),
    ("commands",),
    ("cli",),
)
RANK = {room: i for i, group in enumerate(ORDER) for room in group}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def files(*rooms: str) -> list[Path]:
    every = sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")
    return [p for p in every if not rooms or room(p) in rooms]


def imported(path: Path, nodes: Iterator[ast.AST] | list[ast.stmt]) -> set[tuple[str, str]]:
    """Return (module, name) of every import among some nodes; no name for `import module`."""
    found = set()
    package = path.relative_to(SOURCE.parent).with_suffix("").parts
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            above = ".".join(package[: -node.level]) + "." if node.level else ""
            found |= {(f"{above}{node.module or ''}".rstrip("."), a.name) for a in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
    return found


def modules(path: Path) -> set[str]:
    """The modules that a file imports anywhere (`from adversarium import data`: the room)."""
    pairs = imported(path, ast.walk(tree(path)))
    return {f"{m}.{name}" if m == "adversarium" and name else m for m, name in pairs}


def at_import(path: Path) -> set[str]:
    """The modules that are imported with a file."""
    return {module for module, _ in imported(path, tree(path).body)}


def test_every_file_stands_in_a_room():
    assert {room(path) for path in files()} == set(RANK)


def test_a_room_imports_only_rooms_to_its_left():
    for path in files():
        own = room(path)
        for module in modules(path):
            if module.startswith("adversarium."):
                other = module.split(".")[1]
                assert other == own or RANK[other] < RANK[own], f"{path}: {own} imports {other}"


def test_no_paper_imports_another_and_nothing_else_names_one():
    for path in files():
        own = path.relative_to(SOURCE).parts
        for module in modules(path):
            if module.startswith("adversarium.papers."):
                paper = module.split(".")[2]
                assert own[:2] == ("papers", paper), f"{path} imports {module}"


def test_core_rooms_need_only_the_standard_library_numpy_and_torch():
    allowed = set(sys.stdlib_module_names) | {"numpy", "torch", "adversarium", "jaxtyping"}
    for path in files():
        if RANK[room(path)] <= RANK["runs"]:
            for module in at_import(path):
                assert module.split(".")[0] in allowed, f"{path} imports {module}"


def test_a_cluster_is_imported_only_where_one_is_used():
    for path in files():
        assert not {m.split(".")[0] for m in at_import(path)} & {"distributed", "dask"}, path


def needed(module: str, seen: set[str]) -> set[str]:
    """Return the packages that a module of adversarium imports, directly or through other
    modules."""
    if module in seen:
        return set()
    seen.add(module)
    parts = module.split(".")
    place = SOURCE.parent.joinpath(*parts)
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    above = needed(".".join(parts[:-1]), seen) if len(parts) > 1 else set()
    if not path.exists():  # a name of the package
        return above
    found = set(above)
    for other in at_import(path):
        ours = other.split(".")[0] == "adversarium"
        found |= needed(other, seen) if ours else {other.split(".")[0]}
    return found


@pytest.mark.parametrize(
    "module", ("cli", "commands.list", "commands.show", "report.shown", "plans.catalogue")
)
def test_the_catalogue_is_read_without_torch(module):
    assert "torch" not in needed(f"adversarium.{module}", set())
    assert "torch" in needed("adversarium.training", set())  # the control


# what the report takes of the rooms that can also run things: values, and functions that read
READS = {
    "adversarium.api": {"Outcome", "Result", "places"},
    "adversarium.runs.audit": {
        "claim_of",
        "judged",
        "planned_jobs",
        "stored_entries",
        "stored_evidence",
    },
    "adversarium.runs.jobs": {"Job"},
    "adversarium.runs.ledger": {"NOT_RUN", "NOT_YET", "Entry", "Ledger", "read", "unjudged"},
    "adversarium.runs.differences": {"configured", "shown"},
    "adversarium.runs.ledger_file": {"committed"},
    "adversarium.runs.machine": {"machine"},
    "adversarium.runs.planning": {"Plan"},
    "adversarium.runs.reader": {"Reader", "evidence"},
    "adversarium.runs.scope": {"Spans", "assumptions", "decided", "spanning", "spans", "waiver"},
    "adversarium.runs.store": {"Store"},
    "adversarium.runs.sweep": {"Cell", "Sweep"},
}


def test_the_report_only_reads():
    for path in files("report"):
        for module, name in imported(path, ast.walk(tree(path))):
            assert not module.startswith("adversarium.training"), f"{path} imports {module}"
            if module.startswith(("adversarium.runs", "adversarium.api")):
                assert name in READS.get(module, ()), f"{path} imports {name} of {module}"
        called = {n.attr for n in ast.walk(tree(path)) if isinstance(n, ast.Attribute)}
        writes = {"write", "fail", "keep_verdicts", "state"}  # of a store; a result trains for one
        allowed = {"write"} if path.name == "style.py" else set()
        assert not called & (writes - allowed), f"{path} calls {called & writes}"


def test_every_address_names_a_known_paper():
    known = {paper.key for paper in papers().values()}
    for path in files():
        for key in re.findall(r"\bof ([A-Z]{4})\b", path.read_text(encoding="utf-8")):
            assert key in known, f"{path}: of {key}"


def test_only_rng_turns_a_seed_into_a_generator():
    for path in files():
        if path.name != "rng.py":
            assert "manual_seed" not in path.read_text(encoding="utf-8"), path


def test_there_is_no_room_for_leftovers():
    names = {p.stem for p in SOURCE.rglob("*.py")}
    assert not names & {"utils", "common", "helpers", "base", "misc"}


def test_no_lambda_is_bound_to_a_name():
    for path in files():
        for node in ast.walk(tree(path)):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                assert not isinstance(node.value, ast.Lambda), f"{path}, line {node.lineno}"


PARTS = {
    "data", "network", "attack", "batch", "state", "scene", "probe", "engine", "learner"
}  # fmt: skip


def parameters(path: Path) -> Iterator[tuple[str, str, str]]:
    """Function, parameter and annotation of everything that a file defines."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                if one.annotation is not None:
                    yield node.name, one.arg, ast.unparse(one.annotation)


def test_parts_are_typed_by_their_sockets():
    for path in files("data", "networks", "attacks", "training", "measure", "runs"):
        for function, name, kind in parameters(path):
            assert name not in PARTS or kind != "Any", f"{path}: {function}({name}: Any)"


DISTRIBUTIONS = {
    "TwoFeaturePatches", "PatchData", "Clusters", "MarginMixture", "HyperplaneCells",
    "SpherePoints", "Digits",
}  # fmt: skip


def mentioned(node: ast.AST) -> set[str]:
    """The names under a node."""
    plain = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return plain | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def test_only_engines_and_papers_ask_which_paper_the_data_come_from():
    asking = {"isinstance", "issubclass", "hasattr"}
    for path in files():
        if room(path) == "papers":
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and mentioned(node.func) & asking:
                assert not mentioned(node) & DISTRIBUTIONS, f"{path}, line {node.lineno}"
            if isinstance(node, ast.Compare) and "engines" not in path.parts:
                assert not mentioned(node) & DISTRIBUTIONS, f"{path}, line {node.lineno}"


def is_label(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name == "label"


def test_no_label_is_taken_apart_or_compared():
    cuts = {
        "split", "rsplit", "partition", "rpartition", "startswith", "endswith", "removeprefix",
        "removesuffix", "replace", "index", "find",
    }  # fmt: skip
    for path in files():
        for node in ast.walk(tree(path)):
            where = f"{path}, line {getattr(node, 'lineno', '?')}"
            if isinstance(node, ast.Attribute):
                assert not (node.attr in cuts and is_label(node.value)), where
            if isinstance(node, ast.Subscript):
                assert not is_label(node.value), where
            if isinstance(node, ast.Compare):
                sides = (node.left, *node.comparators)
                for i, op in enumerate(node.ops):
                    equal = isinstance(op, ast.Eq | ast.NotEq)
                    within = isinstance(op, ast.In | ast.NotIn)
                    assert not (equal and (is_label(sides[i]) or is_label(sides[i + 1]))), where
                    assert not (within and is_label(sides[i + 1])), where
            if isinstance(node, ast.Call) and mentioned(node.func) & {"match", "search", "findall"}:
                assert not any(is_label(argument) for argument in node.args), where


def numbered(node: ast.AST) -> bool:
    """Return whether a string (or an f-string) has the form name[2]."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return bool(re.fullmatch(r"[\w.()]+\[\d+\]", node.value))
    if not isinstance(node, ast.JoinedStr):
        return False
    text = "".join(
        str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values
    )
    return bool(re.fullmatch(r"[\w.()\0]+\[(\d|\0)+\]", text))


def test_no_row_is_named_by_a_number_in_brackets():
    assert numbered(ast.parse('f"{name}[{i}]"').body[0].value)  # the control
    for path in files():
        for node in ast.walk(tree(path)):
            assert not numbered(node), f"{path}, line {node.lineno}: {ast.unparse(node)}"


def test_every_public_function_has_an_example():
    public = {name: getattr(adversarium, name) for name in adversarium.__all__}
    functions = {n: f for n, f in public.items() if inspect.isfunction(f)}
    assert set(functions) == {"attack", "diagnose", "experiment", "plot", "run", "slope"}
    for name, function in functions.items():
        assert ">>> " in (function.__doc__ or ""), f"av.{name} has no example"
        assert f"av.{name}(" in function.__doc__, f"the example of av.{name} does not call it"


def test_nothing_outside_papers_names_one():
    """Addresses in docstrings, "eq. (M) of CGRO", are allowed; ids and tags are not."""
    words = set(papers()) - {"images"}  # an ordinary word
    tags = re.compile(rf"\b({'|'.join(words)})\b")
    data = [p for p in SOURCE.rglob("*") if p.suffix in (".toml", ".txt", ".js", ".css", ".html")]
    for path in (*files(), *data):
        if room(path) != "papers":
            found = tags.search(path.read_text(encoding="utf-8"))
            assert found is None, f"{path} names {found and found[0]}"
