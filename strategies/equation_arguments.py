"""The arguments of an Einstein summation: an equation, and operands that fit it."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from gradfuzz.graph import Ref
from gradfuzz.strategies.arguments import Real, Scope

LABELS = "abcd"
MOST_LABELS = 3


@dataclass(frozen=True)
class Equation:
    """An equation of one operand or two, such as "ab,b...->...a".

    Labels may stand twice in an operand, or twice in the output; those that are not in the output
    are summed over.  Shrinks towards a scalar by itself.
    """

    def draw(self, scope: Scope) -> str:
        terms = [_term(scope)]
        if scope.choose(st.booleans()):
            terms.append(_term(scope))
        labels = sorted(set("".join(terms)) & set(LABELS))
        output = scope.choose(st.lists(st.sampled_from(labels), max_size=MOST_LABELS)
                              if labels else st.just([]))  # fmt: skip
        if any("." in term for term in terms):
            output.insert(scope.choose(st.integers(0, len(output))), "...")
        return f"{','.join(terms)}->{''.join(output)}"


def _term(scope: Scope) -> str:
    labels = scope.choose(st.lists(st.sampled_from(LABELS), max_size=MOST_LABELS))
    if scope.choose(st.booleans()):
        labels.insert(scope.choose(st.integers(0, len(labels))), "...")
    return "".join(labels)


@dataclass(frozen=True)
class Operands:
    """The list of primals that fits the argument `equation`, which was drawn before.

    A label is an axis; an ellipsis is a run, which broadcasts.
    """

    dtype: str = "float64"

    def draw(self, scope: Scope) -> list[Ref]:
        return [Real(pattern, dtype=self.dtype).draw(scope) for pattern in patterns(scope.args)]


def patterns(args: dict[str, Any]) -> list[str]:
    """Return the pattern of each operand of the argument `equation`."""
    terms = args["equation"].split("->")[0].replace("...", ".").split(",")
    return [" ".join("*#e" if label == "." else label for label in term) for term in terms]
