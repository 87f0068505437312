"""Complex numbers as pairs of real ones: how the numeric side sees a complex leaf or output.

The *real view* of a complex array of shape s is the real array of shape (*s, 2) with its real
and imaginary parts; a real array is its own real view.  With parameters and outputs in real
views, a derivative is a derivative of real numbers, and needs no convention.

On the analytic side there is one.  TensorFlow's gradient g of a real scalar L at a complex x
means dL = Re(conj(g) dx), and the cotangent u of a complex output y stands for the scalar
L = Re(conj(u) y).  Written in parts, dL = Re(g) d Re(x) + Im(g) d Im(x): so the real view of g is
the gradient by the real view of x, and the real view of u is the cotangent of the real view of y.

Source: "Gradients of complex functions" in the documentation of `tf.gradients`
(tensorflow/python/ops/gradients_impl.py), and `_MulGrad`, which multiplies by the conjugate, and
`_RealGrad` and `_ImagGrad` in tensorflow/python/ops/math_grad.py.
"""

import numpy as np

from gradfuzz.graph import Array

_PARTS = ("real", "imaginary")


def real_view(array: Array) -> Array:
    """Return a complex array of shape s as a real one of shape (*s, 2), a real one as it is."""
    if array.dtype.kind != "c":
        return array
    parts = np.ascontiguousarray(array).reshape(-1).view(f"f{array.itemsize // 2}")
    return parts.reshape(*array.shape, 2)


def from_real_view(view: Array) -> Array:
    """Return the complex array of shape s whose real view, of shape (*s, 2), is `view`."""
    parts = np.ascontiguousarray(view).reshape(-1)
    return parts.view(f"c{2 * view.itemsize}").reshape(view.shape[:-1])


def element_name(number: int, *, is_complex: bool) -> str:
    """Name an element of a flattened real view: "3", or "the imaginary part of element 1"."""
    if not is_complex:
        return f"element {number}"
    return f"the {_PARTS[number % 2]} part of element {number // 2}"
