"""How a statement ended: feedback, in any language, and errors with the lines that belong to them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from sqlplusparse.lines import DIGITS, FEEDBACK, ROWS, SQL_ID_ALONE, Kind, Pattern
from sqlplusparse.page import LineRole, Page
from sqlplusparse.records import Outcome
from sqlplusparse.statements import starts_statement

#: The words for what was done to rows, in the clients' languages -> the kind of statement that does it.
_VERBS: Final = (
    ("select", Pattern("{SELECTED_WORD}", FEEDBACK)),
    ("delete", Pattern("{DELETED_WORD}", FEEDBACK)),
    ("update", Pattern("{UPDATED_WORD}", FEEDBACK)),
    ("merge", Pattern("{MERGED_WORD}", FEEDBACK)),
    ("insert", Pattern("{CREATED_WORD}", FEEDBACK)),
)
_CODE: Final = Pattern("{ERROR_CODE}", FEEDBACK)
_ERROR: Final = Pattern("{ERROR}", FEEDBACK)
#: What stands before the code in it.
_REPORTED_CODE: Final = "SQL Error: "
#: SQLcl's report of an error is at most this long.
_LONGEST_REPORT: Final = 60
#: Kinds of lines within an error.
_QUIET: Final = frozenset({Kind.BLANK, Kind.TEXT})
_IN_MESSAGE: Final = frozenset({Kind.TEXT, Kind.ERROR, Kind.BLANK})
_REPORTED: Final = frozenset({Kind.TEXT, Kind.ERROR})


@lru_cache(maxsize=1 << 10)
def read_feedback(line: str) -> tuple[int | None, str | None]:
    """The number of rows that a feedback gives and what was done to them; neither when it gives none.

    Examples:
        >>> read_feedback("14 Zeilen ausgewählt."), read_feedback("no rows selected"), read_feedback("Table created.")
        ((14, 'select'), (0, 'select'), (None, None))
    """
    if not ROWS.fullmatch(line):
        return None, None
    count = DIGITS.search(line.replace(",", ""))
    verb = next((kind for kind, pattern in _VERBS if pattern.search(line)), None)
    return int(count[0]) if count else 0, verb


def read_sql_id(page: Page, number: int) -> tuple[str | None, int]:
    """What SET FEEDBACK ON SQL_ID prints below a feedback, and the line after it; `number` where it prints nothing."""
    place = number + (page.kind(number) == Kind.BLANK)
    if page.kind(place) != Kind.SQL_ID or not SQL_ID_ALONE.fullmatch(page.lines[place].strip()):
        return None, number
    page.roles[place] = LineRole.FEEDBACK
    return page.lines[place].split()[-1], place + 1


def read_failure(page: Page, number: int) -> tuple[Outcome, int]:
    """An error with the lines that belong to it, up to what the client prints next, and the line after it."""
    end = last = number
    code = None
    texts: list[str] = []
    is_report = page.lines[number].lstrip().startswith("Error ")
    is_headed = _CODE.match(page.lines[number].strip()) is None
    while end < len(page):
        kind = page.kinds[end]
        line = page.lines[end].strip()
        if kind == Kind.ERROR or (is_report and line.startswith(_REPORTED_CODE)):
            line = line.removeprefix(_REPORTED_CODE)
            found = _CODE.match(line)
            if found and code is not None and found[0].startswith("SP2"):
                break
            code = code or (found[0] if found else None)
            texts.append(line)
        elif kind not in _QUIET or (
            code is not None
            and not (is_report and _goes_on(page, number, end))
            and not (is_headed and _is_message(page, end))
        ):
            break
        end += 1
        if kind != Kind.BLANK:
            last = end
    page.assign(number, last, LineRole.ERROR)
    message = next((text for text in texts if _CODE.match(text)), texts[0])
    return Outcome(number, message, code=code or (found[0] if (found := _ERROR.match(message)) else None)), last


def _is_message(page: Page, number: int) -> bool:
    """Is a line the rest of the message above it?  SQL*Plus prints a blank line after the last."""
    return (
        page.kinds[number] == Kind.TEXT
        and page.kind(number + 1) in _IN_MESSAGE
        and not starts_statement(page.lines[number])
    )


def _goes_on(page: Page, first: int, number: int) -> bool:
    """Is a line part of the report SQLcl makes of an error: its cause, its action, the statement?"""
    ahead = page.after_blanks(number)
    return ahead < len(page) and page.kinds[ahead] in _REPORTED and ahead - first < _LONGEST_REPORT
