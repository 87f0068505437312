"""Where the ops and the strategies come from: packages that offer a catalogue.

The engine knows no op.  A catalogue is found through the entry-point group
`gradfuzz.catalogue`; the built-in one is simply the first.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from hypothesis.strategies import SearchStrategy

from gradfuzz.errors import UsageError
from gradfuzz.evaluate import Run
from gradfuzz.graph import Graph
from gradfuzz.registry import function, is_available, suggestion

GROUP = "gradfuzz.catalogue"


class Catalogue(Protocol):
    """A set of ops and how to draw graphs of them.

    `excluded` gives, for ops that are left out on purpose, the reason.
    """

    @property
    def ops(self) -> Collection[str]:
        """The names of the ops."""

    @property
    def excluded(self) -> Mapping[str, str]:
        """The reason for each op type that is left out."""

    def graphs(self, op: str, *, run: Run, around: int) -> SearchStrategy[Graph]:
        """Graphs with a call of `op` and up to `around` other calls before and behind it."""


def load_catalogues(sources: Iterable[str] = ()) -> list[Catalogue]:
    """Return every installed catalogue, the built-in one first, and those of `sources`.

    A source is spelled as an entry point is, "package.module:NAME".
    """
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name != "builtin")
    others = [EntryPoint(source, source, GROUP) for source in sources]
    return [point.load() for point in (*found, *others)]


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
