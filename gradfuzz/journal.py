"""The journal of a worker: the graph it is about to run, in case it does not live to tell.

One entry, overwritten in place by one `pwrite` of some microseconds; it outlives whatever ends
the process.  A checksum tells an entry from one that was half written.
"""

import json
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from gradfuzz.errors import CaseFileError
from gradfuzz.graph import Args, Call, Graph, Leaf, Node, Ref
from gradfuzz.graphjson import GraphReader, encode_graph
from gradfuzz.strictjson import mapping, parse

# The number of the entry, and the length and checksum of the text that follows.
_HEAD = struct.Struct("<QII")


@dataclass(eq=False)
class Journal:
    """Writes entries to one file, from one process."""

    path: Path
    number: int = 0
    _fd: int = field(init=False)

    def __post_init__(self) -> None:
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def write(self, graph: Graph) -> None:
        """Enter `graph`, which is about to run.

        A graph that cannot be written, because no case file can hold it or the disk is full,
        leaves an entry with no graph: it must not keep the graph from running.
        """
        self.number += 1
        try:
            text = json.dumps(encode_graph(graph)).encode("ascii")
        except CaseFileError:
            text = b""
        try:
            os.pwrite(self._fd, _HEAD.pack(self.number, len(text), crc32(text)) + text, 0)
        except OSError:
            return


@dataclass(frozen=True)
class Entry:
    """What a journal holds: the number of the entry, and its graph unless it is not whole."""

    number: int
    graph: Graph | None


def read(path: Path) -> Entry:
    """Return what the journal holds: entry 0, without a graph, before the first is written."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    if len(data) < _HEAD.size:
        return Entry(0, None)
    number, length, checksum = _HEAD.unpack_from(data)
    text = data[_HEAD.size : _HEAD.size + length]
    whole = len(text) == length > 0 and crc32(text) == checksum
    return Entry(number, _graph(text.decode("ascii")) if whole else None)


def _graph(text: str) -> Graph | None:
    try:
        return GraphReader(lambda op: None).graph(mapping(parse(text), "journal"))
    except CaseFileError:
        return None


def read_number(path: Path) -> int:
    """Return the number of the entry that the journal holds, cheaply."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD.size)
    except FileNotFoundError:
        return 0
    number: int = _HEAD.unpack(head)[0] if len(head) == _HEAD.size else 0
    return number


@dataclass(eq=False)
class Watched:
    """Runs one op for a strategy, and enters the graph drawn so far into the journal first.

    `run` runs the op.  A strategy tells of a leaf only by its value among those of all nodes;
    a call before this one was run through here, under its number.
    """

    journal: Journal
    run: Any
    _calls: dict[int, Call] = field(default_factory=dict)

    def __call__(self, op: str, args: Args, values: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        here = len(values)
        self._calls[here] = Call(op, args)
        nodes = [self._node(index, outputs) for index, outputs in enumerate(values)]
        self.journal.write(Graph((*nodes, self._calls[here]), (Ref(here),)))
        outputs: tuple[Any, ...] = self.run(op, args, values)
        return outputs

    def _node(self, index: int, outputs: tuple[Any, ...]) -> Node:
        match outputs:
            case (Leaf() as variable,):
                return variable
            case (np.ndarray() | np.generic() as value,):
                return Leaf(np.asarray(value))
        return self._calls[index]
