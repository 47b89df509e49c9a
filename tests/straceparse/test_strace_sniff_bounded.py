"""What a log is shows in its beginning, middle and end: recognising one reads no more of it, however large it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from logframe.formats import head_of, sniff_all
from logframe.loading import load_log
from logframe.source import Log, open_log
from straceparse import dialects
from straceparse.format import FORMAT
from straceparse.line_parser import read_line
from straceparse.records import GRAMMAR

if TYPE_CHECKING:
    from pathlib import Path

SUMMARY = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 75.00    0.003000           3      1000           pread64
 25.00    0.001000          10       100           io_submit
------ ----------- ----------- --------- --------- ----------------
100.00    0.004000                  1100           total
"""
SESSION = "SQL> select count(*) c from t{0};\n\n         C\n----------\n{0:>10}\n\nElapsed: 00:00:00.01\n\n"
OTHER = f"a line of the program that strace ran, number {{0}}{' and more of it' * 40}\n"
PAGE = "<table summary='t'><tr><td>db file sequential read</td><td>{0}</td></tr></table>\n"


@pytest.fixture
def refused_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever reads a whole log fails."""

    def refuse(*_: object, **__: object) -> object:
        raise AssertionError("the whole log was read")

    monkeypatch.setattr(Log, "lines", refuse)
    monkeypatch.setattr(Log, "text", refuse)
    monkeypatch.setattr(Log, "scan", refuse)
    monkeypatch.setattr(dialects, "_is_anywhere", refuse)


def large(tmp_path: Path, template: str, size: int = 4_000_000) -> Path:
    """A log of many lines of a kind."""
    path = tmp_path / "large.log"
    path.write_text("".join(template.format(number) for number in range(size // len(template))), encoding="utf-8")
    return path


@pytest.mark.usefixtures("refused_whole")
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (SESSION, None),
        (PAGE, None),
        ("[pid {0}] close(3) = 0 <0.000041>\n", 1.0),
        ("12:00:01.000001 close({0}) = 0\n", 1.0),
    ],
)
@pytest.mark.parametrize("is_bytes", [False, True])
def test_no_log_is_read_whole(tmp_path: Path, template: str, expected: float | None, is_bytes: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A session, a page and logs of strace are recognised by parts of them."""
    path = large(tmp_path, template)
    log = open_log(path.read_bytes() if is_bytes else path)

    sniff = FORMAT.sniff(head_of(log))

    assert (None if sniff is None else sniff.score) == expected


@pytest.mark.usefixtures("refused_whole")
@pytest.mark.parametrize("at_end", [True, False])
def test_summary_beside_output(tmp_path: Path, at_end: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A summary before or below megabytes of the program's own output is recognised; without one there is none."""
    path = large(tmp_path, OTHER)
    assert FORMAT.sniff(head_of(open_log(path))) is None

    text = path.read_text(encoding="utf-8")
    path.write_text(text + SUMMARY if at_end else SUMMARY + text, encoding="utf-8")
    found = sniff_all(head_of(open_log(path)))

    assert (found[0][0].name, found[0][1].reason) == ("strace", "the summary of strace -c")


def test_summary_is_read(tmp_path: Path) -> None:
    """What is recognised by its end is read whole."""
    path = large(tmp_path, OTHER)
    with path.open("a", encoding="utf-8") as file:
        file.write(SUMMARY)

    summary = load_log(path).frames()["summary"].lazy().collect()

    assert summary.filter(summary["syscall"] == "total")["calls"].to_list() == [1100]


def test_lines_without_marks_are_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cheap look for marks refuses no log that is strace's: each event has one, and the verdict is the same."""
    prefixes = ("", "12  ", "[pid 12] ", "     0.000123 ", "> ", "  12  12:00:00 ", "a.log:7:")
    events = [line for _, line in GRAMMAR.samples if read_line(line).kind in dialects._STRACE_KINDS]  # noqa: SLF001 - what the look is for
    lines = [prefix + line for line in events for prefix in prefixes]
    assert len(events) > 8
    assert all(map(dialects.has_event_mark, lines))

    others = [*SESSION.format(3).splitlines(), PAGE.format(2), " > libc.so.6(read+0x4) [0x7f]", " | 00000  61 62  ab |"]
    logs = [
        "\n".join([*lines[place : place + 20], *others[:place], *extra, ""]).encode()
        for place in range(0, 120, 15)
        for extra in ([], others, others * 8, ["&lt;... read resumed&gt;) = 3"] * 90)
    ] + ["\n".join(others[:-2] * 9).encode(), SUMMARY.encode(), b"\x1b[1mclose\x1b[0m(3)\x1b[2m = 0\n" * 4]
    found = [FORMAT.sniff(head_of(open_log(data))) for data in logs]
    looked = [dialects.may_be_strace(dialects.sampled_lines(open_log(data)), 0.5) for data in logs]
    monkeypatch.setattr(dialects, "may_be_strace", lambda *_: True)

    assert {True, False} == set(looked)
    assert [FORMAT.sniff(head_of(open_log(data))) for data in logs] == found
