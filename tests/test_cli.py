"""Exit codes, one-line errors, JSON, and nothing obeyed that a case file says."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gradfuzz.casefile import Case
from gradfuzz.cli import fuzz as fuzz_module
from gradfuzz.cli.app import app
from gradfuzz.cli.terminal import visible
from gradfuzz.corpus import Corpus
from gradfuzz.errors import StorageError
from gradfuzz.events import (
    CaseChecked,
    CaseRejected,
    FindingFlaky,
    FindingSaved,
    RoundEnded,
    RoundFailed,
    RoundStarted,
)
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket, Evidence, Finding, Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.runtime import environment

# Its gradient raises by design: a case that fails on every TensorFlow.
PREVENTED = Bucket("PreventGradient", "always", "missing")
LOG = Bucket("Log", "numeric", "value", "x")


def case(bucket=PREVENTED, *, arg="input", evidence=Evidence("wrong"), **others):  # noqa: B008
    nodes = (Leaf(np.array([0.5, 2.0])), Call(bucket.op, {arg: Ref(0)}))
    graph = Graph(nodes, (Ref(1),))
    finding = Finding(graph, bucket, evidence)
    return Case(finding, graph, environment(), 7, "2026-03-01", "2026-03-02", **others)


def log_case(**others):
    evidence = Evidence("wrong", 0, 1, 1, analytic=3.0, low=0.5, high=0.5)
    return case(LOG, arg="x", evidence=evidence, **others)


@pytest.fixture
def corpus(tmp_path):
    return Corpus(tmp_path / "corpus")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))


def run(*args, columns="100"):
    result = CliRunner(env={"COLUMNS": columns}).invoke(app, [str(arg) for arg in args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def error_of(*args):
    """Return the one line on stderr of a run that must end with exit code 2."""
    result = run(*args)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    return result.stderr.removesuffix("\n")


def process(*args, code="from gradfuzz.__main__ import main; main()", **options):
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


# Without TensorFlow.


@pytest.mark.parametrize("args", [("--help",), ("fuzz", "--help"), ("--version",), ("fuzz", "-x")])
def test_help_version_and_usage_errors_import_no_tensorflow(args):
    code = """if True:
        import atexit, sys
        from gradfuzz.__main__ import main
        atexit.register(lambda: sys.stderr.write(f"{'tensorflow' in sys.modules} "
                                                 f"{'numpy' in sys.modules}"))
        main()
    """
    ended = process(*args, code=code)
    _, err = ended.communicate()
    assert err.endswith("False False")
    assert ended.returncode == (2 if "-x" in args else 0)


def test_tensorflow_missing_is_one_line():
    code = """if True:
        import sys
        sys.modules["tensorflow"] = None
        from gradfuzz.__main__ import main
        main()
    """
    ended = process("ops", code=code)
    out, err = ended.communicate()
    assert (ended.returncode, out) == (2, "")
    assert err.startswith("gradfuzz: TensorFlow: not installed, should be one of the extras ")
    assert err.count("\n") == 1


def test_a_reader_that_is_gone_is_no_error():
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-m", "gradfuzz", "--version"], stdout=write, stderr=subprocess.PIPE,
        check=False,
    )  # fmt: skip
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_version_names_gradfuzz_and_tensorflow():
    gradfuzz, *tensorflow = run("--version").stdout.splitlines()
    assert gradfuzz.startswith("gradfuzz ")
    assert tensorflow
    assert all(line.startswith(("tensorflow", "tf-nightly")) for line in tensorflow)


@pytest.mark.parametrize("command", ["fuzz", "replay", "show", "ops", "status"])
def test_the_help_of_a_command_has_exit_codes_and_an_example(command):
    text = run(command, "--help").stdout
    assert "Exit codes: 0 " in text
    assert f"Example: gradfuzz {command}" in text


def test_text_is_made_visible():
    assert visible("a\x1b[2J\r\n\x9b\u202e\udc80é") == r"a\x1b[2J\r\n\x9b\u202e\udc80é"


# Bad input.


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("fuzz", "--budget", "0"), "budget '0': should be above 0 and at most a year"),
        (("fuzz", "--budget", "soon"),
         "budget 'soon': should be seconds or a time such as 90s, 15m, 8h or 1h30m"),
        (("fuzz", "--ops", "MatMull"),
         "op 'MatMull': not in the catalogue; did you mean 'MatMul'?"),
        (("fuzz", "--ops", "MatMul,"),
         "--ops: an empty name, should be names of ops with commas between"),
        (("fuzz", "--workers", "0"), "--workers '0': should be auto or 1 to 512"),
        (("replay", "nowhere"),
         "nowhere: no such file or folder, should be a case file or a corpus"),
        (("show", "nowhere.json"),
         "nowhere.json: not read (No such file or directory), should be a readable file"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(args, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert error_of(*args) == f"gradfuzz: {line}"
    assert list(tmp_path.iterdir()) == []


def test_an_empty_corpus_is_wrong_usage(tmp_path):
    line = f"gradfuzz: {tmp_path}: holds no case file, should be a corpus"
    assert error_of("replay", tmp_path) == line


def test_a_corpus_that_is_a_file_is_told_before_the_campaign(tmp_path):
    file = tmp_path / "file"
    file.touch()
    line = error_of("fuzz", "--corpus", file)
    assert line == (f"gradfuzz: corpus {str(file)!r}: not written (File exists), "
                    "should be a writable folder with room")  # fmt: skip


def test_a_folder_is_no_case_to_show(tmp_path):
    assert "Is a directory" in error_of("show", tmp_path)


# Replay.


def test_a_replay_as_expected_ends_with_0(corpus):
    corpus.save(case())
    corpus.save(log_case(expect=Expect.PASSES))
    result = run("replay", corpus.path)
    assert result.exit_code == 0
    assert "2 cases: 1 STILL FAILS, 1 PASSES; all as expected" in result.stdout


def test_a_surprise_ends_with_1(corpus):
    path = corpus.save(log_case())
    result = run("replay", path, "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["exit_code"]) == (1, 1)
    assert found["counts"]["FIXED"] == 1
    assert found["problems"] == []
    assert found["cases"] == [{
        "file": str(path),
        "status": "FIXED",
        "expected": False,
        "expect": "fails",
        "bucket": {"op": "Log", "oracle": "numeric", "kind": "value", "input": "x"},
        "message": "the gradients agree",
    }]  # fmt: skip
    assert "1 not as expected" in result.stderr


def test_other_cases_are_replayed_beside_what_is_broken(corpus, tmp_path):
    whole = corpus.save(case())
    (corpus.path / "broken.json").write_text(whole.read_text()[:99])
    result = run("replay", corpus.path, tmp_path / "nowhere", whole, "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [(Path(c["file"]).name, c["status"]) for c in found["cases"]] == [
        (whole.name, "STILL FAILS"),
        ("broken.json", "ERROR"),
    ]
    assert found["cases"][1]["message"].startswith("line 3 column ")
    assert found["problems"] == [
        f"{tmp_path / 'nowhere'}: no such file or folder, should be a case file or a corpus"
    ]


def test_whatever_a_graph_makes_tensorflow_raise_is_an_error_of_its_case(corpus):
    path = corpus.save(case(Bucket("TensorListFromTensor", "numeric", "value"), arg="tensor"))
    path.write_text(path.read_text().replace(
        '"tensor": "%0"', '"tensor": "%0", "element_shape": {"int32": [], "shape": [0]}'
    ))  # fmt: skip
    result = run("replay", path)
    assert result.exit_code == 2
    assert "1 ERROR" in result.stdout


def test_in_a_pipe_a_case_is_one_line(corpus, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    path = corpus.save(case(evidence=Evidence("wrong " * 50)))
    lines = run("replay", path, columns=None).stdout.splitlines()
    assert next(line for line in lines if str(path) in line).startswith("STILL FAILS")


def test_in_a_pipe_the_longest_message_makes_no_other_line_longer(corpus, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    path = corpus.save(log_case())
    long = corpus.path / ("long" * 40 + ".json")
    long.write_text("{")
    lines = run("replay", path, long, columns=None).stdout.splitlines()
    line = next(line for line in lines if path.name in line)
    assert line.startswith(f"FIXED   surprise  {path}  ")
    assert len(line) < len(f"{path}") + 80
    assert line == line.rstrip()


# Show.


def test_show_has_all_of_a_case(corpus):
    path = corpus.save(log_case(link="https://example.org/1", note="a note"))
    result = run("show", path)
    assert result.exit_code == 0
    for part in ("Log.x value (numeric)", "FIXED, not as expected", "https://example.org/1",
                 "a note", "%1 = Log(x=%0)", "%0 = [0.5, 2.0]", "output 1, element 1, leaf 0",
                 "0.5 ± 0", "central - analytic", "► 0.5"):  # fmt: skip
        assert part in result.stdout


def test_show_as_json_has_saved_and_fresh_numbers(corpus):
    path = corpus.save(case(evidence=Evidence("wrong", analytic=float("nan"))))
    found = json.loads(run("show", path, "--json").stdout)
    assert found["status"] == "STILL FAILS"
    assert found["evidence"]["saved"]["analytic"] == "nan"
    assert found["evidence"]["now"]["message"].startswith("the gradient raised LookupError: ")
    assert found["leaves"] == [{"node": 0, "value": {"float64": [0.5, 2.0], "shape": [2]}}]
    assert len(found["convergence"]["rows"]) == 9
    assert found["convergence"]["analytic"] is None


def test_show_tells_all_else_of_an_element_that_does_not_exist(corpus):
    path = corpus.save(log_case())
    path.write_text(path.read_text().replace('"element": 1', '"element": 9'))
    result = run("show", path)
    assert result.exit_code == 2
    assert "%1 = Log(x=%0)" in result.stdout
    assert result.stderr == f"gradfuzz: {path}: evidence.element: 9, should be below 2\n"


def test_a_derivative_that_is_known_exactly_is_shown_with_all_of_its_digits(corpus):
    evidence = Evidence("wrong", 0, 1, 1, analytic=0.3333333333, low=1 / 3, high=1 / 3)
    path = corpus.save(case(LOG, arg="x", evidence=evidence))
    assert "0.3333333333333333 ± 0" in run("show", path, columns="200").stdout


def test_nothing_in_a_case_file_is_obeyed(corpus):
    evil = "\x1b[2J[red]\x07[/nope]\u202e"
    path = corpus.save(case(evidence=Evidence(evil), note=evil, link=evil))
    for command in ("show", "replay"):
        text = run(command, path, columns="200").stdout
        assert r"\x1b[2J[red]\x07[/nope]\u202e" in text or command == "replay"
        assert not set("\x1b\x07\u202e") & set(text)


# Ops.


def test_ops_as_json_covers_every_registered_gradient():
    found = json.loads(run("ops", "--json").stdout)
    [row] = [row for row in found["ops"] if row["op"] == "Abs"]
    assert row["entries"] > 0
    assert row["in_tensorflow"]
    assert row["gradient"]
    counts = found["counts"]
    covered = counts["in_catalogue_with_gradient"] + counts["missing"]
    assert 0 <= counts["registered"] - covered <= counts["excluded"]
    assert counts["missing"] == len(found["missing"])


def test_ops_says_what_is_missing_when_asked():
    assert "Not yet covered" in run("ops", "--missing").stdout
    assert "Not yet covered" not in run("ops").stdout


# Fuzz.


def scripted(monkeypatch, *script, error=None):
    """Replace the campaign by one that reports `script` and then raises `error`."""

    class Scripted(fuzz_module.Campaign):
        def run(self):
            for event in script:
                self.listen(event)
            if error:
                raise error

    monkeypatch.setattr(fuzz_module, "Campaign", Scripted)


FOUND = case().finding
FIRST = FindingSaved(FOUND, Path("c/first.json"), shrunk=False)
SHRUNK = FindingSaved(FOUND, Path("c/shrunk.json"), shrunk=True)


def test_nothing_new_ends_with_0(monkeypatch, corpus):
    scripted(monkeypatch, RoundStarted("Log"), CaseChecked("Log", Verdict.AGREE))
    result = run("fuzz", "--corpus", corpus.path)
    assert result.exit_code == 0
    assert result.stdout.startswith("seed ")
    assert "Nothing new." in result.stdout


def test_a_new_finding_is_printed_once_and_ends_with_1(monkeypatch, corpus):
    scripted(monkeypatch, FIRST, SHRUNK)
    result = run("fuzz", "--corpus", corpus.path)
    assert result.exit_code == 1
    assert result.stdout.count("%1 = PreventGradient(input=%0)") == 1
    assert "gradfuzz show c/shrunk.json" in result.stdout
    assert f"gradfuzz replay {corpus.path}" in result.stdout


def test_what_was_dropped_is_told_and_is_no_finding(monkeypatch, corpus):
    scripted(monkeypatch, FIRST, FindingFlaky(PREVENTED, 0, 4), RoundFailed("Log", "too slow"),
             RoundFailed("Log", "too slow"))  # fmt: skip
    result = run("fuzz", "--corpus", corpus.path)
    assert result.exit_code == 0
    assert f"dropped {PREVENTED}: it showed 0 times in 4 fresh processes" in result.stdout
    assert result.stdout.count("could not draw Log: too slow") == 1


def test_gaps_and_the_time_of_oracles_are_shown(monkeypatch, corpus):
    why = "second order: no gradient of LogGrad"
    scripted(
        monkeypatch,
        CaseChecked("Log", Verdict.INCONCLUSIVE, reason=why, gap=True),
        CaseChecked("Log", Verdict.AGREE),
        RoundEnded("Log", "numeric", 3.0),
        RoundEnded("Log", "second", 1.0),
    )
    result = run("fuzz", "--corpus", corpus.path)
    assert result.exit_code == 0
    assert "numeric 75%, second 25%" in result.stdout
    assert "Derivatives that TensorFlow has not" in result.stdout
    assert why in result.stdout
    assert "0 cases, 0.00%" in result.stdout


def test_an_unknown_oracle_is_refused_in_one_line(corpus):
    result = run("fuzz", "--corpus", corpus.path, "--oracles", "numerics")
    assert result.exit_code == 2
    assert "oracle 'numerics': unknown; did you mean 'numeric'?" in result.stderr


def test_json_is_all_of_stdout(monkeypatch, corpus):
    corpus.save(log_case())
    script = [CaseChecked("Log", Verdict.DISAGREE, LOG), CaseRejected("Log"), FIRST,
              CaseChecked("Log", Verdict.INCONCLUSIVE, reason="unclear")]  # fmt: skip
    scripted(monkeypatch, *script)
    result = run("fuzz", "--corpus", corpus.path, "--seed", 5, "--budget", "1m", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["seed"], found["budget"], found["stopped"]) == (5, 60, False)
    assert found["error"] is None
    assert (found["cases"], found["rejected"], found["inconclusive"]) == (2, 1, 1)
    assert found["ops"]["Log"] == {
        "cases": 2,
        "rejected": 1,
        "inconclusive": 1,
        "gaps": 0,
        "findings": 0,
    }
    assert found["ops"]["PreventGradient"]["findings"] == 1
    [finding] = found["findings"]
    assert finding["bucket"]["op"] == "PreventGradient"
    assert (finding["file"], finding["shrunk"]) == ("c/first.json", False)
    assert [(known["bucket"]["op"], known["cases"]) for known in found["known"]] == [("Log", 1)]
    assert "with 1 known bucket" in result.stderr
    assert "unclear" in result.stderr


def test_a_full_disk_leaves_the_summary_and_one_line(monkeypatch, corpus):
    scripted(monkeypatch, SHRUNK, error=StorageError("corpus 'c': not written"))
    result = run("fuzz", "--corpus", corpus.path, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"] == "corpus 'c': not written"
    assert len(json.loads(result.stdout)["findings"]) == 1
    assert result.stderr.endswith("gradfuzz: corpus 'c': not written\n")


def test_an_error_is_told_in_json_too(corpus):
    result = run("replay", "nowhere", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"].startswith("nowhere: no such file")
    assert result.stderr.startswith("gradfuzz: nowhere: no such file")


def test_a_wrong_flag_is_told_in_json_too():
    result = run("fuzz", "--nope", "--json")
    assert result.exit_code == 2
    assert "--nope" in json.loads(result.stdout)["error"]


def test_an_error_that_is_part_of_the_json_is_not_told_twice(monkeypatch, corpus):
    scripted(monkeypatch, error=StorageError("full"))
    assert json.loads(run("fuzz", "--corpus", corpus.path, "--json").stdout)["error"] == "full"


def test_a_fault_of_gradfuzz_itself_ends_with_3_and_a_clear_line(monkeypatch, corpus):
    scripted(monkeypatch, RoundFailed("Log", "gradfuzz itself failed: KeyError(0)", own=True))
    result = run("fuzz", "--corpus", corpus.path)
    assert result.exit_code == 3
    assert "please report this: Log: gradfuzz itself failed: KeyError(0)" in result.stdout


def test_quiet_prints_the_summary_only(monkeypatch, corpus):
    scripted(monkeypatch, FIRST, SHRUNK)
    result = run("fuzz", "--corpus", corpus.path, "--quiet")
    assert result.exit_code == 1
    assert result.stdout.startswith("run ")
    assert "New findings" in result.stdout


def test_status_tells_of_a_campaign_that_is_over(monkeypatch, corpus):
    scripted(monkeypatch, RoundStarted("Log"), CaseChecked("Log", Verdict.AGREE))
    run("fuzz", "--corpus", corpus.path, "--run", "run", "--seed", 5)
    assert "over, begun " in run("status", "run").stdout
    found = json.loads(run("status", "run", "--json").stdout)
    assert (found["state"], found["cases"], found["seed"]) == ("over", 1, 5)


def test_a_campaign_is_resumed_with_what_it_was_begun_with(monkeypatch, corpus):
    scripted(monkeypatch, RoundStarted("Log"), CaseChecked("Log", Verdict.AGREE))
    run("fuzz", "--corpus", corpus.path, "--run", "run", "--seed", 5, "--ops", "Log")
    result = run("fuzz", "--resume", "run", "--json")
    found = json.loads(result.stdout)
    assert (found["seed"], found["cases"], found["corpus"]) == (5, 2, str(corpus.path))
    assert error_of("fuzz", "--run", "run", "--corpus", corpus.path).endswith(
        "is a campaign already, should be a new folder, or be given to --resume"
    )


def test_what_is_no_campaign_cannot_be_resumed():
    assert "no campaign, should be the folder of one" in error_of("fuzz", "--resume", "nowhere")
    assert error_of("status", "nowhere").endswith("no campaign, should be the folder of one")
    assert "holds no campaign" in error_of("status")


def test_a_broken_case_file_is_passed_over(monkeypatch, corpus):
    corpus.save(log_case())
    (corpus.path / "broken.json").write_text("{")
    scripted(monkeypatch)
    result = run("fuzz", "--corpus", corpus.path)
    assert result.exit_code == 0
    assert "passed over:" in result.stdout
    assert "with 1 known bucket" in result.stdout


def test_a_real_campaign_repeats_with_its_seed(corpus):
    options = ("fuzz", "--budget", "1", "--ops", "Neg, Abs", "--json", "--corpus", corpus.path)
    found = json.loads(run(*options).stdout)
    assert found["cases"] > 0
    assert found["seed"] == json.loads(run(*options, "--seed", found["seed"]).stdout)["seed"]


def test_ctrl_c_ends_a_campaign_with_its_summary(tmp_path):
    campaign = process("fuzz", "--budget", "5m", "--ops", "Neg", "--json", cwd=tmp_path)
    assert campaign.stderr.readline().startswith("seed ")
    # Workers start meanwhile.
    while not any(json.loads(path.read_text())["cases"]
                  for path in tmp_path.glob(".gradfuzz/*/status.json")):  # fmt: skip
        time.sleep(0.1)
    campaign.send_signal(signal.SIGINT)
    out, err = campaign.communicate(timeout=120)
    found = json.loads(out)
    assert campaign.returncode == 0
    assert found["stopped"]
    assert found["cases"] > 0
    assert "(stopped early)" in err
    assert "Traceback" not in err
