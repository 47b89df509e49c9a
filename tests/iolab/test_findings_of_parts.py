"""The first finding of logs that hold only a part of what a whole one says: first pages, summaries, failed requests."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import iolab
from iolab.metrics.report_facts import ReportFacts, Statement
from iolab.rules.profile import main_statement, plsql_block
from iolab.rules.trace_calls import counted_calls
from iolab.time_ledger.account import Ledger
from logframe.interval import Interval
from logframe.oracle import wait_class_of

DATA = Path(__file__).parents[1] / "awrparse" / "awr_data" / "valid"
REPORT = Path(__file__).parents[2] / "sample_data" / "one_case"


def sentences(log: str | bytes) -> list[str]:
    """What is said of a log, the first finding first."""
    data = log.encode() if isinstance(log, str) else log
    return iolab.findings(iolab.load(data)).get_column("sentence").to_list()


def head_of(path: Path, end: str) -> str:
    """A report up to the line before the one with a text."""
    return path.read_text(encoding="utf-8").split(end, 1)[0].rsplit("\n", 1)[0] + "\n"


def report() -> Path:
    """An AWR report as text, whose CPU is most of DB time."""
    return next(path for path in sorted(REPORT.rglob("*.txt")) if "Time Model Statistics" in path.read_text())


def test_the_first_page_of_a_report_has_its_cpu() -> None:
    """DB CPU is printed among the top events and the wait classes, too: before the time model."""
    path = report()
    texts = (path.read_text(), head_of(path, "Time Model Statistics"))
    shares = [iolab.ledger(text.encode()).parts().filter(name="DB CPU")["share"].item() for text in texts]

    assert shares[0] == pytest.approx(shares[1], abs=0.003)


def test_what_the_top_events_do_not_list_is_not_unaccounted() -> None:
    """Below the top events of a first page there are other waits: they are no time that is not accounted for."""
    parts = iolab.ledger(head_of(report(), "Time Model Statistics").encode()).parts()

    assert "DB CPU" in parts["name"]
    assert "not_accounted" not in parts.filter(pl.col("seconds") > 1)["kind"].cast(pl.String)


def test_statspack_without_db_time_says_the_printed_shares() -> None:
    """Before 10g no report prints DB time; the shares of its top events are as printed."""
    said = sentences((DATA / "statspack_92.txt").read_bytes())

    assert said[0] == "Total call time was about 420 s, computed from the printed shares."
    assert said[1] == "CPU took 56 % of total call time."
    assert said[2].startswith("`db file sequential read` took 29 % of total call time")


def test_statspack_of_10g_has_db_time_in_its_time_model() -> None:
    """Its head does not print DB time; the first page alone falls back to the printed shares."""
    path = DATA / "statspack_102.txt"

    whole = iolab.ledger(path)
    assert (whole.base, whole.parts().filter(name="DB CPU")["seconds"].item()) == ("DB time", 1234.1)
    assert "CPU took 56 % of total call time." in sentences(head_of(path, "Time Model System Stats"))


def test_shares_of_almost_nothing_are_not_said() -> None:
    """Top events of a second together in half an hour are no load to divide."""
    text = (DATA / "statspack_92.txt").read_text()
    idle = re.sub(r"(?m)^(CPU time +)234 ", r"\g<1>  1 ", text)
    idle = re.sub(r"(?m)^(db file sequential read +45,678 +)123( +29)", r"\g<1>  1\g<2>", idle)
    idle = re.sub(r"(?m)^(log file sync +9,001 +)31( +7)", r"\g<1> 1\g<2>", idle)

    assert idle != text
    assert not any("of total call time" in one for one in sentences(idle))


@pytest.mark.parametrize("width", [25, 26, 28, 30])
def test_a_cut_name_is_of_the_class_of_all_that_begin_so(width: int) -> None:
    """Text reports cut names: reads of single blocks from storage cells are reads, whichever of them it was."""
    assert wait_class_of("cell single block physical read: flash cache"[:width]) == "User I/O"
    assert wait_class_of("cell multiblock physical read"[:width]) == "User I/O"
    assert wait_class_of("cell interconnect retransmit during physical read"[:width]) == "Other"


AIO = (
    "1.000000 io_submit(0x7f, 1, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=6</u01/a.dbf>, "
    "aio_buf=0x7f, aio_nbytes=8192, aio_offset=8192}]) = 1 <0.000050>\n"
    "1.000100 io_getevents(0x7f, 1, 128, [{data=0x1, obj=0x7f, res=%d, res2=0}], NULL) = 1 <0.000900>\n"
)


def test_an_asynchronous_read_that_failed_has_an_end() -> None:
    """Its completion holds the error: the log has its end, and the error is said first."""
    failed, done = sentences(AIO % -5 + AIO % 8192), sentences(AIO % 8192 + AIO % 8192)

    assert failed[0] == "1 request failed: `io_submit` of `a.dbf` with EIO (line 1)."
    assert not any("has no end" in one for one in failed)
    assert not any("failed" in one for one in done)


def test_errors_of_calls_are_no_failed_requests() -> None:
    """What would have waited, or was of a closed descriptor, is no fault of a device or a file system."""
    call = '1.%06d pwrite64(3</u01/a.dbf>, "", 8192, 0) = -1 %s (x) <0.000010>\n'
    expected = "".join(call % (number, name) for number, name in enumerate(("EAGAIN", "EBADF", "EINVAL", "EINTR")))
    expected += "1.000008 close(3</u01/a.dbf>) = 0 <0.000010>\n"
    full = "".join(call % (number, "ENOSPC") for number in range(10, 13))

    assert not any("failed" in one for one in sentences(expected))
    said = sentences(expected + full)[0]
    assert said == "3 requests failed: 3 times `pwrite64` of `a.dbf` with ENOSPC (first line 6)."


def test_the_process_with_most_io_is_the_one_that_is_described() -> None:
    """A process with ten times as many calls, but hardly any time in them, does not hide the one that writes."""
    read = '4711  1700000000.%06d pread64(3</u01/a.dbf>, "", 8192, 8192) = 8192 <0.000200>'
    write = '4712  1700000000.%06d pwrite64(4</u01/r.log>, "", 8192, 8192) = 8192 <0.049000>'
    wait = "4713  1700000000.%06d epoll_wait(9, [], 1024, 99) = 0 <0.099900>"
    calls = [(n * 5_000, read) for n in range(200)] + [(n * 50_000, write) for n in range(20)]
    calls += [(n * 100_000, wait) for n in range(10)]
    log = "".join(f"{text % at}\n" for at, text in sorted(calls))

    said = sentences(log)
    assert said[0] == "The records of process 4712 span 999.000 ms (the busiest of 3 processes)."
    assert said[1] == "`pwrite64` took 98 % of 999 ms: 20 calls, 49 ms each, all of it on `r.log`."
    assert iolab.ledger(log.encode()).parts()["part"].to_list()[0] == "file writes"


HEADING = "% time     seconds  usecs/call     calls    errors syscall\n"
RULE = "------ ----------- ----------- --------- --------- ----------------\n"


def table(**seconds: float) -> str:
    """A table of strace -c."""
    rows = "".join(f"{1.0:6.2f} {time:11.6f} {10:11d} {30:9d} {'':9} {name}\n" for name, time in seconds.items())
    total = sum(seconds.values())
    return HEADING + RULE + rows + RULE + f"100.00 {total:11.6f} {'':11} {30 * len(seconds):9d} {'':9} total\n"


def test_tables_of_one_run_are_counted_together() -> None:
    """Strace prints a table for each personality of a process; of several runs the longest is described."""
    bits = "System call usage summary for 32 bit mode:\n"
    one = table(pread64=0.9, read=0.1)
    logs = (one + bits + table(read=0.2), one + table(read=0.2))
    both, runs = ([said.sentence for said in counted_calls(iolab.load(log.encode()))] for log in logs)

    assert both[0] == "`pread64` took 75 % of the 1.20 s in the summary of calls: 30 calls, 30 ms each."
    assert (
        runs[0] == "`pread64` took 90 % of the 1 s in the summary of calls (table 1, the longest of 2 runs): 30 calls, "
        "30 ms each."
    )


def test_a_log_without_times_says_those_of_its_own_table() -> None:
    """With -C strace counts the calls below a log; without -T that table alone says where time went."""
    log = '1.000000 pread64(3</u01/a.dbf>, "", 8192, 0) = 8192\n1.000100 read(5, "", 10) = 0\n'
    found = iolab.findings(iolab.load((log + table(pread64=0.9, read=0.1)).encode()))

    said = found.filter(pl.col("name") == "counted_calls")["sentence"].item()
    assert said.startswith("`pread64` took 90 % of the 1 s")
    timed = log.replace("8192\n", "8192 <0.000400>\n") + table(pread64=0.9, read=0.1)
    assert "counted_calls" not in iolab.findings(iolab.load(timed.encode()))["name"]


def test_a_share_of_all_is_said() -> None:
    """A top event of 100.0 % may be a little more than all by its rounding, and is the most important one."""
    head = "Top 5 Timed Events                                         Avg %Total\n"
    head += "~~~~~~~~~~~~~~~~~~                                        wait   Call\n"
    head += "Event                                 Waits    Time (s)   (ms)   Time Wait Class\n"
    head += "------------------------------ ------------ ----------- ------ ------ ----------\n"
    row = "db file sequential read              79,083      73,024    923  100.0   User I/O\n"

    assert sentences(head + row)[1].startswith("`db file sequential read` took 100 % of total call time")


def test_runs_of_two_plans_are_two_samples() -> None:
    """The median of runs of which half took another plan is the time of none of them."""
    run = (
        "SQL> select count(*) from plums;\n\n  COUNT(*)\n----------\n         7\n\nElapsed: 00:00:0{}.0{}\n\n"
        "Execution Plan\n----------------------------------------------------------\nPlan hash value: {}\n\n"
        "-------------------------------------\n| Id  | Operation        | Name     |\n"
        "-------------------------------------\n|   0 | SELECT STATEMENT |          |\n"
        "-------------------------------------\n\n"
    )
    log = "".join(run.format(5, place, 111) for place in range(5)) + "".join(run.format(1, n, 777) for n in range(5))
    said = [one for one in sentences(log) if "10 runs" in one]

    assert said == [
        "Statement 1 took all of the time: 10 runs; 5 of plan `111`, median 5.02 s, 5 of plan `777`, median 1.02 s."
    ]
    assert not [one for one in sentences(log) if "became faster" in one]


def test_the_parts_of_a_report_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings of a report with many statements ask for its parts as often as those of one with few."""
    parts, counts = Ledger.parts, []
    for number in (5, 200):
        some = tuple(Statement(f"{place:013}", Interval.exact(10), Interval.exact(5)) for place in range(number))
        facts = ReportFacts(db_time_s=Interval.exact(5_000), elapsed_s=Interval.exact(900), statements=some)
        asked: list[str] = []

        def counted(ledger: Ledger, view: str = "what", asked: list[str] = asked) -> pl.DataFrame:
            asked.append(view)
            return parts(ledger, view)

        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "parts", counted)
            assert [*main_statement(facts), *plsql_block(facts)] == []
        counts.append(len(asked))
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize(
    ("finding", "share", "is_cause"),
    [
        ("Hard Parse Due to Invalidations", 71.3, True),
        ("Hard Parse Due to Invalidations", 20.1, False),
        ("CPU Usage", 71.3, False),
    ],
)
def test_the_cause_that_addm_found_stands_beside_the_largest_part(
    finding: str, share: float, *, is_cause: bool
) -> None:
    """A third of the activity or more, and not what took the time: the list in the report is what ADDM found."""
    listed = "Top ADDM Findings by Average Active Sessions\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
    listed += (
        f"Finding Name                             Avg act Percen Task Name\n{'-' * 40} ------- ------ {'-' * 24}\n"
    )
    for name, percent in (("Top SQL Statements", 91.2), (finding, share)):
        listed += f"{name:40} {0.28:7.2f} {percent:6.2f} ADDM:1329819247_1_411\n"
    text = report().read_text().replace("Load Profile  ", f"{listed}Load Profile  ", 1)
    found = iolab.findings(text.encode())
    said = found.filter(name="addm_finding")
    assert said.get_column("sentence").to_list() == [f"ADDM rates `{finding}` at 71 % of the activity."] * is_cause
    assert not is_cause or said.item(0, "part") == found.filter(pl.col("part").is_not_null()).item(0, "part")


def test_the_duration_of_calls_comes_before_their_processor_time() -> None:
    """Tables with wall columns (strace 7.1) count both: the time of a read is its duration."""
    heading = "syscall                calls wall-total     seconds\n---------------- --------- ---------- -----------\n"
    rows = f"{'pwrite64':16} {90:9d} {9.0:10.6f} {0.2:11.6f}\n{'times':16} {90:9d} {1.0:10.6f} {0.3:11.6f}\n"
    end = f"---------------- --------- ---------- -----------\n{'total':16} {180:9d} {10.0:10.6f} {0.5:11.6f}\n"
    said = [one.sentence for one in counted_calls(iolab.load((heading + rows + end).encode()))]
    assert said[0].startswith("`pwrite64` took 90 % of the 10 s in the summary of calls: 90 calls, 100 ms each")
