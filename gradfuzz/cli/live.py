"""What a campaign shows while it runs: one live line, and each finding above it."""

import threading
from collections.abc import Iterator, Sequence
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
from gradfuzz.cli.terminal import counted, one_line, plain, visible
from gradfuzz.clock import StoppableClock, Stopwatch
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
from gradfuzz.process import Worker

# Where no terminal shows a live line, a plain one is printed every so many seconds.
PLAIN_EVERY = 10.0

# The width of a bar.
BAR = 24
# So many findings, and known buckets, are shown.
FEW = 4


@dataclass
class Progress:
    """How far a campaign is, as text: of so many `ops`, and `gradients` that TensorFlow has."""

    tally: Tally
    budget: float
    ops: int
    gradients: int
    clock: StoppableClock
    stopwatch: Stopwatch
    workers: Sequence[Worker] = ()

    @property
    def seconds(self) -> float:
        """The time since the start, what was before it was resumed too."""
        return self.stopwatch()

    def left(self) -> str:
        """Return the time left."""
        if self.clock.stopped:
            return "stopping (again: at once)"
        left = self.budget - self.seconds
        return f"{format_duration(left)} left" if left > 0 else "finishing"

    def covered(self) -> str:
        """Return how many of the ops had a case, and how many gradient functions ran."""
        seen = f"ops {self.tally.ops_seen}/{self.ops}"
        return f"{seen} · gradients {len(self.tally.gradients)}/{self.gradients}"

    def counts(self) -> str:
        """Return the counts so far, what matters least last: a narrow terminal cuts it off."""
        total = self.tally.total
        known = sum(self.tally.known_hits.values())
        deaths = sum(self.tally.deaths.values())
        return " · ".join((
            f"{counted(total.cases, 'case')}, {total.cases / max(self.seconds, 1e-9):.0f}/s",
            f"{len(self.tally.new)} new, {known} known",
            f"{total.share:.1%} inconclusive",
            f"{counted(deaths, 'death')}",
            f"{total.rejected} rejected",
        ))  # fmt: skip

    def line(self) -> str:
        """Return all of it on one line."""
        return f"{self.left()} · {self.covered()} · {self.counts()}"

    def __rich__(self) -> Table:
        """Show bars of the time and of what is covered, the counts, the workers, the findings."""
        whole = Table.grid()
        whole.add_column(no_wrap=True)
        whole.add_row(self._bars())
        for row in (Text(self.counts()), self._rates(), *self._workers(), *self._findings()):
            whole.add_row(row)
        return whole

    def _bars(self) -> Table:
        bars = Table.grid(padding=(0, 1))
        for done, of, text in (
            (self.seconds, self.budget, Text(self.left(), "bold")),
            (self.tally.ops_seen, self.ops, Text(f"ops {self.tally.ops_seen}/{self.ops}")),
            (len(self.tally.gradients), self.gradients,
             Text(f"gradients {len(self.tally.gradients)}/{self.gradients}")),
        ):  # fmt: skip
            bars.add_row(ProgressBar(total=max(of, 1), completed=min(done, of), width=BAR), text)
        return bars

    def _rates(self) -> Text:
        """Return the cases a second of each oracle, if rounds ask one at a time."""
        rates = self.tally.by_oracle
        seconds = max(self.seconds, 1e-9)
        parts = [f"{name} {count / seconds:.1f}/s" for name, count in sorted(rates.items()) if name]
        return Text(" · ".join(parts), "dim")

    def _workers(self) -> Iterator[Text]:
        for worker in self.workers:
            age, memory = format_duration(worker.age), worker.memory / 2**20
            yield Text(f"worker {worker.number}: {worker.task or 'idle'} · {age} old · "
                       f"{memory:.0f} MiB", "dim")  # fmt: skip

    def _findings(self) -> Iterator[Text]:
        """Return the newest findings, and the known buckets that are hit most often."""
        for bucket in list(self.tally.new)[-FEW:]:
            yield Text("new   ", "red") + one_line(
                f"{bucket}, {counted(self.tally.hits[bucket], 'case')}"
            )
        for bucket, count in list(self.tally.known_hits.items())[:FEW]:
            yield Text("known ", "dim") + one_line(f"{bucket}, {counted(count, 'case')}", "dim")


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
