"""A corpus keeps every case whole, and says in one line what it could not read or write."""

import errno
import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradfuzz.casefile import Case, file_name
from gradfuzz.corpus import Corpus, find_case_files
from gradfuzz.errors import CaseFileError, StorageError
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket, Evidence, Finding, Vote
from gradfuzz.graph import Call, Graph, Leaf, Ref


def case_at(value: float, *, op: str = "Log", oracle: str = "numeric") -> Case:
    graph = Graph((Leaf(np.array([value])), Call(op, {"x": Ref(0)})), (Ref(1),))
    return Case(
        finding=Finding(graph, Bucket(op, oracle, "value", "x"), Evidence("wrong")),
        original=graph,
        environment={"tensorflow": "2.20.0"},
        seed=7,
        first_seen="2026-03-01",
        last_seen="2026-03-01",
    )


CASE = case_at(0.0)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


def names(corpus: Corpus) -> list[str]:
    return sorted(path.name for path in corpus.path.iterdir())


# Saving.


def test_the_first_save_makes_the_folder(corpus: Corpus) -> None:
    path = corpus.save(CASE)
    assert path == corpus.path / file_name(CASE)
    assert names(corpus) == [file_name(CASE)]
    assert corpus.load(path).finding.bucket == CASE.finding.bucket


def test_saving_the_same_graph_twice_gives_one_file(corpus: Corpus) -> None:
    first = corpus.save(CASE)
    text = first.read_bytes()
    assert corpus.save(case_at(0.0)) == first
    assert first.read_bytes() == text
    assert names(corpus) == [first.name]


def test_a_case_seen_again_keeps_what_a_person_wrote(corpus: Corpus) -> None:
    corpus.save(replace(CASE, expect=Expect.PASSES, link="https://x.org/1", note="known"))
    again = replace(CASE, first_seen="2026-04-01", last_seen="2026-04-02", seed=8,
                    environment={"tensorflow": "2.21.0"}, note="other")  # fmt: skip
    found = corpus.load(corpus.save(again))
    assert (found.expect, found.link, found.note) == (Expect.PASSES, "https://x.org/1", "known")
    assert (found.first_seen, found.last_seen) == ("2026-03-01", "2026-04-02")
    assert found.environment == {"tensorflow": "2.21.0"}


def test_a_case_seen_again_has_the_votes_of_the_last_sight_that_asked(corpus: Corpus) -> None:
    votes = [(Vote("reverse", value),) for value in (1.0, 2.0)]
    for each in (votes[0], votes[1], ()):
        finding = replace(CASE.finding, votes=each)
        path = corpus.save(replace(CASE, finding=finding))
    assert corpus.load(path).finding.votes == votes[1]


def test_two_bugs_of_one_graph_are_two_cases(corpus: Corpus) -> None:
    other = case_at(0.0, oracle="forward")
    first, second = corpus.save(CASE), corpus.save(other)
    assert second.name == file_name(CASE).replace(".json", "-forward-x.json")
    assert corpus.save(CASE) == first
    assert corpus.save(other) == second
    assert corpus.known_buckets() == {CASE.finding.bucket, other.finding.bucket}


def test_a_hostile_bucket_does_not_leave_the_folder(corpus: Corpus) -> None:
    corpus.save(CASE)
    path = corpus.save(case_at(0.0, oracle="../../x"))
    assert path.parent == corpus.path
    assert len(names(corpus)) == 2


def test_a_broken_file_is_not_overwritten(corpus: Corpus) -> None:
    first = corpus.save(CASE)
    first.write_text('{"format": 2}')
    second = corpus.save(CASE)
    assert second != first
    assert corpus.save(CASE) == second
    assert first.read_text() == '{"format": 2}'


def test_an_edited_file_is_not_taken_for_the_case_it_was(corpus: Corpus) -> None:
    first = corpus.save(CASE)
    first.write_text(first.read_text().replace("[0.0]", "[3.0]"))
    second = corpus.save(CASE)
    assert second != first
    assert corpus.load(first).finding.graph.primals == [3.0]
    assert corpus.load(second).finding.graph.primals == [0.0]


def test_two_writers_at_once_leave_one_whole_file_per_graph(corpus: Corpus) -> None:
    cases = [case_at(float(i % 3)) for i in range(24)]
    with ThreadPoolExecutor(4) as threads:
        paths = set(threads.map(corpus.save, cases))
    assert sorted(path.name for path in paths) == names(corpus)
    assert len(paths) == 3
    assert len(corpus.load_all()[0]) == 3


# Replacing.


def test_the_shrunk_case_takes_the_place_of_the_found_one(corpus: Corpus) -> None:
    found = corpus.save(CASE)
    shrunk = corpus.replace(found, case_at(0.5))
    assert names(corpus) == [shrunk.name]


def test_a_case_that_did_not_shrink_stays(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    found = corpus.save(CASE)
    monkeypatch.chdir(found.parent)
    assert corpus.replace(Path(found.name), CASE) == found
    assert names(corpus) == [found.name]


def test_a_case_whose_found_file_is_gone_is_saved(corpus: Corpus) -> None:
    shrunk = corpus.replace(corpus.path / "gone.json", CASE)
    assert names(corpus) == [shrunk.name]


# Reading.


def test_a_broken_file_does_not_hide_the_others(corpus: Corpus) -> None:
    whole = corpus.save(CASE)
    broken = corpus.path / "a.json"
    broken.write_text(whole.read_text()[:100])
    cases, errors = corpus.load_all()
    assert [path for path, _ in cases] == [whole]
    assert [str(error) for error in errors] == [
        f"{broken}: line 4 column 3: not JSON (Unterminated string starting at), "
        "should be a whole case file"
    ]
    assert corpus.known_buckets() == {CASE.finding.bucket}


def test_case_files_are_sorted_and_nothing_else(corpus: Corpus) -> None:
    paths = sorted(corpus.save(case_at(float(i))) for i in range(5))
    (corpus.path / ".x.json.1-2.tmp").write_text("{")
    (corpus.path / "README.md").write_text("")
    (corpus.path / "folder.json").mkdir()
    assert corpus.case_files() == paths
    assert find_case_files(corpus.path) == paths


def test_a_path_may_be_one_case_file(corpus: Corpus) -> None:
    path = corpus.save(CASE)
    assert find_case_files(path) == [path]


def test_an_op_of_no_registry_is_refused_with_the_file(corpus: Corpus) -> None:
    path = corpus.save(case_at(0.0, op="WriteFile"))
    with pytest.raises(CaseFileError) as caught:
        corpus.load(path)
    assert str(caught.value).startswith(
        f"{path}: nodes[1].op 'WriteFile': neither in the catalogue nor a pure op"
    )


def test_an_op_that_no_one_knows_may_be_one_of_the_users_own(corpus: Corpus) -> None:
    path = corpus.save(case_at(0.0, op="my_kernels.blur"))
    with pytest.raises(CaseFileError, match="your own comes with --ops-from"):
        corpus.load(path)


def test_an_op_of_the_catalogue_is_taken(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path, {"tf.linalg.expm"})
    assert corpus.load(corpus.save(case_at(0.0, op="tf.linalg.expm")))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff{}", "byte 0: not UTF-8, should be text"),
        (b"", "line 1 column 1: not JSON (Expecting value), should be a whole case file"),
        (b" " * (2**25 + 9), "case file: 33554433 characters, should be at most 33554432"),
    ],
)
def test_what_is_no_text_is_refused_with_the_file(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(CaseFileError) as caught:
        Corpus(tmp_path).load(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_case_file_that_is_gone_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(CaseFileError) as caught:
        Corpus(tmp_path).load(path)
    assert str(caught.value) == (
        f"{path}: not read (No such file or directory), should be a readable file"
    )


def test_what_a_person_adds_by_hand_is_read(corpus: Corpus) -> None:
    path = corpus.save(CASE)
    raw = json.loads(path.read_text())
    path.write_text(json.dumps({**raw, "note": "für später"}, ensure_ascii=False), "utf-8")
    assert corpus.load(path).note == "für später"


# Folders that cannot be used.


def test_a_missing_folder_cannot_be_read(corpus: Corpus) -> None:
    with pytest.raises(StorageError) as caught:
        corpus.load_all()
    assert str(caught.value) == (
        f"corpus '{corpus.path}': no such folder, should be a folder of case files"
    )
    assert corpus.known_buckets() == set()
    with pytest.raises(StorageError, match=r": no such file or folder, should be a case file or"):
        find_case_files(corpus.path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path / "x")
    corpus.path.write_text("")
    with pytest.raises(StorageError) as caught:
        corpus.case_files()
    assert str(caught.value) == f"corpus '{corpus.path}': a file, should be a folder of case files"
    for path in (corpus.path, corpus.path / "in"):
        with pytest.raises(StorageError, match=r": a file, or in one, should be a folder of case"):
            Corpus(path).save(CASE)


def test_a_folder_that_may_not_be_read_is_not_an_empty_one(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    corpus.save(CASE)
    monkeypatch.setattr(Path, "iterdir", refuse)
    for read in (corpus.load_all, lambda: find_case_files(corpus.path)):
        with pytest.raises(StorageError, match=r": not read \(Permission denied\), should be a"):
            read()


@pytest.mark.parametrize("step", ["replace", "fsync"])
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.EACCES, "Permission denied"),
        (errno.EROFS, "Read-only file system"),
        (errno.ENOSPC, "No space left on device"),
    ],
)
def test_a_failed_write_leaves_nothing_torn(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, step: str, code: int, reason: str
) -> None:
    corpus.save(case_at(1.0))
    before = names(corpus)

    def fail(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(StorageError) as caught:
        corpus.save(CASE)
    assert str(caught.value) == (
        f"corpus '{corpus.path}': not written ({reason}), should be a writable folder with room"
    )
    assert names(corpus) == before


def test_a_folder_that_may_not_be_written_is_an_error(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def refuse(path: Path, mode: str = "r", **rest: Any) -> Any:
        if "x" in mode:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, mode, **rest)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(StorageError, match=r": not written \(Permission denied\), should be a"):
        corpus.save(CASE)


def test_an_interrupted_write_leaves_no_temporary_file(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        corpus.save(CASE)
    assert names(corpus) == []


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 16 KiB, three quarters of them taken."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("no permission to mount a small file system")
    try:
        (disk / "ballast").write_bytes(bytes(12 * 1024))
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_keeps_what_was_saved(full_disk: Path) -> None:
    corpus = Corpus(full_disk)
    kept = corpus.save(CASE)
    text = kept.read_bytes()
    for case in (case_at(1.0), replace(CASE, last_seen="2026-04-01")):
        with pytest.raises(StorageError, match=r"not written \(No space left on device\)"):
            corpus.save(case)
    assert names(corpus) == sorted(["ballast", kept.name])
    assert kept.read_bytes() == text
