"""What a measuring run counts: cases, gradient functions that ran, and lines of theirs."""

import inspect
import json
import time

import pytest

from gradfuzz.cli.ops import Measurement
from gradfuzz.cli.ops import ops as show_ops
from gradfuzz.cli.tally import Tally
from gradfuzz.crew import Alone, Workers
from gradfuzz.errors import UsageError
from gradfuzz.gradient_lines import gradient_files, lines_of, name_of, recording_lines
from gradfuzz.gradients_run import recording
from gradfuzz.limits import Limits
from gradfuzz.measure import measure
from gradfuzz.runtime import op_def_registry, ops, tf
from gradfuzz.strategies.arguments import Real
from gradfuzz.strategies.catalogue.excluded import EXCLUDED_FUNCTIONS
from gradfuzz.strategies.entry import op
from gradfuzz.strategies.graphs import Catalogue
from tests.planted import planted_gradient

SMALL = Catalogue(
    (
        op("Neg", x=Real("*s")),
        op("MatMul", a=Real("m k"), b=Real("k n")),
        op("Cross", a=Real("2"), b=Real("2")),  # which it refuses
        op("NegV9", x=Real("*s")),
    ),
    {"Log": "is tested elsewhere"},
)
OPS = {name: SMALL for name in SMALL.ops if name != "NegV9"}
NUMERIC = {"numeric": 1.0}


def measured(ops, seconds):
    tally = Tally(frozenset())
    crew = Alone(ops, time.monotonic)
    with recording() as ran:
        measure(ops, seconds, 0, tally.count, crew, weights=NUMERIC)
    return tally, ran


def test_each_op_has_cases_and_its_gradient_runs():
    tally, ran = measured(OPS, 4.0)
    assert {"Neg", "MatMul"} <= ran
    assert all(tally.ops[name].cases for name in OPS if name != "Cross")
    assert "Cross" not in ran
    assert tally.ops["Cross"].cases == 0
    assert tally.ops["Cross"].rejected > 0
    assert tally.ops["Neg"].rejected == 0


def test_findings_are_counted_and_none_is_saved():
    with planted_gradient("Neg", lambda right, op, u: 2 * right(op, u)):
        tally, _ = measured({"Neg": SMALL}, 2.0)
    assert sum(tally.hits.values()) > 1
    assert tally.new == {}


def test_a_process_that_dies_is_counted_and_others_go_on(tmp_path):
    tally = Tally(frozenset())
    crew = Workers.of(1, tmp_path, ("tests.deadly:CATALOGUE",), Limits(), lines=True)
    measure(["tf.deadly.segfaults", "Neg"], 10.0, 0, tally.count, crew, weights=NUMERIC)
    assert tally.deaths["dies-SIGSEGV"] > 0
    assert tally.ops["Neg"].cases > 0
    assert "Neg" in tally.gradients
    assert any(name == "ops/math_grad.py" for name, _ in tally.lines)


def shown(capsys, measurement=None):
    assert show_ops(as_json=True, missing=False, measurement=measurement) == 0
    return json.loads(capsys.readouterr().out)


def test_ops_shows_what_was_measured(capsys):
    names = ["Neg,recipe.TensorListStack", "tf.nn.silu"]
    found = shown(capsys, Measurement(6.0, names, ["numeric"], workers=1, lines=True))
    rows = {row["op"]: row for row in found["ops"]}
    assert rows["Neg"]["cases"] > 0
    assert rows["Neg"]["ran"] is True
    assert rows["tf.nn.silu"]["ran"] is None
    assert rows["recipe.TensorListStack"]["gradient"] is True
    assert rows["MatMul"]["cases"] == 0
    assert found["counts"]["ran"] >= 3
    # Others run in the calls around.
    assert "Neg" not in found["not_run"]
    assert len(found["not_run"]) > 100
    assert "Neg" not in found["not_run"]
    assert 0 < found["lines"]["ran"] < found["lines"]["count"] - found["lines"]["left_out"]
    assert "_MatMulGrad" in found["lines"]["files"]["ops/math_grad.py"]["missing"]
    assert "_NegGrad" not in found["lines"]["files"]["ops/math_grad.py"]["missing"]


def test_ops_shows_what_did_not_run(capsys):
    measurement = Measurement(3.0, ["Neg"], ["numeric"], workers=1, lines=True)
    assert show_ops(as_json=False, missing=True, measurement=measurement) == 0
    text = capsys.readouterr().out
    assert "Covered, and did not run" in text
    assert "Gradient functions run: " in text
    assert "ops/math_grad.py _MatMulGrad: " in text
    assert "ops/nccl_ops.py" not in text


def test_ops_without_measuring_counts_nothing(capsys):
    found = shown(capsys)
    assert {row["cases"] for row in found["ops"]} == {None}
    assert "ran" not in found["counts"]
    assert "lines" not in found


def test_an_op_that_is_to_be_measured_must_be_known():
    with pytest.raises(UsageError, match="not in the catalogue"):
        show_ops(as_json=True, missing=False, measurement=Measurement(1.0, ["Ngg"]))


# Lines.


def test_the_lines_of_a_gradient_are_those_inside_its_function():
    with recording_lines() as recorder, tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        tape.gradient(tf.raw_ops.Tan(x=x), x)
        some, again = recorder.new(), recorder.new()
    assert again == frozenset()
    none, found = lines_of((), {}, {}), lines_of(some, {}, {})
    assert none.ran == 0
    assert none.count == found.count > 2000
    [math] = [file for file in found.files if file.name == "ops/math_grad.py"]
    assert 0 < len(math.ran) < 20
    assert "_TanGrad" not in math.missing_by_function
    assert {name_of(path) for path in gradient_files()} >= {file.name for file in found.files}


def test_the_gradient_of_ops_that_are_left_out_is_left_out_unless_it_ran():
    tan = {"Tan": "is tested elsewhere"}
    bare, without = lines_of((), {}, {}), lines_of((), tan, {})
    assert without.count == bare.count
    assert 0 < without.left_out < 20
    [math] = [file for file in without.files if file.name == "ops/math_grad.py"]
    assert set(math.left_out.values()) == {"the gradient of what is tested elsewhere"}
    ran = [(math.name, line) for line in math.left_out]
    assert lines_of(ran, tan, {}).left_out == 0


def test_a_function_of_several_ops_is_left_out_with_all_of_them():
    [some, both] = [lines_of((), dict.fromkeys(ops, "is not"), {}).left_out
                    for ops in (["Add"], ["Add", "AddV2"])]  # fmt: skip
    assert some == 0 < both


def test_what_cannot_run_is_left_out_by_name():
    found = lines_of((), {}, {"ops/math_grad.py:_TanGrad": "is tested elsewhere"})
    assert 0 < found.left_out < 20


# What is left out.


@pytest.mark.parametrize("name", EXCLUDED_FUNCTIONS)
def test_a_function_that_is_left_out_is_there(name):
    found = lines_of((), {}, {name: "is not"})
    assert found.left_out > 0 or not tf.__version__.startswith("2.21.")


@pytest.mark.parametrize("op", ["SparseSparseMaximum", "SparseSparseMinimum"])
def test_a_function_that_is_given_too_much_cannot_run(op):
    gradient = ops.gradient_registry.lookup(op)
    given = 1 + len(op_def_registry.get(op).output_arg)
    runs = len(inspect.signature(gradient).parameters) == given
    assert runs or f"ops/sparse_grad.py:{gradient.__name__}" in EXCLUDED_FUNCTIONS
    assert not (runs and tf.__version__.startswith("2.21."))
