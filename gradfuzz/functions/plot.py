"""A picture of analytic beside numeric derivatives, element by element."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradfuzz.errors import FunctionError
from gradfuzz.evaluate import first_line
from gradfuzz.functions.jacobian import Jacobian
from gradfuzz.graph import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot(jacobians: Sequence[Jacobian], path: Any = None) -> "Figure":
    """Return a figure with a row for each Jacobian; write it to `path` if given."""
    if not jacobians:
        raise FunctionError("plot: no Jacobians, should be asked for with jacobian=True")
    errors = [each.error for each in jacobians]
    names = [each.name for each in jacobians]
    analytic, numeric = ([getattr(j, kind) for j in jacobians] for kind in ("analytic", "numeric"))
    return plot_arrays(analytic, numeric, path, names=names, errors=errors)


def plot_arrays(
    analytic: Sequence[Array],
    numeric: Sequence[Array],
    path: Any = None,
    *,
    names: Sequence[str] = (),
    errors: Sequence[Array | None] = (),
) -> "Figure":
    """Return a figure with a row for each pair: both values, and their difference."""
    figure: Figure = _figure()(figsize=(9, 2.6 * len(analytic) + 0.4), layout="constrained")
    rows = figure.subplots(len(analytic), 2, squeeze=False)
    for number, (left, right) in enumerate(rows):
        name = names[number] if names else f"argument {number}"
        a, n = np.ravel(analytic[number]), np.ravel(numeric[number])
        _values(left, a, n, name)
        _differences(right, a, n, None if not errors else errors[number])
    if path is not None:
        _save(figure, path)
    return figure


def _save(figure: "Figure", path: Any) -> None:
    """Write a figure.  Raises `FunctionError` for a path that cannot be written."""
    try:
        figure.savefig(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise FunctionError(f"plot: {path}: {why}, should be a file that can be "
                            "written") from error  # fmt: skip
    # What is no format of matplotlib's, and what is no path.
    except (ValueError, TypeError) as error:
        raise FunctionError(f"plot: {first_line(error)}, should be the path of a picture, "
                            "such as jacobians.png") from error  # fmt: skip


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise FunctionError("plot: matplotlib is not installed, should be: "
                            "pip install 'gradfuzz[plot]'") from None  # fmt: skip
    return Figure


def _values(axes: "Axes", analytic: Array, numeric: Array, name: str) -> None:
    axes.plot(analytic, "o", mfc="none", ms=7, label="analytic")
    axes.plot(numeric, "x", ms=5, label="numeric")
    axes.set(title=name, xlabel="element of the Jacobian", ylabel="derivative")
    axes.legend()


def _differences(axes: "Axes", analytic: Array, numeric: Array, error: Array | None) -> None:
    smallest = np.finfo(float).tiny
    axes.semilogy(np.maximum(np.abs(analytic - numeric), smallest), ".", label="difference")
    if error is not None:
        axes.semilogy(np.maximum(np.ravel(error), smallest), "_", ms=9, label="bound")
    axes.set(title="|analytic - numeric|", xlabel="element of the Jacobian")
    axes.legend()
