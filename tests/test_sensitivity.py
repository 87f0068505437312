"""A gradient wrong by a millionth in one element is caught, and blamed on the right input."""

from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from gradfuzz.check import check
from gradfuzz.corpus import Corpus
from gradfuzz.strategies.catalogue import CATALOGUE
from gradfuzz.strategies.modes import PLAIN_MODE
from tests.drawing import BRIEF, graphs_of, simplest
from tests.planted import one_element_times, planted_gradient

# What is really wrong in TensorFlow.
KNOWN = Corpus(Path(__file__).parent.parent / "corpus", CATALOGUE.ops).known_buckets()

# Each op with its first differentiable input, over all families.
PLANTED = {
    "Exp": "x",
    "Tanh": "x",
    "Sigmoid": "x",
    "Softplus": "features",
    "Log1p": "x",
    "Sqrt": "x",
    "Atan2": "y",
    "Mul": "x",
    "RealDiv": "x",
    "SquaredDifference": "x",
    "Lgamma": "x",
    "Erf": "x",
    "BesselI0e": "x",
    "Sum": "input",
    "Mean": "input",
    "Prod": "input",
    "Max": "input",
    "Cumsum": "x",
    "GatherV2": "params",
    "ConcatV2": "values",
    "Transpose": "x",
    "StridedSlice": "input",
    "ScatterNd": "updates",
    "MirrorPad": "input",
    "SegmentSum": "data",
    "UnsortedSegmentSum": "data",
    "MatMul": "a",
    "Cholesky": "input",
    "MatrixInverse": "input",
    "MatrixSolve": "matrix",
    "Einsum": "inputs",
    "Conv2D": "input",
    "AvgPool": "value",
    "BiasAdd": "value",
    "Softmax": "logits",
    "L2Loss": "t",
}


@pytest.mark.slow
@pytest.mark.parametrize("op", PLANTED)
def test_a_millionth_in_one_element_is_caught(op):
    with planted_gradient(op, one_element_times(1 + 1e-6)):
        finding = simplest(graphs_of(op, modes=st.just(PLAIN_MODE)), op, settings=BRIEF)
    assert finding.bucket.input == PLANTED[op]
    assert len(finding.graph.calls) <= 3


@pytest.mark.parametrize("op", PLANTED)
def test_the_right_gradient_is_not_reported(op):
    @hypothesis.settings(max_examples=40, deadline=None, database=None, derandomize=True)
    @hypothesis.given(graphs_of(op, modes=st.just(PLAIN_MODE)))
    def agrees(graph):
        finding = check(graph).finding
        assert finding is None or finding.bucket in KNOWN, finding

    agrees()
