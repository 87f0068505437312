"""Replay saved cases and say how each compares with what it is expected to do."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gradfuzz.casefile import Case
from gradfuzz.check import check
from gradfuzz.corpus import Corpus, find_case_files
from gradfuzz.errors import GradfuzzError, StorageError
from gradfuzz.evaluate import first_line
from gradfuzz.examine import oracles_of
from gradfuzz.expect import Expect
from gradfuzz.finding import Report, Verdict
from gradfuzz.guard import require_small
from gradfuzz.runtime import tf

# So often is a gradient that differs when taken twice looked at.
TRIES = 8


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


def replay(paths: Iterable[Path], catalogue: Collection[str]) -> Iterator[Replayed]:
    """Replay every case file that `paths` stand for, one by one.

    Raises `StorageError`, before any is replayed, where a path does not exist or a folder has
    no case.
    """
    files = [file for path in paths for file in case_files(path)]
    return (replay_one(file, catalogue) for file in files)


def case_files(path: Path) -> list[Path]:
    """Return the case files that `path` stands for: itself, or those of a folder, sorted.

    Raises `StorageError` where there is none.
    """
    files = find_case_files(path)
    if not files:
        raise StorageError(f"{path}: holds no case file, should be a corpus")
    return files


def replay_one(path: Path, catalogue: Collection[str]) -> Replayed:
    """Replay the case of one file.  Whatever it raises, or its graph, is an ERROR in one line."""
    case = None
    try:
        case = Corpus(path.parent, catalogue).load(path)
        require_small(case.finding.graph)
        report = _check(case)
    except GradfuzzError as error:
        return Replayed(path, Status.ERROR, str(error), case)
    # The file may be hostile, and the other cases must still be replayed.
    except Exception as raised:  # noqa: BLE001
        message = f"{path}: {type(raised).__name__}: {first_line(raised)}"
        return Replayed(path, Status.ERROR, message, case)
    return Replayed(path, _status(case, report), _message(case, report), case, report)


def _check(case: Case) -> Report:
    """Check the graph of a case; several times where the fault is memory never written.

    Such memory holds by chance what it should, now and then.
    """
    graph, bucket = case.finding.graph, case.finding.bucket
    oracles = oracles_of(bucket)
    if bucket.kind != "unrepeatable":
        return check(graph, oracles=oracles)
    for _ in range(TRIES):
        report = check(graph, oracles=oracles, repeat=True)
        if report.finding is not None:
            break
    return report


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
