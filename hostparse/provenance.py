"""Which samples of a host's log came from which lines, for `logframe.provenance`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.fio import opened, span_of
from hostparse.histograms import kind_of_line
from hostparse.json_places import JsonPlaces, Offsets
from hostparse.recognise import cleanup_of
from hostparse.sadf_xml import as_json, is_xml
from logframe import open_log
from logframe.copied import cleaned
from logframe.json_leaves import json_leaves
from logframe.normalize import without_terminal_codes
from logframe.provenance import Claim, Part, by_line, is_tabular

if TYPE_CHECKING:
    from hostparse.events import EventList
    from hostparse.fio import FioResult
    from hostparse.histograms import LatencyHistograms
    from hostparse.log import HostLog
    from hostparse.parts import Part as Printed
    from logframe import Source
    from logframe.source_numbers import Key

_PAGE: Final = 4096.0
#: Lines that say something of the table below them.
_OF_TABLE: Final = ("FIELD", "CLOCK", "KEY", "MAP_KEY", "ARROW_HEADING")
#: nmon's lines about the configuration, and output of other programs in them.
_CONFIGURATION: Final = ("AAA", "BBB")
#: Tools that put a mark between values -> the mark.
_SEPARATORS: Final = {"nmon": ",", "sadf": ";"}


def parts_of(parsed: HostLog, source: Source) -> list[Part]:
    """The log's text, with its samples and means by line; a figure whose sample has a flag is null on purpose."""
    parts = parsed.parts.whole()
    # memory of AIX and HP-UX is printed in pages, which no name of a unit says
    paged = [
        field.name for part in parts for field in part.heading.fields if field.metric and field.metric.factor == _PAGE
    ]
    in_pages = pl.when(pl.col("metric").is_in(paged)).then(pl.col("value") / _PAGE).alias("pages")
    frames = {
        "samples": parsed.samples.with_columns(in_pages).collect(),
        "averages": parsed.averages.with_columns(in_pages).collect(),
    }
    claims: dict[Key, list[Claim]] = {}
    flagged: set[int] = set()
    for name, frame in frames.items():
        for row, (line, flag) in enumerate(frame.select("line", "flag").rows()):
            if line not in claims:
                claims[line] = [Claim(name, row)]
            claims[line].append(Claim(name, row, "value"))
            if paged:
                claims[line].append(Claim(name, row, "pages"))
            if flag is not None:
                flagged.add(line)
    for number, printed in enumerate(parts, 1):
        # which device, process, ... a row is about
        name = f"{printed.heading.scope} ({number})"
        frames[name] = _names(printed)
        for row, line in enumerate(frames[name]["line"].to_list()):
            claims.setdefault(line, []).append(Claim(name, row))
    if "json" in parsed.lines:
        flags = frames["samples"].get_column("flag").to_list()
        names = [name for name in frames if name not in {"samples", "averages"}]
        frames["runs"] = parsed.runs
        log = cleaned(open_log(source), cleanup_of)
        text = (as_json(log) if is_xml(log.head()[:20]) else log).text()
        return [JsonPlaces(text, parts, names, flags, parsed.runs.height).part(frames)]
    text = without_terminal_codes("\n".join(open_log(source).lines()))
    part = by_line(text, frames, (), claims=claims, is_row=_is_row)
    part.separator = _SEPARATORS.get(parsed.kind, "")
    part.statuses.update(dict.fromkeys(flagged, "diagnosed"))
    return [part]


def parts_of_events(parsed: EventList, source: Source) -> list[Part]:
    """The text of a list of I/O events, with its rows by line; offsets of sectors are bytes in the frame."""
    events = parsed.events.with_columns(
        sector=pl.col("offset_bytes") // 512,
        sectors=pl.col("bytes") // 512,
        offset_kib=pl.col("offset_bytes") // 1024,
        latency_us=pl.col("latency_ms") * 1e3,
        end_us=pl.col("end_s") * 1e6,
    )
    frames = {"events": events, "others": parsed.others}
    text = "\n".join(open_log(source).lines())
    return [by_line(text, frames, [(name, "line", "line") for name in frames], is_row=is_tabular)]


def parts_of_fio(parsed: FioResult, source: Source) -> list[Part]:
    """The text of a result of fio, each value a place with its row; the other frames are made of them."""
    text = opened(source).text()
    begin, end = span_of(text)
    offsets = Offsets(text)
    part = Part(text, {"values": parsed.values}, default="text")
    starts = [(1, 1)]
    rows = {place: row for row, place in enumerate(parsed.values.select("path", "line").iter_rows())}
    first = text.count("\n", 0, begin) + 1
    for leaf in json_leaves(text[begin:end]):
        starts += [offsets.place(begin + leaf.start), offsets.place(begin + leaf.end)]
        if (row := rows.get((leaf.path, first + leaf.line))) is not None:
            part.claims[len(starts) - 2] = [Claim("values", row)]
        part.statuses[len(starts) - 2] = "lost"
    part.starts = starts
    return [part]


def parts_of_histograms(parsed: LatencyHistograms, source: Source) -> list[Part]:
    """The text of latency histograms, with buckets and means by line.

    Lines above a table (time, key, unit) are of its first bucket.  The upper end that a tool prints is the largest
    whole number within the bucket, or its end.
    """
    largest = pl.when(pl.col("upper").is_finite()).then(pl.col("upper") - 1)
    buckets = parsed.buckets.with_columns(
        lower_in_units=pl.col("lower") / 1024, upper_in_units=pl.col("upper") / 1024, largest=largest
    )
    frames = {"buckets": buckets, "means": parsed.means}
    lines = open_log(source).lines()
    part = by_line("\n".join(lines), frames, [(name, "line", "line") for name in frames], is_row=is_tabular)
    part.separator = "," if "pylatencymap" in parsed.kind else ""
    claimed = set(part.claims)
    first = dict(reversed([(line, row) for row, line in enumerate(buckets["line"].to_list())]))
    below: int | None = None
    for number in range(len(lines), 0, -1):
        below = first.get(number, below)
        kind = None if number in claimed else kind_of_line(lines[number - 1].rstrip())
        if kind in _OF_TABLE and below is not None:
            part.claim(number, Claim("buckets", below))
        if kind in _OF_TABLE or kind == "MEAN":
            part.statuses[number] = "lost"
    return [part]


def _names(printed: Printed) -> pl.DataFrame:
    """What each row is about, the length of its interval, and the number that sadf prints for all CPUs."""
    frame = printed.frame.drop(printed.halves)
    if "interval_start" in frame.columns:
        length = pl.col("interval_end") - pl.col("interval_start")
        frame = frame.with_columns(interval_s=length.dt.total_seconds())
    if "cpu" in frame.columns:
        frame = frame.with_columns(cpu_printed=pl.when(pl.col("cpu") == "all").then(pl.lit("-1")))
    return frame


def _is_row(line: str) -> bool:
    return not line.startswith(_CONFIGURATION) and is_tabular(line.replace(",", " ").replace(";", " "))
