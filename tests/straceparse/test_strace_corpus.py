"""Every real log: no line lost, every unread line known, both engines of one mind, the options recognised."""

import re
from pathlib import Path

import polars as pl
import pytest

from logframe import Log
from straceparse import Dialect, dialect, unparsed

pytestmark = pytest.mark.corpus

#: The lines of the corpus that no rule accepts: a log pasted into the source of a program, with its quotes.
UNPARSED = {"found/akawashiro__straceprof/src__npm_install.log": [1, 98]}
#: A log of another tool around that of strace: its lines are unread.
OTHER_TOOLS = {"found/percona_pt-ioprofile_004.txt"}


def test_every_line_is_an_event(strace_logs: Path, log_names: list[str], events_of: dict[str, pl.DataFrame]) -> None:
    """There are as many events as lines in every log, numbered from 1 without a hole."""
    for name in log_names:
        data = (strace_logs / name).read_bytes()
        lines = data.count(b"\n") + (not data.endswith(b"\n"))

        assert events_of[name].get_column("line").to_list() == list(range(1, lines + 1)), name


def test_line_counts_of_the_manifest(manifest: dict[str, dict[str, str]], events_of: dict[str, pl.DataFrame]) -> None:
    """The captures have the lines that were counted when they were made."""
    heights = {name: events_of[f"captures/{name}"].height for name in manifest}

    assert heights == {name: int(row["lines"]) for name, row in manifest.items()}
    assert len(heights) > 100


def test_captures_written_to_a_file_are_read_whole(
    manifest: dict[str, dict[str, str]], events_of: dict[str, pl.DataFrame]
) -> None:
    """With ``-o`` no message and no output of the program is in the log: every line is strace's and whole."""
    damaged = pl.col("kind").is_in(["unparsed", "cut", "continuation", "chatter"])
    written = [name for name, row in manifest.items() if " -o F" in row["command"]]
    found = {name: events_of[f"captures/{name}"].filter(damaged).get_column("line").to_list() for name in written}

    assert len(written) > 100
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_unparsed_lines_are_known(events_of: dict[str, pl.DataFrame]) -> None:
    """Nothing else in the whole corpus is unread, and each such line has a reason."""
    rows = {
        name: unparsed(events).filter(pl.col("line").is_not_null())
        for name, events in events_of.items()
        if name not in OTHER_TOOLS
    }

    assert {name: found.get_column("line").to_list() for name, found in rows.items() if found.height} == UNPARSED
    assert all(found.get_column("reason").null_count() == 0 for found in rows.values())


def _visible_options(command: str) -> set[str]:
    """The options of a command line that the log shows."""
    start = command[: re.search(r" (?:fio|sh|python3|\./\w+|sqlite3|\S+ed) |$", command).start()]  # type: ignore[union-attr]
    words = start.replace('"', "").split()
    shown = {
        "--arg-names": "-N",
        "--color=always": "--color",
        "-yy": "-y",
        "-kk": "-k",
        "read=all": "-e read/write",
        **{option: option for option in ("-ff", "-Y", "-t", "-tt", "-ttt", "-r", "-n", "-i", "-T", "-y", "-k")},
        **{option: option for option in ("-c", "-C", "-f")},
    }
    options = {shown[word] for word in words if word in shown}
    if "format:unix" in start:
        options.add("-ttt")
    if "format:time" in start:
        options.add("-tt")
    options |= {"-r"} if "--relative-timestamps" in start else set()
    options |= {"-T"} if "--syscall-times" in start else set()
    if start.count(" -p ") > 1:
        options.add("-f")  # several processes in one log look like children in one log
    return options


def test_dialect_recognises_the_options(
    opened: dict[str, tuple[Log, Dialect]], manifest: dict[str, dict[str, str]]
) -> None:
    """What can be seen of each capture's command line is what `dialect` says."""
    for name, row in manifest.items():
        if "-ff" in row["command"]:
            continue
        expected = _visible_options(row["command"])
        version = tuple(int(part) for part in row["strace_version"].split("-")[0].split("."))
        if "-r" in expected and version < (4, 22):
            expected -= {"-t", "-tt", "-ttt"}  # before 4.22 -r switches the clocks off
        if name == "6.1-attach-f-tt-T-stderr.strace":
            expected.remove("-f")  # it had no child, and standard error shows no pid of an only process

        assert set(opened[f"captures/{name}"][1].options) == expected, name


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("6.1-mp-ff-r/*", "strace -ff -r -T"), ("6.1-thread-execve-ff.*", "strace -ff -ttt -T")],
)
def test_dialect_recognises_a_set(captures: Path, pattern: str, expected: str) -> None:
    """The files of ``-ff`` are known by the process ids at the ends of their names."""
    assert str(dialect(captures / pattern)).partition("  #")[0] == expected


def test_versions_of_the_dialect_hold_the_version(
    opened: dict[str, tuple[Log, Dialect]], manifest: dict[str, dict[str, str]]
) -> None:
    """The range of versions that `dialect` names has the version that made the capture; most captures tell one."""
    shown = 0
    for name, row in manifest.items():
        if "-ff" in row["command"]:
            continue
        versions = opened[f"captures/{name}"][1].versions
        version = tuple(int(part) for part in row["strace_version"].split("-")[0].split("."))
        bounds = [tuple(map(int, bound.split("."))) for bound in re.findall(r"\d+\.\d+", versions)]
        low = bounds[0] if bounds and not versions.endswith("earlier") else (0,)
        high = bounds[-1] if bounds and not versions.endswith("later") else (99,)
        shown += bool(bounds)

        assert low <= version[:2] <= high, name
    assert shown > 80
