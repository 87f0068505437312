"""What a campaign shows while it runs, on terminals wide and narrow."""

import io
from pathlib import Path

from rich.console import Console

from gradfuzz.cli.live import Progress
from gradfuzz.cli.tally import Tally
from gradfuzz.clock import StoppableClock, Stopwatch
from gradfuzz.events import CaseChecked, CaseRejected, RoundEnded, RoundStarted, WorkerDied
from gradfuzz.finding import Bucket, Verdict
from gradfuzz.process import Worker

LOG = Bucket("Log", "numeric", "value", "x")


def progress(*, stopped: bool = False) -> Progress:
    tally = Tally({LOG})
    for event in (
        RoundStarted("Log", "numeric"),
        CaseChecked("Log", Verdict.AGREE),
        CaseChecked("Log", Verdict.DISAGREE, LOG),
        CaseChecked("Log", Verdict.INCONCLUSIVE, reason="unclear"),
        CaseRejected("Log"),
        WorkerDied("Log", "hangs"),
        RoundEnded("Log", "numeric", 1.0, frozenset({"Log"})),
    ):
        tally.count(event)
    clock = StoppableClock(stopped)
    return Progress(tally, 3600.0, 300, 400, clock, Stopwatch(60.0), [Worker(0, Path())])


def shown(width: int) -> list[str]:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(progress())
    return console.export_text().splitlines()


def test_a_line_for_a_log_has_all_counts() -> None:
    assert progress().line() == (
        "59m left · ops 1/300 · gradients 1/400 · 3 cases, 0/s · 0 new, 1 known · "
        "33.3% inconclusive · 1 death · 1 rejected"
    )


def test_a_wide_terminal_shows_bars_workers_oracles_and_buckets() -> None:
    text = "\n".join(shown(120))
    for part in ("59m left", "ops 1/300", "gradients 1/400", "numeric 0.1/s", "worker 0: idle",
                 "1 death", "known Log.x value (numeric), 1 case"):  # fmt: skip
        assert part in text


def test_a_narrow_terminal_drops_what_was_rejected_before_what_was_inconclusive() -> None:
    [line] = [line for line in shown(56) if "cases" in line]
    assert "inconclusive" in line
    assert "rejected" not in line


def test_a_campaign_that_is_asked_to_stop_says_so() -> None:
    assert progress(stopped=True).line().startswith("stopping (again: at once)")
