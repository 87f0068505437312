"""Every element of the Jacobian of one input: the analytic value beside the numeric one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradfuzz.analytic import row_of_jacobian
from gradfuzz.graph import Array
from gradfuzz.numeric.judge import judge
from gradfuzz.numeric.screen import scale_of
from gradfuzz.numeric.slopes import slopes
from gradfuzz.oracles.column import Column
from gradfuzz.subject import Subject


@dataclass(frozen=True, eq=False)
class Jacobian:
    """The derivatives of all outputs by one input, each of shape (m, n): rows are outputs.

    The true derivative lies within `error` of `numeric`; at a kink that is the range of the
    one-sided slopes.  Where nothing is known of it, both are NaN.  `agree` and `disagree` are
    both False where nothing can be said.
    """

    name: str
    analytic: Array
    numeric: Array
    error: Array
    agree: Array
    disagree: Array


def jacobians(subject: Subject, names: Sequence[str]) -> list[Jacobian]:
    """Return the Jacobian of each leaf.  Raises `GradientError`."""
    analytic = analytic_jacobians(subject)
    return [
        _measured(subject, leaf, name, found)
        for leaf, (name, found) in enumerate(zip(names, analytic, strict=True))
    ]


def analytic_jacobians(subject: Subject) -> list[Array]:
    """Return the analytic Jacobian of each leaf, a VJP a row; None counts as zeros.

    Raises `GradientError`.
    """
    found = [np.zeros((subject.outputs.size, x.size)) for x in subject.primals]
    size = subject.outputs.size
    for row in range(size):
        gradients = row_of_jacobian(subject.pullback, row, size)
        for jacobian, gradient in zip(found, gradients, strict=True):
            if gradient is not None:
                jacobian[row] = gradient.ravel()
    return found


def agrees_by(subject: Subject, element: int) -> bool:
    """Return whether all derivatives by one element of the only leaf are seen to be right.

    Raises `GradientError`.
    """
    [analytic] = analytic_jacobians(subject)
    _, _, agree, _ = _column(subject, 0, element, analytic[:, element])
    return bool((agree[subject.kept] == 1).all())


def _measured(subject: Subject, leaf: int, name: str, analytic: Array) -> Jacobian:
    size, elements = analytic.shape
    found = np.zeros((elements, 4, size))
    for element in range(elements):
        found[element] = _column(subject, leaf, element, analytic[:, element])
    numeric, error, agree, disagree = np.moveaxis(found, 0, -1)
    return Jacobian(name, analytic, numeric, error, agree == 1, disagree == 1)


def _column(subject: Subject, leaf: int, element: int, analytic: Array) -> Array:
    """Return numeric, error, agree and disagree of all outputs by one element: shape (4, m)."""
    unit = float(scale_of(subject.primals[leaf]).flat[element])
    tangents = [np.zeros(x.shape) for x in subject.primals]
    tangents[leaf].flat[element] = unit
    line = subject.line(tangents, subject.kept)
    with np.errstate(all="ignore"):
        scaled = analytic[subject.kept] * unit
        judged = judge(scaled, slopes(line, subject.epsilon), subject.epsilon)
        numeric, error = (
            (judged.low + judged.high) / 2 / unit,
            (judged.high - judged.low) / 2 / unit,
        )
        unknown = ~np.isfinite(error)
    disagree = judged.disagree
    if disagree.any():
        # What excuses a disagreement is the column's to say.
        disagree = disagree & (Column(subject, leaf, element).examine().fault is not None)
    found = np.full((4, len(subject.outputs)), np.nan)
    found[:2, subject.kept] = np.where(unknown, np.nan, [numeric, error])
    found[2:, subject.kept] = [judged.agree, disagree]
    return found
