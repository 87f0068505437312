"""A case as the text of an issue, in Markdown, ready to be filed."""

from collections.abc import Iterator

from gradfuzz.casefile import Case
from gradfuzz.convergence import Convergence, convergence
from gradfuzz.fatal import is_fatal
from gradfuzz.finding import Evidence, Finding
from gradfuzz.replay import Replayed, Status
from gradfuzz.repro.expected import expected
from gradfuzz.repro.script import script, title
from gradfuzz.repro.shown import shown
from gradfuzz.runtime import environment
from gradfuzz.vote import vote


def issue(case: Case, replayed: Replayed) -> str:
    """Return the text: title, script, observed, expected, evidence, versions.

    `replayed` is what becomes of the case now.  Raises `GradfuzzError` for a case that has no
    script or does not run.
    """
    parts = [
        f"# {title(case.finding)}",
        _now(replayed),
        case.note,
        f"## Script\n\nExit code 1 while the bug is there, 0 once it is gone.\n\n"
        f"```python\n{script(case)}```",
        f"## Expected\n\n{_expected(case)}",
        f"## Observed\n\n{replayed.message}",
        # Nothing more is run of what would be the end of this process.
        *(() if is_fatal(case.finding.bucket.kind) else _evidence(case.finding)),
        "## Versions\n\n" + "\n".join(f"- {k} {v}" for k, v in environment().items()),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _now(replayed: Replayed) -> str:
    if replayed.status in (Status.FIXED, Status.PASSES):
        return "**This TensorFlow does not show it any more.**"
    return f"TensorFlow {environment()['tensorflow']} shows it."


def _expected(case: Case) -> str:
    finding = case.finding
    if is_fatal(finding.bucket.kind):
        return "A gradient, or an error that refuses to compute it."
    if finding.evidence.low is None:
        return "A gradient: the function is finite, and smooth along a random direction."
    return f"A derivative of {expected(finding.evidence)}."


def _evidence(finding: Finding) -> Iterator[str]:
    """Yield the section that shows how differences converge, and what every path says."""
    showing = shown(finding)
    if showing.is_exact:
        yield (
            "## Evidence\n\nThe derivative that is expected comes of arithmetic of 50 digits; "
            "differences have too few to tell."
        )
        return
    found = convergence(finding.graph, finding.evidence, finding.bucket)
    yield f"## Evidence\n\n{_table(found, finding.evidence)}"
    said = "\n".join(f"- {each.path}: {each}" for each in vote(finding))
    yield f"What each way to the derivative says:\n\n{said}"
    if showing.mirrored:
        yield (
            "Transposed is the entry on the other side of the diagonal, which should be the same: "
            "a gradient has a symmetric Jacobian."
        )


def _table(found: Convergence, evidence: Evidence) -> str:
    rows = zip(found.steps, found.backward, found.central, found.forward, strict=True)
    lines = [f"| {step:.3g} | {back:.10g} | {mid:.10g} | {ahead:.10g} |"
             for step, back, mid, ahead in rows]  # fmt: skip
    table = ["| step | behind | central | ahead |", "|---|---|---|---|", *lines]
    head = f"{_smoothness(evidence)}Difference quotients of {found.place}:"
    return f"{head}\n\n" + "\n".join(table)


def _smoothness(evidence: Evidence) -> str:
    """Return what is known of the point, "" where no bounds say what the derivative is."""
    if evidence.kink:
        return (
            "The point is a kink: the slopes of the two sides differ, and the value returned lies "
            "outside of both. "
        )
    if evidence.low is None:
        return ""
    return "The point is no kink: the quotients of both sides come together as the step shrinks. "
