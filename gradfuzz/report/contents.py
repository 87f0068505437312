"""What stands in a report, as plain values for its template."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradfuzz.casefile import Case
from gradfuzz.catalogue import Catalogue, all_ops
from gradfuzz.convergence import Convergence, convergence
from gradfuzz.corpus import Corpus, find_case_files
from gradfuzz.durations import format_duration
from gradfuzz.errors import CaseFileError, GradfuzzError, StorageError, UsageError
from gradfuzz.expect import Expect
from gradfuzz.fatal import is_fatal
from gradfuzz.finding import Vote
from gradfuzz.graph import format_array
from gradfuzz.guard import require_small
from gradfuzz.registry import registered_gradients, runs
from gradfuzz.report.chart import Series, line_chart
from gradfuzz.report.drawing import draw
from gradfuzz.report.runlog import OpCounts, RunLog, is_run, read_run
from gradfuzz.repro.shown import is_of_one_op
from gradfuzz.runtime import environment, tf
from gradfuzz.vote import vote

_ISSUE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")

# The speed is drawn in so many slices of the time, of so many seconds at least.
SLICES, SHORTEST = 60, 3.0
# An op is listed as inconclusive from this share on.
NOTABLE = 0.02


@dataclass(frozen=True)
class FindingView:
    """One finding.  `votes` is what each path to the derivative says of it, on this TensorFlow."""

    op: str
    input: str
    kind: str
    oracle: str
    message: str
    note: str
    link: str
    expect: str
    file: str
    seen: str
    graph: str
    drawing: str
    leaves: Sequence[str]
    votes: Mapping[str, str]
    convergence: str
    place: str


@dataclass(frozen=True)
class Cell:
    """One gradient function in the map: `state` is reached, found, covered, excluded or missing."""

    op: str
    state: str
    why: str


@dataclass(frozen=True)
class OpView:
    """An op of which much cannot be told."""

    op: str
    cases: int
    inconclusive: int
    share: float
    why: str


@dataclass(frozen=True)
class Contents:
    """All of a report."""

    title: str
    facts: Mapping[str, str]
    findings: Sequence[FindingView]
    problems: Sequence[str]
    coverage: Sequence[Cell]
    inconclusive: Sequence[OpView]
    speed: str


Cases = Iterable[tuple[Path, Case]]


def contents(
    path: Path, catalogues: Sequence[Catalogue], watched: Callable[[Cases], Cases] = iter
) -> Contents:
    """Return the report of a campaign's folder, or of a corpus.

    `watched` sees each case as it is made ready.  Its paths are asked anew only where it has no
    votes of this TensorFlow, since that takes half a second.
    Raises `UsageError` and `StorageError` for what is neither.
    """
    ops = set(all_ops(catalogues))
    if is_run(path):
        run = read_run(path)
        files = _files(run)
        facts = _facts(run)
    else:
        run, files, facts = RunLog({}), find_case_files(path), {}
        if not files:
            raise StorageError(f"{path}: holds no case file, should be a campaign or a corpus")
    cases, problems = _load(files, ops)
    findings = [_finding(file, case) for file, case in watched(cases)]
    return Contents(
        title=f"gradfuzz: {path.resolve().name}",
        facts={**facts, "findings": str(len(findings)), **environment()},
        findings=findings,
        problems=problems,
        coverage=_coverage(catalogues, run, [case for _, case in cases]),
        inconclusive=_inconclusive(run.ops),
        speed=_speed(run),
    )


def _files(run: RunLog) -> list[Path]:
    """Return the case files of a campaign.  Raises `UsageError` where its corpus is not there."""
    folder = Path(str(run.settings.get("corpus", "corpus")))
    if run.files and not folder.is_dir():
        raise UsageError(f"corpus {str(folder)!r} of the campaign: no such folder from here, "
                         "should be called where the campaign was")  # fmt: skip
    return [folder / name for name in sorted(set(run.files.values()))]


def _load(files: Sequence[Path], ops: set[str]) -> tuple[list[tuple[Path, Case]], list[str]]:
    cases, problems = [], []
    for file in files:
        try:
            cases.append((file, Corpus(file.parent, ops).load(file)))
        except CaseFileError as error:
            problems.append(str(error))
    return cases, problems


def _facts(run: RunLog) -> dict[str, str]:
    total, settings = run.total, run.settings
    spent = run.speed[-1][0] if run.speed else 0.0
    budget = float(settings.get("budget", 0))
    return {
        "started": str(settings.get("started", "")),
        "seed": str(settings.get("seed", "")),
        "time": f"{format_duration(spent)} of {format_duration(budget)}",
        "cases": f"{total.cases}, {total.cases / max(spent, 1e-9):.0f} a second",
        "ops": f"{sum(op.cases > 0 for op in run.ops.values())} seen",
        "gradient functions": f"{len(run.reached)} reached",
        "inconclusive": f"{total.inconclusive / max(total.cases, 1):.2%}",
    }


def _finding(file: Path, case: Case) -> FindingView:
    bucket, graph = case.finding.bucket, case.finding.graph
    said, chart, place = _now(case)
    return FindingView(
        op=bucket.op,
        input=bucket.input,
        kind=bucket.kind,
        oracle=bucket.oracle,
        message=case.finding.evidence.message,
        note=case.note,
        link=_url(case.link),
        expect="fails" if case.expect.on(tf.__version__) is Expect.FAILS else "passes",
        file=str(file),
        seen=f"{case.first_seen} to {case.last_seen}",
        graph=str(graph),
        drawing=draw(graph),
        leaves=[f"%{i} = {format_array(graph.primals[n])}" for n, i in enumerate(graph.leaves)],
        votes=said,
        convergence=chart,
        place=place,
    )


def _url(link: str) -> str:
    """Return the address of a page, or of "owner/repository#number" on GitHub; else ""."""
    if link.startswith("https://"):
        return link
    issue = _ISSUE.fullmatch(link)
    return f"https://github.com/{issue[1]}/issues/{issue[2]}" if issue else ""


def _now(case: Case) -> tuple[dict[str, str], str, str]:
    """Return what each path says of a case, and how the numeric derivative converges now.

    Nothing where they are of something else.
    """
    graph = case.finding.graph
    if is_fatal(case.finding.bucket.kind):
        return {"not run": "it would take this report with it"}, "", ""
    if is_of_one_op(case.finding):
        return {}, "", ""
    try:
        require_small(graph)
        said = {each.path: str(each) for each in _votes(case)}
        found = convergence(graph, case.finding.evidence, case.finding.bucket)
    except GradfuzzError as error:
        return {"not run": str(error)}, "", ""
    chart = _convergence_chart(found, case)
    return said, chart, found.place if chart else ""


def _votes(case: Case) -> Sequence[Vote]:
    """Return the votes that a case holds, if they are of this TensorFlow; else ask for them."""
    is_of_now = case.environment.get("tensorflow") == tf.__version__
    return case.finding.votes if is_of_now and case.finding.votes else vote(case.finding)


def _convergence_chart(found: Convergence, case: Case) -> str:
    evidence = case.finding.evidence
    series = []
    if evidence.low is not None and evidence.high is not None and not evidence.kink:
        true = (evidence.low + evidence.high) / 2
        series.append(_distances("to the true derivative", "true", found, true))
    if found.analytic is not None:
        series.append(_distances("to TensorFlow's", "analytic", found, found.analytic))
    # A single line has no legend.
    to = f" {series[0].name}" if len(series) == 1 else ""
    return line_chart(series, "step", f"distance of the difference quotient{to}", log=True)


def _distances(name: str, style: str, found: Convergence, value: float) -> Series:
    pairs = zip(found.steps.tolist(), abs(found.central - value).tolist(), strict=True)
    return Series(name, style, list(pairs))


def _coverage(catalogues: Sequence[Catalogue], run: RunLog, cases: Sequence[Case]) -> list[Cell]:
    covered = _gradients_of(all_ops(catalogues))
    excluded = {op: why for each in reversed(catalogues) for op, why in each.excluded.items()}
    found_in = _gradients_of(case.finding.bucket.op for case in cases)
    cells = []
    for op in registered_gradients():
        if op in found_in:
            cells.append(Cell(op, "found", "has a finding"))
        elif op in run.reached:
            cells.append(Cell(op, "reached", "its gradient ran"))
        elif op in covered:
            cells.append(Cell(op, "covered", "in the catalogue"))
        elif op in excluded:
            cells.append(Cell(op, "excluded", excluded[op]))
        else:
            cells.append(Cell(op, "missing", "not in the catalogue"))
    return cells


def _gradients_of(ops: Iterable[str]) -> set[str]:
    """Return the op types whose gradient functions calls of these run."""
    return {gradient for op in ops for gradient in runs(op)}


def _inconclusive(ops: Mapping[str, OpCounts]) -> list[OpView]:
    found = [
        OpView(op, each.cases, each.inconclusive, each.inconclusive / each.cases,
               each.reasons.most_common(1)[0][0] if each.reasons else "")
        for op, each in ops.items()
        if each.cases and each.inconclusive / each.cases >= NOTABLE
    ]  # fmt: skip
    return sorted(found, key=lambda each: -each.share)


def _speed(run: RunLog) -> str:
    """Draw the cases a second in slices of the time, all of one length."""
    end = run.speed[-1][0] if run.speed else 0.0
    count = min(SLICES, int(end // SHORTEST))
    if count < 2:
        return ""
    at, cases = np.array(run.speed).T
    edges = np.linspace(0.0, end, count + 1)
    by_then = np.concatenate([[0.0], cases])[np.searchsorted(at, edges, side="right")]
    rates = np.diff(by_then) / np.diff(edges)
    points = list(zip(((edges[1:] + edges[:-1]) / 2).tolist(), rates.tolist(), strict=True))
    return line_chart([Series("cases a second", "analytic", points)], "seconds", "cases a second",
                      log=False)  # fmt: skip
