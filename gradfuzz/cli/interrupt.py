"""Ctrl-C as the early end of a budget, not as an error."""

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class StoppableClock:
    """The clock of a campaign, which jumps to the end of time once it is asked to stop.

    So a campaign ends between two cases, with its findings saved, as it does by itself.
    """

    stopped: bool = False

    def __call__(self) -> float:
        return math.inf if self.stopped else time.monotonic()


@contextmanager
def stop_on_signals(clock: StoppableClock) -> Iterator[None]:
    """Stop `clock` on the first Ctrl-C (or SIGTERM); a second one raises `KeyboardInterrupt`."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        # Nothing is printed here: the signal may have come in the middle of a print.
        if clock.stopped:
            raise KeyboardInterrupt
        clock.stopped = True

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
