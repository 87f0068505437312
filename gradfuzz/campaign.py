"""A campaign: many short Hypothesis runs, each on one op, until the budget is spent.

One long run would stop soon after its first failure.  In a round, known buckets pass and each
new bucket raises an exception class of its own, so that shrinking can't slip from one bug to
another.  A finding is saved before it is shrunk, and again after.
"""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

from gradfuzz.casefile import Case
from gradfuzz.catalogue import Catalogue
from gradfuzz.check import check
from gradfuzz.corpus import Corpus
from gradfuzz.evaluate import Run, call
from gradfuzz.events import FindingDropped, FindingSaved, Listener, RoundEnded, RoundStarted
from gradfuzz.examine import oracles_of
from gradfuzz.finding import Bucket, Finding, Verdict
from gradfuzz.graph import Graph
from gradfuzz.round import Clock, Found, Round
from gradfuzz.runtime import environment
from gradfuzz.shares import Shares
from gradfuzz.vote import vote

# Each op has a round in every pass over the ops.  This many passes for each oracle are to fit in
# the budget ...
PASSES = 3
# ... with rounds of so many seconds at least and at most.
SHORTEST_ROUND, LONGEST_ROUND = 0.1, 20.0
# The calls around the one in focus, in turn by pass: single calls find most bugs, and fastest.
AROUND = (0, 0, 3)
# Shrinking a finding is given this part of the budget, within bounds in seconds.
SHRINKING = 1 / 100
SHORTEST_SHRINKING, LONGEST_SHRINKING = 1.0, 30.0


@dataclass(eq=False)
class Campaign:
    """One run of the fuzzer over `ops` for `budget` seconds.

    `seed` decides every choice, except how much fits in the time.  Buckets in `known` pass.
    `shares` says which oracle a round asks.
    """

    ops: Mapping[str, Catalogue]
    corpus: Corpus
    budget: float
    seed: int
    listen: Listener
    known: set[Bucket] = field(default_factory=set)
    shares: Shares = field(default_factory=lambda: Shares({"numeric": 1.0}))
    run_op: Run = call
    clock: Clock = time.monotonic

    def run(self) -> None:
        """Fuzz until the budget is spent.

        What is found is in the corpus, at whatever instant this is interrupted.  Raises
        `StorageError` where the corpus cannot be written.
        """
        end = self.clock() + self.budget
        rng = random.Random(self.seed)
        number = 0
        while self.clock() < end:
            order = sorted(self.ops)
            rng.shuffle(order)
            for op in order:
                left = end - self.clock()
                if left <= 0:
                    return
                self._round(op, AROUND[number % len(AROUND)], rng.getrandbits(32), end)
            number += 1

    def _round(self, op: str, around: int, seed: int, end: float) -> None:
        oracles = self.shares.next(op)
        started = self.clock()
        self.listen(RoundStarted(op, oracles[0]))
        files: dict[Bucket, Path] = {}
        round_ = Round(
            op,
            self.ops[op].graphs(op, run=self.run_op, around=around),
            seed,
            end=min(end, self.clock() + self._slice()),
            shrinking=self._shrinking(),
            known=self.known,
            on_new=partial(self._save_first, files, seed),
            listen=self.listen,
            oracles=oracles,
            clock=self.clock,
        )
        for bucket, found in round_.run().items():
            if self._save_shrunk(files.get(bucket), found, seed):
                self.known.add(bucket)
        seconds = self.clock() - started
        self.shares.spend(op, oracles[0], seconds)
        self.listen(RoundEnded(op, oracles[0], seconds))

    def _shrinking(self) -> float:
        return min(max(self.budget * SHRINKING, SHORTEST_SHRINKING), LONGEST_SHRINKING)

    def _slice(self) -> float:
        rounds = PASSES * len(self.shares.weights) * max(1, len(self.ops))
        share = self.budget / rounds
        return min(max(share, SHORTEST_ROUND), LONGEST_ROUND)

    def _save_first(
        self, files: dict[Bucket, Path], seed: int, graph: Graph, finding: Finding
    ) -> None:
        case = _case(finding, graph, seed)
        if self.corpus.holds(case):
            # Somebody's: it may guard against the return of this very bug.
            return
        files[finding.bucket] = path = self.corpus.save(case)
        self.listen(FindingSaved(finding, path, shrunk=False))

    def _save_shrunk(self, first: Path | None, found: Found, seed: int) -> bool:
        """Save the shrunk form in the place of the `first`; drop it if it does not repeat.

        Returns whether it was saved.
        """
        bucket = found.simplest.bucket
        oracles = oracles_of(bucket)
        repeat = bucket.kind == "unrepeatable"
        report = check(found.simplest.graph, oracles=oracles, repeat=repeat)
        # What cannot be told again, for want of time, is not refuted.
        again = found.simplest if report.verdict is Verdict.INCONCLUSIVE else report.finding
        if again is None or again.bucket != bucket:
            if first is not None:
                self.corpus.remove(first)
            self.listen(FindingDropped(bucket))
            return False
        case = _case(replace(again, votes=vote(again)), found.first, seed)
        path = self.corpus.save(case) if first is None else self.corpus.replace(first, case)
        self.listen(FindingSaved(again, path, shrunk=True))
        return True


def _case(finding: Finding, original: Graph, seed: int) -> Case:
    today = date.today().isoformat()
    return Case(finding, original, environment(), seed, today, today)
