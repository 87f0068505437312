"""A measuring run: a campaign to which all is known, so that it only counts.

It draws and checks as any campaign does, in processes that may die, shrinks nothing and saves
nothing.
"""

import tempfile
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from gradfuzz.campaign import Campaign
from gradfuzz.clock import Clock
from gradfuzz.corpus import Corpus
from gradfuzz.crew import Crew
from gradfuzz.events import Listener
from gradfuzz.known import Accepted
from gradfuzz.registry import registered_gradients
from gradfuzz.schedule import Schedule
from gradfuzz.shares import WEIGHTS, Shares
from gradfuzz.storage import Storage

EVERYTHING = (Accepted("*", "bug"),)


def measure(
    ops: Collection[str],
    seconds: float,
    seed: int,
    listen: Listener,
    crew: Crew,
    *,
    weights: Mapping[str, float] = WEIGHTS,
    clock: Clock = time.monotonic,
) -> None:
    """Draw and check graphs of all `ops` in turn for so many seconds, and tell of each case.

    The oracles share the time by their `weights`.  Raises `WorkerError` where no worker can be
    started.
    """
    schedule = Schedule(
        sorted(ops),
        seconds,
        seed,
        crew.size,
        set(ops) & set(registered_gradients()),
        oracles=len(weights),
    )
    with tempfile.TemporaryDirectory(prefix="gradfuzz-") as nothing:
        storage = Storage(Corpus(Path(nothing), set(ops)), listen)
        Campaign(schedule, storage, seconds, listen, crew, clock,
                 patterns=EVERYTHING, shares=Shares(weights)).run()  # fmt: skip
