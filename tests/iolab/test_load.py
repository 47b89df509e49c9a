"""`load`: content decides which reader takes a log; what none takes is refused in one clear error."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from transformations import in_session, joined, numbered, padded, quoted

from awrparse import AwrReport
from iolab.loading import load, load_all
from logframe import LogNotFoundError, LogParseError
from logframe.formats import ParsedLog
from sqlplusparse import Spool
from straceparse import EVENTS, SUMMARY, StraceLog

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "sample_data"
KINDS = {
    "articles/000_sync_reads.strace": StraceLog,
    "articles/000_async_reads.strace": StraceLog,
    "articles/002_hpux.txt": Spool,
    "articles/003_filesystemio_none.txt": AwrReport,
    "articles/003_filesystemio_setall.txt": AwrReport,
    "articles/004_exadata_flash_cache.txt": Spool,
    "captures/sequential_direct_r.strace": StraceLog,
    "runs/buffered_direct_async.txt": Spool,
}


@pytest.mark.parametrize("name", KINDS)
def test_samples(name: str) -> None:
    """Every kind of sample, by path, by bytes, as an open file and compressed."""
    path = SAMPLES / name
    data = path.read_bytes()
    for source in (path, str(path), data, io.BytesIO(data), gzip.compress(data), {"name": "x.log", "content": data}):
        loaded = load(source)
        assert type(loaded) is KINDS[name]
        assert isinstance(loaded, ParsedLog)
        if isinstance(loaded, StraceLog):
            assert loaded.events.collect_schema() == EVENTS


def test_reports_and_sessions_have_bounds() -> None:
    """What is loaded is ready for metrics."""
    report = load(SAMPLES / "articles/003_filesystemio_none.txt")
    assert isinstance(report, AwrReport)
    assert "total_wait_s_lo" in report["top_events"].columns


def test_a_report_in_a_session() -> None:
    """A session that selects a report's tables is a session all the same."""
    report = (SAMPLES / "articles/003_filesystemio_none.txt").read_bytes()

    assert isinstance(load(b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n\n" + report), Spool)


TRACE = """PARSING IN CURSOR #7 len=9 dep=0 uid=88 oct=3 lid=88 tim=6000100 hv=91 ad='7f' sqlid='b1x7'
select 41
END OF STMT
FETCH #7:c=8,e=120,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=6000400
"""
TOP_EVENTS = """Top 4 Timed Events                                         Avg %Total
~~~~~~~~~~~~~~~~~~                                        wait   Call
Event                                 Waits    Time (s)   (ms)   Time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
db file sequential read             412,007       3,144      8   71.3   User I/O
CPU time                                            902           20.5
"""
OF_DB = """Wait Class                                 DB/Inst: FIG/fig1  Snaps: 41-42

Wait Class                      Waits   %Time -outs  Total Wait Time (s)  Avg wait (ms)  Waits /txn
------------------------- ----------- ------------- ------------------- -------------- -----------
User I/O                      412,911            .0               3,151              8        33.2
"""


@pytest.mark.parametrize(("tables", "name"), [(TOP_EVENTS, "top_events"), (OF_DB, None)], ids=["top events", "section"])
def test_tables_of_a_report_in_a_session(tables: str, name: str | None) -> None:
    """Tables copied out of a report are read beside the session that holds them."""
    session = in_session(tables).encode()
    spool, report = load_all(session)

    assert isinstance(load(session), Spool)
    assert (spool.format, report.format) == ("sqlplus", "awr")
    assert name is None or report.frames()[name].height == 2


def test_a_log_far_down_a_padded_document() -> None:
    """Blanks at the ends of lines hide no log from recognition."""
    document = joined(["They waited for disks, or so it seemed."] * 800) + TRACE
    narrow, wide = load_all(document.encode()), load_all(padded(document, 500).encode())

    assert [log.format for log in wide] == [log.format for log in narrow] == ["sqltrace"]


@pytest.mark.parametrize("change", [quoted, numbered], ids=["quoted", "cat -n"])
def test_samples_far_down_a_marked_document(change: Callable[[str], str]) -> None:
    """Marks of a quotation and numbers of lines hide no samples of sessions, however late they come."""
    table = """---------------------------------------------------------------------
Active% |    SID | EVENT                     | WAIT_CLASS
---------------------------------------------------------------------
    60% |    731 | log file sync             | Commit
    20% |    418 | db file parallel read     | User I/O

--  End of ASH snap 1, end=2026-11-02 11:40:05, seconds=5, samples_taken=41
"""
    document = joined(["They waited for disks, or so it seemed."] * 300) + table

    assert load(document.encode()).frames()["samples"].height == 2
    assert load(change(document).encode()).frames()["samples"].equals(load(document.encode()).frames()["samples"])


def test_a_report_that_a_session_spooled() -> None:
    """The report is what the session was run for; both are there for who asks for all."""
    report = (SAMPLES / "awr_series" / "awrrpt_1_4102_4103.txt").read_bytes()
    session = b"SQL> set timing on\nSQL> @?/rdbms/admin/awrrpt\n" + report + b"SQL> select 1 from dual;\nSQL> exit\n"

    assert isinstance(load(session), AwrReport)
    assert [log.format for log in load_all(session)] == ["awr", "sqlplus"]


@pytest.mark.parametrize(
    "heading",
    ["% time     seconds  usecs/call     calls    errors syscall", "calls  seconds syscall"],
    ids=["-c", "-c -U"],
)
def test_summary(heading: str) -> None:
    """The table of strace -c, whatever its columns."""
    cells = {
        "% time": "75.51",
        "seconds": "0.000296",
        "usecs/call": "2",
        "calls": "121",
        "errors": "3",
        "syscall": "pread64",
    }
    names = re.findall(r"% time|\S+", heading)
    widths = [max(len(cells[name]), len(name)) for name in names]
    ruler = " ".join("-" * width for width in widths)
    lines = [
        " ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))
        for texts in (names, [cells[name] for name in names])
    ]
    loaded = load("\n".join([lines[0], ruler, lines[1], ruler, ""]).encode())

    assert isinstance(loaded, StraceLog)
    assert loaded.kind == "strace_summary"
    assert loaded.summary is not None
    assert loaded.summary.schema == SUMMARY
    assert loaded.summary.item(0, "calls") == 121


def test_stacks_and_dumps() -> None:
    """A log of strace -k has more lines of stacks than of calls, and is an strace log all the same."""
    stack = b" > /usr/lib/libc.so.6(read+0xd) [0x10e1dd]\n" * 9
    log = b"".join(b'12:00:00.%06d read(3, "", 8192) = 0 <0.000004>\n' % number + stack for number in range(5))
    loaded = load(log)

    assert isinstance(loaded, StraceLog)
    assert loaded.events.filter(pl.col("kind") == "call").collect().height == 5


def test_files_of_one_run(tmp_path: Path) -> None:
    """The files of strace -ff are one log."""
    for pid in (4711, 4712):
        (tmp_path / f"trace.{pid}").write_text("12:00:00.000001 close(3) = 0 <0.000004>\n")
    loaded = load(str(tmp_path / "trace.*"))

    assert isinstance(loaded, StraceLog)
    assert sorted(loaded.events.collect().get_column("pid").to_list()) == [4711, 4712]


def test_several_logs_of_other_kinds(tmp_path: Path) -> None:
    """Several logs that are not one run are refused, with what to try."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes((SAMPLES / "articles/002_linux.txt").read_bytes())

    with pytest.raises(LogParseError, match="got 2 logs, not one") as caught:
        load(tmp_path)
    assert "load_all reads several" in caught.value.expected


def test_logs_of_several_runs_are_not_mixed(tmp_path: Path) -> None:
    """Traces of different runs are no one log: their clocks would be read as one."""
    for name in ("async_direct_r", "sequential_direct_r"):
        (tmp_path / f"{name}.strace").write_bytes((SAMPLES / f"captures/{name}.strace").read_bytes())

    with pytest.raises(LogParseError, match="got 2 logs, not one"):
        load(tmp_path)


def test_an_unknown_log_is_shown_where_it_tells_what_it_is() -> None:
    """The line of the error is the one that betrays the kind."""
    with pytest.raises(LogParseError, match="a trace of the optimizer") as caught:
        load(b"a note\n\nQUERY BLOCK SIGNATURE\n")
    assert (caught.value.line, caught.value.text) == (3, "QUERY BLOCK SIGNATURE")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00" + bytes(200), "an executable"),
        (bytes(range(20)) * 20, "binary data"),
        (b"******** TVD$XTAT ********\n", r"this is a TVD\$XTAT profile of an SQL trace"),
        (b"QUERY BLOCK SIGNATURE\n", "this is a trace of the optimizer"),
        (b'{"a": 1}\n', "this is not a log of a known kind"),
        (b"milk\nbread\n", "this is not a log of a known kind"),
    ],
)
def test_refused(data: bytes, message: str) -> None:
    """What was found, and what would be read."""
    with pytest.raises(LogParseError, match=message) as caught:
        load(data)
    assert caught.value.expected


def test_missing_path() -> None:
    """A path that leads nowhere is named."""
    with pytest.raises(LogNotFoundError, match="no such file"):
        load("no/such/log.txt")


@pytest.mark.corpus
def test_corpus(corpus: Path) -> None:
    """Real logs of each kind, the folders say which, are recognised by their content."""
    expected = {"strace/captures": StraceLog, "awr": AwrReport}
    wrong = []
    for folder, kind in expected.items():
        paths = [path for path in sorted((corpus / folder).rglob("*")) if path.is_file() and path.suffix != ".tsv"]
        assert paths
        for path in paths[:: max(len(paths) // 8, 1)]:
            try:
                loaded: object = load(path)
            except LogParseError as error:
                loaded = error
            if not isinstance(loaded, kind):
                wrong.append(f"{path.relative_to(corpus)}: {loaded!r}")

    assert wrong == []


@pytest.mark.parametrize("hole", [1, 5000, 3 << 20])
def test_a_log_that_was_truncated_while_it_was_written(tmp_path: Path, hole: int) -> None:
    """It begins with a hole of NUL bytes; what stands behind it decides, and NUL bytes alone are no log."""
    path = tmp_path / "a.strace"
    path.write_bytes(b"\0" * hole + b"     0.000123 close(3) = 0\n" * 3)
    found = load(path)

    assert (found.format, found.diagnostics.height) == ("strace", 1)
    assert load(path.read_bytes()).describe() == found.describe()
    path.write_bytes(b"\0" * hole)
    with pytest.raises(LogParseError, match="binary data"):
        load(path)
