"""Autotrace statistics: SQL*Plus's eleven, SQLcl's session statistics, each line a name and a count."""

from __future__ import annotations

import re
from typing import Final

from awrparse.spool.lines import SESSION_STATISTIC, STATISTIC, Kind
from awrparse.spool.page import Mark, Page
from awrparse.spool.records import Autotrace, Counted

#: What SQL*Plus prints, in its order.  `rows processed` is no statistic of V$STATNAME.
AUTOTRACE_NAMES: Final = (
    "recursive calls",
    "db block gets",
    "consistent gets",
    "physical reads",
    "redo size",
    "bytes sent via SQL*Net to client",
    "bytes received via SQL*Net from client",
    "SQL*Net roundtrips to/from client",
    "sorts (memory)",
    "sorts (disk)",
    "rows processed",
)
_ORDER: Final = {name: place for place, name in enumerate(AUTOTRACE_NAMES)}
_DOTS: Final = re.compile(r"\.{2,}(?:[ \t]*\.{2,})*")


def read_autotrace(page: Page, number: int) -> tuple[Autotrace | None, int]:
    """The list that begins at a heading or at its first statistic, and the line after it."""
    start = number
    if page.kind(number) is Kind.STATISTICS_HEADING:
        number = page.after_blanks(number + 1)
        if page.kind(number) is Kind.RULER:
            number = page.after_blanks(number + 1)
        if not _is_counted(page, number):
            return None, start + 1
        page.mark(start, number, Mark.HEADING)
    counted: list[Counted] = []
    end = number
    has_others = False
    while number < len(page):
        kind = page.kinds[number]
        line = page.lines[number].strip()
        if kind is Kind.BLANK:
            ahead = page.after_blanks(number)
            if ahead - number > 1 or not _goes_on(page, ahead, counted):
                break
            number = ahead
            continue
        found = STATISTIC.fullmatch(line) if kind is Kind.STATISTIC else None
        if found is None and kind is Kind.TEXT and page.kind(start) is Kind.STATISTICS_HEADING:
            found = SESSION_STATISTIC.fullmatch(line)
            has_others = has_others or found is not None
        if found is None:
            if kind in {Kind.TEXT, Kind.ELISION} and _DOTS.fullmatch(line):
                page.marks[number] = Mark.ELISION
                number = end = number + 1
                continue
            break
        if not has_others and counted and _is_next_list(counted[-1].name, found["name"]):
            break
        counted.append(_counted(page, number, found))
        page.marks[number] = Mark.STATISTIC
        number = end = number + 1
    client = "sqlcl" if has_others else "sqlplus"
    _check(page, counted, client)
    return Autotrace(client, tuple(counted)), end


def _is_counted(page: Page, number: int) -> bool:
    line = page.lines[number].strip() if number < len(page) else ""
    return page.kind(number) is Kind.STATISTIC or (
        page.kind(number) in {Kind.TEXT, Kind.ELISION}
        and (SESSION_STATISTIC.fullmatch(line) is not None or _DOTS.fullmatch(line) is not None)
    )


def _goes_on(page: Page, number: int, counted: list[Counted]) -> bool:
    """Does a list go on after a blank line: with a statistic that comes later in SQL*Plus's order?"""
    found = STATISTIC.fullmatch(page.lines[number].strip()) if page.kind(number) is Kind.STATISTIC else None
    return found is not None and bool(counted) and not _is_next_list(counted[-1].name, found["name"])


def _is_next_list(last: str, name: str) -> bool:
    return _ORDER.get(name, len(_ORDER)) <= _ORDER.get(last, -1)


def _counted(page: Page, number: int, found: re.Match[str]) -> Counted:
    raw = found["count"]
    if raw.startswith("#"):
        page.note(number, "overflow", "the value did not fit its column; it is null, not zero")
        return Counted(number, found["name"].strip(), None, raw)
    return Counted(number, found["name"].strip(), int(raw.replace(",", "")), raw)


def _check(page: Page, counted: list[Counted], client: str) -> None:
    if client == "sqlplus" and counted and len(counted) != len(AUTOTRACE_NAMES):
        page.note(
            counted[0].line,
            "incomplete_statistics",
            f"{len(counted)} of the {len(AUTOTRACE_NAMES)} statistics of autotrace are shown; the others are null",
        )
