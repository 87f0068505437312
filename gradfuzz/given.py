"""Property tests of one's own function: its gradients, at inputs that Hypothesis draws."""

from collections.abc import Callable, Sequence
from typing import Any

import hypothesis

from gradfuzz.finding import Verdict
from gradfuzz.functions.check import WrongGradientError, check_gradients
from gradfuzz.functions.inputs import named
from gradfuzz.functions.report import GradientReport
from gradfuzz.strategies.inputs import inputs

# TensorFlow's first calls take long, and that is nobody's fault.
SETTINGS = hypothesis.settings(deadline=None)

Function = Callable[..., Any]


def given_gradients(
    *arguments: Any, settings: hypothesis.settings = SETTINGS, **options: Any
) -> Callable[[Function], Callable[[], None]]:
    """Make a function into a test of its gradients, at inputs of the shapes "*b n", "n", ….

    An argument is a pattern, or a description from `gradfuzz.strategies`: `Real("*b n",
    POSITIVE)`, `Index("n", below="m")`.  `settings` are Hypothesis's; the other options are those
    of `check_gradients`.  Inputs at which nothing can be told are no examples.

    The test raises `WrongGradientError` with the simplest inputs that were found.  Raises
    `UsageError` for a wrong pattern.
    """
    strategy = inputs(*arguments)

    def decorate(function: Function) -> Callable[[], None]:
        @settings
        @hypothesis.given(strategy)
        def test(inputs: Sequence[Any]) -> None:
            require_right(function, inputs, **options)

        test.__name__ = test.__qualname__ = named(function)
        test.__module__, test.__doc__ = function.__module__, function.__doc__
        return test

    return decorate


def require_right(function: Function, inputs: Sequence[Any], **options: Any) -> None:
    """Raise `WrongGradientError` where a gradient is wrong; no example where it cannot be told."""
    report = check_gradients(function, *inputs, **options)
    if report.verdict is Verdict.DISAGREE:
        raise WrongGradientError(report, inputs)
    if report.verdict is Verdict.INCONCLUSIVE:
        hypothesis.event(f"inconclusive: {_reason(report)}")
        hypothesis.reject()


def _reason(report: GradientReport) -> str:
    return next((vote.reason for vote in report.oracles.values() if vote.reason), "")
