"""A campaign saves what is new, passes what is known, and loses nothing however it ends."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import strategies as st

from gradfuzz import corpus as corpus_module
from gradfuzz import schedule
from gradfuzz.campaign import Campaign
from gradfuzz.casefile import dumps
from gradfuzz.clock import Clock
from gradfuzz.corpus import Corpus
from gradfuzz.crew import Alone
from gradfuzz.errors import StorageError
from gradfuzz.evaluate import Run
from gradfuzz.events import (
    CaseChecked,
    CaseRejected,
    Event,
    FindingFlaky,
    FindingSaved,
    Listener,
    RoundEnded,
    RoundFailed,
    RoundStarted,
    StorageFailed,
)
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket, Verdict
from gradfuzz.graph import Graph, Ref
from gradfuzz.runtime import tf
from gradfuzz.schedule import Schedule
from gradfuzz.shares import Shares
from gradfuzz.storage import Storage
from gradfuzz.strategies.arguments import Real
from gradfuzz.strategies.catalogue import CATALOGUE
from gradfuzz.strategies.entry import op
from gradfuzz.strategies.graphs import Catalogue
from tests.build import one_call
from tests.careful import careful
from tests.planted import hidden, planted_gradient

Found = TypeVar("Found")

TANH = Bucket("Tanh", "numeric", "value", "x")
SINH = Bucket("Sinh", "numeric", "value", "x")


@dataclass
class Ticking:
    """A clock on which each look takes a hundredth of a second."""

    now: float = 0.0

    def __call__(self) -> float:
        self.now += 0.01
        return self.now


@dataclass
class Fake:
    """A catalogue of strategies by op."""

    strategies: Mapping[str, st.SearchStrategy[Graph]]
    excluded: Mapping[str, str] = field(default_factory=dict)
    around: list[int] = field(default_factory=list)

    @property
    def ops(self) -> list[str]:
        return sorted(self.strategies)

    def graphs(self, op: str, *, run: Run, around: int) -> st.SearchStrategy[Graph]:
        self.around.append(around)
        return self.strategies[op]


# The calls of these have nothing around them: each is a vector of three short decimals.
VECTORS = st.lists(st.integers(-8, 8), min_size=3, max_size=3).map(lambda xs: np.array(xs) / 4)


def calls_of(op: str) -> st.SearchStrategy[Graph]:
    return VECTORS.map(lambda values: one_call(op, values, x=Ref(0)))


def refused() -> st.SearchStrategy[Graph]:
    """Graphs that TensorFlow refuses: of a product whose inner sides differ."""
    return VECTORS.map(lambda values: one_call("MatMul", [values], [values], a=Ref(0), b=Ref(1)))


SMOOTH = Fake({"Tanh": calls_of("Tanh"), "Sinh": calls_of("Sinh")})


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "corpus", CATALOGUE.ops)


def run(
    corpus: Corpus,
    catalogue: Any,
    *ops: str,
    seed: int = 1,
    known: tuple[Bucket, ...] = (),
    budget: float = 2.0,
    listen: Listener = lambda event: None,
    weights: Mapping[str, float] | None = None,
) -> list[Event]:
    """Run a campaign on a ticking clock and return its events."""
    events: list[Event] = []

    def both(event: Event) -> None:
        events.append(event)
        listen(event)

    chosen = dict.fromkeys(ops or catalogue.ops, catalogue)
    campaign_on(chosen, corpus, budget, seed, both, Ticking(), known, weights).run()
    return events


def campaign_on(
    ops: Mapping[str, Any],
    corpus: Corpus,
    budget: float,
    seed: int,
    listen: Listener,
    clock: Clock = time.monotonic,
    known: Iterable[Bucket] = (),
    weights: Mapping[str, float] | None = None,
) -> Campaign:
    """Return a campaign in this process, where gradients can be planted."""
    shares = Shares(weights or {"numeric": 1.0})
    turns = Schedule(sorted(ops), budget, seed, unseen=set(ops), oracles=len(shares.weights))
    storage = Storage(corpus, listen)
    crew = Alone(ops, clock, careful)
    return Campaign(turns, storage, budget, listen, crew, clock, set(known), shares=shares)


def of_type(events: list[Event], kind: type[Found]) -> list[Found]:
    return [event for event in events if isinstance(event, kind)]


def times(factor: float) -> Callable[..., Any]:
    def wrong(right: Any, op: Any, cotangent: Any) -> Any:
        return factor * right(op, cotangent)

    return wrong


@pytest.fixture
def wrong_tanh() -> Iterator[None]:
    """Plant a gradient that is wrong at 3/4 and above: not at the simplest point.

    It reads the output: eager mode does not keep an input that the right gradient needs not.
    """

    def wrong(right: Any, op: Any, cotangent: Any) -> Any:
        gradient = right(op, cotangent)
        return tf.where(op.outputs[0] > 0.5, 1.5 * gradient, gradient)

    with planted_gradient("Tanh", wrong):
        yield


# A new bucket.


@pytest.mark.usefixtures("wrong_tanh")
def test_a_new_bucket_is_saved_before_it_is_shrunk_and_replaced_after(corpus: Corpus) -> None:
    seen: list[tuple[Path, Graph]] = []

    def look(event: Event) -> None:
        if isinstance(event, FindingSaved):
            [path] = corpus.case_files()
            assert path == event.path
            seen.append((path, corpus.load(path).finding.graph))

    events = run(corpus, SMOOTH, "Tanh", listen=look)
    first, shrunk = of_type(events, FindingSaved)
    between = events[events.index(first) : events.index(shrunk)]
    assert (first.shrunk, shrunk.shrunk) == (False, True)
    assert first.finding.bucket == shrunk.finding.bucket == TANH
    assert of_type(between, CaseChecked)
    assert [path for path, _ in seen] == [first.path, shrunk.path]
    assert corpus.case_files() == [shrunk.path]
    case = corpus.load(shrunk.path)
    assert sorted(case.finding.graph.primals[0]) == [0, 0, 0.75]
    assert str(case.original) == str(seen[0][1]) != str(case.finding.graph)
    assert case.finding.graph.complexity < case.original.complexity
    assert case.expect is Expect.FAILS
    assert case.environment["tensorflow"] == tf.__version__
    assert corpus.known_buckets() == {TANH}


@pytest.mark.usefixtures("wrong_tanh")
def test_a_bucket_is_found_once_and_passes_from_then_on(corpus: Corpus) -> None:
    events = run(corpus, SMOOTH, "Tanh")
    last = of_type(events, FindingSaved)[-1]
    after = events[events.index(last) :]
    assert len(of_type(events, FindingSaved)) == 2
    assert any(case.bucket == TANH for case in of_type(after, CaseChecked))


@pytest.mark.usefixtures("wrong_tanh")
def test_known_buckets_pass_and_are_counted(corpus: Corpus) -> None:
    events = run(corpus, SMOOTH, known=(TANH,))
    hits = Counter(case.bucket for case in of_type(events, CaseChecked))
    assert of_type(events, FindingSaved) == []
    assert hits[TANH] > 10
    assert not corpus.path.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_tanh")
def test_bugs_of_two_ops_are_two_files(corpus: Corpus) -> None:
    with planted_gradient("Sinh", times(0.5)):
        run(corpus, SMOOTH)
    cases = [corpus.load(path) for path in corpus.case_files()]
    assert sorted(case.finding.bucket for case in cases) == [SINH, TANH]


@pytest.mark.slow
def test_two_bugs_of_one_op_are_two_files(corpus: Corpus) -> None:
    def wrong(right: Any, op: Any, cotangent: Any) -> Any:
        infinite = tf.fill(op.outputs[0].shape, np.float64(np.inf))
        return tf.where(op.outputs[0] < 0, infinite, 1.5 * right(op, cotangent))

    with planted_gradient("Tanh", wrong):
        run(corpus, SMOOTH, "Tanh")
    buckets = sorted(corpus.load(path).finding.bucket for path in corpus.case_files())
    assert buckets == [Bucket("Tanh", "numeric", "non-finite", "x"), TANH]


def test_nothing_is_saved_where_nothing_is_wrong(corpus: Corpus) -> None:
    events = run(corpus, SMOOTH)
    assert {case.verdict for case in of_type(events, CaseChecked)} == {Verdict.AGREE}
    assert not corpus.path.exists()


def test_what_does_not_repeat_is_dropped_with_its_file(corpus: Corpus) -> None:
    saved: list[FindingSaved] = []

    def wrong_at_first(right: Any, op: Any, cotangent: Any) -> Any:
        return right(op, cotangent) if saved else 1.5 * right(op, cotangent)

    def look(event: Event) -> None:
        if isinstance(event, FindingSaved):
            assert event.path.exists()
            saved.append(event)

    with planted_gradient("Tanh", wrong_at_first):
        events = run(corpus, SMOOTH, "Tanh", listen=look)
    assert [event.shrunk for event in saved] == [False]
    assert [event.bucket for event in of_type(events, FindingFlaky)] == [TANH]
    assert corpus.case_files() == []


# The course of a campaign.


def outline(events: list[Event]) -> list[str]:
    """Return the events as text, which holds all but the place of the corpus."""

    def line(event: Event) -> str:
        if isinstance(event, FindingSaved):
            return f"{event.path.name} {event.shrunk} {event.finding.graph}"
        return str(event)

    return [line(event) for event in events]


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_tanh")
def test_the_same_seed_gives_the_same_events(tmp_path: Path) -> None:
    def events(name: str, seed: int) -> list[str]:
        corpus = Corpus(tmp_path / name)
        return outline(run(corpus, CATALOGUE, "Tanh", "Sum", seed=seed, budget=2))

    first = events("a", 5)
    assert len(first) > 50
    assert first == events("b", 5)
    assert first != events("c", 6)


def test_each_op_has_a_round_in_each_pass(corpus: Corpus) -> None:
    order = [event.op for event in of_type(run(corpus, SMOOTH), RoundStarted)]
    assert len(order) >= 6
    assert all(set(order[i : i + 2]) == {"Tanh", "Sinh"} for i in range(0, len(order) - 1, 2))


def test_some_passes_put_other_calls_around(corpus: Corpus) -> None:
    catalogue = Fake({"Tanh": calls_of("Tanh")})
    run(corpus, catalogue)
    assert catalogue.around[:3] == [0, 0, 3]


@pytest.mark.slow
@pytest.mark.parametrize("budget", [1.0, 3.0])
def test_the_budget_is_kept_within_a_few_seconds(corpus: Corpus, budget: float) -> None:
    events: list[Event] = []
    ops = dict.fromkeys(("Tanh", "Sum", "Conv2D", "Cholesky"), CATALOGUE)
    start = time.monotonic()
    campaign_on(ops, corpus, budget, 3, events.append).run()
    assert budget <= time.monotonic() - start < budget + 4
    assert len(of_type(events, CaseChecked)) > 10


@pytest.mark.slow
def test_real_ops_around_a_planted_bug_are_shrunk_away(corpus: Corpus) -> None:
    with planted_gradient("Tanh", times(1.5)):
        campaign_on({"Tanh": CATALOGUE}, corpus, 4.0, 2, lambda event: None).run()
    # Real bugs of the ops around it may be found beside it.
    cases = [corpus.load(path) for path in corpus.case_files()]
    [case] = [case for case in cases if case.finding.bucket == TANH]
    assert [call.op for _, call in case.finding.graph.calls] == ["Tanh"]
    assert case.finding.graph.primals[0].size == 1


# What goes wrong.


def test_what_tensorflow_refuses_is_counted_as_rejected(corpus: Corpus) -> None:
    events = run(corpus, Fake({"MatMul": refused()}))
    assert {event.op for event in of_type(events, CaseRejected)} == {"MatMul"}
    assert of_type(events, CaseChecked) == []


def test_a_case_that_is_refused_now_and_then_does_not_end_its_round(corpus: Corpus) -> None:
    events = run(corpus, Fake({"Tanh": st.one_of(calls_of("Tanh"), refused())}))
    assert len(of_type(events, CaseRejected)) > 5
    assert len(of_type(events, CaseChecked)) > 5
    assert of_type(events, RoundFailed) == []


def never(values: Any) -> bool:
    return False


BAD = {
    "always refused": refused(),
    "filtered out": calls_of("Tanh").filter(never),
    "too large": st.lists(st.integers(), min_size=4000).flatmap(lambda _: calls_of("Tanh")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_a_bad_entry_fails_its_round_and_the_campaign_goes_on(corpus: Corpus, name: str) -> None:
    events = run(corpus, Fake({"Bad": BAD[name], "Sinh": calls_of("Sinh")}), budget=8)
    failed = of_type(events, RoundFailed)
    assert {event.op for event in failed} == {"Bad"}
    assert all(event.reason and "\n" not in event.reason for event in failed)
    assert any(
        case.op == "Sinh" for case in of_type(events[events.index(failed[0]) :], CaseChecked)
    )


def test_an_op_that_this_tensorflow_lacks_fails_its_round_and_the_campaign_goes_on(
    corpus: Corpus,
) -> None:
    catalogue = Catalogue((op("Sinh", x=Real("*s")), op("SinhV9", x=Real("*s"))))
    events = run(corpus, catalogue)
    assert {event.op for event in of_type(events, RoundFailed)} == {"SinhV9"}
    assert any(case.op == "Sinh" for case in of_type(events, CaseChecked))


def test_a_finding_that_no_case_file_can_hold_is_our_fault_and_the_campaign_goes_on(
    corpus: Corpus,
) -> None:
    casts = VECTORS.map(lambda x: one_call("Cast", x, x=Ref(0), DstT=tf.float64))
    with planted_gradient("Cast", times(1.5)):
        events = run(corpus, Fake({"Cast": casts, "Sinh": calls_of("Sinh")}))
    assert {event.op for event in of_type(events, RoundFailed) if event.own} == {"Cast"}
    assert any(case.op == "Sinh" for case in of_type(events, CaseChecked)[-10:])


@pytest.mark.usefixtures("wrong_tanh")
def test_a_corpus_that_cannot_be_written_is_told_once_and_the_campaign_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    events: list[Event] = []
    with pytest.raises(StorageError, match="should be a folder"):
        run(Corpus(tmp_path / "file"), SMOOTH, "Tanh", budget=2, listen=events.append)
    assert len(of_type(events, RoundStarted)) > 1
    assert len(of_type(events, StorageFailed)) == 1
    assert of_type(events, FindingSaved) == []


@pytest.mark.usefixtures("wrong_tanh")
def test_what_found_no_room_is_saved_when_there_is_room_again(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = iter(range(1000))
    write = corpus_module.write_whole

    def full(path: Path, text: str) -> None:
        if next(writes) < 3:
            raise OSError(28, "No space left on device")
        write(path, text)

    monkeypatch.setattr(corpus_module, "write_whole", full)
    monkeypatch.setattr("gradfuzz.storage.RETRY_AFTER", 0.0)
    events = run(corpus, SMOOTH, "Tanh")
    assert len(of_type(events, StorageFailed)) == 1
    [path] = corpus.case_files()
    case = corpus.load(path)
    assert case.finding.bucket == TANH
    assert case.finding.graph.complexity < case.original.complexity


@pytest.mark.parametrize("after", [0, 5])
def test_ctrl_c_passes_through_and_leaves_the_corpus_whole(corpus: Corpus, after: int) -> None:
    saved: list[int] = []

    def wrong_until_interrupted(right: Any, op: Any, cotangent: Any) -> Any:
        if saved:
            saved.append(1)
        if len(saved) > 1 + after:
            raise KeyboardInterrupt
        return 1.5 * right(op, cotangent)

    def look(event: Event) -> None:
        if isinstance(event, FindingSaved):
            saved.append(1)

    with planted_gradient("Tanh", wrong_until_interrupted), pytest.raises(KeyboardInterrupt):
        run(corpus, SMOOTH, "Tanh", listen=look)
    [path] = corpus.case_files()
    assert [each.name for each in corpus.path.iterdir()] == [path.name]
    assert corpus.load(path).finding.bucket == TANH


def test_ctrl_c_in_a_listener_passes_through(corpus: Corpus) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, CaseChecked):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(corpus, SMOOTH, listen=interrupt)


def test_a_fault_of_the_engine_is_told_and_the_campaign_goes_on(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(graph: Graph, **options: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("gradfuzz.round.check", broken)
    events = run(corpus, SMOOTH)
    reasons = {event.reason for event in events if isinstance(event, RoundFailed)}
    assert reasons == {"gradfuzz itself failed: ZeroDivisionError('a fault')"}


def test_two_faults_of_the_engine_in_one_round_do_not_end_the_campaign(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(graph: Graph, **options: object) -> None:
        if graph.primals[0][0] > 0:
            raise KeyError("one fault")
        raise ZeroDivisionError("another")

    monkeypatch.setattr("gradfuzz.round.check", broken)
    events = run(corpus, SMOOTH, "Tanh")
    assert any(isinstance(event, RoundFailed) for event in events)
    assert sum(isinstance(event, RoundStarted) for event in events) > 1


def test_a_case_that_guards_against_a_return_is_never_replaced(corpus: Corpus) -> None:
    with planted_gradient("Tanh", lambda right, op, u: 1.5 * right(op, u)):
        run(corpus, SMOOTH, "Tanh")
    [path] = corpus.case_files()
    guard = replace(corpus.load(path), expect=Expect.PASSES, link="a link", note="a note")
    path.write_text(dumps(guard))
    with planted_gradient("Tanh", lambda right, op, u: 1.5 * right(op, u)):
        run(corpus, SMOOTH, "Tanh")
    kept = corpus.load(path)
    assert (kept.expect, kept.link, kept.note) == (Expect.PASSES, "a link", "a note")


# Oracles.


def test_time_is_shared_among_oracles_by_weight(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rounds enough to share out.
    monkeypatch.setattr(schedule, "LONGEST_ROUND", 0.5)
    ended = of_type(
        run(corpus, SMOOTH, budget=20, weights={"numeric": 3, "effects": 1}), RoundEnded
    )
    spent = {
        name: sum(e.seconds for e in ended if e.oracle == name) for name in ("numeric", "effects")
    }
    assert 2 < spent["numeric"] / spent["effects"] < 4
    assert {event.op for event in ended if event.oracle == "effects"} == {"Tanh", "Sinh"}


def test_a_fault_of_one_path_is_found_by_its_oracle_and_saved_with_its_votes(
    corpus: Corpus,
) -> None:
    with planted_gradient("Tanh", hidden(lambda gradient: 1.5 * gradient)):
        assert of_type(run(corpus, SMOOTH, "Tanh"), FindingSaved) == []
        events = run(corpus, SMOOTH, "Tanh", weights={"forward": 1})
    last = of_type(events, FindingSaved)[-1]
    assert last.finding.bucket == Bucket("Tanh", "forward", "value", "x")
    [path] = corpus.case_files()
    votes = {vote.path: vote.value for vote in corpus.load(path).finding.votes}
    assert votes["reverse"] == pytest.approx(votes["numeric"])
    assert votes["forward"] == pytest.approx(1.5 * votes["reverse"])


def test_a_gap_is_told_and_is_no_finding(corpus: Corpus) -> None:
    graphs = VECTORS.map(lambda values: one_call("Softsign", values, features=Ref(0)))
    events = run(corpus, Fake({"Softsign": graphs}), weights={"forward": 1})
    gaps = [event for event in of_type(events, CaseChecked) if event.gap]
    assert gaps
    assert {event.verdict for event in gaps} == {Verdict.INCONCLUSIVE}
    assert "SoftsignGrad" in gaps[0].reason
    assert of_type(events, FindingSaved) == []
