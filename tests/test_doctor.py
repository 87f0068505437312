"""`gradfuzz doctor`, the versions and the completion of shells."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from gradfuzz import __version__
from gradfuzz.cli import doctor as module
from gradfuzz.cli.app import app
from gradfuzz.runtime import environment


def run(*args: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, args)


def test_it_tells_the_versions_and_that_it_can_see() -> None:
    done = run("doctor", "--json")
    found = {each["name"]: each for each in json.loads(done.stdout)}
    assert done.exit_code in (0, 1)
    assert found["tensorflow"]["found"] == environment()["tensorflow"]
    assert found["check"]["state"] == "good"
    assert "tells a right gradient from a missing one" in run("doctor").stdout


def test_what_could_go_wrong_is_told_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    full = SimpleNamespace(free=2**20)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: full)
    monkeypatch.setattr(module, "installed_packages", lambda: ["tensorflow 2.21.0", "tf-nightly 3"])
    done = run("doctor")
    assert done.exit_code == 1
    assert "make room" in done.stdout
    assert "they overwrite each other: keep one of them" in done.stdout


def test_a_checker_that_cannot_see_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    right = module.check
    first: list[object] = []

    def always_agrees(graph: object) -> object:
        first.append(first[0] if first else right(graph))
        return first[-1]

    monkeypatch.setattr(module, "check", always_agrees)
    done = run("doctor")
    assert done.exit_code == 2
    assert "cannot tell right from wrong" in done.stdout


def test_the_version_is_shown() -> None:
    assert run("--version").stdout.startswith(f"gradfuzz {__version__}\n")


def test_a_shell_can_complete_commands() -> None:
    completed = CliRunner(env={"_GRADFUZZ_COMPLETE": "complete_bash", "COMP_WORDS": "gradfuzz re",
                               "COMP_CWORD": "1"}).invoke(app, prog_name="gradfuzz")  # fmt: skip
    assert completed.stdout.split() == ["replay", "repro", "report"]
