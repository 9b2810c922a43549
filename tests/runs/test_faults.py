"""An error that a user's part raises is reported with file, line and name."""

from pathlib import Path

import pytest

from tests.program import SHORT

PROBES = {
    "raise SystemExit(0)": "own.py, line 9, probe oops: SystemExit: 0",
    "return [1.0][3]": "own.py, line 9, probe oops: IndexError: list index out of range",
    "return 3.0": "probe oops: TypeError: oops must be a tensor, got float",
    "return state.W[:1]": "probe oops: ValueError: the first axis of oops must ",
}


@pytest.mark.parametrize("body", PROBES)
def test_a_probe_that_fails_is_named_with_its_file_and_line(body, call, own):
    text = SHORT.replace("probes=(risk, train_error))", "probes=(risk, train_error, oops))")
    own.write_text(text.replace("quick =", f"def oops(state, scene):\n    {body}\n\n\nquick ="))
    said = call("run", "./own.py", "--seeds", "2", status=1)
    assert f"adversarium: own.py: {PROBES[body]}" in said.stderr.splitlines()[-1]
    assert "Traceback" not in said.stderr


FAULTS = {  # what is wrong in the template: (right, wrong, what is said)
    "labels 0 and 1": ("y=y)", "y=(y + 1) / 2)", "labels must be ±1 (k = 1), got 0, 1"),
    "data": ("coins((n,), rng)", "coins((n,), rgn)", "NameError: name 'rgn'"),
    "a check": ('rows.last("test', 'rows.lost("test', "AttributeError: 'Rows'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_users_part_is_reported_with_its_line(call, fault):
    right, wrong, said = FAULTS[fault]
    call("new", "own.py")
    text = Path("own.py").read_text().replace("steps=200", "steps=3")
    assert right in text
    Path("own.py").write_text(text.replace(right, wrong))
    if "Error" in said:
        said = f"own.py, line {text[: text.index(right)].count(chr(10)) + 1}, {said}"
    complaint = call("run", "./own.py", status=2 if fault == "a check" else 1).stderr
    assert said in complaint and "Traceback" not in complaint
