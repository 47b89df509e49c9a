"""Where the time of a statement went, by a table that its code printed or by the profile that was listed after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from iolab.metrics.formatting import MOST_TEXT, count_text, short_text
from iolab.rules.finding import Evidence, Finding
from iolab.rules.listings import without_totals
from iolab.rules.phrases import percent, seconds
from iolab.rules.session_waits import ANY
from sqlplusparse import queried_tables

if TYPE_CHECKING:
    from sqlplusparse import Queried, Spool

#: Words of the headings of elapsed time, of time with that of what was called, of averages, and of counts.
_ELAPSED: Final = frozenset({"elapsed", "ela", "function"})
_NOT_OWN: Final = frozenset({"subtree", "cumulative", "cum", "call", "cpu"})
_CALLS: Final = frozenset({"calls", "executions", "execs"})
#: The columns of the profile that DBMS_HPROF writes, which is queried after the run.
_OF_PROFILE: Final = "function"
#: Parts are those of a statement where they are this much of its time, and no more; a second one of this share is
#: named; a total is printed as near to their sum.
_MOST, _ALL, _SECOND, _SAME = 0.5, 1.01, 0.25, 0.95
_SEE: Final = "see what `{}` runs, and its plan: dbms_xplan.display_cursor with `ALLSTATS LAST`"


def printed_parts(spool: Spool, row: dict[str, Any]) -> Finding | None:
    r"""The largest rows of a table with the elapsed times of parts of a statement that ran once; None without one.

    Args:
        spool: the session.
        row: the statement, one of `iolab.metrics.statement_costs`.

    Examples:
        >>> from iolab.metrics import statement_costs
        >>> from sqlplusparse import read_spool
        >>> text = "SQL> exec p\nTimer    Elapsed  Calls\n-------- ------- ------\nload        2.90      1\n"
        >>> text += "check       1.00  4,000\nTotal       3.91  4,001\n(end)\n\n"
        >>> text += "PL/SQL procedure successfully completed.\n\nElapsed: 00:00:04.10\n"
        >>> spool = read_spool(text.encode())
        >>> printed_parts(spool, statement_costs(spool).row(0, named=True)).sentence
        'By the table at line 2, `load` took 74 % of 3.91 s (1 call), `check` 26 % (4,000 calls).'
    """
    if row["runs"] > 1:
        return None
    for one in queried_tables(spool):
        is_own = one.statement == row["statement"]
        if (is_own or (one.statement or 0) > row["statement"]) and (said := _largest(one, row, is_own=is_own)):
            sentence, name = said
            line = dict(spool.tables.select("table", "first_line").iter_rows())[one.table]
            return Finding(
                "listed_rows",
                f"By the table at line {line:,}, {sentence}.",
                next="" if name.startswith("(") else _SEE.format(name),
                evidence=(Evidence("tables", (name,)),),
                explains=(ANY,),
            )
    return None


def _largest(table: Queried, row: dict[str, Any], *, is_own: bool) -> tuple[str, str] | None:
    """What the largest rows took, and the name of the first; None where the table has no parts of the statement."""
    words = [one.heading_words for one in table.columns]
    wanted = _ELAPSED if is_own else {_OF_PROFILE}
    times = [n for n, of in enumerate(words) if wanted & {*of} and not _NOT_OWN & {*of}]
    times = [n for n in times if is_own or len(words[n]) > 1]  # else the name of a function
    if not times or (names := _names(table)) is None:
        return None
    place = times[-1]
    figures = table.figures(place, table.columns[place].heading_unit or 1.0)
    rows = [(one.value, -n) for n, one in enumerate(figures) if one is not None]
    parts = without_totals(rows, table.rows)
    total = sum(value for value, _ in parts)
    total = next((one for one, n in rows if (one, n) not in parts and _SAME * one < total < one / _SAME), total)
    if len(parts) < 2 or not _MOST * row["elapsed_s_lo"] <= total <= _ALL * row["elapsed_s_hi"]:
        return None
    counts = next((table.figures(n) for n, of in enumerate(words) if _CALLS & {*of}), None)
    said, ordered = list[str](), sorted(parts, reverse=True)
    for value, n in ordered[:2]:
        if value < _SECOND * total and said:
            break
        count = None if counts is None else counts[-n]
        often = f" ({count_text(round(count.value), 'call')})" if count is not None else ""
        took, of = ("", "") if said else (" took", f" of {seconds(total)}")
        said.append(f"`{_name(table, names, -n)}`{took} {percent(value / total)}{of}{often}")
    return ", ".join(said), _name(table, names, -ordered[0][1])


def _name(table: Queried, column: int, row: int) -> str:
    return short_text(table.rows[row][column].strip(), MOST_TEXT)


def _names(table: Queried) -> int | None:
    """The column of text with most names."""
    columns = [n for n in range(len(table.columns)) if not any(table.figures(n))]
    return max(columns, key=lambda n: len({row[n] for row in table.rows} - {""}), default=None)
