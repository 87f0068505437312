"""What is asked of a function that is ready: of the whole, of each input, and nearby."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.errors import ForwardError, SlowError
from gradfuzz.examine import votes
from gradfuzz.finding import Outcome, Verdict, inconclusive
from gradfuzz.functions.advice import advice
from gradfuzz.functions.function import Function, output_place
from gradfuzz.functions.inputs import Input, subscripted
from gradfuzz.functions.jacobian import Jacobian, jacobians
from gradfuzz.functions.prepare import Prepared
from gradfuzz.functions.report import GradientReport, InputReport
from gradfuzz.graph import Array
from gradfuzz.numeric.line import regular
from gradfuzz.numeric.screen import scale_of
from gradfuzz.oracles import numeric
from gradfuzz.subject import Subject

# A point is near where each element is moved by this part of itself.
NEARBY = 2.0**-6

Outcomes = Mapping[str, Outcome]


@dataclass(frozen=True, eq=False)
class Question:
    """Whether the gradients of a function are right, to be answered by some oracles.

    Each answer may take so many CPU seconds.
    """

    prepared: Prepared
    seconds: float
    oracles: Sequence[str]

    def report(self, *, jacobian: bool) -> GradientReport:
        """Return all that there is to say, with every element if `jacobian`."""
        function = self.prepared.function
        whole = {**self._votes(function), **_undefined(self.prepared.outputs)}
        inputs = [self._input(number, whole) for number in function.moved]
        found = self._jacobians() if jacobian else []
        wrong = any(each.disagree.any() for each in found)
        verdicts = [*(each.verdict for each in inputs), _verdict(whole)]
        verdict = Verdict.DISAGREE if wrong else _worst(verdicts)
        return GradientReport(
            self.prepared.name, verdict, inputs, whole, self.prepared.precision, found
        )

    def _votes(self, function: Function) -> Outcomes:
        try:
            return votes(self._subject(function, function.primals), self.oracles)
        except SlowError as error:
            return {"deadline": inconclusive(str(error))}

    def _subject(self, function: Function, primals: Sequence[Array]) -> Subject:
        return Subject.at(function, primals, self.prepared.name, self.seconds)

    def _jacobians(self) -> Sequence[Jacobian]:
        function = self.prepared.function
        subject = self._subject(function, function.primals)
        try:
            return jacobians(subject, [each.name for each in function.inputs])
        except (GradientError, SlowError):
            # There are none; the oracles have said why.
            return []

    def _input(self, number: int, whole: Outcomes) -> InputReport:
        """Return what came of one input, looked at by itself where the whole is not right."""
        function, each = self.prepared.function, self.prepared.function.inputs[number]
        alone = whole
        if _verdict(whole) is not Verdict.AGREE:
            alone = self._votes(function.only(number))
        verdict, shape, dtype = _verdict(alone), each.value.shape, each.value.dtype.name
        oracle = next((name for name, vote in alone.items() if vote.fault), "")
        if not oracle:
            reason = next((vote.reason for vote in alone.values() if _counts(vote)), "")
            return InputReport(each.name, shape, dtype, verdict, reason=reason)
        fault = alone[oracle].fault
        assert fault is not None
        element, output = self._place(each, alone[oracle]) if oracle == numeric.NAME else ("", "")
        near = self._is_right_nearby(function.only(number))
        todo = advice(fault.kind, kink=fault.evidence.kink, right_nearby=near)
        return InputReport(each.name, shape, dtype, verdict, fault, "", element, output, todo)

    def _place(self, each: Input, vote: Outcome) -> tuple[str, str]:
        """Return the element and the output that a fault is in, as one writes them."""
        assert vote.fault is not None
        element, output = vote.fault.evidence.element, vote.fault.evidence.output
        return (
            "" if element is None else each.place(element),
            "" if output is None else output_place(self.prepared.outputs, output),
        )

    def _is_right_nearby(self, function: Function) -> bool:
        """Return whether the gradient is right where every element is a little larger."""
        [primal] = function.primals
        moved = (primal + NEARBY * scale_of(primal)).astype(primal.dtype)
        try:
            return _verdict(votes(self._subject(function, [moved]), self.oracles)) is Verdict.AGREE
        except (ForwardError, SlowError):
            return False


def _verdict(said: Outcomes) -> Verdict:
    return _worst([vote.verdict for vote in said.values() if vote.fault or _counts(vote)])


def _counts(vote: Outcome) -> bool:
    """Return whether a vote that is no agreement is more than a gap of TensorFlow's own."""
    return vote.verdict is Verdict.INCONCLUSIVE and not vote.gap


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return DISAGREE if any disagrees, else INCONCLUSIVE if any cannot say, else AGREE."""
    worst_first = (Verdict.DISAGREE, Verdict.INCONCLUSIVE)
    return next((each for each in worst_first if each in verdicts), Verdict.AGREE)


def _undefined(outputs: Sequence[tuple[str, Array]]) -> Outcomes:
    """Return that nothing can be said of an output that is no number, if there is one."""
    for name, value in outputs:
        for position in np.flatnonzero(~regular(value.astype(np.float64))).tolist():
            place = subscripted(name, np.unravel_index(position, value.shape))
            found = f"{place} is {value.flat[position]}, which has no derivative"
            return {"domain": inconclusive(found)}
    return {}
