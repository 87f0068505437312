"""A case as the text of an issue, in Markdown, ready to be filed."""

from collections.abc import Iterator, Sequence

from gradfuzz.casefile import Case
from gradfuzz.convergence import Convergence, convergence
from gradfuzz.finding import Vote
from gradfuzz.replay import Replayed, Status
from gradfuzz.repro.script import expected, script, title
from gradfuzz.runtime import environment
from gradfuzz.vote import vote


def issue(case: Case, replayed: Replayed) -> str:
    """Return the text: title, script, observed, expected, evidence, versions.

    `replayed` is what becomes of the case now.  Raises `GradfuzzError` for a case that has no
    script or does not run.
    """
    graph, evidence = case.finding.graph, case.finding.evidence
    parts = [
        f"# {title(case.finding)}",
        _now(replayed),
        f"## Script\n\nExit code 1 while the bug is there, 0 once it is gone.\n\n"
        f"```python\n{script(case)}```",
        f"## Expected\n\n{_expected(case)}",
        f"## Observed\n\n{replayed.message}",
        f"## Evidence\n\n{_evidence(convergence(graph, evidence), kink=evidence.kink)}",
        "What each way to the derivative says:\n\n" + "\n".join(_votes(vote(case.finding))),
        "## Versions\n\n" + "\n".join(f"- {k} {v}" for k, v in environment().items()),
    ]
    if case.note:
        parts.insert(2, case.note)
    return "\n\n".join(parts) + "\n"


def _now(replayed: Replayed) -> str:
    if replayed.status in (Status.FIXED, Status.PASSES):
        return "**This TensorFlow does not show it any more.**"
    return f"TensorFlow {environment()['tensorflow']} shows it."


def _expected(case: Case) -> str:
    evidence = case.finding.evidence
    if evidence.low is None:
        return "A gradient: the function is finite, and smooth along a random direction."
    return f"A derivative of {expected(evidence)}."


def _evidence(found: Convergence, *, kink: bool) -> str:
    head = (
        "The point is a kink: the slopes of the two sides differ, and the value returned lies "
        "outside of both."
        if kink
        else "The point is no kink: the quotients of both sides come together as the step shrinks."
    )
    rows = zip(found.steps, found.backward, found.central, found.forward, strict=True)
    lines = [f"| {step:.3g} | {back:.10g} | {mid:.10g} | {ahead:.10g} |"
             for step, back, mid, ahead in rows]  # fmt: skip
    table = ["| step | behind | central | ahead |", "|---|---|---|---|", *lines]
    return f"{head} Difference quotients of {found.place}:\n\n" + "\n".join(table)


def _votes(said: Sequence[Vote]) -> Iterator[str]:
    for each in said:
        yield f"- {each.path}: {each}"
