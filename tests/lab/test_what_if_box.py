"""The what-if box of a page: complete without its script, and with it the same figures as `Ledger.what_if`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import CHROMIUM, open_browser, outside
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from iolab import ledger
from iolab.pages.elements import page_html
from iolab.pages.summary import summarize
from iolab.pages.what_if_html import what_if_html
from iolab.pages.writing import write_report
from iolab.rules.phrases import three
from iolab.time_ledger import Account, Ledger
from logframe import Interval, LogError

SAMPLES = Path(__file__).parents[2] / "sample_data"


def trips() -> Ledger:
    """A session that waits for its client, with a lock whose time answers no what-if."""
    account = Account(Interval(100.0, 99.5, 100.5), "total call time")
    some = {"round trips between fetches": (60.0, 6000.0), "enq: TX - row lock contention": (9.0, 3.0)}
    for name, (seconds, count) in some.items():
        time = Interval(seconds, seconds - 0.4, seconds + 0.3)
        account.add("what", name, time, kind="wait", count=Interval.exact(count))
    account.add("what", "db file sequential read", Interval(20.0, 19.0, 21.0), kind="io", count=Interval.exact(4000.0))
    account.add("what", "CPU", Interval.exact(8.0), kind="cpu")
    return account.ledger()


def test_a_table_for_other_numbers_of_rows() -> None:
    """Without a script the box has the total for each number of rows, with its bounds, and that of the log itself."""
    box = what_if_html(trips(), anchor="a", rows=15.0)
    found = trips().what_if("round trips between fetches", count=6000 * 15 / 20)
    assert "<td>20</td><td>4,500</td>" in box
    assert f"{found.after.lo:.1f} to {found.after.hi:.1f} s" in box
    assert "<tr class=now><td>15</td><td>6,000</td>" in box
    assert 'class="fields" hidden' in box


def test_a_log_without_a_part_that_answers_has_no_box() -> None:
    """Locks alone answer no what-if."""
    account = Account(Interval.exact(10.0), "DB time")
    account.add("what", "enq: TX - row lock contention", Interval.exact(9.0), kind="wait", count=Interval.exact(3.0))
    assert what_if_html(account.ledger(), anchor="a") == ""


def test_the_box_has_the_round_trips_of_a_trace() -> None:
    """Array size, rows of a fetch and times are those of the records of the trace; of few trips none are drawn."""
    seen = summarize(SAMPLES / "sqltrace" / "orders_flash_ora_4711.trc")
    row = seen.frames["round_trips"].row(0, named=True)
    waits = seen.log.waits.filter(pl.col("event") == "SQL*Net message from client", pl.col("elapsed_us") < 1_000_000)
    times = waits.get_column("elapsed_us")
    assert (row["shortest_us"], row["longest_us"]) == (times.min(), times.max())
    assert seen.ledger is not None
    part = seen.ledger.parts("what").row(by_predicate=pl.col("name") == "round trips between fetches", named=True)
    assert (row["round_trips"], row["elapsed_us"] / 1e6) == (part["count"], pytest.approx(part["seconds"]))
    fetches = seen.log.calls.filter(op="FETCH").get_column("rows")
    assert row["array_size"] == fetches.max() == 100
    box = what_if_html(trips(), anchor="a", rows=15.0, trips=row)
    assert f"shortest {three(row['shortest_us'] / 1e3)} ms, longest {three(row['longest_us'] / 1e3)} ms" in box
    ends = re.search(r'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]*/><rect x="([\d.]+)%" width="([\d.]+)%"', box)
    assert ends is not None
    first, last, left, width = map(float, ends.groups())
    assert first == 0 < left < left + width < last == 100
    assert "svg" not in what_if_html(trips(), anchor="a", trips=row | {"round_trips": 58}).split("</table>")[1]


def fetched(size: int, rows: int = 600, column: str = "a") -> str:
    """A trace whose session fetches rows of a statement, so many at a time; a trip to the client takes 2 ms."""
    text = "PARSING IN CURSOR #1 len=15 dep=0 uid=1 oct=3 lid=1 tim=1000 hv=1 ad='1'\n"
    text += f"select {column} from t\nEND OF STMT\n"  # noqa: S608 - of a log
    call = "{}#1:c=50,e=100,p=0,cr=2,cu=0,mis=0,r={},dep=0,og=1,plh=9,tim={}\n"
    text += call.format("PARSE ", 0, 1200) + call.format("EXEC ", 0, 1400)
    for number in range(rows // size):
        tim = 1600 + 2200 * number
        text += call.format("FETCH ", size, tim)
        text += (
            f"WAIT #1: nam='SQL*Net message from client' ela= 2000 driver id=1 #bytes=1 p3=0 obj#=3 tim={tim + 2050}\n"
        )
    return text


def test_a_run_of_the_same_work_is_marked_where_it_was_measured(tmp_path: Path) -> None:
    """On a page of several traces each box has a ring for the ones that fetched as many rows of the same statement."""
    texts = {"ten": fetched(10), "fifty": fetched(50), "less": fetched(10, 500), "other": fetched(20, column="b")}
    for name, text in texts.items():
        (tmp_path / f"{name}.trc").write_text(text, encoding="utf-8")
    assert write_report([tmp_path / f"{name}.trc" for name in texts], tmp_path / "page.html") == []
    boxes = (tmp_path / "page.html").read_text(encoding="utf-8").split('<section class="what-if"')[1:]
    totals = {name: ledger(tmp_path / f"{name}.trc").total.value for name in texts}
    rows = {"ten": 10, "fifty": 50}
    assert [box.count('class="ring"') for box in boxes] == [1, 1, 0, 0]
    for own, other, box in (("ten", "fifty", boxes[0]), ("fifty", "ten", boxes[1])):
        said = f"{three(totals[other])} s with {rows[other]} rows per fetch, 2 ms per trip."
        assert f"○ Measured in {other}.trc: {said}" in box
        lines = re.findall(r"<tr( class=now)?><td>(\d+)</td>.*?(?=</tr>)", box)
        assert ("", str(rows[other])) in lines
        row = next(line for line in box.split("<tr") if f"<td>{rows[other]}</td>" in line)
        now = next(line for line in box.split("<tr") if line.startswith(" class=now"))
        ring, bar = (
            float(re.findall(pattern, line)[0])
            for pattern, line in (
                (r'cx="([\d.]+)%"[^>]*class="ring"', row),
                (r'width="([\d.]+)%"[^>]*class="c-total"', now),
            )
        )
        assert ring / bar == pytest.approx(totals[other] / totals[own], rel=0.02)


def test_figures_of_the_table_have_their_points_one_below_another() -> None:
    """In each of its last two columns all figures end with the same number of decimals."""
    for made, rows in ((trips(), 15.0), (trips(), None)):
        table = HTMLParser(what_if_html(made, anchor="a", rows=rows)).css_first("table")
        for place in (-2, -1):
            texts = [row.css("td")[place].text().removesuffix(" s") for row in table.css("tbody tr")]
            assert len({len(text.rpartition(".")[2]) for text in texts}) == 1
            assert all("." in text for text in texts)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_script_computes_what_the_ledger_does(tmp_path: Path) -> None:
    """Each part, count and average gives the total and the bounds of `Ledger.what_if`, or its refusal."""
    trace = ledger(SAMPLES / "sqltrace" / "orders_flash_ora_4711.trc")
    report = ledger(SAMPLES / "awr_series" / "awrrpt_1_4109_4110.txt")
    with open_browser() as (page, asked):
        messages: list[str] = []
        page.on("console", lambda message: messages.append(message.text))
        for number, (made, rows) in enumerate([(trips(), 15.0), (trips(), None), (trace, None), (report, None)]):
            place = tmp_path / f"{number}.html"
            place.write_text(page_html("what if", what_if_html(made, anchor="a", rows=rows)), encoding="utf-8")
            page.goto(place.as_uri())
            names = page.locator(".what-if option").all_inner_texts()
            assert names
            if rows:  # the row of the chosen number is tinted
                page.locator(".what-if input:visible").first.fill("200")
                assert page.locator(".what-if tr.chosen td:first-child").all_inner_texts() == ["200"]
            for name in names:
                page.locator(".what-if select").select_option(label=name)
                _check(page, made, name, rows)
        assert messages == []
        assert outside(asked) == []


def _check(page: Any, made: Ledger, name: str, rows: float | None) -> None:  # noqa: ANN401 - Playwright's page
    """The answers for the part that is chosen."""
    status, fields = page.locator(".what-if [role=status]"), page.locator(".what-if input:visible")
    try:
        made.what_if(name, factor=0.5)
        refusal = ""
    except LogError as error:
        refusal = str(error)
    if refusal:
        assert (status.inner_text(), fields.count()) == (refusal, 0)
        return
    row = made.parts(made.views[0]).filter(name=name).row(0, named=True)
    if not row["avg"]:
        cases: list[tuple[list[float], dict[str, float]]] = [([f], {"factor": f}) for f in (0.0, 0.3, 1.0, 2.5)]
    else:
        each = float(f"{1e3 * row['avg']:.4g}")
        by_rows = rows is not None and name.startswith("round trips")
        cases = []
        for share in (0.05, 0.5, 1.0, 3.0):
            count = rows / share if by_rows and rows else float(f"{row['count']:.4g}") * share
            asked = row["count"] * rows / count if by_rows and rows else count
            cases.append(([count, each], {"count": asked} if share != 1.0 else {"factor": 1.0}))
    for values, question in cases:
        for place, value in enumerate(values):
            fields.nth(place).fill(f"{value:.10g}")
        found = made.what_if(name, **question).after
        shown = [float(one) for one in status.get_attribute("data-after").split()]
        assert shown == pytest.approx([found.lo, found.value, found.hi], rel=1e-6), (name, question)
        assert status.inner_text().endswith(" s")
    fields.first.fill("-1")
    assert status.inner_text() == "Give numbers that are not negative."
    assert status.get_attribute("data-after") is None
