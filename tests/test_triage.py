"""What a person says of a finding is written down, and campaigns pass over it."""

import json
from pathlib import Path

import pytest

from gradfuzz.cli import triage as triage_module
from gradfuzz.corpus import Corpus
from gradfuzz.known import Accepted, accept, read_accepted
from tests.test_cli import PREVENTED, case, error_of, log_case, run


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


def test_flags_say_it_without_a_question(corpus: Corpus) -> None:
    path = corpus.save(log_case())
    result = run("triage", corpus.path, "--as", "convention", "--note", "so", "--until", "2.30")
    assert result.exit_code == 0
    assert "1 finding said what it is; 0 new findings left" in result.stdout
    assert read_accepted(corpus.path) == [
        Accepted("Log.x value (numeric)", "convention", "", "so", "2.30")
    ]
    assert corpus.load(path).note == "so"


def test_answers_are_taken_one_by_one(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    log, prevented = corpus.save(log_case()), corpus.save(case())
    answers = iter(["l", "https://example.org/1", "documented", "q"])
    monkeypatch.setattr(triage_module.Prompt, "ask", lambda *args, **options: next(answers))
    result = run("triage", corpus.path)
    assert "1 finding said what it is; 1 new finding left" in result.stdout
    told = corpus.load(log)
    assert (told.link, told.note) == ("https://example.org/1", "documented")
    assert corpus.load(prevented).note == ""
    # It begins where it ended.
    assert "1 of 1" in run("triage", corpus.path, "--as", "bug").stdout


def test_what_is_skipped_is_left_and_the_next_is_shown(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.save(log_case())
    corpus.save(case())
    answers = iter(["s", "b", "", "a note"])
    monkeypatch.setattr(triage_module.Prompt, "ask", lambda *args, **options: next(answers))
    assert "1 finding said what it is; 1 new finding left" in run("triage", corpus.path).stdout


@pytest.mark.parametrize("error", [EOFError, KeyboardInterrupt])
def test_the_end_of_the_answers_is_the_end(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def end(*args: object, **options: object) -> str:
        raise error

    corpus.save(log_case())
    monkeypatch.setattr(triage_module.Prompt, "ask", end)
    result = run("triage", corpus.path)
    assert result.exit_code == 0
    assert "1 new finding left" in result.stdout


def test_what_has_a_note_or_matches_a_pattern_is_not_new(corpus: Corpus) -> None:
    corpus.save(log_case(note="known"))
    corpus.save(case())
    accept(corpus.path, Accepted("Prevent*", "convention"))
    assert "0 findings said what it is; 0 new findings left" in run("triage", corpus.path).stdout


def test_wrong_answers_are_one_line(corpus: Corpus) -> None:
    corpus.save(log_case())
    assert "--as 'thing': should be bug, convention" in error_of(
        "triage", corpus.path, "--as", "thing"
    )
    assert '--until: "soon", should be a version' in error_of(
        "triage", corpus.path, "--as", "bug", "--until", "soon"
    )


def test_a_broken_list_is_told(corpus: Corpus) -> None:
    corpus.save(log_case())
    (corpus.path / "known.toml").write_text("[[known")
    assert "known.toml: not TOML" in error_of("triage", corpus.path)
    assert "known.toml: not TOML" in error_of("fuzz", "--corpus", corpus.path)


def test_replay_names_what_is_not_seen_any_more(corpus: Corpus) -> None:
    corpus.save(case())
    corpus.save(log_case())
    accept(corpus.path, Accepted(f"{PREVENTED.op}*", "convention"))
    accept(corpus.path, Accepted("Exp*", "bug"))  # of which there is no case
    accept(corpus.path, Accepted("Log*", "bug"))
    result = run("replay", corpus.path, "--json")
    assert json.loads(result.stdout)["stale"] == ["Log*"]
    assert "stale: 'Log*' of known.toml (bug) is not seen any more" in result.stderr
