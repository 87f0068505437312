"""The form of a catalogue entry: the op's own call, each argument replaced by a description.

op("GatherV2", params=Real("*l n *r"), indices=Index("*t", below="n"), axis=AxisAfter("l"))
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gradfuzz.strategies.arguments import Argument
from gradfuzz.strategies.shapes import Dims

Requirement = Callable[[Dims, Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Entry:
    """A differentiable op and the arguments it accepts.

    `op` is the op's type in `tf.raw_ops`, or the dotted name of a public function.
    `outputs` are the numbers of the outputs to differentiate: all real ones for None.
    `requires` rejects the few calls that the descriptions cannot avoid building.  `function`
    computes an op that is not TensorFlow's.
    """

    op: str
    args: Mapping[str, Argument]
    outputs: tuple[int, ...] | None = None
    requires: Requirement | None = None
    function: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(self.args)})"

    def _repr_pretty_(self, printer: Any, cycle: object) -> None:
        # Hypothesis prints the fields of dataclasses, and all entries stand in one strategy.
        printer.text(repr(self))


def op(
    called: str | Callable[..., Any],
    /,
    *,
    outputs: tuple[int, ...] | None = None,
    requires: Requirement | None = None,
    **args: Argument,
) -> Entry:
    """Write one entry of the catalogue: of an op by its name, or of a function of your own."""
    if isinstance(called, str):
        return Entry(called, args, outputs, requires)
    name = f"{called.__module__}.{called.__qualname__}"
    return Entry(name, args, outputs, requires, called)
