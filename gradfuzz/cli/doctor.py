"""`gradfuzz doctor`: what is installed, and what could go wrong here."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.table import Table
from rich.text import Text

from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.check import check
from gradfuzz.cli.terminal import one_line, terminal, write_json
from gradfuzz.cli.version import installed_packages
from gradfuzz.errors import GradfuzzError
from gradfuzz.finding import Verdict
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.registry import is_available, registered_gradients
from gradfuzz.runtime import environment, tf

GOOD, WORSE, BAD = "good", "could go wrong", "does not work"
STYLES = {GOOD: "green", WORSE: "yellow", BAD: "bold red"}

# TensorFlow that the tests have run on, by its two first numbers.
OLDEST, NEWEST = (2, 15), (2, 21)
LEAST_DISK = 2**28  # bytes
LEAST_MEMORY = 2**31


@dataclass(frozen=True)
class Symptom:
    """One thing that was looked at, and what to do where it is not good."""

    name: str
    state: str
    found: str
    advice: str = ""


def doctor(*, as_json: bool) -> int:
    """Print what was looked at, and return the exit code."""
    found = [symptom for look in LOOKS for symptom in look()]
    if as_json:
        write_json([asdict(each) for each in found])
    else:
        terminal().print(_table(found))
    states = {each.state for each in found}
    return 2 if BAD in states else 1 if WORSE in states else 0


def _table(found: list[Symptom]) -> Table:
    table = Table.grid(padding=(0, 2))
    for each in found:
        said = one_line(each.found) + Text(f"\n{each.advice}" * bool(each.advice), "dim")
        table.add_row(one_line(each.name), Text(each.state, STYLES[each.state]), said)
    return table


def _versions() -> Iterator[Symptom]:
    for name, number in environment().items():
        yield Symptom(name, GOOD, number)
    yield Symptom("hypothesis", GOOD, version("hypothesis"))


def _tensorflow() -> Iterator[Symptom]:
    number = tuple(int(part) for part in tf.__version__.split(".")[:2])
    if not OLDEST <= number <= NEWEST:
        tried = f"{'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}"
        yield Symptom("TensorFlow", WORSE, tf.__version__, f"tried on {tried} only")
    several = installed_packages()
    if len(several) > 1:
        names = ", ".join(several)
        yield Symptom("packages", WORSE, names, "they overwrite each other: keep one of them")


def _threads() -> Iterator[Symptom]:
    threads = tf.config.threading
    pair = threads.get_intra_op_parallelism_threads(), threads.get_inter_op_parallelism_threads()
    if pair == (1, 1):
        yield Symptom("threads", GOOD, f"1 for TensorFlow, of {os.cpu_count()} cores")
    else:
        yield Symptom("threads", WORSE, f"{pair[0]} and {pair[1]}", "sums may differ when repeated")
    if gpus := tf.config.list_physical_devices("GPU"):
        yield Symptom("devices", WORSE, f"{len(gpus)} GPU", "its kernels are checked: set "
                      "CUDA_VISIBLE_DEVICES= to check those of the CPU")  # fmt: skip


def _room() -> Iterator[Symptom]:
    free = shutil.disk_usage(Path.cwd()).free
    state = GOOD if free > LEAST_DISK else WORSE
    yield Symptom(
        "disk", state, f"{free / 2**30:.1f} GiB free", "" if state == GOOD else "make room"
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    state = GOOD if memory > LEAST_MEMORY else WORSE
    advice = "" if state == GOOD else "tracing and XLA need some: run fewer things beside it"
    yield Symptom("memory", state, f"{memory / 2**30:.1f} GiB free", advice)
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()):
            pass
    except OSError as error:
        yield Symptom("folder", WORSE, f"not written ({error.strerror})", "give another --corpus")


def _catalogue() -> Iterator[Symptom]:
    try:
        ops = all_ops(load_catalogues())
    except GradfuzzError as error:
        yield Symptom("catalogue", BAD, str(error))
        return
    absent = sum(not is_available(op) for op in ops)
    known = f"{len(ops)} ops, {absent} of them not in this TensorFlow"
    yield Symptom("catalogue", GOOD, f"{known}; {len(registered_gradients())} gradients")


def _extras() -> Iterator[Symptom]:
    if find_spec("matplotlib") is None:
        yield Symptom("matplotlib", WORSE, "not installed", "report.plot() needs gradfuzz[plot]")


def _eyes() -> Iterator[Symptom]:
    """Look at a gradient that is right, and one that is missing by design."""
    leaf = Leaf(np.array([0.5]))
    right = check(Graph((leaf, Call("Tanh", {"x": Ref(0)})), (Ref(1),)))
    missing = check(Graph((leaf, Call("PreventGradient", {"input": Ref(0)})), (Ref(1),)))
    sees = (right.verdict, missing.verdict) == (Verdict.AGREE, Verdict.DISAGREE)
    found = "tells a right gradient from a missing one" if sees else "cannot tell right from wrong"
    yield Symptom("check", GOOD if sees else BAD, found, "" if sees else "please file this")


def _python() -> Iterator[Symptom]:
    yield Symptom("interpreter", GOOD, sys.executable)


LOOKS: tuple[Callable[[], Iterator[Symptom]], ...] = (
    _versions, _python, _tensorflow, _threads, _room, _catalogue, _extras, _eyes,
)  # fmt: skip
