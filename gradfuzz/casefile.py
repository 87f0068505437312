"""A case file: one saved finding as JSON text, made to be read, diffed and shared.

One node stands on a line, so that a diff shows the node that changed.  A case file comes from
anywhere: reading one runs nothing, unpickles nothing, and allocates no more than a bound.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np

from gradfuzz.arrayjson import decode_float, encode_float
from gradfuzz.expect import Expect, Expectation, expect_as_json, read_expect
from gradfuzz.finding import Bucket, Evidence, Finding, Vote
from gradfuzz.graph import Graph
from gradfuzz.graphjson import GraphReader, digest, encode_graph
from gradfuzz.strictjson import (
    Json,
    Reader,
    boolean,
    integer,
    mapping,
    members,
    natural,
    optional,
    parse,
    sequence,
    shown,
    string,
    wrong,
)

FORMAT = 1
BYTES_AT_MOST = 2**25

_ENVIRONMENT_AT_MOST = 50  # entries
_VOTES_AT_MOST = 100


@dataclass(frozen=True, eq=False)
class Case:
    """A finding as it is kept.

    The graph of `finding` is the shrunk one, `original` the one that was found.  `seed` is what
    the round was started with.  Dates are ISO dates ("2026-03-01").  `link` is where the bug is
    filed, `note` what a person wants to say about it.
    """

    finding: Finding
    original: Graph
    environment: dict[str, str]
    seed: int | None
    first_seen: str
    last_seen: str
    expect: Expectation = Expect.FAILS
    link: str = ""
    note: str = ""


def file_name(case: Case) -> str:
    """Return `<op>-<kind>-<digest of the graph>.json`: the same graph, the same file."""
    bucket = case.finding.bucket
    return f"{_word(bucket.op)}-{_word(bucket.kind)}-{digest(case.finding.graph)}.json"


def long_file_name(case: Case) -> str:
    """Return a name that tells two buckets of one op, kind and graph apart."""
    bucket = case.finding.bucket
    words = [_word(word) for word in (bucket.oracle, bucket.input) if word]
    return "-".join([file_name(case).removesuffix(".json"), *words]) + ".json"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "_", text)[:60] or "_"


def dumps(case: Case) -> str:
    """Return the text of a case file.  It is ASCII, and `loads` gives the same case back.

    Raises `CaseFileError` for a case that no case file can hold.
    """
    finding = case.finding
    evidence = {name: _plain(value) for name, value in asdict(finding.evidence).items()}
    rows = {
        "format": FORMAT,
        "bucket": asdict(finding.bucket),
        "evidence": evidence,
        **_votes_as_json(finding.votes),
        "expect": expect_as_json(case.expect),
        "link": case.link,
        "note": case.note,
        "seed": _plain(case.seed),
        "first_seen": case.first_seen,
        "last_seen": case.last_seen,
        "environment": case.environment,
        **encode_graph(finding.graph),
        "original": encode_graph(case.original, prefix="original."),
    }
    text = _layout(rows) + "\n"
    # What cannot be read back is refused here, while there is someone to hear of it.
    loads(text, allow=lambda op: None)
    return text


def _votes_as_json(votes: Sequence[Vote]) -> dict[str, Json]:
    """Return the member that cases from before there were votes do not have."""
    rows = [{n: _plain(value) for n, value in asdict(vote).items()} for vote in votes]
    return {"votes": rows} if rows else {}


def _plain(value: Any) -> Json:
    if isinstance(value, np.generic):
        value = value.item()
    return encode_float(value) if isinstance(value, float) else value


def _layout(rows: dict[str, Json], indent: str = "") -> str:
    """Return an object with one member a line, and of `nodes` one node a line."""
    inner = indent + "  "
    lines = [f'{inner}"{name}": {_layout_member(name, raw, inner)}' for name, raw in rows.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _layout_member(name: str, raw: Json, indent: str) -> str:
    if name == "original":
        return _layout(raw, indent)
    if name in ("nodes", "votes"):
        lines = ",\n".join(f"{indent}  {json.dumps(node, allow_nan=False)}" for node in raw)
        return f"[\n{lines}\n{indent}]"
    return json.dumps(raw, allow_nan=False)


def loads(text: str, allow: Callable[[str], object]) -> Case:
    """Return the case of a case file.

    `allow` raises `UsageError` for an op that a graph may not call.  Raises `CaseFileError`,
    with the place and what should stand there, for anything but a case file of this format.
    """
    if len(text) > BYTES_AT_MOST:
        raise wrong("case file", f"{len(text)} characters", f"at most {BYTES_AT_MOST}")
    raw = mapping(parse(text), "case file")
    _require_format(raw)
    members(raw, "case file", (*_MEMBERS, *(["votes"] if "votes" in raw else [])))
    reader = GraphReader(allow)
    original = members(raw["original"], "original", ("nodes", "outputs"))
    votes = _votes(raw["votes"]) if "votes" in raw else ()
    bucket, evidence = _bucket(raw["bucket"]), _evidence(raw["evidence"])
    finding = Finding(reader.graph(raw), bucket, evidence, votes)
    return Case(
        finding=finding,
        original=reader.graph(original, "original."),
        **{name: read(raw[name], name) for name, read in _FIELDS.items()},
    )


def _require_format(raw: dict[str, Json]) -> None:
    version = integer(raw.get("format"), "format")
    if version > FORMAT:
        raise wrong("format", str(version), f"at most {FORMAT}; update gradfuzz")
    if version < 1:
        raise wrong("format", str(version), "at least 1")


def _bucket(raw: Json) -> Bucket:
    found = members(raw, "bucket", ("op", "oracle", "kind", "input"))
    return Bucket(**{name: string(value, f"bucket.{name}") for name, value in found.items()})


def _evidence(raw: Json) -> Evidence:
    found = members(raw, "evidence", tuple(_EVIDENCE))
    return Evidence(**{n: read(found[n], f"evidence.{n}") for n, read in _EVIDENCE.items()})


def _votes(raw: Json) -> tuple[Vote, ...]:
    rows = sequence(raw, "votes", at_most=_VOTES_AT_MOST)
    found = [members(row, f"votes[{i}]", tuple(_VOTE)) for i, row in enumerate(rows)]
    return tuple(
        Vote(**{name: read(row[name], f"votes[{i}].{name}") for name, read in _VOTE.items()})
        for i, row in enumerate(found)
    )


def _date(raw: Json, place: str) -> str:
    text = string(raw, place)
    try:
        is_date = date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_date = False
    if not is_date:
        raise wrong(place, shown(raw), "a date such as 2026-03-01")
    return text


def _environment(raw: Json, place: str) -> dict[str, str]:
    found = mapping(raw, place)
    if len(found) > _ENVIRONMENT_AT_MOST:
        raise wrong(place, f"{len(found)} entries", f"at most {_ENVIRONMENT_AT_MOST}")
    return {name: string(value, f"{place}.{shown(name)}") for name, value in found.items()}


_EVIDENCE: dict[str, Reader[Any]] = {
    "message": string,
    "leaf": optional(natural),
    "element": optional(natural),
    "output": optional(natural),
    "analytic": optional(decode_float),
    "low": optional(decode_float),
    "high": optional(decode_float),
    "kink": boolean,
}

_VOTE: dict[str, Reader[Any]] = {
    "path": string,
    "value": optional(decode_float),
    "error": optional(decode_float),
    "note": string,
}

_FIELDS: dict[str, Reader[Any]] = {
    "expect": read_expect,
    "link": string,
    "note": string,
    "seed": optional(integer),
    "first_seen": _date,
    "last_seen": _date,
    "environment": _environment,
}

_MEMBERS = ("format", "bucket", "evidence", *_FIELDS, "nodes", "outputs", "original")
