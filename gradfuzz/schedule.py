"""Which op has the next round, and for how long.

The order is decided by the seed alone: in every pass each op has one round, in the first those
first whose gradient function has never run.  What is least known gets more of the time: ops
with few cases, and ops in which a second of fuzzing finds more.  An op that ends processes
gets less, but a floor remains for all.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

# Each op has a round in every pass over the ops; this many passes are to fit in the budget ...
PASSES = 3
# ... with rounds of so many seconds at least and at most.
SHORTEST_ROUND, LONGEST_ROUND = 0.1, 20.0
# The calls around the one in focus, in turn by pass: single calls find most bugs, and fastest.
AROUND = (0, 0, 3)
# The share of an op that ends processes, or has many cases; that of one with few, or findings.
LEAST, MOST = 1 / 8, 4.0


@dataclass
class Account:
    """What one op has had, and what came of it."""

    cases: int = 0
    seconds: float = 0.0
    findings: int = 0
    deaths: int = 0


@dataclass(frozen=True)
class Turn:
    """One round to come."""

    op: str
    around: int
    seed: int
    seconds: float


@dataclass(eq=False)
class Schedule:
    """The rounds of a campaign over `ops` that has `budget` seconds on each of its workers.

    `unseen` are the ops whose gradient function has never run, `around` the calls around the one
    in focus, in turn by pass.  Rounds of each of so many `oracles` are to fit in the budget.
    """

    ops: Sequence[str]
    budget: float
    seed: int
    workers: int = 1
    unseen: set[str] = field(default_factory=set)
    accounts: dict[str, Account] = field(default_factory=dict)
    around: tuple[int, ...] = AROUND
    oracles: int = 1

    def __post_init__(self) -> None:
        for op in self.ops:
            self.accounts.setdefault(op, Account())

    def turns(self) -> Iterator[Turn]:
        """Yield one turn after another, without end."""
        rng = random.Random(self.seed)
        number = 0
        while True:
            order = sorted(self.ops)
            rng.shuffle(order)
            order.sort(key=lambda op: op not in self.unseen)
            shares = self.shares()
            for op in order:
                seed = rng.getrandbits(32)
                around = self.around[number % len(self.around)]
                yield Turn(op, around, seed, self._seconds(shares[op]))
            number += 1

    def _seconds(self, share: float) -> float:
        return min(max(self.usual * share, SHORTEST_ROUND), LONGEST_ROUND)

    @property
    def usual(self) -> float:
        """The seconds of a usual round."""
        return self.budget * self.workers / (PASSES * self.oracles * max(1, len(self.ops)))

    def shares(self) -> dict[str, float]:
        """Return how much of a usual round each op gets in a pass that begins now: 1 on average."""
        typical = median(each.cases for each in self.accounts.values())
        raw = {op: self._share(account, typical) for op, account in self.accounts.items()}
        mean = sum(raw.values()) / len(raw)
        return {op: share / mean for op, share in raw.items()}

    def _share(self, account: Account, typical: float) -> float:
        few = math.sqrt((typical + 1) / (account.cases + 1))
        deadly = math.pow(2, -account.deaths)
        return min(max(few * self._yield(account) * deadly, LEAST), MOST)

    def _yield(self, account: Account) -> float:
        """Return 1 where an op had no finding, 2 where it has them as fast as ops do on average."""
        found = sum(each.findings for each in self.accounts.values())
        seconds = sum(each.seconds for each in self.accounts.values())
        if not account.findings or not account.seconds:
            return 1.0
        return 1.0 + (account.findings / account.seconds) / (found / seconds)
