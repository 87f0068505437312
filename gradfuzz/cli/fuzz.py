"""`gradfuzz fuzz`: run a campaign and tell of it."""

import os
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from rich.console import Console

from gradfuzz.campaign import Campaign
from gradfuzz.catalogue import all_ops, chosen_ops, load_catalogues, use_files, used_files
from gradfuzz.cli.interrupt import stop_on_signals
from gradfuzz.cli.live import Announcer, Progress, shown_live
from gradfuzz.cli.past import Past
from gradfuzz.cli.status import status_of
from gradfuzz.cli.summary import Summary, show_summary, summary_as_json
from gradfuzz.cli.tally import Tally
from gradfuzz.cli.terminal import counted, one_line, terminal, write_json
from gradfuzz.clock import StoppableClock, Stopwatch
from gradfuzz.corpus import Corpus, expected_to_fail
from gradfuzz.crew import Workers
from gradfuzz.durations import format_duration
from gradfuzz.errors import GradfuzzError, StorageError, UsageError
from gradfuzz.events import Event, Listener
from gradfuzz.known import Known, read_accepted
from gradfuzz.limits import Limits
from gradfuzz.log import Log
from gradfuzz.registry import registered_gradients
from gradfuzz.runfolder import RunFolder, Settings, new_folder
from gradfuzz.runtime import tf
from gradfuzz.schedule import Schedule
from gradfuzz.shares import Shares, parse_shares
from gradfuzz.storage import Storage

# The status of a campaign is written after so many seconds.
STATUS_EVERY = 2.0
# The exit code of a campaign in which gradfuzz itself failed.
OWN_FAULT = 3


@dataclass(frozen=True)
class Output:
    """How a campaign tells of itself: as text or JSON, and of the end only if it is `quiet`."""

    as_json: bool = False
    quiet: bool = False


@dataclass(frozen=True)
class Options:
    """What a campaign is asked for on the command line.

    `workers` is a number of processes, 0 for one on each core.  `run` is its folder, None for
    a new one.
    """

    budget: float
    ops: Sequence[str]
    oracles: Sequence[str]
    seed: int | None
    corpus: Path
    workers: int
    case_time: float
    memory: float
    run: Path | None


def fuzz(options: Options, output: Output) -> int:
    """Begin a campaign, print its summary, and return the exit code."""
    catalogues = load_catalogues()
    ops = sorted(chosen_ops(split(options.ops), catalogues))
    _require_writable(options.corpus)
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    settings = Settings(
        ops=ops,
        oracles=parse_shares(options.oracles),
        seed=seed,
        budget=options.budget,
        corpus=str(options.corpus),
        workers=options.workers or cores(),
        case_time=options.case_time,
        memory=options.memory,
        started=datetime.now().isoformat(timespec="seconds"),
        ops_from=[str(file) for file in used_files()],
    )
    folder = new_folder(seed) if options.run is None else RunFolder(options.run)
    folder.create(settings)
    return _go(folder, settings, set(all_ops(catalogues)), output)


def resume(path: Path, output: Output) -> int:
    """Go on with the campaign of a folder, print its summary, and return the exit code."""
    folder = RunFolder(path)
    settings = folder.settings()
    if folder.is_alive():
        raise UsageError(f"run {str(path)!r}: runs (process {folder.status()['pid']}), should be "
                         "over or killed")  # fmt: skip
    use_files(map(Path, settings.ops_from))
    catalogues = load_catalogues()
    chosen_ops(settings.ops, catalogues)
    _require_writable(Path(settings.corpus))
    return _go(folder, settings, set(all_ops(catalogues)), output)


def _go(folder: RunFolder, settings: Settings, catalogue: set[str], output: Output) -> int:
    console = terminal(stderr=output.as_json)
    console.quiet = output.quiet
    corpus = Corpus(Path(settings.corpus), catalogue)
    corpus.sweep()
    known = _known(corpus, console)
    past = Past.of(folder, corpus)
    before = known.buckets - past.tally.new.keys()
    past.tally.known = replace(known, buckets=before)
    console.print(one_line(_start(folder, settings, past, len(before))), soft_wrap=True)
    session = Session(folder, settings, past, console, corpus)
    session.run(known, output)
    return _exit_code(past.tally)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(folder: RunFolder, settings: Settings, past: Past, known: int) -> str:
    """Return the first line of a campaign."""
    parts = [
        f"seed {settings.seed}",
        format_duration(settings.budget),
        counted(len(settings.ops), "op"),
        counted(settings.workers, "worker"),
        f"run {folder.path}",
        f"corpus {settings.corpus} with {counted(known, 'known bucket')}",
    ]
    if past.spent:
        parts.insert(2, f"of which {format_duration(past.spent)} are spent")
    return ", ".join(parts)


def _exit_code(tally: Tally) -> int:
    """Return 1 where something new was found, 3 where gradfuzz itself failed."""
    if tally.broken:
        return OWN_FAULT
    return 1 if tally.new else 0


@dataclass(eq=False)
class Session:
    """Runs a campaign from where it is, and tells of it, whatever ends it."""

    folder: RunFolder
    settings: Settings
    past: Past
    console: Console
    corpus: Corpus
    clock: StoppableClock = field(default_factory=StoppableClock)

    def run(self, known: Known, output: Output) -> None:
        """Run it to its end."""
        stopwatch = Stopwatch(self.past.spent)
        log = Log(self.folder.log, stopwatch)
        limits = Limits.of(self.settings.case_time, self.settings.memory)
        crew = Workers.of(self.settings.workers, self.folder.path, limits=limits)
        progress = self._progress(stopwatch, crew)
        campaign = self._campaign(known, self._listener(log), crew, stopwatch, progress)
        for pending in self.past.unfinished():
            campaign.reopen(pending)
        try:
            with stop_on_signals(self.clock), shown_live(self.console, progress):
                campaign.run()
        except KeyboardInterrupt:
            pass  # the second Ctrl-C: what is saved is saved
        except GradfuzzError as error:
            self._sum_up(progress, log, output, str(error))
            error.told = output.as_json
            raise
        except Exception as error:
            self._sum_up(progress, log, output, str(error) or type(error).__name__)
            raise
        self._sum_up(progress, log, output)

    def _listener(self, log: Log) -> Listener:
        """Return what hears of each event first: the counts, the log and the console."""
        announcer = Announcer(self.console)

        def listen(event: Event) -> None:
            self.past.tally.count(event)
            log.listen(event)
            announcer.announce(event)

        return listen

    def _progress(self, stopwatch: Stopwatch, crew: Workers) -> Progress:
        return Progress(
            self.past.tally,
            self.settings.budget,
            len(self.settings.ops),
            len(registered_gradients()),
            self.clock,
            stopwatch,
            crew.workers,
        )

    def _campaign(
        self,
        known: Known,
        listen: Listener,
        crew: Workers,
        stopwatch: Stopwatch,
        progress: Progress,
    ) -> Campaign:
        storage = Storage(self.corpus, listen, Corpus(self.folder.flaky))
        storage.buckets_of_others()  # what is there already is known, unless that is over
        schedule = self._schedule()
        return Campaign(
            schedule,
            storage,
            self.settings.budget,
            listen,
            crew,
            self.clock,
            set(known.buckets),
            known.patterns,
            self._shares(schedule),
            len(self.past.rounds),
            stopwatch,
            Ticker(self.folder, progress).tick,
        )

    def _schedule(self) -> Schedule:
        settings, past = self.settings, self.past
        return Schedule(
            settings.ops,
            settings.budget,
            settings.seed,
            settings.workers,
            # A function of many ops has no gradient function of its own to wait for.
            set(settings.ops) & set(registered_gradients()) - past.tally.gradients,
            {op: past.accounts[op] for op in settings.ops},
            oracles=len(settings.oracles),
        )

    def _shares(self, schedule: Schedule) -> Shares:
        """Return the shares of the oracles, with what earlier rounds took."""
        shares = Shares(self.settings.oracles)
        for op, oracle in self.past.rounds:
            shares.charge(op, oracle, schedule.usual)
        return shares

    def _sum_up(self, progress: Progress, log: Log, output: Output, error: str = "") -> None:
        log.flush()
        self.folder.write_status({**status_of(progress), "over": True, "error": error or None})
        stopped, run = self.clock.stopped, self.folder.path
        tally, seconds = self.past.tally, progress.seconds
        accepted = tuple(read_accepted(self.corpus.path))
        summary = Summary(tally, self.settings, run, seconds, stopped, error, accepted)
        self.console.quiet = False
        show_summary(self.console, summary)
        if output.as_json:
            write_json(summary_as_json(summary))


@dataclass(eq=False)
class Ticker:
    """Writes the status of a campaign every few seconds."""

    folder: RunFolder
    progress: Progress
    _next: float = 0.0

    def tick(self) -> None:
        """Write it if it is time."""
        if time.monotonic() > self._next:
            self.folder.write_status(status_of(self.progress))
            self._next = time.monotonic() + STATUS_EVERY


def split(names: Sequence[str]) -> list[str]:
    """Return the ops of `--ops A,B --ops C`."""
    found = [name.strip() for text in names for name in text.split(",")]
    if "" in found:
        raise UsageError("--ops: an empty name, should be names of ops with commas between")
    return found


def _require_writable(folder: Path) -> None:
    """Raise `StorageError` now rather than at the first finding, which may be hours away."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(4096))
    except OSError as error:
        raise StorageError(f"corpus {str(folder)!r}: not written ({error.strerror}), "
                           "should be a writable folder with room") from error  # fmt: skip


def _known(corpus: Corpus, console: Console) -> Known:
    """Return what is known, and tell of each case file that is broken."""
    cases, errors = corpus.load_all()
    for error in errors:
        console.print(one_line(f"passed over: {error}", "yellow"), soft_wrap=True)
    buckets = expected_to_fail(case for _, case in cases)
    return Known.of(buckets, read_accepted(corpus.path), tf.__version__)
