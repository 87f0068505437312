"""Run an op in this process, unless that call, or its gradient, would be the end of it.

The convolutions of TensorFlow 2.21 end a process where an axis is empty.  Campaigns draw such
calls, in workers, and the corpus has what they found.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradfuzz.errors import ForwardError
from gradfuzz.evaluate import call
from gradfuzz.graph import Ref

# The arguments that have, or are, the sizes of the image and of the window.
CONVOLUTIONS = {
    "Conv2D": ("input", "filter"),
    "Conv2DBackpropInput": ("input_sizes", "filter"),
    "Conv2DBackpropFilter": ("input", "filter_sizes"),
    "Conv3D": ("input", "filter"),
    "Conv3DBackpropInputV2": ("input_sizes", "filter"),
    "Conv3DBackpropFilterV2": ("input", "filter_sizes"),
}


def careful(op: str, args: Mapping[str, Any], values: Sequence[tuple[Any, ...]]) -> Any:
    """Run one op as `call` does.  Raises `ForwardError` where that would be fatal."""
    if is_fatal(op, args, values):
        raise ForwardError(f"{op}: is the end of the process")
    return call(op, args, values)


def is_fatal(op: str, args: Mapping[str, Any], values: Sequence[tuple[Any, ...]]) -> bool:
    """Return whether a call is a convolution with an empty axis on the way."""
    if op not in CONVOLUTIONS:
        return False
    image, window = (_sizes(args[name], values) for name in CONVOLUTIONS[op])
    pads = args.get("explicit_paddings") or [0] * 2 * len(image)
    padded = [size + pads[2 * i] + pads[2 * i + 1] for i, size in enumerate(image)][1:-1]
    dilations = (args.get("dilations") or [1] * len(image))[1:-1]
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=False)]
    outside = any(r > size for r, size in zip(reach, padded, strict=True))
    return 0 in (*image, *window) or (outside and args["padding"] != "SAME")


def _sizes(arg: Any, values: Sequence[tuple[Any, ...]]) -> list[int]:
    if isinstance(arg, Ref):
        return [int(size) for size in np.shape(values[arg.node][arg.output])]
    return [int(size) for size in arg]
