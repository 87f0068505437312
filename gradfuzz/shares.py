"""How a campaign shares its time among oracles: in proportion to weights.

Time, not rounds: a JVP costs five VJPs, tracing fifty, and XLA two hundred.  How long rounds of
an oracle take was measured in long campaigns (`benchmarks/night.py`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from gradfuzz.errors import UsageError
from gradfuzz.examine import ORACLES
from gradfuzz.registry import suggestion

# Most time goes where most was found per second.
WEIGHTS: Mapping[str, float] = {
    "numeric": 4.0,
    "forward": 1.0,
    "second": 2.0,
    "compiled": 2.0,
    "batched": 1.0,
    "precision": 1.0,
    "effects": 0.5,
}

# What every op is asked first, where it is asked at all.
FIRST = "numeric"

# What one case takes, about, in seconds: a round has one at least ...
CASE: Mapping[str, float] = {"compiled": 0.3, "batched": 0.3, "second": 0.25}
# ... and ends with its last case and what that finds, after so many times its time.
OVERTIME: Mapping[str, float] = {"compiled": 1.3, "batched": 1.7, "second": 2.0}

# Where forward mode agrees with reverse mode, differences say whether both are right.
BESIDE: Mapping[str, tuple[str, ...]] = {"forward": ("numeric",)}


@dataclass
class Shares:
    """The time spent so far, in seconds, by op and oracle, and the oracles' weights."""

    weights: Mapping[str, float]
    spent: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))

    def next(self, op: str, seconds: float = 0.0) -> tuple[str, ...]:
        """Return the oracles for the next round of `op`, the one that its time is due to first.

        It is the one that the op, then the campaign, would have given least time for its weight
        after a round of so many `seconds`: a slow one waits until its time is there.  Ops come to
        an oracle at different times, so that the campaign asks all of them at any time; but each
        is asked about differences first, which find most.
        """

        def after(oracle: str) -> tuple[float, float]:
            took = _takes(oracle, seconds) / self.weights[oracle]
            waits = 1 - _phase(op, oracle)
            return self._of(op, oracle) + waits * took, self._of_all(oracle)

        due = min(self.weights, key=after)
        return due, *BESIDE.get(due, ())

    def is_first(self, op: str, oracle: str) -> bool:
        """Return whether the oracle has not yet been asked about `op`."""
        return self.spent[op, oracle] == 0

    def charge(self, op: str, oracle: str, seconds: float) -> None:
        """Take into account what a round that is to take so long takes, about.

        By what rounds really take, one seed would not give one order.
        """
        self.spend(op, oracle, _takes(oracle, seconds))

    def spend(self, op: str, oracle: str, seconds: float) -> None:
        """Take into account that a round on `op` took so long."""
        self.spent[op, oracle] += seconds

    def _of(self, op: str, oracle: str) -> float:
        return self.spent[op, oracle] / self.weights[oracle]

    def _of_all(self, oracle: str) -> float:
        total = sum(seconds for (_, name), seconds in self.spent.items() if name == oracle)
        return total / self.weights[oracle]


def _phase(op: str, oracle: str) -> float:
    """Return how far in its first round of an oracle an op begins: anywhere in [0, 1)."""
    return 1.0 if oracle == FIRST else crc32(f"{op} {oracle}".encode()) / 2**32


def _takes(oracle: str, seconds: float) -> float:
    return max(seconds * OVERTIME.get(oracle, 1.0), CASE.get(oracle, 0.0))


def parse_shares(texts: Sequence[str]) -> dict[str, float]:
    """Return the weights of `--oracles numeric=4,second`, for none the default ones.

    An oracle without a number has weight 1.  Raises `UsageError` for an unknown oracle, one
    given twice, and a weight that is not above 0.
    """
    found: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, _, weight = part.partition("=")
        if name not in ORACLES:
            near = suggestion(name, ORACLES) or f", should be one of {', '.join(ORACLES)}"
            raise UsageError(f"oracle {name!r}: unknown{near}")
        if name in found:
            raise UsageError(f"oracle {name!r}: given twice, should be given once")
        found[name] = _weight(name, weight) if "=" in part else 1.0
    return found or dict(WEIGHTS)


def _weight(name: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise UsageError(f"oracle {name!r}: weight {text[:40]!r}, should be a number above 0")
    return weight
