"""Each status of a replayed case, by hand-built cases and planted gradients."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradfuzz.answer import ask_here
from gradfuzz.casefile import Case
from gradfuzz.check import check
from gradfuzz.corpus import Corpus
from gradfuzz.errors import StorageError
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket, Evidence, Finding
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.order import Death
from gradfuzz.replay import Replayed, Status, replay
from gradfuzz.runtime import environment
from gradfuzz.subject import SECONDS
from tests.build import one_call
from tests.planted import planted_gradient

X = Ref(0)
SINH = one_call("Sinh", [0.5, 2.0], x=X)
WRONG = Bucket("Sinh", "numeric", "value", "x")
# Its gradient raises by design, on every TensorFlow.
PREVENTED = one_call("PreventGradient", [0.5], input=X)
MISSING = Bucket("PreventGradient", "always", "missing")
# Two kinks that cancel: nothing can be said.
CANCELLED = Graph(
    (
        Leaf(np.array(0.0)),
        Call("Relu", {"features": X}),
        Call("Neg", {"x": X}),
        Call("Relu", {"features": Ref(2)}),
        Call("Sub", {"x": Ref(1), "y": Ref(3)}),
    ),
    (Ref(4),),
)


def case(graph: Graph, bucket: Bucket, expect: Expect = Expect.FAILS) -> Case:
    finding = Finding(graph, bucket, Evidence("wrong"))
    return Case(finding, graph, environment(), 7, "2026-03-01", "2026-03-02", expect)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus")


def replayed(corpus: Corpus, *cases: Case) -> list[Replayed]:
    for each in cases:
        corpus.save(each)
    return list(replay([corpus.path], corpus.catalogue, ask_here))


def twice(right: Any, op: Any, cotangent: Any) -> Any:
    return 2 * right(op, cotangent)


def none(right: Any, op: Any, cotangent: Any) -> None:
    return None


def planted(wrong: Any) -> AbstractContextManager[None]:
    return planted_gradient("Sinh", wrong) if wrong else nullcontext()


# Each status.


@pytest.mark.parametrize(
    ("expect", "wrong", "status", "expected"),
    [
        (Expect.FAILS, None, Status.FIXED, False),
        (Expect.FAILS, twice, Status.STILL_FAILS, True),
        (Expect.FAILS, none, Status.CHANGED, False),
        (Expect.PASSES, None, Status.PASSES, True),
        (Expect.PASSES, twice, Status.REGRESSED, False),
        (Expect.PASSES, none, Status.REGRESSED, False),
    ],
)
def test_the_status_is_what_became_of_what_was_expected(
    corpus: Corpus, expect: Expect, wrong: Any, status: Status, *, expected: bool
) -> None:
    with planted(wrong):
        [found] = replayed(corpus, case(SINH, WRONG, expect))
    assert (found.status, found.status.expected) == (status, expected)
    assert found.case is not None
    assert found.report is not None


@pytest.mark.parametrize("expect", Expect)
def test_what_cannot_be_told_any_more_has_changed(corpus: Corpus, expect: Expect) -> None:
    bucket = Bucket("Sub", "numeric", "value", "x")
    [found] = replayed(corpus, case(CANCELLED, bucket, expect))
    assert (found.status, found.status.expected) == (Status.CHANGED, False)
    assert found.report is not None
    assert found.message == found.report.reason != ""


def test_the_messages(corpus: Corpus) -> None:
    def message(wrong: Any) -> str:
        with planted(wrong):
            [found] = replayed(corpus, case(SINH, WRONG))
        return found.message

    assert message(None) == "the gradients agree"
    assert message(twice).startswith("analytic ")
    assert message(none).startswith("now Sinh.x none (numeric): analytic None, should be ")


def test_a_gradient_that_is_missing_still_is(corpus: Corpus) -> None:
    [found] = replayed(corpus, case(PREVENTED, MISSING))
    assert found.status is Status.STILL_FAILS


def test_a_case_has_more_time_than_a_campaign_gives_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = count()
    monkeypatch.setattr("time.process_time", lambda: float(next(looks)))
    with planted(twice):
        check(SINH, seconds=np.inf)
        # Twice the time that a check has.
        step = 2 * SECONDS / next(looks)
        looks = count()
        monkeypatch.setattr("time.process_time", lambda: step * next(looks))
        assert check(SINH).reason == "the check: takes too long, should be a matter of seconds"
        [found] = replayed(corpus, case(SINH, WRONG))
    assert found.status is Status.STILL_FAILS


def test_a_gradient_that_differs_when_taken_twice_is_taken_twice(corpus: Corpus) -> None:
    factors = iter(range(1, 1000))

    def drifting(right: Any, op: Any, cotangent: Any) -> Any:
        return next(factors) * right(op, cotangent)

    with planted_gradient("Sinh", drifting):
        [found] = replayed(corpus, case(SINH, Bucket("Sinh", "always", "unrepeatable")))
    assert found.status is Status.STILL_FAILS


# What the process that answers does not survive.

TENSOR = Bucket("Sinh", "always", "dies-SIGSEGV")


@pytest.mark.parametrize(
    ("expect", "kind", "status"),
    [
        (Expect.FAILS, "dies-SIGSEGV", Status.STILL_FAILS),
        (Expect.FAILS, "dies-SIGABRT", Status.CHANGED),
        (Expect.FAILS, "hangs", Status.CHANGED),
        (Expect.PASSES, "dies-SIGSEGV", Status.REGRESSED),
    ],
)
def test_a_death_is_compared_by_its_kind(
    corpus: Corpus, expect: Expect, kind: str, status: Status
) -> None:
    path = corpus.save(case(SINH, TENSOR, expect))
    [found] = replay([path], (), lambda request: Death(kind, None, "last words"))
    assert found.status is status
    assert found.message.endswith("it said: last words")
    assert found.message.startswith("now ") == (status is Status.CHANGED)


def test_what_does_not_die_any_more_is_fixed(corpus: Corpus) -> None:
    assert [each.status for each in replayed(corpus, case(SINH, TENSOR))] == [Status.FIXED]


def test_to_refuse_what_it_died_of_is_to_be_fixed(corpus: Corpus) -> None:
    graph = one_call("MatMul", [[1.0]], [[1.0], [2.0]], a=X, b=Ref(1))
    [found] = replayed(corpus, case(graph, Bucket("MatMul", "always", "dies-SIGSEGV")))
    assert found.status is Status.FIXED
    assert found.message.startswith("refused: MatMul: ")


def test_what_dies_though_it_only_was_wrong_has_changed(corpus: Corpus) -> None:
    path = corpus.save(case(SINH, WRONG))
    [found] = replay([path], (), lambda request: Death("memory"))
    assert (found.status, found.message) == (
        Status.CHANGED,
        "now Sinh memory (always): more memory than a case may take",
    )


# What cannot be replayed.


def test_a_graph_that_does_not_run_is_an_error_that_keeps_its_case(corpus: Corpus) -> None:
    graph = one_call("MatMul", [[1.0]], [[1.0], [2.0]], a=X, b=Ref(1))
    [found] = replayed(corpus, case(graph, Bucket("MatMul", "numeric", "value", "a")))
    assert (found.status, found.status.expected) == (Status.ERROR, False)
    assert "\n" not in found.message
    assert found.message.startswith("MatMul: ")
    assert found.case is not None
    assert found.report is None


def test_an_output_that_is_no_array_is_an_error_that_keeps_its_case(corpus: Corpus) -> None:
    shape = np.zeros(0, np.int32)
    graph = one_call("TensorListFromTensor", [1.0], tensor=X, element_shape=shape)
    bucket = Bucket("TensorListFromTensor", "numeric", "value", "tensor")
    [found] = replayed(corpus, case(graph, bucket))
    assert found.status is Status.ERROR
    assert "\n" not in found.message
    assert found.case is not None


def test_whatever_is_raised_is_an_error_of_its_case(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(graph: Graph, **options: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr("gradfuzz.answer.check", broken)
    [found] = replayed(corpus, case(SINH, WRONG))
    assert (found.status, found.message) == (
        Status.ERROR,
        "RuntimeError: first line",
    )


def test_ctrl_c_is_no_error_of_a_case(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(graph: Graph, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gradfuzz.answer.check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replayed(corpus, case(SINH, WRONG))


def test_a_graph_too_large_to_run_is_an_error_that_keeps_its_case(corpus: Corpus) -> None:
    graph = one_call("Fill", 1.0, dims=np.array([2**20, 2**20], np.int32), value=X)
    [found] = replayed(corpus, case(graph, Bucket("Fill", "numeric", "value", "value")))
    assert found.status is Status.ERROR
    assert "should be at most" in found.message
    assert found.case is not None


BROKEN = {
    "not-json.json": "nonsense",
    "empty.json": "",
    "not-utf8.json": b"\xff\xfe",
    "newer.json": '{"format": 99}',
    "list.json": "[1, 2]",
}


def test_broken_files_are_errors_among_good_ones(corpus: Corpus) -> None:
    good = [corpus.save(case(SINH, WRONG)), corpus.save(case(PREVENTED, MISSING))]
    for name, text in BROKEN.items():
        data = text if isinstance(text, bytes) else text.encode()
        (corpus.path / name).write_bytes(data)
    found = {each.path: each for each in replay([corpus.path], (), ask_here)}
    assert [found[path].status for path in good] == [Status.FIXED, Status.STILL_FAILS]
    for name in BROKEN:
        broken = found.pop(corpus.path / name)
        assert (broken.status, broken.case) == (Status.ERROR, None)
        assert broken.message.startswith(f"{broken.path}: ")
        assert "\n" not in broken.message
    assert set(found) == set(good)


def test_an_op_that_may_not_be_called_is_an_error(corpus: Corpus) -> None:
    path = corpus.save(case(SINH, WRONG))
    text = path.read_text().replace('"Sinh"', '"WriteFile"').replace('"x": "%0"', '"filename": "x"')
    path.write_text(text)
    [found] = replay([path], (), ask_here)
    assert found.status is Status.ERROR
    assert "WriteFile" in found.message


# Which files.


def test_files_and_folders_are_replayed_one_by_one(corpus: Corpus) -> None:
    paths = [corpus.save(case(SINH, WRONG)), corpus.save(case(PREVENTED, MISSING))]
    found = replay([paths[0], corpus.path], (), ask_here)
    assert isinstance(found, Iterator)
    assert [each.path for each in found] == [paths[0], *sorted(paths)]


def test_a_file_that_goes_meanwhile_is_an_error_and_the_others_are_replayed(
    corpus: Corpus,
) -> None:
    paths = sorted([corpus.save(case(SINH, WRONG)), corpus.save(case(PREVENTED, MISSING))])
    found = replay([corpus.path], (), ask_here)
    paths[0].unlink()
    assert [each.status is Status.ERROR for each in found] == [True, False]


def test_a_path_that_is_not_there_is_told_before_any_is_replayed(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradfuzz.answer.check", lambda graph: pytest.fail("replayed"))
    path = corpus.save(case(SINH, WRONG))
    with pytest.raises(StorageError, match="no such file or folder"):
        replay([path, corpus.path / "nowhere"], (), ask_here)


def test_a_folder_without_a_case_is_told_before_any_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(StorageError, match="holds no case file, should be a corpus"):
        replay([tmp_path], (), ask_here)


def test_what_is_expected_is_what_a_person_need_not_look_at() -> None:
    assert {status for status in Status if status.expected} == {Status.STILL_FAILS, Status.PASSES}


def test_a_note_and_a_link_change_no_status(corpus: Corpus) -> None:
    told = replace(case(SINH, WRONG), note="a note", link="https://example.org/1")
    assert [each.status for each in replayed(corpus, told)] == [Status.FIXED]


def test_a_bucket_of_an_unknown_oracle_is_an_error_of_its_case(corpus: Corpus) -> None:
    [found] = replayed(corpus, case(SINH, Bucket("Sinh", "oracle of Delphi", "value", "x")))
    assert found.status is Status.ERROR
    assert "bucket.oracle 'oracle of Delphi': should be one of always, numeric" in found.message
