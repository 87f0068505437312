"""`gradfuzz status`: what a campaign has done so far, whether it runs, is over or was killed."""

from pathlib import Path
from typing import Any

from gradfuzz.catalogue import all_ops, load_catalogues, use_files
from gradfuzz.cli.live import Progress
from gradfuzz.cli.past import Past
from gradfuzz.cli.summary import Summary, show_summary, summary_as_json
from gradfuzz.cli.terminal import one_line, terminal, write_json
from gradfuzz.corpus import Corpus
from gradfuzz.durations import format_duration
from gradfuzz.runfolder import RunFolder, latest_folder


def status(path: Path | None, *, as_json: bool) -> int:
    """Print what a campaign has done, and return the exit code."""
    folder = latest_folder() if path is None else RunFolder(path)
    settings, now = folder.settings(), folder.status()
    use_files(map(Path, settings.ops_from))
    catalogue = set(all_ops(load_catalogues()))
    past = Past.of(folder, Corpus(Path(settings.corpus), catalogue))
    past.tally.known = frozenset(past.tally.hits.keys() - past.tally.new.keys())
    state = _state(folder, now)
    stopped, error = state == "killed", now.get("error") or ""
    summary = Summary(past.tally, settings, folder.path, past.spent, stopped, error)
    if as_json:
        write_json({"state": state, "pid": now.get("pid"), "workers": now.get("workers", []),
                    **summary_as_json(summary)})  # fmt: skip
        return 0
    console = terminal()
    console.print(one_line(f"{state}, begun {settings.started}", "bold"))
    for worker in now.get("workers", []) if state == "running" else ():
        age, memory = format_duration(worker["age"]), worker["memory"] / 2**20
        text = f"worker {worker['number']}: {worker['task'] or 'idle'}, {age} old, {memory:.0f} MiB"
        console.print(one_line(f"  {text}"))
    show_summary(console, summary)
    if state == "killed":
        console.print(one_line(f"Go on with it: gradfuzz fuzz --resume {folder.path}"))
    return 0


def _state(folder: RunFolder, now: dict[str, Any]) -> str:
    if folder.is_alive():
        return "running"
    return "over" if now.get("over") else "killed"


def status_of(progress: Progress) -> dict[str, Any]:
    """Return the status of a campaign that runs: a few counts, and its workers."""
    total = progress.tally.total
    return {
        "seconds": round(progress.seconds, 3),
        "budget": progress.budget,
        "cases": total.cases,
        "rejected": total.rejected,
        "inconclusive": total.inconclusive,
        "ops": progress.tally.ops_seen,
        "gradients": len(progress.tally.gradients),
        "deaths": sum(progress.tally.deaths.values()),
        "findings": [str(bucket) for bucket in progress.tally.new],
        "workers": [
            {"number": worker.number, "pid": worker.pid, "age": round(worker.age, 1),
             "memory": worker.memory, "task": worker.task}
            for worker in progress.workers
        ],
    }  # fmt: skip
