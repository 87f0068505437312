"""The table of difference quotients shows what is there, and copes with what is not."""

from dataclasses import replace

import numpy as np
import pytest

from gradfuzz.convergence import convergence
from gradfuzz.errors import CaseFileError, ForwardError
from gradfuzz.finding import Evidence
from gradfuzz.graph import Call, Graph, Leaf, Ref

ELEMENT = Evidence("", leaf=0, element=0, output=0)


def single(op, *values, dtype=np.float64, **attrs):
    leaves = [Leaf(np.array(value, dtype)) for value in values]
    names = ("x", "y") if len(values) > 1 else ("x",)
    args = {name: Ref(i) for i, name in enumerate(names)}
    return Graph((*leaves, Call(op, {**args, **attrs})), (Ref(len(leaves)),))


def test_quotients_converge_on_a_right_gradient():
    found = convergence(single("Log", [1.0, 2.0]), replace(ELEMENT, element=1, output=1))
    assert found.analytic == 0.5
    assert found.place == "output 1 by element 1 of leaf 0 (%0)"
    assert len(found.steps) == 9
    assert (np.diff(found.steps) < 0).all()
    errors = np.abs(found.differences)
    assert errors[0] > 1e-3
    assert errors.min() < 1e-9
    assert (found.forward[:3] < found.central[:3]).all()
    assert (found.central[:3] < found.backward[:3]).all()


def test_steps_are_in_proportion_to_the_element():
    found = convergence(single("Log", [1e-6]), ELEMENT)
    assert found.steps[0] == 2.5e-7
    assert np.abs(found.differences).min() < 1e-9 * found.analytic


def test_a_kink_has_other_slopes_on_each_side():
    found = convergence(single("Abs", [0.0]), ELEMENT)
    assert (found.forward == 1).all()
    assert (found.backward == -1).all()
    assert (found.central == 0).all()


def test_a_less_precise_function_has_longer_steps():
    found = convergence(single("Log", [2.0], dtype=np.float32), ELEMENT)
    assert found.steps[-1] >= 2.0**-12
    assert np.abs(found.differences).min() < 1e-4


def test_an_unconnected_leaf_has_no_analytic_value():
    found = convergence(single("Floor", [0.5]), ELEMENT)
    assert found.analytic is None
    assert found.problem == "TensorFlow returned None: no connection"
    assert (found.differences == 0).all()


def test_a_gradient_that_raises_leaves_the_quotients():
    graph = single("Cumprod", [0.5, 2.0], axis=np.array(0, np.int32))
    broken = Graph((*graph.nodes, Call("PreventGradient", {"input": Ref(1)})), (Ref(2),))
    for evidence in (ELEMENT, Evidence("")):
        found = convergence(broken, evidence)
        assert found.analytic is None
        assert found.problem.startswith("the gradient raised LookupError: ")
        assert np.isfinite(found.central).all()


def test_evidence_without_an_element_is_shown_along_a_direction():
    found = convergence(single("Log", [1.0, 2.0]), Evidence("", analytic=1.0))
    assert found.place == "a random sum of all outputs along a random direction"
    assert np.abs(found.differences).min() < 1e-8


def test_an_output_that_is_not_finite_has_no_quotients():
    found = convergence(single("Log", [0.0]), ELEMENT)
    assert not np.isfinite(found.central).any()


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (replace(ELEMENT, leaf=1), "evidence.leaf: 1, should be below 1"),
        (replace(ELEMENT, element=2), "evidence.element: 2, should be below 2"),
        (replace(ELEMENT, output=10**9), "evidence.output: 1000000000, should be below 2"),
    ],
)
def test_an_element_that_does_not_exist_is_named(evidence, message):
    with pytest.raises(CaseFileError) as caught:
        convergence(single("Log", [1.0, 2.0]), evidence)
    assert str(caught.value) == message


def test_a_graph_of_no_elements_has_none_to_name():
    with pytest.raises(
        CaseFileError, match=r"^evidence.element: 0, should be null: there is none$"
    ):
        convergence(single("Log", []), ELEMENT)
    assert (convergence(single("Log", []), Evidence("")).central == 0).all()


def test_a_graph_that_does_not_run_is_refused():
    with pytest.raises(ForwardError):
        convergence(single("AddV2", [1.0, 2.0], [1.0, 2.0, 3.0]), ELEMENT)
