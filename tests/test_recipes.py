"""Recipes run the gradients they say, by case files too, and are judged by what they declare."""

import ast
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from gradfuzz.check import check
from gradfuzz.evaluate import call
from gradfuzz.finding import Verdict
from gradfuzz.gradients_run import recording
from gradfuzz.graph import Array, Call, Graph, Leaf, Ref
from gradfuzz.registry import function, recipes, reference, registered_gradients, runs
from gradfuzz.runtime import tf
from gradfuzz.strategies.catalogue import CATALOGUE
from gradfuzz.strategies.graphs import graphs
from gradfuzz.strategies.recipes import RECIPES
from gradfuzz.strategies.recipes.private import private
from gradfuzz.subject import Subject
from tests.build import one_call
from tests.planted import planted_gradient

FOLDER = Path(__file__).parent.parent / "strategies" / "recipes"
GRAPHS = 12


def bucket(graph: Graph) -> str | None:
    finding = check(graph).finding
    return None if finding is None else str(finding.bucket)


def single(*values: float) -> Array:
    return np.array(values, np.float32)


def variable_call(op: str, value: Array, **args: object) -> Graph:
    graph = one_call(op, value, resource=Ref(0), **args)
    return Graph((Leaf(value, variable=True), *graph.nodes[1:]), graph.outputs)


# By name.


def test_the_recipes_are_found_by_name():
    assert recipes().keys() >= RECIPES.keys()
    assert function("recipe.TensorListStack") is RECIPES["recipe.TensorListStack"].function


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_in_the_catalogue(name):
    assert name in CATALOGUE.ops


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.name)
def test_a_recipe_needs_no_hypothesis(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    ours = {name for name in names if name.startswith("gradfuzz.")}
    engine = {name for name in ours if not name.startswith("gradfuzz.strategies.recipes")}
    assert engine <= {"gradfuzz.registry", "gradfuzz.runtime"}
    assert not any(name.startswith("hypothesis") for name in names)


# What they run.


@pytest.fixture
def forgotten():
    """Forget what recipes have built: the gradient of a graph runs once, where it is built."""
    package = "gradfuzz.strategies.recipes."
    for module in [each for name, each in sys.modules.items() if name.startswith(package)]:
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_runs_the_gradients_it_says(name):
    entries = [entry for entry in CATALOGUE.entries if entry.op == name]

    @hypothesis.settings(max_examples=GRAPHS, deadline=None, database=None, derandomize=True,
                         phases=[hypothesis.Phase.generate])  # fmt: skip
    @hypothesis.given(graphs(entries, run=call))
    def draw(graph: Graph) -> None:
        check(graph)

    with recording() as seen:
        draw()
    assert runs(name) <= seen


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_recipe_says_it_runs_is_registered(name):
    assert set(RECIPES[name].runs.split()) <= set(registered_gradients())


# What they declare.


def test_an_op_without_a_reference_is_its_own():
    assert reference("Exp") is tf.raw_ops.Exp


def test_quantisation_is_judged_by_what_its_gradient_is_declared_to_be():
    args = {"input": Ref(0), "input_min": np.array(-1.0), "input_max": np.array(1.0)}
    graph = one_call("QuantizeAndDequantizeV2", [0.3, -0.7, 5.0], **args)
    assert Subject.of(graph).outputs[0] != 0.3
    assert check(graph).verdict is Verdict.AGREE
    with planted_gradient("QuantizeAndDequantizeV2", lambda right, op, u: [2 * u, None, None]):
        assert bucket(graph) == "QuantizeAndDequantizeV2.input value (numeric)"


def test_what_is_clipped_counts_for_the_bound():
    leaves = [Leaf(single(0.3, -7.0)), Leaf(np.float32(-1.0)), Leaf(np.float32(1.0))]
    args = {"inputs": Ref(0), "min": Ref(1), "max": Ref(2), "num_bits": 8, "narrow_range": False}
    graph = Graph((*leaves, Call("FakeQuantWithMinMaxVars", args)), (Ref(3),))
    assert check(graph).verdict is Verdict.AGREE
    with planted_gradient(
        "FakeQuantWithMinMaxVars", lambda right, op, u: [*right(op, u)[:2], u[1]]
    ):
        assert bucket(graph) == "FakeQuantWithMinMaxVars.max value (numeric)"


def test_a_sampler_is_judged_by_its_quantile_function():
    alpha = np.array([0.5, 2.5])
    args = {"shape": np.array([2], np.int32), "at": alpha}
    graph = one_call("recipe.StatelessRandomGammaV2", alpha, alpha=Ref(0), **args)
    assert check(graph).verdict is Verdict.AGREE
    wrong = lambda right, op, u: (None, None, right(op, u)[2] * 1.001)  # noqa: E731
    with planted_gradient("StatelessRandomGammaV2", wrong):
        assert bucket(graph) == "recipe.StatelessRandomGammaV2.alpha value (numeric)"


def test_the_quantile_of_a_large_gamma_sample_moves_with_alpha():
    quantile = recipes()["recipe.StatelessRandomGammaV2"].reference
    assert quantile is not None
    args = {"shape": tf.constant([3]), "at": tf.constant(1e6, tf.float64)}
    here, there = (quantile(alpha=tf.constant(a, tf.float64), **args) for a in (1e6, 1.01e6))
    # A hundred standard deviations away it lies at the same number of them beside the mean.
    deviations = [(x - a) / a**0.5 for x, a in ((here, 1e6), (there, 1.01e6))]
    np.testing.assert_allclose(*deviations, atol=1e-3)


def test_slices_at_one_place_add_up():
    values = {"values": Ref(0), "shape": np.array([2])}
    apart = one_call("recipe.global_norm", [3.0, 4.0], indices=np.array([0, 1]), **values)
    assert bucket(apart) is None
    together = one_call("recipe.global_norm", [3.0, 4.0], indices=np.array([1, 1]), **values)
    assert bucket(together) == "recipe.global_norm.values value (numeric)"


def test_what_a_session_raises_is_told_without_the_places_in_python():
    none = np.zeros(0, np.int32)
    graph = one_call("recipe.gathered.Enter", np.zeros([0, 3]), x=Ref(0), indices=none,
                     times=np.array(1, np.int32))  # fmt: skip
    finding = check(graph).finding
    assert finding is not None
    assert finding.bucket.kind == "raises-InvalidArgumentError"
    assert "[0, 0)" in finding.evidence.message
    assert ".py" not in finding.evidence.message


# Variables, and gradients that are slices.


def test_a_variable_is_differentiated():
    indices = np.array([0, 0, 2], np.int32)
    graph = variable_call("ResourceGather", np.arange(3.0), indices=indices, dtype="float64")
    assert check(graph).verdict is Verdict.AGREE
    assert str(graph).startswith("%0 = variable float64[3]")

    def doubled(right, op, u):
        slices, none = right(op, u)
        return tf.IndexedSlices(2 * slices.values, slices.indices, slices.dense_shape), none

    with planted_gradient("ResourceGather", doubled):
        assert bucket(graph) == "ResourceGather.resource value (numeric)"


@pytest.mark.parametrize("index", [3, -1])
def test_slices_of_nothing_are_a_fault_of_their_own(index):
    def misplaced(right, op, u):
        indices = tf.fill([len(u)], index)
        return tf.IndexedSlices(u, indices, tf.constant([3])), None, None

    graph = one_call("GatherV2", np.arange(3.0), params=Ref(0), indices=np.array([1, 1], np.int32),
                     axis=np.array(0, np.int32))  # fmt: skip
    with planted_gradient("GatherV2", misplaced):
        assert bucket(graph) == "GatherV2.params indices (always)"


def test_a_gradient_that_raises_where_a_function_is_traced_is_the_fault_of_the_gradient():
    args = {"times": np.array(2, np.int32), "x": Ref(0), "y": Ref(1), "body": ["sin", "times y"]}
    graph = one_call("recipe.StatelessWhile", [0.5], [0.25], **args, most=None)
    assert bucket(graph) is None

    def raises(right, op, u):
        raise ArithmeticError("no")

    with planted_gradient("Sin", raises):
        # Traced anew, for other shapes.
        graph = one_call(
            "recipe.StatelessWhile", np.full(7, 0.5), np.full(7, 0.25), **args, most=None
        )
        assert bucket(graph) == "recipe.StatelessWhile raises-ArithmeticError (always)"


# Another TensorFlow.


def test_what_another_tensorflow_has_not_is_refused_like_an_argument():
    with pytest.raises(NotImplementedError, match=r"no\.such: not in this TensorFlow"):
        private("tensorflow.no.such")
    assert private("tensorflow").__name__ == "tensorflow"
