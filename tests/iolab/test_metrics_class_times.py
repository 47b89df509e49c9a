"""Where the time of a report went: foreground in per cent of DB time, background beside it."""

from pathlib import Path

import polars as pl
import pytest

from awrparse import AwrReport, read_awr
from iolab import charts, metrics

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series" / "awrrpt_1_4102_4103.txt"
ARTICLE = Path(__file__).parents[2] / "sample_data" / "articles" / "003_filesystemio_none.txt"


def report(*changes: tuple[str, str]) -> AwrReport:
    """The sample report with some of its text changed."""
    text = SERIES.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_awr(text.encode())


def share(times: pl.DataFrame, side: str, name: str) -> tuple[float, float, float]:
    """The share of one class of one side, with its bounds."""
    return times.filter(side=side, wait_class=name).select("share", "share_lo", "share_hi").row(0)


def test_foreground_shares_are_of_db_time() -> None:
    """CPU is that of the time model, 4,428.9 s of 5,535.9 s; the parts of DB time add up to it."""
    times = metrics.class_times(report())
    foreground = times.filter(side="foreground")

    value, lo, hi = share(times, "foreground", "DB CPU")
    assert lo <= 4428.9 / 5535.9 <= hi
    assert value == pytest.approx(4428.9 / 5535.9)
    assert hi - lo < 1e-4
    assert foreground["share"].sum() == pytest.approx(1)
    assert set(times["base"]) == {"DB time"}


def test_background_is_what_all_processes_have_beyond_the_foreground() -> None:
    """327 s of System I/O by all, 1 s by sessions; CPU of the background is in the time model."""
    times = metrics.class_times(report())
    behind = times.filter(side="background")

    seconds = dict(behind.select("wait_class", "total_wait_s").iter_rows())
    assert seconds == {"System I/O": 326.0, "background CPU": 176.7, "User I/O": 1.0, "Concurrency": 1.0}
    bounds = behind.filter(wait_class="System I/O").select("total_wait_s_lo", "total_wait_s_hi").row(0)
    assert bounds == (325.0, 327.0)


def test_time_that_is_neither_cpu_nor_a_wait_is_named() -> None:
    """Without its reads the foreground leaves 14 % of DB time, within the rounding of all its rows."""
    line = "User I/O                   1,208,515                   779        0.64      14.1"
    times = metrics.class_times(report((line, line.replace("779", "  0"))))

    value, lo, hi = share(times, "foreground", "not accounted for")
    assert lo < (779 + 65) / 5535.9 < hi
    assert value > 0.14


def test_a_report_that_does_not_tell_the_two_apart() -> None:
    """Classes of all processes alone: shares are of their sum, and the base says so."""
    times = metrics.class_times(read_awr(ARTICLE))

    assert set(times["side"]) == {"all"}
    assert set(times["base"]) == {"time of all classes"}
    assert times["share"].sum() == pytest.approx(1)


def test_a_report_without_classes() -> None:
    """No rows, and no chart of them."""
    page = (
        "<html><h1>WORKLOAD REPOSITORY report for</h1><h3>Process Memory Summary</h3><table><tr><th>Category</th>"
        "<th>Alloc (MB)</th></tr><tr><td>Other</td><td>4</td></tr></table></html>"
    )
    times = metrics.class_times(read_awr(page.encode()))

    assert times.is_empty()
    with pytest.raises(charts.ChartError, match="no rows"):
        charts.wait_classes({"a": times})


def test_the_bar_of_the_foreground_and_the_bar_of_the_background() -> None:
    """Two bars a report on one scale; a bar longer than twice DB time ends there, and its length is written."""
    line = "148,741              327        2.20    5.9      0.1"
    times = metrics.class_times(report((line, line.replace("     327", "9,999,327"))))
    chart = charts.wait_classes({"a": times, "b": metrics.class_times(report())}).to_dict()

    drawn = next(rows for rows in chart["datasets"].values() if "left" in rows[0])
    cpu = next(row for row in drawn if row["report"] == "a" and row["wait_class"] == "DB CPU")
    assert cpu["share"] == pytest.approx(0.80003, abs=1e-5)
    assert {row["bar"] for row in drawn} == {"a", "a, background", "b", "b, background"}
    assert max(row["right"] for row in drawn) == 2
    ends = next(rows for rows in chart["datasets"].values() if "said" in rows[0])
    assert [(row["bar"], row["said"]) for row in ends] == [("a, background", "180630 % \u2192")]
    assert chart["layer"][0]["encoding"]["x"]["title"] == "share of DB time"


def test_a_real_report_keeps_its_bases(corpus: Path) -> None:
    """DB CPU is 81.4 % of DB time in a report whose classes of all processes sum to 165 %."""
    (path,) = corpus.glob("awr/*/awrrpt__19c__awrrpt_1_17676_17677.html")

    value, lo, hi = share(metrics.class_times(read_awr(path)), "foreground", "DB CPU")

    assert value == pytest.approx(0.814, abs=5e-4)
    assert hi - lo < 1e-3
