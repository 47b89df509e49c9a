"""The first screen of a log: at most 18 lines of 100 columns, the total, its parts, sentences and the next step."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from ledger_checks import faults

import iolab
from iolab.cli import main
from iolab.pages.ledger_folder import folder_text, log_row
from iolab.pages.ledger_rows import ledger_rows
from iolab.pages.ledger_text import MOST_LINES, USUAL_LINES, first_screen
from iolab.pages.summary import summarize
from iolab.pages.summary_text import summary_text
from iolab.rules.finding import Finding, findings_frame
from iolab.rules.time_parts import with_ledger
from iolab.time_ledger import PARTS, Account, Place
from logframe import Interval, LogError

SAMPLES = Path(__file__).parents[2] / "sample_data"
LOGS = sorted(
    path
    for folder in ("articles", "awr_series", "captures", "host", "one_case", "runs", "sqltrace")
    for path in (SAMPLES / folder).iterdir()
    if path.suffix != ".csv"
)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
@pytest.mark.parametrize("width", [80, 100])
def test_a_screen_of_every_sample(path: Path, width: int) -> None:
    """No line is wider than the terminal, no block longer than a screen, and the ledger of the log closes."""
    seen = summarize(path)
    if seen.ledger is None:
        return
    lines = summary_text(seen, path.name, width=width).splitlines()

    assert faults(seen.ledger) == []
    assert max(map(len, lines)) <= width
    assert len(lines) < MOST_LINES + (0 if width == 100 else 2)
    if not seen.ledger.void:
        assert " ".join(lines[:3]).startswith(seen.ledger.text or seen.ledger.base)
        assert any(line.endswith(("part", "statement")) for line in lines)


@pytest.mark.parametrize(
    "name",
    [
        "one_case/awrrpt_1_881_882.txt",
        "one_case/orders_flash.lst",
        "sqltrace/orders_flash_ora_4711.trc",
        "captures/async_direct_tt_T.strace",
        "host/iostat.out",
    ],
)
def test_a_log_of_each_kind_is_a_short_screen(name: str) -> None:
    """What took the time, what is unusual and what to do next stand on 15 lines."""
    text = summary_text(summarize(SAMPLES / name), name, width=100)
    lines = text.splitlines()

    assert len(lines) < USUAL_LINES
    assert re.search(r"^[`A-Z0-9].* took .*\d|^The CPUs were idle", text, re.MULTILINE)
    assert any(line.startswith("next: ") for line in lines)


def test_plain_characters_where_blocks_cannot_be_drawn() -> None:
    """Without UTF-8 the screen has no block characters."""
    text = summary_text(summarize(SAMPLES / "captures" / "async_direct_tt_T.strace"), "a", is_utf8=False)

    assert "####" in text
    assert "====" in text
    assert not set("█▒░") & set(text)


@pytest.mark.parametrize("width", [80, 120])
def test_logs_of_one_kind_are_one_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Thirteen reports of an instance are one block with a row each, in the order of time; a restart has its reason.

    Below stands what changed and when: the average of a part, and the initialization parameters.
    """
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["show", str(SAMPLES / "awr_series")]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].startswith("13 reports: AWR report, HARBOR on quay07")
    assert "no total: the instance was restarted" in lines[8]
    assert all(len(line) <= width for line in lines)
    assert lines[2].endswith("18:00 to 19:00")
    assert lines[3].endswith("19:00 to 20:00")
    assert " ".join(lines[-7 if width == 80 else -5 : -1]) == (
        "`db file sequential read` took 650 us before 2026-09-15 01:00 and 5.41 ms after: 8.33 times as long. "
        "The busiest logs had 4.07 sessions active before and 6.90 after, 2.59 and 2.09 of them on CPU. "
        "`filesystemio_options` changed from NONE to SETALL between 2026-09-15 00:00 and 01:00. "
        "`db_cache_size` changed from 2 GiB to 8 GiB between 2026-09-15 06:00 and 07:00."
    )
    assert lines[-1] == "next: iolab compare awrrpt_1_4107_4108.txt awrrpt_1_4109_4110.txt"


def test_a_folder_without_a_change_of_an_average_has_its_load() -> None:
    """Where no average changed for good, the sentence says where the load changed most; of one report nothing."""
    summaries = {path.name: summarize(path) for path in sorted((SAMPLES / "awr_series").glob("*_410[2-6]_*.txt"))}
    rows = {name: row for name, seen in summaries.items() if (row := log_row(seen)) is not None}

    assert "The load changed most at 2026-09-14 21:00: from 0.215 to 3.80 sessions active." in folder_text(rows)
    assert "changed" not in folder_text(dict([next(iter(rows.items()))]))


def test_logs_of_several_kinds_keep_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    """Four logs of two kinds have a block each, in the order in which they were given."""
    names = ["one_case/orders_flash.lst", "sqltrace/orders_flash_ora_4711.trc", "runs/buffered_direct_async.txt"]
    names.append("one_case/awrrpt_1_881_882.txt")
    assert main(["show", *(str(SAMPLES / name) for name in names)]) == 0
    out = capsys.readouterr().out
    places = [out.index(Path(name).name + ":") for name in names]

    assert places == sorted(places)


def test_the_ledger_as_json_and_as_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`show --json` has the parts, `convert` writes them; both are those of `iolab.ledger`."""
    log = SAMPLES / "sqltrace" / "orders_flash_ora_4711.trc"
    assert main(["show", "--json", str(log)]) == 0
    shown = json.loads(capsys.readouterr().out)["ledger"]
    assert main(["convert", str(log), "-o", str(tmp_path), "--format", "parquet"]) == 0
    written = pl.read_parquet(tmp_path / "ledger.parquet")
    account = iolab.ledger(log)

    assert account.total is not None
    assert shown["total_s"]["value"] == account.total.value
    assert len(shown["parts"]) == account.frame.height
    assert written.filter(pl.col("scope") == account.scope).select(PARTS.names()).height == account.frame.height
    assert set(written["total"]) == {account.total.value}


def test_a_legend_explains_a_mark_of_the_table() -> None:
    """What is counted twice has a legend where a bar shows it, and none where all bars are certain."""

    def drawn(twice: float) -> str:
        account = Account(Interval.exact(100.0), "time")
        account.add("what", "CPU", Interval.exact(50.0 + twice), kind="cpu", evidence=Place("calls"))
        account.add("what", "reads", Interval.exact(50.0), kind="io", evidence=Place("calls"))
        return first_screen(iolab.findings([SAMPLES / "host" / "iostat.out"]), account.ledger(), width=100)

    for twice in (0.05, 30.0):
        text = drawn(twice)
        assert ("░ at most" in text) == ("░" in text.replace("░ at most", ""))
    assert "░ at most" in drawn(30.0)


def test_an_empty_path_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty path is an error, not the files of the present folder."""
    with pytest.raises(LogError, match="empty"):
        iolab.findings("")
    assert main(["show", ""]) != 0
    assert "the path is empty" in capsys.readouterr().err


@pytest.mark.parametrize(("read_us", "is_shown"), [(400, False), (400_000, True)])
def test_reads_of_little_time_are_not_on_the_screen(read_us: int, is_shown: bool) -> None:  # noqa: FBT001 - a case
    """How files were read is said where the reads took time; of a log of flushes the flushes are the fact."""
    lines = ['1700000000.000000 openat(AT_FDCWD, "a.dbf", O_RDWR|O_DIRECT) = 3 <0.000010>']
    lines += [f'170000000{n}.100000 pread64(3, "", 8192, {n}) = 8192 <{read_us / 1e6:.6f}>' for n in range(1, 6)]
    lines += [f"170000000{n}.600000 fsync(3) = 0 <0.350000>" for n in range(1, 6)]
    text = summary_text(summarize("\n".join(sorted(lines, key=lambda one: one[:17])).encode()), "a.strace")

    assert ("O_DIRECT" in text, "were synchronous" in text) == (is_shown, is_shown)


def test_unknown_time_that_is_largest_comes_first() -> None:
    """In the table of the screen time without a name stands first where it is the largest part, else last."""
    from iolab.pages.ledger_text import first_screen  # noqa: PLC0415 - of this test
    from iolab.rules.finding import findings_frame  # noqa: PLC0415 - of this test

    def rows(cpu: float) -> list[str]:
        account = Account(Interval.exact(100), "DB time")
        account.add("what", "DB CPU", Interval.exact(cpu), kind="cpu", evidence=Place("time_model"))
        return first_screen(findings_frame([]), account.ledger(), width=80).splitlines()

    assert "not accounted for" in rows(20)[2]
    assert "not accounted for" in rows(80)[3]


@pytest.mark.parametrize(
    ("log", "unused"),
    [
        ("sqltrace/orders_disk_ora_4890.trc", ("awrparse.report", "lark", "iolab.stats")),
        ("host/iostat.out", ("awrparse.report",)),
        ("captures/async_direct_tt_T.strace", ("awrparse.report", "lark", "iolab.stats")),
    ],
)
def test_a_small_log_loads_no_reader_of_other_formats(log: str, unused: tuple[str, ...]) -> None:
    """The readers of reports, and the parser of what no regular line needs, would be a fifth of the time."""
    code = "import sys; from iolab.cli import main; main(['show', sys.argv[1]]); print(*sys.modules, file=sys.stderr)"
    words = [sys.executable, "-c", code, str(SAMPLES / log)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    assert not set(unused) & set(done.stderr.split())


@pytest.mark.parametrize("unlisted", [1, 0])
def test_time_of_no_statement_is_named_in_the_row_that_holds_it(unlisted: int) -> None:
    """It may be less than 1 % of the total, and yet a notable part of the row of the other statements."""
    account = Account(Interval.exact(200 + unlisted), "DB time")
    for name, seconds in (("large", 180), ("first", 12), ("second", 8)):
        account.add("who", name, Interval.exact(seconds), kind="mixed")
    account.add("what", "DB CPU", account.total, kind="cpu")
    account.closes(None, "not captured", kind="not_accounted", view="who")
    names = [row.name for row in ledger_rows(account.ledger(), "who")]
    assert names == ["large", "2 other statements" + " and not captured" * unlisted]


@pytest.mark.parametrize("most", ["direct path read temp", "latch free"])
def test_a_wait_of_a_statement_that_its_sentence_names_is_not_said_again(most: str) -> None:
    """The sentence beside that of a statement is of another wait than the one that it names."""
    account, event = Account(Interval.exact(100), "samples"), "direct path read temp"
    one = account.add("who", "4v9zptq0m17dx", Interval.exact(86), kind="mixed")
    inner = account.add("who", event, Interval.exact(58), kind="io", parent=one)
    account.add("what", event, Interval.exact(58), kind="io")
    found = [Finding("main_statement", f"`4v9zptq0m17dx` took 86 % (58 % in `{most}`).", part=one)]
    found += [Finding("main_statement", f"`4v9zptq0m17dx` spent 58 % in `{event}`.", part=inner)]
    ledger = account.ledger()
    lines = first_screen(findings_frame(with_ledger(found, [ledger])), ledger, width=100).splitlines()
    assert any("spent" in line for line in lines[:3]) == (most != event)
