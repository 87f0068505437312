"""What `tf.test.compute_gradient` cannot see, or sees wrongly, and what gradfuzz says of it.

Each row has both: if a new TensorFlow mends its checker, the row fails and goes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradfuzz
from gradfuzz.finding import Verdict
from gradfuzz.runtime import tf

AGREE, DISAGREE, INCONCLUSIVE = Verdict.AGREE, Verdict.DISAGREE, Verdict.INCONCLUSIVE
# What people compare the two Jacobians by.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Row:
    """A function at a point; what the two checkers say of it.

    `theirs` is "passes", "fails" or the name of an exception; `ours` the verdict, and the kind of
    the fault where there is one, or the text of the error.
    """

    function: Callable[..., Any]
    at: Any
    theirs: str
    ours: Verdict | None
    kind: str = ""


def detached_cube(x: Any) -> Any:
    return tf.numpy_function(lambda value: value**3, [x], tf.float64)


@tf.custom_gradient
def relu_with_wrong_kink(x: Any) -> Any:
    """Return relu, with 1.5 for its gradient at 0: beyond the slopes of both sides."""
    slope = tf.where(x > 0, 1.0, tf.where(x == 0, 1.5, 0.0))
    return tf.nn.relu(x), lambda upstream: upstream * tf.cast(slope, x.dtype)


@tf.custom_gradient
def exp_with_wrong_gradient(x: Any) -> Any:
    return tf.exp(x), lambda upstream: upstream * tf.exp(x) * (1 + 1e-5)


TABLE = {
    "None, and the function is flat": Row(tf.floor, 0.5, "passes", AGREE),
    "None, though the function is not flat": Row(detached_cube, 1.0, "fails", DISAGREE, "none"),
    "None, where the slope is small": Row(detached_cube, 1e-2, "passes", DISAGREE, "none"),
    "abs at 0": Row(tf.abs, 0.0, "passes", AGREE),
    "relu at 0": Row(tf.nn.relu, 0.0, "fails", AGREE),
    "a kink with a gradient beyond both sides": Row(
        relu_with_wrong_kink, 0.0, "fails", DISAGREE, "value"
    ),
    "stop_gradient": Row(tf.stop_gradient, 1.0, "fails", DISAGREE, "none"),
    "stop_gradient of a factor": Row(
        lambda x: x * tf.stop_gradient(x), 3.0, "fails", DISAGREE, "value"
    ),
    "x * x at 1e14": Row(lambda x: x * x, 1e14, "fails", AGREE),
    "identity at 1e18": Row(tf.identity, 1e18, "fails", AGREE),
    "log at 1e-4": Row(tf.math.log, 1e-4, "fails", AGREE),
    "sqrt at 1e-2": Row(tf.sqrt, 1e-2, "fails", AGREE),
    "exp at 10": Row(tf.exp, 10.0, "fails", AGREE),
    "exp at 10, wrong by 1e-5": Row(exp_with_wrong_gradient, 1.0, "passes", DISAGREE, "value"),
    "several outputs": Row(lambda x: (x, {"square": x * x}), 2.0, "AttributeError", AGREE),
    "integer input": Row(lambda x: x * x, np.array(2), "AssertionError", None, "x: int64[]"),
    "NaN": Row(tf.math.log, -1.0, "fails", INCONCLUSIVE),
    "no elements": Row(tf.sin, np.zeros((0, 2)), "passes", AGREE),
    "no elements and no gradient": Row(tf.round, np.zeros((0, 2)), "AttributeError", AGREE),
}


def what_tensorflow_says(function: Callable[..., Any], x: Any) -> str:
    try:
        analytic, numeric = tf.test.compute_gradient(function, [x])
    except (AssertionError, AttributeError) as error:
        return type(error).__name__
    pairs = zip(analytic, numeric, strict=True)
    close = all(np.allclose(a, n, rtol=0, atol=TOLERANCE) for a, n in pairs)
    return "passes" if close else "fails"


@pytest.mark.parametrize("name", TABLE)
def test_what_the_other_checker_says(name: str) -> None:
    row = TABLE[name]
    assert what_tensorflow_says(row.function, np.asarray(row.at)) == row.theirs


@pytest.mark.parametrize("name", TABLE)
def test_what_gradfuzz_says(name: str) -> None:
    row = TABLE[name]
    if row.ours is None:
        with pytest.raises(gradfuzz.FunctionError, match=row.kind.replace("[", r"\[")):
            gradfuzz.check_gradients(row.function, row.at)
        return
    report = gradfuzz.check_gradients(row.function, np.asarray(row.at))
    kinds = [each.fault.kind for each in report.inputs if each.fault]
    assert (report.verdict, kinds) == (row.ours, [row.kind] if row.kind else [])
