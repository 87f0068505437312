"""Neural-network ops: convolutions, pools, normalisations and losses."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import (
    FALSE,
    FLAG,
    TRUE,
    AxisAfter,
    Drawn,
    FromSizes,
    Index,
    Integers,
    OneOf,
    Real,
    const,
)
from gradfuzz.strategies.domains import (
    ABOVE_ONE,
    DISTINCT,
    FRACTIONS,
    NONZERO,
    POSITIVE,
    POWERS,
)
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.shapes import Dims
from gradfuzz.strategies.size_arguments import NewShape, WithSize, up_to
from gradfuzz.strategies.window_arguments import (
    Filled,
    Padding,
    Paddings,
    Sides,
    Slid,
    Steps,
    Windowed,
)

PADDING = Padding()
EXPLICIT = const("EXPLICIT")
STRIDES = Steps("1 sh sw 1")
EQUAL_STRIDES = Steps("1 sh sw 1", equal=True)
DILATIONS = Steps("1 dh dw 1")
STRIDES_3D = Steps("1 sd sh sw 1")
WINDOW = Windowed(Steps("1 kh kw 1"), "h w", overhang=True)
WINDOW_3D = Windowed(Steps("1 kd kh kw 1"), "d h w", overhang=True)
# The kernel of MaxPool3D leaves no output empty.
WINDOW_INSIDE_3D = Windowed(Steps("1 kd kh kw 1"), "d h w")
# Where an axis is empty, some of these convolutions are the end of the process: workers take it.
IMAGE = Real("n h w c")
IMAGE_SIZES = NewShape("n h w c")
IMAGE_3D = Sides(0, 3, Real("n d h w c"))
IMAGE_SIZES_3D = Sides(0, 3, NewShape("n d h w c"))
FILTER = Windowed(Real("kh kw c o"), "h w", overhang=True)
FILTER_3D = Windowed(Real("kd kh kw c o"), "d h w", overhang=True)
FILTER_SIZES = Windowed(NewShape("kh kw c o"), "h w", overhang=True)
FILTER_SIZES_3D = Windowed(NewShape("kd kh kw c o"), "d h w", overhang=True)
DEPTHWISE_FILTER = Windowed(Real("kh kw c m"), "h w", overhang=True)
OUTPUT = Slid(Real("n oh ow o"), "h w")
OUTPUT_3D = Slid(Real("n od oh ow o"), "d h w")
# Pools in three dimensions, LRN and fused batch norm have float32 at best; the CTC loss
# computes in it.
SINGLE = "float32"
NO_STATISTICS = const(np.zeros(0, np.float32))
EPSILON = OneOf((0.001, 0.5))
OF_THE_BATCH: dict[str, Any] = {"mean": NO_STATISTICS, "variance": NO_STATISTICS}
GIVEN: dict[str, Any] = {
    "mean": Real("c", dtype=SINGLE),
    "variance": Real("c", POSITIVE, SINGLE),
    "is_training": FALSE,
}


def _ratios(dims: Dims) -> st.SearchStrategy[list[float]]:
    """Draw what fractional pooling divides height and width by: no more than they are."""

    def ratio(size: int) -> st.SearchStrategy[float]:
        return st.sampled_from([r for r in (1.0, 1.44, 1.73, 2.0) if r <= max(1, size)])

    return st.builds(lambda h, w: [1.0, h, w, 1.0], ratio(dims.size("h")), ratio(dims.size("w")))


def _axes(dims: Dims) -> st.SearchStrategy[list[int]]:
    """Draw a set of axes of the run `s`, as a list."""
    flags = st.tuples(*(st.booleans() for _ in dims.runs["s"]))
    return flags.map(lambda kept: [axis for axis, keep in enumerate(kept) if keep])


def _label_places(count: int) -> FromSizes:
    """Return the indices of a sparse tensor that holds `count` labels for each batch element."""
    return FromSizes(
        lambda dims: np.array(
            [(b, i) for b in range(dims.size("b")) for i in range(count)], np.int64
        ).reshape(-1, 2)
    )


def _read_by_gates(dims: Dims) -> int:
    """Return how many numbers a gate of a recurrent cell reads: its input and its own output."""
    return dims.size("i") + dims.size("u")


def _integer_vector(size: int, low: int, high: int) -> st.SearchStrategy[Array]:
    elements = st.integers(low, high)
    return st.lists(elements, min_size=size, max_size=size).map(lambda v: np.array(v, np.int32))


OPS: tuple[Entry, ...] = (
    # Convolutions.
    op("Conv2D", strides=STRIDES, padding=PADDING, input=IMAGE, filter=FILTER),
    op(
        "Conv2D",
        strides=STRIDES,
        padding=PADDING,
        dilations=DILATIONS,
        input=IMAGE,
        filter=FILTER,
    ),
    op(
        "Conv2D",
        strides=STRIDES,
        padding=EXPLICIT,
        explicit_paddings=Paddings("h w"),
        input=IMAGE,
        filter=FILTER,
    ),
    op(
        "Conv2D",  # in two groups of channels
        strides=STRIDES,
        padding=PADDING,
        input=Real("n h w 4"),
        filter=Windowed(Real("kh kw 2 2"), "h w", overhang=True),
    ),
    op(
        "Conv2DBackpropInput",
        strides=STRIDES,
        padding=PADDING,
        input_sizes=IMAGE_SIZES,
        filter=FILTER,
        out_backprop=OUTPUT,
    ),
    op(
        "Conv2DBackpropInput",
        strides=STRIDES,
        padding=EXPLICIT,
        explicit_paddings=Paddings("h w"),
        input_sizes=IMAGE_SIZES,
        filter=FILTER,
        out_backprop=OUTPUT,
    ),
    op(
        "Conv2DBackpropFilter",
        strides=STRIDES,
        padding=PADDING,
        input=IMAGE,
        filter_sizes=FILTER_SIZES,
        out_backprop=OUTPUT,
    ),
    op(
        "Conv2DBackpropFilter",
        strides=STRIDES,
        padding=EXPLICIT,
        explicit_paddings=Paddings("h w"),
        input=IMAGE,
        filter_sizes=FILTER_SIZES,
        out_backprop=OUTPUT,
    ),
    op(
        "Conv3D",
        strides=STRIDES_3D,
        padding=PADDING,
        input=IMAGE_3D,
        filter=FILTER_3D,
    ),
    op(
        "Conv3DBackpropInputV2",
        strides=STRIDES_3D,
        padding=PADDING,
        input_sizes=IMAGE_SIZES_3D,
        filter=FILTER_3D,
        out_backprop=OUTPUT_3D,
    ),
    op(
        "Conv3DBackpropFilterV2",
        strides=STRIDES_3D,
        padding=PADDING,
        input=IMAGE_3D,
        filter_sizes=FILTER_SIZES_3D,
        out_backprop=OUTPUT_3D,
    ),
    op(
        "DepthwiseConv2dNative",
        strides=EQUAL_STRIDES,
        padding=PADDING,
        input=Real("n h w c"),
        filter=DEPTHWISE_FILTER,
    ),
    op(
        "DepthwiseConv2dNative",
        strides=EQUAL_STRIDES,
        padding=EXPLICIT,
        explicit_paddings=Paddings("h w"),
        input=Real("n h w c"),
        filter=DEPTHWISE_FILTER,
    ),
    op(
        "DepthwiseConv2dNativeBackpropInput",  # one channel, and two with two filters each
        strides=EQUAL_STRIDES,
        padding=PADDING,
        input_sizes=NewShape("n h w 1"),
        filter=Windowed(Real("kh kw 1 m"), "h w", overhang=True),
        out_backprop=Slid(Real("n oh ow m"), "h w"),
    ),
    op(
        "DepthwiseConv2dNativeBackpropInput",
        strides=EQUAL_STRIDES,
        padding=PADDING,
        input_sizes=NewShape("n h w 2"),
        filter=Windowed(Real("kh kw 2 2"), "h w", overhang=True),
        out_backprop=Slid(Real("n oh ow 4"), "h w"),
    ),
    op(
        "DepthwiseConv2dNativeBackpropFilter",
        strides=EQUAL_STRIDES,
        padding=PADDING,
        input=Real("n h w 1"),
        filter_sizes=Windowed(NewShape("kh kw 1 m"), "h w", overhang=True),
        out_backprop=Slid(Real("n oh ow m"), "h w"),
    ),
    op(
        "DepthwiseConv2dNativeBackpropFilter",
        strides=EQUAL_STRIDES,
        padding=PADDING,
        input=Real("n h w 2"),
        filter_sizes=Windowed(NewShape("kh kw 2 2"), "h w", overhang=True),
        out_backprop=Slid(Real("n oh ow 4"), "h w"),
    ),
    op(
        "Dilation2D",
        strides=STRIDES,
        rates=DILATIONS,
        padding=PADDING,
        input=Real("n h w c", DISTINCT),
        filter=Windowed(Real("kh kw c", FRACTIONS), "h w", overhang=True),
    ),
    # Pools.
    op("AvgPool", strides=STRIDES, padding=PADDING, value=Real("n h w c"), ksize=WINDOW),
    op("MaxPool", strides=STRIDES, padding=PADDING, input=Real("n h w c", DISTINCT), ksize=WINDOW),
    op(
        "MaxPool",  # over channels
        strides=const([1, 1, 1, 2]),
        padding=const("VALID"),
        input=Real("n h w 4", DISTINCT),
        ksize=const([1, 1, 1, 2]),
    ),
    op(
        "MaxPoolV2",
        strides=STRIDES,
        padding=PADDING,
        input=Real("n h w c", DISTINCT),
        ksize=WINDOW,
    ),
    op(
        "MaxPoolWithArgmax",
        strides=STRIDES,
        padding=PADDING,
        input=Filled("n h w c", Real("n h w c", DISTINCT)),
        ksize=WINDOW,
        include_batch_in_index=FLAG,
        outputs=(0,),
    ),
    op(
        "AvgPool3D",
        strides=STRIDES_3D,
        padding=PADDING,
        input=Sides(0, 3, Real("n d h w c", dtype=SINGLE)),
        ksize=WINDOW_3D,
    ),
    op(
        "MaxPool3D",
        strides=STRIDES_3D,
        padding=PADDING,
        input=Sides(0, 3, Real("n d h w c", DISTINCT, SINGLE)),
        ksize=WINDOW_INSIDE_3D,
    ),
    op(
        "AvgPoolGrad",
        strides=STRIDES,
        padding=PADDING,
        orig_input_shape=NewShape("n h w c"),
        ksize=WINDOW,
        grad=Slid(Real("n oh ow c"), "h w"),
    ),
    op(
        "AvgPool3DGrad",
        strides=STRIDES_3D,
        padding=PADDING,
        orig_input_shape=Sides(0, 3, NewShape("n d h w c")),
        ksize=WINDOW_3D,
        grad=Slid(Real("n od oh ow c", dtype=SINGLE), "d h w"),
    ),
    *(
        op(
            name,
            value=Filled("n h w c", Real("n h w c", DISTINCT)),
            pooling_ratio=Drawn(_ratios),
            pseudo_random=FLAG,
            overlapping=FLAG,
            deterministic=TRUE,
            seed=const(1),
            seed2=const(1),
            outputs=(0,),
        )
        for name in ("FractionalAvgPool", "FractionalMaxPool")
    ),
    # Biases and activations.
    op("BiasAdd", value=Real("_ *s c"), bias=Real("c")),
    op("BiasAdd", value=Real("_ c *s"), bias=Real("c"), data_format=const("NCHW")),
    op("BiasAddV1", value=Real("_ *s c"), bias=Real("c")),
    op("BiasAddGrad", out_backprop=Real("_ *s c")),
    op("BiasAddGrad", out_backprop=Real("_ c *s"), data_format=const("NCHW")),
    op("Softmax", logits=Real("*b n")),
    op("LogSoftmax", logits=Real("*b n")),
    op("tf.nn.gelu", features=Real("*s"), approximate=FLAG),
    op("tf.nn.silu", features=Real("*s"), beta=Real("")),
    op("tf.nn.crelu", features=Real("*l n *r", NONZERO), axis=AxisAfter("l", before="r")),
    # Normalisations.
    op(
        "LRN",
        input=Real("n h w c", dtype=SINGLE),
        depth_radius=OneOf((5, 1)),
        bias=OneOf((1.0, 2.0)),
        alpha=OneOf((1.0, 0.125)),
        beta=OneOf((0.5, 0.75)),
    ),
    *(
        op(
            name,
            x=Real("n h w c", dtype=SINGLE),
            scale=Real("c", dtype=SINGLE),
            offset=Real("c", dtype=SINGLE),
            mean=NO_STATISTICS,
            variance=NO_STATISTICS,
            epsilon=EPSILON,
            outputs=outputs,
        )
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
        for outputs in ((0,), (0, 1, 2))
    ),
    *(
        op(
            name,
            x=Real("n h w c", dtype=SINGLE),
            scale=Real("c", dtype=SINGLE),
            offset=Real("c", dtype=SINGLE),
            mean=Real("c", dtype=SINGLE),
            variance=Real("c", POSITIVE, SINGLE),
            epsilon=EPSILON,
            is_training=FALSE,
            outputs=(0, 1, 2),
        )
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
    ),
    *(
        op(
            name,  # with channels in front
            x=Real("n c h w", dtype=SINGLE),
            scale=Real("c", dtype=SINGLE),
            offset=Real("c", dtype=SINGLE),
            **statistics,
            data_format=const("NCHW"),
            outputs=(0,),
        )
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
        for statistics in (OF_THE_BATCH, GIVEN)
    ),
    *(
        op(
            "FusedBatchNormV3",  # of volumes
            x=Sides(0, 3, Real(pattern, dtype=SINGLE)),
            scale=Real("c", dtype=SINGLE),
            offset=Real("c", dtype=SINGLE),
            **statistics,
            data_format=const(data_format),
            outputs=(0,),
        )
        for pattern, data_format in (("n c d h w", "NCDHW"), ("n d h w c", "NDHWC"))
        for statistics in (OF_THE_BATCH, GIVEN)
    ),
    *(
        op(
            name,  # with running statistics
            x=Real("n h w c", dtype=SINGLE),
            scale=Real("c", dtype=SINGLE),
            offset=Real("c", dtype=SINGLE),
            mean=Real("c", dtype=SINGLE),
            variance=Real("c", POSITIVE, SINGLE),
            exponential_avg_factor=const(0.25),
            outputs=(0, 1, 2),
        )
        for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
    ),
    op(
        "FusedBatchNormV3",
        x=Sides(0, 3, Real("n d h w c", dtype=SINGLE)),
        scale=Real("c", dtype=SINGLE),
        offset=Real("c", dtype=SINGLE),
        mean=NO_STATISTICS,
        variance=NO_STATISTICS,
        data_format=const("NDHWC"),
        outputs=(0, 1, 2),
    ),
    *(
        op(
            name,
            y_backprop=Real("n h w c", dtype=SINGLE),
            x=Real("n h w c", dtype=SINGLE),
            scale=Real("c", dtype=SINGLE),
            reserve_space_1=Real("c", dtype=SINGLE),
            reserve_space_2=Real("c", POSITIVE, SINGLE),
            is_training=FALSE,
            outputs=(0, 1, 2),
        )
        for name in ("FusedBatchNormGrad", "FusedBatchNormGradV2")
    ),
    op(
        "FusedBatchNormGradV3",
        y_backprop=Real("n h w c", dtype=SINGLE),
        x=Real("n h w c", dtype=SINGLE),
        scale=Real("c", dtype=SINGLE),
        reserve_space_1=Real("c", dtype=SINGLE),
        reserve_space_2=Real("c", POSITIVE, SINGLE),
        reserve_space_3=NO_STATISTICS,
        is_training=FALSE,
        outputs=(0, 1, 2),
    ),
    op(
        "tf.nn.batch_normalization",
        x=Real("*s c"),
        mean=Real("c"),
        variance=Real("c", POSITIVE),
        offset=Real("c"),
        scale=Real("c"),
        variance_epsilon=EPSILON,
    ),
    op("tf.nn.moments", x=Real("*s"), axes=Drawn(_axes), keepdims=FLAG),
    op("tf.nn.l2_normalize", x=Real("*l n *r", NONZERO), axis=AxisAfter("l", before="r")),
    # Recurrent cells, unrolled over t steps.
    *(
        op(
            name,
            x=Sides(0, 2, Real("t b i", dtype=SINGLE)),
            seq_len_max=up_to("t", dtype="int64"),
            h_prev=WithSize(Sides(0, 2, Real("b u", dtype=SINGLE)), "i+u", _read_by_gates),
            cs_prev=WithSize(Real("b u", dtype=SINGLE), "4u", lambda dims: 4 * dims.size("u")),
            w=Real("i+u 4u", dtype=SINGLE),
            wci=Real("u", dtype=SINGLE),
            wcf=Real("u", dtype=SINGLE),
            wco=Real("u", dtype=SINGLE),
            b=Real("4u", dtype=SINGLE),
            cell_clip=OneOf((-1.0, 3.0)),
            use_peephole=FLAG,
            outputs=(1, 6),
        )
        for name in ("BlockLSTM", "BlockLSTMV2")
    ),
    # Losses.
    op("L2Loss", t=Real("*s")),
    op("SoftmaxCrossEntropyWithLogits", features=Real("b n"), labels=Real("b n"), outputs=(0,)),
    op(
        "SparseSoftmaxCrossEntropyWithLogits",
        features=Filled("n", Real("b n")),
        labels=Index("b", below="n"),
        outputs=(0,),
    ),
    op("tf.nn.sigmoid_cross_entropy_with_logits", labels=Real("*s"), logits=Real("*s")),
    op(
        "tf.nn.weighted_cross_entropy_with_logits",
        labels=Real("*s"),
        logits=Real("*s"),
        pos_weight=Real(""),
    ),
    op("tf.nn.log_poisson_loss", targets=Real("*s"), log_input=Real("*s")),
    op(
        "tf.nn.log_poisson_loss",
        targets=Real("*s", ABOVE_ONE),
        log_input=Real("*s"),
        compute_full_loss=TRUE,
    ),
    op(
        "CTCLoss",  # labels are below the blank, which is the last class
        inputs=Filled("t b", Real("t b 3", dtype=SINGLE)),
        labels_indices=_label_places(1),
        labels_values=Integers("b", 0, 1),
        sequence_length=Drawn(lambda dims: _integer_vector(dims.size("b"), 1, dims.size("t"))),
        outputs=(0,),
    ),
    op(
        "CTCLoss",  # two labels, which may be equal, need three steps
        inputs=Filled("b", Real("4 b 3", dtype=SINGLE)),
        labels_indices=_label_places(2),
        labels_values=Drawn(lambda dims: _integer_vector(2 * dims.size("b"), 0, 1)),
        sequence_length=FromSizes(lambda dims: np.full(dims.size("b"), 4, np.int32)),
        preprocess_collapse_repeated=FLAG,
        ctc_merge_repeated=FLAG,
        outputs=(0,),
    ),
    # Isotonic regression, in blocks that are clearly apart.
    op(
        "IsotonicRegression",
        input=Real("b n", POWERS),
        output_dtype=const("float64"),
        outputs=(0,),
    ),
)
