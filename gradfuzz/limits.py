"""What a worker may take: time for a case, memory for a case, and memory in all."""

from dataclasses import dataclass

GIB = 2**30

# A case may take so many times as long by the clock on the wall as in CPU time.
PATIENCE = 4.0


@dataclass(frozen=True)
class Limits:
    """How long a case may run and how much memory a worker may hold.

    A case hangs that has taken `seconds` of CPU time, or `PATIENCE` times as many by the clock
    on the wall: a busy machine is not a hang, and neither is a slow trace.  `memory` is what a
    worker may hold at any time, in bytes; one that holds `recycled` after a request is ended.
    """

    seconds: float = 30.0
    memory: int = 3 * GIB
    recycled: int = 3 * GIB // 2

    @classmethod
    def of(cls, seconds: float, gib: float) -> "Limits":
        """Return the limits for a case of so many seconds and a worker of so many GiB."""
        return cls(seconds, int(gib * GIB), int(gib * GIB / 2))

    @property
    def allocated(self) -> int:
        """What the system lets a worker allocate: where it grows faster than it is watched."""
        return 2 * self.memory + GIB


USUAL = Limits()
