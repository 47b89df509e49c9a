"""Many reports in one frame, and the command line."""

import gzip
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import awrparse
from awrparse import TABLES, many, read_awr, read_awrs
from awrparse.cli import main
from awrparse.matching import MatchedTables
from awrparse.records import PrintedTable, Rows
from awrparse.tables import VIEWS, describe_tables
from logframe import LogParseError

DATA = Path(__file__).parent / "awr_data"
REPORTS = [
    DATA / "valid" / name
    for name in ("ash_121.txt", "awr_html_122.html", "awr_text_11204.txt", "fragment_122.txt", "statspack_121.txt")
]
ROOT = Path(__file__).parents[2]


def test_rows_are_keyed_and_in_order_of_time() -> None:
    """Each row says which report, instance and snapshots it is from; earlier snapshots come first."""
    found = read_awrs(REPORTS, table="top_events", workers=1)

    assert found.frame.columns[:4] == ["report", "part", "db_name", "instance_name"]
    assert found.frame["db_name"].unique(maintain_order=True).to_list() == ["PEAR", "FIG", "PLUM", None]
    times = found.frame["begin_time"].drop_nulls()
    assert times.is_sorted()
    assert found.frame.height == sum(
        read_awr(path)["top_events"].height for path in REPORTS if "top_events" in read_awr(path)
    )


def test_a_report_without_the_table_is_a_row_of_the_diagnostics() -> None:
    """The ASH report has no top events: it says so and stops nothing."""
    found = read_awrs(REPORTS, table="top_events", workers=1)

    rows = found.diagnostics.filter(kind="missing")

    assert [Path(name).name for name in rows["source"]] == ["ash_121.txt"]


def test_a_bad_report_is_a_row_of_the_diagnostics() -> None:
    """What is no report at all is one row, what cannot be read another; the others are read."""
    bad = [DATA / "invalid" / "prose.txt", b"<html><table>", b"", b"\0\1\2"]
    found = read_awrs([REPORTS[1], *bad], table="top_events", workers=1)

    assert [kind for kind in found.diagnostics["kind"] if kind in {"no_report", "unreadable"}] == [
        *["no_report"] * 2,
        *["unreadable"] * 2,
    ]
    assert found.frame["db_name"].unique().to_list() == ["FIG"]


@pytest.mark.parametrize(
    ("text", "line", "error"),
    [
        (
            "declare\n*\nERROR at line 1:\nORA-20019: invalid snapshot\nORA-06512: at line 9\n",
            4,
            "ORA-20019: invalid snapshot",
        ),
        (
            "SQL> @spreport\r\nORA-00942: table or view does not exist \r\n",
            2,
            "ORA-00942: table or view does not exist",
        ),
    ],
)
def test_a_report_that_was_not_made(text: str, line: int, error: str) -> None:
    """The error of Oracle that stands in place of the report is the reason, with its line."""
    found = read_awrs(text.encode(), table="top_events", workers=1).diagnostics

    assert found.select("line", "kind", "text", "reason").rows() == [
        (line, "no_report", error, f"no report was made: {error}")
    ]


def test_processes_give_the_same_frame(tmp_path: Path) -> None:
    """Two processes read what one reads, compressed files among them."""
    paths = []
    for number, path in enumerate(REPORTS):
        copy = tmp_path / f"{number}.gz"
        copy.write_bytes(gzip.compress(path.read_bytes()))
        paths.append(copy)

    one = read_awrs(paths, table="top_events", printed=True, workers=1)
    two = read_awrs(paths, table="top_events", printed=True, workers=2)

    assert one.frame.equals(two.frame)
    assert one.diagnostics.equals(two.diagnostics)


def test_chunks_hold_each_report_once_largest_first() -> None:
    """Small reports share a chunk, large ones have their own, and none is left out; empty files count."""
    sizes = [400_000, 0, 2_500_000, 400_000, 700_000, 0]

    chunks = many._chunks(sizes)  # noqa: SLF001 - how the work is shared has no public name

    assert sorted(number for chunk in chunks for number in chunk) == list(range(len(sizes)))
    assert chunks == [[2], [4], [0, 3, 1, 5]]
    assert many._chunks([0, 0]) == [[0, 1]]  # noqa: SLF001 - as above


def test_small_work_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless asked to, a few small reports are read by this process: starting another takes longer."""
    monkeypatch.setattr(many, "_read_in_processes", lambda *_: pytest.fail("a process was started"))

    assert read_awrs(REPORTS, table="top_events").frame.height > 0
    with pytest.raises(pytest.fail.Exception):
        read_awrs(REPORTS, table="top_events", workers=2)


def test_a_script_without_a_guard_gets_its_frame(tmp_path: Path) -> None:
    """Processes that cannot start, as the script would run again in each, leave their share to this one."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import awrparse\nfound = awrparse.read_awrs({str(DATA / 'valid')!r} + '/*t*', workers=2)\n"
        "print(found.frame.height, flush=True)\n"
    )

    run = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, check=False)

    expected = read_awrs(str(DATA / "valid") + "/*t*", workers=1).frame.height
    assert (run.returncode, run.stdout) == (0, f"{expected}\n")
    assert "__main__" in run.stderr


def test_the_bar_counts_every_report(capsys: pytest.CaptureFixture[str]) -> None:
    """The progress bar reaches its end, whoever read the reports."""
    for workers in (1, 2):
        read_awrs(REPORTS, workers=workers, progress=True)

        assert capsys.readouterr().err.endswith(f"{len(REPORTS)}/{len(REPORTS)} reports\n")


def test_only_tables_of_that_title_are_cut() -> None:
    """Who asks for one canonical table does not pay for the rows of all others."""
    cut: list[str] = []

    def printed(title: str) -> PrintedTable:
        def rows() -> Rows:
            cut.append(title)
            return Rows(headings=("Event", "Waits", "Total Wait Time (s)"))

        return PrintedTable(title, rows)

    matched = MatchedTables([printed("Foreground Wait Events"), printed("Time Model Statistics"), printed("Orchard")])

    assert len(matched["foreground_events"]) == 1
    assert cut == ["Foreground Wait Events"]
    assert "time_model" not in matched
    assert "orchard" not in matched
    assert (list(matched), len(matched)) == (["foreground_events"], 1)


def test_a_part_of_a_long_table() -> None:
    """`sql_by_elapsed` is the section of that order."""
    found = read_awrs(REPORTS, table="sql_by_elapsed", workers=1)

    assert found.frame["ordered_by"].unique().to_list() == ["elapsed"]
    assert found.frame.height == 2


def test_an_unknown_table_is_refused() -> None:
    """A wrong name raises before anything is read, and names what there is."""
    with pytest.raises(LogParseError, match="no canonical table"):
        read_awrs(REPORTS, table="top_event")


def test_an_absent_table_raises_a_key_error_with_a_hint() -> None:
    """Asking one report for what it lacks is a KeyError and a LogParseError; it never gives a silent empty frame."""
    report = read_awr(DATA / "valid" / "fragment_122.txt")

    for name in ("top_event", "wait_classes"):
        with pytest.raises(KeyError) as caught:
            report[name]
        assert isinstance(caught.value, LogParseError)
        if name == "top_event":
            assert "top_events" in str(caught.value)
    with pytest.raises(KeyError):
        report.raw_tables["Nothing"]


def test_tables_are_described() -> None:
    """Every table and column has a meaning, every schema is real, and the text of the docs has them all."""
    text = describe_tables()

    for table in TABLES.values():
        assert f"## `{table.name}`" in text
        assert table.meaning.endswith(".")
        assert all(column.meaning for column in table.columns)
        assert len({column.name for column in table.columns}) == len(table.columns)
        assert pl.DataFrame(schema=table.schema).width == len(table.schema)
    assert {table for table, _ in VIEWS.values()} == {"sql"}


def test_frames_have_the_schema_of_their_table() -> None:
    """The same columns for every kind and version, in the same order."""
    for path in REPORTS:
        report = read_awr(path)
        for name in report.tables:
            assert (name, report[name].schema) == (name, TABLES[name].schema)


def test_all_is_sorted_and_there() -> None:
    """The public names are what `__all__` says."""
    assert awrparse.__all__ == sorted(awrparse.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert all(hasattr(awrparse, name) for name in awrparse.__all__)


def test_command_prints_info_and_top_events(capsys: pytest.CaptureFixture[str]) -> None:
    """A report on the terminal: what it is, and its top events with their names in full."""
    assert main([str(DATA / "valid" / "awr_text_11204.txt")]) == 0

    out = capsys.readouterr().out
    assert "awr, text" in out
    assert "PLUM" in out
    assert "log file switch (private strand flush incomplete)" in out


def test_command_writes_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--table NAME -o FILE` writes the keyed frame in the format of the suffix."""
    target = tmp_path / "top.parquet"

    assert main([*map(str, REPORTS[:2]), "--table", "top_events", "-o", str(target)]) == 0

    assert pl.read_parquet(target)["db_name"].unique().to_list() == ["FIG"]
    assert "rows written" in capsys.readouterr().out


def test_command_lists_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """`--tables` names every canonical table with its columns."""
    assert main(["--tables"]) == 0

    out = capsys.readouterr().out
    assert all(name in out for name in TABLES)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["no_such_file.txt"], 1, "no such file"),
        ([str(REPORTS[0]), "--table", "nothing"], 1, "no canonical table"),
        ([str(REPORTS[1]), "--table", "top_events", "-o", "x.xls"], 1, "no way to write"),
    ],
)
def test_command_errors(arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong path, table or format is one clear message and a status, never a traceback."""
    assert main(arguments) == status
    assert message in capsys.readouterr().err


def test_a_command_without_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    """The usage, and status 2."""
    with pytest.raises(SystemExit) as raised:
        main([])

    assert raised.value.code == 2
    assert "missing argument 'REPORT...'" in capsys.readouterr().err


def test_module_runs() -> None:
    """`python -m awrparse` is the command."""
    run = subprocess.run(
        [sys.executable, "-m", "awrparse", "--tables"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert "top_events" in run.stdout


def test_several_tables_from_one_reading() -> None:
    """Several names give the frames that each name gives alone, and the diagnostics of all."""
    sources = REPORTS
    names = ("top_events", "info", "sql_by_elapsed")
    together = read_awrs(sources, table=names, workers=1)
    alone = {name: read_awrs(sources, table=name, workers=1) for name in names}

    assert list(together.frames) == list(names)
    for name, frames in alone.items():
        assert_frame_equal(together.frames[name], frames.frame)
    assert_frame_equal(together.frame, alone["top_events"].frame)
    assert {*together.diagnostics.rows()} == {row for frames in alone.values() for row in frames.diagnostics.rows()}


@pytest.mark.parametrize("table", ["top_event", [], ["info", "top_event"]])
def test_names_of_no_table(table: str | list[str]) -> None:
    """A name that is no table's, or no name at all, is refused with the names there are."""
    with pytest.raises(LogParseError, match="no canonical table"):
        read_awrs(DATA, table=table)


def test_standard_input(tmp_path: Path) -> None:
    """A report from a pipe is read like a file, under a name that says where it came from."""
    report = next(path for path in REPORTS if path.suffix == ".txt" and "top_events" in read_awr(path))
    out = tmp_path / "events.csv"
    for words in (["-"], ["-", "--table", "top_events", "-o", str(out)]):
        command = [sys.executable, "-m", "awrparse", *words]
        done = subprocess.run(command, input=report.read_bytes(), capture_output=True, check=True, cwd=ROOT)

        assert done.stderr == b""
    assert pl.read_csv(out)["report"].unique().to_list() == ["<stdin>"]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
@pytest.mark.parametrize("has_bounds", [False, True])
def test_tables_one_by_one_are_those_at_once(path: Path, has_bounds: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Whether a table is asked for alone, after others or with all, it is the same; so are its diagnostics."""
    whole = read_awr(path, printed=has_bounds)
    frames = whole.frames()
    one_by_one, bounded = read_awr(path, printed=has_bounds), read_awr(path, printed=has_bounds)
    for name in reversed(whole.tables):
        assert_frame_equal(one_by_one[name], frames[name])
        alone = read_awr(path, printed=True)
        if name in alone._printed:  # noqa: SLF001 - views have no bounds
            assert_frame_equal(bounded.with_bounds(name), alone[name])
    assert_frame_equal(one_by_one.diagnostics, whole.diagnostics)


def test_a_folder_with_other_files(tmp_path: Path) -> None:
    """Reports of a folder are read; a picture and a damaged archive beside them are rows of the diagnostics."""
    for number in (1, 2):
        (tmp_path / f"report_{number}.txt").write_bytes(REPORTS[number].read_bytes())
    (tmp_path / "page.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "old.zip").write_bytes(b"PK\x03\x04 no archive")
    found = read_awrs(tmp_path, table="top_events", workers=1)

    assert found.frame["report"].n_unique() == 2
    assert {Path(source).name for source in found.diagnostics.filter(kind="unreadable")["source"]} == {
        "page.png",
        "old.zip",
    }


def test_a_folder_with_folders(tmp_path: Path) -> None:
    """Reports in the folders of a folder are read, those of one name apart; what is hidden is not."""
    for number, folder in enumerate((tmp_path, tmp_path / "node1", tmp_path / "node2" / "night", tmp_path / ".old")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.txt").write_bytes(REPORTS[1 + number % 2].read_bytes())
    (tmp_path / "node1" / "page.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "empty").mkdir()
    found = read_awrs(tmp_path, table="top_events", workers=1)
    alone = [read_awr(REPORTS[number])["top_events"].height for number in (1, 2, 1)]

    assert found.frame["report"].n_unique() == len(alone)
    assert found.frame.height == sum(alone)
    assert [Path(one).name for one in found.diagnostics.filter(kind="unreadable")["source"]] == ["page.png"]


def test_reports_that_were_read_give_the_same_tables() -> None:
    """What is in memory, such as a member of an archive, is not read again, and its rows are those of its file."""
    tables = ("top_events", "load_profile")
    read = many.bounded_frames({str(path): read_awr(path) for path in REPORTS}, tables)
    again = read_awrs(REPORTS, table=tables, printed=True, workers=1)

    for table in tables:
        assert read.frames[table].height > 0
        assert_frame_equal(read.frames[table].drop("report"), again.frames[table].drop("report"))
