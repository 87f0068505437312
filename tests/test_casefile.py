"""A case file gives back what was saved, and refuses everything else in one line."""

import base64
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradfuzz.arrayjson import DTYPES
from gradfuzz.casefile import _EVIDENCE, Case, dumps, file_name, loads
from gradfuzz.errors import CaseFileError, UsageError
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket, Evidence, Finding
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.graphjson import digest, encode_graph

SUM_OF_LOG = Graph(
    (
        Leaf(np.array([0.1, -0.0])),
        Call("Log", {"x": Ref(0)}),
        Call("Sum", {"input": Ref(1), "axis": np.array([0], np.int32), "keep_dims": False}),
    ),
    (Ref(2),),
)
LOG = SUM_OF_LOG.cut([Ref(1)])

CASE = Case(
    finding=Finding(
        graph=SUM_OF_LOG,
        bucket=Bucket("Log", "numeric", "value", "x"),
        evidence=Evidence("wrong", 0, 1, 0, analytic=float("-inf"), low=-1.0, high=1e300),
    ),
    original=LOG,
    environment={"tensorflow": "2.21.0"},
    seed=7,
    first_seen="2026-03-01",
    last_seen="2026-03-02",
    link="https://github.com/tensorflow/tensorflow/issues/1",
    note="the pole at 0",
)

TEXT = """\
{
  "format": 1,
  "bucket": {"op": "Log", "oracle": "numeric", "kind": "value", "input": "x"},
  "evidence": {"message": "wrong", "leaf": 0, "element": 1, "output": 0, "analytic": "-inf", \
"low": -1.0, "high": 1e+300, "kink": false},
  "expect": "fails",
  "link": "https://github.com/tensorflow/tensorflow/issues/1",
  "note": "the pole at 0",
  "seed": 7,
  "first_seen": "2026-03-01",
  "last_seen": "2026-03-02",
  "environment": {"tensorflow": "2.21.0"},
  "nodes": [
    {"leaf": {"float64": [0.1, -0.0], "shape": [2]}},
    {"op": "Log", "args": {"x": "%0"}},
    {"op": "Sum", "args": {"input": "%1", "axis": {"int32": [0], "shape": [1]}, "keep_dims": false}}
  ],
  "outputs": ["%2"],
  "original": {
    "nodes": [
      {"leaf": {"float64": [0.1, -0.0], "shape": [2]}},
      {"op": "Log", "args": {"x": "%0"}}
    ],
    "outputs": ["%1"]
  }
}
"""


def allow(op: str) -> None:
    if op not in ("Log", "Sum", "Op"):
        raise UsageError(f"op {op!r}: unknown")


def case_of(graph: Graph) -> Case:
    return replace(CASE, finding=replace(CASE.finding, graph=graph), original=graph)


def round_trip(graph: Graph) -> Graph:
    return loads(dumps(case_of(graph)), allow).finding.graph


def graph_with(arg: Any) -> Graph:
    return Graph((Leaf(np.zeros(2)), Call("Op", {"arg": arg})), (Ref(1),))


def round_trip_arg(arg: Any) -> Any:
    _, call = round_trip(graph_with(arg)).nodes
    assert isinstance(call, Call)
    return call.args["arg"]


def bits(array: Any) -> Any:
    """The bytes of an array, with one spelling of NaN."""
    array = np.array(array)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.tobytes()


# What is written.


def test_the_text_of_a_small_case() -> None:
    assert dumps(CASE) == TEXT


def test_everything_but_the_graphs_is_given_back() -> None:
    case = loads(TEXT, allow)
    assert case.finding.bucket == CASE.finding.bucket
    assert case.finding.evidence == CASE.finding.evidence
    for name in ("environment", "seed", "first_seen", "last_seen", "expect", "link", "note"):
        assert getattr(case, name) == getattr(CASE, name)


def test_both_graphs_are_given_back() -> None:
    case = loads(TEXT, allow)
    assert encode_graph(case.finding.graph) == encode_graph(SUM_OF_LOG)
    assert encode_graph(case.original) == encode_graph(LOG)


def test_a_fixed_regression_is_expected_to_pass() -> None:
    case = replace(CASE, expect=Expect.PASSES, seed=None)
    assert loads(dumps(case), allow).expect is Expect.PASSES


def test_numpy_numbers_in_evidence_are_written_as_numbers() -> None:
    numbers: Any = {"leaf": np.int64(3), "analytic": np.float32(0.5), "low": np.float64("nan")}
    evidence = Evidence("", **numbers)
    case = replace(CASE, finding=replace(CASE.finding, evidence=evidence))
    found = loads(dumps(case), allow).finding.evidence
    assert (found.leaf, found.analytic) == (3, 0.5)
    assert np.isnan(found.low)  # type: ignore[arg-type]  # not None, by the line above


def test_every_field_of_evidence_is_read() -> None:
    assert list(_EVIDENCE) == [field.name for field in fields(Evidence)]


def test_one_changed_element_changes_one_line_of_each_graph() -> None:
    other = dumps(case_of(SUM_OF_LOG.at([np.array([0.1, 3.0])]))).splitlines()
    same = dumps(case_of(SUM_OF_LOG)).splitlines()
    assert sum(a != b for a, b in zip(same, other, strict=True)) == 2


@pytest.mark.parametrize(
    ("arg", "text"),
    [
        (np.array([0.1], np.float32), '{"float32": [0.1], "shape": [1]}'),
        (np.array(np.inf, np.float16), '{"float16": ["inf"], "shape": []}'),
        (
            np.array([1 + 2j, -0.0 - 0.0j]),
            '{"complex128": ["1.0+2.0j", "-0.0+0.0j"], "shape": [2]}',
        ),
        (np.array([True]), '{"bool": [true], "shape": [1]}'),
        (np.zeros((0, 3)), '{"float64": [], "shape": [0, 3]}'),
        (np.float64(0.5), '{"float64": 0.5}'),
        (np.array([2**64 - 1], np.uint64), '{"uint64": [18446744073709551615], "shape": [1]}'),
        ([Ref(0), [Ref(0, 1)]], '["%0", ["%0:1"]]'),
        (float("nan"), '"nan"'),
        ("nan", '{"str": "nan"}'),
        ("%0", '{"str": "%0"}'),
        ("SAME", '"SAME"'),
        (None, "null"),
    ],
)
def test_the_text_of_an_argument(arg: Any, text: str) -> None:
    assert f'{{"op": "Op", "args": {{"arg": {text}}}}}' in dumps(case_of(graph_with(arg)))


def test_a_large_array_is_compressed() -> None:
    assert len(dumps(case_of(Graph((Leaf(np.zeros(100_000)),), (Ref(0),))))) < 3000


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        ((1, 2), "nodes[1].args.arg: a tuple, should be an edge, list, array, number, string or"),
        ([b"x"], "nodes[1].args.arg[0]: a bytes, should be an edge, list, array, number"),
        (np.array([None]), "nodes[1].args.arg: dtype 'object', should be one of bool, int8"),
        (np.str_("x"), "nodes[1].args.arg: dtype 'str32', should be one of bool, int8"),
        (2**64, "nodes[1].args.arg: 18446744073709551616, should be an integer of 64 bits"),
        (np.zeros((1,) * 33), "nodes[1].args.arg.shape: rank 33, should be at most 32"),
    ],
)
def test_what_no_case_file_can_hold_is_not_written(arg: Any, message: str) -> None:
    with pytest.raises(CaseFileError) as caught:
        dumps(case_of(graph_with(arg)))
    assert str(caught.value).startswith(message)


# What is given back.


@given(st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0))))
def test_arrays_of_every_dtype_are_given_back(array: Any) -> None:
    found = round_trip_arg(array)
    assert (found.dtype, found.shape, bits(found)) == (array.dtype, array.shape, bits(array))


@given(st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(d, ())))
def test_numpy_scalars_are_given_back(array: Any) -> None:
    found = round_trip_arg(array[()])
    assert (type(found), bits(found)) == (type(array[()]), bits(array))


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_arrays_of_every_dtype_are_given_back(dtype: str) -> None:
    array = np.arange(-150, 150).reshape(20, 15).astype(dtype)
    found = round_trip_arg(array)
    assert (found.dtype, found.shape, bits(found)) == (array.dtype, array.shape, bits(array))


@pytest.mark.parametrize("size", [3, 300])
def test_strides_and_byte_order_are_not_kept(size: int) -> None:
    array = np.arange(2.0 * size).astype(">f8")[::2]
    found = round_trip_arg(array)
    assert found.dtype == np.dtype("=f8")
    np.testing.assert_array_equal(found, array)


ODD_STRINGS = st.sampled_from(["%", "%0", "nan", "-inf", "1.0+2.0j", "NaN", "", "\ud800", "\u2028"])
PLAIN = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | ODD_STRINGS
    | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
)  # fmt: skip


@given(PLAIN | st.lists(PLAIN | st.lists(PLAIN, max_size=3), max_size=3))
def test_plain_arguments_are_given_back(arg: Any) -> None:
    assert repr(round_trip_arg(arg)) == repr(arg)


@given(hnp.arrays(np.float32, 5))
def test_a_leaf_of_float32_is_given_back(array: Any) -> None:
    [found] = round_trip(Graph((Leaf(array),), (Ref(0),))).primals
    assert (found.dtype, bits(found)) == (array.dtype, bits(array))


@given(hnp.arrays(np.complex128, 3))
def test_a_complex_leaf_is_given_back(array: Any) -> None:
    [found] = round_trip(Graph((Leaf(array),), (Ref(0),))).primals
    assert (found.dtype, bits(found)) == (array.dtype, bits(array))


@pytest.mark.parametrize("variable", [False, True])
def test_a_leaf_stays_a_variable_or_none(*, variable: bool) -> None:
    [leaf] = round_trip(Graph((Leaf(np.zeros(2), variable),), (Ref(0),))).nodes
    assert isinstance(leaf, Leaf)
    assert leaf.variable is variable


# The name of the file.


def test_the_file_name_is_op_kind_and_digest() -> None:
    assert file_name(CASE) == f"Log-value-{digest(SUM_OF_LOG)}.json"


@pytest.mark.parametrize("op", ["../../etc/passwd", "tf.linalg.expm", "a/b\\c:d\0", "x" * 999, ""])
def test_the_file_name_is_one_short_word_of_plain_characters(op: str) -> None:
    finding = replace(CASE.finding, bucket=Bucket(op, "numeric", "raises-OSError"))
    name = file_name(replace(CASE, finding=finding))
    assert name.isascii()
    assert len(name) < 160
    assert not set(name[:-5]) & set("/\\:.\0 ")


def test_the_digest_is_of_the_graph_alone() -> None:
    other = replace(CASE, seed=8, note="", original=SUM_OF_LOG)
    assert file_name(other) == file_name(CASE)
    assert file_name(case_of(LOG)) != file_name(CASE)


def test_the_digest_is_not_of_the_order_of_arguments() -> None:
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    graphs = [Graph((Leaf(np.zeros(1)), Call("Op", args)), (Ref(1),)) for args in (one, other)]
    assert digest(graphs[0]) == digest(graphs[1])


def test_the_digest_does_not_depend_on_the_compressor(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_with(np.arange(1000))
    before = digest(graph)
    monkeypatch.setattr(zlib, "compress", lambda data, level: data)
    assert digest(graph) == before


# What is refused.

NOT_JSON = "should be a whole case file"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"line 1 column 1: not JSON (Expecting value), {NOT_JSON}"),
        ("PK\3\4", f"line 1 column 1: not JSON (Expecting value), {NOT_JSON}"),
        (TEXT[:50], f"line 3 column 27: not JSON (Unterminated string starting at), {NOT_JSON}"),
        (TEXT[:-3], f"line 24 column 4: not JSON (Expecting ',' delimiter), {NOT_JSON}"),
        (TEXT + "{}", f"line 26 column 1: not JSON (Extra data), {NOT_JSON}"),
        ("[]", "case file: a list, should be an object"),
        ("null", "case file: null, should be an object"),
        ("{}", "format: null, should be an integer"),
        ('{"format": 2}', "format: 2, should be at most 1; update gradfuzz"),
        ('{"format": 0}', "format: 0, should be at least 1"),
        ('{"format": true}', "format: true, should be an integer"),
        ('{"a": 1, "a": 1}', 'key "a": given twice, should be given once'),
        ("[NaN]", 'number NaN: not JSON, should be written "nan"'),
        ("[-Infinity]", 'number -Infinity: not JSON, should be written "-inf"'),
        ("[1e999]", 'number 1e999: too large for float64, should be smaller, or "inf"'),
        ("9" * 5000, "number 999999999…: 5000 digits, should be at most 40"),
        ("[" * 100_000, "JSON: nested too deep to parse, should be a few levels deep"),
        (" " * (2**25 + 1), "case file: 33554433 characters, should be at most 33554432"),
    ],
    ids=range(18),
)
def test_a_text_that_is_no_case_file_is_refused(text: str, message: str) -> None:
    with pytest.raises(CaseFileError) as caught:
        loads(text, allow)
    assert str(caught.value) == message


def load_with(path: str, value: Any) -> Case:
    """Load the case file with one value in it replaced, or taken out where it is `...`."""
    raw = json.loads(TEXT)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    holder = raw
    for key in parents:
        holder = holder[key]
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return loads(json.dumps(raw), allow)


def refusal(path: str, value: Any) -> str:
    with pytest.raises(CaseFileError) as caught:
        load_with(path, value)
    return str(caught.value)


MEMBERS = (
    "format, bucket, evidence, expect, link, note, seed, first_seen, last_seen, environment, "
    "nodes, outputs, original"
)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("note", ..., f"case file: no key 'note', should be there: {MEMBERS}"),
        ("hook", 1, f'case file: unknown key "hook", should be one of {MEMBERS}'),
        ("bucket/op", ..., "bucket: no key 'op', should be there: op, oracle, kind, input"),
        ("bucket/x", 1, 'bucket: unknown key "x", should be one of op, oracle, kind, input'),
        ("original/x", 1, 'original: unknown key "x", should be one of nodes, outputs'),
        ("nodes/1/x", 1, 'nodes[1]: unknown key "x", should be one of op, args'),
        ("nodes/0/op", "Log", 'nodes[0]: unknown key "op", should be one of leaf'),
        ("nodes/1/args", ..., "nodes[1]: no key 'args', should be there: op, args"),
        ("bucket", [], "bucket: a list, should be an object"),
        ("bucket/kind", 1, "bucket.kind: 1, should be a string"),
        ("evidence/leaf", -1, "evidence.leaf: -1, should be an integer from 0 on"),
        ("evidence/leaf", True, "evidence.leaf: true, should be an integer from 0 on"),
        ("evidence/low", "NaN", 'evidence.low: "NaN", should be a number, "nan", "inf" or "-inf"'),
        ("evidence/low", True, 'evidence.low: true, should be a number, "nan", "inf" or "-inf"'),
        ("evidence/kink", 0, "evidence.kink: 0, should be true or false"),
        ("expect", "fail", 'expect: "fail", should be "fails", "passes" or {"fixed_in": …}'),
        ("expect", {}, "expect: no key 'fixed_in', should be there: fixed_in"),
        ("expect", {"fixed_in": "2"}, 'expect.fixed_in: "2", should be a version such as "2.18"'),
        ("expect", {"fixed_in": 2.18}, "expect.fixed_in: 2.18, should be a string"),
        ("link", None, "link: null, should be a string"),
        ("seed", True, "seed: true, should be an integer"),
        ("seed", 1.5, "seed: 1.5, should be an integer"),
        ("first_seen", "1.3.26", 'first_seen: "1.3.26", should be a date such as 2026-03-01'),
        ("last_seen", "20260301", 'last_seen: "20260301", should be a date such as 2026-03-01'),
        ("environment/x", 1, 'environment."x": 1, should be a string'),
        ("environment", dict.fromkeys("a" * i for i in range(51)),
         "environment: 51 entries, should be at most 50"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_field_is_refused(path: str, value: Any, message: str) -> None:
    assert refusal(path, value) == message


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("nodes", [], "nodes: 0 of them, should be 1 to 1000"),
        ("nodes", [{}] * 1001, "nodes: 1001 of them, should be 1 to 1000"),
        ("nodes", {}, "nodes: an object, should be a list"),
        ("nodes/1", "Log", 'nodes[1]: "Log", should be an object'),
        ("nodes/1/op", "WriteFile", "nodes[1].op 'WriteFile': unknown"),
        ("original/nodes/1/op", "PyFunc", "original.nodes[1].op 'PyFunc': unknown"),
        ("nodes/1/op", "", "nodes[1].op: 0 characters, should be 1 to 200"),
        ("nodes/1/op", "x" * 201, "nodes[1].op: 201 characters, should be 1 to 200"),
        ("nodes/1/args/x y", 1, "nodes[1].args: name 'x y', should be an identifier"),
        ("nodes/1/args/x", "%1", "nodes[1].args.x: %1, should be an earlier node, %0 to %0"),
        ("nodes/0", {"op": "Log", "args": {"x": "%0"}},
         "nodes[0].args.x: %0, should be no edge: no node is earlier"),
        ("outputs", [], "outputs: 0 of them, should be 1 to 1000"),
        ("outputs/0", "%3", "outputs[0]: %3, should be an earlier node, %0 to %2"),
        ("outputs/0", 0, "outputs[0]: 0, should be a string"),
        ("original/outputs/0", "x",
         'original.outputs[0]: "x", should be an edge such as "%0" or "%0:1"'),
    ],
)  # fmt: skip
def test_a_wrong_node_or_edge_is_refused(path: str, value: Any, message: str) -> None:
    assert refusal(path, value) == message


@pytest.mark.parametrize(
    "text", ["%", "%-1", "%00", "%0:", "%0:0", "%0 ", "%0\n", "%1.5", "%²", "%9999999", "%x"]
)
def test_a_malformed_edge_is_refused(text: str) -> None:
    wanted = 'should be an edge such as "%0" or "%0:1"'
    assert refusal("nodes/1/args/x", text) == f"nodes[1].args.x: {json.dumps(text)}, {wanted}"


AXIS = "nodes/2/args/axis"
DTYPE_NAMES = (
    "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, "
    "complex64, complex128"
)


def packed(data: bytes, *, cut: int = 0) -> dict[str, str]:
    whole = zlib.compress(data)
    return {"zlib": base64.b64encode(whole[: len(whole) - cut]).decode()}


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth > 1 else [0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nested(17), f"{'[0]' * 16}: list number 17 in lists, should be at most 16"),
        (2**64, ": 18446744073709551616, should be an integer of 64 bits"),
        ({"str": 1}, ".str: 1, should be a string"),
        ({}, ': keys none, should be one dtype and "shape"'),
        ({"shape": []}, ': keys "shape", should be one dtype and "shape"'),
        ({"int8": [], "int16": []}, ': keys "int8", "int16", should be one dtype and "shape"'),
        # Shapes.
        ({"int8": [1], "shape": [2]}, ".int8: 1 elements, should be 2, as the shape says"),
        ({"int8": [1], "shape": 1}, ".shape: 1, should be a list"),
        ({"int8": [1], "shape": [-1]}, ".shape[0]: -1, should be an integer from 0 to 4194304"),
        ({"int8": [1], "shape": [True]}, ".shape[0]: true, should be an integer from 0 to 4194304"),
        ({"int8": [1], "shape": [1.0]}, ".shape[0]: 1.0, should be an integer from 0 to 4194304"),
        ({"int8": [], "shape": [0, 10**9]},
         ".shape[1]: 1000000000, should be an integer from 0 to 4194304"),
        ({"int8": [1], "shape": [10**6, 10**6]},
         ".shape: 1000000000000 elements, should be at most 4194304"),
        ({"int8": [1], "shape": [1] * 33}, ".shape: rank 33, should be at most 32"),
        ([{"int8": packed(bytes(2**22)), "shape": [2**22]}] * 5,
         "[3].shape: 4194304 elements more, should be at most 4194302 in this file"),
        # Elements.
        ({"int8": "x", "shape": [1]},
         '.int8: "x", should be a list of elements, or "zlib" and the bytes'),
        ({"int8": [128], "shape": [1]}, ".int8[0]: 128, should be an element of int8"),
        ({"int8": [1.0], "shape": [1]}, ".int8[0]: 1.0, should be an element of int8"),
        ({"int8": [True], "shape": [1]}, ".int8[0]: true, should be an element of int8"),
        ({"int8": [[1]], "shape": [1]}, ".int8[0]: a list, should be an element of int8"),
        ({"int8": None}, ".int8[0]: null, should be an element of int8"),
        ({"bool": [1], "shape": [1]}, ".bool[0]: 1, should be an element of bool"),
        ({"float16": 7e4}, ".float16[0]: 70000.0, should be an element of float16"),
        # Compressed bytes.
        ({"int8": packed(bytes(10**7)), "shape": [3]},
         ".int8.zlib: more bytes, should be 3, as the shape says"),
        ({"int8": packed(bytes(2)), "shape": [3]},
         ".int8.zlib: 2 bytes and no clean end, should be 3, as the shape says"),
        ({"int8": packed(bytes(3), cut=2), "shape": [3]},
         ".int8.zlib: 3 bytes and no clean end, should be 3, as the shape says"),
        ({"int8": {"zlib": "eJx*"}, "shape": [3]},
         ".int8.zlib: damaged, should be base64 of compressed bytes"),
        ({"int8": {"zlib": "é"}, "shape": [3]},
         ".int8.zlib: damaged, should be base64 of compressed bytes"),
        ({"int8": {"zlib": "AAAA"}, "shape": [3]},
         ".int8.zlib: damaged, should be base64 of compressed bytes"),
        ({"int8": {"gzip": "AAAA"}, "shape": [3]}, '.int8: keys "gzip", should be "zlib" alone'),
        ({"int8": {"zlib": 1}, "shape": [3]}, ".int8.zlib: 1, should be a string"),
        ({"bool": packed(b"\2"), "shape": [1]},
         ".bool.zlib: bytes other than 0 and 1, should be booleans"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused(value: Any, message: str) -> None:
    assert refusal(AXIS, value) == f"nodes[2].args.axis{message}"


@pytest.mark.parametrize(
    "name",
    ["object", "str", "O", "<U9", "int", "float", "float128", "bfloat16", "void", "datetime64[s]"],
)
def test_a_dtype_of_no_list_is_refused(name: str) -> None:
    message = refusal(AXIS, {name: ["os.system"], "shape": [1]})
    assert message == f"nodes[2].args.axis: dtype '{name}', should be one of {DTYPE_NAMES}"


@pytest.mark.parametrize("value", ["NaNN", "NaN", "+inf", "1.0", "1.0+2.0j", "", True, None, {}])
def test_what_is_no_float_is_refused(value: Any) -> None:
    found = "an object" if value == {} else json.dumps(value)
    message = refusal("nodes/0/leaf/float64/1", value)
    assert message == f"nodes[0].leaf.float64[1]: {found}, should be an element of float64"


@pytest.mark.parametrize(
    "text", ["1.0", "j", "1.0+2.0i", "(1+2j)", "1_0+2j", "1e39+0.0j", "1e999+0.0j", "inf+1e999j"]
)
def test_what_is_no_complex_number_is_refused(text: str) -> None:
    message = refusal(AXIS, {"complex64": [text], "shape": [1]})
    wanted = "should be an element of complex64"
    assert message == f'nodes[2].args.axis.complex64[0]: "{text}", {wanted}'


ONE_OF = "should be one of float64, float32, complex128, complex64"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"float16": [1.0], "shape": [1]}, f": dtype 'float16', {ONE_OF}"),
        ({"object": [1.0], "shape": [1]}, f": dtype 'object', {ONE_OF}"),
        ({"float32": [1e39], "shape": [1]}, ".float32[0]: 1e+39, should be an element of float32"),
        ({"float64": 1.0}, ": no shape, should be an array"),
        ([1.0], ": a list, should be an object"),
    ],
)
def test_a_wrong_leaf_is_refused(value: Any, message: str) -> None:
    assert refusal("nodes/0/leaf", value) == f"nodes[0].leaf{message}"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (AXIS, nested(16)),
        (AXIS, {"int8": packed(bytes(3)), "shape": [3]}),
        (AXIS, {"float16": 65504}),
        ("seed", 2**128 - 1),
        ("evidence/low", 10**39),
        ("nodes", [{"leaf": {"float64": [1], "shape": [1]}}] * 1000),
    ],
)
def test_what_is_just_within_the_bounds_is_taken(path: str, value: Any) -> None:
    assert load_with(path, value)


@given(st.data())
def test_a_damaged_text_is_read_or_refused_in_one_line(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXT)))
    cut = data.draw(st.integers(0, 3))
    put = data.draw(st.text('0123456789"%{}[]:,-.eEnaift \\', max_size=3))
    with suppress_well_worded_error():
        loads(TEXT[:at] + put + TEXT[at + cut :], allow)


def paths(raw: Any) -> Iterator[str]:
    for key, value in raw.items() if isinstance(raw, dict) else enumerate(raw):
        yield str(key)
        if isinstance(value, dict | list):
            yield from (f"{key}/{path}" for path in paths(value))


ANY_JSON = st.recursive(
    PLAIN.filter(lambda plain: not isinstance(plain, complex)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["zlib", "str", "shape", "leaf", "op", *DTYPES]), inner)
    ),
    max_leaves=5,
)


@given(st.sampled_from(list(paths(json.loads(TEXT)))), ANY_JSON | st.just(...))
def test_any_value_anywhere_is_read_or_refused_in_one_line(path: str, value: Any) -> None:
    with suppress_well_worded_error():
        load_with(path, value)


@contextmanager
def suppress_well_worded_error() -> Iterator[None]:
    message = ""
    try:
        yield
    except CaseFileError as error:
        message = str(error)
    assert "\n" not in message
    assert not message or ", should be " in message or "unknown" in message


def test_nothing_is_allocated_for_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(*_: Any) -> None:
        raise AssertionError("allocated")

    monkeypatch.setattr(np, "empty", empty)
    message = refusal("nodes/0/leaf", {"float64": [1.0], "shape": [10**6, 10**6]})
    assert message == "nodes[0].leaf.shape: 1000000000000 elements, should be at most 4194304"
