"""What a report states of itself: sums above its tables, and that its figures are not valid."""

from __future__ import annotations

from pathlib import Path

import pytest

import iolab
from awrparse import read_awr
from awrparse.report import NoReportError, read_refusal

DATA = Path(__file__).parent / "awr_data" / "valid"
SHUTDOWN = "ERROR: Snapshots chosen span an instance shutdown: RESULTS ARE INVALID"
NOTES = """
Foreground Wait Class                         DB/Inst: PLUM/plum1  Snaps: 1-2
-> Captured Time accounts for        127.3%  of Total DB time         601,61 (s)
-> Total FG Wait Time:               522,90 (s)  DB CPU time:         243,00 (s)

Wait Class                     Waits -outs        Time (s)   wait (ms)  %DB time
-------------------- --------------- ----- --------------- ----------- ---------
User I/O                      13,741                    10        0.75      12.7
          -------------------------------------------------------------

SQL ordered by Elapsed Time                   DB/Inst: PLUM/plum1  Snaps: 1-2
-> Captured SQL account for 5.9E+03% of Total DB Time (s):          12,613
-> Captured PL/SQL account for    0.1% of Total DB Time (s):        12,613

        Time (s)     Executions SQL Id
---------------- -------------- -------------
            25.1          1,196 7hq3wz8mt0c2f
select 1

          -------------------------------------------------------------
"""


def test_sums_above_tables_are_read_with_what_they_are_of() -> None:
    """Share, whole and seconds of each line, with the bounds of their rounding; words that are no sum are none."""
    stated = read_awr(NOTES.replace("601,61", "601.61").replace("522,90", "522.90").encode()).stated

    assert stated.select("title", "what", "of", "pct", "seconds").rows() == [
        ("Foreground Wait Class", "Time", "Total DB time", 127.3, 601.61),
        ("Foreground Wait Class", "FG Wait Time", None, None, 522.9),
        ("SQL ordered by Elapsed Time", "SQL", "Total DB Time", 5900.0, 12_613.0),
        ("SQL ordered by Elapsed Time", "PL/SQL", "Total DB Time", 0.1, 12_613.0),
    ]
    assert stated.select("pct_lo", "pct_hi", "seconds_lo", "seconds_hi").row(0) == pytest.approx(
        (127.25, 127.35, 601.605, 601.615)
    )


@pytest.mark.parametrize("line", [SHUTDOWN, SHUTDOWN.replace("RESULTS", "TIMINGS").replace("ERROR", "WARNING")])
def test_a_report_that_calls_its_figures_invalid_says_so_once(line: str) -> None:
    """The line is in the head and in the diagnostics, the tables are read as ever, and the file is read strictly."""
    text = (DATA / "statspack_102.txt").read_text(encoding="utf-8")
    plain, marked = read_awr(text.encode()), read_awr(f"\n{line}\n{text}".encode())

    assert (marked.info.invalid, marked.invalid_line, plain.info.invalid) == (line, 2, None)
    added = set(marked.diagnostics["kind"]) - set(plain.diagnostics["kind"])
    assert added == {"invalid"}
    assert marked["top_events"].equals(plain["top_events"])


def test_a_statement_may_hold_the_words() -> None:
    """In the text of a statement they are its text."""
    text = NOTES.replace("select 1\n", f"select 1\n{SHUTDOWN}\n")

    assert read_awr(text.encode()).info.invalid is None


def test_the_error_in_place_of_a_report_is_one_for_the_registry_alone() -> None:
    """`iolab.load` gives a report without tables; `read_awr` still says that no report was made."""
    error = b"declare\n*\nERROR at line 1:\nORA-20200: The instance was shutdown between snapshots 7 and 8\n"
    log = iolab.load(error)

    assert (log.format, read_refusal(error).info.begin_snap_id, read_refusal(error).info.end_snap_id) == ("awr", 7, 8)
    with pytest.raises(NoReportError, match="no report was made: ORA-20200"):
        read_awr(error)
    with pytest.raises(NoReportError):
        read_refusal(b"ORA-20200: Begin Snapshot Id 1 does not exist\n")
