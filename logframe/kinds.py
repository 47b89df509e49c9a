"""The words for what was not read, or is doubtful: one vocabulary for the diagnostics of all formats.

`docs/diagnostics.md` is made of it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

#: The column `kind` of the diagnostics.
DiagnosticKind = Literal[
    "unparsed",
    "damaged",
    "cut",
    "missing",
    "foreign",
    "misplaced",
    "repeated",
    "repaired",
    "encoding",
    "limit",
    "unreadable",
    "no_report",
    "several_reports",
    "invalid",
    "empty",
    "no_heading",
    "unknown_name",
    "no_value",
    "overflow",
    "rounded",
    "ambiguous",
    "no_owner",
    "failed",
    "clock",
    "since_boot",
    "threshold",
    "sum",
    "contradiction",
]


class Meaning(NamedTuple):
    """What a word means, in full sentences, and what to do."""

    meaning: str
    next: str


_AGAIN: Final = "Take the log again, or use it for what it holds."
_SQLPLUS: Final = "`SET ECHO ON` before the next run."

#: Word -> its meaning, from lines to figures.
KINDS: Final[dict[DiagnosticKind, Meaning]] = {
    "unparsed": Meaning(
        "No rule of the format takes this line. It is in no frame.",
        "Look at the line. Often it is output of another program, or a paste that broke it.",
    ),
    "damaged": Meaning("A line or a value is read in part: something in it is broken.", "Look at the line."),
    "cut": Meaning(
        "A line, a name, a record or the log itself is not whole: it lacks its beginning or its end. "
        "What is missing is null.",
        _AGAIN,
    ),
    "missing": Meaning(
        "Lines that the tool always prints are not there: a title, a section, a row, the start of a call, or lines "
        "that were left out by hand. Sums are lower bounds.",
        _AGAIN,
    ),
    "foreign": Meaning(
        "Lines or rows belong to something else: another table, another log, or text around the log.",
        "Check whether two logs were joined, or a title between two tables is missing.",
    ),
    "misplaced": Meaning(
        "A value or a row stands outside its column, its table or its order: the copy lost or added blanks.",
        "Take the log again; compare the row with the raw log.",
    ),
    "repeated": Meaning("A row or a block of rows is in the log twice.", "Check whether a page was pasted twice."),
    "repaired": Meaning(
        "The log was printed or copied in a way that has one reading, which was taken: pages of one table, wrapped "
        "rows, records on one line, full stops as group marks.",
        "Nothing.",
    ),
    "encoding": Meaning(
        "The log is not UTF-8. The encoding that was used is a guess.",
        'Name it: `iolab.load(path, encoding="...")`, where the guess is wrong.',
    ),
    "limit": Meaning("A limit was reached; the rest was not read.", "Raise the limit that the reason names."),
    "unreadable": Meaning(
        "A file, or a part of it such as a member of an archive, could not be read.", "The reason says why."
    ),
    "no_report": Meaning("The file was opened and holds no report.", "Nothing, unless it should hold one."),
    "several_reports": Meaning(
        "The file holds more reports than one; they are parts of it.", "Use `iolab.load_all`, or `report.parts`."
    ),
    "invalid": Meaning(
        "The report says itself that its figures are not valid.", "Take a report whose period has no restart."
    ),
    "empty": Meaning("The log, or a table, has a heading and no rows.", "Nothing."),
    "no_heading": Meaning(
        "Rows have no heading with a ruler above them. They are text.", "`SET PAGESIZE 50000` before the next run."
    ),
    "unknown_name": Meaning(
        "This version does not know the name of a column, a row, a label or a field. Its cells are in the raw tables.",
        "Please report the name.",
    ),
    "no_value": Meaning(
        "A cell holds something that is no value of its column, or several that cannot be told apart. It is null.",
        "Look at the raw log.",
    ),
    "overflow": Meaning(
        "The value did not fit its column (`####`) or its counter. It is null.",
        "Take the HTML form of the report, or widen the column.",
    ),
    "rounded": Meaning(
        "The figure is printed with fewer digits than it has. Its bounds are wider.",
        "`SET NUMWIDTH 20` before the next run.",
    ),
    "ambiguous": Meaning(
        "The log does not say how a figure is meant: its decimal mark, the order of day and month, its unit, whether "
        "it is cumulative, or which lines are one row. The reason names what was assumed.",
        "Check one figure, or keep the command and the head of the next log.",
    ),
    "no_owner": Meaning("The log does not show which statement a time or a feedback belongs to.", _SQLPLUS),
    "failed": Meaning(
        "The statement failed. Its time is not that of a run.", "Correct the statement and run it again."
    ),
    "clock": Meaning(
        "A time is not that of a clock, falls from one line to the next, or contradicts another clock or the interval.",
        "Do not compare times across that line.",
    ),
    "since_boot": Meaning("The row is a mean since the start of the system. It is left out.", "Nothing."),
    "threshold": Meaning("The log holds only events above a limit.", "Counts are lower bounds."),
    "sum": Meaning(
        "A total, a count of rows or a running sum that the log prints is not that of its rows.",
        "Lines may be missing, or two logs were joined; do not use the sum.",
    ),
    "contradiction": Meaning(
        "Figures or names of the log cannot both be right beyond rounding.", "The reason names both. Use neither alone."
    ),
}
