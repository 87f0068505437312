"""The page of a campaign or a corpus: complete, escaped, and alive in a browser."""

import json
import re
import shutil
import subprocess
from dataclasses import asdict, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from gradfuzz.casefile import Case
from gradfuzz.catalogue import load_catalogues
from gradfuzz.cli.app import app
from gradfuzz.corpus import Corpus
from gradfuzz.finding import Bucket, Evidence, Finding, Vote
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.report.chart import Series, line_chart
from gradfuzz.report.contents import contents
from gradfuzz.report.drawing import draw
from gradfuzz.report.page import page
from gradfuzz.report.runlog import read_run
from gradfuzz.runfolder import Settings
from gradfuzz.runtime import environment
from tests.build import one_call

SINH = one_call("Sinh", [0.5, 2.0], x=Ref(0))
LOG = one_call("Log", [0.5, 2.0], x=Ref(0))
SCRIPT = "<script>alert(1)</script>"


def case(graph: Graph, bucket: Bucket, note: str = "a note") -> Case:
    evidence = Evidence("wrong", 0, 1, 1, 3.0, 0.5, 0.5)
    finding = Finding(graph, bucket, evidence)
    return Case(finding, graph, environment(), 7, "2026-03-01", "2026-03-02", note=note)


SINH_CASE = case(SINH, Bucket("Sinh", "numeric", "value", "x"))
LOG_CASE = case(LOG, Bucket("Log", "numeric", "none", "x"), note=SCRIPT)


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """The folder of a campaign with two findings, one withdrawn, and a torn last line."""
    corpus = Corpus(tmp_path / "corpus")
    files = {each: corpus.save(each).name for each in (SINH_CASE, LOG_CASE)}
    folder = tmp_path / "run"
    folder.mkdir()
    settings = Settings(
        ["Log"], {"numeric": 1.0}, 7, 60.0, str(corpus.path), 2, 30.0, 3.0, "2026-03-01"
    )
    (folder / "settings.json").write_text(json.dumps(asdict(settings)))
    counts = {"event": "CasesCounted", "op": "Sinh", "rejected": 1, "hits": []}
    saved = [
        {"at": 3.0, "event": "FindingSaved", "bucket": asdict(each.finding.bucket), "file": name}
        for each, name in files.items()
    ]
    gone = {"at": 4.0, "event": "FindingWithdrawn", "bucket": {"op": "Cosh"}}
    lines: list[dict[str, Any]] = [
        {"at": 1.0, **counts, "cases": 60, "inconclusive": 30, "reasons": {"kinks": 30}},
        *saved,
        {**saved[0], "bucket": {"op": "Cosh"}, "file": "gone.json"},
        gone,
        {"at": 5.0, "event": "RoundEnded", "op": "Sinh", "gradients": ["Sinh", "Mul"]},
        {"at": 6.0, "event": "SomethingNew", "of": "a later version"},
        {"at": 20.0, **counts, "cases": 40, "inconclusive": 0, "reasons": {}},
        {"at": 40.0, **counts, "cases": 90, "inconclusive": 0, "reasons": {}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "log.jsonl").write_text(text + '{"at": 41.0, "event": "Cases')
    return folder


def test_the_log_of_a_campaign_is_read(run_folder: Path) -> None:
    run = read_run(run_folder)
    assert (run.total.cases, run.total.rejected, run.total.inconclusive) == (190, 3, 30)
    assert run.reached == {"Sinh", "Mul"}
    assert len(run.files) == 2
    assert run.speed == [(1.0, 60), (20.0, 100), (40.0, 190)]


def test_a_report_of_a_campaign_has_all_of_it(run_folder: Path) -> None:
    found = contents(run_folder, load_catalogues())
    assert {each.op for each in found.findings} == {"Sinh", "Log"}
    assert found.facts["cases"] == "190, 5 a second"
    assert [each.why for each in found.inconclusive] == ["kinks"]
    states = {cell.op: cell.state for cell in found.coverage}
    assert (states["Sinh"], states["Mul"], states["Tanh"]) == ("found", "reached", "covered")
    assert "<polyline" in found.speed
    assert "<polyline" in found.findings[0].convergence


def test_what_a_case_says_is_escaped(run_folder: Path) -> None:
    text = page(contents(run_folder, load_catalogues()))
    assert SCRIPT not in text
    assert "&lt;script&gt;alert(1)" in text


def test_the_page_needs_nothing_else(run_folder: Path) -> None:
    text = page(contents(run_folder, load_catalogues()))
    assert re.findall(r'(?:src|href)="(?!https://)', text) == []
    assert "url(" not in text
    checker = Balanced()
    checker.feed(text)
    assert checker.open == []


class Balanced(HTMLParser):
    """Raises for a tag that is closed without having been opened."""

    VOID = ("meta", "input", "br", "link")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() in (tag, "option"), tag
        if self.open and self.open[-1] == "option":
            self.open.pop()


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("javascript:alert(1)", ""),
        ("https://example.org/1", "https://example.org/1"),
        ("tensorflow/tensorflow#12071", "https://github.com/tensorflow/tensorflow/issues/12071"),
    ],
)
def test_a_link_leads_to_a_web_page_or_is_none(tmp_path: Path, link: str, url: str) -> None:
    corpus = Corpus(tmp_path)
    corpus.save(replace(SINH_CASE, link=link))
    [found] = contents(tmp_path, load_catalogues()).findings
    assert found.link == url


def test_a_crashing_case_is_shown_and_not_run(tmp_path: Path) -> None:
    Corpus(tmp_path).save(case(SINH, Bucket("Sinh", "always", "dies-SIGABRT")))
    [found] = contents(tmp_path, load_catalogues()).findings
    assert "not run" in found.votes


@pytest.mark.parametrize(
    ("tensorflow", "said"),
    [(environment()["tensorflow"], "7"), ("2.14.0", "3.762195691")],  # cosh(2)
)
def test_votes_are_asked_anew_only_where_those_held_are_of_another_tensorflow(
    tmp_path: Path, tensorflow: str, said: str
) -> None:
    voted = replace(SINH_CASE.finding, votes=(Vote("reverse", 7.0),))
    versions = environment() | {"tensorflow": tensorflow}
    Corpus(tmp_path).save(replace(SINH_CASE, finding=voted, environment=versions))
    [found] = contents(tmp_path, load_catalogues()).findings
    assert found.votes["reverse"].startswith(said)


def test_digits_of_one_op_stand_beside_no_path_and_no_differences_of_the_graph(
    tmp_path: Path,
) -> None:
    found = case(SINH, Bucket("Sinh", "precision", "float64-second-value", "x"))
    evidence = replace(found.finding.evidence, element=None, output=None)
    path = Corpus(tmp_path).save(replace(found, finding=replace(found.finding, evidence=evidence)))
    report = contents(tmp_path, load_catalogues())
    assert (report.findings[0].votes, report.findings[0].convergence) == ({}, "")
    assert "Each path" not in page(report)
    shown = run("show", path).stdout
    assert "Numbers" in shown
    assert "Convergence" not in shown


def test_a_broken_file_is_told_and_passed_over(tmp_path: Path) -> None:
    Corpus(tmp_path).save(SINH_CASE)
    (tmp_path / "broken.json").write_text("{")
    found = contents(tmp_path, load_catalogues())
    assert len(found.findings) == 1
    assert "broken.json" in found.problems[0]


def test_a_graph_is_drawn_with_each_node_and_edge() -> None:
    square = Call("Mul", {"x": Ref(1), "y": Ref(1)})
    nodes = (Leaf(np.array(0.5)), Call("Tanh", {"x": Ref(0)}), square)
    svg = draw(Graph(nodes, (Ref(2),)))
    assert svg.count("<rect") == 3
    assert svg.count('class="edge"') == 3
    assert "Tanh" in svg


def test_a_chart_leaves_out_what_it_cannot_draw() -> None:
    points = [(1.0, 1e-3), (0.1, 0.0), (0.01, float("nan")), (1e-3, 1e-5), (1e-4, 5e-324)]
    svg = line_chart([Series("a", "true", points)], "x", "y", log=True)
    assert svg.count("<circle") == 2
    assert line_chart([Series("a", "true", points[:1])], "x", "y", log=True) == ""


def test_a_recipe_stands_in_the_map_for_the_gradients_that_it_runs(tmp_path: Path) -> None:
    bucket = Bucket("recipe.TensorListGather", "numeric", "dies-SIGABRT")
    Corpus(tmp_path).save(case(SINH, bucket))
    states = {each.op: each.state for each in contents(tmp_path, load_catalogues()).coverage}
    assert (states["TensorListGather"], states["TensorListStack"]) == ("found", "covered")


def test_a_campaign_whose_corpus_is_elsewhere_is_refused(run_folder: Path) -> None:
    (run_folder.parent / "corpus").rename(run_folder.parent / "moved")
    done = run("report", run_folder)
    assert done.exit_code == 2
    assert "no such folder from here" in done.output


@pytest.mark.slow
def test_a_real_campaign_is_reported_as_it_was(tmp_path: Path) -> None:
    corpus, folder, output = tmp_path / "corpus", tmp_path / "run", tmp_path / "report.html"
    wanted = "--budget 15s --seed 7 --ops Cumprod,Tanh --oracles numeric --workers 1 --json"
    fuzzed = run("fuzz", *wanted.split(), "--corpus", corpus, "--run", folder)
    assert fuzzed.exit_code == 1, fuzzed.output
    told = json.loads(fuzzed.stdout)
    assert run("report", folder, "-o", output).exit_code == 0
    found = contents(folder, load_catalogues())
    assert {Path(each.file) for each in found.findings} == set(corpus.glob("*.json"))
    # A graph of Cumprod may have other ops in it, which have bugs of their own.
    assert "Cumprod" in {each.op for each in found.findings}
    assert found.facts["cases"].startswith(f"{told['cases']}, ")
    assert (found.facts["seed"], found.facts["findings"]) == ("7", str(len(found.findings)))
    assert found.problems == []
    assert "<polyline" in found.speed
    text = unescape(output.read_text())
    for each in found.findings:
        assert each.votes
        assert each.message in text


def run(*args: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(arg) for arg in args])


def test_the_command_writes_the_page(run_folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    done = run("report", run_folder, "-o", output)
    assert (done.exit_code, done.stdout) == (0, f"{output}: 2 findings\n")
    assert output.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("folder", "message"),
    [("nowhere", "no such file or folder"), ("empty", "holds no case file, should be a campaign")],
)
def test_what_is_no_campaign_is_refused(tmp_path: Path, folder: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    done = run("report", tmp_path / folder)
    assert done.exit_code == 2
    assert message in done.output


def test_a_page_that_cannot_be_written_is_told_before_it_is_made(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradfuzz.cli.report.contents", None)
    done = run("report", run_folder, "-o", tmp_path)
    assert done.exit_code == 2
    assert "not written" in done.output


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), "")

# What a person would click; what is then to be seen is written into the page's title.
CLICKS = """
<script>
const seen = [], ops = list => list.map(each => each.dataset.op).join();
const visible = () => ops(cases.filter(each => !each.hidden));
const choose = (id, value) => {
  const each = document.getElementById(id);
  each.value = value;
  each.dispatchEvent(new Event("input"));
};
const table = document.getElementById("inconclusive"), heads = table.querySelectorAll("th");
const rows = () => [...table.tBodies[0].rows].map(row => row.cells[0].textContent).join();
seen.push(visible());
choose("kind", "none"); seen.push(visible());
choose("kind", ""); choose("search", "sinh wrong"); seen.push(visible());
choose("search", ""); choose("order", "kind");
seen.push(ops([...document.getElementById("findings").children]));
heads[3].click(); seen.push(rows());
heads[3].click(); seen.push(rows());
seen.push(document.documentElement.scrollWidth <= window.innerWidth ? "fits" : "too wide");
document.title = seen.join("|");
</script>
"""


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no chromium here: apt-get install chromium")
@pytest.mark.parametrize("size", ["390,844", "1280,800"], ids=["phone", "desk"])
def test_filters_and_sorting_work_in_a_browser(run_folder: Path, tmp_path: Path, size: str) -> None:
    more = {"at": 50.0, "event": "CasesCounted", "op": "Log", "cases": 9, "rejected": 0,
            "inconclusive": 9, "reasons": {"a pole": 9}, "hits": []}  # fmt: skip
    log = run_folder / "log.jsonl"
    whole = log.read_text().rpartition("\n")[0]
    log.write_text(f"{whole}\n{json.dumps(more)}\n")
    file = tmp_path / "report.html"
    text = page(contents(run_folder, load_catalogues()))
    file.write_text(text.replace("</body>", CLICKS + "</body>"))
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}",
               f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title, done.stderr
    assert title[1].split("|") == [
        "Log,Sinh", "Log", "Sinh", "Log,Sinh", "Sinh,Log", "Log,Sinh", "fits",
    ]  # fmt: skip
