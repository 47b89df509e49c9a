"""Latency histograms: both ends of every bucket, by the rule of each tool; real files against a plain reading."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

import iolab
from hostparse import read_histograms
from logframe import LogParseError, open_log

if TYPE_CHECKING:
    from pathlib import Path

QUANTIZE = "           value  ------------- Distribution ------------- count    \n"
#: Tool -> a log of one bucket with 25 counts, and its lower and upper end in nanoseconds.
BUCKETS = {
    "bcc": (
        "     usecs               : count     distribution\n       128 -> 255        : 25     |****|\n",
        128e3,
        256e3,
    ),
    "bcc -m": (
        "     msecs               : count     distribution\n         0 -> 1          : 25     |****|\n",
        0.0,
        2e6,
    ),
    "iolatency": ("  >=(ms) .. <(ms)   : I/O      |Distribution |\n       1 -> 2       : 25     |####|\n", 1e6, 2e6),
    "bpftrace": ("@usecs[dm-0]:\n[1K, 2K)              25 |@@@@|\n", 1_024e3, 2_048e3),
    "bpftrace json": ('{"type": "hist", "data": {"@ns": [{"min": 2, "max": 3, "count": 25}]}}\n', 2.0, 4.0),
    "dict": (
        "{'ts': '14:42', 'val_type': 'msecs', 'data': [{'interval-start': 2, 'interval-end': 3, 'count': 25}]}\n",
        2e6,
        4e6,
    ),
    "dtrace record": (
        f"<begin record>\nlatencyunit, nanosec\n  pread\n{QUANTIZE}          262144 |@@@@ 25\n<end record>\n",
        262_144.0,
        524_288.0,
    ),
    "systemtap record": (
        "<begin record>\nlatencyunit,microsec\ndatasource, systemtap\n64,25\n<end record>\n",
        64e3,
        128e3,
    ),
    "oracle record": ("<begin record>\nlatencyunit, millisec\ndatasource, oracle\n4, 25\n<end record>\n", 2e6, 4e6),
    "oracle first": ("<begin record>\nlatencyunit, millisec\ndatasource, oracle\n1, 25\n<end record>\n", 0.0, 1e6),
}


@pytest.mark.parametrize("tool", BUCKETS)
def test_ends_of_a_bucket(tool: str) -> None:
    """The printed number is the lower end, both ends or the upper end: the bucket has both, in nanoseconds."""
    text, lower, upper = BUCKETS[tool]
    read = read_histograms(text.encode())

    assert read.buckets.select("lower_ns", "upper_ns", "count").rows() == [(lower, upper, 25)]
    assert read.diagnostics.height == 0


def test_numbers_without_a_unit_or_a_rule() -> None:
    """DTrace prints no unit: no nanoseconds then; a record that does not say what its numbers are has no ends."""
    dtrace = read_histograms(f"  7110  -bash\\0\n\n{QUANTIZE}  -2 |  1\n  0 |@  2\n  1024 |@@  3\n".encode())
    record = read_histograms(b"<begin record>\nlatencyunit,microsec\n64,1\n<end record>\n")

    assert dtrace.buckets.select("key", "lower", "upper", "lower_ns").rows() == [
        ("7110 -bash", -4.0, -2.0, None),
        ("7110 -bash", 0.0, 1.0, None),
        ("7110 -bash", 1024.0, 2048.0, None),
    ]
    assert record.buckets.select("lower", "count").rows() == [(None, 1)]
    assert record.diagnostics.get_column("kind").to_list() == ["contradiction"]


def test_words_of_a_record_that_are_not_known() -> None:
    """Numbers of another data source are no ends of buckets, and another unit no time: both have a diagnostic."""
    record = "<begin record>\nlatencyunit, millisec\ndatasource, oracle\n4, 25\n<end record>\n"
    source = read_histograms(record.replace("oracle", "dracle").encode())
    unit = read_histograms(record.replace("millisec", "tillisec").encode())

    assert source.buckets.select("lower", "upper", "count").row(0) == (None, None, 25)
    assert source.diagnostics["line"].to_list() == [4]
    assert unit.buckets.select("lower", "lower_ns", "count").row(0) == (2.0, None, 25)
    assert unit.diagnostics["line"].to_list() == [2]


def test_records_that_go_on_counting() -> None:
    """Counts of records are cumulative: the difference is by bucket; a count that falls is a new start."""
    record = "<begin record>\ntimestamp, microsec, {}, now\nlabel, x\nlatencyunit,microsec\ndatasource, systemtap\n"
    record += "64,{}\n<end record>\n"
    read = read_histograms("".join(record.format(n, count) for n, count in enumerate((10, 15, 15, 3))).encode())

    assert read.buckets.select("count", "delta", "is_cumulative", "clock_us").rows() == [
        (10, None, True, 0),
        (15, 5, True, 1),
        (15, 0, True, 2),
        (3, 3, True, 3),
    ]


def test_the_end_of_a_record_is_missing() -> None:
    """Fields below the buckets of a record are those of another one, whose buckets have not the clock of the first."""
    first = "<begin record>\ntimestamp, microsec, 7, then\nlatencyunit, millisec\ndatasource, oracle\n4, 25\n"
    read = read_histograms(f"{first}latencyunit, millisec\ndatasource, oracle\n4, 31\n<end record>\n".encode())

    assert read.buckets.select("histogram", "clock_us", "count").rows() == [(1, 7, 25), (2, None, 31)]
    assert read.diagnostics["kind"].to_list() == ["contradiction"]


def test_instances_in_one_record_in_any_order() -> None:
    """A view of all instances prints one series after the other, in no order: their counters are added up."""
    record = "<begin record>\ntimestamp, microsec, {}, then\nlatencyunit, millisec\nlabel,gv$event_histogram\n"
    record += "{}<end record>\n"
    series = "1, 5\n2, 6\n", "1, 700\n2, 800\n", "1, 9\n2, 6\n", "1, 701\n2, 802\n"
    text = record.format(1, series[0] + series[1]) + record.format(2, series[3] + series[2])
    read = read_histograms(text.encode())

    assert read.diagnostics.is_empty()
    assert read.buckets.select("histogram", "upper", "count", "delta").rows() == [
        *((1, upper, count, None) for upper, count in ((1, 5), (2, 6), (1, 700), (2, 800))),
        *((2, upper, count, delta) for upper, count, delta in ((1, 701, 5), (2, 802, 2), (1, 9, None), (2, 6, None))),
    ]


def test_tables_of_intervals_are_not_cumulative() -> None:
    """Bcc clears its tables: each has its time and its key, and its counts are its own."""
    table = "operation = 'read'\n     usecs : count     distribution\n   0 -> 1 : {} |*|\n"
    read = read_histograms(("06:20:16\n" + table.format(5) + "\n06:20:17\n" + table.format(9)).encode())

    assert read.buckets.select("key", "time_text", "delta", "is_cumulative").rows() == [
        ("read", "06:20:16", 5, False),
        ("read", "06:20:17", 9, False),
    ]


def test_sum_that_is_not_the_count() -> None:
    """The count that bcc prints below its table is checked."""
    table = "     nsecs : count     distribution\n   0 -> 1 : 5 |*|\n   2 -> 3 : 6 |*|\n\n"
    right = read_histograms((table + "avg = 2 nsecs, total: 22 nsecs, count: 11\n").encode())
    wrong = read_histograms((table + "avg = 2 nsecs, total: 22 nsecs, count: 12\n").encode())

    assert right.diagnostics.height == 0
    assert wrong.diagnostics.select("kind", "line").rows() == [("sum", 5)]


def test_other_lines_are_named() -> None:
    """Prose is kept in the diagnostics; a log without a histogram is an error."""
    text = "Some prose.\n" + BUCKETS["bcc"][0] + "and more\n"

    assert read_histograms(text.encode()).diagnostics.get_column("text").to_list() == ["Some prose.", "and more"]
    with pytest.raises(LogParseError, match="no histogram"):
        read_histograms(b"Some prose.\n")


@pytest.mark.corpus
def test_counts_equal_the_independent_reading(host_logs: Path) -> None:
    """The counts of all tables of the real files are those that plain patterns find in their rows."""
    total = 0
    differing: list[str] = []
    for path in sorted((host_logs / "latency_hist").iterdir()):
        text = open_log(path).text()
        rows = re.findall(
            r"^ *\d+ -> \d+ *: (\d+) *\||^\[\d+, \d+\) +(\d+) \||^ *\d+ \|@* +(\d+) *$", text, re.MULTILINE
        )
        expected = [int(one or two or three) for one, two, three in rows]
        expected += [int(count) for count in re.findall(r"^\d+ *, *(\d+)$", text, re.MULTILINE)]
        expected += [int(count) for count in re.findall(r"'count': (\d+)", text)]
        if not expected:
            continue
        read = read_histograms(path)
        assert sorted(read.buckets.get_column("count")) == sorted(expected), path.name
        differing += read.diagnostics.filter(pl.col("kind") != "unparsed").get_column("reason").to_list()
        total += len(expected)
    assert total > 2_500
    assert differing == ["the buckets above add up to 362"]  # of 326 by the line below them


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("@us:\n[..., 0)  1 |@|\n".replace("[...", "(..."), (None, 0.0)),
        ("@us:\n[100, ...)  1 |@|\n", (100.0, None)),
        ("@us:\n[7]  1 |@|\n", (7.0, 8.0)),
        (f"{QUANTIZE}             < 0 |   1\n", (None, 0.0)),
        (f"{QUANTIZE}          >= 100 |@@ 1\n", (100.0, None)),
        (f"{QUANTIZE}              -4 |@@ 1\n", (-8.0, -4.0)),
        ('{"type": "lhist", "data": {"@us": [{"max": 9, "count": 1}]}}\n', (None, 10.0)),
        ('{"type": "lhist", "data": {"@us": [{"min": 9, "count": 1}]}}\n', (9.0, None)),
    ],
)
def test_open_buckets(text: str, ends: tuple[float | None, float | None]) -> None:
    """A bucket without an end has null there, and the other end."""
    assert read_histograms(text.encode()).buckets.select("lower", "upper").rows() == [ends]


MEANS_OF_TWO = (
    "Function = vfs_read\n     usecs               : count     distribution\n"
    "         0 -> 1          : 5        |****|\n\n"
    "Function = vfs_write\n     usecs               : count     distribution\n"
    "         2 -> 3          : 20       |****|\n\n"
    "avg = 2 usecs, total: 61 usecs, count: {count}\n"
)


def test_means_below_tables() -> None:
    """What a tool prints below its tables is kept, and a count that is not that of the buckets is named."""
    right, wrong = (read_histograms(MEANS_OF_TWO.format(count=count).encode()) for count in (25, 26))

    assert right.means.rows() == [(2, "usecs", 2.0, 61.0, 25, 9)]
    assert right.diagnostics.height == 0
    assert wrong.diagnostics.select("kind", "line").rows() == [("sum", 9)]


@pytest.mark.parametrize("tool", BUCKETS)
def test_where_the_numbers_went(tool: str) -> None:
    """No number of a histogram is lost; one that is taken out of the frame is."""
    text = BUCKETS[tool][0].encode()
    parsed = read_histograms(text)
    damaged = replace(parsed, buckets=parsed.buckets.with_columns(pl.col("count", "delta") + 1))

    assert iolab.provenance(parsed, text).filter(status="lost").rows() == []
    assert iolab.provenance(damaged, text).filter(status="lost")["text"].to_list() == ["25"]


def test_numbers_of_means() -> None:
    """The mean, the sum and the number below the tables are in their frame."""
    text = MEANS_OF_TWO.format(count=25).encode()
    parsed = read_histograms(text)
    damaged = replace(parsed, means=parsed.means.clear())

    assert iolab.provenance(parsed, text).filter(line=9)["frame"].to_list() == ["means"] * 3
    assert iolab.provenance(damaged, text).filter(status="lost")["text"].to_list() == ["2", "61", "25"]


def test_a_head_without_buckets_is_a_diagnostic() -> None:
    """The clock of a record that was cut before its first bucket is in no frame, and is named; a later one is read."""
    record = (
        "<begin record>\ntimestamp, microsec, {0}, Mon Aug 26 16:26:51 2013\nlatencyunit, microsec\n{1}<end record>\n"
    )
    log = record.format(7, "") + record.format(8, "1, 5\n2, 6\n") + record.format(9, "")
    found = read_histograms(log.encode())

    assert found.buckets["clock_us"].unique().to_list() == [8]
    assert found.diagnostics.filter(pl.col("reason") == "no bucket stands below it")["line"].to_list() == [2, 12]


def test_a_clock_of_another_unit_is_a_diagnostic() -> None:
    """Milliseconds are not taken for microseconds, and the figure is named."""
    log = (
        "<begin record>\ntimestamp, millisec, 7, Mon Aug 26 16:26:51 2013\nlatencyunit, microsec\n1, 5\n<end record>\n"
    )
    found = read_histograms(log.encode())

    assert found.buckets["clock_us"].to_list() == [None]
    assert "no clock in microseconds" in found.diagnostics["reason"].to_list()


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        (("0", "10", "20", "30"), [(0, 10), (10, 20), (20, 30), (30, 40)]),
        (("< 0", "0", "10", ">= 20"), [(None, 0), (0, 10), (10, 20), (20, None)]),
        (("0", "2", "4"), [(0, 2), (2, 4), (4, 6)]),
        (("8", "9", "10", "20", "30"), [(8, 9), (9, 10), (10, 20), (20, 30), (30, 40)]),
        (("9", "10", "20"), [(9, 10), (10, 20), (20, None)]),
        (("-2", "-1", "0", "1", "2", "4"), [(-4, -2), (-2, -1), (0, 1), (1, 2), (2, 4), (4, 8)]),
    ],
    ids=["linear", "open ends", "steps of two", "log-linear", "log-linear, one step at the end", "powers of two"],
)
def test_ends_of_buckets_of_dtrace(values: tuple[str, ...], ends: list[tuple[float | None, float | None]]) -> None:
    """Where values are no powers of two (lquantize, llquantize), a bucket ends with the next one."""
    rows = "".join(f"{value:>16} |@@ {number}\n" for number, value in enumerate(values))
    read = read_histograms(f"  read (us)\n{QUANTIZE}{rows}\n".encode())

    assert read.buckets.select("lower", "upper").rows() == ends
    assert read.diagnostics.is_empty()


RECORD = "<begin record>\nlatencyunit, millisec\nlabel,gv$event_histogram\n"
#: Tool -> what stands above the buckets, and some of them.
TABLES = {
    "bcc": (
        "     usecs               : count     distribution\n",
        ["16 -> 31 : 7 |*|", "32 -> 63 : 7 |*|", "64 -> 127 : 7 |*|"],
    ),
    "bpftrace": ("@usecs[dm-0]:\n", [f"[{2**n}, {2 ** (n + 1)})   7 |@@|" for n in range(4, 8)]),
    "dtrace": (f"  read (us)\n{QUANTIZE}", [f"  {2**n} |@@ 7" for n in range(4, 8)]),
    "oracle record": (RECORD, ["1, 5", "2, 6", "4, 7", "8, 7"]),
    "two instances": (
        "<begin record>\nlatencyunit, millisec\nlabel,gv$event_histogram\n1, 5\n2, 6\n4, 7\n",
        ["1, 5", "2, 4"],
    ),
}


@pytest.mark.parametrize("tool", TABLES)
def test_buckets_that_are_missing_are_a_diagnostic(tool: str) -> None:
    """What stands behind a missing bucket is named; a line that says that buckets were left out is a reason."""
    head, rows = TABLES[tool]
    logs = (
        head + "".join(f"{row}\n" for row in shown)
        for shown in (rows, [*rows[:-2], rows[-1]], [*rows[:-2], "~", rows[-1]])
    )
    whole, cut, said = (read_histograms(log.encode()).diagnostics.select("line", "kind").rows() for log in logs)

    assert whole == []
    assert cut == [(head.count("\n") + len(rows) - 1, "contradiction")]
    assert said == []


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        (f"  read (us)\n{QUANTIZE}", "us"),
        (f"  ns-slapd\n{QUANTIZE}", None),
        ("@usecs[ns-slapd]:\n", "usecs"),
        ("@[ns-slapd]:\n", None),
    ],
)
def test_units_are_not_taken_from_keys(head: str, unit: str | None) -> None:
    """The name of a map has a unit, and what stands in brackets; the name of a program has none."""
    row = "  16 |@@ 7\n" if "value" in head else "[16, 32)   7 |@@|\n"
    assert read_histograms((head + row).encode()).buckets.get_column("unit").to_list() == [unit]


def test_linear_buckets_of_two_records_keep_their_units() -> None:
    """The end of a table is known when the next one begins, which may have another unit."""
    rows = "".join(f"{value:>16} |@@ 7\n" for value in (0, 10, 20))
    record = f"<begin record>\nlatencyunit, {{}}\n  pread\n{QUANTIZE}{rows}<end record>\n"
    read = read_histograms((record.format("microsec") + record.format("millisec")).encode())

    assert read.buckets.get_column("upper_ns").to_list() == [10e3, 20e3, 30e3, 10e6, 20e6, 30e6]
