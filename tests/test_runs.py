"""A campaign's folder: what is logged can be read back, resumed and shown, however it ended."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gradfuzz.cli.past import Past
from gradfuzz.cli.tally import Tally
from gradfuzz.clock import Stopwatch
from gradfuzz.corpus import Corpus
from gradfuzz.errors import StorageError, UsageError
from gradfuzz.events import (
    CaseChecked,
    CaseRejected,
    Event,
    FindingFlaky,
    FindingSaved,
    FindingWithdrawn,
    RoundEnded,
    RoundFailed,
    RoundStarted,
    StorageFailed,
    WorkerDied,
)
from gradfuzz.finding import Bucket, Verdict
from gradfuzz.log import Log, append, read_log
from gradfuzz.runfolder import RunFolder, Settings
from tests.test_cli import case

SETTINGS = Settings(
    ["Log"], {"numeric": 1.0}, 7, 60.0, "corpus", 2, 30.0, 3.0, "2026-03-01T22:00:00"
)
LOG = Bucket("Log", "numeric", "value", "x")
DEAD = Bucket("Log", "always", "dies-SIGSEGV")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    found = RunFolder(tmp_path / "run")
    found.create(SETTINGS)
    return found


def script(corpus: Corpus) -> list[Event]:
    saved = case()
    path = corpus.save(saved)
    return [
        RoundStarted("Log", "numeric"),
        CaseChecked("Log", Verdict.AGREE),
        CaseChecked("Log", Verdict.INCONCLUSIVE, reason="unclear"),
        CaseChecked("Log", Verdict.DISAGREE, LOG),
        CaseRejected("Log"),
        FindingSaved(saved.finding, path, shrunk=False),
        WorkerDied("Log", "dies-SIGSEGV", DEAD),
        WorkerDied("Log", "dies-SIGKILL"),
        FindingWithdrawn(DEAD),
        FindingFlaky(LOG, 1, 4),
        RoundFailed("Log", "too slow"),
        RoundFailed("Log", "gradfuzz itself failed: KeyError()", own=True),
        StorageFailed("full"),
        RoundEnded("Log", "numeric", 1.5, frozenset({"Log", "Exp"}), around=3),
    ]


def logged(folder: RunFolder, events: list[Event]) -> Tally:
    """Log the events, and return what a tally makes of them."""
    tally, log = Tally(frozenset()), Log(folder.log, Stopwatch(12.0))
    for event in events:
        log.listen(event)
        tally.count(event)
    return tally


def comparable(tally: Tally) -> dict[str, Any]:
    found = {bucket: (saved.path, saved.shrunk) for bucket, saved in tally.new.items()}
    return vars(tally) | {"new": found}


# The log.


def test_a_tally_of_the_log_is_that_of_the_events(folder: RunFolder, corpus: Corpus) -> None:
    tally = logged(folder, script(corpus))
    past = Past.of(folder, corpus)
    assert comparable(past.tally) == comparable(tally)
    assert (past.rounds, past.spent) == ([("Log", "numeric")], 12.0)
    account = past.accounts["Log"]
    assert (account.cases, account.seconds, account.deaths) == (3, 1.5, 1)
    [pending] = past.unfinished()
    assert pending.bucket == case().finding.bucket


def test_each_line_is_json(folder: RunFolder, corpus: Corpus) -> None:
    logged(folder, script(corpus))
    lines = [json.loads(line) for line in folder.log.read_text().splitlines()]
    assert all(line["at"] == 12.0 for line in lines)
    assert lines[1]["event"] == "CasesCounted"


def test_a_torn_line_is_taken_away_and_the_log_goes_on(folder: RunFolder, corpus: Corpus) -> None:
    logged(folder, script(corpus)[:2])
    whole = folder.log.read_bytes()
    folder.log.write_bytes(whole + b'{"at": 12.0, "event": "RoundSt')
    assert len(list(read_log(folder.log, corpus))) == len(whole.splitlines())
    logged(folder, [RoundStarted("Exp")])
    assert folder.log.read_bytes().startswith(whole + b"{")
    assert [op for op, _ in Past.of(folder, corpus).rounds] == ["Log", "Exp"]


def test_lines_of_another_version_are_passed_over(folder: RunFolder, corpus: Corpus) -> None:
    folder.log.write_text('{"at": 1, "event": "New"}\n[]\n{"at": 2, "event": "RoundStarted"}\n')
    assert list(read_log(folder.log, corpus)) == []


def test_what_was_saved_and_is_gone_from_the_corpus_is_left_out(
    folder: RunFolder, corpus: Corpus
) -> None:
    logged(folder, script(corpus))
    for path in corpus.case_files():
        path.unlink()
    assert Past.of(folder, corpus).tally.new == {}


def test_a_full_disk_tears_no_line_and_loses_none(
    folder: RunFolder, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, write = Log(folder.log, Stopwatch()), os.write
    log.listen(RoundStarted("A"))
    whole = folder.log.read_bytes()

    def full(file: int, data: bytes) -> int:
        if len(data) > 10:
            return write(file, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    log.listen(RoundStarted("B"))
    assert folder.log.read_bytes() == whole
    monkeypatch.undo()
    log.listen(RoundStarted("C"))
    assert [line.event for line in read_log(folder.log, corpus)] == [
        RoundStarted("A"),
        RoundStarted("B"),
        RoundStarted("C"),
    ]


def test_an_append_is_the_whole_or_an_error(tmp_path: Path) -> None:
    append(tmp_path / "file", b"one\n")
    append(tmp_path / "file", b"two\n")
    assert (tmp_path / "file").read_bytes() == b"one\ntwo\n"


# The folder.


def test_settings_are_read_back(folder: RunFolder) -> None:
    assert folder.settings() == SETTINGS


def test_a_folder_holds_one_campaign(folder: RunFolder) -> None:
    with pytest.raises(UsageError, match="is a campaign already"):
        folder.create(SETTINGS)


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"seed": 1}'])
def test_what_is_no_campaign_is_told(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "settings.json").write_text(text)
    with pytest.raises(UsageError, match="no campaign"):
        RunFolder(tmp_path).settings()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="should be a writable folder"):
        RunFolder(tmp_path / "file").create(SETTINGS)


def test_a_campaign_is_alive_while_its_process_is(folder: RunFolder) -> None:
    assert not folder.is_alive()
    folder.write_status({"seconds": 1.0})
    assert folder.is_alive()
    folder.write_status({"over": True})
    assert not folder.is_alive()


def test_a_process_that_has_the_number_of_a_dead_one_is_another(folder: RunFolder) -> None:
    folder.write_status({"began": 1.0})
    assert not folder.is_alive()


def test_a_broken_status_is_none(folder: RunFolder) -> None:
    (folder.path / "status.json").write_text("[1")
    assert folder.status() == {}
    assert not folder.is_alive()
