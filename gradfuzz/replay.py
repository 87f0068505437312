"""Replay saved cases and say how each compares with what it is expected to do."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gradfuzz.casefile import Case
from gradfuzz.corpus import Corpus, find_case_files
from gradfuzz.errors import GradfuzzError, StorageError
from gradfuzz.examine import oracles_of
from gradfuzz.expect import Expect
from gradfuzz.fatal import fatal, is_fatal
from gradfuzz.finding import Report, Verdict
from gradfuzz.limits import USUAL, Limits
from gradfuzz.order import Answer, Ask, Death, Question, Refused
from gradfuzz.runtime import tf
from gradfuzz.subject import SECONDS

# A case that took a campaign all of the time that it gives must not hang on the machine.
LEISURE = 3
LIMITS = Limits(seconds=LEISURE * USUAL.seconds)


class Status(Enum):
    """What became of a case.

    A case that is expected to fail is FIXED, STILL FAILS or CHANGED (it fails in another way,
    or cannot be told any more); one that is expected to pass PASSES, has REGRESSED or CHANGED.
    ERROR is a case that could not be replayed.
    """

    FIXED = "FIXED"
    STILL_FAILS = "STILL FAILS"
    CHANGED = "CHANGED"
    PASSES = "PASSES"
    REGRESSED = "REGRESSED"
    ERROR = "ERROR"

    @property
    def expected(self) -> bool:
        """Whether this is no surprise."""
        return self in (Status.STILL_FAILS, Status.PASSES)


@dataclass(frozen=True, eq=False)
class Replayed:
    """One case file and what became of it.

    `case` is None where the file could not be loaded, `report` where there is no verdict.
    """

    path: Path
    status: Status
    message: str
    case: Case | None = None
    report: Report | None = None


def replay(paths: Iterable[Path], catalogue: Collection[str], ask: Ask) -> Iterator[Replayed]:
    """Replay every case file that `paths` stand for, one by one; `ask` answers for the graphs.

    Raises `StorageError`, before any is replayed, where a path does not exist or a folder has
    no case.
    """
    files = [file for path in paths for file in case_files(path)]
    return (replay_one(file, catalogue, ask) for file in files)


def case_files(path: Path) -> list[Path]:
    """Return the case files that `path` stands for: itself, or those of a folder, sorted.

    Raises `StorageError` where there is none.
    """
    files = find_case_files(path)
    if not files:
        raise StorageError(f"{path}: holds no case file, should be a corpus")
    return files


def replay_one(path: Path, catalogue: Collection[str], ask: Ask) -> Replayed:
    """Replay the case of one file.  What cannot be read or run is an ERROR in one line."""
    case = None
    try:
        case = Corpus(path.parent, catalogue).load(path)
        oracles = oracles_of(case.finding.bucket)
    except GradfuzzError as error:
        return Replayed(path, Status.ERROR, str(error), case)
    found = case.finding
    # Where there is no telling what a graph does, it may be the end of whoever runs it.
    question = Question(
        found.graph, found.bucket.kind, foreign=True, oracles=oracles, seconds=LEISURE * SECONDS
    )
    answer = ask(question)
    report = _report(case, answer)
    if report is None:
        message = answer.message if isinstance(answer, Refused) else "no answer"
        return Replayed(path, Status.ERROR, message, case)
    return Replayed(path, _status(case, report), _message(case, report), case, report)


def _report(case: Case, answer: Answer) -> Report | None:
    """Return what the answer to a question says of its graph; None where it cannot be run."""
    match answer:
        case Report():
            return answer
        case Death():
            return Report(
                Verdict.DISAGREE, fatal(case.finding.graph, answer, case.finding.bucket.oracle)
            )
        case Refused(by_op=True) if is_fatal(case.finding.bucket.kind):
            # To refuse what it died of is what TensorFlow should do.
            return Report(Verdict.AGREE, reason=f"refused: {answer.message}")
    return None


def _status(case: Case, report: Report) -> Status:
    if report.verdict is Verdict.INCONCLUSIVE:
        return Status.CHANGED
    if case.expect.on(tf.__version__) is Expect.PASSES:
        return Status.PASSES if report.finding is None else Status.REGRESSED
    if report.finding is None:
        return Status.FIXED
    same = report.finding.bucket == case.finding.bucket
    return Status.STILL_FAILS if same else Status.CHANGED


def _message(case: Case, report: Report) -> str:
    if report.finding is None:
        return report.reason or "the gradients agree"
    same = report.finding.bucket == case.finding.bucket
    prefix = "" if same else f"now {report.finding.bucket}: "
    return prefix + report.finding.evidence.message
