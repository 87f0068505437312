"""The seconds in which TensorFlow is imported."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gradfuzz.cli.terminal import terminal


@contextmanager
def loading() -> Iterator[None]:
    """Say that TensorFlow is being loaded, and make it ready: quiet, and on one thread.

    Its warnings are about code under test, so they are nothing that the user could mend, and
    they would tear the live line.
    """
    warnings.simplefilter("ignore")
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    with terminal(stderr=True).status("loading TensorFlow"):
        from gradfuzz.runtime import use_one_thread

        use_one_thread()
        yield
