"""`check_gradients` and `assert_gradients`: any callable, by the oracles that judge graphs."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.errors import ForwardError, SlowError
from gradfuzz.examine import votes
from gradfuzz.finding import Outcome, Verdict, inconclusive
from gradfuzz.functions.advice import advice
from gradfuzz.functions.function import Function, output_place
from gradfuzz.functions.inputs import subscripted
from gradfuzz.functions.jacobian import Jacobian, jacobians
from gradfuzz.functions.prepare import Prepared, prepare
from gradfuzz.functions.report import GradientReport, InputReport
from gradfuzz.graph import Array
from gradfuzz.numeric.line import regular
from gradfuzz.numeric.screen import scale_of
from gradfuzz.subject import Subject

# A function of the user's may be a whole model: so many milliseconds of CPU for one check.
DEADLINE = 60_000.0
# A point is near where each element is moved by this part of itself.
NEARBY = 2.0**-6

Outcomes = Mapping[str, Outcome]


class WrongGradientError(AssertionError):
    """A gradient that is wrong, or of which nothing can be told, at `inputs`: see `report`."""

    def __init__(self, report: GradientReport, inputs: Sequence[Any]) -> None:
        super().__init__(str(report))
        self.report = report
        self.inputs = inputs


def check_gradients(
    function: Callable[..., Any],
    *inputs: Any,
    variables: Sequence[Any] = (),
    jacobian: bool = False,
    nondet_tol: float = 0.0,
    deadline: float | timedelta | None = DEADLINE,
) -> GradientReport:
    """Return whether the gradients of `function` are right at `inputs`.

    `function` takes `inputs`: arrays, tensors, variables, Python floats, and structures of them;
    whatever is not a floating-point number is passed on as it is.  It returns real or complex
    tensors in any structure; others are not looked at.  A layer or model of Keras, or a
    `tf.Module`, is differentiated by its trainable weights too, and any function by the
    `variables` that it holds: they are assigned to, and have their values back in the end.

    `jacobian` compares every element rather than what looks suspicious.  As in PyTorch's
    `gradcheck`, two calls may differ by `nondet_tol`; as in Hypothesis, `deadline` is in
    milliseconds or a `timedelta`, None for none (here of CPU time, for each input).

    Raises `FunctionError`, which names the argument at fault, where there is nothing to check.
    """
    with kept_values([*variables, *getattr(function, "variables", ())]):
        prepared = prepare(function, inputs, variables, nondet_tol)
        return _report(prepared, _seconds(deadline), jacobian=jacobian)


def assert_gradients(
    function: Callable[..., Any], *inputs: Any, allow_inconclusive: bool = False, **options: Any
) -> None:
    """Raise `WrongGradientError` unless the gradients of `function` are right at `inputs`.

    A gradient of which nothing can be told is no success, unless `allow_inconclusive`.  The
    other options are those of `check_gradients`.
    """
    report = check_gradients(function, *inputs, **options)
    if report.verdict is Verdict.DISAGREE or not (report.ok or allow_inconclusive):
        raise WrongGradientError(report, inputs)


@contextmanager
def kept_values(variables: Sequence[Any]) -> Iterator[None]:
    """Give variables the values back that they had before the block."""
    kept = [variable for variable in variables if hasattr(variable, "assign")]
    values = [np.copy(variable.numpy()) for variable in kept]
    try:
        yield
    finally:
        for variable, value in zip(kept, values, strict=True):
            variable.assign(value)


def _seconds(deadline: float | timedelta | None) -> float:
    if deadline is None:
        return math.inf
    return deadline.total_seconds() if isinstance(deadline, timedelta) else deadline / 1000


def _report(prepared: Prepared, seconds: float, *, jacobian: bool) -> GradientReport:
    function = prepared.function
    whole = _votes(function, prepared.name, seconds)
    whole = {**whole, **_undefined(prepared.outputs)}
    inputs = [_input(prepared, number, whole, seconds) for number in function.moved]
    verdict = verdict_of([each.verdict for each in inputs] + [v.verdict for v in whole.values()])
    found = _jacobians(prepared, seconds) if jacobian else []
    if any(each.disagree.any() for each in found):
        verdict = Verdict.DISAGREE
    return GradientReport(prepared.name, verdict, inputs, whole, prepared.precision, found)


def verdict_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Return DISAGREE if any disagrees, else INCONCLUSIVE if any cannot say, else AGREE."""
    worst_first = (Verdict.DISAGREE, Verdict.INCONCLUSIVE)
    return next((each for each in worst_first if each in verdicts), Verdict.AGREE)


def _votes(function: Function, name: str, seconds: float) -> Outcomes:
    try:
        return votes(Subject.at(function, function.primals, name, seconds))
    except SlowError as error:
        return {"deadline": inconclusive(str(error))}


def _undefined(outputs: Sequence[tuple[str, Array]]) -> Outcomes:
    """Return that nothing can be said of an output that is no number, if there is one."""
    for name, value in outputs:
        for position in np.flatnonzero(~regular(value.astype(np.float64))).tolist():
            place = subscripted(name, np.unravel_index(position, value.shape))
            found = f"{place} is {value.flat[position]}, which has no derivative"
            return {"domain": inconclusive(found)}
    return {}


def _jacobians(prepared: Prepared, seconds: float) -> Sequence[Jacobian]:
    function = prepared.function
    subject = Subject.at(function, function.primals, prepared.name, seconds)
    try:
        return jacobians(subject, [each.name for each in function.inputs])
    except (GradientError, SlowError):
        # There are none; the oracles have said why.
        return []


def _input(prepared: Prepared, number: int, whole: Outcomes, seconds: float) -> InputReport:
    """Return what came of one input, which is looked at by itself where the whole is not right."""
    function, each = prepared.function, prepared.function.inputs[number]
    alone = whole
    if verdict_of([vote.verdict for vote in whole.values()]) is not Verdict.AGREE:
        alone = _votes(function.only(number), prepared.name, seconds)
    verdict = verdict_of([vote.verdict for vote in alone.values()])
    shape, dtype = each.value.shape, each.value.dtype.name
    fault = next((vote.fault for vote in alone.values() if vote.fault), None)
    if fault is None:
        reason = next((vote.reason for vote in alone.values() if vote.reason), "")
        return InputReport(each.name, shape, dtype, verdict, reason=reason)
    evidence = fault.evidence
    element = "" if evidence.element is None else each.place(evidence.element)
    output = "" if evidence.output is None else output_place(prepared.outputs, evidence.output)
    near = _is_right_nearby(function.only(number), prepared.name, seconds)
    todo = advice(fault.kind, kink=evidence.kink, right_nearby=near)
    return InputReport(each.name, shape, dtype, verdict, fault, "", element, output, todo)


def _is_right_nearby(function: Function, name: str, seconds: float) -> bool:
    """Return whether the gradient is right where every element is a little larger."""
    [primal] = function.primals
    moved = (primal + NEARBY * scale_of(primal)).astype(primal.dtype)
    try:
        found = votes(Subject.at(function, [moved], name, seconds))
    except (ForwardError, SlowError):
        return False
    return verdict_of([vote.verdict for vote in found.values()]) is Verdict.AGREE
