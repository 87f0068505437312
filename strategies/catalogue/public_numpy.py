"""Functions of `tf.experimental.numpy`."""

from gradfuzz.strategies.arguments import (
    FLAG,
    AxisAfter,
    FromSizes,
    Index,
    Mask,
    OneOf,
    Real,
    Reals,
    const,
)
from gradfuzz.strategies.domains import BESIDE, DISTINCT, INSIDE_ONE, NONZERO, POSITIVE
from gradfuzz.strategies.entry import Entry, op
from gradfuzz.strategies.window_arguments import Filled

AXIS = AxisAfter("l", before="r")
ALONG = Filled("n", Real("*l n *r"))
TNP = "tf.experimental.numpy"

ANYWHERE = "arcsinh arctan deg2rad exp2 expm1 positive rad2deg sinc tanh"
OFF_ZERO = "abs fabs cbrt reciprocal"
OF_POSITIVE = "log10 log2 log1p"
FOLDS = "mean sum prod std var nansum nanmean nanprod"
SELECTIONS = "max min amax amin ptp"

OPS: tuple[Entry, ...] = (
    # One argument.
    *(op(f"{TNP}.{name}", x=Real("*s")) for name in ANYWHERE.split()),
    *(op(f"{TNP}.{name}", x=Real("*s", NONZERO)) for name in OFF_ZERO.split()),
    *(op(f"{TNP}.{name}", x=Real("*s", POSITIVE)) for name in OF_POSITIVE.split()),
    *(op(f"{TNP}.{name}", x=Real("*s", INSIDE_ONE)) for name in ("arcsin", "arccos", "arctanh")),
    op(f"{TNP}.clip", a=Real("*s"), a_min=const(-1.0625), a_max=const(1.0625)),
    # Two arguments.
    *(op(f"{TNP}.{name}", x1=Real("*#s"), x2=Real("*#s")) for name in ("logaddexp", "logaddexp2")),
    *(
        op(f"{TNP}.{name}", x1=Real("*#s", NONZERO), x2=Real("*#s", NONZERO))
        for name in ("hypot", "arctan2", "true_divide", "float_power")
    ),
    *(
        op(f"{TNP}.{name}", x1=Real("*#s"), x2=Real("*#s", BESIDE))
        for name in ("maximum", "minimum", "heaviside")
    ),
    # Along an axis.
    *(op(f"{TNP}.{name}", a=ALONG, axis=AXIS) for name in FOLDS.split()),
    *(
        op(f"{TNP}.{name}", a=Filled("n", Real("*l n *r", DISTINCT)), axis=AXIS)
        for name in SELECTIONS.split()
    ),
    *(op(f"{TNP}.{name}", a=ALONG, axis=AXIS) for name in ("cumsum", "cumprod", "diff", "sort")),
    op(
        f"{TNP}.average", a=Filled("n *s", Real("n *s")), weights=Real("n", POSITIVE), axis=const(0)
    ),
    op(f"{TNP}.flip", m=ALONG, axis=AXIS),
    op(f"{TNP}.roll", a=ALONG, shift=OneOf((1, -1, 5)), axis=AXIS),
    op(f"{TNP}.repeat", a=ALONG, repeats=OneOf((2, 1, 3)), axis=AXIS),
    op(f"{TNP}.take", a=ALONG, indices=Index("*t", below="n"), axis=AXIS),
    op(f"{TNP}.take_along_axis", arr=ALONG, indices=Index("*l n *r", below="n"), axis=AXIS),
    op(f"{TNP}.append", arr=Real("n *s"), values=Real("m *s"), axis=const(0)),
    op(f"{TNP}.concatenate", arys=Reals("n *s", least=2), axis=const(0)),
    op(f"{TNP}.stack", arrays=Reals("*s"), axis=OneOf((0, -1))),
    *(op(f"{TNP}.{name}", tup=Reals("n m")) for name in ("hstack", "vstack", "dstack")),
    op(f"{TNP}.moveaxis", a=Real("*s n"), source=const(-1), destination=const(0)),
    op(f"{TNP}.swapaxes", a=Real("m *s n"), axis1=const(0), axis2=const(-1)),
    op(
        f"{TNP}.pad",
        array=Real("m n"),
        pad_width=OneOf((((1, 0), (0, 2)), ((0, 0), (1, 1)))),
        mode=const("constant"),
    ),
    op(f"{TNP}.compress", condition=Mask("n"), a=Real("n *s"), axis=const(0)),
    op(f"{TNP}.where", condition=Mask("*s"), x=Real("*s"), y=Real("*s")),
    op(f"{TNP}.broadcast_to", array=Real("n"), shape=FromSizes(lambda dims: (2, dims.size("n")))),
    # Products.
    op(f"{TNP}.dot", a=Real("*l k"), b=Real("k n")),
    op(f"{TNP}.inner", a=Real("*l k"), b=Real("*r k")),
    op(f"{TNP}.outer", a=Real("*l"), b=Real("*r")),
    op(f"{TNP}.vdot", a=Real("*s"), b=Real("*s")),
    op(f"{TNP}.kron", a=Real("m n"), b=Real("k l")),
    op(f"{TNP}.tensordot", a=Real("*l k"), b=Real("k *r"), axes=const(1)),
    op(f"{TNP}.matmul", x1=Real("*b m k"), x2=Real("*b k n")),
    op(f"{TNP}.cross", a=Real("*s 3"), b=Real("*s 3")),
    op(f"{TNP}.polyval", p=Filled("n", Real("n")), x=Real("*s")),
    op(f"{TNP}.vander", x=Filled("n", Real("n")), N=OneOf((3, 1, 2)), increasing=FLAG),
    # Matrices.
    op(f"{TNP}.trace", a=Real("m n"), offset=OneOf((0, 1, -1))),
    op(f"{TNP}.diagonal", a=Filled("m n", Real("m n *s")), offset=OneOf((0, 1, -1))),
    op(f"{TNP}.diag", v=Filled("n", Real("n")), k=OneOf((0, 1, -1))),
    op(f"{TNP}.diagflat", v=Filled("*s", Real("*s")), k=OneOf((0, 1, -1))),
    *(op(f"{TNP}.{name}", m=Real("m n"), k=OneOf((0, 1, -1))) for name in ("tril", "triu")),
    op(f"{TNP}.rot90", m=Real("m n"), k=OneOf((1, 2, 3))),
)
