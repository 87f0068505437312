"""Where the ops and the strategies come from: packages that offer a catalogue.

The engine knows no op.  A catalogue is found through the entry-point group
`gradfuzz.catalogue`; the built-in one is simply the first.
"""

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Protocol

from hypothesis.strategies import SearchStrategy

from gradfuzz.errors import UsageError
from gradfuzz.evaluate import Run, first_line
from gradfuzz.graph import Graph
from gradfuzz.registry import function, is_available, register, suggestion

GROUP = "gradfuzz.catalogue"


class Catalogue(Protocol):
    """A set of ops and how to draw graphs of them.

    `excluded` gives, for ops that are left out on purpose, the reason.  Where an op is a function
    that TensorFlow does not have, `functions` gives it by the op's name.
    """

    @property
    def ops(self) -> Collection[str]:
        """The names of the ops."""

    @property
    def excluded(self) -> Mapping[str, str]:
        """The reason for each op type that is left out."""

    def graphs(self, op: str, *, run: Run, around: int) -> SearchStrategy[Graph]:
        """Graphs with a call of `op` and up to `around` other calls before and behind it."""


# Files with catalogues, as the user named them.  In the environment, so that processes that are
# started for a campaign or a replay have them too.
FILES = "GRADFUZZ_OPS_FROM"


def use_files(paths: Iterable[Path]) -> None:
    """Let `load_catalogues` return the catalogues of some Python files too."""
    found = dict.fromkeys([*used_files(), *(path.resolve() for path in paths)])
    os.environ[FILES] = os.pathsep.join(map(str, found))


def used_files() -> list[Path]:
    """Return the Python files whose catalogues are used, with full paths."""
    return [Path(name).resolve() for name in os.environ.get(FILES, "").split(os.pathsep) if name]


def load_catalogues(sources: Iterable[str] = ()) -> list[Catalogue]:
    """Return every catalogue: those of files first, then the built-in one, then other packages'.

    The last are those of `sources`, spelled as entry points are, "package.module:NAME".
    Functions that they bring with them can then be called by graphs.  Raises `UsageError` for a
    file that has no catalogue.
    """
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name != "builtin")
    points += [EntryPoint(source, source, GROUP) for source in sources]
    found = [*(_load_file(path) for path in used_files()), *(point.load() for point in points)]
    for catalogue in found:
        register(getattr(catalogue, "functions", {}))
    return found


def _load_file(path: Path) -> Catalogue:
    """Run a Python file, and return its `CATALOGUE`."""
    if path.stem in sys.modules and getattr(sys.modules[path.stem], "__file__", "") == str(path):
        return _catalogue_of(sys.modules[path.stem], path)
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"--ops-from {path}: not there, should be a Python file")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    # It is the user's file: it may raise anything.
    except Exception as error:
        del sys.modules[path.stem]
        what = f"{type(error).__name__}: {first_line(error)}"
        raise UsageError(f"--ops-from {path}: not loaded ({what})") from error
    return _catalogue_of(module, path)


def _catalogue_of(module: Any, path: Path) -> Catalogue:
    found: Any = getattr(module, "CATALOGUE", None)
    if not hasattr(found, "ops") or not hasattr(found, "graphs"):
        raise UsageError(f"--ops-from {path}: no CATALOGUE, should have one: "
                         "CATALOGUE = Catalogue((op(my_function, x=Real('*s')),))")  # fmt: skip
    return found  # type: ignore[no-any-return]  # it has what a Catalogue has


def all_ops(catalogues: Sequence[Catalogue]) -> dict[str, Catalogue]:
    """Return each op with the first catalogue that has it."""
    return {op: catalogue for catalogue in reversed(catalogues) for op in catalogue.ops}


def chosen_ops(names: Sequence[str], catalogues: Sequence[Catalogue]) -> dict[str, Catalogue]:
    """Return the ops of those names, for none all that this TensorFlow has.

    Raises `UsageError` for an unknown one, and one that TensorFlow lacks.
    """
    known = all_ops(catalogues)
    if not names:
        return {op: known[op] for op in sorted(known) if is_available(op)}
    for name in names:
        if name not in known:
            near = suggestion(name, known)
            raise UsageError(f"op {name!r}: not in the catalogue{near or ' (see gradfuzz ops)'}")
        function(name)
    return {name: known[name] for name in names}
