"""Data out of logs: JSON that has a schema and a version, SQL, progress, and what the shell completes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import polars as pl
import pytest
from click.shell_completion import ShellComplete
from jsonschema import Draft202012Validator

import iolab
from iolab.cli import iolab as command
from iolab.cli import main
from iolab.pages import summary_json
from logframe import LogError
from logframe.console import reading
from logframe.source import batches_of

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_data"
LOGS = sorted(
    path
    for folder in ("articles", "awr_series", "captures", "host", "one_case", "runs", "sqltrace", "tools")
    for path in (SAMPLES / folder).iterdir()
    if path.is_file() and path.suffix != ".json"
)
SCHEMA = json.loads((ROOT / "iolab/pages/show.schema.json").read_text(encoding="utf-8"))
REPORT = SAMPLES / "awr_series/awrrpt_1_4102_4103.txt"


def test_the_schema_that_is_shipped_is_that_of_the_frames() -> None:
    """The file is written anew from the schemas of the frames: a change of them is a change of the file.

    ``python docs/generate.py docs`` writes it.
    """
    Draft202012Validator.check_schema(SCHEMA)

    assert summary_json.json_schema() == SCHEMA


def test_the_json_of_every_sample_fits_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """Each log is one line of strict JSON with the version; what is not read is a line with the reason."""
    main(["show", "--json", *map(str, LOGS), "/no/such/log"])
    lines = capsys.readouterr().out.splitlines()
    validator = Draft202012Validator(SCHEMA)
    summary, error = SCHEMA["anyOf"]

    assert len(lines) >= len(LOGS)
    for line in lines:
        found = json.loads(line, parse_constant=pytest.fail)
        assert not [one.message for one in validator.iter_errors(found)]
        assert found["version"] == summary_json.VERSION
        assert found.keys() == (error if "error" in found else summary)["properties"].keys()
    assert "error" in json.loads(lines[-1])


def test_another_version_or_a_missing_key_does_not_fit() -> None:
    """The schema holds what it says: a key that goes and a type that changes are found."""
    row = summary_json.summary_json(iolab.summarize(REPORT), "a")
    whole = json.loads(json.dumps(row, default=str))
    validator = Draft202012Validator(SCHEMA)

    assert validator.is_valid(whole)
    for broken in (whole | {"version": 2}, whole | {"findings": [{}]}, {"version": 1, "log": "a"}, whole | {"what": 1}):
        assert not validator.is_valid(broken)


def test_sql_over_one_log_several_and_a_dataset(tmp_path: Path) -> None:
    """The tables are the frames; several logs have their name in `source`; a dataset has its tables by both names."""
    reports = sorted((SAMPLES / "awr_series").glob("*.txt"))[:2]
    iolab.dataset.convert(reports, tmp_path / "fleet", executor="serial")
    query = "SELECT sum(total_wait_s) AS s FROM top_events"
    expected = [float(iolab.load(path)["top_events"]["total_wait_s"].sum()) for path in reports]

    assert iolab.sql(query, reports[0])["s"].to_list() == pytest.approx(expected[:1])
    by_log = iolab.sql(f"{query} GROUP BY source ORDER BY source".replace("SELECT", "SELECT source,"), reports)
    assert by_log["source"].to_list() == [path.name for path in reports]
    assert by_log["s"].to_list() == pytest.approx(expected)
    for table in ("top_events", "awr_top_events"):
        assert iolab.sql(query.replace("top_events", table), tmp_path / "fleet").item() == pytest.approx(sum(expected))
    joined = "SELECT l.name, t.waits FROM ledger AS l JOIN top_events AS t ON l.name = t.event"
    assert iolab.sql(joined, reports[0]).height > 2
    assert iolab.sql("SELECT DISTINCT ordered_by FROM sql_by_reads", reports)["ordered_by"].to_list() == ["reads"]
    assert "ledger" in iolab.sql("SHOW TABLES", reports[0]).to_series().to_list()
    for view in ("sql_by_elapsed", "sql_by_reads"):  # the statements of one section, of a report and of a dataset
        of_view = "SELECT sql_id, cpu_s FROM sql ORDER BY sql_id, cpu_s".replace("FROM sql", f"FROM {view}")
        assert iolab.sql(of_view, tmp_path / "fleet").equals(iolab.sql(of_view, reports))
        assert iolab.sql(of_view, reports).height


def test_sql_goes_on_where_a_log_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of several logs those that are no logs are named, and the others answer; a single one, or none, is an error."""
    shutil.copy(REPORT, tmp_path / "awr.txt")
    (tmp_path / "notes.txt").write_text("buy milk\n", encoding="utf-8")
    query = "SELECT source, count(*) AS n FROM top_events GROUP BY source"

    with pytest.warns(UserWarning, match=r"notes\.txt: .*known kind"):
        found = iolab.sql(query, tmp_path)
    assert found["source"].to_list() == ["awr.txt"]
    assert main(["sql", query, str(tmp_path), "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out) == found.to_dicts()
    assert "notes.txt: " in captured.err
    assert "awr.txt" not in captured.err
    with pytest.raises(LogError, match="known kind"):
        iolab.sql(query, tmp_path / "notes.txt")
    (tmp_path / "awr.txt").write_text("", encoding="utf-8")
    with pytest.raises(LogError, match="none of the 2 logs"):
        iolab.sql(query, tmp_path)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * FROM top_event", "no table top_event: did you mean top_events"),
        ("SELECT evnt FROM top_events", r'"evnt".*top_events has event, .*total_wait_s'),
        ("SELEC 1", "cannot be run.*The tables are .*top_events"),
        ("DROP TABLE top_events; SELECT 1", "cannot be run"),
    ],
)
def test_a_query_that_is_wrong_lists_the_names(query: str, said: str) -> None:
    """A table or a column that is not there is answered with those that are."""
    with pytest.raises(LogError, match=f"(?s){said}"):
        iolab.sql(query, REPORT)


def test_the_command_sql(capsys: pytest.CaptureFixture[str]) -> None:
    """A table with the columns as they were asked for, CSV with numbers, JSON; a wrong name is exit code 1."""
    query = "SELECT event, total_wait_s, total_wait_s_lo FROM top_events ORDER BY 2 DESC"

    assert main(["sql", query, str(REPORT), "--rows", "1"]) == 0
    shown = capsys.readouterr().out.split("\n")
    assert shown[0].split() == ["event", "total_wait_s", "total_wait_s_lo"]
    assert "more rows" in shown[2]
    assert main(["sql", query, str(REPORT), "--csv"]) == 0
    table = pl.read_csv(capsys.readouterr().out.encode())
    assert table.schema["total_wait_s"] == pl.Float64
    assert main(["sql", query, str(REPORT), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == table.to_dicts()
    assert main(["sql", "SELECT 1 FROM nothing", str(REPORT)]) == 1
    assert "There are" in capsys.readouterr().err


def test_commands_are_listed_in_the_order_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    """`show` is first, and each command has its whole first sentence."""
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    listed = shown.partition("Commands:")[2]

    assert command.list_commands(click.Context(command))[:5] == ["show", "report", "compare", "what-if", "sql"]
    assert "..." not in listed
    for name, one in command.commands.items():
        assert " ".join(f"{name} {one.get_short_help_str(limit=1000)}".split()) in " ".join(listed.split())


def test_the_shell_completes_formats_and_tables(tmp_path: Path) -> None:
    """Names of commands, of formats after ``--as``, and of the tables of a dataset."""
    iolab.dataset.convert([REPORT], tmp_path / "fleet", executor="serial")
    completion = ShellComplete(command, {}, "iolab", "_IOLAB_COMPLETE")

    def offered(words: list[str], incomplete: str) -> set[str]:
        return {one.value for one in completion.get_completions(words, incomplete)}

    assert offered([], "sh") == {"show"}
    assert offered(["show", "--as"], "str") == {"strace"}
    assert offered(["scan", str(tmp_path / "fleet")], "top_e") == {"top_events"}
    assert offered(["scan", str(tmp_path / "none")], "top_e") == set()


def test_progress_within_a_long_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal a line says how much was read, and is gone at the end; elsewhere nothing is printed."""
    lines = pl.LazyFrame({"line": ["x" * 1_000] * 5_000})
    monkeypatch.setattr("logframe.console._PATIENCE", -1.0)
    monkeypatch.setattr("logframe.console._EVERY", -1.0)
    with reading("a.strace"):
        assert sum(batch.height for batch in batches_of(lines, 1_000_000)) == 5_000
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with reading("a.strace"):
        assert sum(batch.height for batch in batches_of(lines, 1_000_000)) == 5_000
    shown = capsys.readouterr().err

    assert "a.strace 5 MB read in 0 s" in shown
    assert shown.endswith("\r\x1b[K")
