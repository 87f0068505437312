"""Every new finding of a long campaign, to be judged one by one, and what was inconclusive.

    .venv/bin/python benchmarks/false_alarms.py [--cases N] [--seed N] [--oracles ORACLE=N,…]
        [--corpus DIR] [--out DIR] [--workers N]

Runs over the whole catalogue with the buckets of the corpus muted, until each oracle that is asked
for has checked N cases.
What it then prints under "new findings" is either a real fault that the corpus lacks, or a false
alarm: there is no third.  Each inconclusive case is one that gradfuzz could not tell about: its
share should stay below 5 % overall, and an op above 20 % (marked !) needs a reason.

The cases are drawn in workers, some of which die of one.  Those that shrink a finding count, too.

Exit codes: 0 nothing new, 1 new findings, 2 wrong usage.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent

from gradfuzz.campaign import Campaign
from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.cli.fuzz import cores
from gradfuzz.cli.interrupt import stop_on_signals
from gradfuzz.cli.loading import loading
from gradfuzz.cli.tally import OpTally, Tally
from gradfuzz.clock import StoppableClock
from gradfuzz.corpus import Corpus
from gradfuzz.crew import Workers
from gradfuzz.errors import GradfuzzError
from gradfuzz.events import Event
from gradfuzz.known import Known, read_accepted
from gradfuzz.registry import is_available
from gradfuzz.runtime import tf
from gradfuzz.schedule import Schedule
from gradfuzz.server import start_server
from gradfuzz.shares import Shares, parse_shares
from gradfuzz.storage import Storage

# A campaign is given so many seconds for each case that is still to be checked, ...
SECONDS_A_CASE = 0.003
# ... and no fewer than these, in which each op has a round.
LEAST_BUDGET = 30.0
# Shares above the first are listed, above the second marked.
NOTABLE = 0.05
LARGE = 0.20
# So many seconds lie between two lines of progress.
PROGRESS_EVERY = 30.0


class Watch:
    """Listens to campaigns, counts, and stops them when there are `cases` of each oracle."""

    def __init__(self, cases: int, weights: Mapping[str, float], known: Known) -> None:
        self.cases = cases
        self.weights = weights
        self.tally = Tally(known)
        self.clock = StoppableClock()
        self.started = self.told = time.monotonic()

    @property
    def left(self) -> int:
        """How many cases are still to be checked."""
        return sum(max(0, self.cases - self.tally.by_oracle[name]) for name in self.weights)

    @property
    def wanted(self) -> dict[str, float]:
        """The weights of the oracles that have not yet checked so many."""
        done = self.tally.by_oracle
        return {name: weight for name, weight in self.weights.items() if done[name] < self.cases}

    def listen(self, event: Event) -> None:
        """Take one event into account."""
        self.tally.count(event)

    def tick(self) -> None:
        """Stop where there are enough cases, and print a line now and then."""
        self.clock.stopped = self.clock.stopped or self.left <= 0
        if time.monotonic() - self.told > PROGRESS_EVERY:
            self.told = time.monotonic()
            cases = ", ".join(f"{name} {self.tally.by_oracle[name]}" for name in self.weights)
            print(f"... {cases}: {len(self.tally.new)} new", flush=True)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started


def run(watch: Watch, folder: Path, chosen: argparse.Namespace, known: Known) -> None:
    """Run campaigns until there are enough cases, or Ctrl-C."""
    ops = all_ops(load_catalogues())
    storage = Storage(Corpus(folder, set(ops)), watch.listen)
    names = sorted(op for op in ops if is_available(op))
    seed, workers = chosen.seed, chosen.workers
    shares = Shares(watch.wanted)
    with stop_on_signals(watch.clock):
        while not watch.clock.stopped:
            shares.weights = watch.wanted
            budget = max(watch.left * SECONDS_A_CASE, LEAST_BUDGET)
            schedule = Schedule(
                names, budget, seed, workers, set(names), oracles=len(shares.weights)
            )
            crew = Workers.of(workers, folder)
            campaign = Campaign(
                schedule,
                storage,
                budget,
                watch.listen,
                crew,
                watch.clock,
                set(known.buckets),
                known.patterns,
                shares=shares,
                tick=watch.tick,
            )
            campaign.run()
            seed += 1


def show_counts(watch: Watch) -> None:
    """Print how much was done."""
    total = watch.tally.total
    print(f"\n{total.cases} cases of {watch.tally.ops_seen} ops in {watch.seconds:.0f} s, "
          f"{total.rejected} more rejected")  # fmt: skip
    print(", ".join(f"{name} {watch.tally.by_oracle[name]}" for name in watch.tally.by_oracle))
    known = sum(watch.tally.known_hits.values())
    print(f"{known} cases in {len(watch.tally.known_hits)} known buckets")
    for bucket, count in sorted(watch.tally.dropped.items()):
        print(f"dropped, as it did not repeat ({count}): {bucket}")
    for op, reason in sorted(watch.tally.failed.items()):
        print(f"could not draw {op}: {reason}")


def show_new(tally: Tally) -> None:
    """Print each new finding."""
    print(f"\nNew findings: {len(tally.new)}")
    for number, (bucket, saved) in enumerate(sorted(tally.new.items()), 1):
        shrunk = "" if saved.shrunk else " (not shrunk)"
        print(f"\n{number}. {bucket}: {tally.hits[bucket]} cases{shrunk}")
        print(indent(f"{saved.finding.graph}\n{saved.finding.evidence.message}", "   "))
        print(f"   {saved.path}")


def show_inconclusive(tally: Tally) -> None:
    """Print the share of inconclusive cases, overall, by op and by reason."""
    total = tally.total
    print(f"\nInconclusive: {total.inconclusive} cases, {total.share:.2%} (should be below 5 %)")
    for name, op in sorted(tally.ops.items(), key=lambda pair: -pair[1].share):
        if op.share > NOTABLE:
            mark = "!" if op.share > LARGE else " "
            reason = op.reasons.most_common(1)[0][0]
            print(f"  {mark} {op.share:6.1%}  {op.inconclusive:>4}/{op.cases:<5} {name}: {reason}")
    reasons: Counter[str] = Counter()
    for op in tally.ops.values():
        reasons.update(op.reasons)
    print("\nReasons:")
    for reason, count in reasons.most_common():
        print(f"  {count:>6}  {reason}")


def show_rejected(tally: Tally) -> None:
    """Print the ops of which many cases did not run forward."""
    print("\nRejected, above 5 %:")
    for name, op in sorted(tally.ops.items(), key=lambda pair: -rejected_share(pair[1])):
        if rejected_share(op) > NOTABLE:
            count = f"{op.rejected}/{op.cases + op.rejected}"
            print(f"    {rejected_share(op):6.1%}  {count:<10} {name}")


def rejected_share(op: OpTally) -> float:
    """Return the part of the cases of an op that were rejected."""
    return op.rejected / max(1, op.cases + op.rejected)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add(
        "--cases",
        type=int,
        default=20_000,
        metavar="N",
        help="stop after so many of each oracle (20000)",
    )
    add("--seed", type=int, default=1, metavar="N", help="start the random choices here (1)")
    add("--corpus", type=Path, default=Path("corpus"), metavar="DIR", help="known buckets (corpus)")
    add("--oracles", default="numeric", metavar="ORACLE=N,…", help="what is asked (numeric)")
    add("--workers", type=int, default=cores(), metavar="N", help="processes (one on each core)")
    add("--out", type=Path, metavar="DIR", help="where findings are saved (a new folder)")
    return parser.parse_args()


def main() -> int:
    """Run, print, and return the exit code."""
    chosen = options()
    folder = chosen.out or Path(tempfile.mkdtemp(prefix="false-alarms-"))
    folder.mkdir(parents=True, exist_ok=True)
    start_server()
    try:
        with loading():
            buckets = Corpus(chosen.corpus, set(all_ops(load_catalogues()))).known_buckets()
            known = Known.of(buckets, read_accepted(chosen.corpus), tf.__version__)
        print(
            f"seed {chosen.seed}, {chosen.cases} cases of each oracle, {len(known.buckets)} known "
            f"buckets and {len(known.patterns)} patterns of {chosen.corpus}",
            flush=True,
        )
        print(f"findings to {folder}", flush=True)
        watch = Watch(chosen.cases, parse_shares([chosen.oracles]), known)
        run(watch, folder, chosen, known)
    except GradfuzzError as error:
        print(f"false_alarms: {error}", file=sys.stderr)
        return 2
    show_counts(watch)
    show_inconclusive(watch.tally)
    show_rejected(watch.tally)
    show_new(watch.tally)
    return 1 if watch.tally.new else 0


if __name__ == "__main__":
    sys.exit(main())
