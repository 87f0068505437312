"""The repository's own corpus does what is expected of it, on the pinned TensorFlow."""

from pathlib import Path

import pytest

from gradfuzz.catalogue import all_ops, load_catalogues
from gradfuzz.corpus import Corpus
from gradfuzz.crew import sacrifice
from gradfuzz.replay import LIMITS, replay

CORPUS = Path(__file__).parent.parent / "corpus"
OPS = set(all_ops(load_catalogues()))


@pytest.fixture(scope="module")
def ask():
    with sacrifice(limits=LIMITS) as asked:
        yield asked


@pytest.mark.slow
@pytest.mark.parametrize("path", Corpus(CORPUS).case_files(), ids=lambda path: path.stem)
def test_a_case_does_what_is_expected_of_it(path, ask):
    [replayed] = replay([path], OPS, ask)
    assert replayed.status.expected, replayed.message


@pytest.mark.parametrize("path", Corpus(CORPUS).case_files(), ids=lambda path: path.stem)
def test_a_case_has_a_note_and_is_shrunk_to_one_call_or_a_few(path):
    case = Corpus(CORPUS, OPS).load(path)
    assert case.note
    assert len(case.finding.graph.calls) <= 4
