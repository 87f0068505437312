"""The folder of a campaign: its settings, its log, its status, and what was found to be flaky.

settings.json    what it was asked for, written once
log.jsonl        what happened, appended to
status.json      what is going on, replaced as a whole every few seconds
flaky/           findings that did not show in a fresh process
worker-N.*       journal, stderr and temporary files of each worker
"""

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from gradfuzz.corpus import write_whole
from gradfuzz.errors import StorageError, UsageError

# Where campaigns keep their folders, unless told otherwise.
RUNS = Path(".gradfuzz")


@dataclass(frozen=True)
class Settings:
    """What a campaign was asked for.

    `oracles` have weights.  `budget` and `case_time` are in seconds, `memory` in GiB; `started`
    is an ISO date and time.  `ops_from` are the Python files with catalogues of the user's.
    """

    ops: list[str]
    oracles: dict[str, float]
    seed: int
    budget: float
    corpus: str
    workers: int
    case_time: float
    memory: float
    started: str
    ops_from: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class RunFolder:
    """The folder of one campaign."""

    path: Path

    @property
    def log(self) -> Path:
        """The file of its log."""
        return self.path / "log.jsonl"

    @property
    def flaky(self) -> Path:
        """The folder of what did not repeat."""
        return self.path / "flaky"

    def create(self, settings: Settings) -> None:
        """Make the folder of a new campaign.

        Raises `UsageError` where it is one already, `StorageError` where it cannot be written.
        """
        if self._settings.exists():
            raise UsageError(f"run {str(self.path)!r}: is a campaign already, should be a new "
                             "folder, or be given to --resume")  # fmt: skip
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(self._settings, json.dumps(asdict(settings), indent=2) + "\n")
        except OSError as error:
            raise StorageError(f"run {str(self.path)!r}: not written ({error.strerror}), "
                               "should be a writable folder with room") from error  # fmt: skip

    def settings(self) -> Settings:
        """Return what the campaign was asked for.  Raises `UsageError` where this is none."""
        try:
            return Settings(**json.loads(self._settings.read_text()))
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(f"run {str(self.path)!r}: no campaign, should be the folder of "
                             "one") from error  # fmt: skip

    def write_status(self, status: dict[str, Any]) -> None:
        """Replace the status.  A disk that is full keeps the old one, and nothing waits for it."""
        process = psutil.Process()
        row = {"pid": process.pid, "began": process.create_time(), **status}
        try:
            write_whole(self._status, json.dumps(row, indent=2) + "\n")
        except OSError:
            return

    def status(self) -> dict[str, Any]:
        """Return the status, empty where there is none yet."""
        try:
            found = json.loads(self._status.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def is_alive(self) -> bool:
        """Return whether the process of the campaign runs."""
        status = self.status()
        try:
            began = psutil.Process(status["pid"]).create_time()
        except (psutil.Error, KeyError, TypeError, ValueError):
            return False
        return bool(began == status.get("began") and not status.get("over"))

    @property
    def _settings(self) -> Path:
        return self.path / "settings.json"

    @property
    def _status(self) -> Path:
        return self.path / "status.json"


def new_folder(seed: int) -> RunFolder:
    """Return a folder that is named after the time and the seed."""
    now = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    return RunFolder(RUNS / f"{now}-{seed}")


def latest_folder() -> RunFolder:
    """Return the folder of the campaign that was started last.  Raises `UsageError` for none."""
    found = [path.parent for path in RUNS.glob("*/settings.json")]
    if not found:
        raise UsageError(f"{RUNS}: holds no campaign, should be given as in: gradfuzz status DIR")
    return RunFolder(max(found, key=lambda path: (path / "settings.json").stat().st_mtime))
