"""What to do about a gradient that is wrong, by kind."""

ADVICE = {
    "none": "connect it: no NumPy, tf.stop_gradient, integers or tf.constant on the way; "
    "if it is meant to be held constant, close over it instead of passing it",
    "value": "look at the gradient rule (tf.custom_gradient, tf.stop_gradient, RegisterGradient) "
    "of what this element passes through",
    "non-finite": "guard the input of what overflows, on both branches of a tf.where: "
    "tf.where(ok, f(tf.where(ok, x, 1.0)), y)",
    "shape": "sum the gradient over the axes that were broadcast",
    "dtype": "cast the gradient to the dtype of its input",
    "missing": "write a tf.custom_gradient, or use ops that have a gradient",
    "mutated": "do not write into an input",
    "unrepeatable": "look for memory that is never written, or for random numbers in the gradient",
    "raises": "call tape.gradient under a debugger: the gradient function raises",
}
OTHER = (
    "compare the two ways that differ on a smaller function: one of them is TensorFlow's to mend"
)
KINK = "any value between the slopes of the two sides would do here"
NEARBY = "at a point nearby the gradient is right: the fault is in the special case at this value"


def advice(kind: str, *, kink: bool, right_nearby: bool) -> str:
    """Return what to do, one line each."""
    general = ADVICE.get(kind) or ADVICE.get(kind.partition("-")[0], OTHER)
    parts = [KINK] * kink + [NEARBY] * right_nearby + [general]
    return "\n".join(parts)
