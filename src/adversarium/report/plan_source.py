"""Read the parameters (knobs) and presets of a plan from its source, without importing torch."""

import ast
from functools import cache
from pathlib import Path

from adversarium.plans.knobs import kind


def description(file: Path) -> str:
    """Return the docstring of a plan's file."""
    return ast.get_docstring(_tree(file)) or ""


def presets(file: Path) -> list[str]:
    """Return the presets as source code, with constants replaced by their values."""
    constants = _Constants(file)
    return [
        ast.unparse(constants.visit(node))
        for node in _tree(file).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("quick", "paper")
    ]


def knobs(file: Path) -> dict[str, dict[str, object]]:
    """Return the parameters of a plan: the type of each, and its value at the quick preset."""
    constants = _Constants(file)
    tree = _tree(file)
    functions: dict[str, ast.FunctionDef | None] = {
        n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)
    }
    for node in tree.body:  # plan = another function of the file
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "plan":
            functions["plan"] = functions.get(ast.unparse(node.value), functions.get("plan"))
    plan = functions.get("plan")
    if plan is None:
        return {}
    arguments = [*plan.args.posonlyargs, *plan.args.args]
    missing: list[ast.expr | None] = [None] * (len(arguments) - len(plan.args.defaults))
    pairs = [*zip(arguments, [*missing, *plan.args.defaults], strict=True)]
    pairs += zip(plan.args.kwonlyargs, plan.args.kw_defaults, strict=True)
    defaults = {argument.arg: _value(constants, node) for argument, node in pairs}
    quick = _quick(file, constants)
    found = {}
    for name, default in defaults.items():
        value = quick.get(name, default)
        sample = default if value == () and default is not None else value
        found[name] = {"takes": kind(sample), "quick": value}
    return found


def _quick(file: Path, constants: "_Constants") -> dict[str, object]:
    for node in _tree(file).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "quick":
            if isinstance(node.value, ast.Call):
                return {k.arg: _value(constants, k.value) for k in node.value.keywords if k.arg}
            if isinstance(node.value, ast.Dict):
                keys = [str(k.value) for k in node.value.keys if isinstance(k, ast.Constant)]
                values = [_value(constants, v) for v in node.value.values]
                return dict(zip(keys, values, strict=False))
    return {}


def _value(constants: "_Constants", node: ast.expr | None) -> object:
    """Return the value of a literal, or the source of any other expression."""
    if node is None:
        return None
    plain = constants.visit(node)
    try:
        return ast.literal_eval(plain)
    except ValueError:
        return ast.unparse(plain)


@cache
def _parsed(file: Path, edited: int) -> str:
    return file.read_text(encoding="utf-8")


def _tree(file: Path) -> ast.Module:
    return ast.parse(_parsed(file, file.stat().st_mtime_ns))


class _Constants(ast.NodeTransformer):
    """A transformer that replaces names by constants of a module or of its paper's modules."""

    def __init__(self, file: Path) -> None:
        self.values: dict[str, ast.expr] = {}
        for node in _tree(file).body:
            if isinstance(node, ast.Assign):
                target, value = node.targets[0], node.value
                pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=False))
                self.values |= {t.id: v for t, v in pairs if isinstance(t, ast.Name)}
            elif isinstance(node, ast.ImportFrom) and node.level and node.module:
                folder = file.parents[node.level - 1]
                source = folder.joinpath(*node.module.split(".")).with_suffix(".py")
                names = {alias.name for alias in node.names}
                if source.is_file() and any(name.isupper() for name in names):
                    known = _Constants(source).values
                    self.values |= {name: known[name] for name in names & known.keys()}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the value of a name if it is a literal, else the name."""
        value = self.values.get(node.id)
        if not isinstance(node.ctx, ast.Load) or value is None:
            return node
        try:
            ast.literal_eval(value)
        except ValueError:
            return node
        return value
