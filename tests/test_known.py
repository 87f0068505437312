"""Patterns of known buckets: read, written, matched, over at a version or a date, stale."""

from pathlib import Path

import pytest

from gradfuzz.errors import CaseFileError
from gradfuzz.finding import Bucket
from gradfuzz.known import Accepted, Known, accept, read_accepted, stale

XLOGY = Bucket("Xlogy", "numeric", "value", "x")
XDIVY = Bucket("Xdivy", "numeric", "value", "x")
TODAY = "2026-06-15"


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("Xlogy.x value (numeric)", True),
        ("Xlogy.* value (*)", True),
        ("X*", True),
        ("Xlogy", False),
        ("xlogy.x value (numeric)", False),
        ("Xlogy.y value (numeric)", False),
        ("Xlogy.? value (numeric)", False),
    ],
)
def test_a_star_stands_for_anything(pattern: str, *, matches: bool) -> None:
    assert Accepted(pattern, "bug").matches(XLOGY) == matches


@pytest.mark.parametrize(
    ("until", "over"),
    [
        ("", False),
        ("2.21", True),
        ("2.21.0", True),
        ("2.9", True),
        ("2.22", False),
        ("3", False),
        ("2026-06-15", True),
        ("2026-06-16", False),
    ],
)
def test_it_is_over_from_its_version_or_date_on(until: str, *, over: bool) -> None:
    accepted = Accepted("X*", "bug", until=until)
    assert accepted.is_over("2.21.0-rc1", TODAY) == over


def test_what_is_over_is_new_again_though_a_case_has_it() -> None:
    known = Known.of({XLOGY, XDIVY}, [Accepted("Xlogy*", "bug", until="2.21")], "2.21.0")
    assert XLOGY not in known
    assert XDIVY in known


def test_what_matches_is_known_without_a_case() -> None:
    known = Known.of(set(), [Accepted("Xlogy*", "bug", until="2.22")], "2.21.0")
    assert XLOGY in known
    assert XDIVY not in known
    assert "Xlogy" not in known


def test_what_is_accepted_is_read_back(tmp_path: Path) -> None:
    odd = 'a "quote", \\, \n, \x07, \x7f, é, 🙂, # and [[known]]'
    told = [
        Accepted("X*", "convention", "https://example.org/1", odd, "2.22"),
        Accepted("Y*", "bug", until="2027-03-01"),
        Accepted("Z*", "false alarm"),
    ]
    for each in (*told, told[0]):
        accept(tmp_path, each)
    assert read_accepted(tmp_path) == told


def test_what_a_person_wrote_is_left_as_it_is(tmp_path: Path) -> None:
    text = '# mine\n[[known]]\nbucket = "A*"  # é\nis = "limitation"\nuntil = 2027-03-01\n'
    (tmp_path / "known.toml").write_text(text)
    accept(tmp_path, Accepted("B*", "bug"))
    assert (tmp_path / "known.toml").read_text().startswith(text)
    assert read_accepted(tmp_path) == [
        Accepted("A*", "limitation", until="2027-03-01"),
        Accepted("B*", "bug"),
    ]


def test_where_there_is_no_file_nothing_is_accepted(tmp_path: Path) -> None:
    assert read_accepted(tmp_path) == []


BROKEN = {
    "[[known": "not TOML",
    "known = 1": "known: 1, should be",
    "[[known]]\nbucket = 'X'\nis = 'thing'": r'known\[0\].is: "thing", should be bug or convention',
    "[[known]]\nis = 'bug'": r"known\[0\].bucket: nothing",
    "[[known]]\nbucket = 'X'\nis = 'bug'\nuntil = 'soon'": r'known\[0\].until: "soon", should be a',
    "[[known]]\nbucket = 'X'\nis = 'bug'\nuntil = 2.22": r"known\[0\].until: 2.22, should be",
    "[[known]]\nbucket = 'X'\nis = 'bug'\nlnik = ''": "lnik",
    "other = 1": "other",
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "known.toml").write_text(text)
    with pytest.raises(CaseFileError, match=BROKEN[text]) as raised:
        read_accepted(tmp_path)
    assert "\n" not in str(raised.value)


def test_stale_is_what_was_not_seen() -> None:
    told = [Accepted("Xlogy*", "bug"), Accepted("Xdivy*", "bug")]
    assert stale(told, {XLOGY}) == told[1:]
