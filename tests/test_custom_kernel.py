"""A C++ op that `tf.load_op_library` loads is fuzzed, and its wrong gradient found."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gradfuzz.cli.app import app
from gradfuzz.runtime import tf

KERNEL = """
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("GradfuzzDouble").Input("x: double").Output("y: double")
    .SetShapeFn(shape_inference::UnchangedShape);

class DoubleOp : public OpKernel {
 public:
  explicit DoubleOp(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.NumElements(); ++i) y->flat<double>()(i) = 2 * x.flat<double>()(i);
  }
};

REGISTER_KERNEL_BUILDER(Name("GradfuzzDouble").Device(DEVICE_CPU), DoubleOp);
"""

MODULE = """
import tensorflow as tf
from gradfuzz.strategies import Catalogue, Real, op

library = tf.load_op_library({library!r})


@tf.RegisterGradient("GradfuzzDouble")
def _gradient(op, upstream):
    return 3 * upstream


def double(x):
    return library.gradfuzz_double(x=x)


CATALOGUE = Catalogue((op(double, x=Real("*s")),))
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="no g++ here")
def test_the_wrong_gradient_of_a_kernel_of_ones_own_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, library = tmp_path / "double.cc", tmp_path / "double.so"
    source.write_text(KERNEL)
    flags = [*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]
    subprocess.run(
        ["g++", "-shared", "-fPIC", "-O1", "-w", source, "-o", library, *flags],
        check=True,
        timeout=250,
    )
    module = tmp_path / "my_kernels.py"
    module.write_text(MODULE.format(library=str(library)))
    monkeypatch.setenv("GRADFUZZ_OPS_FROM", "")
    done = CliRunner().invoke(
        app, ["fuzz", "--ops-from", str(module), "--ops", "my_kernels.double", "--budget", "10s",
              "--oracles", "numeric", "--seed", "1", "--corpus", str(tmp_path / "corpus")]
    )  # fmt: skip
    assert done.exit_code == 1, done.output
    [case] = (tmp_path / "corpus").glob("*.json")
    bucket = json.loads(case.read_text())["bucket"]
    assert (bucket["op"], bucket["kind"]) == ("my_kernels.double", "value")
