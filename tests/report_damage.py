"""Damaged copies of reports, and what became of the rows of the original: equal, gone with their lines, or changed.

A damage keeps of each of its lines which line of the original it was.  A row of a typed table of the damaged copy must
be a row of the same table of the original, or a diagnostic says so: near the damage, or by the name of the table.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from transformations import joined

from awrparse import TABLES, read_awr
from awrparse.canonical import grids_of
from logframe import LogParseError

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    import polars as pl

    from awrparse import AwrReport

#: A diagnostic speaks of the damage when it is at most so many lines away from it.
NEAR: Final = 12
#: Columns of running text: a damage within it changes no figure.
_TEXTS: Final = frozenset({"sql_text", "module", "text", "action_rationale", "rationale"})
_CUT_LINES: Final = (1, 2, 5, 12, 20, 35, 60)
_TABLE_TAG: Final = re.compile(r"<table\b.*?</table>", re.IGNORECASE | re.DOTALL)
_ROW_TAG: Final = re.compile(r"<tr\b.*?</tr>", re.IGNORECASE | re.DOTALL)


class Damage(NamedTuple):
    """A damaged copy.

    Attributes:
        name: what was done.
        lines: of the copy.
        origins: of each line the line of the original that it was, counted from 1; 0 where it is of another report.
        places: the lines of the copy where something is missing or added, counted from 1.
    """

    name: str
    lines: list[str]
    origins: list[int]
    places: list[int]

    @property
    def data(self) -> bytes:
        """The copy as a file."""
        return joined(self.lines).encode()


def cut(lines: Sequence[str], start: int, count: int, name: str = "cut") -> Damage:
    """Without so many lines from a place on."""
    origins = [*range(1, start + 1), *range(start + count + 1, len(lines) + 1)]
    return Damage(f"{name} {count} at {start + 1}", [lines[one - 1] for one in origins], origins, [start + 1])


def repeated(lines: Sequence[str], start: int, count: int) -> Damage:
    """So many lines twice, as where a page was copied again."""
    end = min(start + count, len(lines))
    origins = [*range(1, end + 1), *range(start + 1, len(lines) + 1)]
    return Damage(
        f"repeated {count} at {start + 1}",
        [lines[one - 1] for one in origins],
        origins,
        [end + 1, end + count],
    )


def spliced(lines: Sequence[str], end: int, other: Sequence[str], start: int) -> Damage:
    """The beginning of one report and the rest of another."""
    kept = [*lines[:end], *other[start:]]
    return Damage(f"spliced {end} with {start + 1}", kept, [*range(1, end + 1), *[0] * (len(other) - start)], [end + 1])


def folded(lines: Sequence[str], width: int, *, at_words: bool = False) -> Damage:
    """Lines longer than a width go on in the next: SQL*Plus cuts at the width, mail programs between words."""
    kept: list[str] = []
    origins: list[int] = []
    places: list[int] = []
    for number, whole in enumerate(lines, 1):
        rest = whole
        while len(rest) > width:
            end = rest.rfind(" ", 1, width + 1) if at_words else width
            if end <= 0 or not rest[:end].strip():
                end = width
            kept.append(rest[:end].rstrip())
            origins.append(number)
            places.append(len(kept))
            rest = rest[end:].lstrip(" ") if at_words else rest[end:]
        kept.append(rest)
        origins.append(number)
    return Damage(f"{'mailed' if at_words else 'wrapped'} {width}", kept, origins, places)


def truncated(lines: Sequence[str], width: int) -> Damage:
    """SET WRAP OFF: what is beyond the line size is gone."""
    places = [number for number, line in enumerate(lines, 1) if len(line) > width]
    return Damage(f"truncated {width}", [line[:width] for line in lines], list(range(1, len(lines) + 1)), places)


def pages_of(lines: Sequence[str]) -> list[int]:
    """The lines that start a page, counted from 0; every 60th where there are no form feeds."""
    found = [number for number, line in enumerate(lines) if line.startswith("\f")]
    return found if len(found) > 3 else list(range(0, len(lines), 60))


def text_damages(lines: Sequence[str], other: Sequence[str], chance: random.Random, count: int) -> Iterator[Damage]:
    """Damaged copies of a text report; `count` of each kind."""
    pages = [*pages_of(lines), len(lines)]
    size = len(lines)
    for _ in range(count):
        for many in _CUT_LINES:
            if many < size // 2:
                yield cut(lines, chance.randrange(size - many), many)
        if len(pages) > 2:
            place = chance.randrange(len(pages) - 1)
            yield cut(lines, pages[place], pages[place + 1] - pages[place], "page lost")
        yield cut(lines, end := chance.randrange(size // 4, size), size - end, "end lost")
        yield cut(lines, 0, chance.randrange(1, size // 2), "start lost")
        yield repeated(lines, chance.randrange(size - 1), chance.choice([3, 20, 60]))
        place = chance.randrange(size // 4, size)
        yield spliced(lines, place, other, chance.randrange(len(other) // 4, len(other) - 2))
    for width in (72, 80, 132, 500):
        if max(map(len, lines)) > width:
            yield folded(lines, width)
            yield folded(lines, width, at_words=True)
            yield truncated(lines, width)


def html_damages(text: str, other: str, chance: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Damaged copies of a page; `count` of each kind."""
    for _ in range(count):
        rows = list(_ROW_TAG.finditer(text))
        one = chance.randrange(len(rows) - 1)
        two = min(len(rows) - 1, one + chance.choice([1, 3, 20]))
        yield f"rows {one} to {two} lost", text[: rows[one].start()] + text[rows[two].start() :]
        start, many = chance.randrange(len(text) // 10, len(text) - 10), chance.choice([40, 400, 4000, 20_000])
        yield f"{many} lost at {start}", text[:start] + text[start + many :]
        start = chance.randrange(len(text) // 10, len(text))
        yield f"end lost at {start}", text[:start]
        tables = list(_TABLE_TAG.finditer(text))
        table = chance.choice(tables)
        yield f"table at {table.start()} twice", text[: table.end()] + "<p />\n" + text[table.start() :]
        end, start = chance.randrange(len(text) // 4, len(text)), chance.randrange(len(other) // 4, len(other))
        yield f"spliced {end} with {start}", text[:end] + other[start:]


class Row(NamedTuple):
    """A row of a typed table: its line in the file, counted from 1, or 0."""

    table: str
    line: int
    values: tuple[object, ...]


class Copy:
    """What the rows of a report are compared by."""

    def __init__(self, data: bytes) -> None:
        self.reports = [part for report in [read_awr(data)] for part in report.parts]
        self.rows = [row for report in self.reports for row in rows_of(report)]
        self.diagnostics = [row for report in self.reports for row in report.diagnostics.rows()]


def rows_of(report: AwrReport) -> Iterator[Row]:
    """The rows of the typed tables of a report, with their lines where these are known."""
    document = report.document
    for name in report.tables:
        frame = report[name]
        printed = report.printed_tables(name)
        lines = [line for grid in grids_of(TABLES[name], printed) for line in grid.lines] if printed else []
        if len(lines) != frame.height:
            lines = [0] * frame.height
        for line, values in zip(lines, _figures(frame).rows(), strict=True):
            place = document.file_line(line) if line and document.form == "text" else 0
            yield Row(name, place, values)


def _figures(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select([column for column in frame.columns if column not in _TEXTS])


class Verdict(NamedTuple):
    """What became of the rows of a damaged copy.

    Attributes:
        equal: rows that are rows of the original, in the same table.
        diagnosed: changed rows, and lost rows whose line is there, that a new diagnostic covers.
        silent: those without one: table, line in the copy and values.
        added: new diagnostics.
    """

    equal: int
    diagnosed: int
    silent: list[tuple[str, Row]]
    added: list[tuple[object, ...]]


def judge(originals: Sequence[Copy], damage: Damage | tuple[str, str]) -> Verdict:
    """Compare a damaged copy with what it was made of."""
    is_text = isinstance(damage, Damage)
    try:
        copy = Copy(damage.data if is_text else damage[1].encode())
    except LogParseError:
        return Verdict(0, 0, [], [("refused",)])
    known = Counter((row.table, row.values) for original in originals for row in original.rows)
    old = Counter((kind, text, reason) for original in originals for *_, kind, text, reason in original.diagnostics)
    added = [one for one in copy.diagnostics if (key := (one[3], one[4], one[5])) not in old or old[key] < 0]
    lines: dict[str, set[int]] = defaultdict(set)
    places = list(damage.places) if is_text else []
    text = "\n".join(f"{one[4]} {one[5]}" for one in added)
    near = [one[1] for one in added if isinstance(one[1], int)]
    everywhere = any(one[1] is None and one[3] == "several_reports" for one in added)

    kinds = {one[3] for one in added}
    taken: dict[int, set[str]] = defaultdict(set)
    for row in copy.rows:
        if row.line:
            taken[row.line].add(row.table)

    def is_covered(row: Row) -> bool:
        if not is_text and (kinds & {"cut"} or any(str(one) in text for one in row.values if one)):
            return True
        if everywhere or any(f"{name}." in text or f"{name}:" in text for name in (row.table, *taken[row.line])):
            return True
        if any(abs(line - place) <= NEAR for line in near for place in places):
            return True
        return bool(row.line) and any(abs(line - row.line) <= NEAR for line in near)

    equal, diagnosed = 0, 0
    silent: list[tuple[str, Row]] = []
    found = Counter[tuple[str, tuple[object, ...]]]()
    for row in copy.rows:
        key = (row.table, row.values)
        lines[row.table].add(row.line)
        if TABLES[row.table].shape == "wide" or row.table == "info":
            infos = [one.values for original in originals for one in original.rows if one.table == row.table]
            if (
                not any(
                    all(one is None or one == two for one, two in zip(row.values, info, strict=True)) for info in infos
                )
                and not added
            ):
                silent.append(("changed", row))
            continue
        if found[key] < known[key]:
            equal += 1
        elif is_covered(row):
            diagnosed += 1
        else:
            silent.append(("changed", row))
        found[key] += 1
    if is_text:
        ruled = {name for name, table in TABLES.items() if table.shape != "wide" and name != "info"}
        kept = {origin: number for number, origin in enumerate(damage.origins, 1) if origin}
        for row in originals[0].rows:
            if row.line in kept and not found[(row.table, row.values)] and row.table in ruled:
                place = kept[row.line]
                if place in lines[row.table]:
                    continue  # a changed row, counted above
                if is_covered(row._replace(line=place)):
                    diagnosed += 1
                else:
                    silent.append(("lost", row._replace(line=place)))
    return Verdict(equal, diagnosed, silent, added)
