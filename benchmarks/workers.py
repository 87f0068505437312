"""What a campaign costs beside the bare loop, and what a second worker brings.

    .venv/bin/python benchmarks/workers.py [--seconds S] [--repeats N] [--ops OP,OP…]

Three ways to spend S seconds on the same ops, seeds and rounds, in turn, N times:

    bare     draw and check in one process: no campaign, no journal, no messages
    one      a campaign with one worker
    two      a campaign with two workers

Prints cases by the second on the wall, and by the second of CPU time that all processes of it took:
on a machine that does other work, only the second says what a campaign costs.  `one` should have at
least 0.9 of the cases of `bare`, `two` on two free cores at least 1.85 times those of `one`.

Exit codes: 0 measured, 2 wrong usage.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from gradfuzz.campaign import Campaign
from gradfuzz.catalogue import all_ops, chosen_ops, load_catalogues
from gradfuzz.cli.loading import loading
from gradfuzz.clock import StoppableClock
from gradfuzz.corpus import Corpus
from gradfuzz.crew import Workers
from gradfuzz.errors import GradfuzzError
from gradfuzz.evaluate import call
from gradfuzz.events import CaseChecked, Event
from gradfuzz.finding import Bucket
from gradfuzz.known import Known
from gradfuzz.order import Order, Told
from gradfuzz.process import Worker
from gradfuzz.round import Round
from gradfuzz.runtime import use_one_thread
from gradfuzz.schedule import Schedule
from gradfuzz.server import start_server
from gradfuzz.storage import Storage

# Ops of different cost of which no call is the end of a process.
OPS = "Tanh,MatMul,Cholesky,Sum,GatherV2,AvgPool,Softmax,SegmentSum,BatchMatMulV2,Log"


@dataclass(frozen=True)
class Rate:
    """So many cases in so many seconds on the wall and of CPU time."""

    cases: int
    wall: float
    cpu: float

    @property
    def by_wall(self) -> float:
        """Cases a second."""
        return self.cases / self.wall

    @property
    def by_cpu(self) -> float:
        """Cases a second of CPU time."""
        return self.cases / max(self.cpu, 1e-9)


@dataclass
class Meter:
    """Counts cases, and the CPU time of workers as far as it was seen."""

    cases: int = 0
    cpu: dict[int, float] = field(default_factory=dict)

    def listen(self, event: Event) -> None:
        """Take one event into account."""
        self.cases += isinstance(event, CaseChecked)

    def hear(self, told: Told) -> None:
        """Take what a round tells into account."""
        self.cases += isinstance(told, CaseChecked)

    def look(self, workers: list[Worker]) -> None:
        """Note the CPU time of each worker, while it lives."""
        for worker in workers:
            if worker.pid is not None:
                self.cpu[worker.pid] = worker.cpu


@dataclass(frozen=True)
class Trial:
    """What is measured: the ops, their seed, the seconds, and the buckets that pass."""

    ops: list[str]
    seed: int
    seconds: float
    known: frozenset[Bucket]

    def schedule(self, workers: int = 1) -> Schedule:
        """Return the rounds, which are the same for all: of single calls."""
        return Schedule(self.ops, self.seconds, self.seed, workers, around=(0,))

    def bare(self) -> Rate:
        """Draw and check in one process, as fresh as a worker is."""
        context = start_server()
        ours, theirs = context.Pipe()
        process = context.Process(target=draw_and_check, args=(theirs, self))
        process.start()
        found: Rate = ours.recv()
        process.join()
        return found

    def campaign(self, workers: int) -> Rate:
        """Run a campaign in so many processes."""
        meter, clock = Meter(), StoppableClock()
        with tempfile.TemporaryDirectory(prefix="workers-") as folder:
            crew = Workers.of(workers, Path(folder))
            crew.ready()
            cpu, start = time.process_time(), time.monotonic()
            Campaign(
                self.schedule(workers),
                Storage(Corpus(Path(folder) / "corpus", set(self.ops)), meter.listen),
                self.seconds,
                meter.listen,
                crew,
                clock,
                set(self.known),
                tick=lambda: meter.look(list(crew.workers)),
            ).run()
            wall = time.monotonic() - start
        return Rate(meter.cases, wall, time.process_time() - cpu + sum(meter.cpu.values()))


def draw_and_check(link: Connection, trial: Trial) -> None:
    """Have the rounds of a trial in this process, and send the rate."""
    use_one_thread()
    catalogue, meter = all_ops(load_catalogues()), Meter()
    start, cpu = time.monotonic(), time.process_time()
    for turn in trial.schedule().turns():
        left = start + trial.seconds - time.monotonic()
        if left <= 0:
            break
        seconds = min(turn.seconds, left)
        order = Order(turn.op, turn.around, turn.seed, seconds, 1.0, Known(trial.known))
        strategy = catalogue[turn.op].graphs(turn.op, run=call, around=turn.around)
        Round(order, strategy, meter.hear).run()
    link.send(Rate(meter.cases, time.monotonic() - start, time.process_time() - cpu))


def show(name: str, rates: list[Rate]) -> None:
    """Print the median rates of one way."""
    wall = statistics.median(rate.by_wall for rate in rates)
    cpu = statistics.median(rate.by_cpu for rate in rates)
    print(f"{name:<6} {sum(rate.cases for rate in rates):>7} cases  {wall:8.1f}/s on the wall  "
          f"{cpu:8.1f}/s of CPU time")  # fmt: skip


def show_ratio(name: str, above: list[Rate], below: list[Rate], target: float) -> None:
    """Print how two ways compare, pair by pair."""
    for kind in ("by_wall", "by_cpu"):
        ratios = [getattr(a, kind) / getattr(b, kind) for a, b in zip(above, below, strict=True)]
        print(f"{name} {kind.replace('_', ' '):<8} median {statistics.median(ratios):.2f} "
              f"({min(ratios):.2f} to {max(ratios):.2f}); target {target}")  # fmt: skip


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--seconds", type=float, default=20.0, metavar="S", help="for each way and turn (20)")
    add("--repeats", type=int, default=3, metavar="N", help="turns (3)")
    add("--ops", default=OPS, metavar="OP,OP…", help="what is drawn")
    add("--seed", type=int, default=1, metavar="N", help="start the random choices here (1)")
    return parser.parse_args()


def main() -> int:
    """Measure, print, and return the exit code."""
    chosen = options()
    start_server()
    try:
        with loading():
            ops = sorted(chosen_ops(chosen.ops.split(","), load_catalogues()))
            known = Corpus(Path("corpus"), set(all_ops(load_catalogues()))).known_buckets()
    except GradfuzzError as error:
        print(f"workers: {error}", file=sys.stderr)
        return 2
    rates: dict[str, list[Rate]] = {"bare": [], "one": [], "two": []}
    for number in range(chosen.repeats):
        trial = Trial(ops, chosen.seed + number, chosen.seconds, frozenset(known))
        rates["bare"].append(trial.bare())
        rates["one"].append(trial.campaign(1))
        rates["two"].append(trial.campaign(2))
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}")
    for name, found in rates.items():
        show(name, found)
    show_ratio("one / bare", rates["one"], rates["bare"], 0.9)
    show_ratio("two / one ", rates["two"], rates["one"], 1.85)
    return 0


if __name__ == "__main__":
    sys.exit(main())
