"""`gradfuzz repro`: a saved case as a stand-alone script, or as the text of an issue."""

import sys
from pathlib import Path

from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.corpus import Corpus
from gradfuzz.crew import sacrifice
from gradfuzz.errors import CaseFileError, GradfuzzError
from gradfuzz.guard import require_small
from gradfuzz.replay import Replayed, replay_one
from gradfuzz.repro.issue import issue
from gradfuzz.repro.script import script


def repro(path: Path, *, markdown: bool) -> int:
    """Print the script of one case, or its issue, and return the exit code.

    Raises `CaseFileError` where the case cannot be read, or shown in a script.
    """
    catalogue = set(all_ops(load_catalogues()))
    case = Corpus(path.parent, catalogue).load(path)
    try:
        require_small(case.finding.graph)
        text = issue(case, _replayed(path, catalogue)) if markdown else script(case)
    except GradfuzzError as error:
        raise CaseFileError(f"{path}: {error}") from error
    # Not through the terminal, which would wrap it.
    sys.stdout.write(text)
    return 0


def _replayed(path: Path, catalogue: set[str]) -> Replayed:
    with sacrifice() as ask:
        return replay_one(path, catalogue, ask)
