"""Property-based fuzzing of TensorFlow gradients.

What is here is imported when it is first used: TensorFlow takes seconds.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradfuzz.errors import FunctionError, GradfuzzError
    from gradfuzz.finding import Verdict
    from gradfuzz.functions.check import WrongGradientError, assert_gradients, check_gradients
    from gradfuzz.functions.compute import (
        Jacobians,
        compute_gradient,
        max_error,
        mean_relative_error,
    )
    from gradfuzz.functions.report import GradientReport
    from gradfuzz.given import given_gradients

__version__ = "0.1.0"

__all__ = [
    "FunctionError",
    "GradfuzzError",
    "GradientReport",
    "Jacobians",
    "Verdict",
    "WrongGradientError",
    "assert_gradients",
    "check_gradients",
    "compute_gradient",
    "given_gradients",
    "max_error",
    "mean_relative_error",
]

_HOME = {
    "FunctionError": "gradfuzz.errors",
    "GradfuzzError": "gradfuzz.errors",
    "GradientReport": "gradfuzz.functions.report",
    "Jacobians": "gradfuzz.functions.compute",
    "Verdict": "gradfuzz.finding",
    "WrongGradientError": "gradfuzz.functions.check",
    "assert_gradients": "gradfuzz.functions.check",
    "check_gradients": "gradfuzz.functions.check",
    "compute_gradient": "gradfuzz.functions.compute",
    "given_gradients": "gradfuzz.given",
    "max_error": "gradfuzz.functions.compute",
    "mean_relative_error": "gradfuzz.functions.compute",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'gradfuzz' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
