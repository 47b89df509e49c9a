"""nmon files: every figure of the real ones, and known traps on files written for this project."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING

import polars as pl
import pytest

import iolab
from hostparse import HostLog, read_host
from logframe import open_log

if TYPE_CHECKING:
    from pathlib import Path

#: Figures in units of the file -> the unit of the frames.
FACTORS = {
    "READ": ("read_bytes_per_s", 1024.0),
    "WRITE": ("write_bytes_per_s", 1024.0),
    "BUSY": ("util_percent", 1.0),
    "XFER": ("transfers_per_s", 1.0),
}
KNOWN = {start + word for start in ("DISK", "DG", "VG") for word in FACTORS}
HEAD = "AAA,progname,nmon\nAAA,host,db1\nAAA,time,12:55.27\nAAA,date,17-OCT-2017\nAAA,interval,10\nAAA,OS,Linux,4.18\n"


def _plain_reading(text: str) -> dict[tuple[str, str, int], float]:
    """(table, disk, tick) -> figure of the disk tables: plain splits at commas, sharing no code with the package."""
    columns: dict[str, list[str]] = {}
    found = {}
    for line in text.splitlines():
        tag, *cells = line.split(",")
        if not tag.startswith(("DISK", "DG", "VG")) or not cells:
            continue
        if cells[0][:1] == "T" and cells[0][1:].isdigit():
            for disk, figure in zip(columns[tag], cells[1:], strict=True):
                found[tag, disk, int(cells[0][1:])] = float(figure)
        else:
            columns[tag] = cells[1:]
    return found


def _disk_figures(log: HostLog) -> dict[tuple[str, str, int], float]:
    """The same of the long frame, without the nulls that say "not counted"."""
    scopes = {"device": "DISK", "disk_group": "DG", "volume_group": "VG"}
    wanted = pl.col("scope").is_in(list(scopes)) & pl.col("value").is_not_null()
    rows = log.samples.filter(wanted).select("scope", "metric", "name", "sample", "value").collect().iter_rows()
    names = {metric: (word, factor) for word, (metric, factor) in FACTORS.items()}
    return {
        (scopes[scope] + names[metric][0], name, sample): value / names[metric][1]
        for scope, metric, name, sample, value in rows
        if metric in names
    }


@pytest.mark.corpus
def test_disks_equal_the_independent_reading(host_logs: Path) -> None:
    """Every figure of the tables of disks in the real files is that of the plain reading, and none is missing."""
    count = 0
    for path in sorted((host_logs / "nmon").iterdir()):
        read = _plain_reading(open_log(path).text())
        expected = {key: value for key, value in read.items() if key[0] in KNOWN}
        log = read_host(path)
        found = _disk_figures(log)
        not_counted = {key for key in expected if key[1].startswith("md") and expected[key] == 0.0}

        assert found.keys() | not_counted == expected.keys(), path.name
        assert all(abs(value - expected[key]) < 1e-6 for key, value in found.items()), path.name
        count += len(found)
    assert count > 15_000


@pytest.mark.corpus
def test_every_figure_is_in_a_frame_or_named(host_logs: Path) -> None:
    """The long frame has as many figures as splits at commas count in the rows of all tables; lines add up."""
    for path in sorted((host_logs / "nmon").iterdir()):
        text = open_log(path).text()
        log = read_host(path)
        refused = set(log.diagnostics.filter(pl.col("kind") == "unparsed").get_column("line"))
        figures = 0
        for number, line in enumerate(text.splitlines(), 1):
            tag, *cells = line.split(",")
            tick = cells[1:2] if tag == "TOP" else cells[:1]
            if (
                number in refused
                or tag in {"ZZZZ", "AAA"}
                or not tick
                or not tick[0][1:].isdigit()
                or tick[0][0] != "T"
            ):
                continue
            figures += sum(
                cell.strip().replace(".", "").lstrip("-").isdigit() for cell in cells[2 if tag == "TOP" else 1 :]
            )
        flagged = pl.col("flag").is_null() | (pl.col("flag") != "no_figure")

        assert log.samples.filter(flagged).select(pl.len()).collect().item() == figures, path.name
        assert sum(log.lines.values()) == len(open_log(path).lines()), path.name
        assert set(log.diagnostics.get_column("kind")) <= {"unparsed"}, path.name


def _ticks(*rows: tuple[str, ...], start: str = "12:55:", day: str = "17-OCT-2017") -> str:
    """Ticks of ten seconds with rows of tables."""
    return "".join(
        f"ZZZZ,T{tick:04},{start}{tick * 10 % 60:02},{day}\n"
        + "".join(f"{row.replace('T?', f'T{tick:04}')}\n" for row in each)
        for tick, each in enumerate(rows, 1)
    )


def test_tables_of_disks_are_side_by_side() -> None:
    """One row a tick and disk, with the bounds of one decimal; kilobytes are 1,024 bytes."""
    heads = "DISKBUSY,Disk %Busy db1,sda,sdb\nDISKREAD,Disk Read KB/s db1,sda,sdb\n"
    rows = ("DISKBUSY,T?,0.7,101.0", "DISKREAD,T?,8.0,0.0")
    device = read_host((HEAD + heads + _ticks(rows, rows)).encode()).wide("device", bounds=True)

    assert device.select("sample", "device", "util_percent", "read_bytes_per_s").rows() == [
        (tick, disk, busy, rate) for tick in (1, 2) for disk, busy, rate in (("sda", 0.7, 8192.0), ("sdb", 101.0, 0.0))
    ]
    assert device.row(0, named=True)["read_bytes_per_s_hi"] == pytest.approx(8.05 * 1024)
    assert device.get_column("interval_start").to_list()[2:] == [dt.datetime(2017, 10, 17, 12, 55, 10)] * 2  # noqa: DTZ001 - a wall clock of the host


def test_more_disks_than_a_line_holds() -> None:
    """DISKBUSY1 goes on where DISKBUSY ends."""
    heads = "DISKBUSY,Disk %Busy db1,sda\nDISKBUSY1,Disk %Busy db1,sdb\n"
    device = read_host((HEAD + heads + _ticks(("DISKBUSY,T?,1.0", "DISKBUSY1,T?,2.0"))).encode()).wide("device")

    assert device.select("device", "util_percent").sort("device").rows() == [("sda", 1.0), ("sdb", 2.0)]


def test_sorted_copy_is_the_same() -> None:
    """A file that was sorted, with all times at its end, gives the same samples."""
    heads = "DISKBUSY,Disk %Busy db1,sda,sdb\nCPU_ALL,CPU Total db1,User%,Sys%,Wait%,Idle%,Busy,CPUs\n"
    rows = [(f"CPU_ALL,T?,{n}.0,1.0,0.0,{99 - n}.0,,2", f"DISKBUSY,T?,{n}.5,0.0") for n in range(5)]
    text = HEAD + heads + _ticks(*rows)
    plain, ordered = read_host(text.encode()), read_host("\n".join(sorted(text.splitlines())).encode())
    columns = ["sample", "interval_start", "interval_end", "device", "util_percent"]

    assert plain.wide("device").select(columns).equals(ordered.wide("device").select(columns))
    assert ordered.diagnostics.height == 0


def test_empty_names_in_a_heading() -> None:
    """Some versions print two commas between the interfaces: the figures still stand under their own names."""
    heads = "NETPACKET,Network Packets db1,eth0-read/s,,lo-read/s,,eth0-write/s,,lo-write/s,\n"
    interface = read_host((HEAD + heads + _ticks(("NETPACKET,T?,1.0,2.0,3.0,4.0",))).encode()).wide("interface")

    assert interface.select("interface", "read_packets_per_s", "write_packets_per_s").rows() == [
        ("eth0", 1.0, 3.0),
        ("lo", 2.0, 4.0),
    ]


def test_figures_that_fit_no_name() -> None:
    """A row with more or fewer figures than names is refused with its text; which figure is which is not known."""
    heads = "JFSFILE,JFS Filespace %Used db1,/,/home\n"
    log = read_host(
        (
            HEAD
            + heads
            + _ticks(("JFSFILE,T?,1.0,2.0,3.0",), ("JFSFILE,T?,1.0,2.0",), ("JFSFILE,T?,1.0", "CPU_ALL,T?,1.0"))
        ).encode()
    )

    assert log.wide("file_system").get_column("sample").unique().to_list() == [2]
    assert log.diagnostics.get_column("text").to_list() == [
        "JFSFILE,T0001,1.0,2.0,3.0",
        "JFSFILE,T0003,1.0",
        "CPU_ALL,T0003,1.0",
    ]


def test_file_that_ends_in_a_row() -> None:
    """The last figure of a row that is cut is null: it may be cut itself; the figures before it are kept."""
    heads = "DISKBUSY,Disk %Busy db1,sda,sdb,sdc\n"
    log = read_host((HEAD + heads + _ticks(("DISKBUSY,T?,1.0,2.0,3.0",), ("DISKBUSY,T?,1.0,2",)).rstrip("\n")).encode())

    assert log.wide("device").get_column("util_percent").to_list() == [1.0, 2.0, 3.0, 1.0, None, None]
    assert log.diagnostics.get_column("kind").to_list() == ["cut"]


def test_figures_that_say_nothing() -> None:
    """-1, -0.0 and the largest number of a counter are null with their reasons; an empty field is no figure."""
    heads = "MEM,Memory MB db1,memtotal,hightotal,swap\nFILE,File I/O db1,readch,writech\n"
    log = read_host(
        (HEAD + heads + _ticks(("MEM,T?,100.0,-0.0,-1.0", "FILE,T?,2147483647,5"), ("MEM,T?,0.0,,1.0",))).encode()
    )
    flags = log.samples.select("sample", "metric", "value", "flag").collect().rows()

    assert sorted(flags) == sorted([
        (1, "memtotal_bytes", 100 * 1024.0**2, None), (1, "hightotal_bytes", None, "not_available"),
        (1, "swap_bytes", None, "not_available"), (2, "memtotal_bytes", 0.0, None),
        (2, "hightotal_bytes", None, "no_figure"),
        (2, "swap_bytes", 1024.0**2, None), (1, "readch", None, "saturated"), (1, "writech", 5.0, None),
    ])  # fmt: skip


def test_midnight_and_lost_ticks() -> None:
    """The date of each tick is its own; a tick that is missing leaves the next one without a start."""
    heads = "DISKBUSY,Disk %Busy db1,sda\n"
    ticks = "ZZZZ,T0001,23:59:55,31-DEC-2017\nDISKBUSY,T0001,1.0\nZZZZ,T0002,00:00:05,01-JAN-2018\nDISKBUSY,T0002,2.0\n"
    ticks += "ZZZZ,T0004,00:00:25,01-JAN-2018\nDISKBUSY,T0004,3.0\nZZZZ,T0005,00:00:35,01-JAN-2018\n"
    device = read_host((HEAD + heads + ticks).encode()).wide("device")

    assert device.get_column("interval_end").dt.year().to_list() == [2017, 2018, 2018]
    assert device.get_column("interval_start").is_null().to_list() == [True, False, True]


def test_tick_that_is_no_number_of_a_tick() -> None:
    """A row of a damaged tick is named, and the others are read."""
    rows = "DISKBUSY,T0001,1.0\nDISKBUSY,T99999999999999999999,2.0\n"
    log = read_host((HEAD + "DISKBUSY,Disk %Busy db1,sda\nZZZZ,T0001,12:00:00,17-OCT-2017\n" + rows).encode())

    assert log.wide("device").get_column("util_percent").to_list() == [1.0]
    assert log.diagnostics.select("kind", "text").rows() == [("unparsed", "2.0")]


def test_two_runs_in_one_file() -> None:
    """Each `AAA,progname` starts a run; its ticks are its own."""
    one = HEAD + "DISKBUSY,Disk %Busy db1,sda\n" + _ticks(("DISKBUSY,T?,1.0",))
    log = read_host((one + one.replace("db1", "db2").replace("1.0", "2.0")).encode())

    assert log.runs.get_column("host").to_list() == ["db1", "db2"]
    assert log.wide("device").select("run", "sample", "util_percent").rows() == [(0, 1, 1.0), (1, 1, 2.0)]


def test_processes_with_commas() -> None:
    """The command of a process may hold commas and blanks; its number leads with zeros in the file only."""
    head = "TOP,%CPU Utilisation\nTOP,+PID,Time,%CPU,%Usr,Size,Command\n"
    process = read_host(
        (HEAD + head + "ZZZZ,T0001,12:55:48,17-OCT-2017\nTOP,0003878,T0001,1.20,0.60,1079,oracle a, b\n").encode()
    ).wide("process")

    assert process.select("pid", "command", "cpu_percent").row(0) == ("3878", "oracle a, b", 1.2)


def test_random_files_are_read_back() -> None:
    """What a generator wrote is what is read, whatever the number of disks, ticks and digits."""
    for seed in range(20):
        dice = random.Random(seed)  # noqa: S311 - test data
        disks = [f"sd{n}" for n in range(dice.randint(1, 30))]
        rows = [[round(dice.random() * 10 ** dice.randint(0, 4), 1) for _ in disks] for _ in range(dice.randint(1, 9))]
        heads = f"DISKBUSY,Disk %Busy db1,{','.join(disks)}\n"
        text = HEAD + heads + _ticks(*((f"DISKBUSY,T?,{','.join(f'{figure:.1f}' for figure in row)}",) for row in rows))
        device = read_host(text.encode()).wide("device")

        assert device.get_column("util_percent").to_list() == [figure for row in rows for figure in row], seed
        assert device.get_column("device").to_list() == disks * len(rows), seed


@pytest.mark.parametrize("day", ["17-OKT-2017", "31-FEB-2017", "17-10-2017", "xx"])
def test_a_tick_whose_date_is_none(day: str) -> None:
    """The date is that of the head, and the line is named; a tick that prints no date has none to doubt."""
    ticks = "ZZZZ,T0001,12:55:48,{0}\nCPU_ALL,T0001,0.3,0.3,0.1,99.3\n".format
    table = "CPU_ALL,CPU Total db1,User%,Sys%,Wait%,Idle%\n"
    log = read_host((HEAD + table + ticks(day)).encode())
    bare = read_host((HEAD + table + ticks("").replace(",\n", "\n", 1)).encode())
    times = [str(one.samples.collect().get_column("interval_end").unique().to_list()) for one in (log, bare)]

    assert times == ["[datetime.datetime(2017, 10, 17, 12, 55, 48)]"] * 2
    assert log.diagnostics.select("line", "kind").rows() == [(8, "clock")]
    assert bare.diagnostics.is_empty()


@pytest.mark.parametrize("table", ["DISKREAD,Disk Read KB/s db1,sda", "NET,Network I/O db1,eth0-read-KB/s"])
def test_figures_that_are_too_large(table: str) -> None:
    """A figure that is infinite in the unit of its column is null and flagged; the one beside it stays."""
    name = table.partition(",")[0]
    stamps = "ZZZZ,T0001,12:55:27,17-OCT-2017\nZZZZ,T0002,12:55:37,17-OCT-2017\n"
    log = read_host(f"{HEAD}{table}\n{stamps}{name},T0001,1e308\n{name},T0002,2\n".encode())
    figures = log.samples.select("value", "flag").collect()

    assert figures["value"].null_count() == figures["flag"].count() == 1
    assert figures["value"].drop_nulls().is_finite().all()


@pytest.mark.parametrize("order", ["by adapter", "by metric"])
def test_every_figure_of_things_side_by_side_has_its_cell(order: str) -> None:
    """Adapters with all metrics beside each other, or metric by metric; a process whose number is zeros."""
    adapters, metrics = ("fcs3", "fcs2", "fcs0"), ("read-KB/s", "write-KB/s", "xfer-tps")
    columns = [f"{one}_{what}" for one in adapters for what in metrics]
    if order == "by metric":
        columns = [f"{one}_{what}" for what in metrics for one in adapters]
    text = "AAA,progname,topas_nmon\nAAA,host,lpar1\nAAA,date,10-FEB-2016\nAAA,time,17:28:10\nAAA,interval,300\n"
    text += f"IOADAPT,Disk Adapter lpar1,{','.join(columns)}\n"
    text += "TOP,%CPU Utilisation\nTOP,+PID,Time,%CPU,%Usr,%Sys,Threads,Size,Command\n"
    for tick in range(1, 4):
        figures = ",".join(f"{100 * tick + 7 * place + 0.3:.1f}" for place in range(len(columns)))
        text += f"ZZZZ,T{tick:04},17:{28 + tick}:10,10-FEB-2016\nIOADAPT,T{tick:04},{figures}\n"
        text += f"TOP,0000000,T{tick:04},0.1{tick},0.00,0.1{tick},1,384,Swapper\n"
    found = iolab.provenance(iolab.load(text.encode()), text.encode())
    assert found.filter(status="lost").select("line", "column", "text").rows() == []
    own = found.filter(pl.col("frame") == "adapter", pl.col("frame_column").str.ends_with("_per_s"))
    assert own.height == 3 * len(columns)
    assert own.select("frame_row", "frame_column").is_duplicated().sum() == 0
