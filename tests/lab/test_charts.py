"""Charts: what is drawn is what the frame says, in few rows, the same each time."""

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from iolab import charts, pages
from iolab.charts import theme
from iolab.charts._frames import CLASS_COLOURS, contrast
from iolab.time_ledger import Account
from logframe import Interval

RUNS = pl.DataFrame(
    {"sample": ["a", "b"] * 5, "run": range(1, 11), "elapsed_s": [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0, 50.0, 9.0]}
)


def rows(chart: Any) -> list[list[dict[str, Any]]]:  # noqa: ANN401 - any chart
    """The data sets of a chart."""
    return list(chart.to_dict()["datasets"].values())


DRAWING = sorted(name for name in charts.__all__ if name not in {"ChartError", "enable_theme", "save"})


@pytest.mark.parametrize("name", DRAWING)
def test_every_chart_says_what_to_read_and_is_tested(name: str) -> None:
    """Its docstring has the section that the page of charts is made of; a doctest or a test of this folder draws it."""
    text = inspect.getdoc(getattr(charts, name)) or ""

    assert "What to read from it:" in text
    assert "Examples:" in text or any(
        f"charts.{name}(" in path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")
    )


def test_box_of_runs() -> None:
    """The box has the quartiles, and a run beyond the fence is outside the whiskers and still drawn as a point."""
    points, boxes = rows(charts.run_strip(RUNS))

    assert len(points) == 10
    assert boxes[0] == {"sample": "a", "n": 5, "q1": 2.0, "median": 3.0, "q3": 4.0, "low": 1.0, "high": 4.0}


def test_histogram_counts_every_run() -> None:
    """No run is lost between bins, and the greatest is in the last one."""
    (bins,) = rows(charts.histogram(RUNS, by="sample", bins=7))

    assert sum(row["count"] for row in bins) == 10
    assert max(row["high"] for row in bins) == 50.0


@pytest.mark.parametrize("log", [True, False])
def test_histogram_of_one_value(log: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Runs that are all equal have one bin."""
    (bins,) = rows(charts.histogram(pl.DataFrame({"elapsed_s": [2.0, 2.0]}), log=log))

    assert [row["count"] for row in bins] == [2]


def test_big_logs_are_drawn_in_few_rows() -> None:
    """A hundred thousand requests become a few hundred rows, which end at the greatest value."""
    frame = pl.DataFrame({"latency": pl.int_range(1, 100_001, eager=True)}).cast(pl.Duration("ns"))
    runs = pl.DataFrame({"sample": ["a"] * 20_000, "run": range(20_000), "elapsed_s": [1.0] * 20_000})

    (steps,) = rows(charts.ecdf(frame))

    assert len(steps) <= 502
    assert (steps[-1]["value"], steps[-1]["share"]) == (0.1, 1.0)
    assert len(rows(charts.run_strip(runs))[0]) == 500


def test_shares_of_wait_classes_add_up() -> None:
    """Shares are of the time of all classes, and a blank time is left out."""
    frame = pl.DataFrame({"wait_class": ["User I/O", "DB CPU", "Commit"], "total_wait_s": [3.0, None, 1.0]})

    (shares,) = rows(charts.wait_classes({"a": frame}))

    assert [(row["wait_class"], row["share"]) for row in shares] == [("User I/O", 0.75), ("Commit", 0.25)]
    assert [(row["left"], row["right"]) for row in shares] == [(0.0, 0.75), (0.75, 1.0)]


def test_no_two_wait_classes_have_one_colour() -> None:
    """With more classes than colours the smallest are one; the user's I/O is blue whatever its place."""
    names = ["User I/O", "Cluster", "Network", "Scheduler", "Queueing", "Other", "Commit", "Configuration", "DB CPU"]
    frame = pl.DataFrame({"wait_class": names, "total_wait_s": [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]})

    chart = charts.wait_classes({"a": frame}).to_dict()
    scale = chart["layer"][0]["encoding"]["color"]["scale"]
    colours = dict(zip(scale["domain"], scale["range"], strict=True))

    assert len(set(colours.values())) == len(colours) == 8
    assert (scale["domain"][-1], colours["User I/O"]) == ("(the rest)", CLASS_COLOURS["User I/O"][0])
    (shares,) = rows(charts.wait_classes({"a": frame}))
    assert shares[-1]["share"] == pytest.approx(3 / 45, abs=1e-6)


def test_wide_segments_and_points_are_told_apart_without_colour() -> None:
    """Classes with room have their name on them; reports have shapes, and curves have dashes."""
    classes = pl.DataFrame({"wait_class": ["User I/O", "Commit"], "total_wait_s": [9.0, 1.0]})
    events = pl.DataFrame({"event": ["log file sync"], "avg_wait_ms": [1.0], "total_wait_s": [1.0], "waits": [1000]})
    reads = pl.DataFrame({"latency": [1.0, 2.0], "mode": ["sync", "async"]})

    labels = charts.wait_classes({"a": classes}).to_dict()["layer"][1]
    points = charts.top_events({"a": events, "b": events}).to_dict()["layer"][2]
    curves = charts.ecdf(reads, by="mode").to_dict()

    assert labels["encoding"]["text"]["field"] == "wait_class"
    assert points["encoding"]["shape"]["field"] == "report"
    assert curves["encoding"]["strokeDash"]["field"] == "sample"


@pytest.mark.parametrize(
    "draw",
    [
        lambda: charts.run_strip(pl.DataFrame({"sample": ["a"], "run": [1]})),
        lambda: charts.ecdf(pl.DataFrame({"latency": []}, schema={"latency": pl.Duration("ns")})),
        lambda: charts.ecdf(pl.DataFrame({"latency": [None]}, schema={"latency": pl.Duration("ns")})),
        lambda: charts.read_sizes(pl.DataFrame({"op": ["write"], "bytes_transferred": [8192]})),
        lambda: charts.queue_depth(pl.DataFrame({"at": [], "depth": []})),
        lambda: charts.estimates(pl.DataFrame({"metric": ["x"]})),
    ],
    ids=["no column", "no rows", "nulls only", "no read", "no curve", "no metric"],
)
def test_nothing_to_draw_is_said(draw: Callable[[], object]) -> None:
    """A missing column or an empty frame is an error with a sentence, never an empty picture."""
    with pytest.raises(charts.ChartError, match=r"has no|no row|no read"):
        draw()


def test_charts_are_the_same_each_time() -> None:
    """The specification does not change from call to call: nbval compares it."""
    first, second = (json.dumps(charts.run_strip(RUNS).to_dict(), sort_keys=True) for _ in range(2))

    assert first == second


def test_theme_shows_specifications() -> None:
    """A chart is shown as what JupyterLab draws without a network, its texts and axes in the colour of the page."""
    with pl.Config():  # the theme also says how frames are shown
        charts.enable_theme()

    data, how = charts.ecdf(RUNS, value="elapsed_s", unit="s")._repr_mimebundle_()

    assert how == {"application/vnd.vegalite.v5+json": {"embed_options": {"renderer": "svg"}}}
    assert sorted(data) == ["application/vnd.vegalite.v5+json", "text/plain"]
    config = data["application/vnd.vegalite.v5+json"]["config"]
    assert config["range"]["category"][0] == theme.CATEGORIES[0]
    assert config["background"] == "transparent"
    inks = {key: ink for part in ("axis", "legend", "header", "text", "title") for key, ink in config[part].items()}
    assert {ink for key, ink in inks.items() if key.lower().endswith("color")} == {"currentColor", "#80808040"}


def test_every_chart_is_documented() -> None:
    """The list of charts, made of their docstrings, says of each function that draws one what to read from it."""
    page = (Path(__file__).parents[2] / "docs/chart_list.md").read_text(encoding="utf-8")
    drawn = [name for name in charts.__all__ if name not in {"ChartError", "enable_theme", "save"}]

    assert [name for name in drawn if f"## `{name}`\n" not in page] == []


def test_colours_of_classes_are_seen_on_both_grounds_and_are_those_of_pages() -> None:
    """Each class has a contrast of 3 or more with its ground, and the profile of a page shows the same colours."""
    css = (Path(pages.__file__).parent / "page.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    shown = [dict(re.findall(r"--(\w+): (#[0-9A-F]{6})", part)) for part in (light, dark)]
    same = {
        "DB CPU": "cpu",
        "User I/O": "single",
        "System I/O": "system",
        "Commit": "commit",
        "Configuration": "space",
        "Application": "locks",
        "Concurrency": "conc",
        "Cluster": "cluster",
        "Network": "network",
        "not accounted for": "other",
    }

    for place, page in enumerate(shown):
        assert {name: CLASS_COLOURS[name][place] for name in same} == {name: page[one] for name, one in same.items()}
        for colours in CLASS_COLOURS.values():
            assert contrast(colours[place], page["bg"]) >= 3
        for mark in ("major", "notable", "context", "cannot", "evidence", "tx", "t2", "lk"):
            assert contrast(page[mark], page["bg"]) >= 4.5
    assert len({colours[0] for colours in CLASS_COLOURS.values()}) == len(CLASS_COLOURS)


def test_the_legend_of_a_ledger_is_as_solid_as_its_bars() -> None:
    """Below the solid bar a pale one is drawn in the same colour: the legend is that of the solid one."""
    account = Account(Interval.exact(10.0), "DB time")
    account.add("what", "DB CPU", Interval(7.0, 6.0, 8.0), kind="cpu")
    layers = charts.ledger_bars(account.ledger()).to_dict()["layer"]

    assert any(layer["mark"].get("opacity", 1) < 1 for layer in layers)
    assert [layer["encoding"]["color"]["legend"]["symbolOpacity"] for layer in layers] == [1] * len(layers)
