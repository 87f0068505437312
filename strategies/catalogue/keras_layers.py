"""Keras layers, with their weights as inputs."""

from gradfuzz.strategies.arguments import FLAG, FromSizes, Index, OneOf, Real, const
from gradfuzz.strategies.domains import DISTINCT, NONZERO
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.size_arguments import Bind, bound
from gradfuzz.strategies.weight_arguments import Weights
from gradfuzz.strategies.window_arguments import Filled, Listed, Windowed, listed

UNITS = Bind("u", OneOf((1, 2, 3)))
FILTERS = Bind("o", OneOf((1, 2)))
ROWS = Filled("b n", Real("b n"))
SEQUENCES = Filled("b t n", Real("b t n"))
IMAGES = Filled("b h w c", Real("b h w c"))
PADDING = OneOf(("same", "valid"))
STRIDES = OneOf((1, 2))
KERNEL_1D = Windowed(FromSizes(lambda dims: (dims.size("kt"),)), "t")
KERNEL_2D = Windowed(FromSizes(lambda dims: (dims.size("kh"), dims.size("kw"))), "h w")
TANH = OneOf((None, "tanh", "gelu"))
POOL = const(2)
SAME = const("same")
LAYERS = "keras.layers"

OPS: tuple[Entry, ...] = (
    # Dense and embedding.
    op(
        f"{LAYERS}.Dense",
        inputs=Filled("n", Real("b *s n")),
        units=UNITS,
        activation=TANH,
        weights=Weights("n u", "u"),
    ),
    op(
        f"{LAYERS}.Dense",
        inputs=ROWS,
        units=UNITS,
        use_bias=const(value=False),
        weights=Weights("n u"),
    ),
    op(
        f"{LAYERS}.EinsumDense",
        inputs=SEQUENCES,
        equation=const("btn,nu->btu"),
        weights=Weights("n u"),
        output_shape=FromSizes(lambda dims: (None, dims.size("u"))),
    ),
    op(
        f"{LAYERS}.Embedding",
        inputs=Index("b t", below="v"),
        weights=Filled("v d", Weights("v d")),
        input_dim=bound("v"),
        output_dim=bound("d"),
    ),
    # Convolutions.
    op(
        f"{LAYERS}.Conv1D",
        inputs=Filled("b t c", Real("b t c")),
        filters=FILTERS,
        kernel_size=KERNEL_1D,
        padding=PADDING,
        weights=Weights("kt c o", "o"),
    ),
    op(
        f"{LAYERS}.Conv1D",
        inputs=Filled("b t c", Real("b t c")),
        filters=FILTERS,
        kernel_size=KERNEL_1D,
        padding=const("causal"),
        dilation_rate=STRIDES,
        weights=Weights("kt c o", "o"),
    ),
    op(
        f"{LAYERS}.Conv2D",
        inputs=IMAGES,
        filters=FILTERS,
        kernel_size=KERNEL_2D,
        padding=PADDING,
        strides=STRIDES,
        weights=Weights("kh kw c o", "o"),
    ),
    op(
        f"{LAYERS}.Conv2DTranspose",
        inputs=IMAGES,
        filters=FILTERS,
        kernel_size=KERNEL_2D,
        padding=PADDING,
        strides=STRIDES,
        weights=Weights("kh kw o c", "o"),
    ),
    op(
        f"{LAYERS}.DepthwiseConv2D",
        inputs=IMAGES,
        kernel_size=KERNEL_2D,
        padding=PADDING,
        weights=Weights("kh kw c 1", "c"),
    ),
    op(
        f"{LAYERS}.SeparableConv2D",
        inputs=IMAGES,
        filters=FILTERS,
        kernel_size=KERNEL_2D,
        padding=SAME,
        weights=Weights("kh kw c 1", "1 1 c o", "o"),
    ),
    # Pools and resizing.
    *(
        op(
            f"{LAYERS}.{name}",
            inputs=Filled("b h w c", Real("b h w c", DISTINCT)),
            pool_size=POOL,
            padding=SAME,
        )
        for name in ("AveragePooling2D", "MaxPooling2D")
    ),
    *(
        op(f"{LAYERS}.{name}", inputs=Filled("b h w c", Real("b h w c", DISTINCT)), keepdims=FLAG)
        for name in ("GlobalAveragePooling2D", "GlobalMaxPooling2D")
    ),
    op(
        f"{LAYERS}.UpSampling2D",
        inputs=IMAGES,
        size=const(2),
        interpolation=OneOf(("nearest", "bilinear")),
    ),
    op(f"{LAYERS}.ZeroPadding2D", inputs=IMAGES, padding=OneOf((1, 2))),
    # Normalisation.
    op(
        f"{LAYERS}.LayerNormalization",
        inputs=Filled("n", Real("b *s n")),
        weights=Weights("n", "n"),
    ),
    op(f"{LAYERS}.RMSNormalization", x=Filled("n", Real("b *s n")), weights=Weights("n")),
    op(
        f"{LAYERS}.GroupNormalization",
        inputs=Filled("b h", Real("b h 4")),
        groups=OneOf((1, 2, 4)),
        weights=Weights("4", "4"),
    ),
    op(
        f"{LAYERS}.BatchNormalization",
        inputs=Filled("b h c", Real("b h c")),
        training=FLAG,
        weights=Weights("c", "c"),
    ),
    op(f"{LAYERS}.UnitNormalization", inputs=Filled("b n", Real("b n", NONZERO))),
    # Activations.
    op(f"{LAYERS}.PReLU", inputs=Filled("b n", Real("b n", NONZERO)), weights=Weights("n")),
    op(f"{LAYERS}.Softmax", inputs=ROWS),
    # Attention.
    op(f"{LAYERS}.Attention", inputs=Filled("b q k d", listed(("b q d", "b k d", "b k d")))),
    op(
        f"{LAYERS}.AdditiveAttention",
        inputs=Filled("b q k d", listed(("b q d", "b k d", "b k d"))),
        weights=Weights("d"),
    ),
    op(
        f"{LAYERS}.MultiHeadAttention",
        query=Filled("b q n", Real("b q n")),
        value=Filled("k", Real("b k n")),
        num_heads=Bind("h", OneOf((1, 2))),
        key_dim=Bind("d", OneOf((1, 2))),
        weights=Weights("n h d", "h d", "n h d", "h d", "n h d", "h d", "h d n", "n"),
    ),
    # Recurrent.
    op(f"{LAYERS}.SimpleRNN", sequences=SEQUENCES, units=UNITS, weights=Weights("n u", "u u", "u")),
    op(
        f"{LAYERS}.LSTM",
        sequences=SEQUENCES,
        units=UNITS,
        return_sequences=FLAG,
        weights=Weights("n 4u", "u 4u", "4u"),
    ),
    op(
        f"{LAYERS}.GRU",
        sequences=SEQUENCES,
        units=UNITS,
        reset_after=const(value=True),
        weights=Weights("n 3u", "u 3u", "2 3u"),
    ),
    op(
        f"{LAYERS}.GRU",
        sequences=SEQUENCES,
        units=UNITS,
        reset_after=const(value=False),
        weights=Weights("n 3u", "u 3u", "3u"),
    ),
    # Several inputs.
    op(
        f"{LAYERS}.Dot", inputs=Filled("b n", listed(("b n", "b n"))), axes=const(1), normalize=FLAG
    ),
    *(
        op(f"{LAYERS}.{name}", inputs=Filled("b n", Listed((Real("b n"), Real("b n", DISTINCT)))))
        for name in ("Add", "Average", "Maximum", "Multiply", "Subtract")
    ),
)
