"""`gradfuzz fuzz`: run a campaign and tell of it."""

import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from gradfuzz.campaign import Campaign
from gradfuzz.catalogue import all_ops, chosen_ops, load_catalogues
from gradfuzz.cli.interrupt import stop_on_signals
from gradfuzz.cli.live import Announcer, Progress, shown_live
from gradfuzz.cli.summary import Summary, show_summary, summary_as_json
from gradfuzz.cli.tally import Tally
from gradfuzz.cli.terminal import counted, one_line, terminal, write_json
from gradfuzz.clock import StoppableClock
from gradfuzz.corpus import Corpus, expected_to_fail
from gradfuzz.crew import Workers
from gradfuzz.durations import format_duration
from gradfuzz.errors import StorageError, UsageError
from gradfuzz.events import Event
from gradfuzz.finding import Bucket
from gradfuzz.limits import Limits
from gradfuzz.schedule import Schedule
from gradfuzz.storage import Storage

# The exit code of a campaign in which gradfuzz itself failed.
OWN_FAULT = 3


@dataclass(frozen=True)
class Options:
    """What a campaign is asked for on the command line.

    `workers` is a number of processes, 0 for one on each core; `limits` are those of each.
    """

    budget: float
    ops: Sequence[str]
    seed: int | None
    corpus: Path
    workers: int
    limits: Limits


def fuzz(options: Options, *, as_json: bool) -> int:
    """Fuzz as asked, print the summary, and return the exit code."""
    catalogues = load_catalogues()
    ops = sorted(chosen_ops(_split(options.ops), catalogues))
    corpus = Corpus(options.corpus, set(all_ops(catalogues)))
    _require_writable(options.corpus)
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    console = terminal(stderr=as_json)
    known = _known(corpus, console)
    workers = options.workers or cores()
    start = ", ".join((f"seed {seed}", format_duration(options.budget), counted(len(ops), "op"),
                       counted(workers, "worker"), f"corpus {options.corpus}"))  # fmt: skip
    with_known = f"{start} with {counted(len(known), 'known bucket')}"
    console.print(one_line(with_known), soft_wrap=True)
    tally, clock = Tally(frozenset(known)), StoppableClock()
    teller = _Teller(console, tally, Announcer(console))
    with tempfile.TemporaryDirectory(prefix="gradfuzz-") as folder:
        schedule = Schedule(ops, options.budget, seed, workers, set(ops))
        crew = Workers.of(workers, Path(folder), limits=options.limits)
        storage = Storage(corpus, teller.listen)
        campaign = Campaign(schedule, storage, options.budget, teller.listen, crew, clock, known)
        teller.run(campaign, clock, as_json=as_json)
    return _exit_code(tally)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _exit_code(tally: Tally) -> int:
    """Return 1 where something new was found, 3 where gradfuzz itself failed."""
    if tally.broken:
        return OWN_FAULT
    return 1 if tally.new else 0


@dataclass(frozen=True)
class _Teller:
    """Runs a campaign and tells of it, whatever ends it."""

    console: Console
    tally: Tally
    announcer: Announcer

    def listen(self, event: Event) -> None:
        self.tally.count(event)
        self.announcer.announce(event)

    def run(self, campaign: Campaign, clock: StoppableClock, *, as_json: bool) -> None:
        progress = Progress(self.tally, campaign.budget, len(campaign.schedule.ops), clock)
        try:
            with stop_on_signals(clock), shown_live(self.console, progress):
                campaign.run()
        except KeyboardInterrupt:
            pass  # the second Ctrl-C: what is saved is saved
        except Exception as error:
            self._sum_up(campaign, progress, as_json=as_json, error=error)
            raise
        self._sum_up(campaign, progress, as_json=as_json)

    def _sum_up(
        self,
        campaign: Campaign,
        progress: Progress,
        *,
        as_json: bool,
        error: Exception | None = None,
    ) -> None:
        summary = Summary(
            self.tally,
            campaign.storage.corpus.path,
            campaign.schedule.seed,
            campaign.budget,
            len(campaign.schedule.ops),
            progress.seconds,
            progress.clock.stopped,
            "" if error is None else str(error) or type(error).__name__,
        )
        show_summary(self.console, summary)
        if as_json:
            write_json(summary_as_json(summary))


def _split(names: Sequence[str]) -> list[str]:
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


def _known(corpus: Corpus, console: Console) -> set[Bucket]:
    """Return the known buckets, and tell of each case file that is broken."""
    cases, errors = corpus.load_all()
    for error in errors:
        console.print(one_line(f"passed over: {error}", "yellow"), soft_wrap=True)
    return expected_to_fail(case for _, case in cases)
