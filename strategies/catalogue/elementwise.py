"""Ops applied to each element on its own, and the elementwise gradients among the ops."""

import numpy as np

from gradfuzz.strategies.arguments import Constant, Integers, OneOf, Real, Reals, const
from gradfuzz.strategies.domains import (
    ABOVE_MINUS_ONE,
    ABOVE_ONE,
    BESIDE,
    INSIDE_ONE,
    LOWER_BOUND,
    NEAR_BOUNDS,
    NONZERO,
    OFF_GRID,
    OFF_SATURATION,
    POSITIVE,
    UPPER_BOUND,
    WHOLE,
)
from gradfuzz.strategies.entry import Entry, op

ALPHA = OneOf((0.2, 0.0, 1.0, 2.0, -0.5))

OPS: tuple[Entry, ...] = (
    # One argument, smooth everywhere.
    op("Neg", x=Real("*s")),
    op("Exp", x=Real("*s")),
    op("Expm1", x=Real("*s")),
    op("Sin", x=Real("*s")),
    op("Cos", x=Real("*s")),
    op("Tan", x=Real("*s")),
    op("Atan", x=Real("*s")),
    op("Sinh", x=Real("*s")),
    op("Cosh", x=Real("*s")),
    op("Tanh", x=Real("*s")),
    op("Asinh", x=Real("*s")),
    op("Square", x=Real("*s")),
    op("Erf", x=Real("*s")),
    op("Erfc", x=Real("*s")),
    op("Sigmoid", x=Real("*s")),
    op("Softplus", features=Real("*s")),
    # One argument, smooth in a domain.
    op("Log", x=Real("*s", POSITIVE)),
    op("Log1p", x=Real("*s", ABOVE_MINUS_ONE)),
    op("Sqrt", x=Real("*s", POSITIVE)),
    op("Rsqrt", x=Real("*s", POSITIVE)),
    op("Asin", x=Real("*s", INSIDE_ONE)),
    op("Acos", x=Real("*s", INSIDE_ONE)),
    op("Atanh", x=Real("*s", INSIDE_ONE)),
    op("Acosh", x=Real("*s", ABOVE_ONE)),
    op("Erfinv", x=Real("*s", INSIDE_ONE)),
    op("Reciprocal", x=Real("*s", NONZERO)),
    op("Inv", x=Real("*s", NONZERO)),
    # One argument, with a kink or steps.
    op("Abs", x=Real("*s", NONZERO)),
    op("Sign", x=Real("*s", NONZERO)),
    op("Softsign", features=Real("*s", NONZERO)),
    op("Relu", features=Real("*s", NONZERO)),
    op("Relu6", features=Real("*s", OFF_SATURATION)),
    op("LeakyRelu", features=Real("*s", NONZERO), alpha=ALPHA),
    op("Elu", features=Real("*s", NONZERO)),
    op("Selu", features=Real("*s", NONZERO)),
    op("Floor", x=Real("*s", OFF_GRID)),
    op("Ceil", x=Real("*s", OFF_GRID)),
    op("Round", x=Real("*s", OFF_GRID)),
    op("Rint", x=Real("*s", OFF_GRID)),
    # Two arguments, which broadcast.
    op("Add", x=Real("*#s"), y=Real("*#s")),
    op("AddV2", x=Real("*#s"), y=Real("*#s")),
    op("Sub", x=Real("*#s"), y=Real("*#s")),
    op("Mul", x=Real("*#s"), y=Real("*#s")),
    op("MulNoNan", x=Real("*#s"), y=Real("*#s")),
    op("SquaredDifference", x=Real("*#s"), y=Real("*#s")),
    op("Div", x=Real("*#s"), y=Real("*#s", NONZERO)),
    op("RealDiv", x=Real("*#s"), y=Real("*#s", NONZERO)),
    op("DivNoNan", x=Real("*#s"), y=Real("*#s", NONZERO)),
    op("Xdivy", x=Real("*#s"), y=Real("*#s", NONZERO)),
    op("Xlogy", x=Real("*#s"), y=Real("*#s", POSITIVE)),
    op("Xlog1py", x=Real("*#s"), y=Real("*#s", ABOVE_MINUS_ONE)),
    op("Pow", x=Real("*#s", POSITIVE), y=Real("*#s")),
    op("Pow", x=Real("*#s", NONZERO), y=Integers("*#s", -2, 3, dtype="float64")),
    op("Atan2", y=Real("*#s", NONZERO), x=Real("*#s")),
    op("Maximum", x=Real("*#s"), y=Real("*#s", BESIDE)),
    op("Minimum", x=Real("*#s"), y=Real("*#s", BESIDE)),
    op("NextAfter", x1=Real("*#s"), x2=Real("*#s", BESIDE)),
    op("FloorDiv", x=Real("*#s", OFF_GRID), y=Real("*#s", WHOLE)),
    op("TruncateDiv", x=Real("*#s", OFF_GRID), y=Real("*#s", WHOLE)),
    op("FloorMod", x=Real("*#s", OFF_GRID), y=Real("*#s", WHOLE)),
    # With one of them constant, a scalar or not.
    *(
        entry
        for name in ("Add", "AddV2", "Sub", "Maximum", "Minimum", "SquaredDifference")
        for entry in (
            op(name, x=Real("*s"), y=Constant("")),
            op(name, x=Real("*#s"), y=Constant("*#s")),
            op(name, x=Constant("*#s"), y=Real("*#s")),
        )
    ),
    op("Pow", x=Real("*s", POSITIVE), y=Constant("")),
    op("Pow", x=OneOf((np.array(2.0), np.array(0.5))), y=Real("*s")),
    # Several arguments.
    op("AddN", inputs=Reals("*s")),
    op(
        "ClipByValue",
        t=Real("*s", NEAR_BOUNDS),
        clip_value_min=Real("", LOWER_BOUND, strict=True),
        clip_value_max=Real("", UPPER_BOUND, strict=True),
    ),
    op(
        "ClipByValue",
        t=Real("*s", NEAR_BOUNDS),
        clip_value_min=Real("*s", LOWER_BOUND, strict=True),
        clip_value_max=Real("*s", UPPER_BOUND, strict=True),
    ),
    # Gradients of the above.  (`Entry` where an argument has a name that `op` has a use for.)
    op("InvGrad", y=Real("*s"), dy=Real("*s")),
    op("ReciprocalGrad", y=Real("*s"), dy=Real("*s")),
    op("SqrtGrad", y=Real("*s", NONZERO), dy=Real("*s")),
    op("RsqrtGrad", y=Real("*s"), dy=Real("*s")),
    op("TanhGrad", y=Real("*s"), dy=Real("*s")),
    op("SigmoidGrad", y=Real("*s"), dy=Real("*s")),
    op("SoftplusGrad", gradients=Real("*s"), features=Real("*s")),
    op("ReluGrad", gradients=Real("*s"), features=Real("*s", NONZERO)),
    op("Relu6Grad", gradients=Real("*s"), features=Real("*s", OFF_SATURATION)),
    op("LeakyReluGrad", gradients=Real("*s"), features=Real("*s", NONZERO), alpha=ALPHA),
    Entry("EluGrad", {"gradients": Real("*s"), "outputs": Real("*s", NONZERO)}),
    Entry("SeluGrad", {"gradients": Real("*s"), "outputs": Real("*s", NONZERO)}),
    op(
        "QuantizeAndDequantizeV4Grad",  # a mask: the gradients where the input is within bounds
        gradients=Real("*s"),
        input=Real("*s", NEAR_BOUNDS),
        input_min=const(np.array(-1.0625)),
        input_max=const(np.array(1.0625)),
        outputs=(0,),
    ),
)
