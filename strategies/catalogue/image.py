"""Image ops: resizing, cropping, warping and colour spaces."""

import numpy as np
from hypothesis import strategies as st

from gradfuzz.graph import Array
from gradfuzz.strategies.arguments import FLAG, TRUE, Drawn, Index, Integers, OneOf, Real
from gradfuzz.strategies.domains import BOXES, POSITIVE, SHADES
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.shapes import Dims
from gradfuzz.strategies.window_arguments import Filled

# Resizes and crops compute in float32, whatever the dtype of the image.
SINGLE = "float32"
IMAGE = Filled("b h w c", Real("b h w c"))
SINGLE_IMAGE = Filled("b h w c", Real("b h w c", dtype=SINGLE))
SIZE = Integers("2", 1, 5)

# Rows of a projective transform from output to input points, without its last entry, 1.
TRANSFORMS = (
    (1, 0, 0, 0, 1, 0, 0, 0),  # identity
    (1, 0, 1, 0, 1, 0, 0, 0),  # shifts
    (1, 0, -0.25, 0, 1, 0.375, 0, 0),
    (0.5, 0, 0, 0, 0.5, 0, 0, 0),  # scalings
    (2, 0, 0, 0, 1, 0, 0, 0),
    (0, -1, 1, 1, 0, 0, 0, 0),  # a quarter turn
    (1, 0.25, 0, 0, 1, 0, 0, 0),  # shear
    (1, 0, 0, 0, 1, 0, 0.125, 0.0625),  # perspective
)
FILL_MODE = OneOf(("CONSTANT", "NEAREST", "REFLECT", "WRAP"))
INTERPOLATION = OneOf(("BILINEAR", "NEAREST"))
LANCZOS = ("lanczos1", "lanczos3", "lanczos5")
KERNELS = ("triangle", *LANCZOS, "gaussian", "box", "keyscubic", "mitchellcubic")


def _transform_each(dims: Dims) -> st.SearchStrategy[Array]:
    """Draw one transform for all images, or one for each."""
    transform = st.sampled_from(TRANSFORMS)
    one = st.tuples(transform)
    each = st.tuples(*(transform for _ in range(dims.size("b"))))
    return (one | each).map(lambda rows: np.array(rows, np.float32))


OPS: tuple[Entry, ...] = (
    # Resizes.
    op("ResizeBilinear", images=SINGLE_IMAGE, size=SIZE, align_corners=FLAG),
    op("ResizeBilinear", images=SINGLE_IMAGE, size=SIZE, half_pixel_centers=TRUE),
    op("ResizeBicubic", images=SINGLE_IMAGE, size=SIZE, align_corners=FLAG),
    op("ResizeBicubic", images=SINGLE_IMAGE, size=SIZE, half_pixel_centers=TRUE),
    op("ResizeNearestNeighbor", images=IMAGE, size=SIZE, align_corners=FLAG),
    op("ResizeNearestNeighbor", images=IMAGE, size=SIZE, half_pixel_centers=TRUE),
    op(
        "ScaleAndTranslate",
        images=SINGLE_IMAGE,
        size=SIZE,
        scale=Real("2", POSITIVE, SINGLE, strict=True),
        translation=Real("2", dtype=SINGLE),
        kernel_type=OneOf(KERNELS),
        antialias=FLAG,
    ),
    # Crops and warps.
    op(
        "CropAndResize",
        image=SINGLE_IMAGE,
        boxes=Real("k 4", BOXES, SINGLE),
        box_ind=Index("k", below="b"),
        crop_size=Integers("2", 1, 3),
        method=OneOf(("bilinear", "nearest")),
        extrapolation_value=OneOf((0.0, 1.0)),
    ),
    op(
        "ImageProjectiveTransformV2",
        images=IMAGE,
        transforms=Drawn(_transform_each),
        output_shape=SIZE,
        interpolation=INTERPOLATION,
        fill_mode=FILL_MODE,
    ),
    op(
        "ImageProjectiveTransformV3",
        images=IMAGE,
        transforms=Drawn(_transform_each),
        output_shape=SIZE,
        fill_value=Real("", dtype=SINGLE),
        interpolation=INTERPOLATION,
        fill_mode=FILL_MODE,
    ),
    # Colours.
    op("RGBToHSV", images=Real("*s 3", SHADES)),
    op("tf.image.rgb_to_yuv", images=Real("*s 3")),
    op(
        "tf.image.adjust_brightness",
        image=Real("*s h w c", dtype=SINGLE),
        delta=Real("", dtype=SINGLE),
    ),
)
