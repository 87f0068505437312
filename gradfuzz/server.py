"""The fork server: a process with TensorFlow and the catalogue loaded, that workers fork from.

A fresh worker takes some 40 ms that way, a plain spawn 3 s.  Nothing here imports TensorFlow:
the server loads it while its caller does the same.
"""

import multiprocessing
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running

# The second is what the console script imports, and every worker with it.
PRELOADED = ["gradfuzz.preload", "gradfuzz.__main__"]


def start_server() -> ForkServerContext:
    """Start the fork server unless it runs, without waiting for it, and return its context."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    ensure_running()
    return context
