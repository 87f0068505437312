"""A worker: a process that carries out requests until it is told to end, or dies of one."""

import logging
import os
import resource
import signal
import tempfile
import threading
import time
import warnings
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType

import numpy as np

from gradfuzz.answer import Bench
from gradfuzz.catalogue import FILES, all_ops, load_catalogues
from gradfuzz.clock import StoppableClock
from gradfuzz.evaluate import call
from gradfuzz.events import CaseChecked, CaseRejected
from gradfuzz.gradient_lines import recording_lines
from gradfuzz.gradients_run import recording
from gradfuzz.journal import Journal, Watched
from gradfuzz.order import Told
from gradfuzz.runtime import constant, use_one_thread

# What happens to a case is told with what else happens in so many seconds: a message costs more
# than an event.
TELL_EVERY = 0.1


@dataclass(frozen=True)
class Setting:
    """Where a worker works: its files, its catalogues beside the installed ones, its memory.

    Temporary files go to `scratch`, which is made.  `files` are Python files with catalogues, as
    `use_files` has them; `memory` is what it may allocate, in bytes.  `lines` says to tell which
    lines of gradient files run.
    """

    journal: Path
    words: Path
    scratch: Path
    sources: tuple[str, ...]
    files: str
    memory: int
    lines: bool = False


@dataclass(eq=False)
class Teller:
    """Tells of what happens in a round, many things in one message unless one is urgent."""

    link: Connection
    _kept: list[Told] = field(default_factory=list)
    _last: float = 0.0

    def tell(self, told: Told) -> None:
        """Tell of one thing, sooner or later."""
        self._kept.append(told)
        counts = isinstance(told, CaseChecked | CaseRejected)
        if not counts or time.monotonic() > self._last + TELL_EVERY:
            self.flush()

    def flush(self) -> None:
        """Tell of all that is kept."""
        if self._kept:
            self.link.send(self._kept)
        self._kept = []
        self._last = time.monotonic()


def work(link: Connection, setting: Setting) -> None:
    """Carry out what comes over `link`, one request after another, until it is closed."""
    _settle(setting)
    clock = _stopped_by_sigterm()
    journal = Journal(setting.journal)
    teller = Teller(link)
    # The fork server may be older than the wish for these.
    os.environ[FILES] = setting.files
    with ExitStack() as recorded:
        gradients = recorded.enter_context(recording())
        lines = recorded.enter_context(recording_lines()) if setting.lines else None
        ops = all_ops(load_catalogues(setting.sources))
        bench = Bench(ops, Watched(journal, call), journal.write, clock, gradients, lines)
        link.send([])  # ready
        while True:
            try:
                request = link.recv()
            except EOFError:
                return
            answer = bench.answer(request, teller.tell)
            teller.flush()
            link.send(answer)


def _settle(setting: Setting) -> None:
    """Make this process ready to be killed, alone or with its campaign."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the campaign's to answer
    threading.Thread(target=_die_with_the_campaign, daemon=True).start()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (setting.memory, setting.memory))
    words = os.open(setting.words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(words, stream)
    with suppress(OSError):  # a full disk: then they go where they always do
        setting.scratch.mkdir(exist_ok=True)
        tempfile.tempdir = str(setting.scratch.resolve())
    warnings.simplefilter("ignore")
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    use_one_thread()
    constant(np.zeros(1))  # TensorFlow gets ready with its first tensor


def _stopped_by_sigterm() -> StoppableClock:
    """Return a clock by which a round ends early, with its findings told, when asked to."""
    clock = StoppableClock()

    def stop(_number: int, _frame: FrameType | None) -> None:
        clock.stopped = True

    signal.signal(signal.SIGTERM, stop)
    return clock


def _die_with_the_campaign() -> None:
    campaign = parent_process()
    if campaign is not None:
        wait([campaign.sentinel])
        os._exit(1)
