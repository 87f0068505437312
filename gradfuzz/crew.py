"""Who carries out requests: workers, or this process itself."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import Protocol

from gradfuzz.answer import Bench
from gradfuzz.catalogue import Catalogue
from gradfuzz.clock import Clock
from gradfuzz.evaluate import Run, call
from gradfuzz.limits import USUAL, Limits
from gradfuzz.order import Answer, Ask, Question, Request, Told
from gradfuzz.process import Worker

# So often are workers looked at that say nothing.
WATCH_EVERY = 0.1

Tell = Callable[[int, Told], None]


class Crew(Protocol):
    """Places, numbered from 0, each of which carries out one request at a time."""

    @property
    def size(self) -> int:
        """How many places there are."""

    def ready(self) -> None:
        """Wait until all are ready for a request: the first start takes seconds."""

    def give(self, place: int, request: Request, patience: float = 1.0) -> None:
        """Give a place a request; each case may take `patience` times the usual time."""

    def listen(self, tell: Tell) -> list[tuple[int, Answer]]:
        """Wait a moment, pass on what places tell, and return the answers there are."""

    def stop(self) -> None:
        """Ask all to end what they do, with their findings told."""

    def end(self) -> None:
        """End all, whatever they do."""


@dataclass(eq=False)
class Alone:
    """A crew of one place: this process, which does not survive what kills it.

    What is asked is done while it is listened to.
    """

    ops: Mapping[str, Catalogue]
    clock: Clock
    run_op: Run = call
    size: int = 1
    _request: Request | None = None

    def ready(self) -> None:
        """Do nothing: it is."""

    def give(self, place: int, request: Request, patience: float = 1.0) -> None:
        self._request = request

    def listen(self, tell: Tell) -> list[tuple[int, Answer]]:
        if self._request is None:
            return []
        request, self._request = self._request, None
        bench = Bench(self.ops, self.run_op, clock=self.clock)
        return [(0, bench.answer(request, lambda told: tell(0, told)))]

    def stop(self) -> None:
        """Do nothing: it stops by its clock."""

    def end(self) -> None:
        """Do nothing: nothing is left behind."""


@dataclass(eq=False)
class Workers:
    """A crew of processes."""

    workers: Sequence[Worker]

    @classmethod
    def of(
        cls,
        size: int,
        folder: Path,
        sources: tuple[str, ...] = (),
        limits: Limits = USUAL,
        *,
        lines: bool = False,
    ) -> "Workers":
        """Return a crew that keeps its files in `folder`; `lines` as workers have it."""
        return cls([Worker(number, folder, sources, limits, lines) for number in range(size)])

    @property
    def size(self) -> int:
        return len(self.workers)

    def ready(self) -> None:
        while not all(worker.ready for worker in self.workers):
            for worker in self.workers:
                worker.start()
            self.listen(_hear_nothing)

    def give(self, place: int, request: Request, patience: float = 1.0) -> None:
        if isinstance(request, Question) and request.fresh:
            self.workers[place].end()
        self.workers[place].give(request, patience)

    def listen(self, tell: Tell) -> list[tuple[int, Answer]]:
        wait([each for worker in self.workers for each in worker.waited_for()], WATCH_EVERY)
        found = []
        for place, worker in enumerate(self.workers):
            answer = worker.listen(partial(tell, place))
            if answer is not None:
                found.append((place, answer))
        return found

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()

    def end(self) -> None:
        for worker in self.workers:
            worker.end()


@contextmanager
def sacrifice(sources: tuple[str, ...] = (), limits: Limits = USUAL) -> Iterator[Ask]:
    """Yield what answers questions in a process of its own, a new one after each that dies."""
    with tempfile.TemporaryDirectory(prefix="gradfuzz-") as folder:
        crew = Workers.of(1, Path(folder), sources, limits)

        def ask(request: Request) -> Answer:
            crew.give(0, request)
            while not (answers := crew.listen(_hear_nothing)):
                pass
            return answers[0][1]

        try:
            yield ask
        finally:
            crew.end()


def _hear_nothing(_place: int, _told: Told) -> None:
    """Do nothing about what places tell: they are at no round."""
