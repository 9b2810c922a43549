"""Implement `adversarium new`: write a template for your theorem or your paper."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from adversarium.commands.options import Flag
from adversarium.plans.papers import papers

Regression = Annotated[bool, Flag(help="use the template for regression: real labels, square loss")]

_THEOREM, _REGRESSION = "theorem.txt", "regression.txt"
_PAPER = {
    "paper.toml": "paper.txt",
    "claims.toml": "claims.txt",
    "knobs.toml": "knobs.txt",
    "findings.toml": "findings.txt",
    "theory/averaging.py": "averaging.txt",
    "experiments/thm1.py": "thm1.txt",
}


def new(what: str, folder: Path | None = None, *, regression: Regression = False) -> int:
    """Write a template: `new FILE.py` for your theorem (`run`, `verify`, `sweep` and `report` then
    accept ./FILE.py), or `new paper DIR` for your paper.

    Parameters
    ----------
    what
        FILE.py, or the word “paper”
    folder
        new folder for the paper
    """
    if not what.strip():
        raise ValueError("new needs a file such as mine.py, or `paper DIR`, got an empty string.")
    if what == "paper" and folder is not None:
        tag = new_paper(folder)
        print(f"{folder}; try: adversarium verify ./{folder}  (ids of claims begin with {tag}.)")
        return 0
    if what == "paper":
        raise ValueError("new paper needs a folder, for example: adversarium new paper mine.")
    if folder is not None:
        raise ValueError(f"new needs FILE.py or `paper DIR`, got {what} {folder}.")
    path = new_file(Path(what), _REGRESSION if regression else _THEOREM)
    named = path if path.is_absolute() else f"./{path}"
    print(f"{path}; try: adversarium run {named}")
    return 0


def _template(name: str, **words: str) -> str:
    text = (files("adversarium.commands") / "templates" / name).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def new_file(path: Path, template: str = _THEOREM) -> Path:
    """Write the template of an experiment; never overwrite a file."""
    if path.suffix != ".py" or not path.stem.isidentifier():
        plain = re.sub(r"\W", "_", path.stem).lstrip("0123456789") or "mine"
        raise ValueError(
            f"new needs a Python file whose name has only letters, digits and _, such as "
            f"{path.with_name(plain + '.py')}, got {path}."
        )
    if path.exists():
        raise ValueError(f"{path} already exists. Choose another file name.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_template(template, NAME=path.stem), "utf-8")
    return path


def new_paper(folder: Path) -> str:
    """Write the template of a paper into a new folder; return the tag of its claims."""
    name = folder.name
    if not name.isidentifier() or not name.islower():
        raise ValueError(
            f"new paper needs a folder named in lowercase letters, digits and _, such as mine, got "
            f"{name!r}."
        )
    if name in papers():
        raise ValueError(f"{name} is already the tag of a paper; choose another folder name.")
    if folder.exists():
        raise ValueError(f"{folder} already exists. Choose another folder name.")
    folder.mkdir(parents=True)
    for package in ("theory", "experiments"):
        (folder / package).mkdir()
    for file, template in _PAPER.items():
        text = _template(template, TAG=name, KEY=name.upper())
        (folder / file).write_text(text, encoding="utf-8")
    return name
