"""Listings of statistics by name: v$mystat and its like, MyStats, snap_my_stats, runstats, Snapper.

A listing is a grid with a column of names of V$STATNAME and at least one column of numbers; or rows that carry the
name and the number without a ruler (Snapper, ``name : value``).
"""

from __future__ import annotations

from typing import Final

from logframe import Column, read_printed
from logframe.printed import decimal_mark, finite
from sqlplusparse.autotrace import complete, is_known, may_be_known
from sqlplusparse.cells import cells_of, cut_cells
from sqlplusparse.lines import LISTS, SNAPPER_END, TYPED_STATISTIC, WIDE_GAP, Kind, Pattern
from sqlplusparse.page import LineRole, Page
from sqlplusparse.records import Grid, Listing, Statistic

_NAME_HEADINGS: Final = frozenset(
    {"NAME", "STATISTIC", "STATISTIC NAME", "STATISTIC_NAME", "STAT_NAME", "STAT NAME", "STATNAME", "DISPLAY_NAME"}
)
_KEY_HEADINGS: Final = frozenset({"INST_ID", "STATISTIC#", "CLASS", "CON_ID", "SERIAL#", "STAT_ID", "SNAP_ID"})
#: A grid of waits, of samples, or of segments lists no statistics of sessions.
_WAIT_HEADINGS: Final = frozenset({"EVENT", "WAIT_CLASS", "OBJECT_NAME"})
_SEVERAL_HEADINGS: Final = frozenset({"INST_ID", "CON_ID", "SNAP_ID"})
_SID_HEADINGS: Final = frozenset({"SID", "SESSION_ID"})
_TYPE_HEADINGS: Final = frozenset({"TYPE"})
_DELTA_HEADINGS: Final = Pattern("{DELTA_HEADING}", LISTS)
_RATE_HEADINGS: Final = Pattern("{RATE_HEADING}", LISTS)
_CUMULATIVE_HEADINGS: Final = Pattern("{CUMULATIVE_HEADING}$", LISTS)
#: Whether a grid is a listing shows in this many of its rows: few, unless a heading says that it may be one.
_SAMPLE: Final = 4
_NAMED_SAMPLE: Final = 200
_REMARK: Final = Pattern("{REMARK}", LISTS)
_INTERVAL: Final = Pattern("{INTERVAL} *(?P<seconds>{SECONDS}) *{SECONDS_WORD}", LISTS)
_VIEWS: Final = Pattern("{STATISTICS_VIEW}", LISTS)
_SUBTRACTION: Final = Pattern("{SUBTRACTION}", LISTS)
_SCALING: Final = Pattern("{SCALING}", LISTS)
_WORD: Final = Pattern("{WORD}", LISTS)
_LISTED_NUMBER: Final = Pattern("{LISTED_FIGURE}(?:{EXPONENT})?(?:{UNIT})?|{HASHES}", LISTS)
#: Columns of Snapper by their place; releases print fewer or more.
_SNAPPER_COLUMNS: Final = (
    *("SID", "USERNAME", "TYPE", "STATISTIC", "DELTA", "DELTA/SEC", "%TIME", "GRAPH", "WAITS", "WAITS/SEC", "AVERAGE"),
)
#: How the lines of runstats begin.
RUNSTATS: Final = ("STAT...", "LATCH.")
_RUNS: Final = ("Run1", "Run2", "Diff")
_RUNSTATS_LINE: Final = Pattern(
    "(?P<type>{RUNSTATS_TYPE})(?P<name>{NAME}) +(?P<Run1>{WHOLE}) +(?P<Run2>{WHOLE}) +(?P<Diff>{WHOLE})", LISTS
)
_COLON_LINE: Final = Pattern(r"(?P<name>{COLON_NAME})\s*:\s+(?P<raw>{LISTED_FIGURE}(?:{EXPONENT})?)", LISTS)
_COMPACT_LINE: Final = Pattern(
    r"(?P<sid>{DIGITS}) +\w+{WIDE_GAP}(?P<name>{SPACED_NAME}){WIDE_GAP}(?P<raw>{LISTED_FIGURE}(?:{UNIT})?)", LISTS
)
_PLAIN_LINE: Final = Pattern("(?P<name>{SPACED_NAME}){WIDE_GAP}(?P<raw>{WHOLE})", LISTS)


def read_listing(page: Page, grid: Grid, statement_text: str | None) -> Listing | None:
    """The listing that a grid is; None when it is another kind of result."""
    if len(grid.rulers) != 1 or len(grid.headings) < 2 or not grid.rows:
        return None
    upper = [heading.upper() for heading in grid.headings]
    if not _WAIT_HEADINGS.isdisjoint(upper):
        return None
    size = _SAMPLE if _NAME_HEADINGS.isdisjoint(upper) else _NAMED_SAMPLE
    if grid.cells:
        rows = cells_of(page, grid)
    elif any(_begins_with_name(page.lines[number].strip()) for number in grid.rows[:size]):
        rows = [(number, _cells(page, grid, number)) for number in grid.rows]
    else:
        return None
    place = _name_column(upper, rows)
    if place is None:
        return None
    values = [
        column
        for column, heading in enumerate(upper)
        if column != place
        and heading not in _KEY_HEADINGS | _SID_HEADINGS | _TYPE_HEADINGS
        and _is_numeric(rows, column)
    ]
    if not values:
        return None
    if _is_of_several(upper, rows):
        return None
    sid = next((column for column, heading in enumerate(upper) if heading in _SID_HEADINGS), None)
    kinds = next((column for column, heading in enumerate(upper) if heading in _TYPE_HEADINGS), None)
    interval = _INTERVAL.search(grid.title)
    listing = Listing("grid", grid.first, grid.last, seconds=finite(interval["seconds"]) if interval else None)
    if statement_text:
        listing.is_time_model = "time_model" in statement_text.lower()
        listing.is_scaled = _SCALING.search(statement_text) is not None
    columns = {column: _basis(grid, column, rows, statement_text) for column in values}
    extent = grid.rulers[0][place]
    for number, cells in rows:
        name = cells[place]
        if not name:
            page.note(number, "unknown_name", "a row of a listing without a name")
            continue
        width = len(name) if len(name) == extent.end - extent.start else 0
        above = listing.statistics[-len(columns) :]
        if above and not any(cell for column, cell in enumerate(cells) if column != place):
            whole = _joined(above[0], name) if len(name) <= extent.end - extent.start else None
            if whole is not None:
                listing.statistics[-len(columns) :] = [one._replace(name=whole, width=0) for one in above]
                continue
        for column, basis in columns.items():
            listing.statistics.append(
                Statistic(
                    number,
                    name,
                    cells[column],
                    grid.headings[column],
                    basis,
                    cells[sid] if sid is not None else None,
                    cells[kinds] if kinds is not None and cells[kinds] else "STAT",
                    width,
                )
            )
    return listing


def _is_of_several(upper: list[str], rows: list[tuple[int, tuple[str, ...]]]) -> bool:
    """Has a grid the figures of several snapshots or instances, which a listing would not tell apart?"""
    return any(
        len({cells[column] for _, cells in rows if cells[column]}) > 1
        for column, heading in enumerate(upper)
        if heading in _SEVERAL_HEADINGS
    )


def _joined(above: Statistic, rest: str) -> str | None:
    """The name of a figure, of which the line below holds the rest because its column is narrow; None when not so."""
    if is_known(rest):
        return None
    known = next((name for name in (above.name + rest, f"{above.name} {rest}") if is_known(name)), None)
    printed = complete(above.name)
    is_cut = above.width > 0 and (printed.is_truncated or not printed.is_known)
    return known or (above.name + rest if is_cut else None)


def _begins_with_name(line: str) -> bool:
    """Is one of the texts of a line, or all but the numbers at its end, a statistic's name?"""
    texts = WIDE_GAP.compiled.split(line.lstrip("0123456789 "))
    if any(may_be_known(text) and is_known(text) for text in texts):
        return True
    if not line[-1:].isdigit() or not may_be_known(line):
        return False
    name, numbers = _last_numbers(line)
    return bool(numbers) and is_known(name)


def _last_numbers(line: str) -> tuple[str, list[str]]:
    """What a line says before the numbers at its end, and these; its first word is not one of them.

    Examples:
        >>> _last_numbers("physical reads  12 1,116"), _last_numbers("12")
        (('physical reads', ['12', '1,116']), ('12', []))
    """
    words = list(_WORD.finditer(line))
    first = len(words)
    while first > 1 and _LISTED_NUMBER.fullmatch(words[first - 1].group()):
        first -= 1
    return line[: words[first - 1].end()] if words else "", [word.group() for word in words[first:]]


def _cells(page: Page, grid: Grid, number: int) -> tuple[str, ...]:
    """The cells of a row; of a row whose blanks were collapsed, the numbers at its end are its last cells."""
    columns = grid.rulers[0]
    line = page.lines[number]
    bare = _REMARK.sub("", line) if "<-" in line or "--" in line else line
    cells = cut_cells(bare, columns)
    if cells[-1] or not cells[0]:
        return cells
    name, numbers = _last_numbers(bare.strip())
    if numbers and len(numbers) >= len(columns) - 1 and not any(cells[1:]):
        extra = len(numbers) - (len(columns) - 1)
        name = " ".join([name, *numbers[:extra]])
        return (" ".join(name.split()), *numbers[extra:])
    return cells


def _name_column(upper: list[str], rows: list[tuple[int, tuple[str, ...]]]) -> int | None:
    """The column that holds names of statistics."""
    for place, heading in enumerate(upper):
        names = [cells[place] for _, cells in rows if cells[place]]
        known = sum(is_known(name) for name in names)
        if known and (known >= 0.5 * len(names) or (heading in _NAME_HEADINGS and known >= 0.2 * len(names))):
            return place
    return None


def _is_numeric(rows: list[tuple[int, tuple[str, ...]]], column: int) -> bool:
    figures = [cells[column] for _, cells in rows if cells[column]]
    decimal = decimal_mark(figures)
    return bool(figures) and all(read_printed(figure, decimal=decimal).flag in {None, "overflow"} for figure in figures)


def _basis(grid: Grid, column: int, rows: list[tuple[int, tuple[str, ...]]], text: str | None) -> str:
    """Cumulative since logon, a delta, a rate, or unknown: by heading, title, statement, and the figures themselves."""
    heading = grid.headings[column]
    if _RATE_HEADINGS.fullmatch(heading.strip()):
        return "rate"
    if _DELTA_HEADINGS.match(heading):
        return "delta"
    if _CUMULATIVE_HEADINGS.match(heading):
        return "cumulative"
    title = grid.title.lower()
    if "interval" in title or "statistics report" in title or "type" in (name.lower() for name in grid.headings):
        return "delta"
    if text and _VIEWS.search(text):
        return "delta" if _SUBTRACTION.search(text) else "cumulative"
    if any(cells[column].startswith("-") and len(cells[column]) > 1 for _, cells in rows):
        return "delta"
    return "unknown"


def read_snapper(page: Page, number: int) -> tuple[Listing, int]:
    """The Snapper rows from a line on, with the interval from their trailer, and the line after them."""
    listing = Listing("snapper", number, number)
    rows: dict[int, list[str]] = {}
    end = number
    while number < len(page):
        kind = page.kinds[number]
        if kind == Kind.SNAPPER_ROW:
            fields = [field.strip() for field in page.lines[number].split(",")]
            place = 1 if fields[1] in {"STAT", "TIME", "WAIT"} else 2
            if len(fields) > place + 2:
                kind_of = fields[place]
                name, raw = fields[place + 1], fields[place + 2]
                heading = "DELTA" if kind_of == "STAT" else "DELTA_US"
                sid = fields[0].split()[0]
                listing.statistics.append(Statistic(number, name, raw, heading, "delta", sid, kind_of))
                rows[number] = fields if place == 2 else [fields[0], "", *fields[1:]]
                page.roles[number] = LineRole.ROW
            else:
                page.refuse(number, "unparsed", "a Snapper row that ends before its figure")
            number = end = number + 1
        elif kind == Kind.SNAPPER_END:
            found = SNAPPER_END.fullmatch(page.lines[number].strip())
            if found is None:
                page.refuse(number, "unparsed", "the end of a snapshot of Snapper that does not say how long it was")
            else:
                listing.seconds = finite(found["seconds"])
                page.roles[number] = LineRole.ROW
            end = number + 1
            break
        elif kind == Kind.BLANK:
            number += 1
        else:
            break
    listing.last = end
    width = max((len(fields) for fields in rows.values()), default=0)
    headings = (*_SNAPPER_COLUMNS[:width], *("" for _ in range(len(_SNAPPER_COLUMNS), width)))
    cells = [(*fields, *[""] * (width - len(fields))) for fields in rows.values()]
    rulers = ((Column(0, 0),) * width,)
    listing.grid = Grid(headings, rulers, list(rows), 1, listing.first, end, cells=cells)
    return listing, end


def read_runstats(page: Page, number: int) -> tuple[Listing, int] | None:
    """The lines of runstats from a line on: a statistic or latch with both runs and their difference."""
    listing = Listing("runstats", number, number)
    end = number
    while end < len(page) and (found := _RUNSTATS_LINE.fullmatch(page.lines[end])):
        kind = "STAT" if found["type"] == RUNSTATS[0] else "LATCH"
        for column in _RUNS:
            listing.statistics.append(Statistic(end, found["name"], found[column], column, "delta", None, kind))
        page.roles[end] = LineRole.ROW
        end += 1
    listing.last = end
    return (listing, end) if listing.statistics else None


def read_unruled(page: Page, number: int) -> tuple[Listing, int] | None:
    """Lines ``name : value``, or names and values without a ruler; None when the line is neither."""
    listing = Listing("unruled", number, number)
    end = number
    while end < len(page) and page.kinds[end] == Kind.TEXT:
        line = page.lines[end].strip()
        found = _COLON_LINE.fullmatch(line) or _COMPACT_LINE.fullmatch(line) or TYPED_STATISTIC.fullmatch(line)
        if found is None and may_be_known(line):
            found = _PLAIN_LINE.fullmatch(line)
        if found is None:
            break
        groups = found.groupdict()
        kind = groups.get("type")
        if kind is None and not is_known(found["name"]):
            break
        sid = groups.get("sid")
        basis = "delta" if sid or kind else "unknown"
        listing.statistics.append(Statistic(end, found["name"], found["raw"], "VALUE", basis, sid, kind or "STAT"))
        page.roles[end] = LineRole.ROW
        end += 1
    listing.last = end
    return (listing, end) if listing.statistics else None
