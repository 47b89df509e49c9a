"""sadf -d, the JSON of sysstat, iostat -D of AIX: real files against plain readings, and traps on made ones."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import iolab
from hostparse import HostLog, read_host
from hostparse.stored import MemoryParts
from logframe import LogParseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SADF = (
    "# hostname;interval;timestamp;CPU;%user;%idle\n"
    "db1;10;2024-02-19 13:20:10 UTC;-1;2.15;82.88\n"
    "db1;10;2024-02-19 13:20:20 UTC;-1;2.28;95.31\n"
    "# hostname;interval;timestamp;DEV;tps;rkB/s;await\n"
    "db1;10;2024-02-19 13:20:10 UTC;sda;0.00;0.00;0.00\n"
    "db1;10;2024-02-19 13:20:20 UTC;sda;1.50;8.00;0.40\n"
    "db1;-1;2024-02-19 13:37:29 UTC;LINUX-RESTART\t(10 CPU)\n"
    "# hostname;interval;timestamp;CPU;%user;%idle\n"
    "db1;31;2024-02-19 13:54:35 UTC;-1;2.67;73.34\n"
)
DOCUMENT = {
    "sysstat": {
        "hosts": [
            {
                "nodename": "db1",
                "sysname": "Linux",
                "number-of-cpus": 4,
                "date": "02/19/2024",
                "statistics": [
                    {
                        "timestamp": f"02/19/2024 01:05:0{second} PM",
                        "avg-cpu": {"user": 1.5, "idle": 98.5},
                        "disk": [{"disk_device": "sda", "r/s": 6.9, "rkB/s": 222.14, "r_await": 1.25, "util": 0.46}],
                    }
                    for second in (1, 2)
                ],
            }
        ]
    }
}


def _figures(log: HostLog) -> list[float]:
    """All figures in the units that were printed, sorted."""
    found = []
    for part in log.parts.whole():
        for field in part.heading.fields:
            if field.metric is not None:
                found += (part.frame.get_column(field.name) / field.metric.factor).drop_nulls().to_list()
    return sorted(round(figure, 6) for figure in found)


def _numbers(value: Any) -> Iterator[float]:  # noqa: ANN401 - whatever JSON holds
    """The figures in the rows of a document of sysstat; times and what describes the host are left out."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in {"timestamp", "number-of-cpus"}:
                yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, float | int):
        yield round(float(value), 6)


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["expected.iostat-g-JSON", "expected.iostat-x-p-ALL-JSON", "expected.mpstat-A-JSON"])
def test_json_figures_are_all_there(host_logs: Path, name: str) -> None:
    """The figures of the frames are those that the standard library reads."""
    path = host_logs / "sysstat" / name

    assert _figures(read_host(path)) == sorted(_numbers(json.loads(path.read_text())))


@pytest.mark.corpus
def test_sadf_figures_are_all_there(host_logs: Path) -> None:
    """The figures of `sadf -d` are those of splits at semicolons; names that are numbers are none."""
    for name in ("expected.sadf-d", "expected.sadf-d-qu", "expected.sadf-d-t-tz"):
        path = host_logs / "sysstat" / name
        log = read_host(path)
        rows = [
            line.split(";")[3:]
            for line in path.read_text().splitlines()
            if line[:1] != "#" and line.split(";")[1] != "-1"
        ]
        names = sum(
            part.frame.height * sum(field.metric is None for field in part.heading.fields) for part in log.parts.whole()
        )

        no_figures = (log.diagnostics.get_column("kind") == "no_value").sum()

        assert len(_figures(log)) == sum(len(row) + 1 for row in rows) - names - no_figures
        assert "unparsed" not in log.diagnostics.get_column("kind").to_list()
        assert log.runs.height == 1 + path.read_text().count("RESTART")


def test_sadf_tables_are_joined_by_time() -> None:
    """One row a time; a restart begins a run; the start of an interval is the stamp before, else by the interval."""
    log = read_host(SADF.encode())

    assert log.wide("cpu").select("run", "sample", "cpu", "idle_percent").rows() == [
        (0, 1, "all", 82.88),
        (0, 2, "all", 95.31),
        (1, 1, "all", 73.34),
    ]
    assert log.wide("cpu").get_column("interval_start").dt.second().to_list() == [0, 10, 4]
    assert log.wide("device").select("await_ms", "read_bytes_per_s").rows() == [(None, 0.0), (0.4, 8192.0)]
    assert log.runs.select("host", "cpus", "zone").rows() == [("db1", None, "UTC"), ("db1", 10, "UTC")]
    assert log.diagnostics.height == 0


@pytest.mark.parametrize("is_read", [True, False])
def test_sadf_with_several_items_in_a_row(is_read: bool) -> None:  # noqa: FBT001 - a parameter
    """The items of -h are the rows of sadf without it, where a row fits its heading in one way; else it is a remark."""
    row = "db1;10;2024-02-19 13:20:10 UTC;-1;2.15;82.88;3;0.00;9.00;4.50;sda;0.00;8.00;sum;5.00;6.00;8;1.00;2.00"
    text = "# hostname;interval;timestamp;CPU;%user;%idle[...];cswch/s;DEV;tps;rkB/s[...];INTR;CPU*[...]\n"
    if is_read:  # an item of interrupts is no item of devices then
        row, text = row.replace("0.00;8.00", "0.00;8.00;3.00"), text.replace("rkB/s", "rkB/s;await")
    log = read_host(f"{text}{row}\n".encode())
    assert log.diagnostics.get_column("kind").to_list() == ([] if is_read else ["unparsed", "empty"])
    said = iolab.findings(log).get_column("sentence").to_list()
    if is_read:
        assert log.scopes == ("cpu", "host", "device", "interrupt")
        assert log.wide("cpu").select("cpu", "idle_percent").rows() == [("all", 82.88), ("3", 9.0)]
        assert log.wide("interrupt").select("interrupt", "CPU*1", "CPU*2").rows() == [
            ("sum", 5.0, 6.0),
            ("8", 1.0, 2.0),
        ]
    else:
        assert said == ["How busy processors, devices and processes were is unknown: 1 line was not read."]


def test_a_table_of_the_processors_with_a_date_in_each_row() -> None:
    """The words before the columns of mpstat are those of the time, as date prints it."""
    rows = "".join(f"Mon Jan 29 23:40:{n}6 EET 2024 20.0 4.0 {n}.5 75.5 \n" for n in range(1, 4))
    log = read_host(f"Snap time %usr %sys %iowait %idle \n{rows}no row\n".encode())
    assert log.kind == "mpstat"
    assert log.wide("cpu").select("line", "cpu", "iowait_percent").rows() == [
        (n + 1, "all", n + 0.5) for n in (1, 2, 3)
    ]
    assert str(log.wide("cpu").get_column("interval_end")[0]) == "2024-01-29 23:40:16"
    assert log.diagnostics.get_column("kind").to_list() == ["unparsed"]


def test_sadf_interval_that_is_not_the_time_between_stamps() -> None:
    """The stamps are used, and the difference is named once."""
    log = read_host(SADF.replace("db1;10;", "db1;31;").encode())

    assert log.wide("cpu").get_column("interval_start").dt.second().to_list()[1] == 10
    assert log.wide("cpu").get_column("stated_interval_s").to_list()[1] == 31.0
    assert log.diagnostics.get_column("kind").to_list() == ["clock"]


@pytest.mark.parametrize(
    "row", ["db1;10;2024-02-19 13:20:20 UTC;-1;2.28\n", "db1;10;2024-02-19 13:20:20 UTC;-1;1;2;3\n"]
)
def test_sadf_rows_that_do_not_fit(row: str) -> None:
    """A row with a figure more or less than the heading is kept as text."""
    log = read_host((SADF.split("db1;10", maxsplit=1)[0] + row).encode())

    assert log.diagnostics.get_column("text").to_list()[0] == row.strip()


def test_restarts_in_json() -> None:
    """Each restart begins a run, as in `sadf -d`: no interval goes over it, and each run has its processors."""
    stamps = [("13:20:10", 82.88), ("13:20:20", 95.31), ("13:54:35", 73.34), ("13:54:45", 70.0)]
    statistics = [
        {"timestamp": {"date": "2024-02-19", "time": clock, "interval": 10}, "cpu-load": [{"cpu": "all", "idle": idle}]}
        for clock, idle in stamps
    ]
    boots = [{"boot": {"date": "2024-02-19", "time": clock, "cpu_count": 10}} for clock in ("13:37:29", "13:54:09")]
    host = {"nodename": "db1", "number-of-cpus": 9, "statistics": statistics, "restarts": boots[::-1]}
    log = read_host(json.dumps({"sysstat": {"hosts": [host]}}, indent=1).encode())

    assert log.wide("cpu").select("run", "sample", "idle_percent").rows() == [
        (0, 1, 82.88),
        (0, 2, 95.31),
        (2, 1, 73.34),
        (2, 2, 70.0),
    ]
    assert log.wide("cpu").get_column("interval_start").dt.second().to_list() == [0, 10, 25, 35]
    assert log.runs.select("host", "cpus", "restarted_s").rows() == [
        ("db1", 9, None),
        ("db1", 10, (13 * 60 + 37) * 60 + 29),
        ("db1", 10, (13 * 60 + 54) * 60 + 9),
    ]


def test_json_of_iostat() -> None:
    """Figures keep the digits that were printed as bounds; the first report is a mean since the start."""
    log = read_host(json.dumps(DOCUMENT).encode())
    device = log.wide("device", bounds=True)
    row = device.row(1, named=True)

    assert log.kind == "iostat"
    assert device.get_column("is_since_boot").to_list() == [True, False]
    assert (row["read_bytes_per_s"], row["util_percent"]) == (222.14 * 1024, 0.46)
    assert row["read_await_ms_hi"] == pytest.approx(1.255)
    assert row["interval_end"] == dt.datetime(2024, 2, 19, 13, 5, 2)  # noqa: DTZ001 - a wall clock of the host
    assert log.wide("host").get_column("user_percent").to_list() == [1.5, 1.5]


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_lines_of_json(indent: int | None) -> None:
    """Each figure has the line of the object that it is in, whatever the layout, and a lost one is seen."""
    text = json.dumps(DOCUMENT, indent=indent)
    log = read_host(text.encode())
    found = iolab.provenance(log, text.encode())
    lines = [line for line, words in enumerate(text.split("\n"), 1) if '"disk_device"' in words]
    parts = log.parts.whole()
    fewer = [replace(part, frame=part.frame.clear()) if "device" in part.heading.keys else part for part in parts]
    damaged = iolab.provenance(replace(log, parts=MemoryParts(fewer)), text.encode())

    assert log.wide("device")["line"].unique().sort().to_list() == lines
    assert found.filter(status="lost").rows() == []
    assert damaged.filter(pl.col("status").cast(pl.String) == "typed").height < found.filter(status="typed").height


def test_json_that_was_cut() -> None:
    """What is whole of a file that ends early is read, and the cut is named; a file of nothing whole is an error."""
    text = json.dumps(DOCUMENT)
    log = read_host(text[: text.rindex("r_await")].encode())

    assert log.wide("host").height == 2
    assert log.wide("device").height == 1
    assert log.wide("host")["line"].to_list() == [1, 1]
    assert log.diagnostics.get_column("kind").to_list() == ["cut"]
    with pytest.raises(LogParseError):
        read_host(b'{"sysstat": {"hosts": [')


@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_json_nested_without_end(depth: int) -> None:
    """Objects within objects, as deep as can be: read, or an error of the project."""
    text = '{"sysstat": {"hosts": [], "deep": ' + "[" * depth + "1" + "]" * depth + "}}"
    try:
        log = read_host(text.encode())
    except LogParseError as error:
        assert "objects within objects" in str(error)  # noqa: PT017 - it may also be read
    else:
        assert log.samples.collect().is_empty()


def test_a_heading_of_a_group_that_names_a_column_twice() -> None:
    """Its figures have no one column: the row is a diagnostic, and the other groups of the disk are read."""
    text = (
        "hdisk6          xfer:  %tm_act      bps      tps      bread      bwrtn\n"
        "                          9.6     16.4K     4.0       16.4K       0.0\n"
        "                read:      rps  avgserv      rps\n"
        "                          10.0      2.0      0.1\n"
    )
    log = read_host(text.encode())

    assert log.diagnostics.select("line", "reason").rows() == [(4, "the heading names a column twice: rps avgserv rps")]
    assert log.wide("device").get_column("bytes_per_s").to_list() == [16_400.0]


def test_blank_cells_of_empty_queues() -> None:
    """AIX prints nothing for a queue that was empty (`sar -q`), in rows and in means; other gaps are not read."""
    text = "\nAIX db1 2 7 00F93CFF4C00    10/14/24\n\nSystem configuration: lcpu=16  mode=Capped\n\n"
    text += (
        "09:00:00 runq-sz %runocc swpq-sz %swpocc\n09:01:00    69.4     100\n09:02:00     7.1      97     1.0       3\n"
    )
    text += "09:03:00                     2.0       9\n09:04:00         69.4     100\n"
    text += "\nAverage     38.2      66     1.5       4\n"
    log = read_host(text.encode())
    queues = ["runnable", "run_queue_occupied_percent", "swapped_out", "swap_queue_occupied_percent"]

    assert log.wide("host").select(queues).rows() == [
        (69.4, 100.0, None, None),
        (7.1, 97.0, 1.0, 3.0),
        (None, None, 2.0, 9.0),
    ]
    assert log.averages.filter(metric="runnable").collect().get_column("value").to_list() == [38.2]
    assert log.diagnostics.select("line", "text").rows() == [(10, "09:04:00         69.4     100")]


def test_groups_under_each_disk() -> None:
    """`iostat -D` of AIX: thousands of bytes, seconds and hours where the column is in milliseconds, one row a disk."""
    text = (
        "System configuration: lcpu=4 drives=6 paths=5 vdisks=3\n\n"
        "hdisk6          xfer:  %tm_act      bps      tps      bread      bwrtn\n"
        "                          9.6     16.4K     4.0       16.4K       0.0\n"
        "                read:      rps  avgserv  minserv  maxserv   timeouts      fails\n"
        "                          10.0      2.0      0.1      1.1S           0          2\n"
    )
    log = read_host((text + "-" * 80 + "\n" + text.split("\n\n")[1]).encode())
    device = log.wide("device", bounds=True)
    row = device.row(0, named=True)

    assert device.get_column("is_since_boot").to_list() == [True, False]
    assert (row["read_bytes_per_s"], row["read_service_max_ms"], row["read_fails"]) == (16_400.0, 1100.0, 2.0)
    assert (row["read_service_max_ms_lo"], row["read_fails_hi"]) == (pytest.approx(1050.0), 2.0)
    assert (
        log.samples.filter(pl.col("metric") == "bytes_per_s").collect().get_column("value_hi").to_list()
        == [16_450.0] * 2
    )
    assert log.diagnostics.height == 0


@pytest.mark.parametrize("second", ["          ", "Average   "])
@pytest.mark.parametrize(("unit", "factor"), [("blks/s", 512.0), ("Kbs/s", 1024.0)])
def test_means_of_sar_of_several_devices(second: str, unit: str, factor: float) -> None:
    """The word stands before the first device (Solaris, AIX) or each (HP-UX): no mean is a row of a sample."""
    log = read_host(
        f"""\
SunOS db1 5.11 11.4 sun4v    02/19/2024

13:00:00  device  %busy  avque  r+w/s  {unit}  avwait  avserv
13:10:00  sd0         5    0.1     20     200     0.0     4.5
          sd1         6    0.1     30     300     0.0     5.5
13:20:00  sd0         7    0.1     22     220     0.0     4.7
          sd1         8    0.1     32     320     0.0     5.7

Average   sd0         6    0.1     21     210     0.0     4.6
{second}sd1         7    0.1     31     310     0.0     5.6

13:00:00  runq-sz %runocc
13:10:00      1.5      10
13:20:00      1.6      11
""".encode()
    )
    means = log.averages.filter(metric="bytes_per_s").collect()

    assert log.wide("device").select("sample", "device", "bytes_per_s").rows() == [
        (sample, device, figure * factor)
        for sample, device, figure in [(1, "sd0", 200), (1, "sd1", 300), (2, "sd0", 220), (2, "sd1", 320)]
    ]
    assert means.select("name", "value").rows() == [("sd0", 210 * factor), ("sd1", 310 * factor)]
    assert log.wide("host").height == 2
    assert log.diagnostics.is_empty()


def test_the_average_of_sar_with_a_margin_is_no_sample() -> None:
    """The block at the end is the mean of the others, whether it begins in the first column or not."""
    head = "HP-UX db1 B.11.31 U ia64    10/06/26\n\n09:00:01   device   %busy   avque   r+w/s  blks/s  avwait  avserv\n"
    row = "{:9}  {:>7}    1.98    0.50       9     158    0.00    3.43\n"
    times = ("09:01:01", "", "09:02:01", "", "{}Average", "")
    for margin in ("", " "):
        rows = "".join(row.format(time.format(margin), f"disk{n % 2}") for n, time in enumerate(times))
        counts = read_host((head + rows).encode()).wide("device").group_by("device").len().sort("device")
        assert counts.rows() == [("disk0", 2), ("disk1", 2)]
