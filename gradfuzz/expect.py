"""What a replay of a case should come to, on this TensorFlow."""

import re
from dataclasses import dataclass
from enum import Enum

from gradfuzz.strictjson import Json, members, shown, string, wrong


class Expect(Enum):
    """What a replay of a case should come to."""

    FAILS = "fails"
    PASSES = "passes"

    def on(self, _tensorflow: str) -> "Expect":
        """Return what is expected on that version: the same on all."""
        return self


@dataclass(frozen=True)
class FixedIn:
    """A case that fails below this version of TensorFlow and passes from it on."""

    version: str

    def on(self, tensorflow: str) -> Expect:
        """Return what is expected on that version; one before a release counts as the release."""
        return Expect.PASSES if _numbers(tensorflow) >= _numbers(self.version) else Expect.FAILS


Expectation = Expect | FixedIn

_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}")


def _numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.match(version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def expect_as_json(expect: Expectation) -> Json:
    """Return an expectation as a case file has it."""
    return expect.value if isinstance(expect, Expect) else {"fixed_in": expect.version}


def read_expect(raw: Json, place: str) -> Expectation:
    """Return the expectation that a case file has.  Raises `CaseFileError`."""
    if isinstance(raw, dict):
        found = members(raw, place, ("fixed_in",))
        version = string(found["fixed_in"], f"{place}.fixed_in")
        if not _VERSION.fullmatch(version):
            raise wrong(f"{place}.fixed_in", shown(version), 'a version such as "2.18"')
        return FixedIn(version)
    if raw not in [each.value for each in Expect]:
        raise wrong(place, shown(raw), '"fails", "passes" or {"fixed_in": …}')
    return Expect(raw)
