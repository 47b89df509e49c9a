"""Reports of all instances and of Exadata: a column for each name becomes a row for each."""

import polars as pl
import pytest

import iolab
from awrparse import AwrReport, read_awr

#: The begin of a compare-period report, and the end of a table of one.
COMPARED = """
WORKLOAD REPOSITORY COMPARE PERIOD REPORT

Snapshot Set    DB Id    Instance     Inst Num Release     Cluster Host          Std Block Size
------------ ----------- ------------ -------- ----------- ------- ------------ ---------------
First (1st)     12345678 FIG                 1 12.1.0.2.0  NO      orchard            8192
Second (2nd)    12345678 FIG                 1 12.1.0.2.0  NO      orchard            8192

"""
END = " " * 26 + "-" * 116 + "\n\nEnd of Report\n"

Cells = list[list[str]]


def _table(title: str, heads: list[list[tuple[str, int]]], rows: Cells) -> str:
    """A table with headings that may span columns, as the reports print it."""
    lines = [
        "<tr>" + "".join(f'<th class="awrbg" scope="col" colspan="{span}">{text}</th>' for text, span in head) + "</tr>"
        for head in heads
    ]
    lines += ["<tr>" + "".join(f"<td class='awrc'>{cell or '&#160;'}</td>" for cell in row) + "</tr>" for row in rows]
    body = "\n".join(lines)
    return f'<h3 class="awr">{title}</h3>\n<table border="0" summary="{title}">\n{body}\n</table>\n'


def _plain(*names: str) -> list[list[tuple[str, int]]]:
    return [[(name, 1) for name in names]]


def _report(*tables: str) -> AwrReport:
    head = "<html><head><title>AWR RAC Report for DB: FIG, Snaps: 10-11</title></head><body>\n"
    return read_awr((head + "".join(tables) + "</body></html>").encode(), printed=True)


@pytest.fixture(scope="module")
def cluster() -> AwrReport:
    """A report of two instances."""
    model = ("I#", "DB time (s)", "DB CPU (s)", "SQL Exec Ela (s)", "bg time (s)", "bg CPU (s)")
    shares = ("I#", "% Total DB time", "% DB time DB CPU", "% Total bg time", "% bg time bg CPU")
    return _report(
        _table(
            "Database Instances Included In Report",
            _plain("I#", "Instance", "Begin Snap Time", "End Snap Time", "Elapsed Time(min)", "DB time(min)"),
            [
                ["1", "fig1", "05-Feb-24 08:00", "05-Feb-24 09:00", "60.00", "20.00"],
                ["2", "fig2", "05-Feb-24 08:01", "05-Feb-24 09:02", "61.00", "30.50"],
            ],
        ),
        _table(
            "Time Model",
            _plain(*model),
            [["1", "1,200.00", "300.25", "", "7.5", "1"], ["2", "1,830.00", "400.00", "9.00", "8.5", "2"]],
        ),
        _table(
            "Time Model - % of DB time",
            _plain(*shares),
            [["1", "39.60", "25.02", "46.88", "13.33"], ["2", "60.40", "21.86", "53.12", "23.53"]],
        ),
        _table(
            "Foreground Wait Classes",
            _plain("I#", "User I/O(s)", "Sys I/O(s)", "Concurcy (s)", "DB CPU (s)", "DB time"),
            [["1", "10.50", "", "0.00", "300.25", "1,200.00"], ["2", "20.00", "1.00", "3.00", "400.00", "1,830.00"]],
        ),
        _table(
            "OS Statistics By Instance",
            [
                [("", 1), ("CPU", 3), ("Load", 2), ("% CPU", 2), ("Time (s)", 2)],
                [
                    (name, 1)
                    for name in ("I#", "#CPUs", "#Cores", "#Sckts", "Begin", "End", "% Busy", "% Idl", "Busy", "Idle")
                ],
            ],
            [
                ["1", "8", "4", "1", "0.5", "0.7", "10.00", "90.00", "2,880.00", "25,920.00"],
                ["2", "16", "8", "2", "1.5", "1.7", "20.00", "80.00", "11,520.00", "46,080.00"],
            ],
        ),
        _table(
            "Cache Sizes",
            [[("", 1), ("DB Cache", 2), ("", 1)], [("I#", 1), ("Begin", 1), ("End", 1), ("Log Buffer", 1)]],
            [["1", "1,024", "", "7.5"], ["2", "2,048", "2,000", "7.5"]],
        ),
        _table(
            "System Statistics - Per Second",
            _plain("I#", "Logical Reads/s", "Redo Size (k)/s"),
            [["1", "68,115.43", "4.46"], ["2", "1.00", "0.02"]],
        ),
        _table(
            "System Statistics",
            _plain("I#", "Logical Reads", "Redo Size (k)"),
            [["1", "89,172,433", "5,840"], ["2", "3,600", "72"]],
        ),
    )


def test_the_head_of_a_report_of_several_instances(cluster: AwrReport) -> None:
    """The whole period, the longest elapsed time, DB time of all; what differs between instances is left out."""
    info = cluster.info

    assert (info.kind, info.begin_snap_id, info.end_snap_id) == ("awr_global", 10, 11)
    assert (info.elapsed_s, info.db_time_s) == pytest.approx((3660.0, 3030.0))
    assert (info.instance, info.cpus) == (None, None)
    assert str(info.begin_time) == "2024-02-05 08:00:00"
    assert str(info.end_time) == "2024-02-05 09:02:00"


def test_a_row_for_each_instance_and_statistic(cluster: AwrReport) -> None:
    """Times and shares come from two printed tables and stand in one row; a blank cell is null, a row all the same."""
    shares = ("db_time_pct", "background_time_pct", "all_instances_pct")
    rows = cluster["time_model"].select("instance", "statistic", "time_s", *shares).rows()

    assert rows == [
        ("1", "DB time", 1200.0, None, None, 39.6),
        ("1", "DB CPU", 300.25, 25.02, None, None),
        ("1", "sql execute elapsed time", None, None, None, None),
        ("1", "background elapsed time", 7.5, None, None, 46.88),
        ("1", "background cpu time", 1.0, None, 13.33, None),
        ("2", "DB time", 1830.0, None, None, 60.4),
        ("2", "DB CPU", 400.0, 21.86, None, None),
        ("2", "sql execute elapsed time", 9.0, None, None, None),
        ("2", "background elapsed time", 8.5, None, None, 53.12),
        ("2", "background cpu time", 2.0, None, 23.53, None),
    ]


def test_wait_classes_have_their_full_names(cluster: AwrReport) -> None:
    """`Concurcy (s)` is the class Concurrency; DB time is no class."""
    rows = cluster["foreground_wait_classes"].select("instance", "wait_class", "total_wait_s").rows()

    assert rows == [
        ("1", "User I/O", 10.5),
        ("1", "System I/O", None),
        ("1", "Concurrency", 0.0),
        ("1", "DB CPU", 300.25),
        ("2", "User I/O", 20.0),
        ("2", "System I/O", 1.0),
        ("2", "Concurrency", 3.0),
        ("2", "DB CPU", 400.0),
    ]


def test_the_unit_of_a_note_is_given_to_the_cells(cluster: AwrReport) -> None:
    """Cache sizes of all instances are in megabytes, which only a note says: in bytes here, with their bounds."""
    rows = cluster["cache_sizes"].filter(instance="2").select("cache", "begin_bytes", "end_bytes").rows()

    assert rows == [("Buffer Cache", 2048.0 * 2**20, 2000.0 * 2**20), ("Log Buffer", 7.5 * 2**20, None)]
    assert cluster["cache_sizes"][0, "begin_bytes_lo"] == 1023.5 * 2**20


def test_tables_are_joined_whatever_their_order(cluster: AwrReport) -> None:
    """Totals printed after the rates stand in the same rows."""
    rows = cluster["rac_system_stats"].filter(instance="1").select("statistic", "total", "per_second").rows()

    assert rows == [("Logical Reads", 89172433.0, 68115.43), ("Redo Size (k)", 5840.0, 4.46)]


def test_hosts_of_all_instances(cluster: AwrReport) -> None:
    """CPU of each host, as in a report of one instance, and beside it what only this report prints."""
    assert cluster["host_cpu"].select("instance", "cpus", "busy_pct", "idle_pct", "load_end").rows() == [
        ("1", 8, 10.0, 90.0, 0.7),
        ("2", 16, 20.0, 80.0, 1.7),
    ]
    assert cluster["rac_os_stats"]["busy_s"].to_list() == [2880.0, 11520.0]


def test_nothing_is_found_to_contradict(cluster: AwrReport) -> None:
    """DB time of one instance is not compared with what belongs to another."""
    assert cluster.check().is_empty()
    assert cluster.diagnostics.is_empty()


def test_outliers_of_exadata() -> None:
    """A heading over two columns is one figure, behind its mark; the disk type goes on below; sections do not mix."""
    report = _report(
        _table(
            "Exadata OS IO Latency - Outlier Disks",
            [
                [("", 3), ("Avg Service Time (ms)", 4), ("Avg Wait Time (ms)", 4)],
                [("Disk Type", 1), ("Cell Name", 1), ("Disk Name", 1)]
                + [("Mean", 2), ("Std Dev", 1), ("Normal Range", 1)] * 2,
            ],
            [
                ["H/3.6T", "All", "All", "4.59", "", "0.84", "2.91 - 6.28", "38.32", "", "7.69", "22.94 - 53.71"],
                ["", "plum1", "CD_01", "*", "9.99", "", "", "77.00", "", "", ""],
            ],
        ),
        _table(
            "Exadata OS CPU Statistics - Outlier Cells",
            [
                [("", 2), ("% CPU Usage", 4)],
                [("Cell Name", 1), ("# Cells", 1), ("Mean", 2), ("Std Dev", 1), ("Normal Range", 1)],
            ],
            [["All", "7", "67.07", "", "6.36", "60.71 - 73.43"]],
        ),
    )

    columns = ("section", "disk_type", "cell", "disk", "measure", "mean", "sd", "normal_range")
    assert report["exadata_outliers"].select(columns).rows() == [
        ("os_latency", "H/3.6T", "All", "All", "Avg Service Time (ms)", 4.59, 0.84, "2.91 - 6.28"),
        ("os_latency", "H/3.6T", "All", "All", "Avg Wait Time (ms)", 38.32, 7.69, "22.94 - 53.71"),
        ("os_latency", "H/3.6T", "plum1", "CD_01", "Avg Service Time (ms)", 9.99, None, None),
        ("os_latency", "H/3.6T", "plum1", "CD_01", "Avg Wait Time (ms)", 77.0, None, None),
        ("os_cpu", None, "All", None, "% CPU Usage", 67.07, 6.36, "60.71 - 73.43"),
    ]


def test_writes_of_the_flash_cache_that_do_not_add_up() -> None:
    """12.1 prints overwrites for partial writes: found for the cell, not for the sum of all cells, which is right."""
    group = [("Value", 1), ("% Writes", 1)]
    report = _report(
        _table(
            "Flash Cache User Writes",
            [
                [("", 1), ("Write Requests", 8)],
                [("", 1), ("Total", 2), ("First Writes", 2), ("Overwrites", 2), ("Partial Writes", 2)],
                [("Cell Name", 1), ("Value", 1), ("per Sec", 1), *group, *group, *group],
            ],
            [
                ["All", "1,000", "9.90", "250", "", "700", "", "50", ""],
                ["plum1", "600", "1.10", "100", "16.67", "470", "78.33", "470", "0.05"],
            ],
        )
    )

    found = report.check()

    assert found.select("check", "item", "first", "second").rows() == [("flash_writes", "plum1", 600.0, 1040.0)]


def test_marked_figures_of_exadata() -> None:
    """An asterisk before a figure is no figure: the figure is what counts."""
    report = _report(
        _table(
            "Exadata OS IO Statistics - Top Disks",
            [
                [("", 3), ("IOPs", 3), ("IO MB/s", 3), ("%Disk Utilization", 2)],
                [
                    *[("Disk Type", 1), ("Cell Name", 1), ("Disk Name", 1)],
                    *[("%Total", 1), ("Avg", 2), ("%Total", 1), ("Avg", 2), ("Avg", 2)],
                ],
            ],
            [
                ["H/3.6T", "plum1", "CD_08", "1.41", "*", "188.75", "1.34", "77.20", "", "82.12", ""],
                ["", "plum2", "CD_07", "1.30", "170.00", "", "1.30", "75.00", "", "*", "99.00"],
            ],
        )
    )

    assert report["exadata_cell_io"].select("disk_type", "disk", "iops", "io_mb_per_s", "utilization_pct").rows() == [
        ("H/3.6T", "CD_08", 188.75, 77.2, 82.12),
        ("H/3.6T", "CD_07", 170.0, 75.0, 99.0),
    ]


def test_shares_of_all_instances_without_a_time_model() -> None:
    """DB time and DB CPU stand beside the wait classes, too; their shares have wholes of their own."""
    report = _report(
        _table(
            "Foreground Wait Classes",
            _plain("I#", "User I/O(s)", "DB CPU (s)", "DB time"),
            [["1", "10.50", "300.25", "1,200.00"]],
        ),
        _table(
            "Foreground Wait Classes - % of DB time",
            _plain("I#", "% DB time User I/O", "% DB time DB CPU", "% Total DB time"),
            [["1", "0.88", "25.02", "39.60"]],
        ),
    )
    columns = ("statistic", "time_s", "db_time_pct", "all_instances_pct")
    assert report["time_model"].select(columns).rows() == [
        ("DB CPU", 300.25, 25.02, None),
        ("DB time", 1200.0, None, 39.6),
    ]
    assert report["foreground_wait_classes"].select("wait_class", "total_wait_s", "db_time_pct").rows() == [
        ("User I/O", 10.5, 0.88),
        ("DB CPU", 300.25, 25.02),
    ]
    assert report.diagnostics.is_empty()


def test_how_much_two_periods_differ() -> None:
    """The line below the two periods of a compare-period report has shares of the first: a table of its own."""
    text = """
WORKLOAD REPOSITORY COMPARE PERIOD REPORT

Snapshot Set  Begin Snap Id Begin Snap Time            End Snap Id End Snap Time             Avg Active Users  Elapsed Time (min) DB time (min)
------------ -------------- ------------------------- ------------ ------------------------- ---------------- ------------------ -------------
1st                      10 05-Feb-24 08:00:05 (Mon)            11 05-Feb-24 09:00:05 (Mon)               2.0               60.0         120.0
2nd                      34 06-Feb-24 08:00:05 (Tue)            35 06-Feb-24 09:00:05 (Tue)               3.0               60.0         180.0
                                                                                       ~~~~~~ ~~~~~~~~~~~~~~~~ ~~~~~~~~~~~~~~~~~~ ~~~~~~~~~~~~~
                                                                                       %Diff:            50.0%               0.0%         50.0%
"""  # noqa: E501 - as wide as the report
    report = read_awr(text.encode())
    assert report["compare_snapshots"]["db_time_s"].to_list() == [7200.0, 10800.0]
    assert report["compare_snapshots_difference"].rows() == [(50.0, 0.0, 50.0)]


def test_no_figure_of_a_pivot_is_lost(cluster: AwrReport) -> None:
    """Each figure of a column that became a row is in that row, also where two printed tables make one.

    Of what several tables print, the last is read: the figures before it are `raw`, and the instance in each of them.
    """
    found = iolab.provenance(cluster)
    of_model = found.filter(pl.col("frame") == "time_model")

    again = found.filter(status="raw").select("frame", "frame_column", "text").rows()

    assert found.filter(status="lost").is_empty()
    assert again == [
        *(("time_model", *one) for one in (("instance", "1"), ("time_s", "1,200.00"), ("time_s", "300.25"))),
        *(("time_model", *one) for one in (("instance", "2"), ("time_s", "1,830.00"), ("time_s", "400.00"))),
        *(("time_model", "instance", instance) for instance in "12"),
        *(("rac_system_stats", "instance", instance) for instance in "1212"),
    ]
    assert {"1,200.00", "39.60", "8.5"} <= set(of_model["text"])
    assert set(of_model["status"]) == {"typed", "raw"}


#: Classes as the headings of a report of all instances name them -> seconds of each of two instances.
CLASSES = {
    "User I/O(s)": 500.0,
    "Sys I/O(s)": 0.0,
    "Other (s)": 0.0,
    "Applic (s)": 0.0,
    "Commit (s)": 120.0,
    "Network (s)": 0.0,
    "Concurcy (s)": 10.0,
    "Config (s)": 900.0,
    "Cluster (s)": 60.0,
}
#: Class, event and seconds of both instances.
EVENTS = (
    ("Configuration", "log buffer space", 1700.0),
    ("User I/O", "db file sequential read", 900.0),
    ("Commit", "log file sync", 230.0),
)


@pytest.mark.parametrize("title", ["Top Timed Events", "Top Timed Foreground Events"])
@pytest.mark.parametrize("shift", range(len(CLASSES)))
def test_classes_of_all_instances_are_checked_against_their_events(shift: int, title: str) -> None:
    """Releases of 11.2 print the headings of the classes shifted: whatever the shift, no class has another's time."""
    heads = [*list(CLASSES)[shift:], *list(CLASSES)[:shift], "DB CPU (s)", "DB time"]
    times = [*(f"{time:,.2f}" if time else "" for time in CLASSES.values()), "300.00", "2,000.00"]
    levels = [
        [("", 1), ("Wait", 2), ("Event", 2), ("Wait Time", 3), ("Summary Avg Wait Time", 5)],
        *_plain(*("I#", "Class", "Event", "Waits", "%Timeouts", "Total(s)", "Avg Wait", "%DB time")),
    ]
    levels[1] += [(name, 1) for name in ("Avg", "Min", "Max", "Std Dev", "Cnt")]
    report = _report(
        _table(
            "Time Model",
            _plain("I#", "DB time (s)", "DB CPU (s)"),
            [[instance, "2,000.00", "300.00"] for instance in "12"],
        ),
        _table("Foreground Wait Classes", _plain("I#", *heads), [[instance, *times] for instance in "12"]),
        _table(
            title,
            levels,
            [
                ["*", name, event, "1,000", "0.00", f"{time:,.2f}", f"{time:.2f}ms", f"{time / 40:.2f}", *[""] * 4, "2"]
                for name, event, time in EVENTS
            ],
        ),
    )

    ledger = iolab.ledger(report)
    found = dict(ledger.parts("what").select("part", "share").rows())

    assert report.diagnostics.is_empty()
    assert {event: found[event] for _, event, _ in EVENTS} == pytest.approx(
        {event: time / 4000 for _, event, time in EVENTS}
    )
    assert ("Configuration" in found, "Cluster" in found) == (shift == 0, shift == 0)
    assert ("class_contradicted" in ledger.remarks["rule"]) == (shift > 0)


@pytest.mark.parametrize("words", [("Sum", "Avg", "Std"), ("*", "AVG", "STD"), ("Total:", "Avg", "Std")])
def test_rows_about_all_instances_are_no_instances(words: tuple[str, str, str]) -> None:
    """Reports of all instances end a table with the sum, the average and the deviation of its rows."""
    model = [["1", "1,200.00", "300.00"], ["2", "1,800.00", "400.00"]]
    about = [[words[0], "3,000.00", "700.00"], [words[1], "1,500.00", "350.00"], [words[2], "424.26", "70.71"]]
    classes = [["1", "900.00", "300.00"], ["2", "1,400.00", "400.00"], [words[0], "2,300.00", "700.00"]]
    report = _report(
        _table(
            "Database Instances Included In Report",
            _plain("I#", "Instance", "Begin Snap Time", "End Snap Time", "Elapsed Time(min)", "DB time(min)"),
            [
                ["1", "fig1", "05-Feb-24 08:00", "05-Feb-24 09:00", "60.00", "20.00"],
                ["2", "fig2", "05-Feb-24 08:00", "05-Feb-24 09:00", "60.00", "30.00"],
            ],
        ),
        _table("Time Model", _plain("I#", "DB time (s)", "DB CPU (s)"), model + about),
        _table("Foreground Wait Classes", _plain("I#", "User I/O(s)", "DB CPU (s)"), classes),
    )
    assert report["time_model"]["instance"].unique(maintain_order=True).to_list() == ["1", "2", "*", "avg", "std"]
    assert report["time_model"].filter(instance="std")["time_s"].to_list() == [424.26, 70.71]
    ledger = iolab.ledger(report)
    assert (ledger.void, ledger.total and ledger.total.value) == ("", 3000)
    shares = dict(ledger.parts().select("name", "seconds").iter_rows())
    assert (shares["DB CPU"], shares["User I/O"]) == (700, 2300)


@pytest.mark.parametrize("is_ruled", [True, False])
def test_statements_of_two_periods_with_and_without_a_ruler_of_groups(is_ruled: bool) -> None:  # noqa: FBT001 - a case
    """Groups of columns are known by a ruler of their own, or by the two periods below each."""
    groups = f"{'':15}Elapsed Time % of DB time  Elapsed Time (ms) per Exec  #Plans\n"
    names = "SQL Id            1st      2nd     Diff          1st           2nd  1st 2nd Both\n"
    ruler = "------------- -------- -------- -------- ------------ ------------- --- --- ----\n"
    above = " " * 14 + "-" * 26 + " " + "-" * 26 + " " + "-" * 12 + "\n"
    row = "7h2n5wz8c0qkx     11.3     69.9     58.6          4.0          76.2   1   1    2\n"
    title = "Top 10 SQL Comparison by Elapsed Time   First DB/Inst: A/a Snaps: 1-2,  Second DB/Inst: A/a Snaps: 3-4\n\n"
    found = read_awr((COMPARED + title + groups + above * is_ruled + names + ruler + row + END).encode())["compare_sql"]

    columns = ("first_pct", "second_pct", "second_elapsed_per_exec_ms", "first_plans", "second_plans", "both_plans")
    assert found.select(columns).rows() == [(11.3, 69.9, 76.2, 1, 1, 2)]


def test_a_ruler_with_a_slash_is_one_column() -> None:
    """Figures of both periods in one column stand below `----/----`."""
    title = "Top 10 SQL Comparison by Elapsed Time   First DB/Inst: A/a Snaps: 1-2,  Second DB/Inst: A/a Snaps: 3-4\n\n"
    head = f"{'':15}Elapsed Time % of DB time     #Plans\nSQL Id            1st      2nd     Diff  1st/ 2nd\n"
    rows = "------------- -------- -------- --------  ----/----\n7h2n5wz8c0qkx     11.3     69.9     58.6    1/1\n"
    found = read_awr((COMPARED + title + head + rows + END).encode())["compare_sql"]

    assert found.select("sql_id", "second_pct", "plans").rows() == [("7h2n5wz8c0qkx", 69.9, "1/1")]
