"""Rows with a cell less or more, a log that ends within a figure, and logs that were quoted or indented."""

import random

import polars as pl
import pytest

import iolab
from hostparse import read_host

IOSTAT = (
    "Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(4 CPU)\n\n"
    "02/19/24 13:05:0{0}\nDevice            r/s     rkB/s   r_await  %util\n"
    "sda              6.90    222.14     12.58   0.32\nsdb              1.25      8.00      0.50  10.00\n\n"
)
MPSTAT = (
    "Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(4 CPU)\n\n"
    "01:05:00 PM  CPU    %usr   %nice    %sys   %idle\n"
    "01:05:03 PM  all    1.73    0.00    0.98   97.29\n"
    "01:05:03 PM    0    2.00    0.10    0.25   97.65\n"
)
VMSTAT = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    " 2  0      0 279471 295968 312724    0    0     1     3   29   57  0  0 99  0  0\n"
    " 1  0      0 279400 295968 312724    0    0   100    30   29   57  3  1 96  0  0\n"
)
SADF = (
    "# hostname;interval;timestamp;DEV;tps;rkB/s;await\n"
    "db1;10;2024-02-19 13:20:10 UTC;sda;0.00;0.00;0.00\n"
    "db1;10;2024-02-19 13:20:20 UTC;sda;1.50;8.00;0.40\n"
)
NMON = (
    "AAA,progname,nmon\nAAA,host,db1\nAAA,time,12:55.27\nAAA,date,17-OCT-2017\nAAA,interval,10\n"
    "CPU_ALL,CPU Total db1,User%,Sys%,Wait%,Idle%\nDISKBUSY,Disk %Busy db1,sda,sdb\n"
    "ZZZZ,T0001,12:55:48,17-OCT-2017\nCPU_ALL,T0001,0.3,0.3,0.1,99.3\nDISKBUSY,T0001,0.7,0.0\n"
    "ZZZZ,T0002,12:55:58,17-OCT-2017\nCPU_ALL,T0002,1.3,0.3,0.1,98.3\nDISKBUSY,T0002,0.9,1.0\n"
)
LOGS = {"iostat": IOSTAT.format(0), "mpstat": MPSTAT, "vmstat": VMSTAT, "sadf": SADF, "nmon": NMON}
ADDED = {
    "quoted": "> {line}",
    "quoted twice": "> > {line}",
    "indented": "      {line}",
    "tab": "\t{line}",
    "syslog": "Feb 19 13:05:03 db1 collector[123]: {line}",
    "numbered": "{number:6}\t{line}",
    "kubectl": "[pod/db-0/collector] {line}",
    "compose": "collector-1  | {line}",
}


def figures(text: str) -> pl.DataFrame:
    """The figures of a log, as `iolab.load` finds and reads it."""
    log = iolab.load(text.encode())
    assert log.format == "host"
    frame = log.frames()["samples"]
    return frame.lazy().collect()


@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("tool", LOGS)
def test_what_was_added_to_every_line(tool: str, added: str) -> None:
    """The figures, times and lines of a log that was quoted, indented, logged or numbered are its own."""
    lines = LOGS[tool].rstrip("\n").split("\n")
    text = "\n".join(ADDED[added].format(line=line, number=number) for number, line in enumerate(lines, 1)) + "\n"

    assert figures(text).equals(figures(LOGS[tool]))


AIX = (
    "System configuration: lcpu=4 mem=8192MB\n\n"
    "kthr    memory              page              faults        cpu\n"
    "----- ----------- ------------------------ ------------ -----------\n"
    " r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa\n"
    " 1  0 12345 67890   0   0   0   0    0   0 100  200 300 10  3 85  2\n"
)
STAMPED = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    " r  b   swpd   free  buff  cache   si   so    bi    bo   in   cs us sy id wa st                 CET\n"
    " 2  0      0 279471 29596 312724    0    0     1     3   29   57  0  0 99  0  0 2024-02-19 13:05:13\n"
    " 2  0      0 279471 29596 312724    0    0     7     3   29   57  0  0 99  0  0 2024-02-19 13:05:18\n"
)


@pytest.mark.parametrize("text", [*LOGS.values(), AIX, STAMPED], ids=[*LOGS, "aix", "stamped"])
def test_a_blank_line_after_every_line(text: str) -> None:
    """An editor's blank lines change no figure, no name and no time."""
    doubled = figures(text.replace("\n", "\n\n"))

    assert doubled.drop("line").equals(figures(text).drop("line"))


def test_system_calls_and_time_in_the_system_without_their_groups() -> None:
    """`sy` stands twice: calls come before the share of the CPU, with the line of groups or without it."""
    lines = AIX.split("\n")
    host = read_host("\n".join(lines[4:]).encode()).wide("host")

    assert host.select("system_calls_per_s", "sy_percent").rows() == [(200.0, 3.0)]
    assert read_host(AIX.encode()).wide("host").select("system_calls_per_s", "sy_percent").rows() == [(200.0, 3.0)]


def test_windows_ends_of_quoted_lines() -> None:
    """A quoted log with carriage returns."""
    text = "".join(f"> {line}\r\n" for line in MPSTAT.split("\n"))

    assert figures(text).equals(figures(MPSTAT))


@pytest.mark.parametrize("tool", ["iostat", "mpstat", "vmstat"])
@pytest.mark.parametrize("is_more", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_row_with_a_cell_more_or_less(tool: str, seed: int, *, is_more: bool) -> None:
    """Which figure is missing is not known: the row is named, no figure moves to another column or name."""
    draw = random.Random(seed)  # noqa: S311 - data for tests
    lines = LOGS[tool].rstrip("\n").split("\n")
    words = lines[-1].split()
    place = draw.randrange(3 if tool == "mpstat" else 1, len(words))
    if is_more:
        words.insert(place, "5.55")
    else:
        del words[place]
    log = read_host("\n".join([*lines[:-1], " ".join(words), lines[-2]]).encode())
    whole = figures(LOGS[tool]).filter(pl.col("line") < len(lines))
    found = log.samples.collect()

    assert log.diagnostics.filter(kind="unparsed")["line"].to_list() == [len(lines)]
    assert found.filter(pl.col("line") < len(lines)).drop("sample").equals(whole.drop("sample"))
    assert len(lines) not in found["line"]


@pytest.mark.parametrize("cut", range(1, 30))
@pytest.mark.parametrize("tool", ["iostat", "mpstat", "sadf"])
def test_a_log_that_ends_within_a_row(tool: str, cut: int) -> None:
    """No figure differs from the whole log's: a figure that was cut is null, and the line is named."""
    text = LOGS[tool].rstrip("\n")
    whole = figures(text)
    log = read_host(text[:-cut].encode())
    found = log.samples.collect()
    kept = ["line", "name", "metric", "value"]
    differing = found.drop_nulls("value").select(kept).join(whole.select(kept), on=kept, how="anti", nulls_equal=True)

    assert differing.rows() == []
    assert log.diagnostics.filter(pl.col("line") == text.count("\n") + 1).height or found.height <= whole.height


@pytest.mark.parametrize("last", ["0.32\x00\x00", "0.32x", "-", "####"])
def test_a_log_that_ends_with_no_figure(last: str) -> None:
    """A last cell that is no figure has no decimals to count: it is null, and the log is read."""
    text = IOSTAT.format(0).split("sdb")[0].rstrip("\n").removesuffix("0.32")
    log = read_host(f"{text}{last}\n".encode())

    assert log.samples.filter(metric="%util").collect().get_column("value").to_list() in ([None], [])
    assert read_host((IOSTAT.format(0).rstrip("\n").removesuffix("10.00") + last).encode()).samples.collect().height


def test_a_heading_that_names_a_column_twice() -> None:
    """Both columns of processes are kept, under names of their own."""
    log = (
        "AAA,progname,nmon\nTOP,%CPU Utilisation\nTOP,+PID,Time,%CPU,%CPU,ResSet,0,0,Command\n"
        "ZZZZ,T0001,10:01:01,22-NOV-2026\nTOP,0004711,T0001,1.5,2.5,100,7,8,oracle\n"
    )
    found = read_host(log.encode()).frames()["process"].lazy().collect()

    assert found.height == 1
    assert {1.5, 2.5, 7.0, 8.0} <= {value for value in found.row(0) if isinstance(value, float)}


@pytest.mark.parametrize("heading", ["vExample:", ":", "CPU:"])
def test_a_heading_without_columns(heading: str) -> None:
    """A line like a heading, below a clock, that names no column is read or is a diagnostic; nothing is raised."""
    log = MPSTAT + f"\n01:05:04 PM  {heading}\n01:05:05 PM  all  1.00  2.00\n"

    assert read_host(log.encode()).diagnostics.height > 0


@pytest.mark.parametrize("tool", ["iostat", "nmon"])
def test_rows_under_a_heading_of_thousands_of_columns(tool: str) -> None:
    """A pattern of so many columns would take memory and time without bounds: each row is a diagnostic."""
    log = LOGS["iostat"].replace("%util", "%util " + "r/s " * 20_000)
    if tool == "nmon":
        heading = "TOP,%CPU Utilisation\nTOP,+PID,Time," + ",".join(["%CPU"] * 20_000)
        log = LOGS["nmon"].replace("ZZZZ,T0001", f"{heading}\nZZZZ,T0001") + "TOP,0001,T0001,1.5,0.5\n"
    found = read_host(log.encode())

    reasons = found.diagnostics.filter(pl.col("reason").str.contains("20,00[0-9] columns"))
    assert reasons.height == (2 if tool == "iostat" else 1)


@pytest.mark.parametrize("columns", [301, 800, 999])
def test_a_row_that_does_not_fit_under_hundreds_of_columns(columns: int) -> None:
    """Names with blanks are looked for beside so many columns as tools print; other rows are diagnostics."""
    heading = "Device " + " ".join(["kB_read/s"] * columns)
    row = "sda " + " ".join(["7.5"] * columns)
    found = read_host(f"Linux 5.4 (h)  01/01/2020\n\n{heading}\n{row}\n{row} 7\n{row}\n".encode())

    assert found.diagnostics.get_column("line").drop_nulls().to_list() == [5]
    assert found.samples.select(pl.len()).collect().item() == 2 * columns


def test_a_table_of_nmon_of_thousands_of_columns() -> None:
    """Such a heading is none, and not that of the rows below it, even where the table had another before."""
    headings = [
        f"NET,Network,{','.join(f'eth{number}-read-KB/s' for number in range(count))}\n" for count in (2, 6_000)
    ]
    log = LOGS["nmon"] + "".join(f"{heading}NET,T000{1},7,{10 + n}\n" for n, heading in enumerate(headings))
    found = read_host(log.encode())

    kept = found.samples.collect().filter(pl.col("metric").str.contains("read_bytes")).get_column("value").to_list()
    assert kept == [7 * 1024.0, 10 * 1024.0]
    assert found.diagnostics.get_column("reason").to_list() == ["a row of a table without a heading"]


WORDS = ("line", "run", "sample", "mark", "clock", "stamp", "is_average", "interval_end", "time_of_day", "heading_line")


@pytest.mark.parametrize(
    "log",
    [
        IOSTAT.format(0).replace("r_await", " ".join(WORDS)).replace("12.58", "7 " * 10).replace("0.50 ", "8 " * 10),
        MPSTAT.replace("%nice", " ".join(WORDS)).replace("0.00    0.98", "7 " * 10 + "0.98"),
        VMSTAT.replace("buff", " ".join(WORDS)).replace("295968", "7 " * 10),
        SADF.replace("rkB/s", ";".join(WORDS)).replace("0.00;0.00\n", "7;" * 10 + "0\n"),
        NMON.replace("Sys%", ",".join(WORDS)).replace("0.3,0.1", "7," * 10 + "0.1"),
    ],
    ids=["iostat", "mpstat", "vmstat", "sadf", "nmon"],
)
def test_columns_named_as_those_that_place_a_row(log: str) -> None:
    """A column of a newer tool may have any name: its figures are there, and neither the place nor the time is lost."""
    found = read_host(log.encode())
    samples = found.frames()["samples"].lazy().collect()

    assert samples.filter(pl.col("metric") == "run_2").get_column("value").unique().to_list()[:1] == [7.0]
    assert samples.get_column("line").null_count() == 0


@pytest.mark.parametrize(
    "figure", ["9" * 307, "9" * 308, "9" * 400, "9" * 307 + "k", "1" + "0" * 300 + "T", "-" + "9" * 307]
)
def test_a_number_that_no_column_holds_in_its_unit_is_no_figure(figure: str) -> None:
    """Kilobytes of 307 digits are no bytes: the cell is null, with a diagnostic, and the others of its row are read."""
    log = read_host(VMSTAT.replace("    1     3   29", f"    1 {figure}   29").encode())
    found = log.frames()["samples"].lazy().collect()

    assert found["value"].drop_nulls().is_finite().all()
    assert found.filter(printed="bo")["value"].to_list()[0] is None
    assert "no_value" in log.diagnostics["kind"].to_list()
    assert found.filter(printed="in")["value"].to_list()[0] == 29.0
