"""Charts as files: real pictures of the size asked for, in light and dark, made without a network."""

import json
import re
import socket
import struct
import zlib
from pathlib import Path
from typing import NoReturn

import altair as alt
import polars as pl
import pytest

from iolab import charts
from iolab.charts import theme

RUNS = pl.DataFrame({"elapsed_s": [1.0, 2.0, 2.5, 9.0]})


@pytest.fixture
def chart() -> alt.Chart:
    """A chart of 520 by 180 pixels, without its axes."""
    return charts.histogram(RUNS, bins=4)


def read_png(path: Path) -> tuple[int, int, set[bytes]]:
    """Width, height and the colours of a PNG's rows that are not filtered."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) == (8, 6)
    packed, place = b"", 8
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        packed += data[place + 8 : place + 8 + length] if data[place + 4 : place + 8] == b"IDAT" else b""
        place += 12 + length
    pixels = zlib.decompress(packed)
    assert len(pixels) == height * (4 * width + 1)
    # The first pixel of a row is as it is under the filters "none", "sub" and, in the first row, all others.
    return width, height, {pixels[1:5]}


def test_png_has_the_size_of_the_scale(tmp_path: Path, chart: alt.Chart) -> None:
    """A PNG is a whole picture; twice the scale is twice the pixels."""
    small = read_png(charts.save(chart, tmp_path / "small.png", scale=1))
    large = read_png(charts.save(chart, tmp_path / "large.PNG", scale=2))

    assert small[0] > 520
    assert small[1] > 180
    assert large[:2] == pytest.approx((2 * small[0], 2 * small[1]), abs=2)


@pytest.mark.parametrize(("mode", "ground"), [("light", b"\xff\xff\xff\xff"), ("dark", b"\x16\x1b\x22\xff")])
def test_png_wears_the_theme(tmp_path: Path, chart: alt.Chart, mode: theme.Mode, ground: bytes) -> None:
    """The ground of the picture is the theme's, whether it is enabled or not."""
    assert read_png(charts.save(chart, tmp_path / "chart.png", mode=mode))[2] == {ground}


def test_svg_is_a_picture_with_its_texts(tmp_path: Path, chart: alt.Chart) -> None:
    """An SVG has the size of the chart, its marks and its texts, and refers to nothing outside."""
    text = charts.save(chart, tmp_path / "chart.svg").read_text(encoding="utf-8")
    size = re.search(r'<svg[^>]* width="(\d+)" height="(\d+)"', text)

    assert size is not None
    assert int(size.group(1)) > 520
    assert "elapsed (s)" in text
    assert text.count('aria-roledescription="bar"') == 2
    assert re.findall(r'(?:href|src)="(?!#)', text) == []


def test_json_is_the_specification(tmp_path: Path, chart: alt.Chart) -> None:
    """What is written is what Vega-Lite reads, the theme with it."""
    spec = json.loads(charts.save(chart, tmp_path / "chart.json", mode="dark").read_text(encoding="utf-8"))

    assert (spec["mark"]["type"], spec["config"]) == ("bar", json.loads(json.dumps(theme.config("dark"))))
    assert [row["count"] for row in next(iter(spec["datasets"].values()))] == [3, 1]


def test_html_needs_no_network(tmp_path: Path, chart: alt.Chart) -> None:
    """A page holds the chart and the libraries that draw it."""
    page = charts.save(chart, str(tmp_path / "chart.html")).read_text(encoding="utf-8")

    assert page.count('<figure class="chart"') == 1
    assert "default-src 'none'" in page
    assert "<title>How often which time</title>" in page


@pytest.mark.parametrize("suffix", [".png", ".svg", ".json", ".html"])
def test_no_socket_is_opened(tmp_path: Path, chart: alt.Chart, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked of a network: a socket would be an error."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    assert charts.save(chart, tmp_path / f"chart{suffix}").stat().st_size > 1000


@pytest.mark.parametrize("suffix", [".png", ".svg", ".json", ".html"])
def test_data_at_an_address_is_refused(tmp_path: Path, suffix: str) -> None:
    """A chart whose data is elsewhere would ask a network: the renderer is never reached."""
    remote = alt.layer(alt.Chart("http://127.0.0.1:9/data.csv").mark_point().encode(x="a:Q"))

    with pytest.raises(ValueError, match=r"data is at http://127\.0\.0\.1:9/data\.csv; give it as a frame"):
        charts.save(remote, tmp_path / f"chart{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["chart", "chart.pdf", "chart.svg.gz", ".png"])
def test_an_unknown_suffix_is_refused(tmp_path: Path, chart: alt.Chart, name: str) -> None:
    """The error names what can be written, and nothing is."""
    with pytest.raises(ValueError, match=r"it can as \.png, \.svg, \.json, \.html"):
        charts.save(chart, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scale", [0, -1, float("nan")])
def test_a_scale_is_above_zero(tmp_path: Path, chart: alt.Chart, scale: float) -> None:
    """A picture of no pixels is an error with a sentence."""
    with pytest.raises(ValueError, match="it is above zero"):
        charts.save(chart, tmp_path / "chart.png", scale=scale)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_names_that_cannot_be_drawn_are_replaced(tmp_path: Path, suffix: str) -> None:
    """XML has no control characters: those of a damaged log's names are replaced, and very long names are cut."""
    controls = "".join(chr(code) for code in [*range(32), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF])
    names = pl.DataFrame({"name": ["SQL*Net\x1a", f"read{controls}", "x" * 300_000], "ms": [1, 2, 3]})
    chart = alt.Chart(names, title="times\x1a").mark_bar(tooltip=True).encode(x="ms", y="name", color="name")

    content = charts.save(chart, tmp_path / f"chart.{suffix}").read_bytes()

    if suffix == "svg":
        text = content.decode()
        assert len(text) < 50_000
        assert {"times\ufffd", "SQL*Net\ufffd"} <= set(re.findall("(?<=>)[^<]+(?=</text>)", text))
        assert not set(text) & (set(controls) - {"\n"})
