"""Read the public names of a package and their descriptions from its source, without importing."""

import ast
from dataclasses import dataclass, replace
from importlib.resources import files

from adversarium.plans.papers import papers


@dataclass(frozen=True)
class PublicName:
    """A public name: the first paragraph of its docstring, and its symbol if it is a probe."""

    name: str
    sentence: str
    symbol: str = ""
    file: str = ""  # the file that defines it
    paper: str = ""  # the key of the paper that defines it


def public_names(room: str) -> dict[str, PublicName]:
    """Return the public names of a package of adversarium, such as `attacks`.

    >>> public_names("attacks")["PGD"].sentence.startswith("Projected gradient ascent")
    True
    """
    folder = files("adversarium") / room
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    known: dict[str, PublicName] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            file = f"{node.module.rpartition('.')[2]}.py"
            defined = ast.parse((folder / file).read_text(encoding="utf-8")).body
            definitions = {
                d.name: d for d in defined if isinstance(d, (ast.ClassDef, ast.FunctionDef))
            }
            for alias in node.names:
                known[alias.name] = _public(alias.name, definitions.get(alias.name), file)
    return dict(sorted(known.items()))


def paper_probes() -> dict[str, PublicName]:
    """Return the probes and folds that papers define in their folders `theory`, by name."""
    known: dict[str, PublicName] = {}
    for paper in papers().values():
        for file in sorted((paper.folder / "theory").glob("*.py")):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and _is_probe(node):
                    found = _public(node.name, node, file.name)
                    known[node.name] = replace(found, paper=paper.key)
    return dict(sorted(known.items()))


def _is_probe(node: ast.ClassDef | ast.FunctionDef) -> bool:
    """Return whether a definition is a public probe: it is decorated by `measures`, or has a
    property of that name."""
    if isinstance(node, ast.FunctionDef):
        decorators = [d for d in node.decorator_list if isinstance(d, ast.Call)]
        return node.name[0] != "_" and any(ast.unparse(d.func) == "measures" for d in decorators)
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    return node.name[0] != "_" and "measures" in methods


def _public(name: str, node: ast.ClassDef | ast.FunctionDef | None, file: str) -> PublicName:
    if node is None:
        return PublicName(name, "", file=file)
    sentence = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    symbols = []
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "measures":
            given = [*decorator.args, *(k.value for k in decorator.keywords if k.arg != "axes")]
            symbols = [
                v.value for v in given if isinstance(v, ast.Constant) and isinstance(v.value, str)
            ]
    return PublicName(name, sentence, ", ".join(s for s in symbols if s), file)
