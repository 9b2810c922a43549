"""What users met with code in several files, samples and folders: nothing stale, nothing lost."""

import json
import subprocess
import sys

import numpy as np
import pytest

import adversarium as av
from adversarium.digest import configuration
from adversarium.plans import Reading, at_most, end, identity, last, level, where
from adversarium.plans.evidence import Evidence, Quantity
from adversarium.sockets import Measure
from adversarium.sources import sources
from tests.program import OWN, one_sentence

SHORT = OWN.replace("steps=200", "steps=5")


def test_rows_are_renewed_when_a_module_or_a_table_that_a_file_uses_changes(call, tmp_path):
    probe = (
        "\nfrom pathlib import Path\nfrom helper import factor\n"
        "TABLE = float(Path(__file__).with_name('table.txt').read_text())\n"
        "def scaled(state, scene):\n    return factor() * TABLE * state.risk()\n"
    )
    text = SHORT.replace("(risk, train_error)", "(risk, train_error, scaled)") + probe
    (tmp_path / "own.py").write_text(text)

    def told(factor: int, table: int) -> float:
        (tmp_path / "helper.py").write_text(f"def factor():\n    return {factor}\n")
        (tmp_path / "table.txt").write_text(f"{table}")
        lines = call("run", "./own.py").stdout.splitlines()
        numbers = {line.split()[0]: float(line.split()[1]) for line in lines if "[" in line[20:]
                   and line.split()[0] in ("risk", "scaled")}  # fmt: skip
        return numbers["scaled"] / numbers["risk"]

    for factor, table in ((2, 1), (3, 1), (3, 5)):
        assert told(factor, table) == pytest.approx(factor * table, rel=1e-3)


def test_the_parts_of_a_file_are_its_local_modules_and_the_files_that_it_reads(tmp_path):
    (tmp_path / "own.py").write_text(
        "import torch, helper\nfrom pack import thing\nopen('in.txt')\nopen('out.txt', 'w')\n"
        "figure.savefig('out.txt')\nimport adversarium.data\n"
    )
    (tmp_path / "helper.py").write_text("import second\n")
    (tmp_path / "second.py").write_text("import helper\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "thing.py").write_text("")
    for name in ("in.txt", "out.txt"):
        (tmp_path / name).write_text("1")
    names = [path.name for path in sources(tmp_path / "own.py")]
    assert names[0] == "own.py"
    assert set(names[1:]) == {"helper.py", "second.py", "__init__.py", "thing.py", "in.txt"}


def test_folders_without_init_joined_paths_and_names_without_a_dot_are_parts(tmp_path):
    (tmp_path / "own.py").write_text(
        "from lib.consts import C\nhere = Path(__file__).parent\n"
        "(here / 'tables' / 'c.txt').read_text()\nopen('plain')\nfrom far.away import D\n"
    )
    for name in ("lib/consts.py", "tables/c.txt", "plain", "tables/other.txt", "_old/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    parts = {str(path.relative_to(tmp_path.resolve())) for path in sources(tmp_path / "own.py")}
    assert parts == {"own.py", "lib/consts.py", "tables/c.txt", "plain"}


PROMPT = """
import adversarium as av, torch
def twice(x): return {factor} * x
class Net:
    def init(self, rng, shape, k): return torch.zeros(shape, dtype=torch.float64)
    def f(self, W, x): return {scale} * twice((x * W[..., None, :]).sum(-1))
data = av.data.Clusters(d=5, mu=1.0, beta=0.0)
run = av.Run(data=data, network=Net(), n=10, steps=3, eta=0.1, probes=[av.probes.risk])
result = av.run(run, seeds=range(2), store="prompt.sqlite")
print(result["risk"][:, -1].tolist())
"""


def test_what_is_written_at_a_prompt_is_known_by_its_code(tmp_path):
    def told(factor, scale):
        text = PROMPT.format(factor=factor, scale=scale)
        done = subprocess.run([sys.executable, "-"], input=text, cwd=tmp_path, text=True,
                              capture_output=True, check=True)  # fmt: skip
        return done.stdout

    first = told(1.0, 1.0)
    assert told(1.0, 8.0) != first and told(3.0, 1.0) not in (first, told(1.0, 8.0))
    assert told(1.0, 1.0) == first


READING = """
import adversarium as av
def read(rng): return {"x": float(open("table.txt").read())}
print(av.run(av.Trial(function=read), range(1), "prompt.sqlite")["x"].tolist())
"""


def test_a_file_that_is_read_at_a_prompt_is_in_the_key(tmp_path):
    for value in ("1.0", "2.0"):
        (tmp_path / "table.txt").write_text(value)
        done = subprocess.run([sys.executable, "-"], input=READING, cwd=tmp_path, text=True,
                              capture_output=True, check=True)  # fmt: skip
        assert done.stdout.strip() == f"[[{value}]]"


FACTOR, TABLE = 1.0, {"c": 1.0}


def _made(c):
    def q(state, scene):
        return state.risk() * 0 + c

    return q


def _global(state, scene):
    return state.risk() * 0 + FACTOR


def _entry(state, scene):
    return state.risk() * 0 + TABLE["c"]


class Held:
    c = 1.0
    measures = (Measure("held"),)

    def __call__(self, state, scene):
        return state.risk() * 0 + self.c


def test_a_store_tells_functions_apart_by_what_they_hold(tmp_path, monkeypatch):
    def found(probe):
        run = av.Run(**{**PARTS, "steps": 1, "final": [probe]})
        result = av.run(run, seeds=range(2), store=tmp_path / "rows.sqlite")
        return result[result.probes[0]].ravel().tolist()

    for c in (1.0, 2.0):
        monkeypatch.setattr("tests.test_users_parts.FACTOR", c)
        monkeypatch.setitem(TABLE, "c", c)
        monkeypatch.setattr(Held, "c", c)
        for probe in (_made(c), _global, _entry, Held()):
            assert found(probe) == [c, c], probe


def test_modules_imported_by_name_and_variables_are_parts(call, tmp_path, monkeypatch):
    probe = (
        "\nimport importlib, os\n"
        "def scaled(state, scene):\n"
        "    T = importlib.import_module('consts').T * float(os.environ['SCALED'])\n"
        "    return T + 0 * state.risk()\n"
    )
    text = SHORT.replace("(risk, train_error)", "(risk, train_error, scaled)") + probe
    (tmp_path / "own.py").write_text(text)
    for T, scaled in ((1, 1), (8, 1), (8, 3)):
        (tmp_path / "consts.py").write_text(f"T = {T}\n")
        monkeypatch.setenv("SCALED", str(scaled))
        (line,) = [x for x in call("run", "./own.py").stdout.splitlines() if "scaled  " in x]
        assert float(line.split()[1]) == T * scaled


def test_a_function_of_this_file_is_known_by_what_its_file_says():
    name = configuration(test_a_function_of_this_file_is_known_by_what_its_file_says)
    assert "@" in name and len(name.partition("@")[2]) == 25


PARTS = dict(
    data=av.data.Clusters(d=6, mu=6.0, beta=0.0),
    network=av.networks.TwoLayer(m=16),
    n=40,
    steps=100,
    eta=0.1,
    final=[av.probes.Error(n=20), av.probes.Error(on="train")],
)


@pytest.fixture(scope="module")
def rows():
    return Evidence((av.run(av.Run(**PARTS), seeds=range(5)).rows,))


def test_no_error_on_few_points_is_no_proof_that_there_is_none(rows):
    assert rows.runs[0].points("test_error") == 20 and rows.runs[0].points("train_error") == 0
    error = last("test_error")
    assert (error.of(rows) == 0).all()
    verdict = level(error, 0, 0).judge(rows)
    assert verdict.verdict == "undecided" and verdict.measured[0].high > 0.01
    assert at_most(error, 0.01).judge(rows).reason.startswith("too few points")
    assert at_most(error, 0.6).judge(rows).verdict == "holds"
    assert level(last("train_error"), 0, 0).judge(rows).verdict == "holds"


def test_a_sampled_error_is_one_through_whatever_function_it_is_read(rows):
    meant = where()
    for told, high in ((lambda e: e - 0.001, 0.0), (lambda e: 3 * e**2, 0.001), (abs, 0.001)):
        read = Reading(
            "of the error", lambda run, f=told: f(run.last("test_error")), ("test_error",)
        )
        assert at_most(read.on(meant), high).judge(rows).verdict == "undecided"
        assert level(read.on(meant), high=high, always=True).judge(rows).verdict == "undecided"
    assert identity(last("test_error"), 1e-9).judge(rows).verdict == "undecided"
    exact = Reading("of the loss", lambda run: run.last("train_error"), ("train_error",))
    assert identity(exact.on(meant), 1e-9).judge(rows).verdict == "holds"
    assert level(exact.on(meant), 0, 0).judge(rows).verdict == "holds"


def _sampled(values, points):
    return Quantity("error", lambda rows: np.array(values), points=points)


@pytest.mark.parametrize(
    ("share", "points", "word"),
    [(0.12, 100, "undecided"), (0.12, 100_000, "fails"), (0.08, 100_000, "holds")],
)
def test_a_bound_on_a_sampled_error_counts_the_samples_own_error(rows, share, points, word):
    verdict = at_most(_sampled([share] * 5, points), 0.1).judge(rows)
    assert verdict.verdict == word
    assert verdict.chance == (word == "fails")  # seen again on fresh seeds


def test_a_difference_has_the_error_of_both_its_sides(rows):
    clean, robust = last("test_error"), last("robust_error")
    measure = av.probes.Error(n=20, name="robust_error")
    run = av.run(av.Run(**{**PARTS, "final": [av.probes.Error(n=20), measure]}), seeds=range(5))
    both = Evidence((run.rows,))
    for one, sides in ((clean, 1), (robust - clean, 2)):
        low, high = one.reach(both, 0.99)
        alone = clean.reach(both, 0.99)
        assert high - low == pytest.approx(sides * (alone[1] - alone[0]))


@pytest.mark.parametrize("name", ["risk.svg", "risk.csv"])
def test_a_figure_is_drawn_over_an_earlier_one_and_nothing_else(call, tmp_path, name):
    (tmp_path / "own.py").write_text(SHORT)
    for _ in range(2):
        call("run", "./own.py", "--out", "pictures")
    mine = tmp_path / "pictures" / "own" / name
    mine.write_text(mine.read_text() + "\nmy note\n")
    one_sentence(call("run", "./own.py", "--out", "pictures", status=2), "was edited since")
    assert "my note" in mine.read_text()
    other = tmp_path / "mine" / name
    other.parent.mkdir()
    other.write_text("my own")
    said = call("export", "./own.py", "--to", "svg", "--out", "mine", status=2)
    one_sentence(said, "exists and was not written here")
    assert other.read_text() == "my own"


def test_a_sweep_leaves_other_files_alone(call, tmp_path):
    (tmp_path / "own.py").write_text(SHORT)
    mine = tmp_path / "sweep" / "own-d.csv"
    mine.parent.mkdir()
    mine.write_text("my own")
    call("sweep", "./own.py", "--over", "d=10,20")
    assert mine.read_text() == "my own" and (tmp_path / "sweep" / "own-d-2.csv").exists()


def test_a_sweep_of_changed_code_has_its_own_files(call, tmp_path):
    for text in (SHORT, SHORT.replace("steps=5", "steps=6"), SHORT):
        (tmp_path / "own.py").write_text(text)
        said = call("sweep", "./own.py", "--over", "d=10,20")
        assert "every cell judged by own.thm" in said.stdout
    names = {path.name for path in (tmp_path / "sweep").glob("*.csv")}
    assert names == {"own-d.csv", "own-d-2.csv"}


def test_a_sweep_with_a_cell_that_fails_has_files_all_the_same(call, tmp_path):
    (tmp_path / "own.py").write_text(SHORT)
    call("sweep", "./own.py", "--over", "d=0,10", status=1)
    assert "failed" in (tmp_path / "sweep" / "own-d.csv").read_text()


def test_a_sweep_judged_by_another_check_has_its_own_files(call, tmp_path):
    (tmp_path / "own.py").write_text(SHORT)
    call("sweep", "./own.py", "--over", "d=10,20")
    first = (tmp_path / "sweep" / "own-d.csv").read_text()
    text = "from adversarium.plans import last, level\n" + SHORT
    text += '\nchecks = {claim: level(last("risk"), 0, 9) for claim in claims}\n'
    (tmp_path / "own.py").write_text(text)
    call("sweep", "./own.py", "--over", "d=10,20")
    assert (tmp_path / "sweep" / "own-d.csv").read_text() == first
    assert (tmp_path / "sweep" / "own-d-2.csv").read_text() != first


def test_a_knob_of_probes_alone_is_told_as_a_change(call):
    made = call("run", "boat.fig3", "--set", "points=20", "--dry-run", "--json")
    runs = json.loads(made.stdout)["runs"]
    assert runs and all(run["changed"] for run in runs)


def test_a_result_is_asked_like_a_mapping():
    result = av.run(av.Run(**PARTS), seeds=range(2))
    assert "train_error" in result and len(result) == len(result.probes) and list(result)


def test_a_part_that_does_not_place_the_runs_is_refused_in_a_sentence(call):
    said = call("run", "cgro.phases", "--set", "attack=pgd(radius=0.1)", "--dry-run", status=2)
    one_sentence(said, "placed by data.d, attack.gap, n, but 'PGD' object has no attribute 'gap'")


@pytest.mark.parametrize("given", [end("risk"), 0.5, "risk"])
def test_a_check_needs_a_number_of_a_run(given):
    with pytest.raises(ValueError, match=r"\.on\(where|a number a seed"):
        level(given, high=1.0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("steps=5, ", ""), "quick lacks steps, which plan(…) needs"),
        (lambda text: text.replace("steps=5", "steps=5, m=3"), "quick sets m, which plan(…) does"),
        (
            lambda text: (
                text.replace("risk, train_error)\n", "risk, train_error)\n", 1).replace(
                    "probes=(risk, train_error)", "probes=(risk, train_error, one)"
                )
                + "\ndef one(state):\n    return state.risk()\n"
            ),
            "def one(state, scene), got one(state)",
        ),
    ],
)
def test_a_plan_is_told_what_does_not_fit_it(call, tmp_path, change, told):
    (tmp_path / "own.py").write_text(change(SHORT))
    one_sentence(call("run", "./own.py", status=2), told)


def test_a_preset_that_a_file_lacks_and_a_claim_of_two_files_are_refused(call, tmp_path):
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(SHORT)
    said = call("run", "./one.py", "--preset", "paper", status=2)
    one_sentence(said, "one.py has no preset paper, only quick")
    said = call("verify", "./one.py", "./two.py", status=2)
    one_sentence(said, "both state own.thm; give one of them another id")


def test_a_network_that_does_not_fit_its_data_is_told_so():
    data = av.data.PatchData(d=5, P=3, alpha=1.0, sigma=0.1)
    run = av.Run(data=data, network=av.networks.TwoLayer(m=4), n=4, steps=2, eta=0.1,
                 probes=[av.probes.risk])  # fmt: skip
    with pytest.raises(RuntimeError, match="TwoLayer needs to return 1 output"):
        av.run(run, seeds=range(2))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show",), "show needs an id"),
        (("new",), "new needs FILE.py"),
        (("sweep", "cgro.thm4.1"), "sweep needs an axis, such as --over"),
        (("sweep", "cgro.thm4.1", "--over", "d=10,10"), "10 comes twice"),
        (("sweep", "cgro.thm4.1", "--over", "d=log:1:9:2.5"), "a whole number of values"),
        (("attack", "boat.fig2", "--radii", "-1,2"), "--radii needs different numbers >= 0"),
        (("run", "boat.fig2", "--set", "mu=nan"), "nan is no number to set"),
        (("run", "cgro.thm4.1", "--set", "attack=pgd(p=2)"), "PGD needs radius=… as well"),
        (("run", "boat.lower", "--set", "laws=(Gaus,)"), "nothing is called 'Gaus' here"),
        (("new", "paper", "cgro"), "cgro is the tag of a paper that is here"),
    ],
)
def test_what_is_wrong_is_told_in_the_words_of_the_call(call, words, told):
    one_sentence(call(*words, status=2), told)


def test_a_template_makes_its_folder(call, tmp_path):
    call("new", "deep/mine.py")
    assert (tmp_path / "deep" / "mine.py").is_file()


def test_run_and_verify_say_the_same_of_what_is_not_spanned(call, tmp_path):
    text = SHORT.replace('source="me")', 'source="me", for_all=("d",))')
    (tmp_path / "own.py").write_text(text.replace("steps=5", "steps=200"))
    for command in ("run", "verify"):
        (said,) = json.loads(call(command, "./own.py", "--json").stdout)[
            "verdicts" if command == "run" else "claims"
        ]
        assert said["verdict"] == "undecided" and "spans too little" in said["reason"], command
