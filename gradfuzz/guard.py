"""Refuse a graph that would allocate without bound, before anything of it runs.

A case file of a hundred bytes can ask `Fill` for a terabyte.  TensorFlow's shape inference
knows that from the constants alone.
"""

from typing import Any

from gradfuzz.errors import CaseFileError, ForwardError, UsageError
from gradfuzz.evaluate import Outputs, call, variable
from gradfuzz.graph import Graph, Leaf
from gradfuzz.runtime import tf

ELEMENTS_AT_MOST = 2**26

# What a function does, beside refusing its arguments, when it is built rather than run.  The
# run will say it better, so it is not the guard's to report.
_NOT_BUILT = (ForwardError, UsageError, AttributeError, ArithmeticError, LookupError, RuntimeError)


def require_small(graph: Graph) -> None:
    """Raise `CaseFileError`, naming the node, where the graph's tensors are too large in all.

    The graph is built but not run.  A size that is not known before the run counts as nothing,
    and so do a node that cannot be built and those that read it.
    """
    built: list[Outputs] = []
    elements = counted = 0
    # A leaf is a constant here: an op may compute a shape from its value.
    with tf.Graph().as_default() as scratch:
        for index, node in enumerate(graph.nodes):
            try:
                if isinstance(node, Leaf):
                    value = tf.constant(node.value)
                    built.append((variable(value) if node.variable else value,))
                else:
                    built.append(call(node.op, node.args, built))
            except _NOT_BUILT:
                built.append(())
            # Before the next node is built: its inference may compute the value of this one.
            operations = scratch.get_operations()
            elements += sum(map(_elements, operations[counted:]))
            counted = len(operations)
            if elements > ELEMENTS_AT_MOST:
                raise CaseFileError(f"nodes[{index}]: {elements} elements up to here, "
                                    f"should be at most {ELEMENTS_AT_MOST}")  # fmt: skip


def _elements(operation: Any) -> int:
    return sum(output.shape.num_elements() or 0 for output in operation.outputs)
