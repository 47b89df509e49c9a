"""Which rows of a session's frames came from which lines, for `logframe.provenance`."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars.selectors as cs

from logframe import open_log
from logframe.normalize import with_line_feeds, without_terminal_codes
from logframe.provenance import Claim, Part, printed_columns_of
from sqlplusparse.lines import SNAPPER_END
from sqlplusparse.reader import read_text

if TYPE_CHECKING:
    import polars as pl

    from logframe import Source
    from sqlplusparse.reader import Spool

#: What the numbers of a line are that are in no frame; those of other lines are text.
_STATUSES: Final = {
    **dict.fromkeys(("row", "statistic", "elapsed", "timing", "feedback", "unparsed"), "lost"),
    **dict.fromkeys(("heading", "banner", "blank"), "layout"),
}
#: Lines that say what a statement did.
_OUTCOMES: Final = frozenset({"feedback", "elapsed", "timing"})
#: What a person wrote beside a line.
_REMARK: Final = "<--"
#: Diagnostics that rows of a result may not have been read, and roles of the lines of one.
_UNEVEN: Final = ("sum", "ambiguous")
_OF_ROWS: Final = frozenset({"row", "blank"})
_OF_GRIDS: Final = frozenset({"row", "heading", "blank", "elision"})
#: Frames whose rows say where they stand, and what their lines print, in order; None: all of their columns.
_BY_LINE: Final[dict[str, tuple[str, ...] | None]] = {
    "timings": ("elapsed_s",),
    "autotrace": ("value",),
    "statistics": ("sid", "value", "interval_s"),
    "plans": (
        *(
            "id",
            "starts",
            "e_rows",
            "e_bytes",
            "temp_space",
            "cost",
            "cpu_percent",
            "e_time_s",
            "pstart",
            "pstop",
            "tq",
        ),
        *("a_rows", "a_time_s", "buffers", "reads", "writes", "o_mem", "one_mem", "used_mem", "passes", "used_tmp"),
    ),
    "monitors": None,
    "monitor_lines": None,
}
#: Columns of a plan in the form of 9i, "2  1  SORT (Cost=8 Card=1 Bytes=13)", in the order in which they are printed.
_OLD_PLAN: Final = dict.fromkeys(("id", "parent_id", "cost", "e_rows", "e_bytes"), 1.0)
#: Frames that are no frames of the log by name.
_KEPT: Final = frozenset({"monitors", "monitor_lines"})


def parts_of(spool: Spool, source: Source) -> list[Part]:
    """The session's text, with the rows of its frames and of its result grids by line."""
    text = without_terminal_codes(with_line_feeds(read_text(open_log(source))[0]))
    lines = spool.lines()
    roles = lines["role"].to_list()
    owners = lines["statement"].to_list()
    frames: dict[str, pl.DataFrame] = {name: getattr(spool, name) for name in ("statements", *_BY_LINE)}
    part = Part(text, frames, default="text")
    for line, (role, owner) in enumerate(zip(roles, owners, strict=True), 1):
        part.statuses[line] = _STATUSES.get(role, "text")
        if owner is not None and role in _OUTCOMES:
            part.claim(line, Claim("statements", owner - 1, {"rows": 1.0}))
    starts = sorted({line for name in _BY_LINE for line in frames[name]["line"].drop_nulls()})
    for name, printed in _BY_LINE.items():
        columns = printed_columns_of(frames[name]) if printed is None else dict.fromkeys(printed, 1.0)
        is_old = (frames[name]["layout"] == "old").to_list() if name == "plans" else [False] * frames[name].height
        for row, start in enumerate(frames[name]["line"].to_list()):
            if start is None:  # a statistic that the list leaves out
                continue
            # a row may be wrapped over the lines below
            its = _OLD_PLAN if is_old[row] else columns
            claim = Claim(name, row, its, kept=its if name in _KEPT else ())
            part.claim(start, claim)
            following = bisect_right(starts, start)
            end = starts[following] if following < len(starts) else len(roles) + 1
            line = start + 1
            while line < end and roles[line - 1] == roles[start - 1]:
                part.claim(line, claim)
                line += 1
    for table, last in spool.tables.select("table", "last_line").iter_rows():
        name = f"table {table}"
        frames[name] = spool.table(table).select(~cs.boolean())  # which rows are totals is not printed
        _claim_rows(part, name, [*spool.table_lines(table), last + 1], roles)
    _explain_others(part, spool, text.split("\n"), roles)
    return [part]


def _explain_others(part: Part, spool: Spool, lines: list[str], roles: list[str]) -> None:
    """Snapper's last lines; remarks; rows of results of which a diagnostic says that some were not read."""
    listed = spool.statistics["line"].fill_null(strategy="forward").to_list()
    for number, line in enumerate(lines, 1):
        if SNAPPER_END.fullmatch(line.strip()):
            part.statuses[number] = "layout"
            if above := bisect_right(listed, number):
                part.claim(number, Claim("statistics", above - 1, {"interval_s": 1.0}))
        elif _REMARK in line:
            part.statuses[number] = "text"
    uneven = spool.diagnostics.filter(spool.diagnostics["kind"].is_in(_UNEVEN))["line"].to_list()
    for number in uneven:
        while number <= len(roles) and roles[number - 1] in _OF_GRIDS:
            if part.statuses[number] == "lost":
                part.statuses[number] = "diagnosed"
            number += 1  # noqa: PLW2901 - the lines below


def _claim_rows(part: Part, name: str, starts: list[int], roles: list[str]) -> None:
    """The rows of a grid, each up to the next: they may go on over further lines, with blank ones between."""
    columns = printed_columns_of(part.frames[name])
    for row, (start, end) in enumerate(pairwise(starts)):
        line = start
        while line < end and (line == start or roles[line - 1] in _OF_ROWS):
            part.claim(line, Claim(name, row, columns, kept=columns))
            line += 1
