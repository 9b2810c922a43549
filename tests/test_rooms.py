"""The layout is the argument: rooms import only to their left."""

import ast
import re
from pathlib import Path

from adversarium.papers import PAPERS

SOURCE = Path(__file__).parents[1] / "src" / "adversarium"
ORDER = (
    ("rng", "papers", "shapes"),
    ("data", "networks", "attacks", "bounds"),
    ("constructions", "training"),
    ("probes",),
    ("experiments",),
    ("sweeps",),
    ("report",),
    ("cli",),
)
RANK = {room: i for i, group in enumerate(ORDER) for room in group}
BARE = {"experiments/spec.py", "experiments/catalogue.py", "papers.py", "experiments/__init__.py"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module == "adversarium":
                found |= {f"adversarium.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def files() -> list[Path]:
    return [p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py"]


def test_a_room_imports_only_rooms_to_its_left():
    for path in files():
        own = room(path)
        for module in imports(path):
            if module.startswith("adversarium."):
                other = module.split(".")[1]
                assert other == own or RANK[other] < RANK[own], f"{path}: {own} imports {other}"


def test_core_rooms_need_only_the_standard_library_numpy_and_torch():
    import sys

    allowed = set(sys.stdlib_module_names) | {"numpy", "torch", "adversarium", "jaxtyping"}
    for path in files():
        if RANK[room(path)] <= RANK["sweeps"]:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in tree.body:
                names = []
                if isinstance(node, ast.Import):
                    names = [a.name for a in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module:
                    names = [node.module]
                for name in names:
                    assert name.split(".")[0] in allowed, f"{path} imports {name}"


def test_the_catalogue_is_read_without_torch_or_numpy():
    for path in BARE:
        for module in imports(SOURCE / path):
            assert module.split(".")[0] not in ("torch", "numpy")


def test_every_address_names_a_known_paper():
    for path in files():
        for key in re.findall(r"\bof ([A-Z]{4})\b", path.read_text(encoding="utf-8")):
            assert key in PAPERS, f"{path}: of {key}"


def test_only_rng_turns_a_seed_into_a_generator():
    for path in files():
        if path.name != "rng.py":
            assert "manual_seed" not in path.read_text(encoding="utf-8"), path


def test_there_is_no_room_for_leftovers():
    names = {p.stem for p in SOURCE.rglob("*")}
    assert not names & {"utils", "common", "helpers", "base", "misc"}
