"""Charts over time: no request and no time is lost between bins, and what a log cannot tell is said."""

from typing import Any

import polars as pl
import pytest

from iolab import charts

MS = 1_000_000


def rows(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any chart
    """The one data set of a chart."""
    (found,) = chart.to_dict()["datasets"].values()
    return list(found)


def make_requests(pairs: list[tuple[int | None, int | None]]) -> pl.DataFrame:
    """Requests of (submitted, latency) in nanoseconds."""
    frame = pl.DataFrame(pairs, schema={"submitted": pl.Int64, "latency": pl.Int64}, orient="row")
    return frame.cast(pl.Duration("ns"))


def make_calls(*calls: tuple[int, str, int, int | None, int | None]) -> pl.DataFrame:
    """Calls of (pid, name, start, end, gap) in milliseconds."""
    schema = {"pid": pl.Int32, "name": pl.String, "start": pl.Int64, "end": pl.Int64, "gap": pl.Int64}
    times = pl.col("start", "end", "gap")
    return pl.DataFrame(calls, schema=schema, orient="row").with_columns((times * MS).cast(pl.Duration("ns")))


def test_every_request_is_in_a_cell() -> None:
    """Counts add up to the requests, the last edges hold the greatest values, and zeros and nulls are left out."""
    pairs: list[tuple[int | None, int | None]] = [(n * MS, (n % 7 + 1) * 100_000) for n in range(1000)]

    cells = rows(charts.latency_heat_map(make_requests([*pairs, (5, 0), (None, 7), (7, None)])))

    assert sum(cell["count"] for cell in cells) == 1000
    assert (max(cell["end"] for cell in cells), max(cell["high"] for cell in cells)) == (999.0, 0.7)
    assert all(cell["begin"] < cell["end"] and cell["low"] < cell["high"] for cell in cells)


def test_a_million_requests_are_few_cells() -> None:
    """The picture does not grow with the log."""
    n = 1_000_000
    frame = pl.select(submitted=pl.int_range(n) * 1000, latency=(pl.int_range(n) % 997 + 1) * 1000)

    cells = rows(charts.latency_heat_map(frame.cast(pl.Duration("ns"))))

    assert len(cells) <= 60 * 24
    assert sum(cell["count"] for cell in cells) == n


def test_one_request_is_one_cell() -> None:
    """One time and one latency still have a width on both axes."""
    (cell,) = rows(charts.latency_heat_map(make_requests([(3 * MS, 2 * MS)])))

    assert cell["count"] == 1
    assert cell["low"] <= 2.0 < cell["high"]


def test_few_calls_are_bars() -> None:
    """Each call is drawn with its process, kind and length."""
    calls = make_calls((1, "pread64", 0, 2, 3), (2, "semtimedop", 3, 9, None), (1, "getrusage", 9, 9, None))

    bars = rows(charts.call_timeline(calls))

    assert [(bar["pid"], bar["kind"], bar["took"]) for bar in bars] == [
        (1, "read", 2.0),
        (2, "wait", 6.0),
        (1, "other calls", 0.0),
    ]


def test_shares_of_time_add_up() -> None:
    """A call over several bins is split among them; a bin's shares are of the processes that live in it."""
    calls = make_calls((1, "pread64", 0, 6, 8), (1, "write", 8, 10, None), (2, "io_getevents", 5, 10, None))

    shares = rows(charts.call_timeline(calls, most=0, bins=2))

    assert [(row["kind"], row["begin"], row["share"], row["processes"]) for row in shares] == [
        ("read", 0.0, 1.0, 1),
        ("read", 5.0, 0.1, 2),
        ("reap (AIO)", 5.0, 0.5, 2),
        ("write", 5.0, 0.2, 2),
    ]


def test_time_in_calls_is_the_same_in_any_bins() -> None:
    """However fine the bins, the time in reads is that of the calls."""
    calls = make_calls(*((1, "pread64", 10 * n, 10 * n + 1 + n % 9, 10) for n in range(400)))
    expected = sum(1 + n % 9 for n in range(400))

    for bins in (1, 7, 100):
        shares = rows(charts.call_timeline(calls, bins=bins))
        # The last bin reaches beyond the last call; the share is of what the process lived in it.
        last = calls.get_column("end").dt.total_milliseconds().max()
        assert isinstance(last, int)
        inside = sum(row["share"] * (min(row["end"], last) - row["begin"]) for row in shares)
        assert inside == pytest.approx(expected, rel=1e-4)


def test_without_T_the_heading_says_so() -> None:  # noqa: N802 - the option's name
    """Calls of unknown length are drawn up to the next call, and the picture says it."""
    chart = charts.call_timeline(make_calls((1, "pread64", 0, None, 4), (1, "pread64", 4, None, None)))

    assert rows(chart)[0]["took"] == 4.0
    assert "without -T" in str(chart.to_dict()["title"]["subtitle"])


def test_kinds_keep_their_colours() -> None:
    """A kind has the same colour in every picture, whatever else is there."""
    both = charts.call_timeline(make_calls((1, "pread64", 0, 1, 1), (1, "write", 1, 2, None))).to_dict()
    one = charts.call_timeline(make_calls((1, "write", 1, 2, None))).to_dict()

    assert both["encoding"]["color"]["scale"] == one["encoding"]["color"]["scale"]


@pytest.mark.parametrize(
    "calls",
    [make_calls((1, "read", 0, None, None)), make_calls((1, "read", 0, 0, 0), (1, "read", 0, 0, None))],
    ids=["no end", "a clock of whole seconds"],
)
def test_no_time_is_no_picture(calls: pl.DataFrame) -> None:
    """Where the clock tells nothing there is a sentence instead of a picture."""
    with pytest.raises(charts.ChartError, match="nothing to draw"):
        charts.call_timeline(calls)


def test_axes_have_units() -> None:
    """A log of minutes is drawn in seconds, a short one in milliseconds; the latency has its own unit."""
    short = charts.latency_heat_map(make_requests([(0, MS), (5 * MS, 2 * MS)])).to_dict()["encoding"]
    long = charts.latency_heat_map(make_requests([(0, MS), (90_000 * MS, 2 * MS)]), unit="µs")

    assert (short["x"]["title"], short["y"]["title"]) == ("since the start of the log (ms)", "latency (ms, log)")
    assert long.to_dict()["encoding"]["x"]["title"] == "since the start of the log (s)"
    assert long.to_dict()["encoding"]["y"]["title"] == "latency (µs, log)"
