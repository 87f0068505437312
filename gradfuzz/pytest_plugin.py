"""Each case of a corpus as a test of pytest: `pytest corpus/`, or `--gradfuzz-corpus DIR`.

A case that is expected to fail and does is an expected failure; one that is fixed fails, as a
strict xfail does.  Nothing is collected that was not asked for: a case file counts where it, or
the folder it lies in, stands on the command line.

This module is imported in every run of pytest: it imports no TensorFlow.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# What the head of a case file has, in its first bytes.
HEAD_BYTES = 400
HEAD_KEYS = (b'"format"', b'"bucket"', b'"oracle"')
# Kinds of cases that would take the process of the tests with them, and how long they may take.
CRASHING = ("dies", "hangs", "memory")
SECONDS = 600

ASKED = pytest.StashKey[frozenset[Path]]()


class CaseFailedError(Exception):
    """A case that is not as expected; its text is all that there is to say."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--gradfuzz-corpus`."""
    parser.getgroup("gradfuzz").addoption(
        "--gradfuzz-corpus",
        action="append",
        default=[],
        metavar="DIR",
        help="also replay the gradfuzz cases of this folder, each as a test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Note what was asked for."""
    for folder in config.getoption("--gradfuzz-corpus"):
        if not Path(folder).exists():
            raise pytest.UsageError(f"--gradfuzz-corpus {folder}: no such folder, should be one")
        if folder not in config.args:
            config.args.append(folder)
    base = config.invocation_params.dir
    given = (base / arg.partition("::")[0] for arg in config.args)
    config.stash[ASKED] = frozenset(path.resolve() for path in given)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "CaseFile | None":
    """Collect a case file that was asked for."""
    asked = parent.config.stash.get(ASKED, frozenset())
    path = file_path.resolve()
    if file_path.suffix != ".json" or not {path, path.parent} & asked or not _is_case(path):
        return None
    return CaseFile.from_parent(parent, path=file_path)


def _is_case(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return all(key in head for key in HEAD_KEYS)


class CaseFile(pytest.File):
    """A case file: one test."""

    def collect(self) -> Iterator["CaseItem"]:
        yield CaseItem.from_parent(self, name=self.path.stem)


class CaseItem(pytest.Item):
    """The replay of one case."""

    def runtest(self) -> None:
        status, message = self._replay()
        if status == "STILL FAILS":
            pytest.xfail(message)
        if status == "FIXED":
            raise CaseFailedError(f"[XPASS(strict)] FIXED: {message}")
        if status != "PASSES":
            raise CaseFailedError(f"{status}: {message}")

    def _replay(self) -> tuple[str, str]:
        if _kind(self.path).startswith(CRASHING):
            return _replay_apart(self.path)
        with warnings.catch_warnings():
            # TensorFlow's own, about code under test.
            warnings.simplefilter("ignore")
            from gradfuzz.answer import ask_here
            from gradfuzz.catalogue import all_ops, load_catalogues
            from gradfuzz.replay import replay_one

            done = replay_one(self.path, set(all_ops(load_catalogues())), ask_here)
        return done.status.value, done.message

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, CaseFailedError):
            return f"{self.path}\n{excinfo.value}\ngradfuzz show {self.path}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def _kind(path: Path) -> str:
    """Return the kind of a case, "" where the file is broken: the replay will say so."""
    try:
        return str(json.loads(path.read_bytes())["bucket"]["kind"])
    except (ValueError, LookupError, TypeError, OSError):
        return ""


def _replay_apart(path: Path) -> tuple[str, str]:
    """Replay a case in a process of its own."""
    command = [sys.executable, "-m", "gradfuzz", "replay", str(path), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "ERROR", f"no end within {SECONDS} s"
    try:
        [case] = json.loads(done.stdout)["cases"]
        return case["status"], case["message"]
    except (ValueError, LookupError):
        return "ERROR", f"the replay ended with {done.returncode}: {done.stderr.strip()[-300:]}"
