"""Blocks of labels and values, and running text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from awrparse.records import Problem, Rows
from awrparse.text.layout import GRAMMAR, WIDE_GAP, is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABEL_LINE = re.compile(GRAMMAR.pattern("{LABEL_LINE}"))
_MINUTES = re.compile(GRAMMAR.pattern(r"{MINUTES}\s"))
#: A label and its values take no more columns than these.
_LABEL_WIDTH: Final = 132


def is_label_line(line: str) -> bool:
    """Is this a label and its value, such as ``Buffer Nowait %:  100.00``?"""
    if len(line) > _LABEL_WIDTH or line.rstrip().endswith((".", ":")):
        return False
    return _LABEL_LINE.fullmatch(line) is not None


def label_values(line: str) -> list[list[str]]:
    """Labels of a line, each with its values.

    Examples:
        >>> label_values("  Buffer  Hit   %:   99.87    In-memory Sort %:  100.00")
        [['Buffer Hit %', '99.87'], ['In-memory Sort %', '100.00']]
        >>> label_values("   Elapsed:   1,439.98 (mins) Av Act Sess:       0.0")
        [['Elapsed', '1,439.98 (mins)'], ['Av Act Sess', '0.0']]
    """
    found: list[list[str]] = []
    words: list[str] = []
    for part in WIDE_GAP.split(_MINUTES.sub("(mins)  ", line.strip())):
        if part.endswith(":"):
            found.append([" ".join([*words, part[:-1].rstrip()])])
            words = []
        elif found and not words and (len(found[-1]) == 1 or is_number(part)):
            found[-1].append(part)
        elif not found and words and is_number(part):
            found.append([" ".join(words), part])
            words = []
        elif ": " in part:
            label, value = part.split(": ", 1)
            found.append([" ".join([*words, label]), value])
            words = []
        else:
            words.append(part)
    if words:
        found.append([" ".join(words)])
    return found


def add_labels(rows: Rows, line: str, number: int, width: int) -> None:
    """Labels and values in a table of labels: one row for each, as wide as the table."""
    for values in label_values(line):
        label, *rest = values
        if len(values) > width:
            reason = f"{len(rest)} values where the table has {width - 1} columns"
            rows.problems.append(Problem(number + 1, "misplaced", line.strip(), reason))
        rows.cells.append(tuple([f"{label}:", *rest, *[""] * width][:width]))
        rows.lines.append(number + 1)


def cut_labels(lines: list[str], body: Sequence[int], heads: tuple[str, ...]) -> Rows:
    """A block of labels and values without a ruler; the headings, where there are any, stand on one line."""
    found = [(number, values) for number in body for values in label_values(lines[number])]
    width = max(len(values) for _, values in found)
    names = tuple(name for head in heads for name in WIDE_GAP.split(head.strip()))
    names = ("", *names, *[""] * width)[:width] if len(names) < width else ("", *names[: width - 1])
    return Rows(
        cells=[(*values, *[""] * (width - len(values))) for _, values in found],
        lines=[number + 1 for number, _ in found],
        headings=names,
    )


def cut_prose(lines: list[str], body: Sequence[int]) -> Rows:
    """Running text, one row a line."""
    return Rows(
        cells=[(lines[number].rstrip(),) for number in body],
        lines=[number + 1 for number in body],
        headings=("text",),
    )
