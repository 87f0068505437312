"""A corpus: a folder of case files.

A file appears whole or not at all: it is written under a temporary name and renamed.  So any
number of writers may share a folder, and any of them may be killed at any instant.
"""

import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psutil

from gradfuzz.casefile import BYTES_AT_MOST, Case, dumps, file_name, loads, long_file_name
from gradfuzz.errors import CaseFileError, StorageError
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket
from gradfuzz.registry import require_allowed
from gradfuzz.runtime import tf


def find_case_files(path: Path) -> list[Path]:
    """Return the case files that `path` stands for: itself, or those of a folder, sorted.

    Raises `StorageError` where there is nothing of that name, or it cannot be read.
    """
    with _reading(path):
        try:
            return _files_in(path)
        except NotADirectoryError:
            return [path]
        except FileNotFoundError:
            raise StorageError(
                f"{path}: no such file or folder, should be a case file or a corpus"
            ) from None


def _files_in(folder: Path) -> list[Path]:
    # Not `glob`, to which a folder that may not be read is an empty one.
    names = (path for path in folder.iterdir() if path.suffix == ".json")
    return sorted(path for path in names if path.is_file())


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise _error(folder, "no such folder", "a folder of case files") from None
    except NotADirectoryError:
        raise _error(folder, "a file", "a folder of case files") from None
    except OSError as error:
        raise _error(folder, f"not read ({error.strerror})", "a readable folder") from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        raise _error(folder, "a file, or in one", "a folder of case files") from None
    except OSError as error:
        reason = f"not written ({error.strerror})"
        raise _error(folder, reason, "a writable folder with room") from error


def _error(folder: Path, found: str, wanted: str) -> StorageError:
    return StorageError(f"corpus {str(folder)!r}: {found}, should be {wanted}")


@dataclass(frozen=True)
class Corpus:
    """The case files of one folder.  Their graphs may call the ops of `catalogue`, too."""

    path: Path
    catalogue: Collection[str] = ()

    def case_files(self) -> list[Path]:
        """Return the case files, sorted.  Raises `StorageError` where there is no folder."""
        with _reading(self.path):
            return _files_in(self.path)

    def load(self, path: Path) -> Case:
        """Return the case of one file.  Raises `CaseFileError`, which names the file."""
        try:
            return loads(_read(path), allow=partial(require_allowed, catalogue=self.catalogue))
        except CaseFileError as error:
            raise CaseFileError(f"{path}: {error}") from None

    def load_all(self) -> tuple[list[tuple[Path, Case]], list[CaseFileError]]:
        """Return every case with its file, and an error for each file that is broken."""
        cases, errors = [], []
        for path in self.case_files():
            try:
                cases.append((path, self.load(path)))
            except CaseFileError as error:
                errors.append(error)
        return cases, errors

    def known_buckets(self) -> set[Bucket]:
        """Return the buckets of the cases expected to fail on this TensorFlow.

        None before the first is saved.
        """
        with _reading(self.path):
            cases = self.load_all()[0] if self.path.exists() else []
        return expected_to_fail(case for _, case in cases)

    def save(self, case: Case) -> Path:
        """Write a case, and return its file.

        A case that is there already is only seen again: it keeps all but `last_seen`,
        `environment`, and the votes if there are new ones.  Raises `StorageError` where nothing
        could be written, which leaves the folder as it was, and `CaseFileError` for a case that no
        case file can hold.
        """
        with _writing(self.path):
            path, known = self._place(case)
            if known:
                case = _seen_again(known, case)
            text = dumps(case)
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        return path

    def holds(self, case: Case) -> bool:
        """Return whether a case of the same graph and bucket is there already."""
        with _writing(self.path):
            return self._place(case)[1] is not None

    def replace(self, old: Path, case: Case) -> Path:
        """Save a case in the place of the file `old`, and return its file."""
        path = self.save(case)
        if path.resolve() != old.resolve():
            self.remove(old)
        return path

    def rewrite(self, path: Path, case: Case) -> None:
        """Write a case to a file that has it, with more in it.  Raises as `save` does."""
        with _writing(self.path):
            write_whole(path, dumps(case))

    def remove(self, path: Path) -> None:
        """Remove a case file, if it is still there."""
        with _writing(self.path):
            path.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what processes have left that were killed while they wrote a file."""
        with _writing(self.path):
            for draft in self.path.glob(".*.tmp") if self.path.exists() else ():
                found = _DRAFT.search(draft.name)
                if found and not psutil.pid_exists(int(found[1])):
                    draft.unlink(missing_ok=True)

    def _place(self, case: Case) -> tuple[Path, Case | None]:
        """Return the file for a case, and what it already holds of the same graph and bucket.

        One graph can show two bugs, and a person can edit or break a file.  Where the name is
        so taken, the case goes to a file that names its whole bucket.
        """
        path = self.path / file_name(case)
        if not path.exists():
            return path, None
        known = self._known(path, case)
        if known is None:
            path = self.path / long_file_name(case)
            known = self._known(path, case)
        return path, known

    def _known(self, path: Path, case: Case) -> Case | None:
        try:
            known = self.load(path)
        except CaseFileError:
            return None
        same_bucket = known.finding.bucket == case.finding.bucket
        return known if same_bucket and file_name(known) == file_name(case) else None


def _seen_again(known: Case, case: Case) -> Case:
    finding = replace(known.finding, votes=case.finding.votes or known.finding.votes)
    return replace(known, finding=finding, last_seen=case.last_seen, environment=case.environment)


def expected_to_fail(cases: Iterable[Case]) -> set[Bucket]:
    """Return the buckets of those cases that are expected to fail on this TensorFlow."""
    failing = (case for case in cases if case.expect.on(tf.__version__) is Expect.FAILS)
    return {case.finding.bucket for case in failing}


# The end of a draft's name: the process that writes it, and a random number.
_DRAFT = re.compile(r"\.([0-9]{1,9})-[0-9a-f]{8}\.tmp$")


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_AT_MOST + 1)
        return data.decode("utf-8")
    except OSError as error:
        raise CaseFileError(f"not read ({error.strerror}), should be a readable file") from error
    except UnicodeDecodeError as error:
        raise CaseFileError(f"byte {error.start}: not UTF-8, should be text") from None


def write_whole(path: Path, text: str) -> None:
    """Write a file so that no reader, and no crash, ever meets a part of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)  # noqa: PTH105  # the name its atomicity is documented under
    finally:
        draft.unlink(missing_ok=True)
