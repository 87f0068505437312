"""What a campaign shows while it runs: one live line, and each finding above it."""

import threading
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gradfuzz.cli.tally import Tally
from gradfuzz.cli.terminal import one_line, plain, visible
from gradfuzz.clock import StoppableClock
from gradfuzz.durations import format_duration
from gradfuzz.events import (
    Event,
    FindingFlaky,
    FindingSaved,
    RoundFailed,
    StorageFailed,
    WorkerDied,
)
from gradfuzz.finding import Finding

# Where no terminal shows a live line, a plain one is printed every so many seconds.
PLAIN_EVERY = 10.0

# The width of the bar.
BAR = 24


@dataclass
class Progress:
    """How far a campaign is, as text."""

    tally: Tally
    budget: float
    ops: int
    clock: StoppableClock
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    def left(self) -> str:
        """Return the time left."""
        if self.clock.stopped:
            return "stopping (again: at once)"
        left = self.budget - self.seconds
        return f"{format_duration(left)} left" if left > 0 else "finishing"

    def ops_seen(self) -> str:
        """Return how many of the ops had a case."""
        return f"ops {self.tally.ops_seen}/{self.ops}"

    def counts(self) -> str:
        """Return the counts so far."""
        total = self.tally.total
        known = sum(self.tally.known_hits.values())
        return (
            f"{total.cases} cases, {total.cases / max(self.seconds, 1e-9):.0f}/s · "
            f"{len(self.tally.new)} new, {known} known · "
            f"{total.rejected} rejected · {total.share:.1%} inconclusive"
        )

    def line(self) -> str:
        """Return all of it on one line."""
        return f"{self.left()} · {self.ops_seen()} · {self.counts()}"

    def __rich__(self) -> Table:
        """Show a bar, the time left and the op, and below them the counts."""
        first = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=self.budget, completed=self.seconds, width=BAR)
        first.add_row(bar, Text(self.left(), "bold"), f"· {self.ops_seen()} ·", self.tally.op)
        whole = Table.grid()
        for row in (first, Text(self.counts())):
            whole.add_row(row)
        whole.columns[0].no_wrap = True
        return whole


@dataclass
class PlainLines(AbstractContextManager[None]):
    """A line of progress every few seconds, for a log."""

    console: Console
    progress: Progress
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __exit__(self, *_error: object) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(PLAIN_EVERY):
            self.console.print(self.progress.line())


def shown_live(console: Console, progress: Progress) -> AbstractContextManager[object]:
    """Return what shows the progress while it is open."""
    if console.is_terminal:
        return Live(progress, console=console, transient=True, refresh_per_second=4)
    return PlainLines(console, progress)


@dataclass
class Announcer:
    """Prints what happens to findings, each once, and which ops could not be drawn."""

    console: Console
    _failed: set[str] = field(default_factory=set)

    def announce(self, event: Event) -> None:
        """Print what a person should hear of."""
        match event:
            case FindingSaved(shrunk=True):
                self._finding(event.finding, event.path)
            case FindingFlaky():
                shown = f"it showed {event.shown} times in {event.looks} fresh processes"
                self._say(f"dropped {event.bucket}: {shown}")
            case RoundFailed() if event.op not in self._failed:
                self._failed.add(event.op)
                what = event.op if event.own else f"could not draw {event.op}"
                self._say(f"{what}: {event.reason}")
            case WorkerDied(bucket=None):
                self._say(f"a worker was lost at {event.op} ({event.kind}); no case does it again")
            case StorageFailed():
                self._say(f"{event.reason}; what is found is kept, and saved when it can be")

    def _finding(self, finding: Finding, path: Path) -> None:
        self.console.print(Text("new ", "bold red") + one_line(finding.bucket, "bold"))
        for text, style in (
            (str(finding.graph), ""),
            (visible(finding.evidence.message), "red"),
            (visible(str(path)), "cyan"),
        ):
            self.console.print(plain(indent(text, "    "), style), soft_wrap=True)
        self.console.print()

    def _say(self, text: str) -> None:
        self.console.print(one_line(text, "yellow"), soft_wrap=True)
