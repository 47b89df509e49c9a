"""Quantiles of wait event histograms: the edges of the buckets that may hold them."""

from __future__ import annotations

import polars as pl
import pytest

from iolab import metrics
from iolab.metrics import figure_of
from iolab.metrics.histograms import histograms_of

HISTOGRAM = pl.DataFrame(
    {
        "event": ["log file sync"] * 4,
        "waits": [1000] * 4,
        "section": [None] * 4,
        "from_us": [0.0, 1000.0, 2000.0, 4000.0],
        "to_us": [1000.0, 2000.0, 4000.0, None],
        "waits_pct": [50.0, 44.0, 5.0, 1.0],
        "waits_pct_lo": [49.95, 43.95, 4.95, 0.95],
        "waits_pct_hi": [50.05, 44.05, 5.05, 1.05],
    }
)


def test_quantiles_are_buckets() -> None:
    """A quantile lies in a bucket, or in two where rounding does not tell; the last bucket is open."""
    found = metrics.latency_quantiles(HISTOGRAM, quantiles=(0.5, 0.9, 0.99, 1.0))

    assert found.select("metric", "value", "lo", "hi").rows() == [
        ("wait_us_p50", 1000.0, 0.0, 2000.0),
        ("wait_us_p90", 2000.0, 1000.0, 2000.0),
        ("wait_us_p99", 4000.0, 2000.0, None),
        ("wait_us_p100", 4000.0, 4000.0, None),
    ]


@pytest.mark.parametrize("quantile", [95, 1.01, 0, -0.5])
def test_quantiles_that_are_no_shares_are_refused(quantile: float) -> None:
    """95 for 0.95 would be the last bucket of every event."""
    with pytest.raises(ValueError, match=f"the quantile {quantile} does not lie between 0 and 1"):
        metrics.latency_quantiles(HISTOGRAM, quantiles=(quantile,))


@pytest.mark.parametrize(("last", "is_known"), [(0.0, True), (-0.6, False), (2.4, True), (2.6, False)])
def test_shares_add_up_to_100_within_their_rounding(last: float, is_known: bool) -> None:  # noqa: FBT001 - a parameter
    """Many buckets of 0.1 % steps may miss 100 by 1.5, no more; a table without sections will do."""
    buckets = HISTOGRAM.drop("section").with_columns(waits_pct=pl.Series([50.0, 44.0, 5.0 + last, 0.0]))
    found = metrics.latency_quantiles(buckets, quantiles=(0.3,))

    assert (found.item(0, "value") == 1000.0) == is_known
    assert found.item(0, "caveats").startswith("refused: the shares of the buckets add up to") != is_known


def test_blank_shares_may_be_up_to_half_a_tenth() -> None:
    """A blank bucket may hold 0.05 % of the waits, two of them 0.1 %: they can hold p99.95, and not p99."""
    blank = HISTOGRAM.with_columns(
        waits_pct=pl.Series([50.0, 50.0, None, None]),
        waits_pct_lo=pl.Series([49.95, 49.95, None, None]),
        waits_pct_hi=pl.Series([50.05, 50.05, None, None]),
    )
    found = metrics.latency_quantiles(blank, quantiles=(0.99, 0.9995, 0.9999))

    assert found.select("value", "lo", "hi").rows() == [
        (2000.0, 1000.0, 2000.0),
        (2000.0, 1000.0, 4000.0),
        (2000.0, 1000.0, None),
    ]


def test_rounded_shares_move_a_quantile_to_either_side() -> None:
    """93 to 95 % lie below 2 ms: p94 and p94.2 may lie on either side; p49 and p51 are of one bucket, and so is p99.8.

    49.5 to 50.5 % are below 1 ms, so p49 is, and p51 is not; 0.5 % at least are above 4 ms, so p99.8 is.
    """
    buckets = HISTOGRAM.with_columns(
        waits_pct=pl.Series([50.0, 44.0, 5.0, 1.0]),
        waits_pct_lo=pl.Series([49.5, 43.5, 4.5, 0.5]),
        waits_pct_hi=pl.Series([50.5, 44.5, 5.5, 1.5]),
    )
    found = metrics.latency_quantiles(buckets, quantiles=(0.49, 0.51, 0.94, 0.942, 0.98, 0.998))

    assert found.select("lo", "hi").rows() == [
        (0.0, 1000.0),
        (1000.0, 2000.0),
        (1000.0, 4000.0),
        (1000.0, 4000.0),
        (2000.0, 4000.0),
        (4000.0, None),
    ]


def test_buckets_in_any_order_and_long_waits_again() -> None:
    """Buckets are put in order; the section that shows the long waits again, finer, is not counted twice."""
    again = HISTOGRAM.with_columns(section=pl.lit("4 ms to 2 s"), waits_pct=pl.lit(100.0))
    expected = metrics.latency_quantiles(HISTOGRAM)

    assert expected.equals(metrics.latency_quantiles(HISTOGRAM.reverse()))
    assert expected.equals(metrics.latency_quantiles(pl.concat([HISTOGRAM.cast({"section": pl.String}), again])))
    assert "; 1000 waits" in expected.item(0, "basis")


def test_names_that_a_report_cut_alike() -> None:
    """Two events with one printed name are told apart by their waits."""
    found = metrics.latency_quantiles(
        pl.concat([HISTOGRAM, HISTOGRAM.with_columns(waits=pl.lit(7, pl.Int64))]), quantiles=(0.5,)
    )

    assert found.get_column("value").to_list() == [1000.0, 1000.0]


def test_histograms_that_do_not_add_up() -> None:
    """Buckets with less than all waits have no quantiles; other events are left out when some are chosen."""
    half = HISTOGRAM.head(1)
    found = metrics.latency_quantiles(half, events=["log file sync"])

    assert found.item(0, "caveats") == "refused: the shares of the buckets add up to 50 %, not to 100 %"
    assert metrics.latency_quantiles(half, events=["db file sequential read"]).is_empty()
    assert figure_of(found, "wait_us_p50") is None


def sections(*rows: tuple[str | None, float, float | None, float], waits: int = 5000) -> pl.DataFrame:
    """An event's rows of several sections: section, from, to, share."""
    return pl.DataFrame(
        {
            "event": ["cell single block physical read"] * len(rows),
            "waits": [waits if section is None else 7 for section, *_ in rows],
            "section": [section for section, *_ in rows],
            "from_us": [float(start) for _, start, _, _ in rows],
            "to_us": [None if end is None else float(end) for _, _, end, _ in rows],
            "waits_pct": [float(share) for *_, share in rows],
            "waits_pct_lo": [max(share - 0.05, 0.0) for *_, share in rows],
            "waits_pct_hi": [share + 0.05 for *_, share in rows],
        },
        schema_overrides={"section": pl.String},
    )


SPLIT = sections(
    (None, 0, 256, 11.0),
    (None, 256, 512, 20.0),
    (None, 512, None, 69.0),
    ("up to 32 ms", 0, 512, 31.0),
    ("up to 32 ms", 512, 1000, 28.0),
    ("up to 32 ms", 1000, 2000, 33.1),
    ("up to 32 ms", 16_000, 32_000, 6.0),
    ("up to 32 ms", 32_000, None, 1.9),
    ("up to 2 sec", 0, 32_000, 98.1),
    ("up to 2 sec", 32_000, 64_000, 1.2),
    ("up to 2 sec", 250_000, 500_000, 0.4),
)


def test_sections_are_one_distribution() -> None:
    """The wide last bucket of each table is what the next section shows of it; percentiles come from all of them."""
    buckets = metrics.latency_buckets(SPLIT)
    found = {row["metric"]: (row["lo"], row["value"], row["hi"]) for row in metrics.latency_quantiles(SPLIT).to_dicts()}

    assert buckets.get_column("waits_pct").sum() == pytest.approx(100, abs=0.2)
    assert buckets.get_column("waits").sum() == pytest.approx(5000, rel=0.002)
    assert buckets.select("from_us", "to_us").rows()[:5] == [
        (0, 256),
        (256, 512),
        (512, 1000),
        (1000, 2000),
        (2000, 16_000),
    ]
    assert found == {
        "wait_us_p50": (512.0, 1000.0, 1000.0),
        "wait_us_p95": (16_000.0, 32_000.0, 32_000.0),
        "wait_us_p99": (32_000.0, 64_000.0, 64_000.0),
    }


def test_buckets_lie_end_to_end() -> None:
    """No time lies in two buckets, and blank columns are the rest of their wide bucket."""
    buckets = metrics.latency_buckets(SPLIT)
    tail = buckets.filter(pl.col("from_us") >= 32_000)

    ends, starts = buckets.get_column("to_us")[:-1], buckets.get_column("from_us")[1:]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert tail.get_column("waits_pct_hi").sum() >= 1.9


def test_a_section_that_holds_more_than_its_bucket_is_refused() -> None:
    """Two populations, or a misread section: no percentile."""
    table = sections((None, 0, 512, 90.0), (None, 512, None, 10.0), ("up to 32 ms", 512, 1000, 40.0))
    found = metrics.latency_quantiles(table, quantiles=[0.5])

    assert found.item(0, "value") is None
    assert found.item(0, "caveats").startswith("refused: a section shows 40 [39.95, 40.05] % of the waits")
    assert metrics.latency_buckets(table).is_empty()


@pytest.mark.parametrize(
    ("foreground", "lo", "hi"), [(5000, 1000.0, 2000.0), (4000, 1000.0, 32_000.0), (1000, 256.0, 64_000.0)]
)
def test_background_waits_widen_the_percentile_of_the_foreground(foreground: int, lo: float, hi: float | None) -> None:
    """The fewer of the waits are foreground ones, the less the histogram says of them."""
    events = pl.DataFrame({"event": ["cell single block physical read"], "waits": [foreground]})
    found = metrics.latency_quantiles(SPLIT, quantiles=[0.9], foreground=events)

    assert found.select("metric", "lo", "hi").row(0) == ("foreground_wait_us_p90", lo, hi)
    assert f"{foreground} of them foreground" in found.item(0, "basis")
    assert metrics.latency_quantiles(SPLIT, foreground=events.clear()).is_empty()


def test_more_foreground_waits_than_waits_are_refused() -> None:
    """The two tables are not of one period."""
    events = pl.DataFrame({"event": ["cell single block physical read"], "waits": [9000]})

    assert "are more than the 5000" in metrics.latency_quantiles(SPLIT, foreground=events).item(0, "caveats")


def test_the_only_table_of_a_cluster_has_a_name() -> None:
    """A report of all instances heads its histogram "(Global)": its percentiles are those of a table without a name."""
    plain = sections((None, 0.0, 1000.0, 60.0), (None, 1000.0, 2000.0, 38.0), (None, 2000.0, None, 2.0))
    named = plain.with_columns(section=pl.lit("Global"))

    assert metrics.latency_quantiles(named).rows() == metrics.latency_quantiles(plain).rows()
    assert metrics.latency_buckets(named)["waits_pct"].sum() == 100


def test_a_later_section_alone_is_no_distribution() -> None:
    """Of a page cut out of a report, "up to 32 ms" shows a part of the waits: no percentile is made of it."""
    cut = sections(("up to 32 ms", 512.0, 1000.0, 30.0), ("up to 32 ms", 1000.0, 2000.0, 8.0))

    assert metrics.latency_quantiles(cut).is_empty()


def test_shares_below_a_time_use_all_sections() -> None:
    """38 % are beyond the first table's last edge; a section puts 30 of them below 1 ms."""
    table = sections(
        (None, 0.0, 512.0, 62.0),
        (None, 512.0, None, 38.0),
        ("up to 32 ms", 512.0, 1000.0, 30.0),
        ("up to 32 ms", 1000.0, 2000.0, 8.0),
    )

    def within(to_us: float) -> tuple[float, ...]:
        row = metrics.waits_within(table, to_us=to_us).row(0, named=True)
        return tuple(round(row[name], 4) for name in ("value", "lo", "hi"))

    value, lo, hi = within(1000)
    assert lo <= 0.92 <= hi
    assert value == pytest.approx(0.92)
    assert hi - lo < 0.005
    value, lo, hi = within(750)
    assert lo <= 0.62
    assert hi >= 0.92
    assert within(10_000_000)[2] == 1


def test_one_table_with_both_edges_bounds_a_share() -> None:
    """The digits of many narrow buckets add up; a table with two wide ones below the time has fewer of them."""
    narrow = [(None, 2.0**place, 2.0 ** (place + 1), 8.0) for place in range(9)]
    table = sections(
        (None, 0.0, 1.0, 0.0),
        *narrow,
        (None, 512.0, None, 28.0),
        ("up to 32 ms", 0.0, 512.0, 72.0),
        ("up to 32 ms", 512.0, 1000.0, 20.0),
        ("up to 32 ms", 1000.0, 2000.0, 8.0),
    )
    row = metrics.waits_within(table).row(0, named=True)

    assert (row["value"], row["lo"], row["hi"]) == pytest.approx((0.92, 0.919, 0.9205))


def test_two_rows_of_one_event_are_weighed_by_their_waits() -> None:
    """Foreground and background rows of one name are one distribution; their shares do not add up to more than all."""
    foreground = HISTOGRAM.with_columns(waits=pl.Series([900] * 4))
    background = HISTOGRAM.with_columns(waits=pl.Series([100] * 4), waits_pct=pl.Series([20.0, 50.0, 20.0, 10.0]))
    found = histograms_of(pl.concat([foreground, background]))["log file sync"]

    assert found.waits == 1000
    assert found.below_pct == pytest.approx((47.0, 91.6, 98.1))
    assert metrics.modes_of(pl.concat([foreground, background]), "log file sync") == 1
