"""Replayed cases as JUnit XML, which every CI reads."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from gradfuzz.cli.output import write
from gradfuzz.cli.replay import message_of
from gradfuzz.cli.terminal import visible
from gradfuzz.replay import Replayed, Status


def write_junit(path: Path, done: Sequence[Replayed], problems: Sequence[str]) -> None:
    """Write a test suite with a test for each case and an error for each path without one.

    A surprise is a failure, a case that cannot be replayed an error.  Raises `UsageError` where
    the file cannot be written.
    """
    tests = [_test(replayed) for replayed in done]
    tests += [_problem(problem) for problem in problems]
    counts = {
        "tests": len(tests),
        "failures": sum(test.find("failure") is not None for test in tests),
        "errors": sum(test.find("error") is not None for test in tests),
    }
    suite = ElementTree.Element("testsuite", name="gradfuzz replay")
    suite.attrib |= {name: str(count) for name, count in counts.items()}
    suite.extend(tests)
    text = ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
    write(path, "--junit", text + "\n")


def _test(replayed: Replayed) -> ElementTree.Element:
    folder, name = replayed.path.parent.name or ".", replayed.path.stem
    test = ElementTree.Element("testcase", classname=visible(folder), name=visible(name))
    test.set("file", visible(str(replayed.path)))
    message = f"{replayed.status.value}: {visible(message_of(replayed))}"
    if replayed.status is Status.ERROR:
        ElementTree.SubElement(test, "error", message=message, type=replayed.status.value)
    elif not replayed.status.expected:
        ElementTree.SubElement(test, "failure", message=message, type=replayed.status.value)
    else:
        ElementTree.SubElement(test, "system-out").text = message
    return test


def _problem(problem: str) -> ElementTree.Element:
    test = ElementTree.Element("testcase", classname="gradfuzz", name="paths")
    ElementTree.SubElement(test, "error", message=visible(problem), type="ERROR")
    return test
