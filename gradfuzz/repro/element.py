"""The ending of a script: of one number of a Jacobian by the one that it should be."""

from dataclasses import dataclass

import numpy as np

from gradfuzz.errors import CaseFileError
from gradfuzz.evaluate import Program, feed
from gradfuzz.finding import Evidence
from gradfuzz.graph import Array, Graph
from gradfuzz.numeric.line import flatten
from gradfuzz.realview import real_view
from gradfuzz.repro.expected import allowed, expected, step_of
from gradfuzz.repro.literals import number_source, tensors_source
from gradfuzz.repro.shown import Shown
from gradfuzz.repro.ways import REVERSE_MODE, Way

DIFFERENCES = '''

def moved(step):
    """Return element {row} of output {output}, with element {element} of leaf {leaf} moved."""
    leaves = [x.copy() for x in LEAVES]
    leaves[{leaf}].flat[{element}] += step
    outputs = {truth}(*{moved})
    return np.float64(np.ravel(outputs[{output}].numpy())[{row}])


step = {step}
behind, base, ahead = moved(-step), moved(0), moved(step)
print("expected {expected}")
print(f"    (by differences {{(base - behind) / step:.10g}} and {{(ahead - base) / step:.10g}})")
'''

EXACT = """
print("expected {expected}")
print("    (to 50 digits; a difference of the function has too few to tell)")
"""

# Why the derivative at one place should be what it is at another one.
SYMMETRIC = """
print("A gradient has a symmetric Jacobian: two entries that should be the same, of which")
print("    expected is {here}, and")
print("    observed is {there}")
"""

BOUNDED = """print(f"observed {{observed}} ({way})")
sys.exit(0 if observed is not None and {low} <= observed <= {high} else 1)
"""

# Where differences do not tell which of two ways is wrong.
AGREEING = """expected = observed
{source}
print(f"expected {{expected}}, as in reverse mode")
print(f"observed {{observed}} ({way})")
found = np.array([expected, observed], float)  # None becomes no number
same = np.isfinite(found).all() and np.ptp(found) <= 1e-6 * np.abs(found).max()
sys.exit(0 if same else 1)
"""


def element(way: Way, showing: Shown, truth: str) -> str:
    """Return it.  `truth` is the name of the function that differences are of.

    Raises `CaseFileError` for evidence that does not say what the number should be.
    """
    evidence = showing.evidence
    # Where the value that was found is right, reverse mode is the way that is wrong.
    way = REVERSE_MODE if evidence.is_allowed else way
    if evidence.low is None:
        return _agreeing(way, showing)
    place, in_doubt = _Place.of(showing, evidence), _in_doubt(showing)
    primal = place.primal
    low, high = allowed(evidence, primal)
    numbers = EXACT if showing.is_exact else DIFFERENCES
    observed = way.element.format(**in_doubt.fields) + _symmetric(showing, place, in_doubt)
    return observed + (numbers + BOUNDED).format(
        **place.fields, truth=truth, moved=tensors_source("leaves", showing.graph),
        step=step_of(primal, place.element), expected=expected(evidence), way=way.name,
        low=number_source(low), high=number_source(high),
    )  # fmt: skip


def _agreeing(way: Way, showing: Shown) -> str:
    if way is REVERSE_MODE:
        raise CaseFileError("evidence: has no bounds of the derivative, should for a script")
    fields = _Place.of(showing, showing.evidence).fields
    source = way.element.format(**fields)
    return REVERSE_MODE.element.format(**fields) + AGREEING.format(source=source, way=way.name)


def _symmetric(showing: Shown, here: "_Place", there: "_Place") -> str:
    """Return what says that the number at one place should be that at the other one."""
    return SYMMETRIC.format(here=here, there=there) if showing.mirrored else ""


def _in_doubt(showing: Shown) -> "_Place":
    """Return the place of the number that is observed."""
    return _Place.of(showing, showing.mirrored or showing.evidence)


@dataclass(frozen=True, eq=False)
class _Place:
    """A place in the Jacobian of a script's function."""

    primal: Array
    leaf: int
    element: int
    output: int
    row: int
    size: int  # of that output

    @classmethod
    def of(cls, showing: Shown, evidence: Evidence) -> "_Place":
        primals = [real_view(x) for x in showing.graph.primals]
        sizes = [x.size for x in primals]
        if showing.derive != "gradient_of":
            sizes = _sizes(showing.graph)
        ends = np.cumsum(sizes)
        leaf, row = evidence.leaf or 0, evidence.output or 0
        output = int(np.searchsorted(ends, row, side="right"))
        row -= int(ends[output] - sizes[output])
        return cls(primals[leaf], leaf, evidence.element or 0, output, row, sizes[output])

    def __str__(self) -> str:
        return (f"element {self.row} of the gradient by leaf {self.output}, "
                f"by element {self.element} of leaf {self.leaf}")  # fmt: skip

    @property
    def fields(self) -> dict[str, object]:
        """What the sources of ways say of it."""
        points = len(self.primal) if self.primal.ndim else 1
        rows, columns = self.size // points or 1, self.primal.size // points
        return {
            "leaf": self.leaf, "element": self.element, "output": self.output, "row": self.row,
            "columns": self.primal.size, "blocks": (points, rows, columns),
            "block": f"{self.row // rows}, {self.row % rows}, {self.element % columns}",
        }  # fmt: skip


def _sizes(graph: Graph) -> list[int]:
    program = Program.of(graph)
    values = program.run(feed(program, [real_view(x) for x in graph.primals]))
    return [flatten([value]).size for value in values]
