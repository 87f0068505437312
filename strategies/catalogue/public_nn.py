"""Functions of `tf.nn` that are built of several ops."""

from gradfuzz.strategies.arguments import (
    FLAG,
    AxisAfter,
    Index,
    Integers,
    OneOf,
    Real,
    const,
)
from gradfuzz.strategies.domains import DISTINCT, FRACTIONS, NONZERO, POSITIVE, POWERS
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.size_arguments import Factor, NewShape
from gradfuzz.strategies.window_arguments import Filled, Padding, Sides, Slid, Steps, Windowed

AXIS = AxisAfter("l", before="r")
PADDING = Padding()
STRIDES = Steps("1 sh sw 1")
ONE_STRIDE = Steps("1 sh sh 1", equal=True)
IMAGE = Filled("n h w c", Real("n h w c"))
FILTERS = Windowed(Filled("o", Real("kh kw c o")), "h w")
WINDOW = Windowed(Steps("1 kh kw 1"), "h w")
CHANNELS_LAST = const("NHWC")

OPS: tuple[Entry, ...] = (
    # Activations.
    op("tf.nn.relu6", features=Real("*s", NONZERO)),
    op("tf.nn.leaky_relu", features=Real("*s", NONZERO), alpha=OneOf((0.2, 0.0, 1.0, 2.0))),
    op("tf.nn.swish", features=Real("*s"), beta=OneOf((1.0, 0.5, 2.0))),
    op("tf.nn.isotonic_regression", inputs=Real("*s n", POWERS), decreasing=FLAG, outputs=(0,)),
    # Losses.
    op("tf.nn.l2_loss", t=Real("*s")),
    op("tf.nn.softmax_cross_entropy_with_logits", labels=Real("*s n"), logits=Real("*s n")),
    op(
        "tf.nn.sparse_softmax_cross_entropy_with_logits",
        labels=Index("*s", below="n"),
        logits=Filled("n", Real("*s n")),
    ),
    op("tf.nn.compute_average_loss", per_example_loss=Real("n"), sample_weight=Real("n")),
    op(
        "tf.nn.log_poisson_loss",
        targets=Real("*s", POSITIVE),
        log_input=Real("*s"),
        compute_full_loss=FLAG,
    ),
    # Moments and normalisation.
    op("tf.nn.moments", x=Real("*l n *r"), axes=AXIS, keepdims=FLAG),
    op(
        "tf.nn.weighted_moments",
        x=Real("*l n *r"),
        axes=AXIS,
        frequency_weights=Real("*l n *r", POSITIVE),
        keepdims=FLAG,
    ),
    op(
        "tf.nn.sufficient_statistics",
        x=Real("n *r"),
        axes=const([0]),
        shift=Real(""),
    ),
    op(
        "tf.nn.normalize_moments",
        counts=Real("", POSITIVE),
        mean_ss=Real("*s"),
        variance_ss=Real("*s"),
        shift=Real("*s"),
    ),
    op(
        "tf.nn.batch_normalization",
        x=Real("*s n"),
        mean=Real("n"),
        variance=Real("n", POSITIVE),
        offset=Real("n"),
        scale=Real("n"),
        variance_epsilon=OneOf((1e-3, 0.0)),
    ),
    op(
        "tf.nn.batch_norm_with_global_normalization",
        input=Real("n h w c"),
        mean=Real("c"),
        variance=Real("c", POSITIVE),
        beta=Real("c"),
        gamma=Real("c"),
        variance_epsilon=OneOf((1e-3, 0.0)),
        scale_after_normalization=FLAG,
    ),
    op("tf.nn.bias_add", value=Real("n *s c"), bias=Real("c")),
    # Convolutions.
    op(
        "tf.nn.conv1d",
        stride=OneOf((1, 2)),
        padding=const("SAME"),
        input=Filled("n w c", Real("n w c")),
        filters=Windowed(Filled("o", Real("kw c o")), "w"),
    ),
    op("tf.nn.conv2d", strides=STRIDES, padding=PADDING, input=IMAGE, filters=FILTERS),
    op("tf.nn.convolution", padding=PADDING, input=IMAGE, filters=FILTERS),
    op(
        "tf.nn.convolution",
        padding=const("SAME"),
        input=IMAGE,
        filters=FILTERS,
        dilations=OneOf(((2, 1), (1, 2), (2, 2))),
    ),
    op("tf.nn.atrous_conv2d", padding=PADDING, rate=const(1), value=IMAGE, filters=FILTERS),
    op("tf.nn.atrous_conv2d", padding=const("SAME"), rate=const(2), value=IMAGE, filters=FILTERS),
    op(
        "tf.nn.conv2d_transpose",
        strides=STRIDES,
        padding=PADDING,
        output_shape=Filled("n h w c", NewShape("n h w c")),
        filters=FILTERS,
        input=Slid(Real("n oh ow o"), "h w"),
    ),
    op(
        "tf.nn.depthwise_conv2d",
        strides=ONE_STRIDE,
        padding=PADDING,
        input=IMAGE,
        filter=Windowed(Filled("m", Real("kh kw c m")), "h w"),
    ),
    op(
        "tf.nn.separable_conv2d",
        strides=ONE_STRIDE,
        padding=PADDING,
        input=Filled("n h w", Real("n h w 2")),
        depthwise_filter=Windowed(Real("kh kw 2 1"), "h w"),
        pointwise_filter=Filled("o", Real("1 1 2 o")),
    ),
    op(
        "tf.nn.dilation2d",
        strides=STRIDES,
        padding=PADDING,
        input=Filled("n h w c", Real("n h w c", DISTINCT)),
        filters=Windowed(Real("kh kw c", FRACTIONS), "h w"),
        data_format=CHANNELS_LAST,
        dilations=const([1, 1, 1, 1]),
    ),
    op(
        "tf.nn.erosion2d",
        strides=STRIDES,
        padding=PADDING,
        value=Filled("n h w c", Real("n h w c", DISTINCT)),
        filters=Windowed(Real("kh kw c", FRACTIONS), "h w"),
        data_format=CHANNELS_LAST,
        dilations=const([1, 1, 1, 1]),
    ),
    # Pools.
    op("tf.nn.avg_pool", strides=STRIDES, padding=PADDING, input=IMAGE, ksize=WINDOW),
    op(
        "tf.nn.max_pool",
        strides=STRIDES,
        padding=PADDING,
        input=Filled("n h w c", Real("n h w c", DISTINCT)),
        ksize=WINDOW,
    ),
    op(
        "tf.nn.pool",
        padding=PADDING,
        input=IMAGE,
        window_shape=Windowed(Steps("kh kw"), "h w"),
        pooling_type=const("AVG"),
    ),
    op(
        "tf.nn.fractional_avg_pool",
        value=Sides(2, 4, Real("n h w c")),
        pooling_ratio=const([1.0, 1.5, 1.25, 1.0]),
        seed=const(7),
        outputs=(0,),
    ),
    op(
        "tf.nn.fractional_max_pool",
        value=Sides(2, 4, Real("n h w c", DISTINCT)),
        pooling_ratio=const([1.0, 1.5, 1.25, 1.0]),
        seed=const(7),
        outputs=(0,),
    ),
    op(
        "tf.nn.local_response_normalization",
        input=Real("n h w c", dtype="float32"),
        depth_radius=OneOf((2, 1, 5)),
    ),
    # Rearrangements.
    op("tf.nn.space_to_depth", block_size=Factor("k", "h w"), input=Real("n h w c")),
    op("tf.nn.depth_to_space", block_size=Factor("k", "c", power=2), input=Real("n h w c")),
    # Embeddings.
    op("tf.nn.embedding_lookup", params=Real("v *r"), ids=Index("*t", below="v")),
    op(
        "tf.nn.embedding_lookup",
        params=Real("v d"),
        ids=Index("*t", below="v"),
        max_norm=OneOf((1.0, 0.5)),
    ),
    # Sequences.
    op(
        "tf.nn.ctc_loss",
        logits=Sides(3, 4, Real("t b v", dtype="float32")),
        labels=Integers("b 1", 1, 2),
        label_length=Integers("b", 1, 1),
        logit_length=Integers("b", 3, 3),
        blank_index=const(0),
    ),
)
