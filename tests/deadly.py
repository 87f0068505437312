"""A catalogue of ops that harm their process on purpose, where an element of `x` is above 1."""

import ctypes
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradfuzz.runtime import tf
from gradfuzz.strategies.arguments import Real
from gradfuzz.strategies.entry import op
from gradfuzz.strategies.graphs import Catalogue


def loop() -> None:
    while True:
        pass


def allocate() -> None:
    kept = []
    while True:
        kept.append(np.ones(2**22))


def segfault() -> None:
    ctypes.string_at(0)


def leave() -> None:
    os._exit(7)


def leave_quietly() -> None:
    os._exit(0)


def speak_and_abort() -> None:
    os.write(2, b"first words\nlast words\n")
    os.abort()


def harmful(harm: Callable[[], None]) -> Callable[..., Any]:
    """Return an op that does the harm when it is run."""

    def run(x: Any) -> Any:
        if np.any(x.numpy() > 1):
            harm()
        return tf.identity(x)

    return run


def harmful_gradient(harm: Callable[[], None]) -> Callable[..., Any]:
    """Return an op that does the harm when it is differentiated."""

    @tf.custom_gradient
    def identity(x: Any) -> Any:
        def gradient(cotangent: Any) -> Any:
            if np.any(x.numpy() > 1):
                harm()
            return cotangent

        return tf.identity(x), gradient

    # What is passed by keyword is not differentiated.
    return lambda x: identity(x)


def refuse() -> None:
    raise ZeroDivisionError("on purpose")


HARM = {
    "aborts": harmful(speak_and_abort),
    "segfaults": harmful_gradient(segfault),
    "leaves": harmful(leave),
    "leaves_quietly": harmful_gradient(leave_quietly),
    "loops": harmful_gradient(loop),
    "allocates": harmful(allocate),
    "raises": harmful_gradient(refuse),
}
KINDS = {
    "aborts": "dies-SIGABRT",
    "segfaults": "dies-SIGSEGV",
    "leaves": "dies-exit-7",
    "leaves_quietly": "dies-exit-0",
    "loops": "hangs",
    "allocates": "memory",
    "raises": "raises-ZeroDivisionError",
}

# A dotted name is looked up in TensorFlow.
tf.deadly = SimpleNamespace(**HARM)
OPS = {f"tf.deadly.{name}": kind for name, kind in KINDS.items()}
CATALOGUE = Catalogue(tuple(op(name, x=Real("*s")) for name in OPS))
