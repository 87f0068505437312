"""What is asked of a function that is ready: of the whole, of each input, and nearby."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.errors import ForwardError, SlowError
from gradfuzz.examine import votes
from gradfuzz.finding import AGREED, Fault, Outcome, Verdict, inconclusive
from gradfuzz.functions.advice import advice
from gradfuzz.functions.function import Function, output_place
from gradfuzz.functions.inputs import Input, subscripted
from gradfuzz.functions.jacobian import Jacobian, agrees_by, jacobians
from gradfuzz.functions.prepare import Prepared
from gradfuzz.functions.repeats import moved, require_repeats_nearby
from gradfuzz.functions.report import GradientReport, InputReport
from gradfuzz.graph import Array
from gradfuzz.numeric.line import regular
from gradfuzz.oracles import numeric
from gradfuzz.subject import Subject

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
        whole = self._votes(function)
        if _is_unrepeatable(whole):
            require_repeats_nearby(self.prepared)
        inputs = [self._input(number, whole) for number in function.moved]
        found = self._jacobians() if jacobian else []
        wrong = any(each.disagree.any() for each in found)
        verdicts = [*(each.verdict for each in inputs), _verdict(whole)]
        verdict = Verdict.DISAGREE if wrong else _worst(verdicts)
        return GradientReport(
            self.prepared.name, verdict, inputs, whole, self.prepared.precision, found
        )

    def _votes(self, function: Function) -> Outcomes:
        """Return what each oracle says, and that nothing can be said of an undefined output."""
        undefined = _undefined(self.prepared.outputs)
        try:
            subject = self._subject(function, function.primals)
            found = votes(subject, self.oracles)
        except SlowError as error:
            return {**undefined, "deadline": inconclusive(str(error))}
        if undefined and not subject.kept.any():
            unasked = inconclusive("not asked: no output has a value to compare")
            found |= {name: unasked for name in self.oracles if found[name] is AGREED}
        return {**undefined, **found}

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
        fault = _naming(fault, each.name)
        element, output = self._place(each, fault) if oracle == numeric.NAME else ("", "")
        near = self._is_right_nearby(function.only(number), fault.evidence.element)
        todo = advice(fault.kind, kink=fault.evidence.kink, right_nearby=near)
        return InputReport(each.name, shape, dtype, verdict, fault, "", element, output, todo)

    def _place(self, each: Input, fault: Fault) -> tuple[str, str]:
        """Return the element and the output that a fault is in, as one writes them."""
        element, output = fault.evidence.element, fault.evidence.output
        return (
            "" if element is None else each.place(element),
            "" if output is None else output_place(self.prepared.outputs, output),
        )

    def _is_right_nearby(self, function: Function, element: int | None) -> bool:
        """Return whether the gradient is right where every element is a little larger.

        By the one that is wrong here, it must be seen to be so.
        """
        [primal] = function.primals
        try:
            subject = self._subject(function, [moved(primal)])
            if _verdict(votes(subject, self.oracles)) is not Verdict.AGREE:
                return False
            return element is None or agrees_by(subject, element)
        except (ForwardError, GradientError, SlowError):
            return False


def _naming(fault: Fault, name: str) -> Fault:
    """Return the fault of an input by itself, with its name in the message."""
    message = fault.evidence.message.replace("leaf 0", name)
    return replace(fault, evidence=replace(fault.evidence, message=message))


def _is_unrepeatable(said: Outcomes) -> bool:
    faults = (vote.fault for vote in said.values())
    return any(fault is not None and fault.kind == "unrepeatable" for fault in faults)


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
            found = value.flat[position]
            why = "is too large to be measured" if np.isfinite(found) else "has no derivative"
            return {"domain": inconclusive(f"{place} is {found:.6g}, which {why}")}
    return {}
