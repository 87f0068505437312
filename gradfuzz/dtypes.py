"""The rounding unit of each dtype of numbers: from 1 to the next number."""

from gradfuzz.runtime import tf

EPSILON = {
    tf.float64: 2.0**-52,
    tf.complex128: 2.0**-52,
    tf.float32: 2.0**-23,
    tf.complex64: 2.0**-23,
    tf.float16: 2.0**-10,
    tf.bfloat16: 2.0**-7,
}
