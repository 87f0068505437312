"""A worker seen from outside: started, given one request at a time, watched, killed.

A pool, pebble's too, hides which process has which task and limits the time of a task.  Here a
task is a round of many cases, what it finds is told at once, and time and memory are limited
by the case.  So each worker is a process of its own with a pipe.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil

from gradfuzz.catalogue import FILES
from gradfuzz.errors import GradfuzzError
from gradfuzz.journal import read, read_number
from gradfuzz.limits import PATIENCE, Limits
from gradfuzz.order import Answer, Death, Order, Request, Told
from gradfuzz.server import start_server
from gradfuzz.worker import Setting, work

# So many lines, and characters in all, are kept of what a worker said on stderr.
LINES, CHARACTERS = 5, 500
# What a worker says is thrown away above this size: it may say things without end.
WORDS_AT_MOST = 2**20
# How lines of a stack trace begin, which differ from one process to the next.
FRAMES = ("@ ", "***")
# A worker that does not start is tried so often.
STARTS = 5
# A process that was killed is gone within so many seconds.
GONE = 10.0


class WorkerError(GradfuzzError):
    """No worker can be started."""


@dataclass(eq=False)
class Running:
    """A worker that runs: its process, the pipe to it, and how long it is at its present case."""

    process: BaseProcess
    link: Connection
    seen: psutil.Process
    started: float
    case: int = -1
    wall: float = 0.0
    cpu: float = 0.0
    up: bool = False


@dataclass(eq=False)
class Worker:
    """One worker, started again whenever it is gone.

    `folder` has its files, which carry its `number`.  It is `busy` from a request to the answer.
    `lines` says to tell which lines of gradient files run.
    """

    number: int
    folder: Path
    sources: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    lines: bool = False
    _running: Running | None = None
    _request: Request | None = None
    _patience: float = 1.0
    _failures: int = 0

    @property
    def journal(self) -> Path:
        """The file of its journal."""
        return self.folder / f"worker-{self.number}.journal"

    @property
    def words(self) -> Path:
        """The file of its stderr."""
        return self.folder / f"worker-{self.number}.stderr"

    @property
    def scratch(self) -> Path:
        """The folder of what it leaves when it dies: TensorFlow's rewritten Python, mostly."""
        return self.folder / f"worker-{self.number}.scratch"

    @property
    def busy(self) -> bool:
        """Whether it has not yet answered."""
        return self._request is not None

    @property
    def task(self) -> str:
        """What it does: the op of a round, or a question; "" for nothing."""
        if self._request is None:
            return ""
        return self._request.op if isinstance(self._request, Order) else "looks into a finding"

    @property
    def age(self) -> float:
        """The seconds since its process was started, 0 if it has none."""
        return time.monotonic() - self._running.started if self._running else 0.0

    @property
    def memory(self) -> int:
        """What it holds, in bytes."""
        try:
            return int(self._running.seen.memory_info().rss) if self._running else 0
        except psutil.Error:
            return 0

    @property
    def cpu(self) -> float:
        """The seconds of CPU time that its process has had."""
        try:
            times = self._running.seen.cpu_times() if self._running else None
        except psutil.Error:
            return 0.0
        return times.user + times.system if times else 0.0

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return self._running.process.pid if self._running else None

    def waited_for(self) -> list[Connection | int]:
        """Return what becomes ready when it has something to say, or is gone."""
        return [self._running.link, self._running.process.sentinel] if self._running else []

    @property
    def ready(self) -> bool:
        """Whether it waits for a request, or is at one."""
        return self._running is not None and self._running.up

    def start(self) -> None:
        """Start it, so that its first request need not wait."""
        if self._running is None:
            self._start()

    def give(self, request: Request, patience: float = 1.0) -> None:
        """Give it a request; each case of it may take `patience` times the usual time."""
        self._request, self._patience = request, patience
        self._send()

    def _send(self) -> None:
        if self._running is None or not self._running.process.is_alive():
            self.end()
            self._start()
        assert self._running is not None
        self._running.case = -1
        # One that is gone meanwhile is heard of as such.
        with suppress(OSError):
            self._running.link.send(self._request)

    def _start(self) -> None:
        for _ in range(STARTS):
            context = start_server()
            ours, theirs = context.Pipe()
            files = os.environ.get(FILES, "")
            setting = Setting(self.journal, self.words, self.scratch, self.sources, files,
                              self.limits.allocated, self.lines)  # fmt: skip
            process = context.Process(target=work, args=(theirs, setting), daemon=True)
            try:
                process.start()
                assert process.pid is not None
                seen = psutil.Process(process.pid)
                self._running = Running(process, ours, seen, time.monotonic())
                return
            # The fork server, or the worker, was killed meanwhile.
            except (EOFError, OSError, psutil.Error):
                ours.close()
            finally:
                theirs.close()
        raise WorkerError(f"worker {self.number}: not started in {STARTS} attempts")

    def listen(self, tell: Callable[[Told], None]) -> Answer | None:
        """Pass on what it tells; return its answer if there is one, or its death."""
        if self._running is None:
            return None
        try:
            while self._running.link.poll():
                said = self._running.link.recv()
                self._running.up, self._failures = True, 0
                if not isinstance(said, list):
                    self._request = None
                    self._recycle()
                    return said  # type: ignore[no-any-return]  # what came over a pipe
                for told in said:
                    tell(told)
        except (EOFError, OSError):
            return self._gone()
        if not self._running.process.is_alive():
            return self._gone()
        kind = self._excess(self._running) if self.busy else ""
        return self._death(kind) if kind else None

    def stop(self) -> None:
        """Ask it to end what it does, with its findings told."""
        if self._running is not None:
            self._signal(signal.SIGTERM)

    def end(self) -> None:
        """End it, whatever it does."""
        if self._running is None:
            return
        self._signal(signal.SIGKILL)
        self._running.process.join(GONE)
        self._running.link.close()
        self._running = None
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _signal(self, number: int) -> None:
        # Not `Process.kill`: without its fork server, it takes a process for gone that is not.
        if self._running is not None and self._running.process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._running.process.pid, number)

    def _recycle(self) -> None:
        """End it where it has grown: TensorFlow's caches of traces and compilations do."""
        if self.memory > self.limits.recycled:
            self.end()

    def _excess(self, running: Running) -> str:
        """Return what its present case takes too much of, "" for nothing."""
        if self.memory > self.limits.memory:
            return "memory"
        if self.words.exists() and self.words.stat().st_size > WORDS_AT_MOST:
            os.truncate(self.words, 0)
        case, wall, cpu = read_number(self.journal), time.monotonic(), self.cpu
        if case != running.case:
            running.case, running.wall, running.cpu = case, wall, cpu
        most = self._patience * self.limits.seconds
        slow = cpu - running.cpu > most or wall - running.wall > PATIENCE * most
        return "hangs" if slow else ""

    def _gone(self) -> Death | None:
        """Return how it died; None where it had nothing to do, or has not begun to."""
        assert self._running is not None
        self._running.process.join(GONE)
        if self._running.up:
            return self._death(_kind_of_exit(self._running.process.exitcode))
        self.end()
        self._failures += 1
        if self._failures >= STARTS:
            raise WorkerError(f"worker {self.number}: gone before it was ready, {STARTS} times; "
                              f"it said: {last_words(self.words) or 'nothing'}")  # fmt: skip
        if self.busy:
            self._send()
        return None

    def _death(self, kind: str) -> Death | None:
        self.end()
        busy, self._request = self.busy, None
        return Death(kind, read(self.journal).graph, last_words(self.words)) if busy else None


def _kind_of_exit(code: int | None) -> str:
    if code is None or code >= 0:
        return f"dies-exit-{code}"
    try:
        return f"dies-{signal.Signals(-code).name}"
    except ValueError:
        return f"dies-signal-{-code}"


def last_words(path: Path) -> str:
    """Return the last lines of a file but for stack frames, on one line; "" for none."""
    try:
        data = path.read_bytes()[-WORDS_AT_MOST:]
    except OSError:
        return ""
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    told = [line for line in lines if line and not line.startswith(FRAMES)]
    return " | ".join(told[-LINES:])[-CHARACTERS:]
