"""TensorFlow itself: imported in this one place, quietly."""

import os

# Read by TensorFlow's C++ side at import: without it every op that refuses its arguments,
# which a fuzzer provokes all the time, prints a line.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# The variable above must be set before this import.
import tensorflow as tf  # noqa: E402

# Private, but the only place that lists the registered gradients; there since TensorFlow 1.
from tensorflow.python.framework import op_def_registry, ops  # noqa: E402

__all__ = ["environment", "op_def_registry", "ops", "tf", "use_one_thread"]


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
    import platform

    import numpy as np

    return {
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
