"""The repository's own corpus does what is expected of it, on the pinned TensorFlow."""

from pathlib import Path

import pytest

from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.corpus import Corpus
from gradfuzz.replay import Status, replay

CORPUS = Path(__file__).parent.parent / "corpus"
OPS = set(all_ops(load_catalogues()))


@pytest.mark.slow
@pytest.mark.parametrize("path", Corpus(CORPUS).case_files(), ids=lambda path: path.stem)
def test_a_case_does_what_is_expected_of_it(path):
    [replayed] = replay([path], OPS)
    # Memory that was never written holds by chance what it should, now and then.
    by_chance = "unrepeatable" in path.stem and replayed.status is Status.FIXED
    assert replayed.status.expected or by_chance, replayed.message


@pytest.mark.parametrize("path", Corpus(CORPUS).case_files(), ids=lambda path: path.stem)
def test_a_case_has_a_note_and_is_shrunk_to_one_call_or_a_few(path):
    case = Corpus(CORPUS, OPS).load(path)
    assert case.note
    assert len(case.finding.graph.calls) <= 4
