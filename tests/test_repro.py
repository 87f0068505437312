"""The script of a case says, without gradfuzz, what replay says with it."""

import contextlib
import io
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gradfuzz.answer import ask_here
from gradfuzz.casefile import Case
from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.check import check
from gradfuzz.cli.app import app
from gradfuzz.corpus import Corpus
from gradfuzz.errors import CaseFileError
from gradfuzz.expect import Expect
from gradfuzz.finding import Bucket, Evidence, Finding
from gradfuzz.graph import Call, Graph, Leaf, Ref
from gradfuzz.replay import Status, replay_one
from gradfuzz.repro.literals import arg_source, array_source
from gradfuzz.repro.script import script
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


def is_stand_alone(path: Path) -> bool:
    """Whether TensorFlow alone can run a case: not where it has a recipe or a variable."""
    nodes = load(path).finding.graph.nodes
    return not any(
        node.variable if isinstance(node, Leaf) else node.op.startswith("recipe.") for node in nodes
    )


def run_here(source: str) -> tuple[int, str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "script", "exec"), {"__name__": "__main__"})
        except SystemExit as ended:
            return int(ended.code or 0), printed.getvalue()
    return 0, printed.getvalue()


# What no script shows yet: what ends the process, second derivatives to the last digit, a batch
# of nothing, and what is wrong along a random direction alone.
WITHOUT = (
    "-dies-",
    "second-value",
    "second-non-finite",
    "batch-jacobian",
    "ForwardAccumulator-fwd-fwd-value",
)


def has_no_script(path: Path) -> bool:
    return any(part in path.stem for part in WITHOUT)


@pytest.mark.parametrize(
    "path", [path for path in FILES if has_no_script(path)], ids=lambda path: path.stem
)
def test_what_no_script_shows_is_refused_in_one_line(path: Path) -> None:
    with pytest.raises(CaseFileError, match=r"^[^\n]*should[^\n]*$"):
        script(load(path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in FILES if is_stand_alone(path) and not has_no_script(path)],
    ids=lambda path: path.stem,
)
def test_the_script_of_each_case_agrees_with_replay(path: Path) -> None:
    status = replay_one(path, OPS, ask_here).status
    code, printed = run_here(script(load(path)))
    # Memory that was never written holds by chance what it should, now and then.
    if "unrepeatable" not in path.stem:
        assert code == (SHOWS if status is Status.STILL_FAILS else GONE), printed
    assert "expected" in printed
    assert "observed" in printed


@pytest.mark.slow
@pytest.mark.parametrize("path", [BESSEL, *ALONE], ids=lambda path: path.stem)
def test_a_script_runs_by_itself_without_gradfuzz(path: Path, tmp_path: Path) -> None:
    source = script(load(path))
    assert "import gradfuzz" not in source
    file = tmp_path / "bug.py"
    file.write_text(source)
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, check=False, timeout=120
    )
    fails = load(path).expect.on(tf.__version__) is Expect.FAILS
    assert done.returncode == (SHOWS if fails else GONE), done.stderr
    assert "observed" in done.stdout


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


@pytest.mark.parametrize(
    ("oracle", "kind"),
    [("forward", "value"), ("forward", "lost"), ("forward", "raises-ValueError"),
     ("compiled", "graph-value"), ("compiled", "unknown-dims-raises-TypeError"),
     ("compiled", "unknown-rank-value"), ("compiled", "xla-value"), ("compiled", "xla-output"),
     ("batched", "jacobian-value")],
)  # fmt: skip
def test_the_other_ways_agree_where_nothing_is_wrong(oracle: str, kind: str) -> None:
    code, printed = run_here(script(case(SINH, kind, oracle=oracle)))
    assert code == GONE, printed


@pytest.mark.parametrize(
    ("oracle", "kind"),
    [("forward", "value"), ("compiled", "unknown-rank-value"), ("batched", "jacobian-value")],
)
def test_a_wrong_gradient_shows_in_the_other_ways(oracle: str, kind: str) -> None:
    with planted_gradient("Sinh", WRONG["value"]):
        code, printed = run_here(script(case(SINH, kind, oracle=oracle)))
    assert code == SHOWS, printed


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


@pytest.mark.parametrize(
    ("leaf", "op", "message"),
    [
        (Leaf(np.zeros(1)), "recipe.TensorListStack", r"nodes\[1\].op: .*a recipe"),
        (Leaf(np.zeros(1), variable=True), "Sinh", r"nodes\[0\]: a variable"),
    ],
)
def test_what_tensorflow_alone_cannot_run_has_no_script(leaf: Leaf, op: str, message: str) -> None:
    graph = Graph((leaf, Call(op, {"tensor": Ref(0)})), (Ref(1),))
    with pytest.raises(CaseFileError, match=message):
        script(case(graph, "value"))


def test_a_case_of_an_oracle_without_a_script_is_refused() -> None:
    with pytest.raises(CaseFileError, match="'value' of the oracle 'divination', of which there"):
        script(case(SINH, "value", oracle="divination"))
    with pytest.raises(CaseFileError, match="names no element"):
        script(case(SINH, "value", Evidence("wrong")))


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
    odd = Corpus(tmp_path).save(replace(case(SINH, "value", Evidence("wrong"))))
    done = CliRunner().invoke(app, ["repro", str(odd)])
    assert done.exit_code == 2
    assert "Traceback" not in done.output
