"""`--dry-run`: the configuration, the changes, the memory and what cannot run; nothing is run."""

import json

SMALL = ("--set", "steps=12", "--set", "n=10", "--set", "d=10", "--set", "P=4", "--set", "m=4")


def test_a_dry_run_shows_the_whole_configuration_and_every_change_with_the_published_value(call):
    out = call("run", "rnrf.fig3", *SMALL, "--dry-run").stdout
    assert "network: SmoothedCNN(m=4, " in out and "data: TwoFeaturePatches(k=2, d=10, " in out
    assert "network.m 10 → 4" in out and "steps 1000 → 12" in out
    runs = json.loads(call("run", "rnrf.fig3", *SMALL, "--dry-run", "--json").stdout)["runs"]
    assert runs[0]["config"]["network"]["m"] == 4 and runs[0]["changed"]["network.m"] == [10, 4]


def test_a_dry_run_allocates_nothing(call):
    d = 10**11
    out = call("run", "boat.published", "--set", f"d={d}", "--dry-run").stdout
    assert f"d={d}" in out and "MiB" in out


def test_a_dry_run_says_what_does_not_fit_into_memory(call, own):
    size = ("--set", "d=100000000", "--set", "n=100000")
    out = call("run", f"./{own.name}", *size, "--dry-run").stdout
    assert "MiB of data and weights per block, more than" in out


def test_a_dry_run_says_that_a_network_does_not_fit_the_data(call):
    words = ("run", "rnrf.theorems", "--set", "network=TwoLayer(m=10)", "--dry-run")
    assert "cannot run yet: TwoLayer must return 2 output(s)" in call(*words).stdout
    assert "cannot run" not in call("run", "rnrf.theorems", "--fresh", "--dry-run").stdout


def test_a_dry_run_of_fresh_runs_says_that_they_run(call, own):
    call("run", "./own.py")
    assert "nothing to run" in call("run", "./own.py", "--dry-run").stdout
    assert "nothing to run" not in call("run", "./own.py", "--fresh", "--dry-run").stdout
