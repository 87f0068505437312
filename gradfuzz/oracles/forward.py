"""Forward mode against reverse mode: the same inner product of a tangent and a cotangent."""

from gradfuzz.finding import Outcome
from gradfuzz.oracles.comparison import Comparison
from gradfuzz.oracles.place import Place
from gradfuzz.oracles.ways import FORWARD, REVERSE
from gradfuzz.subject import Subject

NAME = "forward"


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare JVPs with VJPs, at one element of one leaf if `at` is given.

    A JVP is made from the gradient of the gradient: where that is not registered is a gap.
    Source: `_jvp_helper` in tensorflow/python/eager/forwardprop.py.
    """
    return Comparison(subject, REVERSE, FORWARD).examine(at)
