"""What a check of a function says: of the whole, of each input, and every oracle's word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING, Any

from gradfuzz.finding import Fault, Outcome, Verdict
from gradfuzz.functions.jacobian import Jacobian

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class InputReport:
    """What came of one input.

    `element` and `output` say where the fault is, as one would write it: `x[0, 1]`,
    `output['loss']`; "" where it is in no element.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    verdict: Verdict
    fault: Fault | None = None
    reason: str = ""
    element: str = ""
    output: str = ""
    advice: str = ""

    def __str__(self) -> str:
        head = f"{self.name}: {self.dtype}{list(self.shape)}: {self.verdict.value}"
        if self.fault is None:
            return head + (f" ({self.reason})" if self.reason else "")
        place = f"d {self.output} / d {self.element}: " if self.element else ""
        kink = " (a kink)" if self.fault.evidence.kink else ""
        lines = [f"{self.fault.kind}: {place}{self.fault.evidence.message}{kink}",
                 *(f"do: {line}" for line in self.advice.splitlines())]  # fmt: skip
        return f"{head}\n{indent(chr(10).join(lines), '  ')}"


@dataclass(frozen=True, eq=False)
class GradientReport:
    """The verdict on the gradients of one function at one point.

    `oracles` is what each oracle said of the function as a whole.  `precision` says in what
    the function was run.  `jacobians` has one for each input where they were asked for.
    """

    name: str
    verdict: Verdict
    inputs: Sequence[InputReport]
    oracles: Mapping[str, Outcome]
    precision: str
    jacobians: Sequence[Jacobian] = ()

    @property
    def ok(self) -> bool:
        """Whether all gradients agree."""
        return self.verdict is Verdict.AGREE

    def plot(self, path: Any = None) -> "Figure":
        """Return a matplotlib figure of the analytic and the numeric Jacobians; write it to `path`.

        Raises `FunctionError` where the check was not asked for them.
        """
        from gradfuzz.functions.plot import plot

        return plot(self.jacobians, path)

    def __str__(self) -> str:
        lines = [f"gradients of {self.name}: {self.verdict.value}"]
        lines += [indent(str(each), "  ") for each in self.inputs]
        said = (f"{name} {_said(outcome)}" for name, outcome in self.oracles.items())
        lines += [f"  oracles: {'; '.join(said)}", f"  computed in {self.precision}"]
        return "\n".join(lines)


def _said(outcome: Outcome) -> str:
    why = outcome.fault.kind if outcome.fault else outcome.reason
    return outcome.verdict.value + (f" ({why})" if why else "")
