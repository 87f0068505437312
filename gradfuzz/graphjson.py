"""A graph as JSON, and the digest that names it.

leaf     {"leaf": {"float64": [0.5], "shape": [1]}}; with "variable": true for a variable
call     {"op": "Sum", "args": {"input": "%0", "axis": [0], "keep_dims": false}}
edge     "%3", or "%3:1" for output 1
string   "SAME"; {"str": "%d"} where it would read as an edge or a number
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradfuzz.arrayjson import (
    NON_FINITE,
    Pack,
    Room,
    compress,
    decode_array,
    decode_complex,
    encode_array,
    encode_complex,
    encode_float,
)
from gradfuzz.errors import CaseFileError, UsageError
from gradfuzz.graph import Array, Call, Graph, Leaf, Node, Ref
from gradfuzz.strictjson import (
    Json,
    boolean,
    mapping,
    members,
    sequence,
    shortened,
    shown,
    string,
    wrong,
)

NODES_AT_MOST = 1000
DEPTH_AT_MOST = 16  # of lists in one argument
_NAME_AT_MOST = 200  # characters of an op's or an argument's name

LEAF_DTYPES = ("float64", "float32", "complex128", "complex64")

_REF = re.compile(r"%(0|[1-9][0-9]{0,5})(?::([1-9][0-9]{0,5}))?")
_INT_RANGE = range(-(2**63), 2**64)  # what some integer dtype can hold


def digest(graph: Graph) -> str:
    """Return 12 hex digits that name a graph, and nothing else of a case.

    The bytes of large arrays are hashed rather than compressed: compressors differ.
    """
    canonical = encode_graph(graph, lambda data: hashlib.sha256(data).hexdigest())
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def encode_graph(graph: Graph, pack: Pack = compress, prefix: str = "") -> dict[str, Json]:
    """Return a graph as JSON: `nodes` and `outputs`.

    Raises `CaseFileError` for a value that a case file cannot hold.
    """
    nodes = [_encode_node(n, f"{prefix}nodes[{i}]", pack) for i, n in enumerate(graph.nodes)]
    return {"nodes": nodes, "outputs": [str(ref) for ref in graph.outputs]}


def _encode_node(node: Node, place: str, pack: Pack) -> Json:
    if isinstance(node, Leaf):
        leaf = {"leaf": encode_array(node.value, f"{place}.leaf", pack)}
        return {**leaf, "variable": True} if node.variable else leaf
    args = {n: _encode_arg(arg, f"{place}.args.{n}", pack) for n, arg in node.args.items()}
    return {"op": node.op, "args": args}


def _encode_arg(arg: Any, place: str, pack: Pack) -> Json:
    match arg:
        case Ref():
            return str(arg)
        case list():
            return [_encode_arg(item, f"{place}[{i}]", pack) for i, item in enumerate(arg)]
        case np.ndarray() | np.generic():
            return encode_array(arg, place, pack)
        case None | bool() | int():
            return arg
        case float():
            return encode_float(arg)
        case complex():
            return encode_complex(arg)
        case str():
            return {"str": arg} if _is_ambiguous(arg) else arg
    raise wrong(place, f"a {type(arg).__name__}", "an edge, list, array, number, string or None")


def _is_ambiguous(text: str) -> bool:
    return text.startswith("%") or text in NON_FINITE or decode_complex(text) is not None


@dataclass(frozen=True)
class GraphReader:
    """Reads the graphs of one case file.

    `allow` raises `UsageError` for an op that a graph may not call.
    """

    allow: Callable[[str], object]
    room: Room = field(default_factory=Room)

    def graph(self, raw: dict[str, Json], prefix: str = "") -> Graph:
        """Return the graph of `nodes` and `outputs`; `prefix` is where they stand.

        Raises `CaseFileError`, naming the place, for anything but such a graph.
        """
        place = f"{prefix}nodes"
        raw_nodes = sequence(raw["nodes"], place, at_most=NODES_AT_MOST)
        nodes = [self._node(node, f"{place}[{i}]", i) for i, node in enumerate(raw_nodes)]
        place = f"{prefix}outputs"
        raw_outputs = sequence(raw["outputs"], place, at_most=NODES_AT_MOST)
        outputs = [_ref(out, f"{place}[{i}]", len(nodes)) for i, out in enumerate(raw_outputs)]
        return Graph(tuple(nodes), tuple(outputs))

    def _node(self, raw: Json, place: str, index: int) -> Node:
        found = mapping(raw, place)
        if "leaf" in found:
            is_variable = "variable" in found and boolean(found["variable"], f"{place}.variable")
            members(found, place, ("leaf", "variable") if "variable" in found else ("leaf",))
            return Leaf(self._leaf(found["leaf"], f"{place}.leaf"), is_variable)
        members(found, place, ("op", "args"))
        op = _name(found["op"], f"{place}.op")
        try:
            self.allow(op)
        except UsageError as error:
            raise CaseFileError(f"{place}.{error}") from None
        args = mapping(found["args"], f"{place}.args")
        return Call(op, {
            _argument(name, f"{place}.args"): self._arg(arg, f"{place}.args.{name}", index)
            for name, arg in args.items()
        })  # fmt: skip

    def _leaf(self, raw: Json, place: str) -> Array:
        value = decode_array(raw, place, self.room, LEAF_DTYPES)
        if isinstance(value, np.generic):
            raise wrong(place, "no shape", "an array")
        return value

    def _arg(self, raw: Json, place: str, index: int, depth: int = 1) -> Any:
        match raw:
            case list():
                if depth > DEPTH_AT_MOST:
                    raise wrong(place, f"list number {depth} in lists", f"at most {DEPTH_AT_MOST}")
                return [self._arg(item, f"{place}[{i}]", index, depth + 1)
                        for i, item in enumerate(raw)]  # fmt: skip
            case dict():
                if raw.keys() == {"str"}:
                    return string(raw["str"], f"{place}.str")
                return decode_array(raw, place, self.room)
            case str():
                return _decode_string(raw, place, index)
            case int() if raw not in _INT_RANGE:
                raise wrong(place, shown(raw), "an integer of 64 bits")
        return raw


def _decode_string(raw: str, place: str, index: int) -> Any:
    if raw.startswith("%"):
        return _ref(raw, place, index)
    if raw in NON_FINITE:
        return NON_FINITE[raw]
    value = decode_complex(raw)
    return raw if value is None else value


def _ref(raw: Json, place: str, index: int) -> Ref:
    """Return the edge that `raw` spells, to a node before number `index`."""
    found = _REF.fullmatch(string(raw, place))
    if not found:
        raise wrong(place, shown(raw), 'an edge such as "%0" or "%0:1"')
    ref = Ref(int(found[1]), int(found[2] or 0))
    if ref.node >= index:
        wanted = f"an earlier node, %0 to %{index - 1}" if index else "no edge: no node is earlier"
        raise wrong(place, str(ref), wanted)
    return ref


def _name(raw: Json, place: str) -> str:
    if not 1 <= len(string(raw, place)) <= _NAME_AT_MOST:
        raise wrong(place, f"{len(raw)} characters", f"1 to {_NAME_AT_MOST}")
    return string(raw, place)


def _argument(name: str, place: str) -> str:
    if not (name.isascii() and name.isidentifier() and len(name) <= _NAME_AT_MOST):
        raise wrong(place, f"name {shortened(repr(name))}", "an identifier")
    return name
