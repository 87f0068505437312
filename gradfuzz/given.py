"""Property tests of one's own function: its gradients, at inputs that Hypothesis draws."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import numpy as np

from gradfuzz.errors import FunctionError, UsageError
from gradfuzz.finding import Verdict
from gradfuzz.functions.check import WrongGradientError, check_gradients
from gradfuzz.functions.inputs import named
from gradfuzz.functions.report import GradientReport
from gradfuzz.functions.state import Variables
from gradfuzz.strategies.inputs import inputs

# TensorFlow's first calls take long, and that is nobody's fault.
SETTINGS = hypothesis.settings(deadline=None)
# Where nothing can be told at so many inputs, before the first at which something can be, there is
# no more to try.  Hypothesis gives up at 50, and does not know why.
HOPELESS = 40

Function = Callable[..., Any]
Test = Callable[..., None]


def given_gradients(
    *arguments: Any, settings: hypothesis.settings = SETTINGS, **options: Any
) -> Callable[[Function], Test]:
    """Make a function into a test of its gradients, at inputs of the shapes "*b n", "n", ….

    An argument is a pattern, or a description from `gradfuzz.strategies`: `Real("*b n",
    POSITIVE)`, `Index("n", below="m")`.  `settings` are Hypothesis's; the other options are those
    of `check_gradients`.  Inputs at which nothing can be told are no examples.  A function that
    does not run in float64 is given float32.  A method has a `self` beside the arguments.

    The test raises `WrongGradientError` with the simplest inputs that were found, and `UsageError`
    where nothing can be told at any.  Raises `UsageError` for a wrong pattern.
    """
    strategy = inputs(*arguments)

    def decorate(function: Function) -> Test:
        return Demand(strategy, options).test(function, settings)

    return decorate


@dataclass(eq=False)
class Demand:
    """That the gradients of a function are right at the inputs of a strategy, and how it went.

    `told` and `untold` count the inputs at which something could be told, and nothing;
    `precision` is what the last of the former were computed in.
    """

    strategy: Any
    options: Mapping[str, Any]
    told: int = 0
    untold: int = 0
    precision: str = ""
    variables: Variables = field(default_factory=Variables)

    @classmethod
    def of(cls, arguments: Sequence[Any]) -> "Demand":
        """Return what is demanded at such arguments.  Raises `UsageError` for a wrong pattern."""
        return cls(inputs(*arguments), {})

    def test(self, function: Function, settings: hypothesis.settings) -> Test:
        """Return a test that may be called as often as one likes."""
        if _is_method(function):

            def test(self_: Any, drawn: Sequence[Any]) -> None:
                self.require(function.__get__(self_), drawn)
        else:

            def test(drawn: Sequence[Any]) -> None:  # type: ignore[misc]  # the other of the two
                self.require(function, drawn)

        test.__name__ = named(function)
        test.__qualname__ = getattr(function, "__qualname__", named(function))
        test.__module__, test.__doc__ = function.__module__, function.__doc__
        found: Test = settings(hypothesis.given(drawn=self.strategy)(test))
        return found

    def require(self, function: Function, drawn: Sequence[Any]) -> None:
        """Raise `WrongGradientError` where a gradient is wrong.

        Where nothing can be told, it is no example.  Raises `UsageError` where that is so of all.
        """
        with self.variables.known():
            drawn, report = self._report(function, drawn)
        if report.verdict is Verdict.INCONCLUSIVE:
            self.untold += 1
            self._require_hope(report)
            hypothesis.event(f"inconclusive: {_reason(report)}")
            hypothesis.reject()
        # Of an empty array there is nothing to tell.
        self.told += all(map(np.size, drawn))
        self.precision = report.precision
        if report.verdict is Verdict.DISAGREE:
            raise WrongGradientError(report, drawn)

    def _report(
        self, function: Function, drawn: Sequence[Any]
    ) -> tuple[Sequence[Any], GradientReport]:
        """Return what is said of a function, and at what: float32 where it refuses float64."""
        try:
            return drawn, check_gradients(function, *drawn, **self.options)
        except FunctionError as error:
            lower = [_in_float32(each) for each in drawn]
            # What has a cause was raised by the function.
            if error.__cause__ is None or all(map(_is, lower, drawn)):
                raise
            refusal = error
        try:
            return lower, check_gradients(function, *lower, **self.options)
        except FunctionError:
            raise refusal from refusal.__cause__

    def _require_hope(self, report: GradientReport) -> None:
        if not self.told and self.untold >= HOPELESS:
            raise UsageError(f"inputs: at most of them nothing can be told ({_reason(report)}); "
                             "should be of shapes and domains that the function takes")  # fmt: skip


def _is_method(function: Function) -> bool:
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return parameters[:1] == ["self"]


def _in_float32(drawn: Any) -> Any:
    if not (isinstance(drawn, np.ndarray) and drawn.dtype == np.float64):
        return drawn
    # What has no place in float32 is infinite, and nothing is told of it.
    with np.errstate(over="ignore"):
        return drawn.astype(np.float32)


def _is(first: Any, second: Any) -> bool:
    return first is second


def _reason(report: GradientReport) -> str:
    return next((vote.reason for vote in report.oracles.values() if vote.reason), "")
