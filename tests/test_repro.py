"""The script of a case says, without gradfuzz, what replay says with it."""

import contextlib
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gradfuzz.casefile import Case
from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.check import check
from gradfuzz.cli.app import app
from gradfuzz.corpus import Corpus
from gradfuzz.errors import CaseFileError
from gradfuzz.expect import Expect
from gradfuzz.fatal import is_fatal
from gradfuzz.finding import Bucket, Evidence, Finding
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.oracles.effects import WAYS as EFFECTS
from gradfuzz.registry import Recipe, is_declared, recipes
from gradfuzz.replay import Replayed, Status
from gradfuzz.repro.direction import DIRECTION
from gradfuzz.repro.element import DIFFERENCES
from gradfuzz.repro.issue import issue
from gradfuzz.repro.literals import arg_source, array_source
from gradfuzz.repro.recipe import (
    is_recipe,
    recipe_name,
    recipes_source,
    reference_name,
)
from gradfuzz.repro.script import script
from gradfuzz.repro.templates import GRADIENT, HEAD, TANGENT
from gradfuzz.repro.ways import WAYS
from gradfuzz.runtime import tf
from tests.build import ints, one_call
from tests.planted import planted_gradient

CORPUS = Path(__file__).parent.parent / "corpus"
OPS = set(all_ops(load_catalogues()))
FILES = Corpus(CORPUS).case_files()
# One of each kind, in a process of its own.
KINDS = ("none", "non-finite", "raises", "shape", "missing")
ALONE = [next(path for path in FILES if f"-{kind}" in path.stem) for kind in KINDS]
BESSEL = CORPUS / "BesselI1-value-079f5832e59b.json"
SHOWS, GONE = 1, 0


def load(path: Path) -> Case:
    return Corpus(CORPUS, OPS).load(path)


def run_here(source: str) -> tuple[int, str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "script", "exec"), {"__name__": "__main__"})
        except SystemExit as ended:
            return int(ended.code or 0), printed.getvalue()
    return 0, printed.getvalue()


def run_alone(source: str, file: Path) -> tuple[int, str]:
    file.write_text(source)
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, check=False, timeout=120
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_script_of_each_case_agrees_with_replay(path: Path, tmp_path: Path) -> None:
    """That replay says what is expected of each case is tested in test_the_corpus.py."""
    case = load(path)
    if is_fatal(case.finding.bucket.kind):
        code, printed = run_alone(script(case), tmp_path / "bug.py")
    else:
        code, printed = run_here(script(case))
    # Memory that was never written holds by chance what it should, now and then.
    if "unrepeatable" not in path.stem:
        fails = case.expect.on(tf.__version__) is Expect.FAILS
        assert code == (SHOWS if fails else GONE), printed
    assert "expected" in printed
    assert "observed" in printed


@pytest.mark.slow
@pytest.mark.parametrize("path", [BESSEL, *ALONE], ids=lambda path: path.stem)
def test_a_script_runs_by_itself_without_gradfuzz(path: Path, tmp_path: Path) -> None:
    source = script(load(path))
    assert "import gradfuzz" not in source
    code, printed = run_alone(source, tmp_path / "bug.py")
    fails = load(path).expect.on(tf.__version__) is Expect.FAILS
    assert code == (SHOWS if fails else GONE), printed
    assert "observed" in printed


SINH = one_call("Sinh", [0.5, 2.0], x=Ref(0))
EVIDENCE = Evidence("wrong", 0, 1, 1, 2 * np.cosh(2.0), np.cosh(2.0), np.cosh(2.0))


def case(graph: Graph, kind: str, evidence: Evidence = EVIDENCE, oracle: str = "numeric") -> Case:
    finding = Finding(graph, Bucket("Sinh", oracle, kind, "x"), evidence)
    return Case(finding, graph, {"tensorflow": "2.21.0"}, 7, "2026-03-01", "2026-03-02")


@pytest.mark.parametrize("kind", ["value", "none", "non-finite", "missing", "raises-ValueError",
                                  "shape", "dtype", "unrepeatable", "mutated"])  # fmt: skip
def test_a_bug_that_is_gone_gives_0(kind: str) -> None:
    code, printed = run_here(script(case(SINH, kind)))
    assert code == GONE, printed


WRONG = {
    "value": lambda right, op, u: 2 * right(op, u),
    "none": lambda right, op, u: None,
    "non-finite": lambda right, op, u: right(op, u) * float("nan"),
    "shape": lambda right, op, u: tf.reduce_sum(right(op, u)),
    "dtype": lambda right, op, u: tf.cast(right(op, u), tf.float32),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_bug_that_is_there_gives_1(kind: str) -> None:
    with planted_gradient("Sinh", WRONG[kind]):
        code, printed = run_here(script(case(SINH, kind)))
    assert code == SHOWS, printed


def drifting() -> Iterator[int]:
    yield from range(1, 10_000)


def test_a_gradient_that_differs_when_taken_again_gives_1() -> None:
    factors = drifting()
    with planted_gradient("Sinh", lambda right, op, u: next(factors) * right(op, u)):
        assert run_here(script(case(SINH, "unrepeatable")))[0] == SHOWS


OTHER_WAYS = [
    ("forward", "value"), ("forward", "lost"), ("forward", "raises-ValueError"),
    ("compiled", "graph-value"), ("compiled", "unknown-dims-raises-TypeError"),
    ("compiled", "unknown-rank-value"), ("compiled", "xla-value"), ("compiled", "xla-output"),
    ("batched", "jacobian-value"), ("batched", "batch-jacobian-value"),
    ("compiled", "unknown-dims-shape"), ("compiled", "xla-shape"), ("batched", "map-shape"),
    ("batched", "map-value"), ("batched", "map-output"), ("precision", "float32-value"),
    ("always", "indices"), ("numeric", "raises-ValueError"), ("batched", "map-raises-TypeError"),
    *(("effects", f"{path}-{kind}") for path in EFFECTS for kind in ("value", "raises-TypeError")),
]  # fmt: skip
# A batch of two points, which have two elements each.
BATCH = one_call("Sinh", [[0.5, 2.0], [1.0, -1.0]], x=Ref(0))


@pytest.mark.parametrize(("oracle", "kind"), OTHER_WAYS)
def test_the_other_ways_agree_where_nothing_is_wrong(oracle: str, kind: str) -> None:
    code, printed = run_here(script(case(BATCH, kind, oracle=oracle)))
    assert code == GONE, printed


@pytest.mark.parametrize(
    ("oracle", "kind"),
    [each for each in OTHER_WAYS if each[1].endswith("value") and "graph" not in each[1]],
)
def test_a_wrong_gradient_shows_in_the_other_ways(oracle: str, kind: str) -> None:
    with planted_gradient("Sinh", WRONG["value"]):
        code, printed = run_here(script(case(BATCH, kind, oracle=oracle)))
    assert code == SHOWS, printed


def negative_indices(right: object, op: object, u: tf.Tensor) -> tf.IndexedSlices:
    return tf.IndexedSlices(u[:1], tf.constant([-1]), tf.constant([2]))


def test_slices_that_are_not_there_show() -> None:
    identity = Graph((SINH.nodes[0], Call("Identity", {"input": Ref(0)})), (Ref(1),))
    with planted_gradient("Identity", negative_indices):
        code, printed = run_here(script(case(identity, "indices", oracle="always")))
    assert (code, "observed slices [-1] of 2" in printed) == (SHOWS, True), printed


@pytest.mark.parametrize("kind", ["value", "fwd-rev-value", "rev-fwd-value", "fwd-fwd-value"])
@pytest.mark.parametrize("wrong", [False, True])
def test_what_is_known_of_a_direction_alone_has_a_script(kind: str, wrong: bool) -> None:  # noqa: FBT001
    oracle = "numeric" if kind == "value" else "second"
    found = script(case(SINH, kind, Evidence("wrong"), oracle))
    # Wrong once for a first derivative; in a second one, of the gradient's own gradient.
    op = "Sinh" if kind == "value" else "Cosh"
    with planted_gradient(op, WRONG["value"]) if wrong else contextlib.nullcontext():
        code, printed = run_here(found)
    assert code == (SHOWS if wrong else GONE), printed


@pytest.mark.parametrize("wrong", [False, True])
def test_two_ways_of_which_none_is_known_to_be_right_should_agree(wrong: bool) -> None:  # noqa: FBT001
    evidence = replace(EVIDENCE, low=None, high=None)
    found = script(case(SINH, "fwd-rev-non-finite", evidence, "second"))
    with planted_gradient("Cosh", WRONG["non-finite"]) if wrong else contextlib.nullcontext():
        code, printed = run_here(found)
    assert (code, "as in reverse mode" in printed) == (SHOWS if wrong else GONE, True), printed


def test_where_differences_do_not_tell_either_there_is_no_script() -> None:
    jump = one_call("Floor", [1.0], x=Ref(0))
    with pytest.raises(CaseFileError, match="differences do not tell along a random direction"):
        script(case(jump, "value", Evidence("wrong")))


PRODUCT = Graph((Leaf(np.array(2.0)), Leaf(np.array(3.0)),
                 Call("Mul", {"x": Ref(0), "y": Ref(1)})), (Ref(2),))  # fmt: skip


def test_both_sides_of_the_diagonal_are_the_same() -> None:
    # By the second leaf, of the derivative by the first: the entry in doubt is the other one.
    found = script(case(PRODUCT, "transposed-value", replace(EVIDENCE, leaf=1, element=0, output=0),
                        "second"))  # fmt: skip
    assert "function(*leaves)[1], [-1])[0]" in found
    assert "tape.gradient(y, leaves[0])" in found
    assert "expected is element 0 of the gradient by leaf 0, by element 0 of leaf 1" in found


def test_the_other_side_is_not_shown_where_it_is_right() -> None:
    evidence = Evidence("wrong", 1, 0, 0, analytic=2.0, low=1.9, high=2.1)
    found = script(case(PRODUCT, "transposed-value", evidence, "second"))
    assert "function(*leaves)[0], [-1])[0]" in found
    assert "symmetric" not in found


TRANSPOSED = [path for path in FILES if "-transposed-value-" in path.stem]


@pytest.mark.parametrize("path", TRANSPOSED, ids=lambda path: path.stem)
def test_differences_back_what_is_expected_of_the_other_side(path: Path) -> None:
    code, printed = run_here(script(load(path)))
    wanted, *slopes = map(
        float, re.findall(r"(?:expected|differences|and) (-?\d[\d.e-]*)", printed)
    )
    assert code == SHOWS
    assert slopes == pytest.approx([wanted] * 2, rel=1e-6, abs=1e-9), printed


SECOND = np.sinh(2.0)
DIGITS = Evidence("float64: d2/dx^2 at x=2: 0, should be 3.63", 0, None, None, 0.0, SECOND, SECOND)


def test_digits_of_a_second_derivative_are_those_of_one_op_at_one_point() -> None:
    found = script(case(SINH, "float64-second-value", DIGITS, "precision"))
    assert '    np.array(2.0, "float64"),' in found
    code, printed = run_here(found)
    assert code == GONE, printed
    with planted_gradient("Cosh", WRONG["value"]):
        code, printed = run_here(found)
    assert (code, "to 50 digits" in printed) == (SHOWS, True), printed


def test_the_form_that_is_observed_is_said_in_the_words_of_the_one_that_is_expected() -> None:
    found = script(case(SINH, "shape", oracle="always"))
    printed = run_here(found)[1].splitlines()
    assert printed == ["expected a gradient of shape (2,) and dtype float64",
                       "observed shape (2,) and dtype float64"]  # fmt: skip


def test_definitions_have_two_lines_of_nothing_before_them() -> None:
    kinds = [
        ("graph-value", "compiled"),
        ("map-output", "batched"),
        ("raises-ValueError", "always"),
    ]
    for kind, oracle in kinds:
        found = script(case(BATCH, kind, oracle=oracle))
        assert re.search(r"LEAVES\]\n{1,2}(def|@)", found) is None, found


def test_no_line_ends_in_spaces_where_a_message_was_cut_off() -> None:
    found = script(case(SINH, "raises-ValueError", Evidence("of shapes: "), "always"))
    assert [line for line in found.splitlines() if line != line.rstrip()] == []


def test_a_number_that_is_known_to_the_last_digit_is_written_with_all_of_them() -> None:
    found = script(case(SINH, "value", replace(EVIDENCE, low=np.float64(1 / 3), high=1 / 3)))
    assert 'print("expected 0.3333333333333333")' in found


def test_digits_at_a_point_that_the_graph_has_not_are_refused() -> None:
    odd = replace(DIGITS, message="float64: d2/dx^2 at x=3: 0, should be 3.63")
    with pytest.raises(CaseFileError, match="names no point of the graph"):
        script(case(SINH, "float64-second-value", odd, "precision"))


ENDS = {
    "dies-SIGSEGV": ("", ""),
    "hangs": ("signal.alarm(60)", "signal.raise_signal(signal.SIGALRM)"),
    "memory": ("3 * 2**20", "2**10"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("oracle", ["always", "compiled", "second"])
def test_a_process_that_ends_by_itself_is_told_from_one_that_does_not(
    kind: str, oracle: str, tmp_path: Path
) -> None:
    found = script(case(SINH, kind, Evidence("ends"), oracle))
    assert run_alone(found, tmp_path / "bug.py") == (
        GONE,
        "expected a process that ends by itself, with a gradient or a refusal\n"
        "observed a gradient\n",
    )
    if kind != "dies-SIGSEGV":
        # As if it took too much of either.
        code, printed = run_alone(found.replace(*ENDS[kind]), tmp_path / "bug.py")
        assert (code, "observed SIG" in printed) == (SHOWS, True), printed


PARTS = [part for way in WAYS.values() for part in (way.element, *way.definitions)]
OWN_NAMES = set(re.findall(r"^(?:def )?([A-Za-z_]\w*)(?:\(| = )", "".join(
    (HEAD, DIFFERENCES, DIRECTION, GRADIENT, TANGENT, *PARTS)), re.MULTILINE))  # fmt: skip


@pytest.mark.parametrize("op", sorted(filter(is_recipe, recipes())))
def test_the_source_of_each_recipe_stands_alone(op: str) -> None:
    source = recipes_source([op])
    assert "gradfuzz" not in source
    defined: dict[str, object] = {"tf": tf, "np": np}
    exec(compile(source, "recipe", "exec"), defined)
    assert callable(defined[recipe_name(op)])
    assert callable(defined.get(reference_name(op))) == is_declared(op)
    assert not OWN_NAMES & set(defined) - {"tf", "np"}


def test_the_script_of_a_complex_case_has_its_parts() -> None:
    graph = one_call("Exp", np.array([0.5 + 1.25j]), x=Ref(0))
    with planted_gradient("Exp", lambda right, op, u: u * op.outputs[0]):
        finding = check(graph).finding
        assert finding is not None
        assert finding.bucket.kind == "complex-value"
        found = script(replace(case(graph, "value"), finding=finding))
        code, printed = run_here(found)
    assert code == SHOWS, printed
    assert "tf.complex(v0[..., 0], v0[..., 1])" in found
    assert run_here(found)[0] == GONE


def test_a_variable_is_one_in_the_script() -> None:
    read = Call("ReadVariableOp", {"resource": Ref(0), "dtype": "float64"})
    graph = Graph((Leaf(np.array([0.5, 2.0]), variable=True), read), (Ref(1),))
    evidence = replace(EVIDENCE, analytic=0.0, low=1.0, high=1.0)
    code, printed = run_here(script(case(graph, "value", evidence)))
    assert code == GONE, printed


def test_a_recipe_in_no_table_of_its_file_has_no_script(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = {**recipes(), "recipe.Odd": Recipe(one_call)}
    monkeypatch.setattr("gradfuzz.repro.recipe.recipes", lambda: odd)
    with pytest.raises(CaseFileError, match=r"'recipe.Odd': a recipe that is in no table"):
        recipes_source(["recipe.Odd"])


def test_a_case_of_an_oracle_without_a_script_is_refused() -> None:
    with pytest.raises(CaseFileError, match="'value' of the oracle 'divination', should be of"):
        script(case(SINH, "value", oracle="divination"))
    with pytest.raises(CaseFileError, match="has no bounds of the derivative"):
        script(case(SINH, "value", replace(EVIDENCE, low=None)))


@pytest.mark.parametrize(
    "array",
    [
        np.array(0.1),
        np.array([[1, 2]], "int32"),
        np.zeros((0, 2), "float32"),
        np.array([np.nan, -np.inf, -0.0]),
        np.array([True, False]),
        np.array([1 + 2j, complex(0, -np.inf)]),
        np.array([0.1, 3e-45], "float32"),
    ],
    ids=str,
)
def test_an_array_comes_back_exactly(array: np.ndarray) -> None:
    found = eval(array_source(array), {"np": np})
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


def test_arguments_are_written_as_python() -> None:
    def name(ref: Ref) -> str:
        return f"v{ref.node}[{ref.output}]"

    assert arg_source([Ref(0, 1), True, "SAME", float("inf")], name) == (
        "[v0[1], True, 'SAME', np.inf]"
    )
    assert arg_source(ints(1, 2), name) == 'tf.constant(np.array([1, 2], "int32"))'


def test_public_functions_are_called_by_their_name() -> None:
    graph = Graph((Leaf(np.array([3.0, 4.0])), Call("tf.norm", {"tensor": Ref(0)})), (Ref(1),))
    source = script(case(graph, "missing"))
    assert "v1 = tf.norm(tensor=v0)" in source


# On the command line.


def test_the_command_prints_the_script() -> None:
    done = CliRunner().invoke(app, ["repro", str(ALONE[0])])
    assert (done.exit_code, done.stdout) == (0, script(load(ALONE[0])))


@pytest.mark.parametrize(("low", "told"), [(1.0, True), (None, False)])
def test_an_issue_calls_a_point_smooth_where_bounds_say_so(low: float | None, told: bool) -> None:  # noqa: FBT001
    found = case(SINH, "raises-ValueError", replace(EVIDENCE, low=low, high=low), "always")
    said = issue(found, Replayed(BESSEL, Status.STILL_FAILS, "wrong"))
    assert ("The point is no kink" in said) == told
    assert "Difference quotients of output 1 by element 1 of leaf 0 (%0):" in said


def test_the_issue_has_all_that_upstream_asks_for() -> None:
    done = CliRunner().invoke(app, ["repro", "--markdown", str(BESSEL)])
    assert done.exit_code == 0
    headings = ("# Gradient of tf.raw_ops.", "## Script", "## Expected", "## Observed", "## Evid")
    contents = ("```python", "The point is no kink", "- tensorflow ")
    votes = ("- reverse: 1", "- numeric: 0.5 ± ")
    for part in (*headings, *contents, *votes):
        assert part in done.stdout


def test_a_broken_case_is_refused_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    done = CliRunner().invoke(app, ["repro", str(broken)])
    assert done.exit_code == 2
    odd = Corpus(tmp_path).save(case(SINH, "value", oracle="divination"))
    done = CliRunner().invoke(app, ["repro", str(odd)])
    assert done.exit_code == 2
    assert "Traceback" not in done.output
