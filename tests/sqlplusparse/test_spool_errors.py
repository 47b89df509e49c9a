"""Bad input: other logs, damaged logs, mutated logs: errors of our own or diagnostics, never a library's traceback."""

import random
from pathlib import Path

import polars as pl
import pytest

from logframe import LogNotFoundError, LogParseError
from sqlplusparse import read_spool, read_spools

DATA = Path(__file__).parent / "spool_data"
FILES = sorted(path for path in DATA.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (bytes(range(256)) * 40, "no text"),
        (b"once upon a time\n", "no session"),
        (b"WAIT #5: nam='db file sequential read' ela= 977 file#=7 tim=13\n", "10046"),
        (b"TKPROF: Release 19.0.0.0.0 - Development on Mon Nov 2\n", "TKPROF"),
        (b"WORKLOAD REPOSITORY report for\n\nDB Name  DB Id\n-------- -----\nLAB          7\n", "AWR"),
        (b"STATSPACK report for\n\nDatabase DB Id\n-------- -----\n       1     7\n", "Statspack"),
        (b'0.000012 pread64(7, "", 8192, 0) = 8192\n', "strace"),
        (b"Trace file /u01/diag/lab_ora_7.trc\n*** SESSION ID:(7.1)\n", "trace file"),
        (b"14 rows selected. Elapsed: 00:00:05.85 Statistics 1 recursive calls 7092 consistent gets\n", "run together"),
    ],
)
def test_refused(data: bytes, message: str) -> None:
    """What is no session is refused in one line that says what it is and what to try."""
    with pytest.raises(LogParseError, match=message) as caught:
        read_spool(data)
    assert caught.value.message


def test_missing_path() -> None:
    """A path that is not there says so."""
    with pytest.raises(LogNotFoundError, match="no such file"):
        read_spool("no/such/spool.log")


def test_trace_within_a_session() -> None:
    """Trace lines shown in a session are noted and not read."""
    log = b"SQL> host cat x.trc\n\nWAIT #5: nam='x' ela= 1 tim=13\n\nSQL> commit;\n\nCommit complete.\n"

    assert read_spool(log).diagnostics.select("line", "kind").rows() == [(3, "foreign")]


@pytest.mark.parametrize(
    ("log", "kind", "line"),
    [
        (b"Elapsed: 00:00:01.00\n\n| Id  | Operation | Name |\n|   0 | SELECT |\n", "unparsed", 4),
        (b"Statistics\n-----\n     #####  redo size\n", "overflow", 3),
        (b"Elapsed: 00:00:01.00\n5 rows selected. Elapsed: 00:00:01.00 7 consistent gets\n", "damaged", 2),
    ],
)
def test_strict(log: bytes, kind: str, line: int) -> None:
    """`strict` raises where the diagnostics would have a row."""
    assert (line, kind) in read_spool(log).diagnostics.select("line", "kind").rows()
    with pytest.raises(LogParseError) as caught:
        read_spool(log, strict=True)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "path", [DATA / "sqlcl.log", DATA / "snapper.txt", DATA / "loop.log"], ids=lambda path: path.name
)
def test_strict_takes_good_logs(path: Path) -> None:
    """`strict` does not mind failed statements, guesses and notes."""
    assert read_spool(path, strict=True).statements.height


@pytest.mark.parametrize("pattern", ["(", r"took (\d+)", r"(?P<label>x)", r"(?P<ms>1)(?P<us>2)"])
def test_timing_pattern(pattern: str) -> None:
    """A pattern that cannot be used is refused with a reason."""
    with pytest.raises(LogParseError, match="timing pattern"):
        read_spool(DATA / "loop.log", timing_pattern=pattern)


def test_unknown_label_is_reported() -> None:
    """An Elapsed in a language nobody knows is read by its shape, and reported."""
    spool = read_spool("Geçen zaman: 00:00:01.25\n".encode())

    assert spool.timings.select("label", "language", "elapsed_s").rows() == [("Geçen zaman", None, 1.25)]
    assert "unknown_name" in spool.diagnostics["kind"].to_list()


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("Elapsed: 00:00:61.00", 16, "seconds"),
        ("  Elapsed:   15.02 (mins)", 16, "clock colon"),
        ("Abgelaufen: 00:00:05", 19, "seconds"),
    ],
)
def test_look_alike_is_explained(line: str, column: int, expected: str) -> None:
    """A line that only begins like an Elapsed line is reported with the column and what was expected there."""
    found = read_spool(f"Elapsed: 00:00:01.00\n\n{line}\n".encode())

    assert found.timings.height == 1
    assert found.lines()["role"][2] == "unparsed"
    kind, place, reason = found.diagnostics.filter(pl.col("line") == 3).select("kind", "column", "reason").row(0)
    assert (kind, place) == ("unparsed", column)
    assert expected in reason


def test_word_prompts() -> None:
    """A word and ``>`` is a prompt before a statement, and text elsewhere."""
    spool = read_spool(b"qty> 5 is what we want\nlab_high> select 1 from dual;\n\nElapsed: 00:00:00.01\n")

    assert spool.statements.select("prompt", "text").rows() == [("lab_high>", "select 1 from dual")]
    assert spool.lines()["role"].to_list()[0] == "text"


def test_read_spools_needs_a_frame() -> None:
    """A frame that does not exist is refused before anything is read."""
    for table in ("plan", "diagnostics", ()):
        with pytest.raises(LogParseError, match="no frame"):
            read_spools(DATA / "english.log", table=table)


def test_read_spools() -> None:
    """Several logs as one frame, each row with its log; one that is no session stops nothing."""
    logs = [DATA / "english.log", b"\x00\x01\x02", DATA / "sqlcl.log", b"", DATA / "sqlcl.log"]
    found = read_spools(logs, table=["timings", "plans"], printed=True)

    counts = found.frame.group_by("source", maintain_order=True).len()["len"].to_list()
    assert counts == [8, 3, 3]
    assert {"e_rows_lo", "source"} <= set(found.frames["plans"].columns)
    unreadable = found.diagnostics.filter(pl.col("kind") == "unreadable")
    assert unreadable.select("source", "reason").rows() == [
        ("<bytes>", "the log is no text"),
        ("<bytes> (2)", "the log is empty"),
    ]
    assert set(found.frame["source"]) >= {f"{DATA / 'sqlcl.log'}", f"{DATA / 'sqlcl.log'} (2)"}


LONG = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        "{} rows selected.",
        "      {}  consistent gets",
        "Plan hash value: {}\n\n---\n| Id  | Operation | Name |\n---\n|   0 | SELECT STATEMENT | T |",
        "---\n| Id  | Operation | Cost (%CPU)|\n---\n|   {} | SELECT STATEMENT | 3 ({})|\n|   1 | SORT | 3 ({})|",
        "SQL_ID  7hm3k2d9q0abc, child number {}\n\n---\n| Id  | Operation | Name |\n---\n|   0 | SELECT | T |",
        "Execution Plan\n---\n   0      SELECT STATEMENT (Cost={})\n   {}    0   SORT",
        "SID NAME VALUE\n--- -------------- -----\n{} physical reads {}",
        "  {}, SCOTT, STAT, physical reads, {}, 1,,",
        "Interval:- {} seconds\n----\nName             Value\n---- -----\nphysical reads      {}",
        "N\n---\n{}",
        "took {} s",
        "took {}:1 s",
    ],
)
def test_numbers_beyond_reason(text: str) -> None:
    """A number of thousands of digits breaks nothing."""
    for digits in (LONG, LONG[:30]):
        log = "Elapsed: 00:00:01.00\n\n" + text.replace("{}", digits) + "\n"
        spool = read_spool(log.encode(), timing_pattern=r"took (?:(?P<minutes>\S+):)?(?P<seconds>[\d.]+) s")

        assert spool.timings["elapsed_s"][0] == 1.0
        assert spool.plans.height + spool.runs().height + spool.record().height >= 0
        for table in range(1, spool.tables.height + 1):
            assert spool.table(table).height


def mutations(data: bytes, seed: int) -> list[bytes]:
    """A log cut short, with lines dropped, doubled, joined, shuffled, indented, and with bytes changed."""
    chance = random.Random(seed)  # noqa: S311 - the same mutations every time
    lines = data.split(b"\n")
    places = [chance.randrange(len(lines)) for _ in range(6)]
    dropped = [line for place, line in enumerate(lines) if place not in places]
    doubled = [line for place, line in enumerate(lines) for _ in range(1 + (place in places))]
    joined = b"\n".join(lines[:-1]).replace(b"\n", b" ", 5)
    shuffled = lines[:]
    chance.shuffle(shuffled)
    changed = bytearray(data)
    for _ in range(20):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return [
        data[: chance.randrange(1, len(data))],
        data[chance.randrange(len(data) - 1) :],
        b"\n".join(dropped),
        b"\n".join(doubled),
        joined,
        b"\n".join(shuffled),
        b"\n".join(b"    " + line for line in lines),
        b"\n".join(line.rstrip() for line in lines if line.strip()),
        bytes(changed),
        data.replace(b" ", b""),
        data.replace(b"|", b""),
        data.replace(b"-", b"="),
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_mutated_logs_survive(path: Path) -> None:
    """Whatever is done to a log, it is read with every line accounted for, or refused by an error of our own."""
    for seed in range(3):
        for data in mutations(path.read_bytes(), seed):
            try:
                spool = read_spool(data)
            except LogParseError:
                continue
            refused = spool.lines().filter(pl.col("part") == "diagnostic")["line"]
            assert set(refused) <= set(spool.diagnostics["line"])
            for table in range(1, spool.tables.height + 1):
                assert (
                    spool.table(table).height == spool.tables["row_count"][table - 1]
                    or spool.tables["is_folded"][table - 1]
                )
            spool.runs()
            spool.record()
