"""Clocks that tell a campaign, and its rounds, when to end."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]


@dataclass
class StoppableClock:
    """A clock that jumps to the end of time once it is asked to stop.

    So what goes by it ends between two cases, with its findings told, as it does by itself.
    """

    stopped: bool = False

    def __call__(self) -> float:
        return math.inf if self.stopped else time.monotonic()


@dataclass
class Stopwatch:
    """The seconds that a campaign has run: `earlier` before it was resumed, and since then."""

    earlier: float = 0.0
    _began: float | None = None

    def start(self) -> None:
        """Begin to count."""
        self._began = time.monotonic()

    def __call__(self) -> float:
        since = 0.0 if self._began is None else time.monotonic() - self._began
        return self.earlier + since
