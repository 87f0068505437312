"""`gradfuzz replay`: replay saved cases and compare each with what it is expected to do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.text import Text

from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.cli.output import require_writable
from gradfuzz.cli.tables import case_table
from gradfuzz.cli.terminal import counted, one_line, terminal, write_json
from gradfuzz.crew import sacrifice
from gradfuzz.errors import StorageError, UsageError
from gradfuzz.expect import expect_as_json
from gradfuzz.known import Accepted, read_accepted, stale
from gradfuzz.replay import LIMITS, Replayed, Status, case_files, replay_one
from gradfuzz.runtime import environment

STYLES = {Status.ERROR: "bold red", Status.STILL_FAILS: "green", Status.PASSES: "green"}
SURPRISE = "bold yellow"
# What a shell gives for a process that Ctrl-C ended.
INTERRUPTED = 130


def replay(
    paths: Sequence[Path], *, as_json: bool, junit: Path | None = None, github: bool = False
) -> int:
    """Replay every case of `paths`, print what became of each, and return the exit code.

    Also writes it to `junit` as XML, and prints the surprises as annotations for `github`.
    Raises `UsageError` for a file that cannot be written, and where no path has a case.
    """
    files, problems = _files(paths)
    if junit is not None:
        require_writable(junit, "--junit")
    console = terminal(stderr=as_json)
    catalogue = set(all_ops(load_catalogues()))
    bar = terminal(stderr=True)
    files_shown = track(
        files, "replaying", console=bar, transient=True, disable=not bar.is_terminal
    )
    done: list[Replayed] = []
    interrupted = False
    try:
        with sacrifice(limits=LIMITS) as ask:
            for file in files_shown:
                done.append(replay_one(file, catalogue, ask))
    except KeyboardInterrupt:
        interrupted = True
    _show(console, done, len(files))
    unseen = [] if interrupted else _stale(paths, done)
    for accepted in unseen:
        text = f"stale: {accepted.bucket!r} of known.toml ({accepted.sort}) is not seen any more"
        console.print(one_line(text, SURPRISE), soft_wrap=True)
    for problem in problems:
        terminal(stderr=True).print(one_line(f"gradfuzz: {problem}", "red"))
    code = INTERRUPTED if interrupted else _exit_code(done, problems)
    _tell_ci(done, problems, junit, github=github)
    if as_json:
        write_json(_as_json(done, problems, code) | {"stale": [each.bucket for each in unseen]})
    return code


def _stale(paths: Sequence[Path], done: Sequence[Replayed]) -> list[Accepted]:
    """Return what corpora accept of which they have cases, none of which shows it any more."""
    seen = {each.report.finding.bucket for each in done if each.report and each.report.finding}
    saved = {each.case.finding.bucket for each in done if each.case}
    accepted = [each for path in paths if path.is_dir() for each in read_accepted(path)]
    return [each for each in stale(accepted, seen) if each not in stale(accepted, saved)]


def _tell_ci(
    done: Sequence[Replayed], problems: Sequence[str], junit: Path | None, *, github: bool
) -> None:
    # Both are rarely asked for, and read what stands in this module.
    from gradfuzz.cli.annotations import annotations
    from gradfuzz.cli.junit import write_junit

    if github:
        for line in annotations(done, problems):
            terminal().print(line, soft_wrap=True)
    if junit is not None:
        write_junit(junit, done, problems)


def message_of(replayed: Replayed) -> str:
    """Return the message without the file, which stands beside it."""
    return replayed.message.removeprefix(f"{replayed.path}: ")


def _files(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the case files of `paths`, each once, and a line for each path that has none."""
    files: dict[Path, Path] = {}
    problems = []
    for path in paths:
        try:
            files.update((file.resolve(), file) for file in case_files(path))
        except StorageError as error:
            problems.append(str(error))
    if not files:
        raise UsageError("; ".join(problems))
    return list(files.values()), problems


def _show(console: Console, done: Sequence[Replayed], files: int) -> None:
    rows = [
        (
            Text(replayed.status.value, STYLES.get(replayed.status, SURPRISE)),
            _expected(replayed.status),
            one_line(replayed.case.finding.bucket if replayed.case else ""),
            one_line(message_of(replayed)),
            one_line(replayed.path, "cyan"),
        )
        # What a person must look at stands last, just above the counts.
        for replayed in sorted(done, key=lambda replayed: not replayed.status.expected)
    ]
    columns = ("status", "expected", "bucket", "message", "file")
    console.print(case_table(console, "", columns, rows))
    console.print()
    console.print(_counts(done))
    if len(done) < files:
        text = f"Interrupted: {files - len(done)} of {files} cases were not replayed."
        console.print(Text(text, SURPRISE))


def _expected(status: Status) -> Text:
    return Text("yes", "dim") if status.expected else Text("surprise", SURPRISE)


def _counts(done: Sequence[Replayed]) -> Text:
    counts = Counter(replayed.status for replayed in done)
    parts = [f"{counts[status]} {status.value}" for status in Status if counts[status]]
    surprises = sum(count for status, count in counts.items() if not status.expected)
    ending = f"{surprises} not as expected" if surprises else "all as expected"
    style = SURPRISE if surprises else "bold green"
    return Text(f"{counted(len(done), 'case')}: {', '.join(parts)}; ") + Text(ending, style)


def _exit_code(done: Sequence[Replayed], problems: Sequence[str]) -> int:
    if problems or any(replayed.status is Status.ERROR for replayed in done):
        return 2
    return 0 if all(replayed.status.expected for replayed in done) else 1


def _as_json(done: Sequence[Replayed], problems: Sequence[str], code: int) -> dict[str, Any]:
    counts = Counter(replayed.status for replayed in done)
    return {
        "exit_code": code,
        "environment": environment(),
        "counts": {status.value: counts[status] for status in Status},
        "problems": list(problems),
        "cases": [_case_as_json(replayed) for replayed in done],
    }


def _case_as_json(replayed: Replayed) -> dict[str, Any]:
    case = replayed.case
    return {
        "file": str(replayed.path),
        "status": replayed.status.value,
        "expected": replayed.status.expected,
        "expect": expect_as_json(case.expect) if case else None,
        "bucket": asdict(case.finding.bucket) if case else None,
        "message": message_of(replayed),
    }
