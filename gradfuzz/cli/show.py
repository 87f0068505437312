"""`gradfuzz show`: one saved case in full, and what becomes of it now."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradfuzz.arrayjson import encode_array, encode_float
from gradfuzz.casefile import Case
from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.cli.replay import message_of
from gradfuzz.cli.tables import facts, titled
from gradfuzz.cli.terminal import one_line, plain, terminal, write_json
from gradfuzz.convergence import Convergence, convergence
from gradfuzz.corpus import Corpus
from gradfuzz.crew import sacrifice
from gradfuzz.errors import CaseFileError, GradfuzzError
from gradfuzz.expect import Expect, Expectation, expect_as_json
from gradfuzz.fatal import is_fatal
from gradfuzz.finding import Evidence, Vote
from gradfuzz.graph import Array, Graph, Leaf
from gradfuzz.replay import Replayed, Status, replay_one
from gradfuzz.repro.shown import is_of_one_op
from gradfuzz.runtime import environment

# A path is called apart from the numeric value by more than this part of it.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Shown:
    """A case as it is saved, and as it is now.

    `convergence` is an error where it has none, and None where it cannot be looked at.
    """

    path: Path
    case: Case
    replayed: Replayed
    convergence: Convergence | GradfuzzError | None

    @property
    def fresh(self) -> Evidence | None:
        """The numbers of the case as it is now, if it disagrees."""
        report = self.replayed.report
        return report.finding.evidence if report and report.finding else None


def show(path: Path, *, as_json: bool) -> int:
    """Print one case, and return the exit code.

    Raises `CaseFileError` where it cannot be read, and, once all else is printed, a
    `GradfuzzError` where it cannot be run.
    """
    catalogue = set(all_ops(load_catalogues()))
    case = Corpus(path.parent, catalogue).load(path)
    with sacrifice() as ask:
        replayed = replay_one(path, catalogue, ask)
    shown = Shown(path, case, replayed, _convergence(case, replayed))
    if as_json:
        write_json(_as_json(shown))
    else:
        _show(terminal(), shown)
    if isinstance(shown.convergence, GradfuzzError):
        shown.convergence.told = as_json
        raise shown.convergence
    return 0


def _convergence(case: Case, replayed: Replayed) -> Convergence | GradfuzzError | None:
    """Return how differences converge.

    None where they are of something else, and for a graph that this process would not survive.
    """
    if replayed.status is Status.ERROR:
        return CaseFileError(f"{replayed.path}: {message_of(replayed)}")
    now = replayed.report.finding if replayed.report else None
    if is_fatal(case.finding.bucket.kind) or (now and is_fatal(now.bucket.kind)):
        return None
    finding = case.finding
    if is_of_one_op(finding):
        return None
    try:
        return convergence(finding.graph, finding.evidence, finding.bucket)
    except GradfuzzError as error:
        return CaseFileError(f"{replayed.path}: {error}")


def _show(console: Console, shown: Shown) -> None:
    graph = shown.case.finding.graph
    console.print(one_line(shown.case.finding.bucket, "bold red"))
    console.print(_facts(shown))
    _section(console, "Graph", str(graph))
    _section(console, "Input values", "\n".join(_arrays(graph, console.width)))
    console.print()
    console.print(_numbers(shown))
    if shown.case.finding.votes and not is_of_one_op(shown.case.finding):
        console.print()
        console.print(_votes(shown.case.finding.votes))
    if isinstance(shown.convergence, Convergence):
        console.print()
        _show_convergence(console, shown.convergence)


def _section(console: Console, title: str, body: str) -> None:
    console.print(f"\n{title}", style="bold")
    # A long line is the terminal's to wrap, so that it is copied as one.
    console.print(plain(indent(body, "  ")), soft_wrap=True)


def _facts(shown: Shown) -> Table:
    case, status = shown.case, shown.replayed.status
    same = case.environment == environment()
    rows = {
        "file": one_line(shown.path, "cyan"),
        "expect": one_line(_expect(case.expect)),
        "now": Text(f"{status.value}, {'as expected' if status.expected else 'not as expected'}"),
        "link": one_line(case.link, "cyan"),
        "note": plain(case.note),
        "seen": one_line(f"{case.first_seen} to {case.last_seen}"),
        "round seed": one_line("" if case.seed is None else case.seed),
        "saved on": one_line(_line(case.environment)),
        "now on": one_line("the same" if same else _line(environment())),
    }
    return facts(rows)


def _expect(expect: Expectation) -> str:
    if isinstance(expect, Expect):
        return expect.value
    return f"fails below TensorFlow {expect.version}, passes from it on"


def _line(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _arrays(graph: Graph, width: int) -> Iterator[str]:
    """Yield each leaf, and each constant that the graph is too short to show, in full."""
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Leaf):
            yield _array(f"%{index}", node.value, width)
            continue
        for name, arg in node.args.items():
            if isinstance(arg, np.ndarray) and arg.size > 8:
                yield _array(f"%{index} {name}", arg, width)


def _array(name: str, value: Array, width: int) -> str:
    head = f"{name} = "
    text = np.array2string(
        value, separator=", ", threshold=sys.maxsize, max_line_width=width - len(head) - 4,
        formatter={"float_kind": str, "complex_kind": str},
    )  # fmt: skip
    return head + text.replace("\n", "\n" + " " * len(head))


def _numbers(shown: Shown) -> Table:
    table = titled("Numbers")
    table.add_column("")
    table.add_column("saved", overflow="fold")
    table.add_column("now", overflow="fold")
    saved, now = _rows(shown.case.finding.evidence), _fresh_rows(shown)
    for name in saved:
        if saved[name] or now[name]:
            table.add_row(Text(name, "dim"), one_line(saved[name]), one_line(now[name]))
    return table


def _votes(votes: Sequence[Vote]) -> Table:
    """Return what each path says, those apart from the numeric value in red."""
    table = titled("What each path says")
    table.add_column("path")
    table.add_column("value", overflow="fold")
    judge = next((vote for vote in votes if vote.error is not None), None)
    for vote in votes:
        style = "red" if judge and _apart(vote, judge) else ""
        table.add_row(one_line(vote.path, "dim"), one_line(vote, style))
    return table


def _apart(vote: Vote, judge: Vote) -> bool:
    if vote.value is None or judge.value is None or judge.error is None:
        return vote.value is None
    bound = 10 * judge.error + ROUNDING * abs(judge.value)
    return not abs(vote.value - judge.value) <= bound


def _rows(evidence: Evidence) -> dict[str, str]:
    places = (("output", evidence.output), ("element", evidence.element), ("leaf", evidence.leaf))
    analytic = evidence.analytic
    return {
        "place": ", ".join(f"{name} {index}" for name, index in places if index is not None),
        "analytic": "" if analytic is None else repr(analytic),
        "derivative": _bounds(evidence),
        "message": evidence.message,
    }


def _fresh_rows(shown: Shown) -> dict[str, str]:
    """Return the numbers as they are now; where none are wrong, the analytic one all the same."""
    if shown.fresh is not None:
        return _rows(shown.fresh)
    rows = _rows(Evidence(message_of(shown.replayed)))
    if isinstance(shown.convergence, Convergence) and shown.convergence.analytic is not None:
        rows["analytic"] = repr(shown.convergence.analytic)
    return rows


def _bounds(evidence: Evidence) -> str:
    low, high = evidence.low, evidence.high
    if low is None or high is None:
        return ""
    if evidence.kink:
        return f"between the one-sided slopes {low:.10g} and {high:.10g}"
    if low == high:  # to the last digit, which may be the one that matters
        return f"{float(low)!r} ± 0"
    with np.errstate(invalid="ignore", over="ignore"):
        return f"{(low + high) / 2:.12g} ± {(high - low) / 2:.1g}"


def _show_convergence(console: Console, found: Convergence) -> None:
    table = titled("Convergence")
    for name in ("step", "backward", "central", "forward", "central - analytic"):
        table.add_column(name, justify="right")
    for step, backward, central, forward, difference in _quotients(found):
        table.add_row(f"{step:.3g}", f"{backward:.10g}", f"{central:.10g}", f"{forward:.10g}",
                      f"{difference:.2e}")  # fmt: skip
    table.add_section()
    analytic = "none" if found.analytic is None else f"{found.analytic:.10g}"
    table.add_row("analytic", "", f"► {analytic}", "", "", style="bold magenta")
    console.print(table)
    console.print(one_line(f"of {found.place}", "dim"))
    if found.problem:
        console.print(one_line(found.problem, "red"))


def _quotients(found: Convergence) -> Iterator[tuple[float, ...]]:
    columns = (found.steps, found.backward, found.central, found.forward, found.differences)
    return zip(*(column.tolist() for column in columns), strict=True)


def _as_json(shown: Shown) -> dict[str, Any]:
    case = shown.case
    arrays = [(i, node.value) for i, node in enumerate(case.finding.graph.nodes)
              if isinstance(node, Leaf)]  # fmt: skip
    return {
        "file": str(shown.path),
        "bucket": asdict(case.finding.bucket),
        "status": shown.replayed.status.value,
        "expected": shown.replayed.status.expected,
        "expect": expect_as_json(case.expect),
        "message": message_of(shown.replayed),
        "link": case.link,
        "note": case.note,
        "seed": case.seed,
        "first_seen": case.first_seen,
        "last_seen": case.last_seen,
        "environment": {"saved": case.environment, "now": environment()},
        "graph": str(case.finding.graph),
        "leaves": [{"node": i, "value": encode_array(x, f"nodes[{i}]")} for i, x in arrays],
        "evidence": {"saved": _evidence_as_json(case.finding.evidence),
                     "now": _evidence_as_json(shown.fresh)},
        "votes": [_evidence_as_json(vote) for vote in case.finding.votes],
        "convergence": _convergence_as_json(shown.convergence),
    }  # fmt: skip


def _evidence_as_json(evidence: Evidence | Vote | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    return {name: encode_float(value) if isinstance(value, float) else value
            for name, value in asdict(evidence).items()}  # fmt: skip


def _convergence_as_json(found: Convergence | GradfuzzError | None) -> dict[str, Any] | None:
    if found is None:
        return None
    if isinstance(found, GradfuzzError):
        return {"error": str(found)}
    names = ("step", "backward", "central", "forward", "difference")
    return {
        "of": found.place,
        "analytic": None if found.analytic is None else encode_float(found.analytic),
        "problem": found.problem,
        "rows": [dict(zip(names, map(encode_float, row), strict=True))
                 for row in _quotients(found)],
    }  # fmt: skip
