"""Parts of pages: bars of statements, samples beside time without a name, missing time, the order of headings."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from iolab.pages.findings_html import findings_html
from iolab.pages.ledger_folder import LogRow, folder_head
from iolab.pages.ledger_html import covered, icicle_html, ledger_html, total_html
from iolab.pages.strip_html import strip_html
from iolab.pages.summary import summarize
from iolab.pages.writing import write_report
from iolab.rules.finding import Finding, findings_frame
from iolab.rules.time_parts import small_gaps
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


@pytest.mark.parametrize(
    ("cpu", "said"), [(40.0, "; 60 % is not accounted for"), (95.0, ""), (127.0, "; 27 % is counted twice")]
)
def test_the_total_says_how_much_has_no_name_or_two(cpu: float, said: str) -> None:
    """From 10 % on it is the one fact of the line; how idle the processors were is then in the line below the title."""
    made = Account(Interval.exact(100.0), "DB time")
    made.add("what", "DB CPU", Interval.exact(cpu), kind="cpu")
    one = made.ledger(text="DB time was 100 s; the 8 CPUs were 58 % idle")

    total = HTMLParser(total_html(one, anchor="log-1")).css_first("p.total")
    assert total.text() == f"DB time was 100 s{said or '; the 8 CPUs were 58 % idle'}"
    assert [*covered(one)] == ["8 CPUs 58 % idle"] * bool(said)


def test_samples_stand_below_the_time_without_a_name() -> None:
    """A dashed piece no longer than that time, and a row with two standard deviations that no sum contains."""
    plain, one = account(), account(sampled=50.0)

    assert "samples" not in icicle_html(plain, anchor="a") + ledger_html(plain, anchor="a")
    pieces = HTMLParser(icicle_html(one, anchor="a")).css("figure svg svg")
    seen = [piece for piece in pieces if piece.css("rect.c-samples")]
    assert [(piece.attributes["x"], piece.attributes["width"]) for piece in seen] == [("30.000%", "50.000%")]
    (row,) = HTMLParser(ledger_html(one, anchor="a")).css("tr.samples")
    assert [cell.text() for cell in row.css("td.number")] == ["50.0 ± 5.0", "50\u2008\u2007"]
    assert "Dot, line and ±: samples" in HTMLParser(ledger_html(one, anchor="a")).css_first("p.note").text()
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
    assert [row.css_first(".impact").text() for row in rows] == ["× 8.33", "+70 %", "−9 %", "new", "new"]
    assert [link.text().rstrip("\xa0›") for link in links] == [
        *("6 and 6 reports", "comparison", "6 reports", "report", "report")
    ]
    assert {str(link.attributes["href"])[1:] for link in links} <= there
    steps = [row.css_first(".next").text() for row in rows]
    compare = "next compare the reports: iolab compare awrrpt_1_41{}.txt awrrpt_1_41{}.txt"
    assert steps[1] == steps[3] == compare.format("07_4108", "09_4110")
    assert steps[4] == compare.format("12_4113", "15_4116")


def test_a_finding_without_a_share_of_the_base_says_its_own_number() -> None:
    """Another base stands below the share; else the first figure of the sentence, or "?" where it is not known."""
    half = Interval.exact(0.5)
    found = [
        Finding("load", "On average 127 sessions were active; it took 3 s.", order=0),
        Finding("time_profile", "CPU took 50 % of DB time.", half, part="DB CPU"),
        Finding("cpu_profile", "`7 s` was seen on CPU in 20.5 ms.", part="DB CPU"),
        Finding("sampled_statement", "It was in 50 % of the samples.", half, "the samples", part="DB CPU"),
        Finding("not_separable", "The time of one of 9 reads is not known.", is_refused=True),
    ]
    page = HTMLParser(findings_html(findings_frame(found), anchor="log-1"))

    assert page.css_first("p.base").text() == "% of DB time"
    numbers = [" ".join(one.text().split()) for one in page.css(".impact")]
    assert numbers == ["127 sessions", "50.0", "50.0 samples", "20.5 ms", "?"]
    assert page.css_first('.impact a[href="#log-1-rules"]').text() == "?"
    assert "does not show it" in page.css_first("#log-1-rules").text()


def test_gaps_and_client_time_have_sentences_where_there_is_room() -> None:
    """Little time between records, and of the client, has no finding; a page of few findings says it with a step."""
    made = Account(Interval.exact(100.0), "first to last record")
    for name, kind, seconds in (
        ("round trips", "wait", 99.0),
        ("between records", "gap", 0.6),
        ("idle client", "client", 0.4),
    ):
        made.add("what", name, Interval.exact(seconds), kind=kind)
    said = pl.DataFrame({"part": ["round trips"]})

    found = list(small_gaps(made.ledger(), said))
    assert found[0].sentence == "600 ms passed between records: 0.6 % of first to last record."
    assert [one.part for one in found] == ["between records", "idle client"]
    assert all(one.next for one in found)
    assert list(small_gaps(account(), said)) == []


@pytest.mark.parametrize(
    ("name", "bold", "large"),
    [
        ("awr_series/awrrpt_1_4109_4110.txt", "HARBOR", "24,684 s"),
        ("sqltrace/orders_flash_ora_4711.trc", "demo1", "14.6 s"),
        ("one_case/orders_flash.lst", "SQL*Plus session", "0.55 to 0.59 s"),
        ("host/iostat.out", "iostat of quay07.example.com", "57,600 s"),
        ("captures/async_direct_f_ttt_T_y.strace", "strace log of ./reader", "308.499 ms"),
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


@pytest.mark.parametrize(
    ("log", "title", "lead"),
    [
        (
            "sqltrace/orders_flash_ora_4711.trc",
            "23:00:00 to 23:00:14",
            ("service demo", "module orders_report", "process 4711", "% of the time is inside records"),
        ),
        ("awr_series/awrrpt_1_4102_4103.txt", "18:00 to 19:00", ("· 18:00:0", "up since 20")),
    ],
)
def test_the_head_says_when_and_how_far_to_trust_it(
    log: str, title: str, lead: tuple[str, ...], tmp_path: Path
) -> None:
    """The period has its end; the grey line has the process or start of the instance, and what the log covers."""
    page = tmp_path / "page.html"
    assert write_report([SAMPLES / log], page) == []
    tree = HTMLParser(page.read_text(encoding="utf-8"))

    assert title in tree.css_first("h1").text()
    assert [one for one in lead if one not in tree.css_first("p.lead").text()] == []


@pytest.mark.parametrize(("printed", "said"), [(30.0, "equal"), (44.0, "the parts have 30.0 %")])
def test_the_check_line_of_a_report_is_compared(printed: float, said: str) -> None:
    """How much of the total the report says it captured, and whether its parts add up to that."""
    made = Account(Interval.exact(100.0), "DB time")
    made.add("what", "DB CPU", Interval.exact(30.0), kind="cpu")
    made.check("Captured Time", view="what", printed=printed, computed=30.0, slack=0.5, unit="% of DB time")

    assert [*covered(made.ledger())] == [f"check line: {printed} %, {said}"]
    assert [*covered(account())] == [*covered(None)] == []


def test_the_head_of_two_reports_has_their_snapshots_and_idle_processors(tmp_path: Path) -> None:
    """Each file with its own, and of both how idle the processors were."""
    page = tmp_path / "page.html"
    logs = [SAMPLES / "awr_series" / f"awrrpt_1_{one}_{one + 1}.txt" for one in (4102, 4103)]
    assert write_report(logs, page) == []

    lead = HTMLParser(page.read_text(encoding="utf-8")).css_first("p.lead").text()
    assert [
        part in lead for part in ("(A), snapshots 4102 to 4103", "(B), snapshots 4103 to 4104", "idle ", " → ")
    ] == [True] * 4


def test_a_ledger_has_one_unit_and_its_points_in_a_line() -> None:
    """The unit is in the heading; a time known to whole seconds is not given a decimal, and a note says so."""
    made = Account(Interval(1_000.2, 1_000.15, 1_000.25), "DB time")
    for name, low, high, count in (
        ("db file scattered read", 599.5, 600.5, 100_000),
        ("log file sync", 300.1, 300.1, 7),
    ):
        made.add("what", name, Interval((low + high) / 2, low, high), kind="wait", count=Interval.exact(count))
    made.add("what", "latch free", Interval.exact(100.04), kind="wait")
    tree = HTMLParser(ledger_html(made.ledger(), anchor="a"))

    assert [one.text() for one in tree.css("thead th")][1:] == [
        "%",
        "time\N{NO-BREAK SPACE}s",
        "count",
        "average\N{NO-BREAK SPACE}ms",
    ]
    rows = [[cell.text() for cell in row.css("td.number")] for row in tree.css("tbody tr")]
    assert [row[1] for row in rows[:3]] == ["600\u2008\u2007", "300.1", "100.0"]
    assert [row[3].strip() for row in rows[:2]] == ["6", "42,900"]
    assert tree.css_first("tfoot .number:nth-child(4)").text() == "1,000.2"
    assert "whole seconds" in tree.css_first("p.note").text()


def test_blocks_that_contain_statements_are_shown_without_a_share() -> None:
    """Five of them and how many more, each with the word in place of a share; none is in the sum."""
    made = Account(Interval.exact(100.0), "DB time")
    made.add("who", "1vd9kx4rs6b7y select", Interval.exact(100.0), kind="mixed")
    for number in range(7):
        made.add("who", f"{number}vd9kx4rs6b7z begin", Interval.exact(0), kind="contains", count=Interval.exact(1))
    tree = HTMLParser(ledger_html(made.ledger(), anchor="a"))

    rows = tree.css("tr.contains")
    assert [row.css_first("td.number").text() for row in rows] == ["contains"] * 6
    assert [row.css("td.number")[1].text() for row in rows] == [""] * 6
    assert rows[-1].css_first("th").text() == "2 other blocks"
    assert '"contains"' in tree.css("p.note")[-1].text()


@pytest.mark.parametrize(
    "logs",
    [
        ["awr_series/awrrpt_1_4107_4108.txt", "awr_series/awrrpt_1_4109_4110.txt"],
        ["awr_series"],
        ["one_case/awrrpt_1_881_882.txt", "sqltrace/orders_flash_ora_4711.trc", "sqltrace/orders_flash_ora_4711.prf"],
    ],
)
def test_signs_lead_to_their_rules_and_points_stand_in_a_line(logs: list[str], tmp_path: Path) -> None:
    """In tables of account ≤, ± and ? are links to a rule, a minus is a true one, and decimals have one length."""
    assert write_report([SAMPLES / one for one in logs], tmp_path / "page.html") == []
    tree = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))
    there = {one.attributes["id"] for one in tree.css("[id]")}
    cells = [cell for cell in tree.css("table.ledger td, .impact") if "bar" not in (cell.attributes.get("class") or "")]
    signs = [sum(cell.text().count(sign) for sign in "≤±?") for cell in cells]
    links = [[str(one.attributes["href"])[1:] for one in cell.css("a[title]")] for cell in cells]

    assert [len(one) for one in links] == signs
    assert {name for one in links for name in one} <= there
    assert [cell.text() for cell in cells if re.match(r"<=|-\d|\d+-\d+$", cell.text())] == []
    for table in tree.css("table.ledger:not(.phases, .what-if table)"):
        rows = [[cell.text().strip(" \n") for cell in row.css("td")] for row in table.css("tbody tr:not(.gap)")]
        for column in zip(*(row for row in rows if len(row) == max(map(len, rows))), strict=True):
            ends = [re.fullmatch(r"[≤<+−]? ?[\d,]+(?:[.\u2008](\d*\u2007*))?", one) for one in column]
            assert len({len(one[1] or "") for one in ends if one}) <= 1, column


def test_the_next_step_of_a_longer_read_is_what_changed_with_it() -> None:
    """A parameter that changed between the two logs, else the devices; never the plan of a statement."""

    def log(hour: int, each: float) -> LogRow:
        made = Account(Interval.exact(100.0), "DB time")
        time, count = Interval.exact(80.0), Interval.exact(80.0 / each)
        made.add("what", "db file sequential read", time, kind="io", count=count, next_step="see the plan of `1a`")
        begin = datetime(2026, 9, 14, hour)  # noqa: DTZ001 - reports have no zone
        ledger = made.ledger(elapsed=Interval.exact(3600.0))
        caches = pl.DataFrame({"parameter": ["db_cache_size"], "begin": ["2147483648"], "end": [None]})
        return LogRow(("awr", ""), "report", "", begin, begin + timedelta(hours=1), ledger, None, caches, "x, 64 GiB")

    logs = {f"r{hour}": log(hour, 0.001 if hour < 3 else 0.008) for hour in range(6)}
    changed = {"from_time": logs["r2"].end, "to_time": logs["r3"].begin, "before": "NONE", "after": "SETALL"}
    for parameter, step in (
        (None, "see the devices: iostat -xt 5"),
        ("filesystemio_options", "enlarge `db_cache_size` (2 GiB of 64 GiB): with SETALL reads bypass the page cache"),
        ("db_writer_processes", "test with `db_writer_processes` = NONE again: it changed at the same time"),
    ):
        _, _, said, _ = folder_head(logs, [changed | {"parameter": parameter}] if parameter else [])
        assert said[1].step == step
