"""Bad input: what is known is read, the rest is a diagnostic with its line, and nothing is lost."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import LogParseError
from logframe.loading import load_log
from sqltraceparse import read_sqltrace, scan_sqltrace

CALL = "FETCH #3:c=8,e=120,p=1,cr=4,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=5000200"
WAIT = "WAIT #3: nam='db file sequential read' ela= 70 file#=4 block#=21 blocks=1 obj#=5 tim=5000150"
HEADER = "PARSING IN CURSOR #3 len=18 dep=0 uid=5 oct=3 lid=5 tim=5000000 hv=12 ad='6b' sqlid='2y17pb7bnmpt0'"


def found(*lines: str) -> tuple[Any, list[tuple[int, str]]]:
    """The trace of lines, and the line and kind of each diagnostic."""
    trace = read_sqltrace("\n".join(lines).encode())
    return trace, trace.diagnostics.select("line", "kind").rows()


def test_fused_records() -> None:
    """Two records on one line are two records."""
    trace, rows = found(WAIT, CALL + WAIT.replace("tim=5000150", "tim=5000300"), CALL)

    assert (trace.waits.height, trace.calls.height) == (2, 2)
    assert rows == [(2, "repaired")]
    assert trace.kinds.get_column("lines").sum() == 4


@pytest.mark.parametrize(
    ("cut", "elapsed", "tim"),
    [
        (CALL[: CALL.index("e=120") + 4], None, None),
        (CALL[: CALL.index(",p=")], None, None),
        (CALL[: CALL.index("p=1")], 120, None),
        (CALL[: CALL.index("tim=") + 2], 120, None),
        (CALL[: CALL.index("plh=9") + 5], 120, None),
    ],
)
def test_a_cut_call(cut: str, elapsed: int | None, tim: int | None) -> None:
    """The fields whose end is seen are read; a number at the very end may lack digits and is not."""
    trace, rows = found(CALL, cut)

    assert trace.calls.select("cpu_us", "elapsed_us", "tim_us").row(1) == (8, elapsed, tim)
    assert rows == [(2, "cut")]


@pytest.mark.parametrize("place", ["zz=73,tim=2000", "tim=2000,zz=73"])
def test_a_field_of_a_later_release(place: str) -> None:
    """A field that no release has had so far is named on its line, which is whole: its other fields are read."""
    trace = found(*[f"EXEC #7:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=16,dep=0,og=1,plh=5,{place}"] * 3)[0]
    reasons = trace.diagnostics.get_column("reason").to_list()

    assert trace.calls.select("rows", "tim_us").unique().rows() == [(16, 2000)]
    assert trace.diagnostics.get_column("kind").to_list() == ["unknown_name"] * 3
    assert all("zz=73" in reason and "unknown field" in reason for reason in reasons)


@pytest.mark.parametrize("length", range(len("WAIT #3"), len(WAIT)))
def test_a_wait_cut_anywhere(length: int) -> None:
    """A cut wait counts with its time once that is whole, never with a part of it."""
    trace, rows = found(WAIT, WAIT, WAIT, WAIT[:length])
    elapsed = trace.waits.get_column("elapsed_us").to_list()
    p3 = trace.waits.get_column("p3").to_list()

    assert elapsed[:3] == [70, 70, 70]
    assert elapsed[3:] == ([70] if length > WAIT.index(" file#") else [])
    assert set(p3) <= {1, None}
    # the digits of tim that are missing at the end of a file show in the order of times only
    assert rows == [(4, rows[0][1])] if rows else length > WAIT.index("tim=50")
    assert not rows or rows[0][1] in {"cut", "clock", "unparsed"}


@pytest.mark.parametrize("tim", ["50002", "9000200"])
def test_times_that_lack_digits_are_left_out(tim: str) -> None:
    """A tim that alone lies before both its neighbours, or after, is damaged."""
    trace, rows = found(WAIT, CALL.replace("tim=5000200", f"tim={tim}"), WAIT.replace("5000150", "5000190"), WAIT)

    assert trace.calls.get_column("tim_us").to_list() == [None]
    assert trace.waits.get_column("clock").to_list() == [1, 1, 1]
    assert rows == [(2, "clock")]


def test_a_clock_that_runs_back() -> None:
    """Lines of another clock have another number; nothing is computed across."""
    later = [line.replace("tim=5000", "tim=1000") for line in (WAIT, CALL)]
    trace, rows = found(WAIT, CALL, *later)

    assert trace.calls.get_column("clock").to_list() == [1, 2]
    assert trace.waits.get_column("call").to_list() == [2, 4]
    assert rows == [(3, "clock")]


def test_a_statement_without_an_end() -> None:
    """Its text ends where a line of a known form stands."""
    trace, rows = found(HEADER, "select 1", "  from", CALL)

    assert trace.statements.select("text", "is_whole").row(0) == ("select 1\n  from", False)
    assert trace.calls.height == 1
    assert rows == [(1, "cut")]


def test_a_statement_whose_length_is_wrong() -> None:
    """A text that was shortened by hand ends at its mark, and the difference is said."""
    trace, rows = found(HEADER, "select ...", "END OF STMT", CALL)

    assert trace.statements.item(0, "text") == "select ..."
    assert rows == [(1, "cut")]


def test_an_error_text_without_an_end() -> None:
    """The text of a failed statement ends by its length, or at the next line of a known form."""
    failed = "PARSE ERROR #3:len=15 dep=0 uid=5 oct=3 lid=5 tim=5000000 err=942"
    trace, rows = found(failed, "select * from t", CALL, failed, "select", CALL)

    assert trace.statements.select("text", "is_whole", "error").rows() == [
        ("select * from t", True, 942),
        ("select", False, 942),
    ]
    assert [line for line, _ in rows] == [4]


def _bind(position: int, value: str) -> list[str]:
    return [
        f" Bind#{position}",
        f"  oacdty=0{position + 1} mxl=32(0{position}) mxlc=00 mal=00 scl=00 pre=00",
        "  oacflg=03 fl2=1 frm=01 csi=873 siz=24 off=0",
        f"  kxsbbbfp=7fe{position}  bln=22  avl={position:02}  flg=05",
        f"  value={value}",
    ]


OLD_BINDS = [
    line
    for position in range(3)
    for line in (
        f" bind {position}: dty=2 mxl=22({position}) mal=00 scl=00 pre=00 oacflg=08 oacfl2=1 size=24 offset=0",
        f"   bfp=0279a4f{position} bln=22 avl=0{position} flg=05",
        f"   value={position}",
    )
]


@pytest.mark.parametrize("binds", [[line for one in range(4) for line in _bind(one, f'"v{one}"')], OLD_BINDS])
@pytest.mark.parametrize("seed", range(4))
def test_binds_whose_lines_are_missing(binds: list[str], seed: int) -> None:
    """Lines are cut out of a section of binds: no row has figures of two binds without a diagnostic.

    A cut from a part of one bind to the same part of the last one leaves a section as the database writes it.
    """
    lines = ["BINDS #3:", *binds, CALL]
    whole = {row[1:] for row in _figures(found(*lines)[0])}
    assert found(*lines)[1] == []
    each = len(binds) // 4 if len(binds) > len(OLD_BINDS) else len(OLD_BINDS) // 3
    chance = random.Random(seed)  # noqa: S311 - test data
    first = chance.randrange(1, len(binds) - 1)
    ends = [end for end in range(first + 1, len(lines)) if (end - first) % each or end <= len(binds) - each]

    for end in chance.sample(ends, min(3, len(ends))):
        trace, rows = found(*lines[:first], *lines[end:])
        mixed = [row for row in _figures(trace) if not any(_is_part(row[1:], one) for one in whole)]
        assert not mixed or {kind for _, kind in rows} & {"cut"}, (first, end, mixed)


@pytest.mark.parametrize(
    ("whole", "damaged", "column"),
    [
        ("mxl=32(00)", "mxl=32x(00)", "max_length"),
        ("oacdty=01", "oacdty=01..", "data_type"),
        ("avl=00", "avl=00'", "length"),
        ("avl=00", "avl=99999999999999999999", "length"),
        ("mxl=32(00)", "wdv=32(00)", "max_length"),
        ("avl=00", "a  =00", "length"),
    ],
)
def test_a_number_of_a_bind_is_read_whole(whole: str, damaged: str, column: str) -> None:
    """A number that is none is null, and its bind is a diagnostic."""
    trace, rows = found("BINDS #3:", *(line.replace(whole, damaged) for line in _bind(0, '"a"')), CALL)

    assert trace.binds.get_column(column).to_list() == [None]
    assert rows == [(2, "cut")]


def test_values_of_binds_of_9i() -> None:
    """They stand behind three blanks; a value below another word is a diagnostic."""
    trace, rows = found("BINDS #3:", *OLD_BINDS, CALL)
    damaged = [line.replace("value=1", "valu =1") for line in OLD_BINDS]

    assert (trace.binds["value"].to_list(), rows) == (["0", "1", "2"], [])
    assert found("BINDS #3:", *damaged, CALL)[1] == [(5, "cut")]


def _figures(trace: Any) -> list[tuple[object, ...]]:  # noqa: ANN401 - as `found` gives it
    columns = ("line", "position", "data_type", "max_length", "length", "value")
    return trace.binds.select(columns).rows()


def _is_part(row: tuple[object, ...], whole: tuple[object, ...]) -> bool:
    return all(one is None or one == other for one, other in zip(row, whole, strict=True))


@pytest.mark.parametrize(
    "line", ["*** dCTION NAME:(load) 2026-03-02 21:00:00.000", "Unix pro     pid: 11, image: oracle"]
)
def test_a_line_of_the_head_with_figures_that_is_not_known(line: str) -> None:
    """It is a diagnostic; one without a figure is one of the head."""
    head = (
        "Trace file /u01/app/oracle/x.trc",
        "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production",
    )

    assert found(*head, line, CALL)[1] == [(3, "unparsed")]
    assert found(*head, "and other features of this product", CALL)[1] == []


def test_binds_without_an_end() -> None:
    """Values over several lines, a stamp between, a dump of memory, a value that is cut."""
    trace, rows = found(
        "BINDS #3:",
        " Bind#0",
        "  oacdty=01 mxl=32(02) mxlc=00 mal=00 scl=00 pre=00",
        "  oacflg=03 fl2=1 frm=01 csi=873 siz=24 off=0",
        "  kxsbbbfp=7fe9  bln=22  avl=14  flg=05",
        '  value="two',
        'lines of it"',
        " Bind#1",
        "  oacdty=01 mxl=32(02) mxlc=00 mal=00 scl=00 pre=00",
        "  oacflg=03 fl2=1 frm=01 csi=873 siz=0 off=24",
        "  kxsbbbfp=7fe9  bln=22  avl=05  flg=05",
        "*** 2026-03-02T21:00:00.000001+02:00",
        '  value="after"',
        " Bind#2",
        "  oacdty=112 mxl=32(02) mxlc=00 mal=00 scl=00 pre=00",
        "  oacflg=03 fl2=1 frm=01 csi=873 siz=0 off=48",
        "  kxsbbbfp=7fe9  bln=22  avl=00  flg=05",
        "  value=",
        "Dump of memory from 0x00007FE9C3CF3450 to 0x00007FE9C3CF3490",
        "7FE9C3CF3450 00000000 C1020000 00000000 00000000  [................]",
        " Bind#3",
        "  No oacdef for this bind.",
        CALL.replace("FETCH", "EXEC"),
    )

    assert trace.binds.select("position", "value", "is_null").rows() == [
        (0, "two\nlines of it", False),
        (1, "after", False),
        (2, None, True),
        (3, None, None),
    ]
    assert trace.binds.get_column("call").to_list() == [23] * 4
    assert [kind for _, kind in rows] == []


def test_foreign_text_is_listed_by_runs() -> None:
    """Lines of other parts of the database are one diagnostic a run."""
    trace, rows = found(CALL, "An audit record could not be written", "ORA-28035", WAIT, "kxsbbbfp", CALL)

    assert rows == [(2, "unparsed"), (5, "unparsed")]
    assert "2 lines" in trace.diagnostics.item(0, "reason")


def test_joined_late() -> None:
    """Without a head and without headers: calls and waits of unknown statements and processes."""
    trace, rows = found(WAIT, CALL)

    assert trace.calls.select("process", "statement", "sql_id", "wall").row(0) == (None, None, None, None)
    assert trace.waits.get_column("call").to_list() == [2]
    assert rows == []


def test_cursors_of_several_processes() -> None:
    """Slices of trcsess: the same cursor number is another cursor in another process."""
    other = HEADER.replace("2y17pb7bnmpt0", "0000000000000")
    trace, _ = found(
        *("*** [ Unix process pid: 11 ]", HEADER, "select 1 from dual", "END OF STMT"),
        *("*** [ Unix process pid: 12 ]", other, "select 2 from dual", "END OF STMT"),
        *("*** [ Unix process pid: 11 ]", WAIT, CALL, "*** [ Unix process pid: 12 ]", CALL),
    )

    assert trace.calls.select("process", "sql_id").rows() == [(11, "2y17pb7bnmpt0"), (12, "0000000000000")]
    assert trace.waits.select("process", "call").rows() == [(11, 11)]


def test_cursor_numbers_are_used_again() -> None:
    """A call belongs to the statement that its cursor held then."""
    other = HEADER.replace("2y17pb7bnmpt0", "0000000000000")
    trace, _ = found(
        HEADER, "select 1 from dual", "END OF STMT", CALL, other, "select 2 from dual", "END OF STMT", CALL
    )

    assert trace.calls.get_column("sql_id").to_list() == ["2y17pb7bnmpt0", "0000000000000"]


@pytest.mark.parametrize("name", ["10053", "deadlock", "profile", "nothing"])
def test_lookalikes_are_named(name: str) -> None:
    """What is no SQL trace is said by name, and no other reader takes it."""
    head = (
        "Trace file /u01/app/oracle/x.trc\n*** 2026-03-02 21:00:00.000\n*** SESSION ID:(1.2) 2026-03-02 21:00:00.000\n"
    )
    texts = {
        "10053": (head + "PARAMETERS USED BY THE OPTIMIZER\n", "optimizer"),
        "deadlock": (head + "DEADLOCK DETECTED ( ORA-00060 )\n", "deadlock"),
        "profile": ("**************** TVD$XTAT ****************\n", "profile of an SQL trace"),
        "nothing": (head, "without a record"),
    }
    text, word = texts[name]
    with pytest.raises(LogParseError, match=word):
        load_log(text.encode())
    with pytest.raises(LogParseError, match=word):
        read_sqltrace(text.encode())


def test_strict() -> None:
    """With strict, the first line that cannot be read is an error with its number."""
    with pytest.raises(LogParseError) as raised:
        read_sqltrace(f"{CALL}\nhello\n{CALL}".encode(), strict=True)

    assert raised.value.line == 2


@pytest.mark.parametrize("seed", range(40))
def test_any_damage(damaged: Any, seed: int) -> None:  # noqa: ANN401
    """Whatever is done to the lines, each is accounted for and nothing but a `LogParseError` is raised."""
    lines = damaged(seed)
    text = "\n".join(lines) + "\n"
    events = scan_sqltrace(text.encode()).collect()

    assert set(events.get_column("line")) == set(range(1, len(lines) + 1))
    trace = read_sqltrace(text.encode())
    fused = sum(int(reason.split()[0]) - 1 for reason in _reasons(trace, "repaired"))

    assert trace.kinds.get_column("lines").sum() == len(lines) + fused
    waits = sum(line.startswith("WAIT #") and " ela= " in line for line in lines)

    assert trace.waits.height <= waits + fused


def _reasons(trace: Any, kind: str) -> list[str]:  # noqa: ANN401
    found: list[str] = trace.diagnostics.filter(pl.col("kind") == kind).get_column("reason").to_list()
    return found


@pytest.mark.parametrize("line", ["EXEC #3:", "CLOSE #3:dep=0", "LOBREAD: type=PERSISTENT LOB,bytes=1"])
def test_a_call_that_says_nothing_is_the_only_one(line: str) -> None:
    """A trace whose only call is cut before its figures has no call, and a diagnostic."""
    wait = "WAIT #3: nam='db file sequential read' ela= 40 file#=1 block#=2 blocks=1 obj#=3 tim=1050"
    trace = read_sqltrace(f"{wait}\n{line}\n".encode())

    assert (trace.waits.height, trace.calls.height) == (1, 0)
    assert trace.diagnostics.get_column("line").to_list() == [2]


@pytest.mark.parametrize(
    "stamp", ["2026-13-02T10:00:00.000000", "2026-03-32 10:00:00.000", "2026-03-02T10:61:00.000000"]
)
def test_a_stamp_that_no_clock_shows_is_a_diagnostic(write: Any, stamp: str) -> None:  # noqa: ANN401 - a function
    """It says nothing of the clock, and its line is named."""
    lines = list(write("19.22.0.0.0", seed=4, rounds=2).lines)
    place = next(number for number, line in enumerate(lines) if line.startswith("WAIT "))
    whole = read_sqltrace("\n".join(lines).encode())
    damaged = read_sqltrace("\n".join([*lines[:place], f"*** {stamp}", *lines[place:]]).encode())

    assert damaged.diagnostics.height == whole.diagnostics.height + 1
    assert ("unparsed", f"*** {stamp}") in damaged.diagnostics.select("kind", "text").rows()
    assert_frame_equal(damaged.frames()["clock"].drop("line"), whole.frames()["clock"].drop("line"))


def test_calls_on_lobs() -> None:
    """A call on a LOB has its kind and its figures, and is among the calls."""
    trace, rows = found("LOBREAD: type=PERSISTENT LOB,bytes=8132,c=99,e=577,p=1,cr=8,cu=0,tim=5000100", CALL)

    assert trace.lobs.select("lob_type", "elapsed_us", "cpu_us").rows() == [("PERSISTENT LOB", 577, 99)]
    assert (trace.calls.height, rows) == (2, [])
    assert trace.describe() == "extended SQL trace, 2 calls, 0 waits"


def test_traces_of_two_processes() -> None:
    """Two traces in one file: each call has the process that was named last before it."""
    trace, _ = found("Unix process pid: 11, image: o", "", CALL, "Unix process pid: 12, image: o", "", CALL)

    assert trace.calls.get_column("process").to_list() == [11, 12]
    assert trace.describe().endswith(", 2 processes")


def test_a_trace_below_a_trace_of_the_optimizer() -> None:
    """A long trace of the optimizer may hold an SQL trace below what is looked at; a short one without is refused."""
    title, line = "PARAMETERS USED BY THE OPTIMIZER\n", "  cost of a plan\n"

    assert load_log(f"{title}{line * 8000}{CALL}\n".encode()).calls.height == 1
    with pytest.raises(LogParseError, match="a trace of the optimizer"):
        load_log(f"{title}{line}".encode())


@pytest.mark.parametrize("stamp", ["9999-12-31 23:59:59.900", "2026-09-14 20:00:00.000"])
def test_wall_clock_beyond_the_calendar_is_none(stamp: str) -> None:
    """No wall clock after the year 9999; the value of ``tim`` stays."""
    late = "999999999999999999"
    trace, _ = found(f"*** {stamp}", WAIT, WAIT.replace("tim=5000150", f"tim={late}"))

    assert trace.waits.get_column("tim_us").to_list() == [5_000_150, int(late)]
    assert trace.waits.get_column("wall").to_list()[1] is None
