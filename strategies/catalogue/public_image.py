"""Functions of `tf.image` and `tf.signal` that are built of several ops."""

from gradfuzz.strategies.arguments import FLAG, TRUE, AxisAfter, Index, OneOf, Real, const
from gradfuzz.strategies.domains import BOXES, DISTINCT, POSITIVE, SHADES
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.window_arguments import Filled, Sides

AXIS = AxisAfter("l", before="r")
IMAGES = Filled("b h w c", Real("b h w c"))
COLOURS = Filled("*s", Real("*s 3", SHADES))
COLOUR_IMAGE = Filled("h w", Real("h w 3", SHADES))
SIDE = OneOf((1, 2, 3, 5))
LARGE = OneOf((4, 5))
METHOD = OneOf(
    ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
)
NORM = OneOf((None, "ortho"))
# Functions of colours that are linear.
LINEAR = ("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "rgb_to_grayscale")

OPS: tuple[Entry, ...] = (
    # Colours.
    *(op(f"tf.image.{name}", images=COLOURS) for name in LINEAR),
    op("tf.image.grayscale_to_rgb", images=Filled("*s n", Real("*s n 1"))),
    op("tf.image.hsv_to_rgb", images=COLOURS),
    op(
        "tf.image.adjust_brightness",
        image=Filled("*s", Real("*s", SHADES)),
        delta=OneOf((0.25, -0.5)),
    ),
    op("tf.image.adjust_contrast", images=IMAGES, contrast_factor=OneOf((0.5, 2.0, -1.0))),
    op("tf.image.adjust_gamma", image=Filled("*s", Real("*s", POSITIVE)), gamma=OneOf((2.0, 0.5))),
    op("tf.image.adjust_hue", image=COLOUR_IMAGE, delta=OneOf((0.125, -0.25))),
    op("tf.image.adjust_saturation", image=COLOUR_IMAGE, saturation_factor=OneOf((0.5, 2.0))),
    op("tf.image.per_image_standardization", image=Filled("h w c", Real("h w c"))),
    # Moves.
    *(
        op(f"tf.image.{name}", image=IMAGES)
        for name in ("flip_left_right", "flip_up_down", "transpose")
    ),
    op("tf.image.rot90", image=IMAGES, k=OneOf((1, 2, 3))),
    op(
        "tf.image.central_crop",
        image=Sides(2, 4, Real("h w c")),
        central_fraction=OneOf((0.5, 1.0)),
    ),
    op("tf.image.resize_with_crop_or_pad", image=IMAGES, target_height=SIDE, target_width=SIDE),
    op(
        "tf.image.extract_patches",
        images=IMAGES,
        sizes=const([1, 2, 2, 1]),
        strides=const([1, 1, 1, 1]),
        rates=const([1, 1, 1, 1]),
        padding=const("SAME"),
    ),
    # Resizes.
    op(
        "tf.image.resize",
        images=IMAGES,
        size=OneOf(([2, 3], [1, 1], [5, 4])),
        method=METHOD,
        antialias=FLAG,
    ),
    op("tf.image.resize_with_pad", image=IMAGES, target_height=LARGE, target_width=LARGE),
    op(
        "tf.image.crop_and_resize",
        image=IMAGES,
        boxes=Filled("k", Real("k 4", BOXES, "float32")),
        box_indices=Index("k", below="b"),
        crop_size=OneOf(([2, 2], [1, 3])),
    ),
    # Differences.
    op("tf.image.image_gradients", image=IMAGES),
    op("tf.image.sobel_edges", image=Sides(3, 4, Real("1 h w 1"))),
    op("tf.image.total_variation", images=Filled("b h w c", Real("b h w c", DISTINCT))),
    op(
        "tf.image.psnr",
        a=Filled("b h w c", Real("b h w c")),
        b=Filled("b h w c", Real("b h w c", DISTINCT)),
        max_val=const(2.0),
    ),
    op(
        "tf.image.ssim",
        img1=Sides(3, 4, Real("b h w c", SHADES)),
        img2=Real("b h w c", SHADES),
        max_val=const(1.0),
        filter_size=const(3),
    ),
    # Signals.
    op(
        "tf.signal.frame",
        signal=Filled("n", Real("*l n *r")),
        frame_length=OneOf((2, 1, 3)),
        frame_step=OneOf((1, 2)),
        pad_end=TRUE,
        axis=AXIS,
    ),
    op(
        "tf.signal.overlap_and_add",
        signal=Filled("*s m n", Real("*s m n")),
        frame_step=OneOf((1, 2)),
    ),
    *(
        op(
            f"tf.signal.{name}",
            input=Sides(2, 4, Real("*s n")),
            type=OneOf((2, 1, 3)),
            norm=const(None),
        )
        for name in ("dct", "idct")
    ),
    *(
        op(
            f"tf.signal.{name}",
            input=Filled("*s n", Real("*s n")),
            type=OneOf((2, 3, 4)),
            norm=NORM,
        )
        for name in ("dct", "idct")
    ),
    op("tf.signal.fftshift", x=Filled("n *s", Real("n *s")), axes=const(0)),
    op("tf.signal.ifftshift", x=Filled("n *s", Real("n *s")), axes=const(-1)),
    op("tf.signal.mdct", signals=Filled("*s", Sides(4, 4, Real("*s n"))), frame_length=const(4)),
    op("tf.signal.inverse_mdct", mdcts=Filled("*s m", Real("*s m 2"))),
    op(
        "tf.signal.mfccs_from_log_mel_spectrograms",
        log_mel_spectrograms=Filled("*s n", Real("*s n")),
    ),
)
