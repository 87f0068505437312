"""What a campaign came to, for a person and as JSON."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from gradfuzz.cli.tables import case_table, facts, titled
from gradfuzz.cli.tally import OpTally, Saved, Tally
from gradfuzz.cli.terminal import counted, one_line
from gradfuzz.durations import format_duration
from gradfuzz.finding import Bucket
from gradfuzz.known import Accepted, stale
from gradfuzz.runfolder import Settings

# So many known buckets, and ops with the largest inconclusive share, are listed.
ROWS = 10
# With so many cases of its op, what is known and not seen is named as stale.
ENOUGH = 1000
# An op is named as inconclusive from this share on.
NOTABLE = 0.05


@dataclass(frozen=True)
class Summary:
    """A campaign that is over: its counts, and how it was started and ended.

    `error` is the line of the error that ended it, "" for none; `accepted` what was known by
    patterns.
    """

    tally: Tally
    settings: Settings
    run: Path
    seconds: float
    stopped: bool = False
    error: str = ""
    accepted: tuple[Accepted, ...] = ()

    @property
    def stale(self) -> list[Accepted]:
        """What was accepted and not seen, though its op had cases enough."""
        ops = self.tally.ops
        tried = [each for each in self.accepted if _cases(each, ops) >= ENOUGH]
        return stale(tried, self.tally.hits)


def _cases(accepted: Accepted, ops: Mapping[str, OpTally]) -> int:
    """Return how many cases the ops had that a pattern names."""
    start = accepted.bucket.partition("*")[0]
    return sum(op.cases for name, op in ops.items() if start.startswith(name))


def show_summary(console: Console, summary: Summary) -> None:
    """Print the counts, the new findings, the known ones, and what to do next."""
    tally = summary.tally
    console.print(_head(summary))
    if tally.new:
        console.print()
        console.print(_new(console, tally))
    for table in (_known(tally), _inconclusive(tally), _gaps(tally)):
        if table.row_count:
            console.print()
            console.print(table)
    console.print()
    if tally.dropped:
        count = counted(sum(tally.dropped.values()), "disagreement")
        console.print(f"Dropped, as they did not repeat: {count}.")
    if tally.failed:
        console.print(
            one_line(f"Rounds that ended early: {', '.join(sorted(tally.failed))}.", "yellow")
        )
    for accepted in summary.stale:
        text = f"stale: {accepted.bucket!r} of known.toml ({accepted.sort}) was not seen"
        console.print(one_line(text, "yellow"), soft_wrap=True)
    for op, reason in sorted(tally.broken.items()):
        console.print(one_line(f"please report this: {op}: {reason}", "bold red"))
    _next(console, summary)


def _head(summary: Summary) -> Table:
    tally, total = summary.tally, summary.tally.total
    ended = " (stopped early)" if summary.stopped else ""
    speed = total.cases / max(summary.seconds, 1e-9)
    budget = format_duration(summary.settings.budget)
    rows = {
        "run": str(summary.run),
        "seed": str(summary.settings.seed),
        "time": f"{format_duration(summary.seconds)} of {budget}{ended}",
        "cases": f"{total.cases}, {speed:.0f} a second; {total.rejected} more were rejected",
        "ops": f"{tally.ops_seen} of {len(summary.settings.ops)} seen",
        "gradients": f"{counted(len(tally.gradients), 'gradient function')} ran",
        "findings": f"{len(tally.new)} new, {len(tally.known_hits)} known",
        "inconclusive": f"{counted(total.inconclusive, 'case')}, {total.share:.2%}",
        "oracles": _shares(tally),
        "deaths": ", ".join(f"{count} {kind}" for kind, count in sorted(tally.deaths.items())),
    }
    return facts({name: Text(row) for name, row in rows.items()})


def _shares(tally: Tally) -> str:
    """Return how the time went: "numeric 60 %, second 40 %"."""
    total = max(sum(tally.seconds.values()), 1e-9)
    most_first = sorted(tally.seconds.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {spent / total:.0%}" for name, spent in most_first)


def _new(console: Console, tally: Tally) -> RenderableType:
    rows = [
        (
            one_line(bucket, "red"),
            one_line(saved.finding.evidence.message + ("" if saved.shrunk else " (not shrunk)")),
            one_line(saved.path, "cyan"),
        )
        for bucket, saved in sorted(tally.new.items(), key=lambda pair: pair[0])
    ]
    return case_table(console, "New findings", ("bucket", "message", "file"), rows)


def _known(tally: Tally) -> Table:
    table = titled("Known buckets hit")
    table.add_column("bucket", overflow="fold")
    table.add_column("cases", justify="right")
    hits = list(tally.known_hits.items())
    for bucket, count in hits[:ROWS]:
        table.add_row(one_line(bucket), str(count))
    if len(hits) > ROWS:
        rest = sum(count for _, count in hits[ROWS:])
        table.add_row(f"and {len(hits) - ROWS} more", str(rest), style="dim")
    return table


def _inconclusive(tally: Tally) -> Table:
    table = titled("Most inconclusive ops")
    table.add_column("op")
    table.add_column("share", justify="right")
    table.add_column("cases", justify="right")
    table.add_column("most often because", overflow="fold")
    ranked = sorted(tally.ops.items(), key=lambda pair: -pair[1].share)
    for name, op in ranked[:ROWS]:
        if op.share >= NOTABLE:
            reason = op.reasons.most_common(1)[0][0]
            counts = f"{op.inconclusive}/{op.cases}"
            table.add_row(one_line(name), f"{op.share:.0%}", counts, one_line(reason))
    return table


def _gaps(tally: Tally) -> Table:
    table = titled("Derivatives that TensorFlow has not")
    table.add_column("op")
    table.add_column("cases", justify="right")
    table.add_column("most often", overflow="fold")
    ranked = sorted(tally.ops.items(), key=lambda pair: -pair[1].gaps.total())
    for name, op in [row for row in ranked if row[1].gaps][:ROWS]:
        [(reason, _)] = op.gaps.most_common(1)
        table.add_row(one_line(name), f"{op.gaps.total()}/{op.cases}", one_line(reason))
    return table


def _next(console: Console, summary: Summary) -> None:
    new = summary.tally.new
    if not new:
        console.print("Nothing new.", style="green")
        return
    first = next(iter(new.values())).path
    folder = shlex.quote(summary.settings.corpus)
    console.print("Next:", style="bold")
    files = "".join(f" --ops-from {shlex.quote(file)}" for file in summary.settings.ops_from)
    for command, purpose in (
        (f"gradfuzz show {shlex.quote(str(first))}{files}", "look at one finding"),
        (f"gradfuzz replay {folder}{files}", "check all of them again"),
        (f"gradfuzz report {shlex.quote(str(summary.run))}", "read all of it on one page"),
        (f"gradfuzz triage {folder}{files}", "say of each new one what it is"),
    ):
        line = one_line(f"  {command}", "cyan") + Text(f"   {purpose}", "dim")
        console.print(line, soft_wrap=True)


def summary_as_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as a JSON object."""
    tally, total = summary.tally, summary.tally.total
    found_in = [bucket.op for bucket in tally.new]
    ops = {name: _op_as_json(tally.ops[name], found_in.count(name))
           for name in sorted({*tally.ops, *found_in})}  # fmt: skip
    return {
        "run": str(summary.run),
        "seed": summary.settings.seed,
        "budget": summary.settings.budget,
        "seconds": round(summary.seconds, 3),
        "stopped": summary.stopped,
        "error": summary.error or None,
        "corpus": summary.settings.corpus,
        "cases": total.cases,
        "rejected": total.rejected,
        "inconclusive": total.inconclusive,
        "oracles": {name: round(spent, 3) for name, spent in sorted(tally.seconds.items())},
        "ops": ops,
        "findings": [_saved_as_json(saved) for _, saved in sorted(tally.new.items())],
        "known": [_hit_as_json(*hit) for hit in tally.known_hits.items()],
        "stale": [accepted.bucket for accepted in summary.stale],
        "deaths": dict(sorted(tally.deaths.items())),
        "gradients": sorted(tally.gradients),
        "dropped": [_hit_as_json(*hit) for hit in sorted(tally.dropped.items())],
        "failed": [{"op": op, "reason": why} for op, why in sorted(tally.failed.items())],
        "broken": [{"op": op, "reason": why} for op, why in sorted(tally.broken.items())],
    }


def _op_as_json(op: OpTally, findings: int) -> dict[str, int]:
    return {
        "cases": op.cases,
        "rejected": op.rejected,
        "inconclusive": op.inconclusive,
        "gaps": op.gaps.total(),
        "findings": findings,
    }


def _saved_as_json(saved: Saved) -> dict[str, Any]:
    finding = saved.finding
    return {
        "bucket": asdict(finding.bucket),
        "file": str(saved.path),
        "message": finding.evidence.message,
        "graph": str(finding.graph),
        "shrunk": saved.shrunk,
    }


def _hit_as_json(bucket: Bucket, count: int) -> dict[str, Any]:
    return {"bucket": asdict(bucket), "cases": count}
