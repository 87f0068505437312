"""Functions of `keras.ops`, `keras.activations` and `keras.losses`."""

from gradfuzz.strategies.arguments import (
    FLAG,
    AxisAfter,
    Index,
    Integers,
    OneOf,
    Real,
    SortedIds,
    const,
)
from gradfuzz.strategies.domains import (
    DISTINCT,
    INSIDE_ONE,
    INVERTIBLE,
    NONZERO,
    POSITIVE,
    SEPARATED,
    SHADES,
    SPD,
    UNIT,
)
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.window_arguments import Filled, Sides, Windowed

AXIS = AxisAfter("l", before="r")
ALONG = Filled("n", Real("*l n *r"))
ALONG_DISTINCT = Filled("*l n *r", Real("*l n *r", DISTINCT))
IMAGE = Filled("n h w c", Real("n h w c"))
SAME = const("same")

# Functions of one argument: smooth, with kinks, and of positive numbers.
SMOOTH = "exp2 gelu i0 log_sigmoid sigmoid silu sinc softplus squareplus tanh_shrink erfc swish"
BENT = """abs cbrt celu elu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu relu
    relu6 selu soft_shrink softsign sparse_plus sparse_sigmoid reciprocal"""
OF_POSITIVE = "log10 log2 rsqrt sqrt"
FOLDS = "mean sum prod std var logsumexp nanmean nansum nanstd nanvar"
SELECTIONS = "max min amax amin ptp median nanmax nanmin"
ACTIVATIONS = """celu elu exponential gelu hard_shrink hard_sigmoid hard_silu hard_tanh leaky_relu
    log_sigmoid mish relu relu6 selu sigmoid silu soft_shrink softplus softsign sparse_plus
    sparse_sigmoid squareplus tanh tanh_shrink"""
LOSSES = """mean_squared_error mean_absolute_error mean_absolute_percentage_error huber log_cosh
    cosine_similarity"""
# They take labels of 0 and 1 for -1 and 1, so that there is a branch at these.
LOSSES_OF_SIGNS = "hinge squared_hinge"
LOSSES_OF_POSITIVE = "mean_squared_logarithmic_error kl_divergence poisson dice tversky"
LOSSES_OF_CLASSES = "categorical_crossentropy categorical_focal_crossentropy categorical_hinge"
BINARY_LOSSES = "binary_crossentropy binary_focal_crossentropy"

OPS: tuple[Entry, ...] = (
    # One argument.
    *(op(f"keras.ops.{name}", x=Real("*s")) for name in SMOOTH.split()),
    *(op(f"keras.ops.{name}", x=Real("*s", NONZERO)) for name in BENT.split()),
    *(op(f"keras.ops.{name}", x=Real("*s", POSITIVE)) for name in OF_POSITIVE.split()),
    op("keras.ops.erfinv", x=Real("*s", INSIDE_ONE)),
    op("keras.ops.threshold", x=Real("*s"), threshold=const(0.3125), default_value=const(-1.0)),
    op("keras.ops.clip", x=Real("*s"), x_min=const(-1.0625), x_max=const(1.0625)),
    op("keras.ops.nan_to_num", x=Real("*s")),
    # Two arguments.
    *(
        op(f"keras.ops.{name}", x1=Real("*#s"), x2=Real("*#s"))
        for name in ("logaddexp", "logaddexp2", "outer", "subtract")
    ),
    *(
        op(f"keras.ops.{name}", x1=Real("*#s", NONZERO), x2=Real("*#s", NONZERO))
        for name in ("hypot", "arctan2", "true_divide", "divide_no_nan")
    ),
    op("keras.ops.cdist", x=Filled("m n k", Real("m k")), y=Filled("n", Real("n k", DISTINCT))),
    # Along an axis.
    *(op(f"keras.ops.{name}", x=ALONG, axis=AXIS) for name in FOLDS.split()),
    *(op(f"keras.ops.{name}", x=ALONG_DISTINCT, axis=AXIS) for name in SELECTIONS.split()),
    *(
        op(f"keras.ops.{name}", x=ALONG, axis=AXIS)
        for name in ("softmax", "log_softmax", "cumsum", "cumprod", "flip", "sort", "nancumsum")
    ),
    op("keras.ops.sparsemax", x=Filled("*s n", Real("*s n", DISTINCT))),
    op("keras.ops.glu", x=Filled("*s", Real("*s 2")), axis=const(-1)),
    op("keras.ops.quantile", x=ALONG_DISTINCT, q=OneOf((0.3, 0.5, 0.0, 1.0)), axis=AXIS),
    op(
        "keras.ops.norm",
        x=Filled("n", Real("*l n *r", NONZERO)),
        ord=OneOf((None, 1, 2)),
        axis=AXIS,
    ),
    op("keras.ops.normalize", x=Filled("n", Real("*l n *r", NONZERO)), axis=AXIS),
    op("keras.ops.diff", a=Filled("n", Real("*s n")), n=OneOf((1, 2))),
    op("keras.ops.trapezoid", y=Filled("n", Real("*s n")), dx=OneOf((1.0, 0.5))),
    op(
        "keras.ops.average", x=Filled("n", Real("n *s")), weights=Real("n", POSITIVE), axis=const(0)
    ),
    op("keras.ops.top_k", x=Filled("n", Real("*s n", DISTINCT)), k=const(1), outputs=(0,)),
    op("keras.ops.roll", x=ALONG, shift=OneOf((1, -1, 5)), axis=AXIS),
    op("keras.ops.take", x=ALONG, indices=Index("*t", below="n"), axis=AXIS),
    op("keras.ops.take_along_axis", x=ALONG, indices=Index("*l n *r", below="n"), axis=AXIS),
    op("keras.ops.vander", x=Filled("n", Real("n")), N=OneOf((3, 1, 2))),
    op("keras.ops.corrcoef", x=Sides(2, 3, Real("m n", DISTINCT))),
    op(
        "keras.ops.segment_sum",
        data=Real("n *r"),
        segment_ids=Integers("n", 0, 2),
        num_segments=const(3),
    ),
    op(
        "keras.ops.segment_max",
        data=Filled("n", Real("n *r", DISTINCT)),
        segment_ids=SortedIds("n"),
    ),
    # Matrices.
    op("keras.ops.cholesky", x=Real("*b n n", SPD)),
    op("keras.ops.cholesky_inverse", x=Real("n n", INVERTIBLE)),
    op("keras.ops.pinv", x=Filled("m n", Real("m n", SEPARATED, strict=True))),
    op("keras.ops.logdet", x=Real("*b n n", SPD)),
    op("keras.ops.solve_triangular", a=Real("*b n n", INVERTIBLE), b=Real("*b n m"), lower=FLAG),
    op("keras.ops.kron", x1=Real("m n"), x2=Real("k l")),
    op("keras.ops.tensordot", x1=Real("*l k"), x2=Real("k *r"), axes=const(1)),
    op("keras.ops.matmul", x1=Real("*b m k"), x2=Real("*b k n")),
    *(op(f"keras.ops.{name}", x=Real("m n"), k=OneOf((0, 1, -1))) for name in ("tril", "triu")),
    op("keras.ops.trace", x=Real("n n"), offset=OneOf((0, 1, -1))),
    # Neural networks.
    op(
        "keras.ops.layer_normalization",
        x=Filled("n", Real("*s n")),
        gamma=Real("n"),
        beta=Real("n"),
    ),
    op("keras.ops.rms_normalization", x=Filled("n", Real("*s n")), scale=Real("n")),
    op(
        "keras.ops.batch_normalization",
        x=Filled("n", Real("*s n")),
        mean=Real("n"),
        variance=Real("n", POSITIVE),
        axis=const(-1),
        offset=Real("n"),
        scale=Real("n"),
    ),
    op("keras.ops.moments", x=Filled("n", Real("n *s")), axes=const((0,)), keepdims=FLAG),
    op(
        "keras.ops.dot_product_attention",
        query=Filled("b q h d", Real("b q h d")),
        key=Filled("k", Real("b k h d")),
        value=Real("b k h d"),
    ),
    op(
        "keras.ops.conv",
        padding=SAME,
        inputs=IMAGE,
        strides=OneOf((1, 2)),
        kernel=Windowed(Filled("o", Real("kh kw c o")), "h w"),
    ),
    op(
        "keras.ops.conv_transpose",
        padding=SAME,
        inputs=IMAGE,
        strides=OneOf((1, 2)),
        kernel=Windowed(Filled("o", Real("kh kw o c")), "h w"),
    ),
    op(
        "keras.ops.depthwise_conv",
        padding=SAME,
        inputs=IMAGE,
        kernel=Windowed(Filled("m", Real("kh kw c m")), "h w"),
    ),
    op(
        "keras.ops.average_pool",
        inputs=IMAGE,
        pool_size=const(2),
        strides=OneOf((1, 2)),
        padding=SAME,
    ),
    op(
        "keras.ops.max_pool",
        inputs=Filled("n h w c", Real("n h w c", DISTINCT)),
        pool_size=const(2),
        strides=OneOf((1, 2)),
        padding=SAME,
    ),
    op("keras.ops.psnr", x1=Filled("*s", Real("*s")), x2=Real("*s", DISTINCT), max_val=const(2.0)),
    # Activations.
    *(op(f"keras.activations.{name}", x=Real("*s", NONZERO)) for name in ACTIVATIONS.split()),
    op(
        "keras.activations.relu",
        x=Real("*s", NONZERO),
        negative_slope=OneOf((0.0, 0.25)),
        max_value=OneOf((None, 1.0625)),
        threshold=OneOf((0.0, 0.3125)),
    ),
    op("keras.activations.glu", x=Filled("*s", Real("*s 2"))),
    *(
        op(f"keras.activations.{name}", x=Filled("n", Real("*s n", DISTINCT)))
        for name in ("softmax", "log_softmax", "sparsemax")
    ),
    # Losses.
    *(
        op(f"keras.losses.{name}", y_true=Filled("n", Real("*s n")), y_pred=Real("*s n", NONZERO))
        for name in LOSSES.split()
    ),
    *(
        op(
            f"keras.losses.{name}",
            y_true=Filled("n", Real("*s n", UNIT, strict=True)),
            y_pred=Real("*s n", NONZERO),
        )
        for name in LOSSES_OF_SIGNS.split()
    ),
    *(
        op(
            f"keras.losses.{name}",
            y_true=Filled("n", Real("*s n", UNIT)),
            y_pred=Real("*s n", UNIT),
        )
        for name in LOSSES_OF_POSITIVE.split()
    ),
    *(
        op(
            f"keras.losses.{name}",
            y_true=Sides(2, 4, Real("*s n", SHADES)),
            y_pred=Real("*s n", SHADES),
        )
        for name in LOSSES_OF_CLASSES.split()
    ),
    *(
        op(
            f"keras.losses.{name}",
            y_true=Filled("n", Real("*s n", UNIT)),
            y_pred=Real("*s n", UNIT),
            from_logits=FLAG,
        )
        for name in BINARY_LOSSES.split()
    ),
    op(
        "keras.losses.sparse_categorical_crossentropy",
        y_true=Index("m", below="n"),
        y_pred=Sides(2, 4, Real("m n", SHADES)),
        from_logits=FLAG,
    ),
)
