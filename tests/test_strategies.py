"""What is drawn, how often, inside which domain, and what it shrinks to as text."""

from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gradfuzz.evaluate import call
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref
from gradfuzz.graphjson import LEAF_DTYPES
from gradfuzz.strategies import domains, index_arguments
from gradfuzz.strategies.builder import Builder
from gradfuzz.strategies.catalogue import CATALOGUE
from gradfuzz.strategies.domains import Domain
from gradfuzz.strategies.graphs import graphs
from gradfuzz.strategies.modes import (
    EDGE_MODE,
    IRREGULAR_MODE,
    MAGNITUDE_MODE,
    MODES,
    PLAIN_MODE,
    Mode,
)
from tests.drawing import THOROUGH, graphs_of, run_forward

EVERY_MODE = (PLAIN_MODE, EDGE_MODE, IRREGULAR_MODE, MAGNITUDE_MODE)
DRAWS = 300


def drawn(strategy: st.SearchStrategy[Any], number: int = DRAWS) -> list[Any]:
    """Return so many draws, always the same."""
    found = []

    @hypothesis.settings(max_examples=number, deadline=None, database=None, derandomize=True,
                         phases=[hypothesis.Phase.generate])  # fmt: skip
    @hypothesis.given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def share(strategy: st.SearchStrategy[Graph], condition: Callable[[Graph], bool]) -> float:
    """Return the part of the draws that fulfil a condition."""
    found = drawn(strategy)
    return sum(map(condition, found)) / len(found)


def simplest(strategy: st.SearchStrategy[Graph], condition: Callable[[Graph], bool]) -> str:
    """Return the text of the simplest graph that fulfils a condition."""
    return str(hypothesis.find(strategy, condition, settings=THOROUGH))


def calls_of(graph: Graph, op: str) -> list[Call]:
    return [call for _, call in graph.calls if call.op == op]


# Conditions on a graph.


def anything(graph: Graph) -> bool:
    return True


def has_empty_leaf(graph: Graph) -> bool:
    return any(primal.size == 0 for primal in graph.primals)


def log_reads_an_empty_leaf(graph: Graph) -> bool:
    read = [graph.nodes[each.args["x"].node] for each in calls_of(graph, "Log")]
    return any(isinstance(node, Leaf) and node.value.size == 0 for node in read)


def has_scalar_leaf(graph: Graph) -> bool:
    return any(primal.ndim == 0 for primal in graph.primals)


def has_side_of_1(graph: Graph) -> bool:
    return any(1 in primal.shape for primal in graph.primals)


def has_ties(graph: Graph) -> bool:
    return any(np.unique(primal).size < primal.size for primal in graph.primals)


def has_zero(graph: Graph) -> bool:
    return any((primal == 0).any() for primal in graph.primals)


def has_tail(graph: Graph) -> bool:
    return any((np.abs(primal) >= 20).any() for primal in graph.primals)


def has_negative_axis(graph: Graph) -> bool:
    return any((call.args["axis"] < 0).any() for _, call in graph.calls if "axis" in call.args)


def repeats_an_index(graph: Graph) -> bool:
    indices = [call.args["indices"] for _, call in graph.calls if "indices" in call.args]
    return any(np.unique(each).size < each.size for each in indices)


def has_diamond(graph: Graph) -> bool:
    """Return whether the output of a call is read twice."""
    read = [ref for _, call in graph.calls for ref in call.inputs]
    return any(read.count(Ref(index)) > 1 for index, _ in graph.calls)


def reads_a_leaf_twice(graph: Graph) -> bool:
    read = [ref for _, call in graph.calls for ref in call.inputs]
    return any(read.count(Ref(index)) > 1 for index in graph.leaves)


def is_chained(graph: Graph) -> bool:
    return any(isinstance(graph.nodes[ref.node], Call) for _, c in graph.calls for ref in c.inputs)


# Modes.


def test_half_of_the_cases_stand_on_edges() -> None:
    modes = drawn(MODES)
    assert 0.4 < modes.count(EDGE_MODE) / len(modes) < 0.6
    assert all(modes.count(mode) / len(modes) > 0.08 for mode in EVERY_MODE)


def test_a_case_shrinks_to_the_plain_mode() -> None:
    assert hypothesis.find(MODES, lambda mode: True, settings=THOROUGH) is PLAIN_MODE


@pytest.mark.parametrize(
    ("mode", "condition"),
    [
        (PLAIN_MODE, lambda x: 8 * x == round(8 * x) and abs(x) <= 2),
        (IRREGULAR_MODE, lambda x: 2**-10 <= abs(x) <= 4),
        (MAGNITUDE_MODE, lambda x: 1e-8 <= abs(x) < 1e9),
    ],
    ids=["plain", "irregular", "magnitudes"],
)
def test_the_elements_of_a_mode(mode: Mode, condition: Callable[[float], bool]) -> None:
    elements = drawn(mode.elements)
    assert all(map(condition, elements))
    assert min(elements) < 0 < max(elements)


def test_magnitudes_span_sixteen_powers_of_ten() -> None:
    sizes = np.abs(drawn(MAGNITUDE_MODE.elements))
    assert sizes.min() < 1e-7
    assert sizes.max() > 1e7


def test_irregular_elements_use_every_bit() -> None:
    elements = np.array(drawn(IRREGULAR_MODE.elements))
    assert (2**20 * elements != np.round(2**20 * elements)).mean() > 0.3


def test_only_edges_have_empty_axes() -> None:
    assert 0 in drawn(EDGE_MODE.sides)
    assert all(0 not in drawn(mode.sides) for mode in EVERY_MODE if mode is not EDGE_MODE)


# How often what is drawn.


@pytest.mark.parametrize(
    ("op", "condition", "least"),
    [
        ("Sum", has_empty_leaf, 0.02),
        ("Sum", has_scalar_leaf, 0.03),
        ("Sum", has_side_of_1, 0.1),
        ("Sum", has_negative_axis, 0.1),
        ("Max", has_ties, 0.1),
        ("Cumprod", has_negative_axis, 0.1),
        ("GatherV2", repeats_an_index, 0.1),
        ("GatherV2", has_negative_axis, 0.1),
        ("TensorScatterAdd", repeats_an_index, 0.1),
        ("MatMul", has_empty_leaf, 0.02),
        ("Mul", reads_a_leaf_twice, 0.1),
        ("Exp", has_tail, 0.1),
        ("Exp", has_scalar_leaf, 0.1),
        ("Xlogy", has_zero, 0.1),
    ],
)
def test_what_bugs_are_made_of_is_drawn_often(
    op: str, condition: Callable[[Graph], bool], least: float
) -> None:
    assert share(graphs_of(op), condition) >= least


def test_diamonds_and_chains_occur_among_other_calls() -> None:
    found = drawn(graphs_of("Mul", around=3))
    assert sum(map(has_diamond, found)) / len(found) >= 0.05
    assert sum(map(is_chained, found)) / len(found) >= 0.2


def test_an_op_by_itself_is_one_call() -> None:
    assert all(len(graph.calls) == 1 for graph in drawn(graphs_of("Mul")))


def test_an_op_has_at_most_so_many_calls_around_it() -> None:
    plain = [entry for entry in CATALOGUE.entries if entry.op == "Neg"]
    found = drawn(graphs(plain, run=call, others=plain, around=2), 1000)
    assert {len(graph.calls) for graph in found} == {1, 2, 3, 4, 5}


# What every graph is.


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Mul", "Log", "MatMul", "Split", "Cholesky", "SparseAdd"])
def test_no_node_is_dead_and_the_outputs_are_what_nothing_reads(op: str) -> None:
    for graph in drawn(graphs_of(op, around=2), 100):
        read = {ref for _, call in graph.calls for ref in call.inputs}
        sinks = set(graph.outputs)
        assert sinks.isdisjoint(read)
        assert {ref.node for ref in sinks | read} == set(range(len(graph.nodes)))
        assert len(set(graph.outputs)) == len(graph.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["Mul", "Split", "Unpack", "DynamicPartition", "SparseAdd"])
def test_the_outputs_are_real_tensors_that_the_graph_has(op: str) -> None:
    for graph in drawn(graphs_of(op, around=1), 100):
        outputs = run_forward(graph)
        assert {output.dtype.name for output in outputs} <= set(LEAF_DTYPES)


def test_a_graph_without_real_outputs_is_none() -> None:
    builder = Builder(call)
    sign = builder.call("Greater", x=builder.leaf(np.zeros(2)), y=np.zeros(2))
    builder.differentiate(sign, None)
    assert builder.build() is None


def test_a_node_that_leads_to_no_real_output_is_left_out() -> None:
    builder = Builder(call)
    kept, dropped = builder.leaf(np.zeros(2)), builder.leaf(np.ones(2))
    builder.differentiate(builder.call("Greater", x=dropped, y=np.zeros(2)), None)
    builder.differentiate(builder.call("Neg", x=kept), None)
    assert str(builder.build()) == "%0 = leaf float64[2] [0.0, 0.0]\n%1 = Neg(x=%0)"


# Domains: what is inside.


def is_dominant(x: Array) -> bool:
    weight = np.abs(np.diagonal(x, axis1=-2, axis2=-1))
    rest = np.abs(x).sum(axis=-1)[..., : weight.shape[-1]] - weight
    return bool((weight > rest).all())


def is_spd(x: Array) -> bool:
    return is_symmetric(x) and bool((np.linalg.eigvalsh(x) > 0).all())


def is_symmetric(x: Array) -> bool:
    return np.array_equal(x, np.swapaxes(x, -1, -2))


def has_separate_singular_values(x: Array) -> bool:
    values = np.linalg.svd(x, compute_uv=False)
    return bool((values > 0.5).all() and (np.diff(values) < -0.5).all())


def has_separate_spectrum(x: Array) -> bool:
    return is_symmetric(x) and bool((np.diff(np.linalg.eigvalsh(x)) > 0.5).all())


def has_full_rank(x: Array) -> bool:
    return bool((np.linalg.matrix_rank(x) == min(x.shape[-2:])).all() and (x != 0).all())


def is_heavy_in_row(row: int) -> Callable[[Array], bool]:
    def is_heavy(x: Array) -> bool:
        size = np.abs(x)
        return bool((2 * size[..., row, :] > size.sum(axis=-2)).all())

    return is_heavy


def is_distinct(x: Array) -> bool:
    return np.unique(x).size == x.size


def are_boxes(x: Array) -> bool:
    """Return whether the corners lie in the image, and no sample of a small crop on a pixel."""
    return bool(((x > 0) & (x < 1)).all() and (np.abs(x * 12 - np.round(x * 12)) > 1e-3).all())


# Each domain with what an array inside it is like, as of scalars, matrices or "matrix": square.
INSIDE: dict[str, Callable[[Array], Any]] = {
    "ANY": lambda x: True,
    "NONZERO": lambda x: x != 0,
    "DISTINCT": is_distinct,
    "POSITIVE": lambda x: x > 0,
    "ABOVE_ONE": lambda x: x > 1,
    "UNIT": lambda x: (x > 0) & (x < 1),
    "INSIDE_ONE": lambda x: np.abs(x) < 1,
    "ABOVE_MINUS_ONE": lambda x: x > -1,
    "OFF_SATURATION": lambda x: (x != 0) & (x != 6),
    "OFF_GRID": lambda x: 2 * x != np.round(2 * x),
    "BETWEEN_POLES": lambda x: (x > 0) | (x != np.round(x)),
    "WHOLE": lambda x: (x != 0) & (x == np.round(x)),
    "BESIDE": lambda x: True,
    "LOWER_BOUND": lambda x: x < 0,
    "UPPER_BOUND": lambda x: x > 0,
    "NEAR_BOUNDS": lambda x: True,
    "FRACTIONS": lambda x: is_distinct(x) and ((x >= 0) & (x < 0.5)).all(),
    "POWERS": lambda x: is_distinct(np.log2(x[..., :1, :])) and (np.log2(x) % 3 == 0).all(),
    "SHADES": lambda x: is_distinct(x) and ((x > 0) & (x < 1)).all(),
    "BOXES": are_boxes,
    "DISTINCT - 0.5": lambda x: is_distinct(x) and (x % 1 == 0.5).all(),
    "DISTINCT - 0.25": lambda x: is_distinct(x) and (x % 1 == 0.75).all(),
    "INVERTIBLE": is_dominant,
    "SPD": is_spd,
    "SYMMETRIC": has_separate_spectrum,
    "FULL_RANK": has_full_rank,
    "SEPARATED": has_separate_singular_values,
    "TRIDIAGONAL": is_heavy_in_row(1),
    "LOWER_BANDS": is_heavy_in_row(0),
    "UPPER_BANDS": is_heavy_in_row(-1),
}
# What an array of the domain must look like, where not any shape will do.
SHAPES = {
    "BOXES": [(0, 4), (1, 4), (3, 4)],
    "POWERS": [(1, 1), (1, 4), (2, 3)],
    "INVERTIBLE": [(1, 1), (2, 2), (2, 3, 3)],
    "SPD": [(1, 1), (2, 2), (2, 3, 3)],
    "SYMMETRIC": [(1, 1), (2, 2), (2, 3, 3)],
    "FULL_RANK": [(1, 1), (2, 3), (3, 2), (2, 2, 2)],
    "SEPARATED": [(1, 1), (2, 3), (3, 2), (2, 2, 2)],
    "TRIDIAGONAL": [(3, 1), (3, 3), (2, 3, 2)],
    "LOWER_BANDS": [(1, 1), (2, 3), (2, 3, 3)],
    "UPPER_BANDS": [(1, 1), (2, 3), (2, 3, 3)],
}
ANY_SHAPE = [(), (0,), (1,), (4,), (2, 3)]


def all_domains() -> Iterator[Domain]:
    for module in (domains, index_arguments):
        yield from (value for value in vars(module).values() if isinstance(value, Domain))


DOMAINS = {domain.name: domain for domain in all_domains()}


def arrays(name: str, mode: Mode) -> st.SearchStrategy[Array]:
    """Arrays in a mode, of the shapes that a domain takes."""

    @st.composite
    def array(draw: st.DrawFn) -> Array:
        return mode.array(draw, draw(st.sampled_from(SHAPES.get(name, ANY_SHAPE))))

    return array()


def test_each_domain_is_looked_at() -> None:
    assert set(DOMAINS) == set(INSIDE)


@pytest.mark.parametrize("mode", EVERY_MODE, ids=str)
@pytest.mark.parametrize("name", [n for n, domain in DOMAINS.items() if domain.inside])
def test_a_domain_maps_every_array_inside(name: str, mode: Mode) -> None:
    domain = DOMAINS[name]
    assert domain.inside
    for before in drawn(arrays(name, mode), 40):
        if domain.thin and before.shape[-1] != 1:
            continue  # those are lifted
        after = domain.inside(before)
        assert after.shape == before.shape
        assert np.isfinite(after).all()
        assert np.all(INSIDE[name](after)), (before, after)


def test_a_second_argument_does_not_tie_with_the_first() -> None:
    beside = domains.BESIDE.inside
    assert beside
    first, second = (np.array(drawn(PLAIN_MODE.elements)) for _ in "ab")
    assert not set(first) & set(beside(second))


# Beside a product of magnitudes, what the lift adds to it is lost in rounding.
LIFTED = [(name, mode) for name, domain in DOMAINS.items() if domain.lift for mode in EVERY_MODE
          if (name, mode) != ("SPD", MAGNITUDE_MODE)]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "mode"), LIFTED, ids=str)
def test_a_lift_carries_any_tensor_inside(name: str, dtype: str, mode: Mode) -> None:
    for before in drawn(arrays(name, mode), 20):
        after = lifted(DOMAINS[name], before.astype(dtype))
        assert after.dtype == dtype
        assert np.all(INSIDE[name](after.astype(np.float64))), (before, after)


@pytest.mark.parametrize("name", [n for n, domain in DOMAINS.items() if domain.lift])
def test_a_lift_carries_the_far_tails_inside(name: str) -> None:
    shape = SHAPES.get(name, ANY_SHAPE)[-1]
    for value in (1e3, -1e3, 0.0):
        assert np.all(INSIDE[name](lifted(DOMAINS[name], np.full(shape, value)))), value


def lifted(domain: Domain, value: Array) -> Array:
    """Return what the lift of a domain carries an array to, by a graph of one leaf."""
    assert domain.lift
    builder = Builder(call)
    builder.differentiate(domain.lift(builder, builder.leaf(value)), None)
    graph = builder.build()
    assert graph is not None
    assert len(graph.leaves) == 1
    [output] = run_forward(graph)
    found: Array = output.numpy()
    return found


# What shrinks to which text.


def sums_to_1(graph: Graph) -> bool:
    return sum(np.abs(primal).sum() for primal in graph.primals) >= 1


def has_inner_side(graph: Graph) -> bool:
    """Return whether a product of two leaves adds up two elements or more."""
    for product in calls_of(graph, "MatMul"):
        node = graph.nodes[product.args["a"].node]
        side = 0 if product.args.get("transpose_a") else 1
        if isinstance(node, Leaf) and node.value.shape[side] >= 2:
            return True
    return False


def gathers_an_element_twice(graph: Graph) -> bool:
    indices = [each.args["indices"] for each in calls_of(graph, "GatherV2")]
    return any(np.unique(each).size < each.size for each in indices)


def reads_a_call(graph: Graph) -> bool:
    return any(
        isinstance(graph.nodes[each.args["x"].node], Call) for each in calls_of(graph, "Log")
    )


# An op may have several entries, and no step of shrinking leads from one to another: the graphs
# are of the first one, or of this one.
ENTRY = {"Sum": 1}

TEXTS = [
    ("Tanh", anything, "%0 = leaf float64[] 0.0\n%1 = Tanh(x=%0)"),
    ("Log", anything, "%0 = leaf float64[] 1.0\n%1 = Log(x=%0)"),
    (
        "MatMul",
        anything,
        "%0 = leaf float64[1, 1] [[0.0]]\n%1 = leaf float64[1, 1] [[0.0]]\n%2 = MatMul(a=%0, b=%1)",
    ),
    (
        "MatMul",
        has_inner_side,
        "%0 = leaf float64[1, 2] [[0.0, 0.0]]\n"
        "%1 = leaf float64[2, 1] [[0.0], [0.0]]\n"
        "%2 = MatMul(a=%0, b=%1)",
    ),
    (
        "Conv2D",
        anything,
        "%0 = leaf float64[1, 1, 1, 1] [[[[0.0]]]]\n"
        "%1 = leaf float64[1, 1, 1, 1] [[[[0.0]]]]\n"
        "%2 = Conv2D(strides=[1, 1, 1, 1], padding='SAME', input=%0, filter=%1)",
    ),
    ("Log", log_reads_an_empty_leaf, "%0 = leaf float64[0]\n%1 = Log(x=%0)"),
    ("Exp", sums_to_1, "%0 = leaf float64[] 1.0\n%1 = Exp(x=%0)"),
    (
        "Sum",
        has_negative_axis,
        "%0 = leaf float64[1] [0.0]\n%1 = Sum(input=%0, axis=int32[] -1, keep_dims=False)",
    ),
    (
        "GatherV2",
        gathers_an_element_twice,
        "%0 = leaf float64[1] [0.0]\n"
        "%1 = GatherV2(params=%0, indices=int32[2] [0, 0], axis=int32[] 0)",
    ),
    ("Mul", reads_a_leaf_twice, "%0 = leaf float64[] 0.0\n%1 = Mul(x=%0, y=%0)"),
    (
        "Log",
        reads_a_call,
        "%0 = leaf float64[] 0.0\n"
        "%1 = Neg(x=%0)\n"
        "%2 = Softplus(features=%0)\n"
        "%3 = AddV2(x=%2, y=float64[] 0.125)\n"
        "%4 = Log(x=%3)\n"
        "return %1, %4",
    ),
    (
        "Cholesky",
        lambda graph: graph.primals[0].shape == (2, 2),
        "%0 = leaf float64[2, 2] [[0.0, 0.0], [0.0, 0.0]]\n"
        "%1 = BatchMatMulV2(x=%0, y=%0, adj_x=False, adj_y=True)\n"
        "%2 = AddV2(x=%1, y=float64[2, 2] [[1.0, 0.0], [0.0, 1.0]])\n"
        "%3 = Cholesky(input=%2)",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "condition", "text"), TEXTS, ids=[f"{op} {c.__name__}" for op, c, _ in TEXTS]
)
def test_a_graph_shrinks_to(op: str, condition: Callable[[Graph], bool], text: str) -> None:
    assert simplest(graphs_of(op, around=2, only=ENTRY.get(op, 0)), condition) == text


@pytest.mark.slow
def test_a_diamond_shrinks_to_two_calls_on_scalars() -> None:
    graph = hypothesis.find(graphs_of("Mul", around=2), has_diamond, settings=THOROUGH)
    assert len(graph.calls) <= 2
    assert all(primal == 0 and primal.shape == () for primal in graph.primals)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (lambda x: abs(x) >= 100, "100.0"),
        (lambda x: abs(x) >= 1e6, "1000000.0"),
        (lambda x: 8 * x != round(8 * x), "0.0625"),
        (lambda x: x < 0, "-0.125"),
    ],
)
def test_an_element_shrinks_to(condition: Callable[[float], bool], text: str) -> None:
    def has_one(graph: Graph) -> bool:
        return any(condition(x) for x in graph.primals[0].ravel().tolist())

    assert simplest(graphs_of("Exp"), has_one) == f"%0 = leaf float64[] {text}\n%1 = Exp(x=%0)"
