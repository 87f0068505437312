"""What CI reads: JUnit XML, annotations, and the difference between two replays."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from gradfuzz.casefile import Case
from gradfuzz.cli.app import app
from gradfuzz.cli.output import require_writable
from gradfuzz.corpus import Corpus
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket, Evidence, Finding
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import environment


def run(*args: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(arg) for arg in args])


def save(folder: Path, op: str, kind: str, argument: str, expect: Expect = Expect.FAILS) -> Path:
    graph = Graph((Leaf(np.array([0.5])), Call(op, {argument: Ref(0)})), (Ref(1),))
    finding = Finding(graph, Bucket(op, "always", kind), Evidence("wrong"))
    case = Case(finding, graph, environment(), 7, "2026-03-01", "2026-03-02", expect)
    return Corpus(folder).save(case)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A case that still fails, one that passes, one fixed, one regressed, one broken."""
    folder = tmp_path / "cases"
    save(folder, "PreventGradient", "missing", "input")
    save(folder, "Sinh", "value", "x", Expect.PASSES)
    save(folder, "Cosh", "value", "x")
    other = save(folder / "other", "PreventGradient", "missing", "input", Expect.PASSES)
    other.rename(folder / "regressed.json")
    (folder / "a,b%.json").write_text("{")
    return folder


def test_junit_has_a_test_for_each_case(corpus: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert run("replay", corpus, "--junit", report).exit_code == 2
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "2", "1")
    found = {test.get("name"): test for test in suite}
    assert found["regressed"].find("failure").get("type") == "REGRESSED"
    assert found["a,b%"].find("error").get("message").startswith("ERROR: line 1")
    assert {test.get("classname") for test in suite} == {"cases"}


def test_a_junit_file_that_cannot_be_written_is_told(corpus: Path, tmp_path: Path) -> None:
    done = run("replay", corpus, "--junit", tmp_path)
    assert done.exit_code == 2
    assert f"--junit {tmp_path}: not written" in done.output
    assert "STILL FAILS" not in done.output, "not replayed, for minutes, to say so at the end"


def test_a_replay_leaves_no_empty_file_where_it_has_no_report_to_write(tmp_path: Path) -> None:
    existing, new = tmp_path / "old.xml", tmp_path / "new.xml"
    existing.write_text("kept")
    for path in (existing, new):
        require_writable(path, "--junit")
    assert (existing.read_text(), new.exists()) == ("kept", False)


def test_annotations_name_the_file_and_escape_what_github_would_read(corpus: Path) -> None:
    done = run("replay", corpus, "--format", "github")
    lines = [line for line in done.output.splitlines() if line.startswith("::")]
    assert len(lines) == 3
    assert any(line.startswith("::warning file=") and "FIXED" in line for line in lines)
    assert any("a%2Cb%25.json,title=gradfuzz%3A ERROR::" in line for line in lines)


def test_the_other_formats_are_refused(corpus: Path) -> None:
    assert run("replay", corpus, "--format", "yaml").exit_code == 2


def replay_json(**statuses: str) -> str:
    bucket = {"op": "Log", "oracle": "numeric", "kind": "value", "input": "x"}
    cases = [{"file": f"somewhere/{name}.json", "status": status.partition("|")[0],
              "message": status.partition("|")[2], "bucket": bucket}
             for name, status in statuses.items()]  # fmt: skip
    return json.dumps({"environment": {"tensorflow": "2.21.0"}, "cases": cases})


def differences(tmp_path: Path, before: str, after: str) -> tuple[int, dict[str, Any]]:
    (tmp_path / "a.json").write_text(before)
    (tmp_path / "b.json").write_text(after)
    done = run("diff", tmp_path / "a.json", tmp_path / "b.json", "--json")
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("before", "after", "kind", "code"),
    [
        ("STILL FAILS", "FIXED", "fixed", 0),
        ("REGRESSED", "PASSES", "fixed", 0),
        ("PASSES", "REGRESSED", "broke", 1),
        ("FIXED", "STILL FAILS", "broke", 1),
        ("STILL FAILS", "CHANGED", "changed", 1),
        ("PASSES", "ERROR", "changed", 1),
        ("CHANGED|one", "CHANGED|another", "changed", 1),
        ("CHANGED|one", "CHANGED|one", None, 0),
        ("STILL FAILS", "STILL FAILS", None, 0),
    ],
)
def test_a_case_that_comes_to_something_else_is_told(
    tmp_path: Path, before: str, after: str, kind: str | None, code: int
) -> None:
    found = differences(tmp_path, replay_json(x=before), replay_json(x=after))
    assert found[0] == code
    kinds = {name for name in ("fixed", "broke", "changed", "added", "removed") if found[1][name]}
    assert kinds == ({kind} if kind else set())


def test_cases_that_are_in_one_replay_only_are_told(tmp_path: Path) -> None:
    code, found = differences(tmp_path, replay_json(x="PASSES"), replay_json(y="PASSES"))
    assert code == 0
    assert [case["file"] for case in found["removed"] + found["added"]] == ["x.json", "y.json"]


def test_what_became_of_a_case_is_one_line_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    before = replay_json(x="STILL FAILS|wrong", gone="FIXED|right", y="PASSES|right")
    after = json.loads(replay_json(x="ERROR|no answer", new="REGRESSED|off", y="PASSES|right"))
    after["cases"][0]["bucket"] = None
    (tmp_path / "a.json").write_text(before)
    (tmp_path / "b.json").write_text(json.dumps(after))
    done = CliRunner().invoke(app, ["diff", str(tmp_path / "a.json"), str(tmp_path / "b.json")])
    assert done.stdout.splitlines()[3:] == [
        "changed  x.json  Log.x value (numeric)  STILL FAILS, now ERROR: no answer",
        "added    new.json  Log.x value (numeric)  not there, now REGRESSED: off",
        "removed  gone.json  Log.x value (numeric)  FIXED, now not there",
        "3 cases: 1 changed, 1 added, 1 removed",
    ]


def test_two_replays_of_a_corpus_are_compared(corpus: Path, tmp_path: Path) -> None:
    before = run("replay", corpus, "--json").stdout
    (tmp_path / "a.json").write_text(before)
    (tmp_path / "b.json").write_text(before.replace(': "FIXED"', ': "STILL FAILS"'))
    assert json.loads(before)["environment"] == environment()
    done = run("diff", tmp_path / "a.json", tmp_path / "b.json")
    assert done.exit_code == 1, done.output
    assert "broke" in done.stdout
    assert "5 cases: 1 broke" in done.stdout
    assert run("diff", tmp_path / "a.json", tmp_path / "a.json").exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{",
            "line 1 column 2: not JSON (Expecting property name enclosed in double quotes), "
            "should be what gradfuzz replay --json prints",
        ),
        ("{}", "cases: none, should be there, as gradfuzz replay --json prints it"),
        ('{"cases": [{"file": "x", "status": "odd", "message": ""}]}', "cases[0].status: 'odd'"),
        ('{"cases": [1]}', "cases[0]: 1, should be an object"),
    ],
)
def test_what_is_no_replay_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    done = run("diff", path, path)
    assert done.exit_code == 2
    assert message in done.output
    assert run("diff", tmp_path / "nowhere.json", path).exit_code == 2
