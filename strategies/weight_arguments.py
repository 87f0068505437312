"""The weights of a layer."""

import re
from dataclasses import dataclass

from gradfuzz.graph import Ref
from gradfuzz.strategies.arguments import Real, Scope

MULTIPLE = re.compile(r"(\d+)([a-z]\w*)")


@dataclass(frozen=True, init=False)
class Weights:
    """A list of primals, one for each pattern.  An axis "4u" is 4 times as long as the axis "u"."""

    patterns: tuple[str, ...]

    def __init__(self, *patterns: str) -> None:
        object.__setattr__(self, "patterns", patterns)

    def draw(self, scope: Scope) -> list[Ref]:
        for axis in " ".join(self.patterns).split():
            if multiple := MULTIPLE.fullmatch(axis):
                scope.dims.axes[axis] = int(multiple[1]) * scope.dims.size(multiple[2])
        return [Real(pattern).draw(scope) for pattern in self.patterns]
