"""`check_gradients` and `assert_gradients`: any callable, by the oracles that judge graphs."""

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from gradfuzz.errors import FunctionError
from gradfuzz.examine import ORACLES
from gradfuzz.finding import Verdict
from gradfuzz.functions.prepare import prepare
from gradfuzz.functions.question import Question
from gradfuzz.functions.report import GradientReport
from gradfuzz.functions.state import kept_values

# A function of the user's may be a whole model: so many milliseconds of CPU for one check.
DEADLINE = 60_000.0


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
    oracles: Sequence[str] = ("numeric",),
) -> GradientReport:
    """Return whether the gradients of `function` are right at `inputs`.

    `function` takes `inputs`: arrays, tensors, variables, Python floats, and structures of them;
    whatever is not a floating-point number is passed on as it is.  It returns real or complex
    tensors in any structure; others are not looked at.  A layer or model of Keras, or a
    `tf.Module`, is differentiated by its trainable weights too, and any function by the
    `variables` that it holds.  Every variable has its value back in the end, also those that
    the function assigns to.

    `jacobian` compares every element rather than what looks suspicious.  As in PyTorch's
    `gradcheck`, two calls may differ by `nondet_tol`; as in Hypothesis, `deadline` is in
    milliseconds or a `timedelta`, None for none (here of CPU time, for each input).

    `oracles` are asked in turn: `numeric` compares with differences, `forward` with forward mode
    (PyTorch's `check_forward_ad`), `batched` with a vectorised Jacobian (`check_batched_grad`),
    `second` the second derivatives (`gradgradcheck`), `compiled` with `tf.function` and XLA.

    Raises `FunctionError`, which names the argument at fault, where there is nothing to check.
    """
    _require_options(variables, nondet_tol, deadline, oracles)
    with kept_values():
        prepared = prepare(function, inputs, variables, nondet_tol)
        question = Question(prepared, _seconds(deadline), tuple(oracles))
        return question.report(jacobian=jacobian)


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


def _require_options(variables: Any, nondet_tol: Any, deadline: Any, oracles: Any) -> None:
    """Raise `FunctionError` for an option that is not what it should be."""
    if not isinstance(variables, list | tuple):
        raise FunctionError(f"variables: {variables!r}, should be a list of variables")
    if not (isinstance(nondet_tol, int | float) and nondet_tol >= 0):
        raise FunctionError(f"nondet_tol: {nondet_tol!r}, should be a number that is not negative")
    if not isinstance(deadline, int | float | timedelta | None):
        raise FunctionError(f"deadline: {deadline!r}, should be milliseconds, a timedelta or None")
    if isinstance(oracles, str):
        raise FunctionError(f"oracles: {oracles!r}, should be a list of names, "
                            f"some of {', '.join(ORACLES)}")  # fmt: skip
    for name in oracles:
        if name not in ORACLES:
            raise FunctionError(f"oracles: {name!r}, should be some of {', '.join(ORACLES)}")


def _seconds(deadline: float | timedelta | None) -> float:
    if deadline is None:
        return math.inf
    return deadline.total_seconds() if isinstance(deadline, timedelta) else deadline / 1000
