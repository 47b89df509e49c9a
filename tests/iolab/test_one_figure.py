"""One figure reads the same wherever it stands; bounds of rounding and intervals of samples are never mixed."""

from pathlib import Path

import polars as pl
import pytest

from awrparse import AwrReport, read_awr
from iolab import charts, metrics
from iolab.comparison import compare, compare_medians, first_run
from iolab.comparison.report_sets import changed_latencies
from iolab.metrics.processors import layer_shares
from iolab.pages.metric_table import figure_rows, headline

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"


@pytest.mark.parametrize(
    "runs",
    [[72.0, 66.7, 73.1, 70.1, 67.2], [5.5, 5.0, 5.2, 4.9, 5.1, 5.3], [1.0, 1.0, 1.01, 0.99]],
    ids=["five", "six", "four"],
)
def test_first_over_steady_is_the_ratio_of_the_two_figures_shown(runs: list[float]) -> None:
    """The sentence and the table print one first run, one median, and their quotient."""
    found = first_run(runs)
    rows = dict(found.to_frame().select("metric", "value").iter_rows())
    shown = {name: value for name, value, *_ in figure_rows(found.to_frame().to_dicts())}

    assert rows["first / steady"] == pytest.approx(rows["first run"] / rows["steady median"])
    assert f"{shown['first run']} s, {shown['first / steady']}x" in str(found)
    assert f"a median of {shown['steady median']} s" in str(found)


def test_a_table_whose_waits_differ_narrows_nothing() -> None:
    """The foreground events of another number of waits are of other waits: they have no average."""
    text = next(SERIES.glob("*4109_4110.txt")).read_text(encoding="utf-8")
    foreground = "db file sequential read      2,"
    assert foreground in text
    one = read_awr(text.encode())
    other = read_awr(text.replace(foreground, "db file sequential read      3,").encode())

    def averages(report: AwrReport) -> pl.DataFrame:
        found = changed_latencies({"a": report}, {"b": one})
        return found.filter(event="db file sequential read", quantity="average")

    assert averages(one).height == 1
    assert averages(other).is_empty()


def test_intervals_of_samples_have_columns_of_their_own() -> None:
    """Runs and profiles have intervals and no bounds; published medians have bounds and no intervals."""
    sampled = compare([2.0, 2.1, 2.2, 2.05, 2.15, 2.12], [1.0, 1.1, 1.2, 1.05, 1.15, 1.12]).to_frame()
    published = compare_medians("8.31", "7.20").to_frame()
    profile = layer_shares(
        pl.DataFrame(
            {"function": ["kcbgtcr"], "module": [None], "is_kernel": [None], "is_idle": [False], "samples": [9]}
        )
    )

    assert sampled["ci_lo"].count() > 5
    assert sampled["lo"].count() == sampled["hi"].count() == 0
    assert published["lo"].count() == published.height
    assert published["ci_lo"].count() == 0
    assert (profile["lo"].count(), profile["ci_lo"].count()) == (0, 1)


def test_intervals_and_bounds_look_different() -> None:
    """Brackets and a bar are rounding; "95 %" and a line with ends are a sample."""
    sampled = compare([2.0, 2.1, 2.2, 2.05, 2.15, 2.12], [1.0, 1.1, 1.2, 1.05, 1.15, 1.12])
    published = compare_medians("8.31", "7.20")

    assert "(95 %: " in str(sampled)
    assert "[" not in str(sampled)
    assert "[" in str(published)
    assert "95 %:" not in str(published)
    assert "95 % interval" in str(headline(sampled.to_frame(), only=["ratio B/A"]))
    assert "95 % interval" not in str(headline(published.to_frame()))

    def marks(frame: pl.DataFrame) -> list[str]:
        return [layer["mark"]["type"] for layer in charts.estimates(frame, unit="x").to_dict()["layer"]]

    assert marks(published.to_frame()) == ["bar", "tick", "text"]
    assert marks(sampled.to_frame()) == ["bar", "tick", "text", "rule", "tick", "tick"]


def test_an_average_of_few_waits_says_so() -> None:
    """Its bounds are those of rounding; how far chance moves it is said in words."""
    waits = pl.DataFrame({"event": ["log file sync", "db file sequential read"], "waits": [47, 4700]})
    found = metrics.average_waits(waits.with_columns(total_wait_s=pl.lit(0.0366)))

    few, many = found["caveats"].to_list()
    assert "of 47 waits: how far chance moves their average is not in the bounds" in few
    assert "chance" not in many
