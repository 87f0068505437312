"""What a campaign wrote into its folder, read for a report.

settings.json says what it was asked for, log.jsonl what happened: one event a line, each with
the seconds of the budget spent by then.  Events that are not known here are passed over.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradfuzz.errors import UsageError

LOG, SETTINGS = "log.jsonl", "settings.json"


@dataclass
class OpCounts:
    """The cases of one op."""

    cases: int = 0
    rejected: int = 0
    inconclusive: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class RunLog:
    """A campaign so far.

    `files` are the case files of its findings, `reached` the gradient functions that ran, `speed`
    the cases counted by so many seconds: (seconds, cases).
    """

    settings: dict[str, Any]
    ops: dict[str, OpCounts] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    speed: list[tuple[float, int]] = field(default_factory=list)

    @property
    def total(self) -> OpCounts:
        """The counts of all ops together."""
        counts = self.ops.values()
        return OpCounts(*(sum(getattr(each, name) for each in counts)
                          for name in ("cases", "rejected", "inconclusive")))  # fmt: skip

    def take(self, raw: dict[str, Any]) -> None:
        """Take one event into account."""
        match raw:
            case {"event": "CasesCounted"}:
                self._count(raw)
            case {"event": "FindingSaved", "bucket": bucket, "file": file}:
                self.files[_key(bucket)] = str(file)
            case {
                "event": "FindingWithdrawn" | "FindingFlaky" | "FindingDropped",
                "bucket": bucket,
            }:
                self.files.pop(_key(bucket), None)
            case {"event": "RoundEnded", "gradients": gradients}:
                self.reached.update(map(str, gradients))

    def _count(self, raw: dict[str, Any]) -> None:
        op = self.ops.setdefault(str(raw["op"]), OpCounts())
        op.cases += int(raw["cases"])
        op.rejected += int(raw["rejected"])
        op.inconclusive += int(raw["inconclusive"])
        op.reasons.update({str(why): int(count) for why, count in raw["reasons"].items()})
        before = self.speed[-1][1] if self.speed else 0
        self.speed.append((float(raw["at"]), before + int(raw["cases"])))


def _key(bucket: Any) -> str:
    return json.dumps(bucket, sort_keys=True)


def is_run(path: Path) -> bool:
    """Return whether `path` is the folder of a campaign."""
    return (path / SETTINGS).is_file() and (path / LOG).is_file()


def read_run(path: Path) -> RunLog:
    """Read the folder of a campaign; a line that is torn is passed over.

    Raises `UsageError` for one that cannot be read.
    """
    try:
        settings = json.loads((path / SETTINGS).read_text())
        lines = (path / LOG).read_bytes().splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"run {str(path)!r}: not read ({error}), "
                         "should be the folder of a campaign") from error  # fmt: skip
    found = RunLog(settings if isinstance(settings, dict) else {})
    for line in lines:
        try:
            found.take(json.loads(line))
        except (ValueError, TypeError, LookupError, AttributeError):
            continue
    return found
