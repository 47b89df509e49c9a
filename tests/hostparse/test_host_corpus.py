"""Every real log of a sampling tool: each figure equals an independent reading, each line is accounted for.

The independent reading splits lines at blanks, by the rules of the formats only, and shares no code with the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hostparse import HostLog, read_host
from logframe import open_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.corpus

FOLDERS = ("iostat_vmstat", "iostat_unix", "exawatcher", "oswbb_iostat")
#: Logs of other forms, read by other modules.
OTHERS = ("json", "data-", "sadf", "iostat_d.txt", "percona_diskstats", "seembh_example_cpu")
#: Logs that are not read whole: sar -q of AIX with blank columns.  Each unread line is a diagnostic.
UNREAD = ("vlsi_sar",)
#: Logs with kanji in clocks, which the independent reading does not know.
KANJI = "hirokitakano"


FIGURE = set("0123456789.,-")
SUFFIX = set("kKMGTPBs%")


def is_figure(word: str) -> bool:
    """Is the word a number, or a number with a unit?"""
    body = word[:-1] if word[-1] in SUFFIX else word
    return bool(body) and set(body) <= FIGURE and any(letter.isdigit() for letter in body)


def is_clock(word: str) -> bool:
    """Is the word a time of day?"""
    parts = word.split(":")
    return len(parts) == 3 and all(part.isdigit() for part in parts)


def number(word: str) -> float:
    """The number in a word, in the unit of the heading, or in bytes where it has a unit of its own."""
    units = {"k": 1024.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4, "B": 1.0, "s": 512.0, "%": 1.0}
    if word[-1] in units:
        return float(word[:-1].replace(",", ".")) * units[word[-1]]
    return float(word.replace(",", "."))


def heading_words(line: str) -> list[str]:
    """The words of a heading, without clock, `#` and labels; `% user` is one word."""
    words = line.replace("% ", "%").split()
    while words and (is_clock(words[0]) or words[0] in {"AM", "PM", "#", "Average:", "avg-cpu:"}):
        words = words[1:]
    cut = [word for word in words if not word.endswith(":") or word in {"Device:", "Disks:"}]
    return [word.rstrip(":") for word in cut]


def figures(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Line, name and figures (as text) of each row; means at the end too.

    The name is what is left of the row when clock and figures are taken away: words before, or one word at its end.
    """
    heading: list[str] = []
    for line_number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if not any(is_figure(word) for word in words) and not any(is_clock(word) for word in words[1:]):
            if len(words) > 1 and not line.startswith(("Linux", "zzz", "#####")):
                heading = heading_words(line)
            continue
        if "/" in words[0] and is_clock(words[-1]):
            continue
        if not heading or words[0] in {"Time:", "zzz", "Linux", "System", "SunOS", "HP-UX"} or "RESTART" in line:
            continue
        if words[0] == "#" and "Time" not in words:
            continue
        while words and (is_clock(words[0]) or words[0] in {"AM", "PM", "Average:", "Average", "Summary:"}):
            words = words[1:]
        if heading[0] == "Time":
            words = words[1:]
        if words:
            yield line_number, " ".join(heading), words


def _tables(folder: Path) -> list[Path]:
    """The logs made of tables with headings."""
    found = [path for name in FOLDERS for path in sorted((folder / name).iterdir())]
    found += sorted((folder / "sysstat").iterdir())
    found += [folder / "slob" / f"{tool}.out" for tool in ("iostat", "mpstat", "vmstat")]
    return [path for path in found if not any(word in path.name.lower() for word in (*OTHERS, *UNREAD))]


def _read_rows(log: HostLog) -> dict[int, list[tuple[object, float | None]]]:
    """Line -> the words of names, and the figures with the factor to their unit."""
    rows: dict[int, list[tuple[object, float | None]]] = {}
    for part in log.parts.whole():
        fields = part.heading.fields
        for line, *values in part.frame.select("line", *(field.name for field in fields)).iter_rows():
            assert line not in rows
            cells: list[tuple[object, float | None]] = []
            for field, value in zip(fields, values, strict=True):
                if field.metric is not None:
                    cells.append((value, field.metric.factor))
                elif value is not None:
                    cells += [(word, None) for word in value.split()]
            rows[line] = cells
    return rows


def _is_same(word: str, value: object, factor: float | None) -> bool:
    if factor is None:
        return word == value
    if word == "-":
        return value is None
    if word[-1] in SUFFIX and word[-1] != "%":
        factor = 1.0
    return isinstance(value, float) and abs(number(word) * factor - value) <= 1e-9 * max(1.0, abs(value))


def test_every_figure_equals_the_independent_reading(host_logs: Path) -> None:
    """Row by row: names and figures are what plain splits at blanks give; neither reading has a row more."""
    rows = figures_seen = 0
    for path in _tables(host_logs):
        if KANJI in path.name.lower():
            continue
        found = _read_rows(read_host(path))
        for line, _, words in figures(open_log(path).text()):
            cells = found.pop(line)
            assert len(words) - len(cells) in {0, 2}, (path.name, line)  # a stamp at the end has two words
            differing = [
                (word, value)
                for word, (value, factor) in zip(words, cells, strict=False)
                if not _is_same(word, value, factor)
            ]
            assert differing == [], (path.name, line)
            rows += 1
            figures_seen += sum(factor is not None for _, factor in cells)
        assert found == {}, path.name

    assert rows > 130_000
    assert figures_seen > 1_400_000


def test_no_line_is_lost(host_logs: Path) -> None:
    """The lines of all kinds add up to the file, and none is unread."""
    for path in _tables(host_logs):
        log = read_host(path)
        unread = log.diagnostics.filter(log.diagnostics["kind"].is_in(["unparsed", "no_value", "unknown_name"]))

        assert sum(log.lines.values()) == len(open_log(path).lines()), path.name
        assert unread.rows() == [], path.name


def test_cells_of_a_rack(host_logs: Path) -> None:
    """Sixty devices, 720 samples, the first since the start; 59 in the cell with a missing disk."""
    paths = sorted((host_logs / "oswbb_iostat").iterdir())
    logs = [read_host(path) for path in paths]
    heights = [log.wide("device").height for log in logs]
    ends = [str(log.wide("device").get_column("interval_end").max()) for log in logs]

    assert heights == [60 * 720, 59 * 720, 60 * 720]
    assert ends == ["2012-02-29 12:01:47", "2012-02-29 12:01:46", "2012-02-29 12:01:59"]
    assert [log.wide("device").get_column("is_since_boot").sum() for log in logs] == [60, 59, 60]
    assert [log.runs.row(0, named=True)["zone"] for log in logs] == ["EST"] * 3
