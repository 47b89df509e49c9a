"""The pictures of a page that stand beside its figures: icicle with a magnified row, waterfall, time strip."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser as HTMLParser

import iolab
from iolab.comparison.result import SampledStatement
from iolab.loading import load
from iolab.pages.before_after import write_change_report
from iolab.pages.findings_html import findings_html
from iolab.pages.ledger_folder import sets_head
from iolab.pages.ledger_html import icicle_html, ledger_html
from iolab.pages.ledger_rows import LARGE, LEAST, PAGE_LEAST, ledger_rows
from iolab.pages.waterfall_html import beside_waterfall_html, waterfall_html
from iolab.pages.writing import write_report
from iolab.rules.finding import Finding, findings_frame
from iolab.rules.phrases import three
from iolab.time_ledger import Account, Ledger
from iolab.time_ledger.parts import ASIDE, UNKNOWN
from logframe.interval import Interval

SAMPLES = Path(__file__).parents[2] / "sample_data"
SERIES = SAMPLES / "awr_series"
WIDTHS = re.compile(r'<svg x="[\d.]+%" y="(\d+)" width="([\d.]+)%"')
BARS = re.compile(r'<rect x="([\d.]+)%" y="6" width="([\d.]+)%"')
STEPS = re.compile(r'<line x1="([\d.]+)%" x2="\1%" y1="6"')


def ledger(parts: dict[str, float]) -> Ledger:
    """A ledger of waits that adds up."""
    account = Account(Interval.exact(sum(parts.values())), "DB time")
    for name, seconds in parts.items():
        kind = "cpu" if name == "DB CPU" else "wait"
        account.add("what", name, Interval.exact(seconds), kind=kind, count=Interval.exact(10.0))
    return account.ledger()


@pytest.mark.parametrize(("large", "is_magnified"), [(93.0, False), (98.0, True), (99.9, True), (100.0, False)])
def test_what_is_beside_nearly_all_is_magnified(large: float, is_magnified: bool) -> None:  # noqa: FBT001 - a case
    """Small parts are readable: a row of their own, as wide as the total."""
    drawn = icicle_html(
        ledger({"Network": large, "DB CPU": (100 - large) * 0.6, "Commit": (100 - large) * 0.4}), anchor="a"
    )
    assert ('class="wedge"' in drawn) == is_magnified
    assert ("times as wide" in drawn) == is_magnified
    if is_magnified:
        lowest = drawn[drawn.index('class="wedge"') :]
        assert sum(float(width) for _, width in WIDTHS.findall(lowest)) == pytest.approx(100, abs=0.01)
        assert f"{three(100 / (100 - large))} times as wide" in drawn


def test_what_is_within_calls_is_magnified_in_their_place() -> None:
    """Beside a long wait for the client calls are drawn by their parts; time that was not lost does not hide them."""
    account = Account(Interval.exact(100.0), "first record to last record")
    account.add("what", "database calls", Interval.exact(3.0), kind="mixed")
    for name, kind, seconds in (("CPU", "cpu", 2.0), ("db file sequential read", "io", 1.0)):
        account.add("what", name, Interval.exact(seconds), kind=kind, parent="database calls")
    account.add("what", "client", Interval.exact(97.0), kind="client")
    assert account.ledger().parts("what").filter(kind="not_accounted").height  # of 0 s
    drawn = icicle_html(account.ledger(), anchor="a")
    lowest = drawn[drawn.index('class="wedge"') :]
    assert [float(width) for _, width in WIDTHS.findall(lowest)] == pytest.approx([66.667, 33.333], abs=0.01)
    assert [("c-cpu" in lowest), ("c-single_block" in lowest), ("database calls" in lowest)] == [True, True, False]


def test_the_key_names_what_is_drawn_and_nothing_else() -> None:
    """Only colours in use are explained."""
    drawn = icicle_html(ledger({"DB CPU": 60.0, "Commit": 40.0}), anchor="a")
    assert re.findall(r"</svg> ([^<]+)</span>", drawn[drawn.index("icicle-key") :]) == ["CPU", "Commit"]


def test_statements_on_a_page_add_up_and_time_without_one_is_hatched() -> None:
    """Many small statements are one row of their sum, however little it is; what no list names has its chip."""
    account = Account(Interval.exact(1000.0), "DB time")
    account.add("what", "DB CPU", Interval.exact(1300.0), kind="cpu")
    account.add("who", "1vd9kx4rs6b7y a", Interval.exact(800.0), kind="mixed")
    for number in range(30):
        account.add("who", f"3vd9kx4rs6b{number:02} b", Interval.exact(0.2), kind="mixed")
    account.add("who", "not captured", Interval.exact(194.0), kind="not_in_log")
    one = account.ledger()
    rows = [row for row in ledger_rows(one, "who", least=PAGE_LEAST) if not row.level]
    assert sum(float(row.percent) for row in rows) == pytest.approx(100, abs=0.2)
    tree = HTMLParser(ledger_html(one, anchor="a")).css("tr.who")
    assert [row.css_first("th").text() for row in tree if row.css_first("th > svg rect.open")] == ["not captured"]
    assert "counted twice 30 %" in icicle_html(one, anchor="a")


def test_beside_a_total_of_0_nothing_is_drawn_and_the_parts_are_listed() -> None:
    """Nothing has a share of nothing."""
    account = Account(Interval(0.0, 0.0, 0.01), "calls of the session")
    account.add("what", "CPU", Interval.exact(0.23), kind="cpu")
    one = account.ledger()
    assert not icicle_html(one, anchor="a")
    assert HTMLParser(ledger_html(one, anchor="a")).css_first("tbody th").text() == "CPU"


def test_pieces_lead_where_rows_do(tmp_path: Path) -> None:
    """A piece of the icicle is a link to the place that the row of its name leads to, which is on the page."""
    assert write_report([SERIES / "awrrpt_1_4109_4110.txt"], tmp_path / "page.html") == []
    tree = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))
    rows = {row.text(): row.attributes["href"] for row in tree.css("#log-1-what th a")}
    pieces = {piece.css_first("title").text(): piece.attributes["href"] for piece in tree.css(".icicle a")}
    led = {name: place for said, place in pieces.items() if (name := re.sub(r" [\d.]+ %$", "", said)) in rows}
    assert len(led) > 2
    assert led == {name: rows[name] for name in led}
    assert {place for place in pieces.values() if tree.css_first(place or "") is None} == set()


def test_where_the_total_was_spent_stands_below_the_statements() -> None:
    """Services of 1 % or more, in one line; none where the log has none."""
    account = Account(Interval.exact(100.0), "DB time")
    account.add("who", "1vd9kx4rs6b7y a", Interval.exact(80.0), kind="mixed")
    assert "<b>Where</b>" not in ledger_html(account.ledger(), anchor="a")
    for name, seconds in (("SYS$USERS", 89.5), ("APP", 10.0), ("SYS$BACKGROUND", 0.5)):
        account.add("where", name, Interval.exact(seconds), kind="mixed")
    page = HTMLParser(ledger_html(account.ledger(), anchor="a"))
    assert [one.text() for one in page.css("#a-who p.note")] == ["Where: SYS$USERS 89.5 %, APP 10.0 %"]


def test_two_periods_of_one_day_have_one_date() -> None:
    """The heading of a pair says what both have in common once."""
    names = ("awrrpt_1_4103_4104.txt", "awrrpt_1_4105_4106.txt")
    sets = {side: {name: load(SERIES / name)} for side, name in zip("AB", names, strict=True)}
    head = "HARBOR on quay07, 2026-09-14: 19:00 to 20:00 (A) and 21:00 to 22:00 (B)"
    assert sets_head(sets) == (head, "AWR report 12.1.0.2")


HARBOR, DEMO = "HARBOR on quay07, 2026-09-14", "demo1 on demo, session 145.6021"


@pytest.mark.parametrize(
    ("logs", "title", "kind"),
    [
        (["awr_series"], "HARBOR on quay07, 2026-09-14 18:00 to 2026-09-15 08:00", "13 AWR reports 12.1.0.2"),
        (
            [f"awr_series/awrrpt_1_{n}_{n + 1}.txt" for n in (4102, 4103, 4104)],
            "HARBOR on quay07, 2026-09-14 18:00 to 21:00",
            "3 AWR reports 12.1.0.2",
        ),
        (["awr_series/awrrpt_1_4102_4103.txt"], f"{HARBOR} 18:00 to 19:00", "AWR report 12.1.0.2 · instance harbor1"),
        (
            ["awr_series/awrrpt_1_4102_4103.txt", "one_case/awrrpt_1_881_882.txt"],
            f"{HARBOR} 18:00 to 19:00 (A) and DEMO on demo.example.com, 2026-03-02 22:55 to 23:05 (B)",
            "AWR report",
        ),
        (
            ["awr_series/awrrpt_1_4103_4104.txt", "awr_series/awrrpt_1_4105_4106.txt"],
            f"{HARBOR}: 19:00 to 20:00 (A) and 21:00 to 22:00 (B)",
            "4106.txt (B), snapshots 4105 to 4106 · Linux x86 64-bit, 16 processors, 64 GiB · idle 93 → 81 %",
        ),
        (
            ["host/iostat.out", "host/vmstat.out"],
            "iostat of quay07.example.com (A) and vmstat (B), 2026-09-14 20:00:10 to 21:00:10",
            "iostat.out (A)",
        ),
        (
            ["sqltrace/orders_disk_ora_4890.trc", "sqltrace/orders_flash_ora_4711.trc"],
            f"{DEMO}, 2026-03-02: 21:30 to 21:30 (A) and 21:00 to 21:00 (B)",
            "extended SQL trace",
        ),
        (
            ["runs/buffered_direct_async.txt", "one_case/orders_flash.lst"],
            "SQL*Plus session: 93 runs of 3 statements (A) and 3 statements (B)",
            "orders_flash.lst (B)",
        ),
    ],
    ids=["folder", "few", "one", "two databases", "pair", "tools", "traces", "sessions"],
)
def test_a_title_is_of_what_where_and_when(logs: list[str], title: str, kind: str, tmp_path: Path) -> None:
    """The title, in the bar of the browser too, begins with the database and its host; the kind stands below it."""
    assert write_report([SAMPLES / log for log in logs], tmp_path / "page.html") == []
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"<title>{title}</title>" in page
    heading, below = re.findall(r'<h1>(.*?)</h1><p class="lead">(.*?)</p>', page)[0]
    assert heading.replace("<b>", "").replace("</b>", "") == title
    assert kind in below


def test_a_part_keeps_its_colour_in_a_change() -> None:
    """In a waterfall a part without a parent has the colour of its class, in its bar and in a chip before its name."""
    sides = []
    for seconds in (10.0, 30.0):
        account = Account(Interval.exact(seconds + 1), "total call time")
        account.add("what", "round trips", Interval.exact(seconds), kind="wait", wait_class="Network")
        account.add("what", "CPU", Interval.exact(1.0), kind="cpu")
        sides.append(account.ledger())
    page = waterfall_html(sides[0].compare(sides[1]))
    assert page.count('class="c-network"') == 2
    assert "</svg><code>round trips</code></th>" in page


def test_what_logs_say_stands_before_how_they_ran(tmp_path: Path) -> None:
    """On a page whose logs have nothing in common the first finding of each comes before the lanes of time."""
    assert write_report([SAMPLES / "host/iostat.out", SAMPLES / "one_case"], tmp_path / "page.html") == []
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index('id="logs"') < page.index('id="over-time"')
    assert '<p class="lead">iostat of quay07.example.com · AWR report · SQL*Plus session</p>' in page


@given(
    st.lists(st.tuples(st.floats(0.1, 90), st.floats(0.1, 90)), min_size=2, max_size=20).filter(
        lambda pairs: any(abs(a - b) > 0.5 for a, b in pairs)
    )
)
def test_a_bar_begins_where_the_one_above_it_ends(pairs: list[tuple[float, float]]) -> None:
    """The bars lead from the first total to the second, whatever changed."""
    sides = [{f"event {n}": pair[side] for n, pair in enumerate(pairs)} for side in (0, 1)]
    page, _, both = waterfall_html(ledger(sides[0]).compare(ledger(sides[1]))).partition("<details")
    assert set(re.findall(r'href="#([^"]+)"', page)) <= {*re.findall(r'id="([^"]+)"', both)}
    bars = [(float(left), float(left) + float(width)) for left, width in BARS.findall(page)]
    steps = [float(place) for place in STEPS.findall(page)]
    assert len(bars) == len(steps) + 1 == page.count("<tr") - 1
    assert bars[0] == (0, pytest.approx(steps[0], abs=0.2))
    for before, (left, right), after in zip(steps, bars[1:], steps[1:], strict=False):
        assert min(abs(left - before), abs(right - before)) < 0.2
        assert min(abs(left - after), abs(right - after)) < 0.2
    assert bars[-1][1] == pytest.approx(steps[-1], abs=0.2)


def test_a_part_whose_count_and_average_moved_against_each_other_has_a_bar() -> None:
    """Fewer waits that last longer change the total by little; of two such parts the still one is no row."""
    sides = []
    for side, often in enumerate((100.0, 30.0)):
        account = Account(Interval.exact(40.0 + 10 * side), "total call time")
        account.add("what", "CPU", Interval.exact(10.0 + 9.98 * side), kind="cpu")
        account.add("what", "fewer, longer", Interval.exact(10.0 + 0.01 * side), kind="io", count=Interval.exact(often))
        account.add("what", "as before", Interval.exact(20.0 + 0.01 * side), kind="io", count=Interval.exact(50.0))
        sides.append(account.ledger())
    names = [row["name"] for row in sides[0].compare(sides[1]).steps()]
    assert names[:2] == ["CPU", "fewer, longer"]
    assert "as before" not in names


def test_sentences_and_bars_of_a_pair_open_rows_of_the_page(tmp_path: Path) -> None:
    """Each link goes to something on the page, and each bar has a name for a screen reader."""
    names = [SERIES / f"awrrpt_1_{one}.txt" for one in ("4107_4108", "4109_4110")]
    assert write_report(names, tmp_path / "page.html") == []
    tree = HTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))
    there = {one.attributes["id"] for one in tree.css("[id]")}
    rows = tree.css("ol.findings.unmarked")[0].css("li")
    bars = tree.css("table.waterfall tr.step")
    links = [one for row in rows for one in row.css("p > a")]
    pieces = [one.css_first("svg[role=group] a") for one in bars]
    assert len(links) > 2
    for link in [*links, *pieces]:
        assert str(link.attributes["href"])[1:] in there
    for bar, piece in zip(bars, pieces, strict=True):
        assert str(piece.attributes["aria-label"]).startswith(bar.css_first("th").text())


@pytest.mark.parametrize(
    ("shares", "tag", "cells"),
    [
        ((Interval(0, 0, 0.02), Interval(0.5, 0.45, 0.55)), "new, samples", ["≤ 0.200", "10 ± 1", "?", ""]),
        ((Interval(0.3, 0.2, 0.4), Interval(0, 0, 0.01)), "gone, samples", ["3 ± 1", "≤ 0.200", "?", ""]),
        ((Interval(0.2, 0.1, 0.3), Interval(0.4, 0.3, 0.5)), "samples", ["2 ± 1", "8 ± 2", "?", ""]),
    ],
)
def test_a_statement_that_only_samples_name_is_the_first_row(
    shares: tuple[Interval, Interval], tag: str, cells: list[str]
) -> None:
    """Its share of the samples of the total, each sign a link to its rule, and its name one to its text."""
    sides = [ledger({"read": seconds}) for seconds in (10.0, 20.0)]
    total = [float(side.total.value) for side in sides if side.total is not None]
    assert total == [10.0, 20.0]
    sampled = SampledStatement("", "0kg3s5m4uzp32", "SELECT 1", shares)
    page = beside_waterfall_html(
        sides[0].compare(sides[1]), [], sampled=sampled, texts={"0kg3s5m4uzp32": "log-2-ash_sql_events"}
    )
    row = HTMLParser(page).css("tr.who")[0]
    assert row.css_first("small").text() == tag
    assert [cell.text() for cell in row.css("td")] == cells
    name, *signs = row.css("a")
    assert (name.text(), name.attributes["href"]) == ("0kg3s5m4uzp32", "#log-2-ash_sql_events")
    rules = HTMLParser(page).css_first("p.note")
    assert {str(one.attributes["href"])[1:] for one in signs} == {rules.attributes["id"]}
    assert all(f"{one.text()}: " in rules.text() for one in signs)


def test_a_folder_is_drawn_to_scale_in_time_with_its_restart(tmp_path: Path) -> None:
    """Missing time is hatched, and a restart is a line through all rows."""
    assert write_report([SERIES], tmp_path / "page.html") == []
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    strip = page[page.index('<figure class="strip"') : page.index('<section id="heat"')]
    rows = strip.count('role="group"')
    assert "restart 2026-09-15 00:24" in strip
    assert strip.count('class="restart"') == rows > 3
    first = strip[: strip.index('class="restart"')]
    drawn = re.findall(r'<rect x="([\d.]+)%"[^>]*class="([^"]+)"', first)
    assert [kind for _, kind in drawn].count("no-report") == 2
    places = [float(place) for place, kind in drawn if kind != "no-report"]
    assert len(places) == 12  # the report of the restart has no time, and 05:00 is missing
    assert places == sorted(places)
    gaps = [round(14 * (after - before) / 100) for before, after in pairwise(places)]
    assert gaps == [1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 1]
    begins = re.findall(
        r'<td class="begin"><a href="#log-\d+">(2026-[^<]+)</a>',
        page[page.index('<section id="heat"') : page.index('id="over-time"')],
    )
    assert begins == sorted(begins)


def test_a_page_of_a_change_says_of_what_where_and_when(tmp_path: Path) -> None:
    """The heading is no file name; the change is drawn before all else."""
    sets = [SERIES / "awrrpt_1_4103_4104.txt"], [SERIES / "awrrpt_1_4110_4111.html"]
    for write in (
        lambda page: write_change_report(*sets, page),
        lambda page: write_report([*sets[0], *sets[1]], page),
    ):
        assert write(tmp_path / "page.html") == []
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        heading = re.search(r"<h1>(.*?)</h1>", page)
        assert heading is not None
        for said in ("HARBOR on quay07", "2026-09-14 19:00 to 20:00", "2026-09-15 02:00 to 03:00"):
            assert said in heading[1].replace("<b>", "").replace("</b>", "")
        assert "AWR report" not in heading[1]
        tree = HTMLParser(page)
        texts = [tree.css_first(str(one.attributes["href"])) for one in tree.css("div.ledgers tr.who th a")]
        assert len(texts) > 3
        assert all(one is not None and one.css("pre.sql") for one in texts)
        assert page.index("waterfall") < page.index("<h2>S" if "settings" in page else "<h2>Logs")


@given(
    st.lists(
        st.tuples(st.sampled_from(["User I/O", "Commit", "Network", "Other"]), st.floats(0.001, 40)),
        min_size=1,
        max_size=30,
    )
)
def test_no_time_is_left_out_of_a_table(events: list[tuple[str, float]]) -> None:
    """On a page the rows of the first level add up to the total, and those within a class to it, if it has any."""
    sums: dict[str, float] = {}
    for name, seconds in events:
        sums[name] = sums.get(name, 0.0) + seconds
    account = Account(Interval.exact(sum(sums.values()) + 10.0), "DB time")
    for name, seconds in sums.items():
        account.add("what", name, Interval.exact(seconds), kind="wait", wait_class=name)
    for number, (name, seconds) in enumerate(events):
        account.add("what", f"event {number}", Interval.exact(seconds), kind="wait", parent=name, wait_class=name)
    made = account.ledger()
    rows = ledger_rows(made, "what", least=PAGE_LEAST)
    tops = [row for row in rows if row.level == 0]
    assert sum(row.hi or 0.0 for row in tops) == pytest.approx(1.0)
    for top in tops:
        below = list(takewhile(lambda row: row.level, rows[rows.index(top) + 1 :]))
        if below:
            assert sum(row.hi or 0.0 for row in below) == pytest.approx(top.hi, abs=0.002)  # a row of 0.0 % is left out


def test_a_class_with_one_event_is_one_row() -> None:
    """On a page the row has the names of both, the time of the class, and the waits of the event; a screen has two."""
    account = Account(Interval.exact(100.0), "DB time")
    for name, seconds in (("Commit", 40.0), ("Network", 30.0)):
        account.add("what", name, Interval.exact(seconds), kind="wait", wait_class=name)
    waits = {"kind": "wait", "parent": "Commit", "wait_class": "Commit", "count": Interval.exact(80.0)}
    account.add("what", "log file sync", Interval.exact(39.999), **waits)
    for event in ("sent", "received"):
        account.add("what", event, Interval.exact(15.0), kind="wait", parent="Network", wait_class="Network")
    shown = {least: ledger_rows(account.ledger(), "what", least=least) for least in (PAGE_LEAST, LEAST)}
    one, *others = shown[PAGE_LEAST]
    assert (one.name, one.level, one.time, one.count) == ("Commit: log file sync", 0, "40 s", "80")
    assert [row.name for row in others[:3]] == ["Network", "received", "sent"]
    assert [row.name for row in shown[LEAST][:2]] == ["Commit", "log file sync"]
    page = ledger_html(account.ledger(), anchor="log-1")
    assert 'class="c-commit"/></svg>Commit: <code>log file sync</code></th>' in page


@pytest.mark.parametrize("log", ["one_case/awrrpt_1_881_882.txt", "captures/async_direct_tt_T.strace"])
def test_folded_parts_are_counted_below_a_share_that_is_named(log: str) -> None:
    """A screen and a page fold parts at shares of their own: each row says the share, and the count is of all below."""
    made = iolab.ledger(SAMPLES / log)
    tops = made.parts("what").filter(pl.col("level") == 0, ~pl.col("kind").is_in([*ASIDE, *UNKNOWN, "contains"]))
    named = []
    for least in (PAGE_LEAST, LEAST, LARGE):
        for row in ledger_rows(made, "what", least=least):
            if row.row is None and not row.level:
                count, share = map(float, re.findall(r"^(\d+) .* below ([\d.]+) % each", row.name)[0])
                named.append(share)
                assert count == tops.filter(pl.col("share_hi") < share / 100).height

    assert named


def test_the_parts_of_a_change_have_their_share_and_a_next_step() -> None:
    """Each of the largest parts has its share of the change; at most three, and none that moved by little."""
    sides = [
        {"DB CPU": 40.0, "a": 10.0, "b": 20.0, "c": 30.0, "d": 1.0},
        {"DB CPU": 40.1, "a": 60.0, "b": 50.0, "c": 35.0},
    ]
    moves = ledger(sides[0]).compare(ledger(sides[1])).moves
    assert [(round(100 * (share or 0)), sentence) for share, sentence, *_ in moves] == [
        (59, "`a` rose by 50 s: as often, 6 times as long each time."),
        (36, "`b` rose by 30 s: as often, 2.50 times as long each time."),
        (6, "`c` rose by 5 s: as often, 1.17 times as long each time."),
    ]


def test_a_refusal_is_not_folded() -> None:
    """Of many findings five are open, the last of them what cannot be told; none is lost."""
    found = [Finding("load", f"Fact {number}.") for number in range(8)]
    refused = [Finding("not_separable", "It cannot be told.", is_refused=True, next="vmstat 5")]
    page = findings_html(findings_frame([*found, *refused]), anchor="log-1")
    head, folded = page.split("<details>")
    assert head.count("<li") == 5
    assert head.index("Fact 3.") < head.index("It cannot be told.")
    assert '<p class="detail next"><b>next</b> vmstat 5</p>' in head
    assert (folded.count("<li"), "Fact 4." in folded) == (4, True)
    assert "<details>" not in findings_html(findings_frame(found[:5]), anchor="log-1")


def test_the_table_of_a_folder_has_rates_and_latency(tmp_path: Path) -> None:
    """A report has the average and rate of the leading wait, and its transactions per second."""
    assert write_report([SERIES], tmp_path / "page.html") == []
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    table = page[page.index('<section id="heat"') : page.index('id="over-time"')]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', table)
    assert heads[-3:] == ["db file sequential read (ms)", "per s", "transactions per s"]
    assert re.findall(
        r'<tr class="gap"><td colspan="\d+">([^<]+)</td></tr><tr><th scope="row"><a [^>]+>([^<]+)', table
    ) == [
        ("no figures from 2026-09-15 00:00 to 2026-09-15 01:00; restart 00:24", "awrrpt_1_4109_4110.txt"),
        ("no figures from 2026-09-15 05:00 to 2026-09-15 06:00", "awrrpt_1_4114_4115.txt"),
    ]
    bars = {}
    for row in re.findall(r"<tr><th.*?</tr>", table):
        if pieces := re.findall(r'<rect x="([\d.]+)" y="1" width="([\d.]+)"', row):
            ends = [float(place) + float(width) for place, width in pieces]
            # each piece begins where the last one ends, but for those too short to draw
            assert all(abs(float(at) - end) < 0.2 for (at, _), end in zip(pieces[1:], ends, strict=False))
            bars[float(re.findall(r'<td class="number">([\d.]+)\s*</td>', row)[0])] = ends[-1]
    assert len(bars) == 12
    assert max(bars.values()) == pytest.approx(100, abs=0.3)
    assert [bars[size] / 100 for size in sorted(bars)] == pytest.approx(
        [size / max(bars) for size in sorted(bars)], abs=0.01
    )
    assert re.findall(r"</svg> ([^<]+)</td>", table).count("single-block reads") == 4
    row = next(one for one in table.split("<tr>") if "4102_4103" in one)
    assert re.findall(r'<td class="number">([\d.]+)\s*</td>', row)[-3:] == ["0.563", "316", "37.8"]
    assert "next</b> compare the reports: iolab compare awrrpt_1_4107_4108.txt awrrpt_1_4109_4110.txt" in page


def test_a_pair_has_statements_with_bounds_and_what_was_equal(tmp_path: Path) -> None:
    """A statement that one report does not list has at most what the list by elapsed time ends with."""
    pair = [SERIES / "awrrpt_1_4107_4108.txt", SERIES / "awrrpt_1_4109_4110.txt"]
    reports = [load(one) for one in pair]
    least = [
        one["sql"].filter(ordered_by="elapsed").select(pl.col("elapsed_s_hi").min() / one.info.elapsed_s).item()
        for one in reports
    ]
    change = iolab.ledger(reports[0]).compare(iolab.ledger(reports[1]))
    listed = change.parts.filter(pl.col("kind") == "mixed", view="who")
    for side, status, most in zip("ab", ("new", "vanished"), least, strict=True):
        assert all(row[f"{side}_hi"] <= most + 1e-6 for row in listed.filter(status=status).to_dicts())
    for write in (lambda page: write_report(pair, page), lambda page: write_change_report(pair[:1], pair[1:], page)):
        assert write(tmp_path / "page.html") == []
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        table = page[page.index("<caption>Statements") :]
        table = table[: table.index("</table>")]
        assert table.count("<tr") == 1 + min(9, listed.height)
        assert re.search(r"<td class=number>[\d.]+ m?s → [\d.]+ m?s</td>", table)
        equal = re.search(r"<b>Equal in both</b>: ([^<]+)</li>", page)
        assert equal is not None
        assert equal[1].startswith("database HARBOR, instance harbor1, release 12.1.0.2.0, host quay07, ")
        assert equal[1].endswith(" parameters.")
