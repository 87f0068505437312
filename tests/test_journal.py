"""A journal holds the graph that is about to run, whole or not at all."""

import os
from pathlib import Path

import numpy as np
import pytest

from gradfuzz.evaluate import call
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.journal import Journal, Watched, read, read_number
from gradfuzz.strategies.builder import Builder
from tests.build import one_call

GRAPH = one_call("Tanh", [0.5, np.nan], x=Ref(0))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def test_what_was_entered_last_is_read_back(path: Path) -> None:
    journal = Journal(path)
    journal.write(one_call("Sinh", [0.5], x=Ref(0)))
    journal.write(GRAPH)
    entry = read(path)
    assert (entry.number, str(entry.graph)) == (2, str(GRAPH))
    assert read_number(path) == 2


def test_before_the_first_entry_there_is_none(path: Path) -> None:
    assert (read(path).number, read_number(path)) == (0, 0)
    Journal(path)
    assert (read(path).graph, read_number(path)) == (None, 0)


def test_a_new_journal_forgets_that_of_another_process(path: Path) -> None:
    Journal(path).write(GRAPH)
    Journal(path)
    assert read(path).graph is None


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: data[:-1] + b"x"])
def test_an_entry_that_is_not_whole_has_a_number_and_no_graph(path: Path, spoil) -> None:
    Journal(path).write(GRAPH)
    path.write_bytes(spoil(path.read_bytes()))
    assert (read(path).number, read(path).graph) == (1, None)


def test_a_graph_that_no_case_file_can_hold_is_still_counted(path: Path) -> None:
    Journal(path).write(one_call("Tanh", [0.5], x=Ref(0), odd=object()))
    assert (read(path).number, read(path).graph) == (1, None)


def test_a_full_disk_keeps_no_graph_from_running(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> int:
        raise OSError(28, "No space left on device")

    journal = Journal(path)
    monkeypatch.setattr(os, "pwrite", full)
    journal.write(GRAPH)
    assert read(path).number == 0


def test_a_graph_is_entered_as_far_as_it_is_drawn_before_each_call(path: Path) -> None:
    entered: list[str] = []

    def run(op, args, values):
        entered.append(str(read(path).graph))
        return call(op, args, values)

    watched = Watched(Journal(path), run)
    # What an earlier graph had under the same numbers is forgotten.
    earlier = Builder(watched)
    earlier.call("Neg", x=earlier.call("Neg", x=earlier.leaf(np.ones(3))))
    builder = Builder(watched)
    x = builder.leaf(np.array([0.5]))
    y = builder.call("Exp", x=x)
    builder.call("Mul", x=y, y=builder.leaf(np.float64(2.0)))  # of rank 0: no array
    nodes = (Leaf(np.array([0.5])), Call("Exp", {"x": Ref(0)}), Leaf(np.array(2.0)))
    whole = Graph((*nodes, Call("Mul", {"x": Ref(1), "y": Ref(2)})), (Ref(3),))
    assert entered[-2:] == [str(whole.cut([Ref(1)])), str(whole)]
