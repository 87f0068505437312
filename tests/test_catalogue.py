"""Entries are calls that TensorFlow takes; each gradient is drawn, or left out for a reason."""

import inspect
from collections import Counter
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from tensorflow.python.framework.kernels import get_registered_kernels_for_op

from gradfuzz.catalogue import Catalogue as CatalogueProtocol
from gradfuzz.catalogue import all_ops, chosen_ops
from gradfuzz.cli.ops import ops as show_ops
from gradfuzz.errors import ForwardError, UsageError
from gradfuzz.evaluate import call
from gradfuzz.graph import Graph
from gradfuzz.graphjson import digest
from gradfuzz.registry import function, registered_gradients, runs
from gradfuzz.runtime import op_def_registry, tf
from gradfuzz.strategies import catalogue as families
from gradfuzz.strategies.arguments import Real
from gradfuzz.strategies.catalogue import CATALOGUE, excluded
from gradfuzz.strategies.catalogue.excluded import EXCLUDED
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.graphs import Catalogue, graphs
from tests.careful import CONVOLUTIONS, careful, is_fatal
from tests.drawing import run_forward

# Differentiable, in the catalogue, and without a gradient function in TensorFlow.
WITHOUT_GRADIENT = {
    "IRFFT3D",
    "MatrixLogarithm",
    "OneHot",
    "RFFT3D",
    "SparseConcat",
    "SparseSplit",
}

FAMILIES = (
    "declared",
    "handles",
    "complexes",
    "elementwise",
    "gathers",
    "image",
    "keras_functions",
    "keras_layers",
    "linalg",
    "moves",
    "nn",
    "public_image",
    "public_math",
    "public_nn",
    "public_numpy",
    "reductions",
    "segments",
    "sparse",
    "special",
)
OP_TYPES_AT_LEAST = 150
NAMES_AT_LEAST = 200
GRADIENTS_AT_LEAST = 340
GRAPHS_AN_ENTRY = 40
FORWARD_SHARE = 0.95


def entry_id(entry: Entry) -> str:
    position = [each for each in CATALOGUE.entries if each.op == entry.op].index(entry)
    return f"{entry.op}-{position}"


def group(reason: str) -> list[str]:
    """Return the ops left out for `reason` that this TensorFlow has."""
    return [name for name, why in EXCLUDED.items() if why == reason and op_def_registry.get(name)]


each_entry = pytest.mark.parametrize("entry", CATALOGUE.entries, ids=entry_id)


# The arguments.


@each_entry
def test_an_entry_names_the_arguments_of_its_op(entry: Entry) -> None:
    taken = inspect.signature(function(entry.op)).parameters.values()
    named = {each.name for each in taken if each.kind is not each.VAR_KEYWORD}
    required = {each.name for each in taken if each.default is each.empty} & named
    assert set(entry.args) <= named - {"name"}
    assert required <= set(entry.args)


@each_entry
def test_an_entry_has_outputs_that_its_op_has(entry: Entry) -> None:
    definition = op_def_registry.get(entry.op)
    if definition is None or any(a.number_attr or a.type_list_attr for a in definition.output_arg):
        return
    assert max(entry.outputs or (0,)) < len(definition.output_arg)


# What is in it.


@pytest.mark.parametrize("name", CATALOGUE.ops)
def test_an_op_has_a_gradient_or_is_a_function_or_is_known_to_lack_one(name: str) -> None:
    assert (name in registered_gradients()) != ("." in name or name in WITHOUT_GRADIENT)


def test_no_op_is_both_drawn_and_left_out() -> None:
    assert set(CATALOGUE.ops) & set(EXCLUDED) == set()


def test_every_registered_gradient_is_drawn_or_left_out() -> None:
    covered = {*EXCLUDED}.union(*map(runs, CATALOGUE.ops))
    # Of the version that the reasons were checked with.
    if tf.__version__.startswith("2.21."):
        assert set(registered_gradients()) - covered == set()


def test_most_gradients_are_drawn() -> None:
    assert len(set().union(*map(runs, CATALOGUE.ops))) >= GRADIENTS_AT_LEAST


def test_the_catalogue_is_large_and_no_family_is_empty() -> None:
    assert len({name for name in CATALOGUE.ops if "." not in name}) >= OP_TYPES_AT_LEAST
    sizes = {family: len(getattr(families, family).OPS) for family in FAMILIES}
    assert min(sizes.values()) > 0
    assert sum(sizes.values()) == len(CATALOGUE.entries)


def test_people_call_many_of_them_by_name() -> None:
    assert len([name for name in CATALOGUE.ops if "." in name]) >= NAMES_AT_LEAST


def test_no_entry_is_written_twice() -> None:
    repeated = [e for e in CATALOGUE.entries if CATALOGUE.entries.count(e) > 1]
    assert repeated == []


# What is not.


@pytest.mark.parametrize("name", EXCLUDED)
def test_what_is_left_out_has_a_gradient_or_is_unknown_here(name: str) -> None:
    assert name in registered_gradients() or op_def_registry.get(name) is None


def test_no_op_is_left_out_for_two_reasons() -> None:
    names = Counter(name for text in excluded._GROUPS.values() for name in text.split())
    assert names.most_common(1)[0][1] == 1


@pytest.mark.parametrize("name", group(excluded.NO_KERNEL))
def test_what_has_no_kernel_has_none(name: str) -> None:
    kernels = get_registered_kernels_for_op(name).kernel
    assert [each for each in kernels if each.device_type == "CPU"] == []


@pytest.mark.parametrize("name", group(excluded.NOT_RAW))
def test_what_is_not_in_raw_ops_cannot_be_called(name: str) -> None:
    with pytest.raises(UsageError):
        function(name)


@pytest.mark.parametrize("name", group(excluded.FORMER))
def test_what_was_taken_once_is_refused_by_its_kernels(name: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="constraint on attr 'index_type'"):
        function(name)(input=[1.0, 2.0], k=1)


@pytest.mark.parametrize("name", group(excluded.INTEGERS))
def test_what_has_no_outputs_but_integers_has_no_gradient(name: str) -> None:
    allowed = {tf.int32, tf.int64, tf.int16, tf.uint16, tf.bool}
    [output] = op_def_registry.get(name).output_arg
    attrs = {attr.name: attr.allowed_values.list.type for attr in op_def_registry.get(name).attr}
    dtypes = attrs[output.type_attr] if output.type_attr else [output.type]
    assert set(map(tf.as_dtype, dtypes)) <= allowed


@pytest.mark.parametrize("name", ["TensorArray", "TensorArrayV2"])
def test_no_op_makes_the_former_handles(name: str) -> None:
    with tf.Graph().as_default(), pytest.raises(NotImplementedError, match="has been removed"):
        function(name)(size=1, dtype=tf.float64)


@pytest.mark.parametrize("name", group(excluded.FORMER_HANDLE))
def test_what_reads_a_former_handle_is_told_by_its_name(name: str) -> None:
    assert name.startswith("TensorArray")
    assert name.endswith("V2") or op_def_registry.get(name).input_arg[0].is_ref


# Drawn, the entries run.


@pytest.mark.slow
@each_entry
def test_what_an_entry_draws_runs_forward(entry: Entry) -> None:
    calls = Counter[bool]()

    def run(op: str, args: Any, values: Any) -> object:
        if is_fatal(op, args, values):
            hypothesis.reject()  # test_fatal_calls_are_drawn is about these
        if op != entry.op:
            return call(op, args, values)
        try:
            outputs = call(op, args, values)
        except ForwardError:
            calls[False] += 1
            raise
        calls[True] += 1
        return outputs

    # Rejected draws are counted here, rather than by the health check.
    @hypothesis.settings(max_examples=GRAPHS_AN_ENTRY, deadline=None, database=None,
                         derandomize=True, suppress_health_check=list(hypothesis.HealthCheck),
                         phases=[hypothesis.Phase.generate])  # fmt: skip
    @hypothesis.given(graphs([entry], run=run))
    def draw(graph: Graph) -> None:
        assert graph.leaves
        assert graph.outputs
        assert all(graph.nodes[ref.node].op == entry.op for ref in graph.outputs)
        assert digest(graph), "should be a graph that a case file can hold"
        run_forward(graph)

    draw()
    assert calls[True] >= FORWARD_SHARE * calls.total() > 0, calls


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_fatal_calls_are_drawn(name: str) -> None:
    seen: list[bool] = []

    def run(op: str, args: Any, values: Any) -> object:
        seen.append(is_fatal(op, args, values))
        return careful(op, args, values)

    @hypothesis.settings(max_examples=200, deadline=None, database=None, derandomize=True,
                         suppress_health_check=list(hypothesis.HealthCheck),
                         phases=[hypothesis.Phase.generate])  # fmt: skip
    @hypothesis.given(CATALOGUE.graphs(name, run=run, around=0))
    def draw(graph: Graph) -> None:
        assert graph.leaves

    draw()
    assert 0 < sum(seen) < len(seen) / 2


# An op that this TensorFlow lacks.

FUTURE = Catalogue((op("Neg", x=Real("*s")), op("NegV9", x=Real("*s"))), {"AbsV9": "is not yet"})


def test_an_op_of_another_tensorflow_is_listed_as_such(monkeypatch, capsys) -> None:
    monkeypatch.setattr("gradfuzz.cli.ops.load_catalogues", lambda: [FUTURE])
    assert show_ops(as_json=False, missing=False) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "NegV9" in line)
    assert "no" in row.split()


def test_an_op_of_another_tensorflow_is_drawn_beside_none() -> None:
    catalogue: CatalogueProtocol = FUTURE
    assert set(all_ops([catalogue])) == {"Neg", "NegV9"}
    assert set(chosen_ops((), [catalogue])) == {"Neg"}
    strategy: st.SearchStrategy[Graph] = FUTURE.graphs("Neg", run=call, around=0)
    found = hypothesis.find(strategy, lambda graph: True)
    assert [node.op for _, node in found.calls] == ["Neg"]
