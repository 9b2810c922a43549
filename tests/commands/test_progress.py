"""The messages while a run trains."""

from adversarium.commands.progress import Progress


def test_an_estimate_says_that_measurements_follow_the_steps(monkeypatch, capsys):
    clock = iter((0.0, 100.0, 100.0))
    monkeypatch.setattr("adversarium.commands.progress.time.monotonic", lambda: next(clock))
    with Progress() as progress:
        progress("a run", 0, 100)
        progress("a run", 50, 100)
    assert "about 100 s left, then the final measurements" in capsys.readouterr().err
