"""Every code block in README and docs does what it shows."""

import contextlib
import io
import os
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from gradfuzz.cli.app import app
from tests.blocks import (
    LANGUAGES,
    ROOT,
    Block,
    blocks,
    commands,
    fits,
    indented_blocks,
    named_commands,
    run,
)

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SUBCOMMANDS = set(get_command(app).commands)  # type: ignore[attr-defined]  # it is a group
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_block_is_in_a_language_that_is_run(document: Path) -> None:
    assert {block.language for block in blocks(document)} <= set(LANGUAGES)
    assert indented_blocks(document) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_block_does_what_it_shows(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "corpus", tmp_path / "corpus")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, Any] = {"__name__": "document"}
    printed = ""
    for block in blocks(document):
        place = f"{document.name}:{block.line}"
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.text)
        elif block.language == "python":
            printed = _run_python(block, place, names)
        elif block.language == "text":
            assert fits(block.text, printed), f"{place}: {printed}"
        elif block.language == "console":
            _run_console(block, place, tmp_path)
        for line in named_commands(block.text) if block.language == "sh" else ():
            _require_there(line, place)
        for line in re.findall(r"run: (.*)", block.text) if block.language == "yaml" else ():
            _require_there(line, place)


def _run_python(block: Block, place: str, names: dict[str, Any]) -> str:
    output = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(output):
        warnings.simplefilter("ignore")
        exec(compile(block.text, place, "exec"), names)
    return output.getvalue()


def _run_console(block: Block, place: str, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "COLUMNS": "100", "TF_CPP_MIN_LOG_LEVEL": "3"}
    code = 0
    for command in commands(block.text):
        if command.text == "echo $?":
            printed = f"{code}\n"
        else:
            done = run(command.text, folder, env)
            printed, code = done.stdout, done.returncode
            assert "Traceback" not in done.stderr, f"{place}: {done.stderr}"
        assert fits(command.shown, printed), f"{place}: $ {command.text}\n{printed}"


def _require_there(line: str, place: str) -> None:
    """Fail unless a command that is not run is one that there is."""
    words = line.split()
    program = words[0].removeprefix(".venv/bin/")
    if program == "make":
        assert words[1] in TARGETS, f"{place}: {line}"
    elif program == "gradfuzz":
        assert words[1] in SUBCOMMANDS, f"{place}: {line}"
    elif program == "python" and words[1].endswith(".py"):
        assert (ROOT / words[1]).is_file(), f"{place}: {line}"
    else:
        assert program in ("python", "pip", "pytest", "g++", "cd"), f"{place}: {line}"


# The runner itself.


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("one\ntwo\n", "one\ntwo\n", True),
        ("one\n", "one\ntwo\n", False),
        ("one\n…\nfour\n", "one\ntwo\nthree\nfour\n", True),
        ("one\n…\n", "one\n", True),
        ("seed …, 2s\n", "seed 123, 2s\n", True),
        ("seed …, 2s\n", "seed 123, 3s\n", False),
        ("", "", True),
        ("a.b\n", "axb\n", False),
    ],
)
def test_what_is_shown_is_compared_with_what_is_printed(
    shown: str, printed: str, *, expected: bool
) -> None:
    assert fits(shown, printed) is expected


def test_commands_are_told_from_what_they_print() -> None:
    found = list(commands("$ one --flag\nout\n$ two\n"))
    assert [(each.text, each.shown) for each in found] == [("one --flag", "out\n"), ("two", "")]
