"""The commands, their options and their help.

A command imports its own module when it is called, and TensorFlow with it: help and usage
errors come at once.
"""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gradfuzz.cli.loading import loading
from gradfuzz.cli.terminal import one_line, terminal, write_json
from gradfuzz.cli.version import versions
from gradfuzz.durations import parse_budget
from gradfuzz.errors import GradfuzzError, UsageError
from gradfuzz.server import start_server

WRONG_USAGE = 2
WORKERS_AT_MOST = 512
# What a parser of flags raises: typer brings its own copy of click and names only one of them.
WRONG_FLAGS: Any = typer.BadParameter.__base__
NO_TENSORFLOW = (
    "TensorFlow: not installed, should be one of the extras gradfuzz[tensorflow], gradfuzz[cpu] "
    "or gradfuzz[nightly], as in: pip install 'gradfuzz[cpu]'"
)


class Commands(TyperGroup):
    """A group of commands whose errors are one line each."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta["as_json"] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        as_json = ctx.meta["as_json"]
        try:
            return super().invoke(ctx)
        except GradfuzzError as error:
            message, as_json = str(error), as_json and not error.told
        except WRONG_FLAGS as error:
            message = f"{error.format_message()} (see --help)"
        except ModuleNotFoundError as error:
            if error.name != "tensorflow":
                raise
            message = NO_TENSORFLOW
        if as_json:
            write_json({"error": message})
        terminal(stderr=True).print(one_line(f"gradfuzz: {message}", "red"), soft_wrap=True)
        raise typer.Exit(WRONG_USAGE)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, all else on stderr.")
]


def _use_files(paths: list[Path]) -> list[Path]:
    if paths:
        from gradfuzz.catalogue import use_files

        use_files(paths)
    return paths


OpsFrom = Annotated[
    list[Path],
    typer.Option(
        "--ops-from",
        metavar="FILE.py",
        callback=_use_files,
        default_factory=list,
        help="Also the ops of the CATALOGUE in this Python file. May be repeated.",
        show_default=False,
    ),
]


class Format(Enum):
    """How the outcome of a replay is printed."""

    TEXT = "text"
    GITHUB = "github"


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # typer passes it by position
    if wanted:
        terminal().print(versions())
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show versions."),
    ] = False,
) -> None:
    """Fuzz the gradients of TensorFlow ops, and replay what was found.

    Each command's --help tells its exit codes and gives an example.
    """


def _parse_workers(text: str) -> int:
    """Return a number of workers, 0 for auto."""
    if text == "auto":
        return 0
    if not (text.isdecimal() and text.isascii() and 1 <= int(text[:9]) <= WORKERS_AT_MOST):
        raise UsageError(f"--workers {text!r}: should be auto or 1 to {WORKERS_AT_MOST}")
    return int(text)


Budget = Annotated[
    str, typer.Option(metavar="TIME", help="Seconds, or a time such as 90s, 15m, 8h or 1h30m.")
]
Ops = Annotated[
    list[str] | None,
    typer.Option(metavar="OP,OP…", help="Only these ops. May be repeated.", show_default="all"),
]
Oracles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ORACLE=N,…",
        help="Share the time among these oracles, by weight.",
        show_default="all",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Start the random choices here.",
        show_default="random, printed",
    ),
]
FuzzedCorpus = Annotated[
    Path, typer.Option(metavar="DIR", help="Where findings are saved; what is there is known.")
]
WorkerCount = Annotated[
    str,
    typer.Option(metavar="N", help="Processes to fuzz in, or auto: one on each core."),
]
CaseTime = Annotated[
    float,
    typer.Option(min=1.0, metavar="SECONDS", help="A case that takes more CPU time hangs."),
]
Memory = Annotated[
    float,
    typer.Option(min=0.5, metavar="GIB", help="What a worker may hold."),
]
RunFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Keep the campaign here.", show_default="in .gradfuzz"),
]
Resumed = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Go on with the campaign kept there, as it was begun."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print the summary only.")]


@app.command("fuzz")
def fuzz_command(
    *,
    ops_from: OpsFrom,
    budget: Budget = "2m",
    ops: Ops = None,
    oracles: Oracles = None,
    seed: Seed = None,
    corpus: FuzzedCorpus = Path("corpus"),
    workers: WorkerCount = "auto",
    case_time: CaseTime = 30.0,
    memory: Memory = 3.0,
    run: RunFolder = None,
    resume: Resumed = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw random graphs and check their gradients until the budget is spent.

    A gradient that disagrees with the numeric one is shrunk and saved to the corpus.
    Ctrl-C ends the campaign early, with its summary; nothing that was found is lost.

    Each worker is a process of its own. One that a case kills, hangs or fills is replaced, and
    the case is a finding like any other.

    Exit codes: 0 nothing new, 1 new findings, 2 wrong usage or a corpus that cannot be written,
    3 gradfuzz itself failed on some graph.

    Example: [bold]gradfuzz fuzz --budget 8h --ops MatMul,Cholesky --seed 7[/bold]
    """
    seconds, count = parse_budget(budget), _parse_workers(workers)
    start_server()
    with loading():
        from gradfuzz.cli.fuzz import Options, Output, fuzz
        from gradfuzz.cli.fuzz import resume as go_on
    output = Output(json, quiet)
    if resume is not None:
        raise typer.Exit(go_on(resume, output))
    chosen = (seconds, ops or [], oracles or [], seed, corpus, count, case_time, memory, run)
    raise typer.Exit(fuzz(Options(*chosen), output))


@app.command("triage")
def triage_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Case files and corpora.", show_default="corpus"),
    ] = None,
    *,
    ops_from: OpsFrom,
    sort: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="SORT", help="bug, convention, limitation or false alarm: do not ask."
        ),
    ] = None,
    link: Annotated[str, typer.Option(help="Where it is filed or documented.")] = "",
    note: Annotated[str, typer.Option(help="What there is to say of it.")] = "",
    until: Annotated[
        str,
        typer.Option(
            metavar="WHEN", help="A TensorFlow version or a date: from then on it is new again."
        ),
    ] = "",
) -> None:
    """Walk through the new findings, and write down what each one is.

    New is a case that is expected to fail and has no note, no link and no place in the
    corpus's known.toml. What is said goes to both; campaigns pass over it from then on.

    Exit codes: 0 all said or left, 2 wrong usage or a file that cannot be read or written.

    Example: [bold]gradfuzz triage corpus/Log-value-0123456789ab.json --as convention[/bold]
    """
    with loading():
        from gradfuzz.cli.triage import Given, triage
    raise typer.Exit(triage(paths or [Path("corpus")], Given(sort, link, note, until)))


@app.command("status")
def status_command(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Its folder.", show_default="the newest in .gradfuzz"),
    ] = None,
    *,
    json: Json = False,
) -> None:
    """Print what a campaign has done so far, whether it runs, is over or was killed.

    Exit codes: 0 printed, 2 no such campaign.

    Example: [bold]gradfuzz status .gradfuzz/2026-03-01-220000-7[/bold]
    """
    with loading():
        from gradfuzz.cli.status import status
    raise typer.Exit(status(run, as_json=json))


@app.command("replay")
def replay_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Case files and corpora.", show_default="corpus"),
    ] = None,
    *,
    ops_from: OpsFrom,
    json: Json = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML to this file.")
    ] = None,
    output_format: Annotated[
        Format, typer.Option("--format", help="With annotations for GitHub Actions, or without.")
    ] = Format.TEXT,
) -> None:
    """Check saved cases again, and compare each with what it is expected to do.

    A case that is expected to fail STILL FAILS, is FIXED, or has CHANGED (it fails in another
    way, or cannot be told any more). One that is expected to pass PASSES or has REGRESSED.
    ERROR is a case that cannot be replayed; the others still are.

    Exit codes: 0 all as expected, 1 any FIXED, CHANGED or REGRESSED, 2 any ERROR or wrong path.

    Example: [bold]gradfuzz replay corpus other/Log-value-0123456789ab.json[/bold]
    """
    start_server()
    with loading():
        from gradfuzz.cli.replay import replay
    github = output_format is Format.GITHUB
    raise typer.Exit(replay(paths or [Path("corpus")], as_json=json, junit=junit, github=github))


@app.command("diff")
def diff_command(
    before: Annotated[Path, typer.Argument(metavar="A.json", help="The replay before.")],
    after: Annotated[Path, typer.Argument(metavar="B.json", help="The replay after.")],
    *,
    json: Json = False,
) -> None:
    """Compare two outputs of [bold]gradfuzz replay --json[/bold]: what a new TensorFlow changed.

    A case that failed and passes is fixed; one that passed and fails broke; one that fails in
    another way, or cannot be told or replayed any more, changed.

    Exit codes: 0 nothing broke or changed, 1 something did, 2 a file that is no such output.

    Example: [bold]gradfuzz diff tf-2.20.json tf-2.21.json[/bold]
    """
    from gradfuzz.cli.diff import diff

    raise typer.Exit(diff(before, after, as_json=json))


@app.command("show")
def show_command(
    case_file: Annotated[Path, typer.Argument(metavar="CASE_FILE", help="One saved case.")],
    *,
    ops_from: OpsFrom,
    json: Json = False,
) -> None:
    """Show one saved case in full, and check it again.

    The graph, the input values, the numbers with their bounds as saved and as they are now,
    and how difference quotients converge on the derivative.

    Exit codes: 0 shown, 2 a case file that cannot be read or run.

    Example: [bold]gradfuzz show corpus/Log-value-0123456789ab.json[/bold]
    """
    start_server()
    with loading():
        from gradfuzz.cli.show import show
    raise typer.Exit(show(case_file, as_json=json))


Missing = Annotated[
    bool,
    typer.Option("--missing", help="List the gradients that no entry covers, or did not run."),
]
Measured = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Draw and check for so long, and count what ran."),
]
Lines = Annotated[
    bool,
    typer.Option("--lines", help="With --measure: of TensorFlow's gradient files, what ran."),
]
FirstSeed = Annotated[int, typer.Option(min=0, metavar="N", help="Start the random choices here.")]


@app.command("ops")
def ops_command(
    *,
    ops_from: OpsFrom,
    json: Json = False,
    missing: Missing = False,
    measure: Measured = None,
    lines: Lines = False,
    ops: Ops = None,
    oracles: Oracles = None,
    seed: FirstSeed = 0,
    workers: WorkerCount = "auto",
) -> None:
    """List the ops of the catalogue, those left out of it on purpose, and the counts.

    With --measure, a campaign runs that takes all it finds for known and saves nothing. Each op
    has its cases, those that were rejected (the op refused its arguments), inconclusive, and
    findings, and whether its gradient function ran. With --missing, --lines lists the lines that
    did not run, and those that are left out, with the reason.

    Exit codes: 0 listed, 2 wrong usage.

    Example: [bold]gradfuzz ops --measure 5m --lines --missing[/bold]
    """
    for option, given in (("--lines", lines), ("--ops", ops), ("--oracles", oracles)):
        if given and measure is None:
            raise UsageError(f"{option}: without --measure, should be with it")
    seconds = None if measure is None else parse_budget(measure)
    count = _parse_workers(workers)
    if measure is not None:
        start_server()
    with loading():
        from gradfuzz.cli.ops import Measurement
        from gradfuzz.cli.ops import ops as show_ops
    measurement = (
        None
        if seconds is None
        else Measurement(seconds, ops or [], oracles or [], seed, count, lines)
    )
    raise typer.Exit(show_ops(as_json=json, missing=missing, measurement=measurement))


@app.command("repro")
def repro_command(
    case_file: Annotated[Path, typer.Argument(metavar="CASE_FILE", help="One saved case.")],
    *,
    ops_from: OpsFrom,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the text of an issue, the script in it.")
    ] = False,
) -> None:
    """Print a saved case as a script that needs TensorFlow and NumPy alone.

    It prints what is expected and observed, and exits with 1 while the bug is there, 0 once it is
    gone. With --markdown: an issue ready to file, with title, script, evidence and versions.

    Exit codes: 0 printed, 2 a case file that cannot be read, or has no script.

    Example: [bold]gradfuzz repro corpus/Log-value-0123456789ab.json > bug.py[/bold]
    """
    with loading():
        from gradfuzz.cli.repro import repro
    raise typer.Exit(repro(case_file, markdown=markdown))


@app.command("check")
def check_command(
    target: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="What to check.")],
    patterns: Annotated[
        list[str], typer.Argument(metavar="PATTERN", help='A shape for each argument: "*b n".')
    ],
    *,
    max_examples: Annotated[int, typer.Option(min=1, metavar="N", help="So many inputs.")] = 100,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Start the random choices here.",
            show_default="always the same",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check the gradients of a function of your own, at inputs of the shapes given.

    One name stands for one size: "*b n" is any number of axes and one more, "3" an axis of 3.
    The simplest inputs at which the gradient is wrong are shown.

    Exit codes: 0 right, 1 wrong, 2 wrong usage, or a function that does not run.

    Example: [bold]gradfuzz check my_module:my_gelu "*b n"[/bold]
    """
    with loading():
        from gradfuzz.cli.check import check
    raise typer.Exit(check(target, patterns, examples=max_examples, seed=seed, as_json=json))


@app.command("report")
def report_command(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder of a campaign, or a corpus.")
    ] = Path("corpus"),
    *,
    ops_from: OpsFrom,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="The page to write.")
    ] = Path("gradfuzz-report.html"),
) -> None:
    """Write one HTML page about a campaign or a corpus, which needs nothing else.

    Findings with their graphs, values, votes and convergence; the gradient functions reached; what
    was inconclusive; the speed. It can be searched, filtered and sorted.

    Exit codes: 0 written, 2 wrong usage.

    Example: [bold]gradfuzz report corpus -o report.html[/bold]
    """
    with loading():
        from gradfuzz.cli.report import report
    raise typer.Exit(report(run, output))


@app.command("doctor")
def doctor_command(*, ops_from: OpsFrom, json: Json = False) -> None:
    """Say what is installed, how it is set up, and what could go wrong.

    Exit codes: 0 all is good, 1 something could go wrong, 2 something does not work.

    Example: [bold]gradfuzz doctor[/bold]
    """
    with loading():
        from gradfuzz.cli.doctor import doctor
    raise typer.Exit(doctor(as_json=json))
