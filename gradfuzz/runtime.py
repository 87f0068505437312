"""TensorFlow itself: imported in this one place, quietly."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

# Read by TensorFlow's C++ side at import: without it every op that refuses its arguments,
# which a fuzzer provokes all the time, prints a line.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@contextmanager
def _silence() -> Iterator[None]:
    """Keep off stderr what TensorFlow says of itself before it reads that variable."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


# The variable above must be set before this import.
with _silence():
    import tensorflow as tf

    # Private, but there for long: what lists the registered gradients, what tells of every op
    # that runs, and the eager core of `tf.constant`, nine tenths checks of types known here,
    # what forward mode remembers of earlier calls, and what a `tf.Variable` really is.
    from tensorflow.python.eager import context, forwardprop
    from tensorflow.python.framework import constant_op, op_callbacks, op_def_registry, ops
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable
    from tensorflow.python.util import nest

__all__ = [
    "ResourceVariable",
    "constant",
    "context",
    "environment",
    "keras",
    "nest",
    "op_callbacks",
    "op_def_registry",
    "ops",
    "restart_forward_mode",
    "tf",
    "use_one_thread",
]

# Its Python side logs pages on what it raises as well, and a line on each retracing.
tf.get_logger().setLevel("FATAL")


@cache
def keras() -> Any:
    """Return Keras, which takes a second more to import."""
    return import_module("keras")


def constant(array: npt.NDArray[Any]) -> Any:
    """Return a tensor with a copy of `array`.  Eager mode only."""
    array = np.asarray(array)
    return constant_op.convert_to_eager_tensor(array, context.context(), _dtype(array.dtype))


@cache
def _dtype(dtype: np.dtype[Any]) -> Any:
    return tf.as_dtype(dtype)


# So many functions that push tangents through ops are kept, to be called again.
_JVPS_AT_MOST = 1000


def restart_forward_mode(*, forget: bool = False) -> None:
    """Let forward mode treat the next op as in a new process, so that it does the same again.

    After some traces of an op, TensorFlow makes do with one for all shapes.  `forget` drops what
    was traced so far.

    Source: `_TRACE_COUNT` in tensorflow/python/eager/forwardprop.py.
    """
    forwardprop._TRACE_COUNT.clear()
    if forget or len(forwardprop._jvp_function_cache) > _JVPS_AT_MOST:
        forwardprop._jvp_function_cache.clear()


def use_one_thread() -> None:
    """Keep TensorFlow to one thread: small kernels run faster so, and in one order.

    Has no effect once TensorFlow has run an op in this process.
    """
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    except RuntimeError:
        return


def environment() -> dict[str, str]:
    """Return the versions that a finding depends on."""
    return {
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
