"""`compute_gradient`: a drop-in for `tf.test.compute_gradient`, in both of its forms.

Source: tensorflow/python/ops/gradient_checker_v2.py for a function; gradient_checker.py for
tensors of a graph and a session.  The layout of what is returned is theirs.
"""

import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradfuzz.analytic import GradientError
from gradfuzz.errors import FunctionError
from gradfuzz.evaluate import first_line
from gradfuzz.functions.check import DEADLINE
from gradfuzz.functions.inputs import described
from gradfuzz.functions.jacobian import analytic_jacobians, jacobians
from gradfuzz.functions.prepare import prepare
from gradfuzz.functions.repeats import require_repeats_nearby
from gradfuzz.functions.state import kept_values
from gradfuzz.graph import Array
from gradfuzz.runtime import tf
from gradfuzz.subject import Subject

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Jacobians(NamedTuple):
    """Analytic and numeric Jacobians: one array each, or one for each argument.

    Nothing is known of an element of the numeric one that is NaN.
    """

    analytic: Any
    numeric: Any

    @property
    def max_error(self) -> float:
        """The largest difference of two elements; NaN where nothing is known of one."""
        return max_error(self.analytic, self.numeric)

    @property
    def mean_relative_error(self) -> float:
        """The mean difference, each in parts of the larger element; 0 where both are 0."""
        return mean_relative_error(self.analytic, self.numeric)

    def plot(self, path: Any = None) -> "Figure":
        """Return a matplotlib figure of both, element by element; write it to `path` if given."""
        from gradfuzz.functions.plot import plot_arrays

        return plot_arrays(_listed(self.analytic), _listed(self.numeric), path)


def max_error(analytic: Any, numeric: Any) -> float:
    """Return the largest difference between the elements of two Jacobians, or lists of them."""
    return float(np.max(_differences(analytic, numeric), initial=0.0))


def mean_relative_error(analytic: Any, numeric: Any) -> float:
    """Return the mean of |a - n| / max(|a|, |n|) over all elements, where 0 / 0 is 0."""
    differences = _differences(analytic, numeric)
    larger = np.maximum(np.abs(_flat(analytic)), np.abs(_flat(numeric)))
    relative = differences / np.where(larger == 0, 1.0, larger)
    return float(relative.mean()) if relative.size else 0.0


def _differences(analytic: Any, numeric: Any) -> Array:
    with np.errstate(invalid="ignore"):
        same = _flat(analytic) == _flat(numeric)
        return np.where(same, 0.0, np.abs(_flat(analytic) - _flat(numeric)))


def _listed(jacobians: Any) -> list[Array]:
    return list(jacobians) if isinstance(jacobians, list | tuple) else [jacobians]


def _flat(jacobians: Any) -> Array:
    return np.concatenate([np.ravel(x) for x in _listed(jacobians)] or [np.zeros(0)])


def compute_gradient(*args: Any, **options: Any) -> Any:
    """Return the analytic and the numeric Jacobian: `tf.test.compute_gradient`, better numbers.

    `compute_gradient(f, x, delta=None)` takes a function and a list of its arguments, and
    returns a tuple of analytic and one of numeric Jacobians, one for each argument, of shape
    (outputs, inputs).  A complex number counts as two real ones.  `f` may return several
    tensors, whose elements then follow each other.

    `compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=None, init_targets=None,
    extra_feed_dict=None, feed_dict=None, session=None)` takes tensors of a graph, and returns
    one Jacobian of each kind, of shape (inputs, outputs); a list of such pairs for lists of `x`
    and `x_shape`.

    Without `delta`, the numeric values are right to within some 1e-10 of the largest in float64,
    and NaN where they cannot be told.  With it, they are central differences on that step.

    Raises `FunctionError` where there is nothing to differentiate.
    """
    first = args[0] if args else options.get("f", options.get("x"))
    if callable(first):
        _require_signature("compute_gradient(f, x, …)", _of_function, args, options)
        with kept_values():
            return _of_function(*args, **options)
    if not tf.is_tensor(first) and not isinstance(first, list | tuple):
        raise FunctionError(f"f: {described(first)}, should be a function, or x: a tensor of a "
                            "graph")  # fmt: skip
    from gradfuzz.functions.session import compute_session_gradient as of_session

    _require_signature("compute_gradient(x, x_shape, …)", of_session, args, options)
    return of_session(*args, **options)


def _require_signature(
    place: str, called: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Raise `FunctionError` where the arguments are not those of this form."""
    signature = inspect.signature(called)
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        names = ", ".join(signature.parameters)
        raise FunctionError(f"{place}: {error}, should be some of {names}") from None


def _of_function(f: Callable[..., Any], x: Any, delta: float | None = None) -> Jacobians:
    if not isinstance(x, list | tuple):
        raise FunctionError(f"x: a {type(x).__name__}, should be a list or tuple of arguments of f")
    given = [np.asarray(each, np.float32) if isinstance(each, list) else each for each in x]
    prepared = prepare(f, given)
    function = prepared.function
    slots = {each.slot for each in function.inputs}
    for number, each in enumerate(given):
        if number not in slots:
            raise FunctionError(f"x[{number}]: {described(each)}, should be real or complex")
    subject = Subject.at(function, function.primals, prepared.name, DEADLINE / 1000)
    found = Jacobians(*measure(subject, delta))
    if np.isnan(_flat(found.numeric)).any():
        require_repeats_nearby(prepared)
    return found


def measure(subject: Subject, delta: float | None) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Return the analytic and the numeric Jacobian of each leaf, of shape (outputs, inputs).

    Raises `FunctionError` where TensorFlow's gradient raises.
    """
    if not (delta is None or (isinstance(delta, int | float) and 0 < delta < math.inf)):
        raise FunctionError(f"delta: {delta!r}, should be a positive number, or None for steps "
                            "that are chosen")  # fmt: skip
    names = [str(leaf) for leaf, _ in enumerate(subject.primals)]
    try:
        if delta is None:
            found = jacobians(subject, names)
            return tuple(j.analytic for j in found), tuple(j.numeric for j in found)
        analytic = analytic_jacobians(subject)
    except GradientError as error:
        cause = error.__cause__
        raise FunctionError(
            f"f: its gradient raises {type(cause).__name__}: {first_line(cause)}"
        ) from cause
    return tuple(analytic), tuple(
        _central(subject, leaf, delta) for leaf, _ in enumerate(subject.primals)
    )


def _central(subject: Subject, leaf: int, delta: float) -> Array:
    """Return the Jacobian by central differences on one step, as TensorFlow takes them."""
    columns = []
    for element in range(subject.primals[leaf].size):
        tangents = [np.zeros(x.shape) for x in subject.primals]
        tangents[leaf].flat[element] = 1.0
        everything = np.ones(subject.outputs.shape, bool)
        ahead, behind = subject.line(tangents, everything).sample(np.array([delta, -delta]))
        columns.append((ahead - behind) / (2 * delta))
    return np.stack(columns, axis=1) if columns else np.zeros((subject.outputs.size, 0))
