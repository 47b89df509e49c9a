"""Damaged reports: cut anywhere, tags dropped, rows doubled, joined, as UTF-16, with markup in an SQL text.

A fixed sample runs by default.  ``IOLAB_AWR_CUTS=200`` cuts every real report at 200 places and repeats the other
damage a fifth as often; that takes the better part of an hour.
"""

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from awrparse import TABLES, AwrReport, read_awr
from iolab import write_report
from logframe import LogParseError

#: How often each report is cut in a full run; 0 for the sample.
CUTS = int(os.environ.get("IOLAB_AWR_CUTS", "0"))
#: Of the sample: cuts a report, and the bytes of each that are cut and damaged.
SAMPLE_CUTS, SAMPLE_BYTES = 2, 80_000
DATA = Path(__file__).parent / "awr_data" / "valid"
SCRIPT = "<script>alert(1)</script>"
_TAG = re.compile(rb"</?(?:t[rdh]|table|a|h\d|li|ul)\b[^>]*>", re.IGNORECASE)
_TABLE = re.compile(r"<table(?=[\s/>])[^>]*>", re.IGNORECASE)


def mutations(data: bytes, other: bytes, chance: random.Random, cuts: int, rounds: int) -> Iterator[tuple[str, bytes]]:
    """Damaged copies of a report, each with what was done to it."""
    for _ in range(cuts):
        place = chance.randrange(len(data))
        yield f"cut at {place}", data[:place]
    for _ in range(rounds):
        place = chance.randrange(len(data))
        yield f"begins at {place}", data[place:]
        lines = data.split(b"\n")
        row, count = chance.randrange(len(lines)), chance.randrange(1, 40)
        yield f"{count} rows doubled at {row}", b"\n".join([*lines[: row + count], *lines[row:]])
        row, count = chance.randrange(len(lines)), chance.randrange(1, 40)
        yield f"{count} rows dropped at {row}", b"\n".join([*lines[:row], *lines[row + count :]])
        if tags := list(_TAG.finditer(data)):
            dropped = sorted(chance.sample(tags, min(20, len(tags))), key=lambda tag: tag.start())
            kept, last = [], 0
            for tag in dropped:
                kept.append(data[last : tag.start()])
                last = tag.end()
            yield f"{len(dropped)} tags dropped", b"".join([*kept, data[last:]])
    yield "joined with another", data + b"\n" + other
    yield "joined with itself", data + b"\n" + data
    text = data.decode("utf-8", errors="replace")
    yield "as UTF-16", text.encode("utf-16")
    yield "as UTF-16 without its mark", text.encode("utf-16-le")
    yield "with carriage returns", text.replace("\r", "").replace("\n", "\r\n").encode()


def assert_readable(data: bytes, what: str) -> AwrReport | None:
    """Read all there is in a damaged report; nothing but `LogParseError` is raised, and the counts add up."""
    try:
        first = read_awr(data, printed=True)
    except LogParseError:
        return None
    for report in first.parts:
        assert report.diagnostics.filter(pl.col("reason").fill_null("") == "").is_empty(), what
        for name in report.tables:
            frame = report[name]
            assert [column for column in TABLES[name].schema if column not in frame.columns] == [], (what, name)
        for title in report.raw_tables:
            assert report.raw_tables[title].height == len(report.raw_tables.cells(title)), (what, title)
        assert report.info.kind == report.kind, what
        report.check()
        if report.form == "text":
            unparsed = report.line_counts.get("unparsed", 0)
            within = report.diagnostics["kind"].to_list().count("unparsed")
            assert within >= unparsed, what
    _assert_counts(first, data, what)
    return first


def _assert_counts(report: AwrReport, data: bytes, what: str) -> None:
    """Every line of a text, and every table of a page, is in exactly one place."""
    text = _decoded(data).replace("\r", "")
    if report.form == "html":
        counted = len(_TABLE.findall(text))
        assert (what, sum(len(part.raw_tables) for part in report.parts)) == (what, counted)
        return
    pieces = [part for part in report.parts if part.line_counts]
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    assert (what, sum(sum(part.line_counts.values()) for part in pieces)) == (what, len(lines))


def _decoded(data: bytes) -> str:
    if data[:2] == b"\xff\xfe":
        return data[2:].decode("utf-16-le")
    if data[1:2] == b"\0":
        return data.decode("utf-16-le")
    return data.decode("utf-8", errors="replace")


def _real_reports(corpus: Path) -> list[Path]:
    found = sorted(path for path in (corpus / "awr").rglob("*") if path.is_file() and path.name != "INDEX.tsv")
    assert found
    return found


@pytest.mark.corpus
def test_a_sample_of_damage_to_every_real_report(corpus: Path) -> None:
    """Three damaged copies of a piece of each report: read, or refused by `LogParseError`."""
    chance = random.Random(20_240_229)  # noqa: S311 - a seed makes the damage repeatable
    paths = _real_reports(corpus)
    read = 0
    for path, other in zip(paths, [*paths[1:], paths[0]], strict=True):
        size = path.stat().st_size
        start = chance.randrange(max(size - SAMPLE_BYTES, 1)) if chance.random() < 0.5 else 0
        data = path.read_bytes()[start : start + SAMPLE_BYTES]
        damaged = list(mutations(data, other.read_bytes()[:20_000], chance, SAMPLE_CUTS, 1))
        for what, content in chance.sample(damaged, 3):
            read += assert_readable(content, f"{path.name}: {what}") is not None
    assert read > len(paths)


@pytest.mark.corpus
@pytest.mark.skipif(CUTS == 0, reason="IOLAB_AWR_CUTS says how often to cut each report; 200 takes half an hour")
def test_all_damage_to_every_real_report(corpus: Path) -> None:
    """Every report cut at so many places, and the other damage a fifth as often."""
    chance = random.Random(CUTS)  # noqa: S311 - a seed makes the damage repeatable
    paths = _real_reports(corpus)
    for path, other in zip(paths, [*paths[1:], paths[0]], strict=True):
        for what, content in mutations(path.read_bytes(), other.read_bytes(), chance, CUTS, CUTS // 5):
            assert_readable(content, f"{path.name}: {what}")


def _text_with_script() -> bytes:
    text = (DATA / "awr_text_11204.txt").read_text(encoding="utf-8")
    name = next(line[:30] for line in text.splitlines() if line.startswith("db file sequential read"))
    return text.replace(name, SCRIPT.ljust(30)).replace("select", f"select '{SCRIPT}',").encode()


def _page_with_script(markup: str) -> bytes:
    text = (DATA / "awr_html_122.html").read_text(encoding="utf-8")
    assert "direct path read" in text
    return text.replace("direct path read", markup).replace("select", f"select '{markup}',").encode()


@pytest.mark.parametrize(
    "data",
    [
        _text_with_script(),
        _page_with_script("&lt;script&gt;alert(1)&lt;/script&gt;"),
        _page_with_script(SCRIPT),
        _page_with_script(SCRIPT.upper()),
        _page_with_script("direct <img src=x onerror=alert(1)> path"),
    ],
    ids=["text", "escaped", "raw", "capitals", "image"],
)
def test_markup_never_reaches_a_page_unescaped(data: bytes, tmp_path: Path) -> None:
    """What a report holds is shown as text: by a frame in a notebook, and on the page of the report tool."""
    source = tmp_path / f"{SCRIPT.replace('/', '_')}.txt"
    source.write_bytes(data)
    report = read_awr(source)
    frames = [report[name] for name in report.tables] + [report.raw_tables[title] for title in report.raw_tables]
    shown = [frame._repr_html_() for frame in (*frames, report.diagnostics)]
    page = tmp_path / "page.html"
    write_report([source], page)
    shown.append(page.read_text(encoding="utf-8"))

    for text in shown:
        assert "alert(1)</script>" not in text.lower()
        assert "<img src=x" not in text.lower()
    assert report["top_events"].height > 1


def test_a_script_in_a_cell_is_kept_as_text() -> None:
    """An event or a statement that is markup is a value like any other: nothing of it is lost."""
    for data in (_text_with_script(), _page_with_script("&lt;script&gt;alert(1)&lt;/script&gt;")):
        assert SCRIPT in read_awr(data)["top_events"]["event"].to_list()
