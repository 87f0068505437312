"""`gradfuzz diff`: what became of the same cases in two replays."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rich.console import Console

from gradfuzz.cli.tables import case_table
from gradfuzz.cli.terminal import counted, one_line, terminal, write_json
from gradfuzz.errors import CaseFileError, UsageError
from gradfuzz.finding import Bucket
from gradfuzz.strictjson import mapping, parse, string, wrong

# What a case comes to, whatever was expected of it.
OUTCOMES = {
    "FIXED": "passes",
    "PASSES": "passes",
    "STILL FAILS": "fails",
    "REGRESSED": "fails",
    "CHANGED": "changed",
    "ERROR": "error",
}
KINDS = ("broke", "changed", "fixed", "added", "removed")
STYLES = {"broke": "bold red", "changed": "bold yellow", "fixed": "bold green"}
BYTES_AT_MOST = 2**26


@dataclass(frozen=True)
class CaseThen:
    """One case in one replay."""

    bucket: str
    status: str
    message: str

    @property
    def outcome(self) -> str:
        """What it came to."""
        return OUTCOMES[self.status]


@dataclass(frozen=True)
class Difference:
    """A case that came to something else: `kind` is one of `KINDS`."""

    name: str
    kind: str
    before: CaseThen | None
    after: CaseThen | None

    @property
    def bucket(self) -> str:
        """What is wrong, as far as either replay could read the case."""
        return next((then.bucket for then in (self.after, self.before) if then and then.bucket), "")

    @property
    def message(self) -> str:
        """What is said of the case after, or before where it is gone."""
        then = self.after or self.before
        return then.message if then else ""

    @property
    def turn(self) -> str:
        """From what to what the case came."""
        before = self.before.status if self.before else "not there"
        after = f"{self.after.status}: {self.after.message}" if self.after else "not there"
        return f"{before}, now {after}"


def diff(before: Path, after: Path, *, as_json: bool) -> int:
    """Print what changed, and return the exit code: 1 where anything broke or changed.

    Raises `UsageError` for a file that is no output of `gradfuzz replay --json`.
    """
    old, new = _read(before), _read(after)
    found = sorted(_differences(old.cases, new.cases), key=lambda each: KINDS.index(each.kind))
    if as_json:
        write_json(_as_json(old, new, found))
    else:
        _show(terminal(), old, new, found)
    return 1 if any(each.kind in ("broke", "changed") for each in found) else 0


@dataclass(frozen=True)
class Replay:
    """The output of one replay: each case by the name of its file."""

    versions: str
    cases: Mapping[str, CaseThen]


def _read(path: Path) -> Replay:
    try:
        with path.open("rb") as file:
            text = file.read(BYTES_AT_MOST).decode("utf-8")
        raw = mapping(parse(text, "what gradfuzz replay --json prints"), "replay")
        cases = raw.get("cases")
        if not isinstance(cases, list):
            raise wrong("cases", "none", "there, as gradfuzz replay --json prints it")
        environment = mapping(raw.get("environment", {}), "environment")
        versions = ", ".join(f"{name} {version}" for name, version in environment.items())
        return Replay(versions, dict(_case(each, f"cases[{i}]") for i, each in enumerate(cases)))
    except OSError as error:
        raise UsageError(f"{path}: not read ({error.strerror}), should be a file") from error
    except (CaseFileError, UnicodeDecodeError) as error:
        what = "not UTF-8, should be text" if isinstance(error, UnicodeDecodeError) else error
        raise UsageError(f"{path}: {what}") from None


def _case(raw: Any, place: str) -> tuple[str, CaseThen]:
    found = mapping(raw, place)
    name, status, message = (
        string(found.get(key), f"{place}.{key}") for key in ("file", "status", "message")
    )
    if status not in OUTCOMES:
        raise wrong(f"{place}.status", repr(status[:40]), f"one of {', '.join(OUTCOMES)}")
    bucket = found.get("bucket")
    label = "" if bucket is None else str(_bucket(mapping(bucket, f"{place}.bucket"), place))
    return Path(name).name, CaseThen(label, status, message)


def _bucket(raw: Mapping[str, Any], place: str) -> Bucket:
    return Bucket(*(string(raw.get(each.name), f"{place}.bucket.{each.name}")
                    for each in fields(Bucket)))  # fmt: skip


def _differences(old: Mapping[str, CaseThen], new: Mapping[str, CaseThen]) -> list[Difference]:
    found = []
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        kind = _kind(before, after)
        if kind:
            found.append(Difference(name, kind, before, after))
    return found


def _kind(before: CaseThen | None, after: CaseThen | None) -> str:
    if before is None or after is None:
        return "added" if before is None else "removed"
    if before.outcome == after.outcome:
        # Those that changed may have done so in different ways.
        same = before.outcome != "changed" or before.message == after.message
        return "" if same else "changed"
    turns = {("fails", "passes"): "fixed", ("passes", "fails"): "broke"}
    return turns.get((before.outcome, after.outcome), "changed")


def _show(console: Console, old: Replay, new: Replay, found: list[Difference]) -> None:
    rows = [
        (
            one_line(each.kind, STYLES.get(each.kind, "")),
            one_line(each.bucket),
            one_line(each.turn),
            one_line(each.name, "cyan"),
        )
        for each in found
    ]
    if old.versions or new.versions:
        console.print(one_line(f"before: {old.versions}"))
        console.print(one_line(f"after:  {new.versions}"))
    if rows:
        console.print(case_table(console, "", ("", "bucket", "before and after", "file"), rows))
    console.print(f"{counted(len(new.cases), 'case')}: {_counts(found) or 'no difference'}")


def _counts(found: list[Difference]) -> str:
    counts: defaultdict[str, int] = defaultdict(int)
    for each in found:
        counts[each.kind] += 1
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])


def _as_json(old: Replay, new: Replay, found: list[Difference]) -> dict[str, Any]:
    by_kind: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for each in found:
        by_kind[each.kind].append(
            {"file": each.name,
             "before": each.before.status if each.before else None,
             "after": each.after.status if each.after else None,
             "message": each.message}
        )  # fmt: skip
    return {"before": old.versions, "after": new.versions, **by_kind}
