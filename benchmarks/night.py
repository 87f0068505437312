"""A long campaign, watched from outside: its speed, the memory of each process, what is left over.

    .venv/bin/python benchmarks/night.py [--budget TIME] [--workers N] [--seed N] [--corpus DIR]
        [--oracles ORACLE=N,…]

Runs `gradfuzz fuzz` over the whole catalogue on a copy of the corpus, and prints for each tenth of
the time how many cases there were by the second, on the wall and of CPU time, and the most memory
that each sort of process held; at the end the speed of the last third against that of the first,
the zombies that were seen, the exit code, and each new finding.  The median of all should be within
10 % of 1, and no process should grow without bound.  Only rounds of the same op, oracle and number
of calls are compared, since a case of one oracle takes a hundred times as long as one of another,
and the mixture changes in a night; those with a new finding or a death are left out.  Where the
machine does other work, only the rate by CPU time is the campaign's.

Exit codes: those of the campaign.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from gradfuzz.durations import parse_budget

LOOK_EVERY = 1.0
MIB = 2**20


@dataclass
class Watch:
    """What was seen of a campaign: the most memory by sort of process, in bytes, and zombies.

    `cpu` is the CPU time of all its processes so far, in seconds, those that have ended included.
    """

    campaign: psutil.Process
    memory: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    zombies: int = 0
    cpu: float = 0.0
    _cpu: float = 0.0
    _dead: set[int] = field(default_factory=set)
    _dead_before: set[int] = field(default_factory=set)

    def look(self) -> None:
        """Look at each of its processes once."""
        self._cpu, self._dead, self._dead_before = 0.0, set(), self._dead
        try:
            self._note("campaign", self.campaign)
            for child in self.campaign.children():
                is_server = "forkserver" in " ".join(child.cmdline())
                self._note("fork server" if is_server else "other", child)
                for worker in child.children():
                    self._note("worker", worker)
        except psutil.Error:
            return
        # Between its end and being waited for, the time of a process is nowhere.
        self.cpu = max(self.cpu, self._cpu)

    def _note(self, sort: str, process: psutil.Process) -> None:
        if process.status() == psutil.STATUS_ZOMBIE:
            # One that has just died is waited for within moments.
            self.zombies += process.pid in self._dead_before
            self._dead.add(process.pid)
            return
        times = process.cpu_times()
        self._cpu += times.user + times.system + times.children_user + times.children_system
        self.memory[sort] = max(self.memory[sort], process.memory_info().rss)

    def take(self) -> str:
        """Return the most memory by sort of process since this was last asked."""
        text = ", ".join(
            f"{sort} {held / MIB:.0f} MiB" for sort, held in sorted(self.memory.items())
        )
        self.memory.clear()
        return text


def status(run: Path) -> dict[str, Any]:
    """Return the status of a campaign, empty before there is one."""
    try:
        found: dict[str, Any] = json.loads((run / "status.json").read_text())
    except (OSError, ValueError):
        return {}
    return found


def watch(campaign: subprocess.Popen[bytes], run: Path, budget: float) -> int:
    """Watch a campaign to its end, print what is seen, and return how many zombies there were."""
    seen = Watch(psutil.Process(campaign.pid))
    tenth, cases, since, spent = 1, 0, 0.0, 0.0
    while campaign.poll() is None:
        time.sleep(LOOK_EVERY)
        seen.look()
        now = status(run)
        if now.get("seconds", 0.0) >= tenth * budget / 10:
            fresh = now["cases"] - cases
            wall, cpu = fresh / (now["seconds"] - since), fresh / (seen.cpu - spent)
            print(f"{tenth:>2}/10  {wall:7.1f} cases/s  {cpu:7.1f} by CPU time  "
                  f"{now['deaths']:>4} deaths  {seen.take()}", flush=True)  # fmt: skip
            tenth, cases = tenth + 1, now["cases"]
            since, spent = now["seconds"], seen.cpu
    return seen.zombies


@dataclass(frozen=True)
class Round:
    """A round that found nothing new: when it ended, what it was about, and what it came to."""

    at: float
    op: str
    oracle: str
    around: int
    cases: int
    seconds: float

    @property
    def kind(self) -> tuple[str, str, int]:
        """What must be the same for the speed of two rounds to be compared."""
        return self.op, self.oracle, self.around


def rounds(log: Path) -> Iterator[Round]:
    """Yield the rounds of a campaign, but for those with a new finding or a death."""
    met: defaultdict[str, int] = defaultdict(int)
    disturbed = set[str]()
    for event in map(json.loads, log.open()):
        match event["event"]:
            case "CasesCounted":
                met[event["op"]] += event["cases"]
            case "FindingSaved":
                disturbed.add(event["bucket"]["op"])
            case "WorkerDied":
                disturbed.add(event["op"])
            case "RoundEnded":
                op, cases = event["op"], met.pop(event["op"], 0)
                if op not in disturbed and cases:
                    yield Round(event["at"], op, event["oracle"], event["around"], cases,
                                event["seconds"])  # fmt: skip
                disturbed.discard(op)


def speeds(found: Iterable[Round]) -> dict[tuple[str, str, int], float]:
    """Return the cases by the second of each kind of round."""
    cases, seconds = defaultdict[Any, int](int), defaultdict[Any, float](float)
    for each in found:
        cases[each.kind] += each.cases
        seconds[each.kind] += each.seconds
    return {kind: cases[kind] / seconds[kind] for kind in cases if seconds[kind]}


def show_speeds(log: Path, budget: float) -> None:
    """Print how the last third did the kinds of rounds that the first third had as well."""
    had = list(rounds(log))
    first = speeds(each for each in had if each.at < budget / 3)
    last = speeds(each for each in had if each.at >= 2 * budget / 3)
    both = {kind: last[kind] / first[kind] for kind in first.keys() & last.keys()}
    for oracle in [*sorted({kind[1] for kind in both}), "all"]:
        ratios = [ratio for kind, ratio in both.items() if oracle in (kind[1], "all")]
        low, middle, high = np.percentile(ratios, [25, 50, 75])
        print(f"{oracle:<10} {len(ratios):>5} kinds of rounds: the last third has {middle:.2f} "
              f"of the cases/s of the first (quartiles {low:.2f} and {high:.2f})")  # fmt: skip


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--budget", type=parse_budget, default=7200.0, metavar="TIME", help="how long (2h)")
    add("--workers", default="auto", metavar="N", help="processes (one on each core)")
    add("--seed", default="1", metavar="N", help="start the random choices here (1)")
    add("--oracles", default="", metavar="ORACLE=N,…", help="share the time so (as `fuzz` does)")
    add("--corpus", type=Path, default=Path("corpus"), metavar="DIR", help="what is known (corpus)")
    return parser.parse_args()


def main() -> int:
    """Run, print, and return the exit code of the campaign."""
    chosen = options()
    folder = Path(tempfile.mkdtemp(prefix="night-"))
    shutil.copytree(chosen.corpus, folder / "corpus")
    command = [
        sys.executable, "-m", "gradfuzz", "fuzz", "--quiet", "--budget", str(chosen.budget),
        "--workers", chosen.workers, "--seed", chosen.seed,
        "--corpus", str(folder / "corpus"), "--run", str(folder / "run"),
        *(["--oracles", chosen.oracles] if chosen.oracles else []),
    ]  # fmt: skip
    print(f"{chosen.budget:.0f} s, corpus and run in {folder}", flush=True)
    campaign = subprocess.Popen(command, stdout=(folder / "summary.txt").open("wb"))
    zombies = watch(campaign, folder / "run", chosen.budget)
    show_speeds(folder / "run" / "log.jsonl", chosen.budget)
    print(f"zombies seen: {zombies}; exit code {campaign.returncode}")
    print((folder / "summary.txt").read_text())
    return campaign.returncode


if __name__ == "__main__":
    sys.exit(main())
