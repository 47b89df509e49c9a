"""Two SQL traces compared by statement, and the metrics of their reads, on traces written for these tests."""

from __future__ import annotations

import polars as pl
import pytest

import iolab
from iolab import metrics
from iolab.comparison import UnpairedError, pair
from sqltraceparse import SqlTrace, read_sqltrace

QUERY = "select sum(amount) from orders"


def statement(
    text: str = QUERY,
    *,
    cursor: int = 7,
    plan: int = 11,
    reads: int = 2,
    read_us: int = 400,
    rows: int = 1,
    executions: int = 2,
    start: int = 1_000_000,
    operation: str = "TABLE ACCESS FULL ORDERS",
) -> list[str]:
    """The lines of a statement that is executed some times; each execution reads some blocks, one by one."""
    tim = start
    lines = [
        "=====================",
        (
            f"PARSING IN CURSOR #{cursor} len={len(text)} dep=0 uid=5 oct=3 lid=5 tim={tim} "
            f"hv=1 ad='6b' sqlid='{cursor}abc'"
        ),
        *text.split("\n"),
        "END OF STMT",
    ]
    for _ in range(executions):
        tim += 100
        lines.append(f"EXEC #{cursor}:c=20,e=20,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh={plan},tim={tim}")
        for block in range(reads):
            tim += read_us
            lines.append(
                f"WAIT #{cursor}: nam='db file sequential read' ela= {read_us} file#={4 + block % 2} block#={block} "
                f"blocks=1 obj#={52 + block % 2} tim={tim}"
            )
        tim += 50
        elapsed = reads * read_us + 50
        lines.append(
            f"FETCH #{cursor}:c=50,e={elapsed},p={reads},cr={reads},cu=0,mis=0,r={rows},dep=0,og=1,plh={plan},tim={tim}"
        )
    lines.append(
        f"STAT #{cursor} id=1 cnt={rows} pid=0 pos=1 obj=52 op='{operation} (cr={reads} pr={reads} pw=0 time=9 us)'"
    )
    return lines


def trace(*parts: list[str]) -> SqlTrace:
    """A trace of lines."""
    return read_sqltrace("\n".join(line for part in parts for line in part).encode())


def test_a_regression_with_another_plan() -> None:
    """The time of an execution, the ratio, the plans and what is only in one; regressions come first."""
    other = "select 2 from dual"
    a = trace(statement(), statement(other, cursor=9, start=5_000_000, reads=5))
    b = trace(
        statement(other, cursor=3, reads=1),
        statement(
            "  SELECT sum(amount)\n  from   orders ",
            plan=12,
            reads=6,
            start=5_000_000,
            operation="INDEX RANGE SCAN O_I",
        ),
    )

    found = pair(a, b)
    rows = found.frames["Statements"]

    assert rows.get_column("change").to_list() == ["slower", "faster"]
    first = rows.row(0, named=True)
    assert (first["elapsed_s_a"], first["elapsed_s_b"]) == pytest.approx((870e-6, 2470e-6))
    assert first["ratio"] == first["ratio_lo"] == first["ratio_hi"] == pytest.approx(2470 / 870)
    assert first["added_s"] == pytest.approx(2 * 1600e-6)
    assert (first["plan_a"], first["plan_b"], first["plan_changed"]) == ("11", "12", True)
    assert (first["disk_blocks_a"], first["disk_blocks_b"], first["rows_a"]) == (2, 6, 1)
    assert "other plan (11 to 12; only in A: TABLE ACCESS FULL ORDERS; only in B: INDEX RANGE SCAN O_I)" in str(found)
    assert found.verdict.startswith(
        "Of 2 statements that did the same work, 1 took more than 20 % longer in B and 1 more than 20 % less"
    )


def test_a_plan_is_found_whatever_the_text_holds() -> None:
    """Blanks within a literal are part of a statement; its plans are compared like those of any other."""
    text = "select 1 from orders where state = 'in  work'"
    found = pair(trace(statement(text)), trace(statement(text, plan=12, operation="INDEX RANGE SCAN O_I")))

    assert "only in A: TABLE ACCESS FULL ORDERS; only in B: INDEX RANGE SCAN O_I" in str(found)


def test_swapped_traces_are_opposite() -> None:
    """What got slower one way got faster the other way, by the reciprocal."""
    a, b = trace(statement()), trace(statement(read_us=900))
    one, other = (pair(x, y).frames["Statements"].row(0, named=True) for x, y in ((a, b), (b, a)))

    assert (one["change"], other["change"]) == ("slower", "faster")
    assert one["ratio"] * other["ratio"] == pytest.approx(1)


def test_other_numbers_of_rows_are_other_work() -> None:
    """Times are listed, not called slower."""
    found = pair(trace(statement()), trace(statement(rows=500, reads=50)))

    assert found.frames["Statements"].get_column("change").to_list() == ["other rows"]
    assert found.verdict.endswith(" No statement processed as many rows per execution in both.")


def test_centiseconds_decide_nothing_small() -> None:
    """Of an 8i trace a time of one step of its clock may be nearly twice as long: no change."""
    head = ["Oracle8i Enterprise Edition Release 8.1.7.4.0 - Production"]

    def old(elapsed: int) -> SqlTrace:
        lines = statement(reads=0, executions=1)[:4]
        return trace(head, lines, [f"EXEC #7:c=1,e={elapsed},p=0,cr=0,cu=0,mis=0,r=1,dep=0,og=4,tim=900"])

    row = pair(old(2), old(3)).frames["Statements"].row(0, named=True)

    assert row["change"] == "same"
    assert row["ratio_lo"] < 1 < row["ratio_hi"]


def test_nothing_in_common() -> None:
    """A refusal with the reason."""
    with pytest.raises(UnpairedError, match="no executed statement with the same text"):
        pair(trace(statement()), trace(statement("select 3 from dual")))


def test_reads_by_object_and_file() -> None:
    """Sums of each object and file are those of the waits; bytes need a block size."""
    waits = trace(statement(reads=5, executions=3)).waits
    by_object = metrics.reads_by(waits, block_size=8192)
    by_file = metrics.reads_by(waits, by=["file_id", "event"])

    assert by_object.select("object_id", "waits", "blocks", "bytes").rows() == [(52, 9, 9, 73_728), (53, 6, 6, 49_152)]
    assert by_object.get_column("share_pct").sum() == pytest.approx(100)
    assert by_file.select("file_id", "blocks", "time_s", "mean_us").rows() == [(4, 9, 3.6e-3, 400), (5, 6, 2.4e-3, 400)]
    assert by_file.get_column("bytes").null_count() == 2


def test_no_object() -> None:
    """Numbers that name no object are one row without one."""
    lines = [
        f"WAIT #1: nam='db file sequential read' ela= 9 file#=1 block#=1 blocks=1 obj#={n} tim=100" for n in (0, -1)
    ]

    assert metrics.reads_by(trace(lines).waits).select("object_id", "waits").rows() == [(None, 2)]


def process(pid: int, shift_us: int) -> list[str]:
    """A process of a merged trace that reads three times for 400 us; all clocks agree."""
    lines = [f"*** [ Unix process pid: {pid} ]", f"*** 2026-03-02T21:00:01.{shift_us:06}+00:00"]
    for number in range(3):
        tim = 10_000_000 + shift_us + 400 * (number + 1)
        lines.append(
            f"WAIT #5: nam='db file sequential read' ela= 400 file#=4 block#={number} blocks=1 obj#=52 tim={tim}"
        )
    return lines


def depths(log: SqlTrace) -> dict[str, float | None]:
    """The metrics by name."""
    return dict(metrics.read_concurrency(log.waits).select("metric", "value").iter_rows())


def test_reads_of_several_processes_overlap() -> None:
    """Two processes of which the second begins half a read later: 2,400 us of waits in 1,400 us."""
    found = depths(trace(process(11, 0), process(12, 200)))

    assert found["read_depth_max"] == 2
    assert found["read_depth_mean"] == pytest.approx(2400 / 1400)


def test_one_after_the_other_is_no_concurrency() -> None:
    """Waits that touch do not overlap."""
    found = depths(trace(process(11, 0), process(12, 1200)))

    assert (found["read_depth_max"], found["read_depth_mean"]) == (1, 1)


def test_concurrency_that_no_trace_shows() -> None:
    """One process, and processes without a clock, are refused with the reason."""
    one = metrics.read_concurrency(trace(statement()).waits)
    unknown = metrics.read_concurrency(trace(process(11, 0)[:1] + process(11, 0)[2:], process(12, 0)).waits)

    assert one.get_column("value").to_list() == [None] * 3
    assert "one process waits for one read at a time" in one.item(0, "caveats")
    assert "wall clock of a process is not known" in unknown.item(0, "caveats")


def test_round_trips() -> None:
    """Rows of the fetches of depth 0 over waits for the client."""
    idle = "WAIT #7: nam='SQL*Net message from client' ela= 700 driver id=1 #bytes=1 p3=0 obj#=-1 tim="
    log = trace(statement(rows=30, executions=2), [f"{idle}{1_010_000 + n * 1000}" for n in range(4)])
    found = dict(metrics.round_trips(log.calls, log.waits).select("metric", "value").iter_rows())

    assert found == {"round_trips": 4, "rows_per_round_trip": 15, "client_ms_per_round_trip": pytest.approx(0.7)}
    assert metrics.round_trips(log.calls, log.waits.head(0)).get_column("value").null_count() == 3


def test_they_are_shown() -> None:
    """The summary of a trace has the frames, and a page of two traces the comparison."""
    seen = iolab.summarize("\n".join(statement()).encode())

    assert seen.frames["reads_by_object"].height == 1 + 1
    assert seen.frames["reads_by_file"].select(pl.col("waits").sum()).item() == 4


def test_the_times_of_a_tkprof_report_are_without_those_below() -> None:
    """TKPROF prints the own time of a statement: the calls of a trace are compared without what they called."""
    cursor = "PARSING IN CURSOR #{0} len=8 dep={1} uid=0 oct=3 lid=0 tim={2} hv=1 ad='7f' sqlid='{3}'\nselect 1\n"
    cursor += "END OF STMT\n"
    call = "EXEC #{0}:c=0,e={1},p=0,cr=0,cu=0,mis=0,r=1,dep={2},og=4,plh=1,tim={3}\n"
    trace = "=====================\n" + cursor.format(1, 0, 1_000_000, "a")
    trace += "=====================\n" + cursor.format(2, 1, 1_001_000, "b") + call.format(2, 4_000_000, 1, 5_010_000)
    trace += call.format(1, 4_025_000, 0, 5_030_000)
    report = "TKPROF: Release 19.0.0.0.0\n\nOVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS\n\n"
    report += "call     count       cpu    elapsed       disk      query    current        rows\n"
    report += "------- ------  -------- ---------- ---------- ---------- ----------  ----------\n"
    rows = (("Parse", 0, 0.0), ("Execute", 1, 0.02), ("Fetch", 0, 0.0))
    report += "".join(f"{name:7} {n:>6} {0:>9.2f} {s:>10.2f} {0:>10} {0:>10} {0:>10} {0:>11}\n" for name, n, s in rows)
    report += "------- ------  -------- ---------- ---------- ---------- ----------  ----------\n"
    report += f"{'total':7} {1:>6} {0:>9.2f} {0.02:>10.2f} {0:>10} {0:>10} {0:>10} {0:>11}\n"

    said = pair(iolab.load(trace.encode()), iolab.load(report.encode())).verdict

    assert said.startswith("The report is of this trace: it has 1 call of 0.02 s, the trace 1 of 0.025 s")
