"""Complex leaves and outputs: seen as real numbers by the numeric side, conjugates and all."""

from collections.abc import Callable

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gradfuzz.analytic import row_of_jacobian
from gradfuzz.check import check
from gradfuzz.convergence import convergence
from gradfuzz.evaluate import call
from gradfuzz.finding import Verdict
from gradfuzz.graph import Array, Graph, Ref
from gradfuzz.realview import element_name, from_real_view, real_view
from gradfuzz.runtime import tf
from gradfuzz.strategies import complex_domains
from gradfuzz.strategies.arguments import AxisAfter, Complex, Real, Reals
from gradfuzz.strategies.domains import Domain
from gradfuzz.strategies.entry import op
from gradfuzz.strategies.graphs import graphs
from gradfuzz.strategies.in_complex import in_complex
from gradfuzz.strategies.modes import EDGE_MODE, IRREGULAR_MODE, PLAIN_MODE
from gradfuzz.subject import Subject
from tests.build import one_call
from tests.drawing import BRIEF, THOROUGH
from tests.planted import planted_gradient

Z = np.array([0.5 + 1.25j, -1.5 + 0.75j])


def bucket(graph: Graph) -> str | None:
    finding = check(graph).finding
    return None if finding is None else str(finding.bucket)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)])
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_a_real_view_holds_the_same_numbers(shape, dtype):
    z = (np.arange(np.prod(shape, dtype=int)).reshape(shape) * (1 - 2j)).astype(dtype)
    view = real_view(z)
    assert view.shape == (*shape, 2)
    assert (view[..., 0] == z.real).all()
    assert (view[..., 1] == z.imag).all()
    again = from_real_view(view)
    assert again.dtype == z.dtype
    assert (again == z).all()


def test_a_real_array_is_its_own_view():
    x = np.arange(3.0)
    assert real_view(x) is x


def test_a_transposed_array_has_the_view_of_its_copy():
    z = (np.arange(6).reshape(2, 3) * (1 + 1j)).T
    assert (real_view(z) == real_view(z.copy())).all()


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("Mul", {"x": Ref(0), "y": Ref(0)}),
        ("Exp", {"x": Ref(0)}),
        ("Conj", {"input": Ref(0)}),
        ("Real", {"input": Ref(0), "Tout": "float64"}),
        ("Imag", {"input": Ref(0), "Tout": "float64"}),
        ("ComplexAbs", {"x": Ref(0), "Tout": "float64"}),
        ("FFT", {"input": Ref(0)}),
    ],
)
def test_right_complex_gradients_agree(op, args):
    assert check(one_call(op, Z, **args)).verdict is Verdict.AGREE


def test_complex_leaves_may_stand_beside_real_ones():
    graph = one_call(
        "Complex", [0.5, 1.0], [2.0, -1.0], real=Ref(0), imag=Ref(1), Tout="complex128"
    )
    assert check(graph).verdict is Verdict.AGREE


def test_a_missing_conjugate_is_found():
    with planted_gradient("Exp", lambda right, op, u: u * op.outputs[0]):
        assert bucket(one_call("Exp", Z, x=Ref(0))) == "Exp.x complex-value (numeric)"
        assert bucket(one_call("Exp", Z.real, x=Ref(0))) is None


def test_a_lost_imaginary_part_is_found():
    def lost(right, op, u):
        return tf.cast(tf.math.real(right(op, u)), tf.complex128)

    with planted_gradient("Exp", lost):
        assert bucket(one_call("Exp", Z, x=Ref(0))) == "Exp.x complex-value (numeric)"


def test_a_real_gradient_of_a_complex_leaf_is_of_another_dtype():
    with planted_gradient("Exp", lambda right, op, u: tf.math.real(right(op, u))):
        finding = check(one_call("Exp", Z, x=Ref(0))).finding
    assert finding is not None
    assert finding.bucket.kind == "dtype"
    assert "float64, should be complex128" in finding.evidence.message


def test_a_row_of_the_jacobian_is_that_of_the_parts():
    """The derivative of z² is 2z: multiplication by it is a rotation and a stretch."""
    subject = Subject.of(one_call("Square", np.array([1 + 2j]), x=Ref(0)))
    rows = [row_of_jacobian(subject.linearisation, 0, subject.outputs.size)]
    assert np.ravel(rows).tolist() == [2, -4]


def test_the_evidence_names_the_part():
    with planted_gradient("Exp", lambda right, op, u: u * op.outputs[0]):
        finding = check(one_call("Exp", Z[:1], x=Ref(0))).finding
        assert finding is not None
        assert "part of element 0 of output 0 by the " in finding.evidence.message
        assert "part of element 0 of leaf 0" in finding.evidence.message
        shown = convergence(finding.graph, finding.evidence)
    evidence = finding.evidence
    assert evidence.low is not None
    assert evidence.high is not None
    assert abs(shown.central[-1] - (evidence.low + evidence.high) / 2) < 1e-5
    assert shown.analytic == evidence.analytic


@pytest.mark.parametrize(
    ("number", "name"), [(0, "the real part of element 0"), (5, "the imaginary part of element 2")]
)
def test_an_element_is_named_by_its_part(number, name):
    assert element_name(number, is_complex=True) == name


def test_where_a_function_has_no_derivative_its_gradient_may_be_no_number():
    assert bucket(one_call("Sqrt", np.zeros(1, np.complex128), x=Ref(0))) is None


# Drawn.


def real_part_above(low: float) -> Callable[[Array], bool]:
    return lambda z: bool((z.real >= low).all())


def hermitian(z: Array) -> bool:
    return np.array_equal(z, np.conj(np.swapaxes(z, -1, -2)))


def dominant(z: Array) -> bool:
    size = np.abs(z)
    diagonal = np.diagonal(size, axis1=-2, axis2=-1)
    return bool((2 * diagonal > size.sum(axis=-1)[..., : diagonal.shape[-1]]).all())


DOMAINS = {
    complex_domains.OFF_NEGATIVE: ("*s", real_part_above(1e-9)),
    complex_domains.RIGHT_OF_ONE: ("*s", real_part_above(1.0)),
    complex_domains.WITHIN_ONE: ("*s", lambda z: bool((np.abs(real_view(z)) <= 0.875).all())),
    complex_domains.HERMITIAN: ("n n", hermitian),
    complex_domains.HERMITIAN_POSITIVE: (
        "n n",
        lambda z: bool((np.linalg.eigvalsh(z) > 0).all()),
    ),
    complex_domains.DOMINANT: ("n n", dominant),
    complex_domains.FULL: ("m n", lambda z: np.linalg.matrix_rank(z) == min(z.shape)),
    complex_domains.APART: ("n n", dominant),
}


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("mode", [PLAIN_MODE, IRREGULAR_MODE], ids=repr)
@pytest.mark.parametrize("before", [0, 1])
def test_a_complex_domain_is_kept(domain, mode, before):
    """By a new leaf, and by what a lift carries an earlier tensor to."""
    pattern, inside = DOMAINS[domain]
    focus = [op("Identity", input=Complex(pattern, domain, strict=True))]
    others = [op("Neg", x=Complex("a b"))]

    @hypothesis.settings(BRIEF, max_examples=40, phases=[hypothesis.Phase.generate])
    @hypothesis.given(graphs(focus, run=call, others=others, around=before, modes=st.just(mode)))
    def draw(graph: Graph) -> None:
        reads = [node.args["input"] for _, node in graph.calls if node.op == "Identity"]
        assert all(inside(Subject.of(graph).value(ref)) for ref in reads)

    draw()


def test_every_complex_domain_is_tested():
    found = {each for each in vars(complex_domains).values() if isinstance(each, Domain)}
    assert found == set(DOMAINS)


def test_either_part_of_an_element_may_be_an_edge():
    graph = hypothesis.find(
        graphs([op("Neg", x=Complex("1"))], run=call, modes=st.just(EDGE_MODE)),
        lambda graph: graph.primals[0][0] == 700j,
        settings=THOROUGH,
    )
    assert graph.primals[0].dtype == np.complex128


def test_shrinks_to_zero():
    strategy = graphs([op("Neg", x=Complex("*s"))], run=call)
    graph = hypothesis.find(strategy, lambda graph: True, settings=THOROUGH)
    assert str(graph) == "%0 = leaf complex128[] 0j\n%1 = Neg(x=%0)"


def test_an_entry_in_complex_has_complex_tensors_and_nothing_else_changed():
    entry = op("ConcatV2", values=Reals("*l _ *r"), axis=AxisAfter("l"))
    [found] = in_complex([entry, op("Neg", x=Real("*s"))], "ConcatV2")
    assert found == op("ConcatV2", values=Reals("*l _ *r", dtype="complex128"), axis=AxisAfter("l"))
