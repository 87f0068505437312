"""`gradfuzz report`: a campaign or a corpus as one HTML page."""

from functools import partial
from pathlib import Path

from rich.progress import track

from gradfuzz.catalogue import load_catalogues, use_files
from gradfuzz.cli.output import require_writable, write
from gradfuzz.cli.terminal import one_line, terminal
from gradfuzz.report.contents import contents
from gradfuzz.report.page import page
from gradfuzz.report.runlog import is_run
from gradfuzz.runfolder import RunFolder


def report(path: Path, output: Path) -> int:
    """Write the page, say where it is, and return the exit code.

    Raises `UsageError` where it cannot be written.
    """
    require_writable(output, "--output")
    bar = terminal(stderr=True)
    watched = partial(
        track, description="reporting", console=bar, transient=True, disable=not bar.is_terminal
    )
    if is_run(path):
        use_files(map(Path, RunFolder(path).settings().ops_from))
    found = contents(path, load_catalogues(), watched)
    write(output, "--output", page(found))
    for problem in found.problems:
        terminal(stderr=True).print(one_line(f"passed over: {problem}", "yellow"), soft_wrap=True)
    terminal().print(one_line(f"{output}: {len(found.findings)} findings"), soft_wrap=True)
    return 0
