"""How busy the processors of a host were, and hosts beside reports over time, by logs made for this test."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import polars as pl
import pytest

import iolab
from awrparse import read_awr
from hostparse import HostLog, read_histograms, read_host
from iolab import charts, metrics
from iolab.evidence import over_time
from iolab.metrics.processors import cpu_samples, tool_cpu_parts
from iolab.rules.host_processors import processors, processors_of_report

DATA = Path(__file__).parents[2] / "sample_data"
REPORT = DATA / "awr_series" / "awrrpt_1_4104_4105.txt"
START = dt.datetime(2026, 9, 14, 20, 0, 10)  # noqa: DTZ001 - a wall clock


def shares(seed: int, busy: float) -> list[tuple[float, float, float, float]]:
    """User, system, wait and idle of 30 samples around a busy share."""
    dice = random.Random(seed)  # noqa: S311 - made-up data
    found = []
    for _ in range(30):
        user = min(max(busy + dice.uniform(-2, 2), 0), 99) - 2
        wait = dice.uniform(0, 99 - user - 2)
        found.append((round(user, 1), 2.0, round(wait, 1), round(100 - round(user, 1) - 2 - round(wait, 1), 1)))
    return found


def nmon(rows: list[tuple[float, float, float, float]]) -> str:
    """Samples of a minute each."""
    text = "AAA,progname,nmon\nAAA,host,quay07\nAAA,date,14-SEP-2026\nAAA,time,20:00.10\n"
    text += "CPU_ALL,CPU Total quay07,User%,Sys%,Wait%,Idle%,Busy,CPUs\n"
    for tick, row in enumerate(rows, 1):
        at = START + dt.timedelta(minutes=tick)
        text += f"ZZZZ,T{tick:04},{at:%H:%M:%S},14-SEP-2026\nCPU_ALL,T{tick:04},{','.join(map(str, row))},,16\n"
    return text


def mpstat(rows: list[tuple[float, float, float, float]]) -> str:
    """All processors and one of them, and the mean at the end."""
    text = "Linux 5.4.17 (quay07) \t09/14/2026 \t_x86_64_\t(16 CPU)\n\n"
    for number, (user, system, wait, idle) in enumerate(rows):
        at = START + dt.timedelta(minutes=number)
        text += f"{at:%H:%M:%S}     CPU    %usr    %sys %iowait    %irq   %idle\n"
        at += dt.timedelta(minutes=1)
        text += f"{at:%H:%M:%S}     all   {user:5.1f} {system:7.1f} {wait:7.1f}     0.0 {idle:7.1f}\n"
        text += f"{at:%H:%M:%S}       0     0.0     0.0     0.0     0.0   100.0\n\n"
    return text + "Average:     CPU    %usr    %sys %iowait    %irq   %idle\nAverage:     all  1.0 1.0 1.0 0.0 97.0\n"


def iostat(rows: list[tuple[float, float, float, float]]) -> str:
    """A mean since the start of the system, then the samples."""
    text = "Linux 5.4.17 (quay07) \t09/14/2026 \t_x86_64_\t(16 CPU)\n\n"
    for number, (user, system, wait, idle) in enumerate([(0.0, 0.0, 0.0, 100.0), *rows]):
        at = START + dt.timedelta(minutes=number)
        text += f"{at:%m/%d/%Y %H:%M:%S}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
        text += f"        {user:7.1f}     0.0 {system:7.1f} {wait:7.1f}     0.0 {idle:7.1f}\n\n"
    return text


@pytest.mark.parametrize("make", [nmon, mpstat, iostat])
@pytest.mark.parametrize("busy", [20.0, 60.0, 97.0])
def test_busy_share_of_every_tool(make: object, busy: float) -> None:
    """The mean and the largest of 1 - idle - wait; neither means since the start nor those at the end count."""
    rows = shares(int(busy), busy)
    counted = rows[1:] if make is nmon else rows  # the first tick of nmon has no beginning

    found = {row["metric"]: row for row in metrics.host_cpu(_read(make, rows)).iter_rows(named=True)}

    own = [1 - (wait + idle) / 100 for _, _, wait, idle in counted]
    mean, largest = found["host_cpu_busy"], found["host_cpu_busiest"]
    assert mean["value"] == pytest.approx(sum(own) / len(own))
    assert mean["lo"] < mean["value"] < mean["hi"]
    assert mean["hi"] - mean["lo"] <= 0.002 + 1e-9  # half a tenth of a percent, of idle and of wait; none below 0
    assert largest["value"] == pytest.approx(max(own))
    assert found["host_cpu_saturated"]["value"] == pytest.approx(sum(one >= 0.9 for one in own) / len(own))


def _read(make: object, rows: list[tuple[float, float, float, float]]) -> HostLog:
    assert callable(make)
    return read_host(make(rows).encode())


@pytest.mark.parametrize(("busy", "words"), [(20.0, "% in the busiest of 30 samples"), (97.0, "work waited for a CPU")])
def test_the_claim_of_a_host_that_is_choked_by_its_processors(busy: float, words: str) -> None:
    """Supported where most samples were nearly all busy, refuted where none was."""
    log = _read(mpstat, shares(1, busy))
    report = read_awr(REPORT)

    alone = [one.sentence for one in processors(log)]
    beside = [one.sentence for one in processors_of_report(("mpstat.out", log), ("awr.txt", report))]

    assert len(alone) == len(beside) == 1
    assert words in alone[0]
    assert words in beside[0]
    assert "in 1,798 of the 3,611 s of awr.txt, by mpstat.out" in beside[0]
    assert beside[0].endswith("; the report itself counts 1.4 %.")


def test_between_both_nothing_is_concluded() -> None:
    """Some samples were nearly all busy: the sentence counts them, and does not judge."""
    rows = shares(1, 30.0)[:27] + shares(2, 97.0)[:3]

    sentence = next(processors(_read(mpstat, rows))).sentence

    assert sentence.endswith("3 of 30 samples were at least 90 % busy, from 20:27:10 on.")


def test_the_times_of_a_collector_say_when_processors_were_busy() -> None:
    """OSWatcher writes the time above each run of vmstat: a stretch of busy samples has its begin, and its end."""
    head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    idle, full = (f" 2  0  0 9 9 9 0 0 9 9 9 9 {user} 4 {96 - user} 0 0\n" for user in (10, 94))

    def said(busy: range) -> str:
        text = "".join(
            f"zzz ***Tue Jun 11 15:{n:02}:00 CEST 2019\n{head}{idle}{full if n in busy else idle}" for n in range(20)
        )
        return next(processors(read_host(text.encode()))).sentence

    assert "8 of 20 samples were at least 90 % busy, from 15:12 on" in said(range(12, 20))
    assert "5 of 20 samples were at least 90 % busy, from 15:05 to 15:09" in said(range(5, 10))


def test_one_sample_is_no_average() -> None:
    """Of one sample there is no mean and no busiest; one whose length is not known is no sample, and is counted."""
    sentence = next(processors(_read(mpstat, shares(1, 20.0)[:1]))).sentence
    ticks = next(processors(_read(nmon, shares(1, 20.0)[:2]))).sentence

    assert " % busy in the only sample, and idle with I/O in flight for 68 % of the time." in sentence
    assert ticks.endswith(" % busy in one of 2 samples; the length of the others is not known.")


def test_samples_are_counted_whatever_their_length() -> None:
    """One long busy interval of five samples is one of five, though it is most of the time."""
    text = "Linux 5.4.17 (quay07) \t09/14/2026 \t_x86_64_\t(16 CPU)\n\n"
    text += "20:00:00     CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
    for clock, user in (("20:01:00", 10), ("20:02:00", 10), ("21:02:00", 95), ("21:03:00", 10), ("21:04:00", 10)):
        text += f"{clock}     all {user:9.2f}      0.00      0.00      0.00      0.00 {100 - user:9.2f}\n"

    (one,) = processors(read_host(text.encode()))

    assert "; 1 of 5 samples was at least 90 % busy (21:02)" in one.sentence


def test_other_hosts_and_times_say_nothing() -> None:
    """Samples of another host, or of another day, are not put beside a report."""
    text = mpstat(shares(1, 97.0))
    report = read_awr(REPORT)
    for other in (text.replace("quay07", "quay08"), text.replace("09/14/2026", "09/15/2026")):
        assert list(processors_of_report(("a", read_host(other.encode())), ("b", report))) == []


def test_a_sample_of_unknown_length_has_no_weight() -> None:
    """The first sample of nmon has no begin: it is left out, and does not fill the report's time up to its end."""
    lines = ["AAA,host,quay07", "AAA,interval,60", "CPU_ALL,CPU Total quay07,User%,Sys%,Wait%,Idle%,Busy,CPUs"]
    for number, busy in enumerate((90, 10, 20), 1):
        lines.append(f"ZZZZ,T{number:04},20:3{number}:00,14-SEP-2026")
        lines.append(f"CPU_ALL,T{number:04},{busy}.0,0.0,0.0,{100 - busy}.0,,16")
    log = read_host("\n".join(lines).encode())
    within = {"begin": dt.datetime(2026, 9, 14, 20), "end": dt.datetime(2026, 9, 14, 21)}  # noqa: DTZ001 - no zone

    for found in (cpu_samples(log), cpu_samples(log, **within)):
        assert found["busy"].to_list() == pytest.approx([0.1, 0.2])
        assert (found["weight_s"].to_list(), found["untimed"][0]) == ([60.0, 60.0], 1)


@pytest.mark.parametrize(("day", "found"), [("Mon Sep 14 20:30:00 CEST 2026", 1), ("Tue Sep 15 20:30:00 CEST 2026", 0)])
def test_samples_have_the_time_of_their_collector(day: str, found: int) -> None:
    """Vmstat prints no time, OSWatcher does above it: samples of another day are not put beside a report."""
    head = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
    rows = " 2  0  0 9 9 9 0 0 9 9 9 9 10 4 86 0 0\n" * 2
    said = list(processors_of_report(("a", read_host(f"zzz ***{day}\n{head}{rows}".encode())), ("b", read_awr(REPORT))))

    assert len(said) == found
    assert not any("prints no time" in one.sentence for one in said)


def test_an_impossible_percentage_is_no_end_of_the_reading() -> None:
    """A figure of forty digits, as a damaged log may have it, gives a number of processors and no error."""
    head = "--total-cpu-usage-- -dsk/total-\nusr sys idl wai stl| read  writ\n"
    rows = f"  2   1  96   1   0|1024k  346k\n{'9' * 40} 10   4   6   0|1024k  346k\n"
    parts = tool_cpu_parts(iolab.load((head + rows).encode()))

    assert parts.item(0, "cpus") > 1e37


def test_refused_without_samples_of_processors() -> None:
    """A log of devices says nothing of processors."""
    found = metrics.host_cpu(read_host(b"Device  r/s  await\nsda 1.0 2.0\n"))

    assert found.get_column("value").to_list() == [None]
    assert str(found.item(0, "caveats")).startswith("refused")


def test_hosts_and_reports_over_time() -> None:
    """Each panel has the samples and the report's mean on one clock; devices are not added up."""
    names = ("iostat.out", "vmstat.out", "quay07_260914_2000.nmon")
    logs = {name: iolab.load(DATA / "host" / name) for name in names} | {"report": iolab.load(REPORT)}

    found = over_time(logs)

    read = (
        found.filter(panel="read (MB/s)").group_by("series", maintain_order=True).agg(pl.len(), pl.col("value").mean())
    )
    means = {series: mean for series, _, mean in read.rows()}
    assert means["vmstat.out"] == pytest.approx(means["report"], rel=0.02)
    assert means["iostat.out nvme0n1"] + means["iostat.out nvme1n1"] == pytest.approx(means["report"], rel=0.02)
    assert set(found.get_column("panel")) >= {"processors busy (%)", "time of a read (ms)", "active sessions"}
    assert found.null_count().sum_horizontal().item() == 0


def test_one_brush_for_all_time_lines() -> None:
    """The first picture has the selection, and it is the scale of all others."""
    found = over_time({"vmstat": iolab.load(DATA / "host" / "vmstat.out"), "report": iolab.load(REPORT)})

    spec = charts.host_over_time(found).to_dict()

    (brush,) = [one["name"] for one in spec["params"]]
    domains = [part["encoding"]["x"].get("scale", {}).get("domain") for part in spec["vconcat"]]
    assert len(domains) == found.get_column("panel").n_unique() > 2
    assert domains == [None, *[{"param": brush}] * (len(domains) - 1)]


def test_histograms_over_time_use_what_came_since() -> None:
    """Tables that go on counting are drawn as differences; those of several keys of one time are one column."""
    record = "<begin record>\ntimestamp,microsec,{},t\nlatencyunit,microsec\nlabel,a\ndatasource,systemtap\n"
    record += "{}\n<end record>\n"
    text = record.format(1, "64,10\n128,10") + record.format(2, "64,10\n128,40")

    rows = next(
        iter(charts.histograms_over_time(read_histograms(text.encode()).buckets).to_dict()["datasets"].values())
    )

    last = [(row["low"], row["share"]) for row in rows if row["moment"] == max(each["moment"] for each in rows)]
    assert last == [(0.128, 1.0)]


def test_areas_of_both_histograms_are_the_shares() -> None:
    """Buckets of different width are comparable: height times doublings is the share, on both sides."""
    text = " usecs : count distribution\n 64 -> 127 : 30 |*|\n 128 -> 511 : 70 |*|\n"
    waits = pl.DataFrame({"from_us": [0.0, 256.0, 1024.0], "to_us": [256.0, 1024.0, None], "waits": [20.0, 70.0, 10.0]})

    spec = charts.latencies_of_both(read_histograms(text.encode()).buckets, waits).to_dict()

    drawn = pl.DataFrame(next(iter(spec["datasets"].values())))
    area = (pl.col("height") * (pl.col("high") / pl.col("low")).log(2)).sum().round(4)
    assert sorted(drawn.group_by("side").agg(area).get_column("height")) == [1.0, 1.0]


def test_no_unit_no_picture() -> None:
    """Latencies whose unit the log does not say are not drawn."""
    buckets = read_histograms(b"@: \n[128, 256)            25 |@@|\n").buckets
    with pytest.raises(charts.ChartError, match="unit"):
        charts.histograms_over_time(buckets)


def test_a_restart_and_blocked_processes_are_said_first() -> None:
    """What a mean hides: the system restarted within the log; processes waited for I/O while the CPUs were idle."""
    head = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n"
    table = "0{0}:00:01 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n" + "".join(
        f"0{{0}}:{n}0:01 PM     all     20.00      0.00      3.00      2.00      0.00     75.00\n" for n in range(1, 4)
    )
    sar = head + table.format(1) + "\n01:47:52 PM       LINUX RESTART\n\n" + table.format(2)
    vmstat = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
        + (" 1 27      0 900000   1000  90000    0    0 60000  4000  100  100  5  2 23 70  0\n" * 12)
    )
    screens = [iolab.load(text.encode()) for text in (sar, vmstat)]

    assert "the system restarted at 13:47:52" in str(screens[0]).splitlines()[1]
    assert "processes were blocked" in " ".join(str(screens[1]).splitlines()[2:4])
    assert "and the CPUs were idle with I/O in flight for 70 % of the time" in " ".join(
        str(screens[1]).splitlines()[2:4]
    )


@pytest.mark.parametrize("idle", ["100.00", "0.00"])
def test_processors_of_unknown_number_have_no_shares_of_nothing(idle: str) -> None:
    """A head without a number of processors, and samples whose shares are of no time."""
    log = (
        "Linux 3.10.0 (tern) \t05/02/2013 \t_x86_64_\t(00 CPU)\n\n"
        "01:53:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle\n"
        f"01:53:04 PM  all    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00  {idle}\n"
    )
    found = iolab.findings(log.encode())
    assert found.get_column("sentence").null_count() == 0
