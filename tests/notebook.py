"""Run the code cells of a notebook in order, without a server, and store what they show. `python -m
tests.notebook FILE` runs a notebook again and writes its outputs."""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def shown(value: Any) -> dict[str, Any]:
    """Return what a notebook shows of a value: a picture, a table, or its text."""
    data: dict[str, Any] = {"text/plain": repr(value)}
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=80)
        data = {"text/plain": "<Figure>"}
        data["image/png"] = base64.b64encode(picture.getvalue()).decode()
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    return data


def outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell; return what it printed, and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        result = {"output_type": "execute_result", "execution_count": count, "metadata": {}}
        found.append({**result, "data": shown(value)})
    return found


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs of a new run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            found = outputs("".join(cell["source"]), names, count)
            cell = {**cell, "execution_count": count, "outputs": found}
        cells.append(cell)
    return {**notebook, "cells": cells}


if __name__ == "__main__":
    path = Path(sys.argv[1])
    fresh = executed(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
