"""Ops whose gradient is declared to be another function's: quantisers and samplers.

That function stands with the op in `strategies/recipes`.
"""

import numpy as np

from gradfuzz.strategies.arguments import (
    FLAG,
    TRUE,
    Integers,
    OneOf,
    Real,
    ValueOf,
    ValuesOf,
    const,
)
from gradfuzz.strategies.domains import LOWER_BOUND, NEAR_BOUNDS, POSITIVE, UPPER_BOUND
from gradfuzz.strategies.entry import Entry, op

SINGLE = "float32"
BITS = OneOf((8, 4, 2))
ROUND_MODE = OneOf(("HALF_TO_EVEN", "HALF_UP"))
LOW, HIGH = const(np.array(-1.0625)), const(np.array(1.0625))

OPS: tuple[Entry, ...] = (
    # Quantisers.
    op(
        "FakeQuantWithMinMaxArgs",
        inputs=Real("*s", NEAR_BOUNDS, SINGLE),
        min=OneOf((-1.0625, -6.0)),
        max=OneOf((1.0625, 6.0)),
        num_bits=BITS,
        narrow_range=FLAG,
    ),
    op(
        "FakeQuantWithMinMaxVars",
        inputs=Real("*s", NEAR_BOUNDS, SINGLE),
        min=Real("", LOWER_BOUND, SINGLE, strict=True),
        max=Real("", UPPER_BOUND, SINGLE, strict=True),
        num_bits=BITS,
        narrow_range=FLAG,
    ),
    op(
        "FakeQuantWithMinMaxVarsPerChannel",
        inputs=Real("*s d", NEAR_BOUNDS, SINGLE),
        min=Real("d", LOWER_BOUND, SINGLE, strict=True),
        max=Real("d", UPPER_BOUND, SINGLE, strict=True),
        num_bits=BITS,
        narrow_range=FLAG,
    ),
    op(
        "QuantizeAndDequantizeV2",
        input=Real("*s"),
        input_min=LOW,
        input_max=HIGH,
        num_bits=BITS,
        range_given=FLAG,
        round_mode=ROUND_MODE,
        narrow_range=FLAG,
    ),
    op(
        "QuantizeAndDequantizeV3",
        input=Real("n *s"),
        input_min=LOW,
        input_max=HIGH,
        num_bits=Integers("", 2, 8),
        range_given=FLAG,
        narrow_range=FLAG,
    ),
    op(
        "QuantizeAndDequantizeV4",
        input=Real("*s", NEAR_BOUNDS),
        input_min=LOW,
        input_max=HIGH,
        num_bits=BITS,
        range_given=TRUE,
        round_mode=ROUND_MODE,
        narrow_range=FLAG,
        axis=const(-1),
    ),
    # Samplers.
    *(
        op(
            f"recipe.{name}",
            shape=Integers("1", 1, 2),
            alpha=Real("*s", POSITIVE, strict=True),
            at=ValueOf("alpha"),
        )
        for name in ("RandomGamma", "StatelessRandomGammaV2", "StatelessRandomGammaV3")
    ),
    op(
        "recipe.StatelessParameterizedTruncatedNormal",
        shape=Integers("1", 1, 2),
        means=Real("n"),
        stddevs=Real("n", POSITIVE, strict=True),
        minvals=Real("n", LOWER_BOUND, strict=True),
        maxvals=Real("n", UPPER_BOUND, strict=True),
        at=ValuesOf("means stddevs minvals maxvals"),
    ),
)
