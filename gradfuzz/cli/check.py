"""`gradfuzz check`: the gradients of a function in a module, at inputs of given shapes."""

import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis.errors import FailedHealthCheck, Unsatisfiable
from rich.console import Console

from gradfuzz.cli.terminal import one_line, plain, terminal, write_json
from gradfuzz.errors import UsageError
from gradfuzz.evaluate import first_line
from gradfuzz.functions.check import WrongGradientError
from gradfuzz.functions.inputs import argument_names
from gradfuzz.functions.said import said
from gradfuzz.given import Demand, Test
from gradfuzz.graph import format_array


def check(
    target: str, patterns: Sequence[str], *, examples: int, seed: int | None, as_json: bool
) -> int:
    """Print the verdict on `module:function`, and return the exit code.

    Raises `UsageError` where there is no such function, and `FunctionError` where it does not run.
    """
    function = load_function(target)
    console = terminal(stderr=as_json)
    settings = hypothesis.settings(
        max_examples=examples, deadline=None, database=None, print_blob=False,
        verbosity=hypothesis.Verbosity.quiet, derandomize=seed is None,
    )  # fmt: skip
    demand = Demand.of(patterns)
    test = demand.test(function, settings)
    wrong = _run(test if seed is None else hypothesis.seed(seed)(test))
    if wrong is None:
        console.print(one_line(f"{target}: right at {examples} inputs of shapes "
                               f"{', '.join(patterns)}{_how(demand)}"), soft_wrap=True)  # fmt: skip
    else:
        _show(console, wrong, argument_names(function, len(wrong.inputs)))
    if as_json:
        write_json(_as_json(target, wrong))
    return 0 if wrong is None else 1


def _how(demand: Demand) -> str:
    """Return in what precision, where that is not what one would think."""
    return "" if demand.precision in ("", "float64") else f", in {demand.precision}"


def load_function(target: str) -> Callable[..., Any]:
    """Return the function of `module:function`; the module may lie in the current folder."""
    module_name, _, path = target.partition(":")
    if not module_name or not path:
        raise UsageError(f"function {target!r}: should be module:function, as in my_ops:my_gelu")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    # It is the user's module: it may raise anything, and end Python.
    except (Exception, SystemExit) as error:
        raise UsageError(f"module {module_name!r}: not imported ({said(error)})") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise UsageError(f"function {target!r}: not there, should be a function of the module")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"function {target!r}: of type {type(found).__name__}, should be "
                         "a function")  # fmt: skip
    return found  # type: ignore[no-any-return]  # whatever is callable


def _run(test: Test) -> WrongGradientError | None:
    try:
        test()
    except WrongGradientError as wrong:
        return wrong
    except (Unsatisfiable, FailedHealthCheck) as error:
        why = first_line(error)
        raise UsageError(f"inputs: at most of them nothing can be told ({why}); should be of "
                         "shapes and domains that the function takes") from error  # fmt: skip
    except BaseExceptionGroup as several:
        for each in several.exceptions:
            if isinstance(each, WrongGradientError):
                return each
        raise several.exceptions[0] from several
    return None


def _show(console: Console, wrong: WrongGradientError, names: Sequence[str]) -> None:
    console.print(plain(str(wrong.report)), soft_wrap=True)
    console.print("at", style="bold")
    for name, value in zip(names, wrong.inputs, strict=True):
        console.print(one_line(f"  {name} = {format_array(np.asarray(value))}"), soft_wrap=True)


def _as_json(target: str, wrong: WrongGradientError | None) -> dict[str, Any]:
    if wrong is None:
        return {"function": target, "verdict": "agree", "inputs": [], "report": None}
    inputs = [np.asarray(value) for value in wrong.inputs]
    return {
        "function": target,
        "verdict": wrong.report.verdict.value,
        "inputs": [format_array(value) for value in inputs],
        "report": str(wrong.report),
    }
