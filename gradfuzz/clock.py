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
