"""Charts as specifications, and as drawings of pages: what Altair accepts, and a mark for each row."""

import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from iolab import charts, summarize
from iolab.charts import vega
from iolab.charts.axes import Scale
from iolab.charts.svg import svg_of

SAMPLES = Path(__file__).parents[2] / "sample_data"

LOGS = (
    "awr_series/awrrpt_1_4105_4106.txt",
    "articles/003_filesystemio_none.txt",
    "captures/async_direct_tt_T.strace",
    "articles/000_sync_reads.strace",
    "sqltrace/orders_disk_ora_4890.trc",
    "runs/buffered_direct_async.txt",
    "host/iostat.out",
)


@pytest.fixture(scope="module")
def drawn() -> list[vega.Chart]:
    """The charts of one log of each kind."""
    return [chart for log in LOGS for chart in summarize(SAMPLES / log).charts()]


def test_altair_accepts_every_chart(drawn: list[vega.Chart]) -> None:
    """Each is valid Vega-Lite, and the same chart after Altair has read it."""
    for chart in drawn:
        spec = chart.to_dict()
        again = chart.to_altair().to_dict()

        same = set(spec) - {"config", "vconcat"}  # Altair moves the selection of a part to the whole
        assert {name: again[name] for name in same} == {name: spec[name] for name in same}


def test_every_drawing_is_well_formed_and_inside_its_frame(drawn: list[vega.Chart]) -> None:
    """Texts begin and end within the picture, whatever its width."""
    for chart in drawn:
        spec = chart.to_dict()
        for width in (240, spec.get("width", 460)):
            root = ET.fromstring(svg_of({**spec, "width": width} if "width" in spec else spec))  # noqa: S314 - our own
            high = float(root.attrib["height"])

            assert root.tag.endswith("svg")
            assert all(-high < float(text.attrib["y"]) < high for text in root.iter() if text.tag.endswith("text"))


def _bars(chart: vega.Chart) -> Counter[str]:
    """How many bars a drawing has of each colour."""
    found: Counter[str] = Counter()
    for path, colour in re.findall(r'<path d="([^"]+z)" fill="(#\w+)"', svg_of(chart.to_dict())):
        found[colour] += path.count("z")
    return found


@pytest.mark.parametrize("calls", [1, 7, 300])
def test_each_call_is_a_bar(calls: int) -> None:
    """As many bars as calls, in the colours of their kinds."""
    nanoseconds = [number * 1_000_000 for number in range(calls)]
    frame = pl.DataFrame(
        {
            "pid": [1] * calls,
            "name": ["pread64" if number % 2 else "write" for number in range(calls)],
            "start": nanoseconds,
            "end": [begin + 400_000 for begin in nanoseconds],
            "gap": [1_000_000] * calls,
        }
    ).with_columns(pl.col("start", "end", "gap").cast(pl.Duration("ns")))
    legend = 1  # a square of the legend for each kind

    found = _bars(charts.call_timeline(frame))

    kinds = {"#0072B2": calls // 2, "#CC79A7": calls - calls // 2}
    assert found == {colour: count + legend for colour, count in kinds.items() if count}


def _points(chart: vega.Chart) -> list[tuple[float, float]]:
    places = re.findall(r'<path transform="translate\(([\d.-]+),([\d.-]+)\)', svg_of(chart.to_dict()))
    return [(float(x), float(y)) for x, y in places]


def test_a_point_is_where_its_value_is() -> None:
    """The places of points are linear in the values, with the first run on the left."""
    runs = pl.DataFrame({"sample": ["a"] * 4, "run": [1, 2, 3, 4], "elapsed_s": [1.0, 2.0, 4.0, 3.0]})

    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = _points(charts.run_strip(runs))

    assert x1 < x2 < x3 < x4
    assert y1 - y3 == pytest.approx(3 * (y1 - y2), rel=0.01)
    assert y1 - y4 == pytest.approx(2 * (y1 - y2), rel=0.01)


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.2), (3.0, 3.5), (1e-7, 1e9), (5.0, 5.0), (0.9, 1.1)])
@pytest.mark.parametrize("kind", ["linear", "log"])
def test_marks_of_an_axis_are_within_it(kind: str, low: float, high: float) -> None:
    """At least one mark, none outside the axis, and no text twice."""
    scale = Scale(kind, [low, high], zero=False, nice=False, padding=0)
    scale.span = (0, 400)

    marks: list[tuple[float, str]] = scale.labels({}, along=400)

    assert marks
    assert all(-0.5 <= place <= 400.5 for place, _ in marks)
    assert len({said for _, said in marks}) == len(marks)


def test_a_part_that_is_not_drawn_is_an_error() -> None:
    """A transformation of another kind would give a wrong picture."""
    spec: dict[str, Any] = {"data": {"values": []}, "mark": "bar", "transform": [{"filter": "datum.a == 1"}]}
    with pytest.raises(charts.ChartError, match="not drawn"):
        svg_of(spec)


def test_parts_beside_each_other_may_share_their_data() -> None:
    """Vega-Lite keeps the data of such parts once, above them."""
    frame = pl.DataFrame({"event": ["a", "b"], "ms": [2.0, 1.0]})
    bars = vega.Chart(frame).mark("bar").encode(x="ms:Q", y="event:N")

    spec = vega.hconcat(bars, bars).to_dict()

    assert "data" not in spec["hconcat"][0]
    assert svg_of(spec).count(">ms</text>") == 2
