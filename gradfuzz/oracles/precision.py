"""How many digits of a derivative are right.

An elementwise op that mpmath can express is compared with its derivative to 50 digits.  Of any
other graph, the float32 gradient is compared with the float64 one.
"""

from gradfuzz.finding import AGREED, Fault, Outcome, gap, inconclusive
from gradfuzz.oracles import numeric, second
from gradfuzz.oracles.digits import is_exact, sharps
from gradfuzz.oracles.place import Place
from gradfuzz.oracles.single import compare_precisions
from gradfuzz.subject import Subject

NAME = "precision"


def examine(subject: Subject, *, at: Place | None = None) -> Outcome:
    """Compare elementwise calls with exact derivatives, or else float32 with float64."""
    if not subject.has_graph:
        return gap("only of the ops of a graph are there exact derivatives")
    for sharp in sharps(subject):
        outcome = sharp.examine()
        if outcome.fault is not None and _is_seen(subject, outcome.fault):
            return inconclusive("no matter of digits")
        if outcome is not AGREED:
            return outcome
    if all(is_exact(subject, call) for _, call in subject.computation.graph.calls):
        return AGREED
    return compare_precisions(subject, at)


def _is_seen(subject: Subject, fault: Fault) -> bool:
    """Return whether an oracle that needs no exact value sees a fault in float64, too."""
    order = second if fault.path.endswith("second") else numeric
    return fault.path.startswith("float64") and order.examine(subject).fault is not None
