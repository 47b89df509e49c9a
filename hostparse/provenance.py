"""Which samples of a host's log came from which lines, for `logframe.provenance`."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.json_places import JsonPlaces
from hostparse.recognise import cleanup_of
from hostparse.sadf_xml import as_json, is_xml
from hostparse.shapes import wide_rows
from hostparse.stored import CrossedPart
from hostparse.tools import STATED_INTERVAL
from logframe import open_log
from logframe.copied import cleaned, place_in_copy
from logframe.normalize import without_terminal_codes
from logframe.provenance import Claim, Part, by_line, is_tabular
from logframe.source_numbers import numbers_of_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hostparse.log import HostLog
    from hostparse.stored import Part as Printed
    from logframe import Source
    from logframe.source_numbers import Key

#: Columns that say when a sample was taken and that may be printed beside its figures.
_STAMPS: Final = ("interval_end", "time_of_day")
_PLACE: Final = ("run", "sample", "is_since_boot", "interval_start", *_STAMPS)
#: Columns of names that are numbers, and what sadf prints for all of them.
_COUNTED: Final = ("cpu", "interrupt")
_OF_ALL: Final = {"all": "-1", "sum": "-1"}
#: nmon's lines about the configuration, and output of other programs in them.
_CONFIGURATION: Final = ("AAA", "BBB")
#: Tools that put a mark between values -> the mark.
_SEPARATORS: Final = {"nmon": ",", "sadf": ";"}


def parts_of(parsed: HostLog, source: Source) -> list[Part]:
    """The log's text, with its wide rows and means by line; a figure whose sample has a flag is null on purpose."""
    parts = parsed.parts.whole()
    frames = {name: frame.lazy().collect() for name, frame in parsed.frames().items()}
    printed = [_rows_of(part, frames[part.heading.scope]) for part in parts]
    flags = frames["samples"].select("line", "flag")
    if "json" in parsed.lines:
        log = cleaned(open_log(source), cleanup_of)
        text = (as_json(log) if is_xml(log.head()[:20]) else log).text()
        part = JsonPlaces(text, parts, printed, flags["flag"].to_list(), parsed.runs.height).part(frames)
        if is_xml(log.head()[:20]):
            part.place = partial(_place_in_xml, text.split("\n"), log.lines())
        return [part]
    claims: dict[Key, list[Claim]] = {}
    for table, rows in zip(parts, printed, strict=True):
        figures = [one.name for one in table.heading.fields if one.metric and one.name != STATED_INTERVAL.name]
        first = frames[table.heading.scope]["line"].to_list()
        for line, claim in rows:
            if line not in claims and line == first[claim.row]:
                claims[line] = [claim]
                continue
            # the other rows of a line, and of tables that were put together: what and when they are of is there already
            claims.setdefault(line, []).append(claim._replace(kept=claim.columns.keys() - set(figures)))
        if isinstance(table, CrossedPart) and table.is_by_name:
            for line, _ in rows:
                claims[line].sort(key=attrgetter("row"))
    factors = {field.printed: field.metric.factor for one in parts for field in one.heading.fields if field.metric}
    for row, (line, heading) in enumerate(frames["averages"].select("line", "printed").rows()):
        name = {} if line in claims else {"name": 1.0}
        value = {"value": factors.get(heading, 1.0)}
        claims.setdefault(line, []).append(Claim("averages", row, {**name, **value}, is_whole=True))
    log = open_log(source)
    lines = [without_terminal_codes(line) for line in cleaned(log, cleanup_of).lines()]
    part = by_line("\n".join(lines), {}, claims=claims, is_row=_is_row)
    part.place = place_in_copy(log.lines(), lines)
    part.frames = {name: _with_printed_names(frame) for name, frame in frames.items()}
    part.separator = _SEPARATORS.get(parsed.kind, "")
    for scope in ("samples", "averages"):
        part.statuses.update(dict.fromkeys(frames[scope].drop_nulls("flag")["line"], "diagnosed"))
    return [part]


def _rows_of(part: Printed, wide: pl.DataFrame) -> list[tuple[int, Claim]]:
    """The line of each row of a part, and the row of the wide frame of its scope."""
    heading = part.heading
    factors = {one.name: one.metric.factor if one.metric else 1.0 for one in heading.fields}
    stamps = dict.fromkeys(_STAMPS, 1.0)
    first = {name: factor for name, factor in factors.items() if name == STATED_INTERVAL.name}
    columns = {**factors, **stamps} if heading.has_stamp else {**first, **stamps, **factors}
    own = wide_rows(part, bounds=False)
    # rows of several tables may be one row, which has the line of the first
    place = [*_PLACE, *heading.keys]
    merged = {key: row for row, key in enumerate(wide.select(place).rows())}
    by_line = {key: row for row, key in enumerate(wide.select("line", *place).rows())}
    rows = [(key[0], by_line.get(key, merged.get(key[1:]))) for key in own.select("line", *place).rows()]
    return [(line, Claim(heading.scope, row, columns, is_whole=True)) for line, row in rows if row is not None]


def _with_printed_names(frame: pl.DataFrame) -> pl.DataFrame:
    """With the number that sadf prints for all of them."""
    return frame.with_columns(pl.col(name).replace(_OF_ALL) for name in _COUNTED if name in frame.columns)


def _place_in_xml(written: Sequence[str], printed: Sequence[str], line: int, column: int) -> tuple[int, int]:
    """Where a number of JSON made of XML stands in the XML, whose lines have the same numbers in the same order."""
    places, originals = ([start for start, *_ in numbers_of_line(text[line - 1])] for text in (written, printed))
    return line, originals[places.index(column - 1)] + 1 if len(places) == len(originals) else column


def _is_row(line: str) -> bool:
    return not line.startswith(_CONFIGURATION) and is_tabular(line.replace(",", " ").replace(";", " "))
