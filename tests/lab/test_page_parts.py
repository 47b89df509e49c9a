"""Parts of pages: bars of statements, samples beside time without a name, missing time, the order of headings."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from iolab.pages.ledger_folder import LogRow
from iolab.pages.ledger_html import icicle_html, ledger_html
from iolab.pages.strip_html import strip_html
from iolab.pages.summary import summarize
from iolab.pages.writing import write_report
from iolab.time_ledger.account import Account, Ledger
from iolab.time_ledger.parts import Sampled
from logframe import Interval

SAMPLES = Path(__file__).parents[2] / "sample_data"


def account(*, cpu: float | None = None, io: float | None = None, sampled: float = 0.0) -> Ledger:
    """Of 100 s 30 are CPU and the rest has no name; a statement took 60 s."""
    made = Account(Interval.exact(100.0), "DB time")
    made.add("what", "DB CPU", Interval.exact(30.0), kind="cpu")
    part = made.add("who", "1vd9kx4rs6b7y select", Interval.exact(60.0), kind="mixed")
    made.has_within(part, cpu=cpu, io=io)
    one = made.ledger(elapsed=Interval.exact(50.0))
    seen = (Sampled("what", "on CPU or in its queue", Interval(sampled, sampled - 5, sampled + 5)),)
    return Ledger(**{name: getattr(one, name) for name in one.__dataclass_fields__} | {"sampled": seen * bool(sampled)})


@pytest.mark.parametrize(
    ("cpu", "io", "widths"),
    [(15.0, 30.0, [25.0, 50.0, 0.0, 25.0]), (60.0, 30.0, [100.0, 0.0, 0.0, 0.0]), (None, 6.0, [0.0, 10.0, 0.0, 90.0])],
)
def test_the_bar_of_a_statement_is_its_parts(cpu: float | None, io: float, widths: list[float]) -> None:
    """CPU, I/O, round trips and the rest fill the bar, and never more than that; the key has what is known."""
    tree = HTMLParser(ledger_html(account(cpu=cpu, io=io), anchor="log-1"))
    bar = tree.css("tr.who td.bar svg")[0]

    assert [float(one.attributes["width"] or 0) for one in bar.css("rect")] == widths
    assert ("CPU" in tree.css_first("p.key").text()) == (cpu is not None)
    share = float(tree.css("tr.who td.number")[0].text())
    assert tree.css_first("p.key").text().endswith(f"full width {share} %")


def test_samples_stand_below_the_time_without_a_name() -> None:
    """A dashed piece no longer than that time, and a row with two standard deviations that no sum contains."""
    plain, one = account(), account(sampled=50.0)

    assert "samples" not in icicle_html(plain, anchor="a") + ledger_html(plain, anchor="a")
    pieces = HTMLParser(icicle_html(one, anchor="a")).css("figure svg svg")
    seen = [piece for piece in pieces if piece.css("rect.c-samples")]
    assert [(piece.attributes["x"], piece.attributes["width"]) for piece in seen] == [("30.000%", "50.000%")]
    (row,) = HTMLParser(ledger_html(one, anchor="a")).css("tr.samples")
    assert [cell.text() for cell in row.css("td.number")] == ["50.0 ± 5.0", "50 s"]
    assert row.next.text().startswith("DB time") if row.next else row.parent is not None


def test_missing_time_is_hatched() -> None:
    """Where no report is, every row of the strip is hatched; a minute between two reports is none."""
    first = datetime(2026, 9, 14, 18)  # noqa: DTZ001 - reports have no zone

    def row(hour: int) -> LogRow:
        begin = first + timedelta(hours=hour, seconds=30)
        end = first + timedelta(hours=hour + 1)
        return LogRow(("awr", "DB time"), "report", "", begin, end, account(), None, pl.DataFrame())

    def lanes(*hours: int) -> list[int]:
        tree = HTMLParser(strip_html({f"{hour}.txt": row(hour) for hour in hours}, {}))
        assert ("No report of this time" in tree.text()) == (hours != (0, 1, 2))
        return [len(lane.css("rect.no-report")) for lane in tree.css(".strip-row svg[role=group]")]

    assert set(lanes(0, 1, 3)) == {1}
    assert set(lanes(0, 2, 4)) == {2}
    assert set(lanes(0, 1, 2)) == {0}


@pytest.mark.parametrize(
    "logs",
    [
        ["one_case/orders_flash.lst"],
        ["sqltrace/orders_flash_ora_4711.trc"],
        ["articles/003_filesystemio_none.txt", "articles/003_filesystemio_setall.txt"],
        ["host/iostat.out"],
    ],
)
def test_headings_leave_out_no_level(tmp_path: Path, logs: list[str]) -> None:
    """The first is the only one of level 1, and none is more than one level below that before it."""
    write_report([SAMPLES / log for log in logs], tmp_path / "page.html")
    tree = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))
    levels = [int(one.tag[1]) for one in tree.css("h1, h2, h3, h4, h5")]

    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ["orders_flash_ora_4711.trc", "orders_flash_ora_4711.prf"])
def test_phases_are_the_calls_and_add_up_to_their_sum(name: str, tmp_path: Path) -> None:
    """Own time and calls of each phase, and none of the time outside calls."""
    seen = summarize(SAMPLES / "sqltrace" / name)
    assert seen.ledger is not None
    assert write_report([SAMPLES / "sqltrace" / name], tmp_path / "page.html") == []
    table = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8")).css_first("table.phases")
    rows = {row.css_first("th").text(): row.css("td.number")[1].text() for row in table.css("tbody tr")}

    phases = {row["name"]: row for row in seen.ledger.parts("phase").to_dicts()}
    assert rows == {phase: f"{phases[phase]['count']:,.0f}" for phase in rows}
    assert {phase.casefold() for phase in rows} >= {"parse", "fetch"}
    assert not {phase for phase in phases if "round trips" in phase or "between" in phase} & set(rows)
    calls = [int(count.replace(",", "")) for count in rows.values()]
    assert table.css("tfoot td.number")[1].text() == f"{sum(calls):,}"


def test_the_strip_has_reads_and_events_as_parts_and_an_hour_a_label(tmp_path: Path) -> None:
    """Reads of one block and other I/O are rows, no class; one event that is its class names it; hours are labelled."""
    assert write_report([SAMPLES / "awr_series"], tmp_path / "page.html") == []
    strip = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8")).css_first("figure.strip")
    names = [row.css_first("span").text().strip() for row in strip.css("div.strip-row")]

    assert names[0] == "sessions active"
    assert {"CPU", "single-block reads", "other I/O", "free buffer waits", "log file sync"} <= set(names)
    assert not {"User I/O", "Configuration", "Commit", "Application"} & set(names)
    hours = [int(one.text()[:2]) for one in strip.css("svg.axis text")]
    assert all((after - before) % 24 == 1 for before, after in pairwise(hours))
    assert len(hours) == 14
    label, parameter = strip.css("text.when")
    line = strip.css_first("line.restart")
    assert (label.text(), label.attributes["x"]) == ("restart 2026-09-15 00:24", line.attributes["x1"])
    assert parameter.text() == "filesystemio_options NONE → SETALL"
    assert (
        "free buffer waits took 8.56 % of DB time before, and is not listed after."
        in HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8")).css_first("div.sentences").text()
    )


def test_sentences_of_a_folder_have_number_link_and_next(tmp_path: Path) -> None:
    """The base of the numbers stands above them; each link goes to something of the page."""
    assert write_report([SAMPLES / "awr_series"], tmp_path / "page.html") == []
    tree = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))
    there = {one.attributes["id"] for one in tree.css("[id]")}
    rows = tree.css("div.sentences li")
    links = [row.css_first("p > a") for row in rows]

    assert tree.css_first("div.sentences .base").text() == "change at the restart"
    assert [row.css_first(".impact").text() for row in rows] == ["× 8.33", "+70 %", "-9 %", "", ""]
    assert [link.text().rstrip("\xa0›") for link in links] == [
        *("6 and 6 reports", "comparison", "6 reports", "report", "report")
    ]
    assert {str(link.attributes["href"])[1:] for link in links} <= there
    steps = [row.css_first(".next").text() for row in rows]
    compare = "next compare the reports: iolab compare awrrpt_1_41{}.txt awrrpt_1_41{}.txt"
    assert steps[1] == steps[3] == compare.format("07_4108", "09_4110")
    assert steps[4] == compare.format("12_4113", "15_4116")


@pytest.mark.parametrize(
    ("name", "bold", "large"),
    [
        ("awr_series/awrrpt_1_4109_4110.txt", "HARBOR", "24,684 s"),
        ("sqltrace/orders_flash_ora_4711.trc", "demo1", "14.6 s"),
        ("one_case/orders_flash.lst", "SQL*Plus session", "0.55 to 0.59 s"),
        ("host/iostat.out", "iostat of quay07.example.com", "57,600 s"),
    ],
)
def test_the_name_is_bold_and_the_figure_large(name: str, bold: str, large: str, tmp_path: Path) -> None:
    """Of a title only the name, of a total only its figure."""
    assert write_report([SAMPLES / name], tmp_path / "page.html") == []
    page = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))

    assert [one.text() for one in page.css("h1 b")] == [bold]
    assert [one.text() for one in page.css("p.total b")] == [large]
    assert (page.css_first("h1").text() + (page.css_first("p.lead").text())).count("AWR report") == name.startswith(
        "awr"
    )
