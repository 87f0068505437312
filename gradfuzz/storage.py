"""Save what a campaign finds, at once, and again and again where the disk is full."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

from gradfuzz.casefile import Case
from gradfuzz.corpus import Corpus, expected_to_fail
from gradfuzz.errors import CaseFileError, StorageError
from gradfuzz.events import (
    FindingFlaky,
    FindingSaved,
    FindingWithdrawn,
    Listener,
    RoundFailed,
    StorageFailed,
)
from gradfuzz.finding import Bucket, Finding
from gradfuzz.graph import Graph
from gradfuzz.runtime import environment

# What could not be saved is tried again after so many seconds.
RETRY_AFTER = 5.0


@dataclass(eq=False)
class Pending:
    """A finding that is looked into: as first met, as it is now, and its file once it has one.

    `saved` is the bucket that it was last saved in.
    """

    first: Graph
    finding: Finding
    seed: int | None
    path: Path | None = None
    saved: Bucket | None = None

    @property
    def bucket(self) -> Bucket:
        """The bucket of the finding as it is now."""
        return self.finding.bucket

    @property
    def case(self) -> Case:
        """The case to save."""
        today = date.today().isoformat()
        return Case(self.finding, self.first, environment(), self.seed, today, today)


@dataclass(eq=False)
class Storage:
    """Saves to `corpus`, and what does not repeat to `apart`, if there is such a corpus.

    What cannot be written is kept in memory and tried again; `listen` is told once.
    """

    corpus: Corpus
    listen: Listener
    apart: Corpus | None = None
    _looked_at: set[Path] = field(default_factory=set)
    _undone: list[Callable[[], None]] = field(default_factory=list)
    _error: StorageError | None = None
    _again: float = 0.0

    def buckets_of_others(self) -> set[Bucket]:
        """Return the buckets that others have saved since this was last asked.

        At first that is all that are there.
        """
        try:
            new = set(self.corpus.case_files() if self.corpus.path.exists() else ())
        except StorageError:
            return set()
        new, self._looked_at = new - self._looked_at, new
        cases = []
        for path in new:
            # What is broken, or gone by now, is in no bucket.
            with suppress(CaseFileError):
                cases.append(self.corpus.load(path))
        return expected_to_fail(cases)

    def save_first(self, pending: Pending) -> None:
        """Save a finding as met, unless somebody's case is there: it may guard against a return."""
        self._do_for(pending, self._save_unless_held)

    def save_shrunk(self, pending: Pending) -> None:
        """Save a finding in the place of what was first saved of it."""
        self._do_for(pending, partial(self._save, shrunk=True))

    def annotate(self, pending: Pending) -> None:
        """Save a finding that is saved once more, with more said of it."""
        self._do_for(pending, self._annotate)

    def remove(self, pending: Pending) -> None:
        """Remove what was saved of a finding."""
        self._do_for(pending, self._remove)

    def set_apart(self, pending: Pending, shown: int, looks: int) -> None:
        """Take a finding out of the corpus that showed `shown` times in `looks` more."""
        note = f"flaky: showed {shown} times in {looks} fresh processes"
        if self.apart is not None:
            apart, case = self.apart, replace(pending.case, note=note)
            self._do_for(pending, lambda _: self._save_apart(apart, case))
        self.remove(pending)
        self.listen(FindingFlaky(pending.bucket, shown, looks))

    def try_again(self) -> None:
        """Do what could not be done before, if it is time."""
        if self._undone and time.monotonic() > self._again:
            self._retry()

    def close(self) -> None:
        """Do what could not be done before, for the last time.  Raises `StorageError`."""
        self._retry()
        if self._error is not None:
            raise self._error

    def _retry(self) -> None:
        undone, self._undone = self._undone, []
        for each in undone:
            self._do(each)
        if not self._undone:
            self._error = None

    def _do_for(self, pending: Pending, work: Callable[[Pending], None]) -> None:
        """Do something about a finding, unless no case file can hold it: that is our own fault."""

        def do() -> None:
            try:
                work(pending)
            except CaseFileError as error:
                reason = f"{pending.bucket} cannot be saved: {error}"
                self.listen(RoundFailed(pending.bucket.op, reason, own=True))

        self._do(do)

    def _do(self, work: Callable[[], None]) -> None:
        # What waits is done in its order: a shrunk case takes the place of the first one.
        if self._undone:
            self._undone.append(work)
            return
        try:
            work()
        except StorageError as error:
            if self._error is None:
                self.listen(StorageFailed(str(error)))
            self._error = error
            self._undone.append(work)
            self._again = time.monotonic() + RETRY_AFTER

    def _save_unless_held(self, pending: Pending) -> None:
        if not self.corpus.holds(pending.case):
            self._save(pending, shrunk=False)

    def _annotate(self, pending: Pending) -> None:
        if pending.path is not None:
            # A case that is there keeps what somebody said of it.
            self.corpus.save(pending.case)

    def _save_apart(self, apart: Corpus, case: Case) -> None:
        apart.save(case)

    def _save(self, pending: Pending, *, shrunk: bool) -> None:
        case, old = pending.case, pending.path
        pending.path = self.corpus.replace(old, case) if old else self.corpus.save(case)
        self._withdraw(pending, unless=pending.bucket)
        pending.saved = pending.bucket
        self.listen(FindingSaved(pending.finding, pending.path, shrunk))

    def _remove(self, pending: Pending) -> None:
        if pending.path is not None:
            self.corpus.remove(pending.path)
            pending.path = None
        self._withdraw(pending)

    def _withdraw(self, pending: Pending, *, unless: Bucket | None = None) -> None:
        if pending.saved is not None and pending.saved != unless:
            self.listen(FindingWithdrawn(pending.saved))
            pending.saved = None
