"""The public names of a room and what each is, read from the source without importing it."""

import ast
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class PublicName:
    """A public name: the first line of its docstring, and its symbol where it is a probe."""

    name: str
    sentence: str
    symbol: str = ""
    file: str = ""  # of the room, where it is defined


def public_names(room: str) -> dict[str, PublicName]:
    """The public names of a room.

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
            told = {d.name: d for d in defined if isinstance(d, (ast.ClassDef, ast.FunctionDef))}
            for alias in node.names:
                known[alias.name] = _public(alias.name, told.get(alias.name), file)
    return dict(sorted(known.items()))


def _public(name: str, node: ast.ClassDef | ast.FunctionDef | None, file: str) -> PublicName:
    if node is None:
        return PublicName(name, "", file=file)
    sentence = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    symbols = []
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "measures":
            given = [*decorator.args, *(k.value for k in decorator.keywords if k.arg != "axes")]
            symbols = [str(v.value) for v in given if isinstance(v, ast.Constant)]
    return PublicName(name, sentence, ", ".join(s for s in symbols if s), file)
