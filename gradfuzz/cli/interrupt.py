"""Ctrl-C as the early end of a budget, not as an error."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gradfuzz.clock import StoppableClock

SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
