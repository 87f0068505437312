"""What is known and accepted: buckets, and patterns of buckets with a reason.

A corpus keeps the patterns in `known.toml`, which is made to be read and written by hand:

    [[known]]
    bucket = "Xlogy.* value (*)"      # as buckets are printed; * stands for anything
    is = "convention"                 # bug, convention, limitation or false alarm
    link = "https://…"
    note = "0 log 0 is 0 for all x"
    until = "2.23"                    # a TensorFlow version or a date: from then on it is new again
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gradfuzz.corpus import write_whole
from gradfuzz.errors import CaseFileError, StorageError
from gradfuzz.finding import Bucket
from gradfuzz.strictjson import members, sequence, shown, string, wrong

FILE_NAME = "known.toml"
SORTS = ("bug", "convention", "limitation", "false alarm")
BYTES_AT_MOST = 2**20

_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*")
_MEMBERS = ("bucket", "is", "link", "note", "until")


@dataclass(frozen=True)
class Accepted:
    """A pattern of buckets that are no news, of what `sort`, and until when."""

    bucket: str
    sort: str
    link: str = ""
    note: str = ""
    until: str = ""

    def matches(self, bucket: Bucket) -> bool:
        """Return whether a bucket is one of these."""
        pattern = re.escape(self.bucket).replace(r"\*", ".*")
        return re.fullmatch(pattern, str(bucket), re.DOTALL) is not None

    def is_over(self, version: str, today: str) -> bool:
        """Return whether it counts as new again, with this TensorFlow on this ISO date."""
        if not self.until:
            return False
        return today >= self.until if "-" in self.until else _key(version) >= _key(self.until)


def _key(version: str) -> tuple[int, ...]:
    found = _VERSION.match(version)
    return tuple(map(int, found[0].split("."))) if found else ()


@dataclass(frozen=True)
class Known:
    """Buckets that pass: these, and those that match a pattern."""

    buckets: frozenset[Bucket] = frozenset()
    patterns: tuple[Accepted, ...] = ()

    def __contains__(self, bucket: object) -> bool:
        if not isinstance(bucket, Bucket):
            return False
        return bucket in self.buckets or any(each.matches(bucket) for each in self.patterns)

    @classmethod
    def of(
        cls, buckets: Collection[Bucket], accepted: Collection[Accepted], version: str
    ) -> "Known":
        """Return what passes with this TensorFlow today: what is over counts as new."""
        today = date.today().isoformat()
        over = [each for each in accepted if each.is_over(version, today)]
        kept = {b for b in buckets if not any(each.matches(b) for each in over)}
        return cls(frozenset(kept), tuple(each for each in accepted if each not in over))


NOTHING = Known()


def read_accepted(folder: Path) -> list[Accepted]:
    """Return what the `known.toml` of a corpus accepts, nothing where there is none.

    Raises `CaseFileError`, with the place, for anything but such a file.
    """
    path = folder / FILE_NAME
    try:
        with path.open("rb") as file:
            text = file.read(BYTES_AT_MOST + 1).decode("utf-8")
        raw = tomllib.loads(text)
        members({"known": [], **raw}, "top", ("known",))
        rows = sequence(raw["known"], "known", at_most=100_000) if "known" in raw else []
        return [_accepted(row, f"known[{index}]") for index, row in enumerate(rows)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CaseFileError(f"{path}: not read ({error.strerror}), should be readable") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CaseFileError(f"{path}: not TOML ({error}), should be tables [[known]]") from None
    except CaseFileError as error:
        raise CaseFileError(f"{path}: {error}") from None


def _accepted(raw: Any, place: str) -> Accepted:
    if not isinstance(raw, dict):
        raise wrong(place, shown(raw), "a table")
    # TOML has dates of its own.
    plain = {name: str(value) if isinstance(value, date) else value for name, value in raw.items()}
    found = members(dict.fromkeys(_MEMBERS, "") | plain, place, _MEMBERS)
    texts = {name: string(value, f"{place}.{name}") for name, value in found.items()}
    if not texts["bucket"]:
        raise wrong(f"{place}.bucket", "nothing", "a bucket as it is printed, * for anything")
    if texts["is"] not in SORTS:
        raise wrong(f"{place}.is", shown(texts["is"]), " or ".join(SORTS))
    require_until(texts["until"], f"{place}.until")
    return Accepted(texts["bucket"], texts["is"], texts["link"], texts["note"], texts["until"])


def require_until(text: str, place: str) -> None:
    """Raise `CaseFileError` unless `text` is a version, an ISO date or empty."""
    if text and not _VERSION.fullmatch(text):
        try:
            date.fromisoformat(text)
        except ValueError:
            raise wrong(place, shown(text), "a version such as 2.23 or a date such as "
                        "2027-03-01") from None  # fmt: skip


def accept(folder: Path, accepted: Accepted) -> None:
    """Add to the `known.toml` of a corpus.  Raises `CaseFileError` and `StorageError`."""
    known = read_accepted(folder)
    if accepted in known:
        return
    path = folder / FILE_NAME
    rows = {"bucket": accepted.bucket, "is": accepted.sort, "link": accepted.link,
            "note": accepted.note, "until": accepted.until}  # fmt: skip
    lines = [f"{name} = {_quoted(value)}" for name, value in rows.items() if value]
    try:
        before = path.read_text("utf-8").rstrip("\n") + "\n\n" if path.exists() else ""
        write_whole(path, before + "\n".join(["[[known]]", *lines]) + "\n")
    except OSError as error:
        raise StorageError(f"{path}: not written ({error.strerror}), should be writable") from error


def _quoted(text: str) -> str:
    """Return a TOML string: as JSON has it, which says all but DEL as TOML does."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def stale(accepted: Iterable[Accepted], seen: Collection[Bucket]) -> list[Accepted]:
    """Return what of `accepted` nothing in `seen` matches."""
    return [each for each in accepted if not any(each.matches(bucket) for bucket in seen)]
