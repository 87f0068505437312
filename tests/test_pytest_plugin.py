"""`pytest corpus/`: each case a test, and nothing disturbed that is not a case."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gradfuzz.expect import Expect
from tests.test_ci import save

PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA")
WORDS = ("PASSED", "FAILED", "XFAIL", "XPASS", "ERROR")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus and tests of somebody's, side by side."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    (tmp_path / "data.json").write_text('{"format": 1}')
    cases = tmp_path / "cases"
    save(cases, "PreventGradient", "missing", "input")
    save(cases, "Sinh", "value", "x", Expect.PASSES)
    (cases / "package.json").write_text('{"name": "somebody\'s"}')
    return tmp_path


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PYTEST, *args], cwd=folder, capture_output=True, text=True, check=False, timeout=240
    )


def outcomes(folder: Path, *args: str) -> dict[str, str]:
    """Return each test with its outcome, as the summary has them."""
    done = run(folder, *args)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(WORDS)]
    found = {row[1].rpartition("::")[2]: row[0] for row in rows}
    assert found, done.stdout + done.stderr
    return found


def test_cases_are_collected_only_where_they_are_asked_for(folder: Path) -> None:
    assert outcomes(folder) == {"test_own": "PASSED"}
    assert outcomes(folder, ".") == {"test_own": "PASSED"}
    assert len(outcomes(folder, "cases")) == 2
    assert set(outcomes(folder, "--gradfuzz-corpus", "cases")) > {"test_own"}


def test_an_expected_failure_is_one_and_a_fixed_case_fails(folder: Path) -> None:
    save(folder / "cases", "Cosh", "value", "x")
    regressed = save(folder, "PreventGradient", "missing", "input", Expect.PASSES)
    regressed.rename(folder / "cases" / "regressed.json")
    done = run(folder, "cases")
    found = outcomes(folder, "cases")
    assert done.returncode == 1
    assert {name.partition("-")[0]: word for name, word in found.items()} == {
        "PreventGradient": "XFAIL",
        "Sinh": "PASSED",
        "Cosh": "FAILED",
        "regressed": "FAILED",
    }
    assert "[XPASS(strict)] FIXED: the gradients agree" in done.stdout
    assert "REGRESSED: the gradient raised LookupError" in done.stdout
    assert "Traceback" not in done.stdout


def test_k_xdist_and_junit_work_on_cases(folder: Path) -> None:
    report = folder / "report.xml"
    found = outcomes(
        folder, "cases", "-k", "Sinh or Prevent", "-n", "2", "--junit-xml", str(report)
    )
    assert sorted(found.values()) == ["PASSED", "XFAIL"]
    assert len(list(ElementTree.parse(report).iter("testcase"))) == 2
    assert len(outcomes(folder, "cases", "-k", "Sinh")) == 1


def test_a_single_file_is_a_test(folder: Path) -> None:
    [path] = (folder / "cases").glob("Sinh*")
    assert list(outcomes(folder, str(path)).values()) == ["PASSED"]


def test_a_broken_case_fails_in_a_line(folder: Path) -> None:
    [path] = (folder / "cases").glob("Sinh*")
    path.write_text(path.read_text()[:600])
    done = run(folder, str(path))
    assert done.returncode == 1
    assert "ERROR: " in done.stdout
    assert "not JSON" in done.stdout


def test_a_case_that_crashes_is_replayed_in_a_process_of_its_own(folder: Path) -> None:
    [path] = (folder / "cases").glob("PreventGradient*")
    raw = json.loads(path.read_text())
    raw["bucket"]["kind"] = "dies-SIGABRT"
    path.write_text(json.dumps(raw))
    done = run(folder, str(path))
    # What it says is the replay's: this one does not die, but its gradient is missing.
    assert "CHANGED: now PreventGradient" in done.stdout


def test_a_folder_that_is_not_there_is_told(folder: Path) -> None:
    done = run(folder, "--gradfuzz-corpus", "nowhere")
    assert done.returncode == 4
    assert "--gradfuzz-corpus nowhere: no such folder" in done.stderr


def test_the_plugin_imports_no_tensorflow() -> None:
    code = "import sys, gradfuzz.pytest_plugin; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
