"""`gradfuzz fuzz`: run a campaign and tell of it."""

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from gradfuzz.campaign import Campaign
from gradfuzz.catalogue import all_ops, chosen_ops, load_catalogues
from gradfuzz.cli.interrupt import StoppableClock, stop_on_signals
from gradfuzz.cli.live import Announcer, Progress, shown_live
from gradfuzz.cli.summary import Summary, show_summary, summary_as_json
from gradfuzz.cli.tally import Tally
from gradfuzz.cli.terminal import one_line, terminal, write_json
from gradfuzz.corpus import Corpus
from gradfuzz.durations import format_duration
from gradfuzz.errors import StorageError, UsageError
from gradfuzz.events import Event
from gradfuzz.finding import Bucket
from gradfuzz.shares import Shares, parse_shares


def fuzz(
    budget: float,
    names: Sequence[str],
    oracles: Sequence[str],
    seed: int | None,
    folder: Path,
    *,
    as_json: bool,
) -> int:
    """Fuzz for `budget` seconds, print the summary, and return the exit code."""
    catalogues = load_catalogues()
    ops = chosen_ops(_split(names), catalogues)
    shares = Shares(parse_shares(oracles))
    corpus = Corpus(folder, set(all_ops(catalogues)))
    _require_writable(folder)
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    console = terminal(stderr=as_json)
    known = _known(corpus, console)
    start = f"seed {seed}, {format_duration(budget)}, {len(ops)} ops, corpus {folder} "
    console.print(one_line(f"{start}with {len(known)} known buckets"), soft_wrap=True)
    tally, clock = Tally(frozenset(known)), StoppableClock()
    teller = _Teller(console, tally, Announcer(console))
    campaign = Campaign(ops, corpus, budget, seed, teller.listen, known, shares, clock=clock)
    teller.run(campaign, clock, as_json=as_json)
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
        progress = Progress(self.tally, campaign.budget, len(campaign.ops), clock)
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
            campaign.corpus.path,
            campaign.seed,
            campaign.budget,
            len(campaign.ops),
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
    for error in corpus.load_all()[1]:
        console.print(one_line(f"passed over: {error}", "yellow"), soft_wrap=True)
    return corpus.known_buckets()
