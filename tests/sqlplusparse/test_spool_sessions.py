"""Whole sessions: what the files in spool_data must give."""

from pathlib import Path

import polars as pl
import pytest

from sqlplusparse import SPOOL_SCHEMAS, Spool, read_spool
from sqlplusparse.autotrace import AUTOTRACE_NAMES

DATA = Path(__file__).parent / "spool_data"
FILES = sorted(path for path in DATA.rglob("*") if path.is_file())
LANGUAGES = ("de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "zh_CN", "zh_TW")

Row = tuple[object, ...]


def rows(frame: pl.DataFrame, *columns: str) -> list[Row]:
    """Some columns of a frame as tuples."""
    return frame.select(columns).rows()


def read(name: str) -> Spool:
    """One of the data files."""
    return read_spool(DATA / name)


def test_there_are_sessions() -> None:
    """The folder of sessions is not empty, and holds every language."""
    assert len(FILES) >= 20
    assert {path.stem for path in FILES if path.parent.name == "languages"} == set(LANGUAGES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_line_is_accounted_for(path: Path) -> None:
    """Each physical line has one mark, and what is not read stands in the diagnostics."""
    spool = read_spool(path)
    text = path.read_bytes().decode(spool.encoding)
    lines = spool.lines()

    assert lines.height == len(text.splitlines()) if "\x1b" not in text else lines.height == text.count("\n")
    assert lines["line"].to_list() == list(range(1, lines.height + 1))
    assert set(lines["part"]) <= {"record", "non-record", "diagnostic"}
    refused = set(lines.filter(pl.col("part") == "diagnostic")["line"])
    assert refused <= set(spool.diagnostics["line"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_schemas(path: Path) -> None:
    """Every frame has its published schema, whatever the log holds."""
    spool = read_spool(path)
    for name, schema in SPOOL_SCHEMAS.items():
        frame = (
            {"lines": spool.lines, "runs": spool.runs}[name]() if name in {"lines", "runs"} else getattr(spool, name)
        )

        assert frame.schema == schema


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages(language: str) -> None:
    """A session reads the same in every client language and in its usual encoding."""
    spool = read(f"languages/{language}.log")

    assert rows(spool.statements, "text", "kind", "rows", "elapsed_s", "plan_hash_value", "physical_reads", "gets") == [
        ("create table t as select * from emp", "ddl", None, 0.7, None, None, None),
        ("select * from t", "select", 14, 0.7, 1601196873, 5, 7),
    ]
    assert spool.timings["language"].to_list() == [language, language]
    assert spool.autotrace["is_shown"].all()
    assert spool.plans["operation"].to_list() == ["SELECT STATEMENT", "SORT AGGREGATE", "TABLE ACCESS FULL"]
    assert set(spool.diagnostics["kind"]) <= {"encoding"}


def test_english_statements() -> None:
    """Text, kind, status, rows and time of each statement; an Elapsed goes to the statement before it."""
    spool = read("english.log")
    query = "select sum(amount) from sales\nwhere qty < 24\nand day >= date '2020-01-01'"

    assert rows(
        spool.statements, "text", "kind", "error", "rows", "elapsed_s", "plan_hash_value", "physical_reads"
    ) == [
        ("alter system flush buffer_cache", "alter system", None, None, 0.05, None, None),
        (query, "select", None, 1, 11.54, 2287344370, 1096001),
        (query, "select", None, 1, 3.2, 2287344371, 0),
        ("update sales set qty = 1 where day = date '2021-02-03'", "update", None, 0, 0.0, None, None),
        ("select * from no_such_table", "select", "ORA-00942", None, 0.01, None, None),
        ("begin\n  null;\nend;", "plsql", None, None, 0.02, None, None),
        ("select owner, n, share from parts", "select", None, 5, 0.31, None, None),
    ]
    assert spool.statements["flushed_before"].to_list() == [None, "buffer_cache", None, None, None, None, None]


def test_timer_is_no_statement() -> None:
    """The Elapsed of TIMING STOP is the timer's, not a statement's."""
    timings = read("english.log").timings.filter(pl.col("origin") == "timer")

    assert rows(timings, "statement", "label", "elapsed_s") == [(None, "timing for: load", 62.33)]


def test_elapsed_bounds() -> None:
    """A time of zero is under one tick, not zero; the resolution is the one shown."""
    timings = read("english.log").timings

    assert rows(timings.filter(pl.col("elapsed_s") == 0), "elapsed_s_lo", "elapsed_s_hi", "resolution_s") == [
        (0.0, 0.01, 0.01)
    ]
    assert rows(timings.filter(pl.col("elapsed_s") == 11.54), "elapsed_s_lo", "elapsed_s_hi") == [(11.535, 11.55)]
    assert rows(read("sqlcl.log").timings[0], "elapsed_s_lo", "elapsed_s_hi", "resolution_s") == [
        (0.2755, 0.277, 0.001)
    ]


def test_grid_pages_joined_and_typed() -> None:
    """A grid over two pages is one, blank rows within it do not end it, and ``####`` is null."""
    spool = read("english.log")

    assert rows(spool.tables[2], "statement", "row_count", "pages", "is_folded") == [(7, 5, 2, False)]
    assert spool.table(3).rows() == [
        ("APP", 10.0, 25.5),
        ("APP", 3.0, 0.5),
        ("HR", 1204.0, None),
        (None, 77.0, None),
        ("SYS", 9.0, 1.2e9),
    ]
    assert spool.table(3, printed=True).columns == ["OWNER", "N", "N_lo", "N_hi", "SHARE", "SHARE_lo", "SHARE_hi"]
    with pytest.raises(IndexError, match="no table 9"):
        spool.table(9)


def test_piped_session() -> None:
    """Run-on prompts, tabs, a folded grid and rows cut at the line size: one statement, complete."""
    spool = read("piped.md")

    assert rows(spool.statements, "text", "prompt", "kind", "rows", "elapsed_s", "physical_reads", "gets") == [
        (None, "SQL>", "select", 2, 3.38, 9, 208232)
    ]
    assert spool.table(1).rows() == [
        (9994.37, "Client#000030084", "GERMANY", "slow but steady"),
        (8121.02, "Client#000000001", "FRANCE", "none"),
    ]
    assert spool.autotrace["value"].to_list() == [133, 3, 208229, 9, 464, 973311, 4447, 313, 33, 0, 2]
    assert rows(spool.plans, "id", "parent_id", "operation", "e_rows", "cost", "e_time_s") == [
        (0, None, "SELECT STATEMENT", 171.0, 5927.0, 1.0),
        (1, 0, "SORT ORDER BY", 171.0, 5927.0, 1.0),
        (2, 1, "TABLE ACCESS FULL", 192000.0, 5926.0, 1.0),
    ]
    assert spool.plans["predicates"].to_list()[2] == [
        (
            "filter(\"C_KIND\"='A' AND \"C_DAY\">=TO_DATE(' 1994-01-01 00:00:00', 'syyyy-mm-dd hh24:mi:ss')"
            ' AND "C_SIZE"<=7)'
        )
    ]
    assert spool.diagnostics["kind"].value_counts().sort("kind").rows() == [("missing", 2), ("repaired", 4)]


def test_sqlcl_session() -> None:
    """SQLcl: milliseconds, odd prompts, underscored rules, an error report, statistics that leave zeros out."""
    spool = read("sqlcl.log")

    assert rows(spool.statements, "text", "error", "elapsed_s", "physical_reads", "gets", "plan_hash_value") == [
        ("drop view activity_v", "ORA-00942", 0.276, None, None, None),
        ("select part, total from shares", None, 0.153, None, None, None),
        ("select count(*) from shares", None, 0.041, 0, 7, 3073155731),
    ]
    shown = spool.autotrace.filter("is_shown")
    assert rows(shown, "name", "value")[:2] == [("Requests to/from client", 28), ("consistent gets", 7)]
    hidden = dict(spool.autotrace.filter(~pl.col("is_shown")).select("name", "value").iter_rows())
    assert hidden == {
        name: None if name == "rows processed" else 0 for name in AUTOTRACE_NAMES if name != "consistent gets"
    }
    assert spool.table(1).rows() == [("north", 12.5), ("south", 0.5)]


def test_old_plan_and_short_list() -> None:
    """The plan layout before 10gR2 has parents and costs; a statistic that SQL*Plus does not show is null."""
    spool = read("old_plan.txt")

    assert rows(spool.plans, "id", "parent_id", "depth", "operation", "object_name", "cost", "e_rows") == [
        (0, None, 0, "SELECT STATEMENT Optimizer=ALL_ROWS", None, 27.0, 9.0),
        (1, 0, 1, "NESTED LOOPS", None, 27.0, 9.0),
        (2, 1, 2, "TABLE ACCESS (BY INDEX ROWID)", "ORDERS", 4.0, 6.0),
        (3, 2, 3, "INDEX (RANGE SCAN)", "ORD_PK", 2.0, 6.0),
        (4, 1, 2, "TABLE ACCESS (FULL)", "ITEMS", 2.0, 1.0),
    ]
    assert rows(spool.statements, "consistent_gets", "physical_reads") == [(320, 0), (1224, None)]
    assert spool.diagnostics["kind"].to_list() == ["cut"]


def test_allstats_plan() -> None:
    """A cursor's own plan: starts, actual rows and times, memory with its passes, predicates."""
    spool = read("allstats.log")

    assert rows(spool.plans[2], "plan_source", "sql_id", "child_number", "a_rows", "a_time_s", "buffers", "reads") == [
        ("cursor", "7hm3k2d9q0abc", 0, 99997.0, 1.21, 103000.0, 2086.0)
    ]
    assert rows(spool.plans[2], "used_mem", "passes", "predicates") == [
        (7876 * 1024.0, 1, ['access("I"."ORD"="O"."ID")'])
    ]
    assert rows(spool.statements, "kind", "rows", "elapsed_s", "plan_hash_value") == [("select", 24, 0.11, None)]
    assert rows(read_spool(DATA / "allstats.log", printed=True).plans[2], "buffers_lo", "buffers_hi") == [
        (102500.0, 103500.0)
    ]


def test_transcript_in_comments() -> None:
    """A transcript pasted into comments is read, an Elapsed before the end of a comment too."""
    spool = read("commented.sql")

    assert rows(spool.statements, "text", "rows", "elapsed_s", "plan_hash_value") == [
        ("select count(*)\nfrom orders", 1, 5621.05, None),
        (None, None, None, 1493611343),
        (None, None, 439.25, None),
    ]


def test_terminal_escapes() -> None:
    """`script` output: escapes and backspaces are taken out."""
    assert rows(read("typescript").statements, "text", "elapsed_s") == [("select count(*) from orders", 0.42)]


def test_article_text() -> None:
    """Elapsed lines between prose are found; look-alikes and a page run into one line are not."""
    spool = read("article.txt")

    assert spool.timings["elapsed_s"].to_list() == [63.27, 19.23, 9.16, 9.17, 9.28]
    assert rows(spool.diagnostics.filter(pl.col("kind") == "damaged"), "line") == [(17,)]
    assert spool.lines()["role"].to_list()[-1] == "unparsed"


@pytest.mark.parametrize("flags", ["\r\n", "bom"])
def test_line_ends_and_marks(flags: str) -> None:
    """Carriage returns and a byte order mark change nothing."""
    data = (DATA / "english.log").read_bytes()
    changed = data.replace(b"\n", b"\r\n") if flags == "\r\n" else b"\xef\xbb\xbf" + data

    assert read_spool(changed).statements.equals(read_spool(data).statements)


@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_indented_copies(indent: str) -> None:
    """A transcript indented in notes reads as the original."""
    lines = (DATA / "english.log").read_text().splitlines()
    spool, copy = read("english.log"), read_spool("\n".join(indent + line for line in lines).encode())

    assert copy.statements.equals(spool.statements)
    assert copy.autotrace.equals(spool.autotrace)
    assert copy.plans.equals(spool.plans)
    assert [copy.table(place).rows() for place in (1, 2, 3)] == [spool.table(place).rows() for place in (1, 2, 3)]


@pytest.mark.parametrize("mark", ["> ", ">", "> > "])
def test_quoted_copies(mark: str) -> None:
    """A transcript quoted in Markdown reads as the original."""
    lines = (DATA / "english.log").read_text().splitlines()
    spool, copy = read("english.log"), read_spool("\n".join((mark + line).rstrip() for line in lines).encode())

    assert copy.statements.equals(spool.statements)
    assert copy.autotrace.equals(spool.autotrace)
    assert copy.plans.equals(spool.plans)
    assert copy.lines().equals(spool.lines())


def test_quotation_without_transcript() -> None:
    """Quoted prose between sessions stays text, marks and all; so does what goes on with a client command."""
    spool = read_spool(b"> slow, they said\n\nSQL> column a -\n> format a9\nSQL> commit;\n\nCommit complete.\n")

    assert spool.lines()["role"].to_list() == ["text", "blank", "command", "command", "input", "blank", "feedback"]
    assert spool.statements["text"].to_list() == ["commit"]


@pytest.mark.parametrize("command", ["host ls -l *.dbf", "HO ls", "!ls", "$dir"])
def test_commands_of_the_system(command: str) -> None:
    """What is given to the operating system is a statement with its text, output and time; the buffer stays."""
    query = "SQL> select 1 from dual;\n\nElapsed: 00:00:00.02\n"
    spool = read_spool(
        f"{query}SQL> {command}\nusers01.dbf\n\nElapsed: 00:00:01.50\nSQL> /\n\nElapsed: 00:00:00.01\n".encode()
    )

    assert rows(spool.statements, "text", "kind", "elapsed_s") == [
        ("select 1 from dual", "select", 0.02),
        (command, "host", 1.5),
        ("select 1 from dual", "select", 0.01),
    ]
    assert spool.lines()["statement"].to_list() == [1, 1, 1, 2, 2, 2, 2, 3, 3, 3]
    assert spool.diagnostics.height == 0


def test_repeated_commands_are_runs() -> None:
    """A program run again and again from the client is a sample; a command that printed nothing is no statement."""
    spool = read_spool(b"SQL> host sync\n" + b"SQL> host ./reader\n\nElapsed: 00:00:02.%d6\n\n" % 1 * 3)

    assert rows(spool.runs(), "sample", "run", "text", "elapsed_s") == [
        (1, run, "host ./reader", 2.16) for run in (1, 2, 3)
    ]


def test_long_statement() -> None:
    """A statement of more than 1000 numbered lines keeps every line as it was typed."""
    typed = ["begin", *(f"  step_{number};" for number in range(1200)), "end;"]
    numbered = [f"SQL> {typed[0]}", *(f"{number:>3}  {line}" for number, line in enumerate(typed[1:], 2))]
    spool = read_spool("\n".join([*numbered, "1203  /", "", "PL/SQL procedure successfully completed.", ""]).encode())

    assert rows(spool.statements, "kind", "text") == [("plsql", "\n".join(typed))]


def test_missing_last_newline() -> None:
    """A log that ends in mid-line, without a line feed, loses nothing of what stands there."""
    data = (DATA / "languages" / "en.log").read_bytes()
    cut = data[: data.index(b"rows processed") + len(b"rows processed")]

    assert read_spool(cut).autotrace["value"].to_list()[-1] == 14


def test_output_of_functions() -> None:
    """Text printed between a result and its Elapsed belongs to the query; what is done next does not."""
    grid = b"         N\n----------\n         1\n\n"
    spool = read_spool(grid + b":1:,2,:\nElapsed: 00:00:00.04\n\nPL/SQL procedure successfully completed.\n")

    assert rows(spool.statements, "kind", "elapsed_s") == [("select", 0.04), ("plsql", None)]
    spool = read_spool(grid + b"then\n\nPL/SQL procedure successfully completed.\n\nElapsed: 00:00:00.13\n")
    assert rows(spool.statements, "kind", "elapsed_s") == [("select", None), ("plsql", 0.13)]


def test_procedure_and_result() -> None:
    """A result below a procedure that a script shows is another statement's."""
    spool = read_spool(b"begin\n  p;\nend;\n/\n\n         N\n----------\n         1\n\n1 row selected.\n")

    assert rows(spool.statements, "text", "kind", "rows") == [("begin\n  p;\nend;", "plsql", None), (None, "select", 1)]
