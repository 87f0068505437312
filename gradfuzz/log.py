"""The log of a campaign: one event a line, as JSON, only ever appended to.

It is all that a campaign knows of itself: a later one reads it and goes on.  Cases are counted
rather than told one by one.  A line is there whole or not at all: what a kill or a full disk
has cut off is taken away before the next is written.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gradfuzz.clock import Clock
from gradfuzz.corpus import Corpus
from gradfuzz.errors import CaseFileError
from gradfuzz.events import (
    CaseChecked,
    CaseRejected,
    CasesCounted,
    Event,
    FindingFlaky,
    FindingSaved,
    FindingWithdrawn,
    LinesRan,
    RoundEnded,
    RoundFailed,
    RoundStarted,
    StorageFailed,
    WorkerDied,
)
from gradfuzz.finding import Bucket, Verdict

# Cases are told together after so many seconds, and before anything else is.
COUNTS_EVERY = 5.0

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        RoundStarted,
        RoundEnded,
        RoundFailed,
        CasesCounted,
        FindingWithdrawn,
        FindingFlaky,
        WorkerDied,
        StorageFailed,
    )
}


@dataclass
class Counts:
    """The cases of one op that are not yet in the log."""

    cases: int = 0
    rejected: int = 0
    inconclusive: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    gaps: Counter[str] = field(default_factory=Counter)
    hits: Counter[Bucket] = field(default_factory=Counter)

    def add(self, event: CaseChecked | CaseRejected) -> None:
        """Count one case."""
        if isinstance(event, CaseRejected):
            self.rejected += 1
            return
        self.cases += 1
        if event.gap:
            self.gaps[event.reason] += 1
        elif event.verdict is Verdict.INCONCLUSIVE:
            self.inconclusive += 1
            self.reasons[event.reason] += 1
        if event.bucket is not None:
            self.hits[event.bucket] += 1


@dataclass(eq=False)
class Log:
    """Appends events to the file `path`; `spent` gives the seconds of the budget spent so far.

    Where the disk is full, lines are kept until there is room.
    """

    path: Path
    spent: Clock
    _counts: dict[str, Counts] = field(default_factory=dict)
    _lines: list[bytes] = field(default_factory=list)
    _told: float = 0.0

    def __post_init__(self) -> None:
        cut_torn_line(self.path)

    def listen(self, event: Event) -> None:
        """Take one event; it is in the file on return, but for cases."""
        if isinstance(event, LinesRan):
            return
        if isinstance(event, CaseChecked | CaseRejected):
            self._counts.setdefault(event.op, Counts()).add(event)
            if time.monotonic() > self._told + COUNTS_EVERY:
                self.flush()
            return
        self._enter_counts()
        self._enter(_as_json(event))
        self._write()

    def flush(self) -> None:
        """Write all that is known."""
        self._enter_counts()
        self._write()

    def _enter_counts(self) -> None:
        for op, counts in self._counts.items():
            self._enter(_as_json(CasesCounted(op, **vars(counts))))
        self._counts = {}
        self._told = time.monotonic()

    def _enter(self, raw: dict[str, Any]) -> None:
        row = {"at": round(self.spent(), 3), **raw}
        self._lines.append(json.dumps(row, allow_nan=False).encode("ascii") + b"\n")

    def _write(self) -> None:
        if not self._lines:
            return
        data = b"".join(self._lines)
        try:
            append(self.path, data)
        except OSError:
            return
        self._lines = []


def append(path: Path, data: bytes) -> None:
    """Append to a file all of `data` or nothing.  Raises `OSError`."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(file).st_size
        written = 0
        try:
            while written < len(data):
                written += os.write(file, data[written:])
        except OSError:
            os.ftruncate(file, size)
            raise
    finally:
        os.close(file)


def cut_torn_line(path: Path) -> None:
    """Take away what follows the last whole line of a file."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)


def _as_json(event: Event) -> dict[str, Any]:
    name = type(event).__name__
    match event:
        case FindingSaved():
            finding = event.finding
            return {"event": name, "bucket": asdict(finding.bucket), "file": event.path.name,
                    "message": finding.evidence.message, "shrunk": event.shrunk}  # fmt: skip
        case CasesCounted():
            hits = [[asdict(bucket), count] for bucket, count in event.hits.items()]
            return {"event": name, **vars(event), "hits": hits}
        case RoundEnded():
            return {"event": name, **asdict(event) | {"gradients": sorted(event.gradients)}}
    return {"event": name, **asdict(event)}


@dataclass(frozen=True)
class Line:
    """One line of a log: the seconds of the budget spent by then, and the event."""

    at: float
    event: Event


def read_log(path: Path, corpus: Corpus) -> Iterator[Line]:
    """Yield the lines of a log, but for one that is torn or of another version of gradfuzz.

    What was saved to `corpus` and is gone from there is left out, too.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for data in file:
            line = _line(data, corpus)
            if line is not None:
                yield line


def _line(data: bytes, corpus: Corpus) -> Line | None:
    try:
        raw = json.loads(data)
        at, name = float(raw.pop("at")), raw.pop("event")
        event = _saved(raw, corpus) if name == "FindingSaved" else _event(name, raw)
    except (ValueError, TypeError, KeyError, AttributeError, CaseFileError):
        return None
    return Line(at, event)


def _saved(raw: Any, corpus: Corpus) -> Event:
    path = corpus.path / raw["file"]
    return FindingSaved(corpus.load(path).finding, path, raw["shrunk"])


def _event(name: str, raw: Any) -> Event:
    if raw.get("bucket"):
        raw["bucket"] = Bucket(**raw["bucket"])
    if "hits" in raw:
        raw["hits"] = {Bucket(**bucket): count for bucket, count in raw["hits"]}
    if "gradients" in raw:
        raw["gradients"] = frozenset(raw["gradients"])
    event: Event = _KINDS[name](**raw)
    return event
