"""Every number of a log is in a cell of the right row, or a status says where it is; a changed frame is noticed."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from awr_tables import NO_TEXT, OTHERS, as_html, as_text, eras, printed
from spool_client import Settings, session
from spool_client import printed as printed_session
from transformations import lines_of, paged, wrapped

sys.path.insert(0, str(Path(__file__).parents[2]))

import iolab
from awrparse import TABLES, read_awr
from fuzz.perturbation import GOOD, Perturbation, perturbed
from logframe import LogError, open_log
from logframe.formats import formats
from logframe.provenance import account

if TYPE_CHECKING:
    from logframe.formats import ParsedLog
    from logframe.provenance import Part

#: Tables whose rows are written by `awr_tables` as reports print them.
WRITTEN = [table for table in TABLES.values() if table.name not in OTHERS]
#: Of changed numbers so many may change other cells: the process of a line says which calls belong together.
WRONG = 0.005
#: What is done to a frame must be noticed at least so often: a row may hold a number twice.
NOTICED = 0.9


def statuses(frame: pl.DataFrame) -> dict[str, int]:
    """How many numbers have each status."""
    return dict(frame.group_by("status").len().sort("status").rows())


@pytest.mark.parametrize("form", ["text", "html"])
@pytest.mark.parametrize("table", WRITTEN, ids=lambda table: table.name)
def test_tables_of_reports(table: object, form: str) -> None:
    """Each number of a generated table is in its frame, whatever the era of the headings."""
    if form == "text" and table.name in NO_TEXT:
        pytest.skip("its text form has SQL text below each row")
    for era in sorted({0, eras(table) - 1}):
        one = printed(table, era)
        report = read_awr((as_html if form == "html" else as_text)(one).encode(), printed=True)
        found = iolab.provenance(report).filter(pl.col("status") != "layout")
        lost = found.filter(pl.col("status").is_in(["lost", "raw"]))
        assert lost.select("line", "text", "frame").rows() == []
        assert found.height >= sum(cell.endswith(".5") for row in one.rows for cell in row)


@pytest.mark.parametrize("seed", range(12))
def test_rows_that_are_printed_side_by_side(seed: int) -> None:
    """Begin and end alternate in a row, which is two of the frame; whichever of them are equal, none is lost."""
    chance = random.Random(seed)  # noqa: S311 - test data
    names = (
        "PGA Aggr Target",
        "Auto PGA Target",
        "PGA Mem Alloc",
        "Auto Workareas",
        "Manual Workarea",
        "Global Mem Bound",
    )
    row = [f"{chance.choice((0, 102.25, 465.5, 1024)):.2f}" for _ in names for _ in range(2)]
    heads = "".join(f"<th>{name} {edge}</th>" for name in names for edge in ("Begin", "End"))
    cells = "".join(f"<td>{cell}</td>" for cell in row)
    page = f"""<html><body><h1>WORKLOAD REPOSITORY REPORT (RAC)</h1><h3>PGA Aggregate Target Statistics</h3>
<table><tr><th>I#</th>{heads}</tr><tr><td>1</td>{cells}</tr></table></body></html>"""
    found = iolab.provenance(read_awr(page.encode())).filter(pl.col("cell") > 1, pl.col("status") != "layout")
    assert found.select("text", "status", "frame_row").rows() == [
        (cell, "typed", place % 2) for place, cell in enumerate(row)
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(echo=False), Settings(pagesize=9, linesize=40), Settings(colsep="|", autocommit=True)],
    ids=["usual", "no echo", "narrow", "bars"],
)
def test_sessions(seed: int, settings: Settings) -> None:
    """Each number that a session's client printed is in a frame, or text of a statement or a program."""
    text = printed_session(session(seed), settings).encode()
    assert "lost" not in statuses(iolab.provenance(iolab.load(text, format="sqlplus"), text))


@pytest.mark.parametrize("folder", ["awr_series", "captures", "host", "runs", "sqltrace", "articles"])
def test_samples(sample_data: Path, folder: str) -> None:
    """No number of the project's own logs is lost."""
    paths = [path for path in sorted((sample_data / folder).iterdir()) if path.suffix != ".csv"]
    lost = []
    for path in paths[:6]:
        log = iolab.load(path)
        if formats()[log.format].places is not None:
            lost += iolab.provenance(log).filter(pl.col("status") == "lost").select("line", "text", "frame").rows()
    assert lost == []


def parts_of(log: ParsedLog, source: object) -> list[Part]:
    """What the log's format says of its places."""
    places = formats()[log.format].places
    assert places is not None
    return places(log, source)


def with_frame(parts: list[Part], name: str, frame: pl.DataFrame) -> list[Part]:
    """The parts with another frame under a name."""
    for part in parts:
        if name in part.frames:
            part.frames = {**part.frames, name: frame}
    return parts


SOURCES = {
    "report": "awr_series/awrrpt_1_4102_4103.txt",
    "page": "awr_series/awrrpt_1_4110_4111.html",
    "session": "articles/004_exadata_flash_cache.txt",
    "strace": "captures/scattered_direct_f_ttt_T_y.strace",
    "trace": "sqltrace/orders_disk_ora_4890.trc",
    "tkprof": "sqltrace/orders_flash_ora_4711.prf",
    "host": "host/iostat.out",
}


def typed_cells(found: pl.DataFrame, seed: int, count: int = 40) -> list[tuple[str, str, int]]:
    """Some cells that hold a number of several digits, one a row of a frame."""
    typed = found.filter((pl.col("status") == "typed") & (pl.col("text").str.len_chars() > 2))
    rows = typed.unique(["frame", "frame_row"], maintain_order=True).select("frame", "frame_column", "frame_row").rows()
    return random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311 - test data


def typed_count(found: pl.DataFrame) -> int:
    """How many numbers are typed."""
    return found.filter(pl.col("status") == "typed").height


@pytest.mark.parametrize("kind", SOURCES)
def test_empty_rows_are_noticed(sample_data: Path, kind: str) -> None:
    """Rows that a reader left empty in every frame: none of their numbers is typed."""
    path = sample_data / SOURCES[kind]
    log = iolab.load(path)
    parts = parts_of(log, path)
    found = account(parts, log.diagnostics).filter(pl.col("status") == "typed")
    chosen = random.Random(3).sample(sorted(set(found["line"])), 5)  # noqa: S311 - test data
    key = ["table", "table_row"] if found["table"].count() else ["line"]
    keys = [row[0] if len(row) == 1 else row for row in found.filter(pl.col("line").is_in(chosen)).select(key).rows()]
    for part in parts:
        for claim in {(claim.frame, claim.row) for one in keys for claim in part.claims.get(one, ())}:
            frame = part.frames[claim[0]]
            is_kept = pl.int_range(frame.height) != claim[1]
            part.frames = {**part.frames, claim[0]: frame.select(pl.when(is_kept).then(pl.all()))}
    after = account(parts, log.diagnostics).filter(pl.col("status") == "typed")
    assert set(keys).isdisjoint(row[0] if len(row) == 1 else row for row in after.select(key).rows())


@pytest.mark.parametrize("kind", ["report", "page", "trace", "tkprof"])
def test_dropped_cells_are_noticed(sample_data: Path, kind: str) -> None:
    """A cell that a reader left empty makes its number lost."""
    path = sample_data / SOURCES[kind]
    log = iolab.load(path)
    parts = parts_of(log, path)
    found = account(parts, log.diagnostics)
    cells = typed_cells(found, seed=1)
    for name, column, row in cells:
        frame = next(part.frames[name] for part in parts if name in part.frames)
        is_kept = pl.int_range(frame.height) != row
        parts = with_frame(parts, name, frame.with_columns(pl.when(is_kept).then(pl.col(column)).alias(column)))
    assert cells
    assert typed_count(found) - typed_count(account(parts, log.diagnostics)) >= NOTICED * len(cells)


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "session"])
def test_swapped_rows_are_noticed(sample_data: Path, kind: str) -> None:
    """Rows of a frame that change places: their numbers are found in neither."""
    path = sample_data / SOURCES[kind]
    log = iolab.load(path)
    parts = parts_of(log, path)
    found = account(parts, log.diagnostics)
    swapped = 0
    touched: set[tuple[str, int]] = set()
    for name, column, row in typed_cells(found, seed=2):
        frame = next(part.frames[name] for part in parts if name in part.frames)
        values = frame[column].to_list()
        others = (place for place, value in enumerate(values) if value not in {values[row], None})
        other = next((place for place in others if (name, place) not in touched), None)
        if other is None or (name, row) in touched:
            continue
        touched |= {(name, row), (name, other)}
        order = list(range(frame.height))
        order[row], order[other] = order[other], order[row]
        parts = with_frame(parts, name, frame[order])
        swapped += 1
    assert swapped
    assert typed_count(found) - typed_count(account(parts, log.diagnostics)) >= NOTICED * swapped


def test_another_digit(sample_data: Path) -> None:
    """Another digit in a number is another value in the cell that is said to hold it, and in no other such cell."""
    others = {".py", ".c", ".md"}
    paths = [path for path in sorted(sample_data.rglob("*")) if path.is_file() and path.suffix not in others]
    outcomes = perturbed(paths, numbers=30, lines=120)
    wrong = [one for one in outcomes if one.outcome not in GOOD]
    assert len(outcomes) > 1000
    assert len(wrong) <= WRONG * len(outcomes), wrong


def as_page(title: str, *rows: list[str]) -> str:
    """A table of a page with its headings and a row."""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f'<h3 class="awr">{title}</h3>\n<table border="0" summary="{title}">\n{lines}</table>\n'


#: Lines that print a number twice, or one equal to it.
TWICE = {
    "a name that holds a number": (
        "COMM             PID    TYPE DEV      BLOCK        BYTES     LATms\n"
        "flush:16-1279    1279   W    202,16   6132632      20480      0.52\n"
    ),
    "a length in brackets": (
        "*** SESSION ID:(1.1) 2020-01-01 00:00:00.000\n"
        "PARSING IN CURSOR #1 len=13 dep=0 uid=0 oct=3 lid=0 tim=9 hv=1 ad='0' sqlid='a1'\nselect :1 from t\n"
        "END OF STMT\nBINDS #1:\n Bind#0\n  oacdty=01 mxl=32(05) mxlc=00 mal=00 scl=00 pre=00\n"
        '  kxsbbbfp=2a96  bln=32  avl=05  flg=05\n  value="mxl=7 dty=8"\n'
        "EXEC #1:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=0,tim=12\n"
    ),
    "a name of JSON": (
        '{"fio version" : "fio-3.33",\n"jobs" : [{"jobname" : "rr",\n"read" : {"clat_ns" : {"percentile" : {\n'
        '"99.000000" : 47,\n"0.00" : 0\n}}}}]}\n'
    ),
    "a row of two tables": (
        "Linux 3.10.0 (h) \t06/01/2020 \t_x86_64_\t(2 CPU)\n\n"
        "03:16:19 PM  CPU    intr/s\n03:16:21 PM    0     55.00\n\n"
        "03:16:19 PM  CPU    0/s    1/s    8/s    NMI/s\n03:16:21 PM    0   0.00   0.00   0.00   5.00\n"
    ),
    "rows of two frames": (
        "~~BEGIN-MAIN-METRICS~~\n\n"
        "snap       dur_m      end            inst       os_cpu     aas        read_mb_s\n"
        "---------- ---------- -------------- ---------- ---------- ---------- ----------\n"
        "1          60         26/03/02 13:01 1          1.000      722.039    1.000\n\n~~END-MAIN-METRICS~~\n"
    ),
    "rows of one line of a page, and of a table that prints them again": (
        "<html><head><title>AWR RAC Report for DB: FIG, Snaps: 10-11</title></head><body>\n"
        + as_page("Time Model", ["I#", "DB time (s)", "DB CPU (s)", "bg time (s)"], ["1", "0.00", "0.00", "0.00"])
        + as_page("Time Model - % of DB time", ["I#", "% DB time DB CPU", "% Total bg time"], ["1", "0.00", "0.00"])
        + as_page("Wait Classes - % of Total DB time", ["I#", "% DB time User I/O", "DB CPU"], ["1", "0.00", "0.00"])
        + "</body></html>"
    ),
    "words in brackets behind a row": (
        "  8,0    3        1     0.000000000   594  Q FWS 43781957 + 17 [0]\n"
        "  8,0    2        7     0.001628764     0  C  FN 0 [0]\n"
        "  8,0    2        9     0.001843458     0  C WSM 43781957 + 17 [0]\n"
    ),
    "keys of JSON": '{"read": {"1": 2.5e-05, "5": 3.5e-05, "10": 4.5e-05}, "write": {"1": 5e-06, "5": 5e-06}}\n' * 2,
    "nanoseconds": (
        "1795253115.947632565 (+     0.000013276) close(3) = 0 <0.000005303>\n"
        "1795253115.947647658 (+     0.000015037) close(4) = 0 <0.000004604>\n"
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_a_number_that_a_line_prints_twice(name: str) -> None:
    """Equal numbers of a line are told apart: the cell changes with the one that is said to be in it."""
    outcomes = list(Perturbation(TWICE[name]).run(100))

    assert len(outcomes) > 1
    assert [one for one in outcomes if one.outcome not in GOOD] == []


def test_an_interval_that_each_table_prints() -> None:
    """The row of several tables has their interval once: the others repeat it, and none is lost."""
    text = (
        b"# hostname;interval;timestamp;proc/s;cswch/s\nfig;31;2024-04-18 13:20:19 UTC;1.00;2.00\n"
        b"# hostname;interval;timestamp;pswpin/s;pswpout/s\nfig;31;2024-04-18 13:20:19 UTC;3.00;4.00\n"
    )
    found = statuses(iolab.provenance(iolab.load(text), text))

    assert "lost" not in found
    assert found["typed"] == 6


def test_a_format_that_does_not_say(sample_data: Path) -> None:
    """A format without places is an error that says so."""
    log = iolab.load(sample_data / "articles" / "001_dtrace_profile.txt")
    with pytest.raises(LogError, match="does not say where"):
        iolab.provenance(log)


def test_figures_of_a_session_that_are_none_of_its_results() -> None:
    """Snapper's last line has the seconds of its rows; what somebody wrote beside a row is text."""
    snapper = (
        "SQL> @snapper all 5 1 77\n\n"
        "  77  @1, HR , STAT, session logical reads     ,      64245,    491.59,         ,       ,    ,     ,\n"
        "--  End of Stats snap 1, end=2026-11-02 20:50:06, seconds=130.7\n"
    )
    grid = "SQL> select name, n from t;\n\nNAME              N\n-------- ----------\n"
    rows = f"{grid}red               1 <-- the first of 12\nblue              2\n\n"
    rule = "-" * 58
    remark = f"{rows}Statistics\n{rule}\n          3  consistent gets    <-- 41 before\n          5  physical reads\n\n"
    found = [iolab.provenance(iolab.load(text.encode()), text.encode()) for text in (snapper, remark)]
    columns = ("text", "status", "frame")

    assert ("130.7", "typed", "statistics") in found[0].select(columns).rows()
    assert found[1].select("text", "status").rows() == [
        *(("1", "text"), ("12", "text"), ("2", "raw")),
        *(("3", "typed"), ("41", "text"), ("5", "typed")),
    ]
    assert all("lost" not in one["status"].to_list() for one in found)


@pytest.mark.parametrize("width", [317, 500])
@pytest.mark.parametrize("size", [0, 14], ids=["not paged", "paged"])
def test_lines_of_a_page_that_was_cut(sample_data: Path, width: int, size: int) -> None:
    """Numbers of a page have the lines and columns of the file, also where the client cut its lines."""
    path = next(path for path in sorted((sample_data / "awr_series").iterdir()) if ".html" in path.name)
    whole = open_log(path).text()
    copy = wrapped(whole, width)

    # the columns of numbers behind an escaped sign are those of the text that is shown
    assert misplaced(paged(copy, size) if size else copy) == misplaced(whole) < 20


def misplaced(text: str) -> int:
    """How many numbers of a page do not stand at the line and column that are said to be theirs."""
    lines = lines_of(text)
    found = iolab.provenance(iolab.load(text.encode()), text.encode()).filter(~pl.col("text").str.contains("[.:%]"))
    at = [lines[line - 1][column - 1 :] for line, column in found.select("line", "column").rows()]
    return sum(not (here.startswith(one) or one.startswith(here)) for here, one in zip(at, found["text"], strict=True))
