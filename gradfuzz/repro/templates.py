"""The parts of a script before its ending."""

HEAD = '''"""{title}

Exit code 1: the bug is there; 0: it is gone.
Found by gradfuzz on {versions}.
"""

{standard}

import numpy as np
import tensorflow as tf
{imports}
LEAVES = [
{leaves}
]


{functions}'''

FUNCTION = """def {name}({parameters}):
{body}
    return [{outputs}]


"""

GRADIENT = '''def gradient_of(first):
    """Return what takes the gradient of the sum of u y + c y y / 2 of the outputs y of `first`."""
    weights = [{weights}]  # u
    bends = [{bends}]  # c

    def gradient(*leaves):
        with tf.GradientTape() as tape:
            tape.watch(leaves)
            outputs = first(*leaves)
        seeds = [tf.constant(u, y.dtype) + tf.math.multiply_no_nan(y, tf.constant(c, y.dtype))
                 for u, c, y in zip(weights, bends, outputs)]
        found = tape.gradient(outputs, leaves, output_gradients=seeds)
        return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g)
                for g, x in zip(found, leaves)]

    return gradient


'''

# That of one number, by which nothing need be weighted.
GRADIENT_OF_ONE = '''def gradient_of(first):
    """Return what takes the gradient of the output of `first`."""
    def gradient(*leaves):
        with tf.GradientTape() as tape:
            tape.watch(leaves)
            outputs = first(*leaves)
        return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g)
                for g, x in zip(tape.gradient(outputs, leaves), leaves)]

    return gradient


'''

TANGENT = '''def tangent_of(first):
    """Return the function of its JVP along fixed tangents."""
    tangents = [{tangents}]

    def tangent(*leaves):
        seeds = [tf.constant(t, x.dtype) for t, x in zip(tangents, LEAVES)]
        with tf.autodiff.ForwardAccumulator(list(leaves), seeds) as accumulator:
            outputs = first(*leaves)
        found = [accumulator.jvp(y) for y in outputs]
        return [tf.zeros_like(y) if t is None else tf.convert_to_tensor(t)
                for t, y in zip(found, outputs)]

    return tangent


'''
