"""Quantities that checks and figures need and that no run gives raise an error in one sentence."""

from tests.program import SHORT, one_sentence

TRIAL = '''"""A number that a trial returns."""

from adversarium.plans import Level, Curves, Trial, last

quick = dict(seeds=5)
claims = {"own.x": dict(statement="x", kind="level", source="me")}


def constant(rng, scale):
    return {"x": scale}


def plan(scale=1.0):
    yield Trial(function=constant, parameters={"scale": scale})


checks = {"own.x": Level(last("x"), 0)}
figures = ()
'''


def test_a_number_that_no_trial_returns_is_reported(call, own):
    own.write_text(TRIAL.replace('last("x")', 'last("y")'))
    for command in ("run", "verify"):
        said = call(command, "./own.py", status=2).stderr
        assert "needs 'y', which no trial returns" in said
    own.write_text(TRIAL.replace("figures = ()", "figures = (Curves(name='f', y=('z',)),)"))
    assert "the figure 'f' shows 'z'" in call("run", "./own.py", status=2).stderr


def test_a_check_of_one_run_that_fits_several_is_refused_before_the_training(call, own):
    own.write_text(
        SHORT.replace("def plan(", "def one(")
        + "\nfrom dataclasses import replace\n"
        + "def plan(**knobs):\n"
        + "    for run in one(**knobs):\n"
        + "        yield from (replace(run, at={'part': i}, n=run.n + i) for i in range(3))\n"
    )
    one_sentence(call("verify", "./own.py", status=2), "reads one run, but 3 are selected")
