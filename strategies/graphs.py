"""Strategies for whole graphs, built one call at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from gradfuzz.errors import ForwardError, UsageError
from gradfuzz.graph import Graph
from gradfuzz.strategies.arguments import Scope
from gradfuzz.strategies.builder import Builder, Run
from gradfuzz.strategies.entry import Entry
from gradfuzz.strategies.modes import MODES, Mode
from gradfuzz.strategies.shapes import Dims


@st.composite
def graphs(
    draw: st.DrawFn,
    focus: Sequence[Entry],
    *,
    run: Run,
    others: Sequence[Entry] = (),
    around: int = 0,
    modes: st.SearchStrategy[Mode] = MODES,
) -> Graph:
    """Graphs of one call of an entry of `focus`, with up to `around` calls of `others` each side.

    `run` evaluates one op.  Shrinks towards one call of the first entry, on new leaves of
    size 1 that hold 0.
    """
    mode = draw(modes)
    builder = Builder(run)
    slots = [_slot(builder, mode, others)] * around if others else []
    try:
        for strategy in (*slots, _one_call(builder, mode, focus), *slots):
            draw(strategy)
    except (ForwardError, UsageError):
        # Refused, or not in this TensorFlow at all.
        reject()
    graph = builder.build()
    return graph if graph is not None else reject()


# A strategy of its own for each call, and not a drawn count: Hypothesis can then drop any one.
@st.composite
def _slot(draw: st.DrawFn, builder: Builder, mode: Mode, entries: Sequence[Entry]) -> None:
    """Add a call of one of `entries`, two times in five.  Shrinks towards none."""
    if draw(st.sampled_from((False, False, False, True, True))):
        _add_call(draw, builder, mode, draw(st.sampled_from(entries)))


@st.composite
def _one_call(draw: st.DrawFn, builder: Builder, mode: Mode, entries: Sequence[Entry]) -> None:
    _add_call(draw, builder, mode, draw(st.sampled_from(entries)))


def _add_call(draw: st.DrawFn, builder: Builder, mode: Mode, entry: Entry) -> None:
    dims = Dims()
    scope = Scope(draw, dims, builder, mode)
    for name, argument in entry.args.items():
        scope.args[name] = argument.draw(scope)
    if entry.requires and not entry.requires(dims, scope.args):
        reject()
    builder.differentiate(builder.call(entry.op, **scope.args), entry.outputs)


class Entries(tuple[Entry, ...]):
    """Entries that print as their number: Hypothesis prints what a strategy is made of."""

    def __repr__(self) -> str:
        return f"<{len(self)} entries>"


@dataclass(frozen=True)
class Catalogue:
    """Entries to draw graphs from.

    `excluded` gives the reason for ops that are left out, `excluded_functions` for functions in
    TensorFlow's gradient files that cannot run.
    """

    entries: tuple[Entry, ...]
    excluded: Mapping[str, str] = field(default_factory=dict)
    excluded_functions: Mapping[str, str] = field(default_factory=dict)

    @property
    def ops(self) -> list[str]:
        """The names of the ops, each once, sorted."""
        return sorted({entry.op for entry in self.entries})

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions among the ops that are not TensorFlow's, by name."""
        return {entry.op: entry.function for entry in self.entries if entry.function is not None}

    def graphs(self, op: str, *, run: Run, around: int) -> st.SearchStrategy[Graph]:
        """Graphs with one call of `op` and up to `around` other calls before and behind it."""
        focus = [entry for entry in self.entries if entry.op == op]
        return graphs(focus, run=run, others=Entries(self.entries), around=around)
