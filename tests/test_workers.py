"""Workers that die, hang or grow are findings, and the campaign goes on: with real processes."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gradfuzz.campaign import Campaign
from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.clock import StoppableClock
from gradfuzz.corpus import Corpus
from gradfuzz.crew import Workers, sacrifice
from gradfuzz.events import CaseChecked, Event, WorkerDied
from gradfuzz.finding import Bucket, Report
from gradfuzz.graph import Call, Graph, Ref
from gradfuzz.limits import GIB, Limits
from gradfuzz.order import Ask, Death, Isolation, Question, Refused, Told
from gradfuzz.process import Worker
from gradfuzz.schedule import Schedule
from gradfuzz.storage import Storage
from tests.build import chain, one_call
from tests.deadly import OPS

SOURCES = ("tests.deadly:CATALOGUE",)
LIMITS = Limits(seconds=2.0, memory=GIB // 2, recycled=GIB // 2)


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with sacrifice(SOURCES, LIMITS) as asked:
        yield asked


def deadly(op: str, *values: float) -> Graph:
    return one_call(op, list(values), x=Ref(0))


# One question.


@pytest.mark.parametrize(("op", "kind"), OPS.items())
def test_what_becomes_of_a_process_is_the_answer(ask: Ask, op: str, kind: str) -> None:
    answer = ask(Question(deadly(op, 2.0)))
    if kind.startswith("raises"):
        assert isinstance(answer, Report)
        assert answer.finding is not None
        assert answer.finding.bucket.kind == kind
    else:
        assert isinstance(answer, Death)
        assert answer.kind == kind
        assert str(answer.graph) == str(deadly(op, 2.0))


def test_the_last_words_are_kept(ask: Ask) -> None:
    answer = ask(Question(deadly("tf.deadly.aborts", 2.0)))
    assert isinstance(answer, Death)
    assert answer.words == "first words | last words"


def test_a_process_that_lives_answers_again_and_again(ask: Ask) -> None:
    graph = one_call("Tanh", [0.5], x=Ref(0))
    assert [type(ask(Question(graph))) for _ in range(3)] == [Report] * 3


def test_a_graph_that_is_refused_is_told_from_one_that_is_too_large(ask: Ask) -> None:
    refused = ask(Question(one_call("MatMul", [[1.0]], [[1.0], [2.0]], a=Ref(0), b=Ref(1))))
    assert isinstance(refused, Refused)
    assert refused.by_op
    large = one_call("Fill", 1.0, dims=np.array([2**20, 2**20], np.int32), value=Ref(0))
    answer = ask(Question(large, foreign=True))
    assert isinstance(answer, Refused)
    assert not answer.by_op


def test_memory_that_shape_inference_does_not_foresee_ends_a_worker_at_its_limit(ask: Ask) -> None:
    rows = np.array([0, 1], np.int64)
    graph = one_call(
        "RaggedTensorToTensor",
        [0.5],
        shape=np.array([1, 10**9], np.int64),
        values=Ref(0),
        default_value=np.array(1.5),
        row_partition_tensors=[rows],
        row_partition_types=["ROW_SPLITS"],
    )
    answer = ask(Question(graph, foreign=True))
    # Refused where the system gives no more, or ended where the campaign looks first.
    assert isinstance(answer, Refused) or (isinstance(answer, Death) and answer.kind == "memory")
    assert isinstance(ask(Question(one_call("Tanh", [0.5], x=Ref(0)))), Report)


def test_what_a_worker_leaves_is_gone_with_it(tmp_path: Path) -> None:
    worker = Worker(0, tmp_path)
    worker.start()
    while not worker.ready:
        assert worker.listen(_hear_nothing) is None
        time.sleep(0.01)
    assert worker.scratch.is_dir()
    (worker.scratch / "left").touch()
    worker.end()
    assert not worker.scratch.exists()


def _hear_nothing(_told: Told) -> None:
    """Take no notice."""


def test_the_last_call_of_a_graph_is_told_by_itself(ask: Ask) -> None:
    graph = chain([0.0], Call("Exp", {"x": Ref(0)}), Call("Neg", {"x": Ref(1)}))
    assert str(ask(Isolation(graph))) == "%0 = leaf float64[1] [1.0]\n%1 = Neg(x=%0)"


# A campaign.


def campaign(
    ops: list[str], corpus: Corpus, folder: Path, budget: float, events: list[Event]
) -> Campaign:
    schedule = Schedule(ops, budget, 1, 2, set(ops))
    crew = Workers.of(2, folder, SOURCES, LIMITS)
    storage = Storage(corpus, events.append)
    clock = StoppableClock()
    return Campaign(schedule, storage, budget, events.append, crew, clock)


@pytest.mark.slow
def test_each_harm_is_one_finding_and_all_else_goes_on(tmp_path: Path) -> None:
    events: list[Event] = []
    corpus = Corpus(tmp_path / "corpus", set(all_ops(load_catalogues(SOURCES))))
    campaign([*OPS, "Neg", "Sinh"], corpus, tmp_path, 60.0, events).run()
    cases = [corpus.load(path) for path in corpus.case_files()]
    # Real bugs of the ops around may be found beside them.
    cases = [case for case in cases if case.finding.bucket.op in OPS]
    found = Counter(case.finding.bucket for case in cases)
    assert found == Counter(Bucket(op, "always", kind) for op, kind in OPS.items())
    for case in cases:
        [primal] = case.finding.graph.primals
        assert (primal.size, len(case.finding.graph.calls)) == (1, 1), case.finding.graph
    deaths = {event.bucket for event in events if isinstance(event, WorkerDied)}
    assert deaths >= {Bucket(o, "always", k) for o, k in OPS.items() if "raises" not in k}
    died = [i for i, event in enumerate(events) if isinstance(event, WorkerDied)]
    cases_after = Counter(e.op for e in events[died[0] :] if isinstance(e, CaseChecked))
    assert min(cases_after["Neg"], cases_after["Sinh"]) > 10
