"""ADDM reports: running text with a summary of the findings, alone or at the end of an AWR report."""

from __future__ import annotations

import re
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from awrparse.records import PrintedTable, Problem, Rows
from awrparse.text import lines as kind
from awrparse.text.labels import cut_prose
from awrparse.text.layout import GRAMMAR
from logframe import is_ruler

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: What follows a report on a page, or within preformatted lines.
_ENDS: Final = frozenset({kind.END, kind.BANNER, kind.TITLE})
_RULER = re.compile(GRAMMAR.pattern("{FINDINGS_RULER}"))
_ROW = re.compile(
    GRAMMAR.pattern(
        r"\s*(?P<number>{FINDING_NUMBER})\s+(?P<name>{FINDING_NAME})\s+"
        r"(?P<sessions>{FINDING_FIGURE}) *\| *(?P<pct>{FINDING_FIGURE})(?:\s+(?P<count>{FINDING_NUMBER}))?\s*"
    )
)
#: What the first line of a report names.
_NAME: Final = "ADDM"
_TITLE = re.compile(GRAMMAR.pattern(r"\s*{FINDING_TITLE}"))
_OF_10G = re.compile(GRAMMAR.pattern(r"{FINDING_TITLE}\s+(?P<pct>{FINDING_FIGURE})%{FINDING_IMPACT}\s*"))
_ADVICE = re.compile(GRAMMAR.pattern("{FINDING_ADVICE}"))
_NOTHING = re.compile(GRAMMAR.pattern(r"\s*{NO_FINDINGS}\s*"))
_TASK = re.compile(GRAMMAR.pattern("{TASK_NAME}"))
_HEADINGS: Final = (
    "Task Name",
    "Finding Number",
    "Description",
    "Active Sessions",
    "Percent of Activity",
    "Recommendations",
)


#: What stands above, or before 11.1 beside, the parts of a recommendation, and above other sections of a finding.
_ACTION: Final = "action"
_RATIONALE: Final = "rationale"
_LABELS: Final = frozenset(
    {_ACTION, _RATIONALE, "related object", "relevant object", "symptoms that led to the finding"}
)
_RECOMMENDATION: Final = "recommendation "
_IMPACT: Final = "Impact is "


class Advice(NamedTuple):
    """What ADDM says below a finding, in its own sentences.

    Attributes:
        found: what it found.
        reasons: the rationale of each recommendation.
        actions: the actions of each recommendation.
    """

    found: list[str]
    reasons: list[list[str]]
    actions: list[list[str]]


def advice_of(lines: Iterable[str]) -> dict[int, Advice]:
    r"""What an ADDM report in English says of each finding, by its number.

    Examples:
        >>> text = "Finding 2: Small Barn\nImpact is .3 active sessions, 9% of total activity.\nThe barn was small.\n"
        >>> text += '   Recommendation 1: Barns\n   Action\n      Set "barn" to\n      9 M. Wait.\n   Rationale\n'
        >>> text += "      Full."
        >>> advice_of(text.split("\n"))
        {2: Advice(found=['The barn was small.'], reasons=[['Full.']], actions=[['Set "barn" to 9 M.', 'Wait.']])}
    """
    texts: dict[int, tuple[list[str], list[list[str]], list[list[str]]]] = {}
    words: list[str] = []
    for line in lines:
        text = line.strip()
        label, colon, rest = text.partition(":")
        if titled := _TITLE.match(line):
            found, reasons, actions = texts[int(titled[0].split()[-1].rstrip(":"))] = ([], [], [])
            words = found
        elif not texts or (is_ruler(text) and text[:1] != "~"):
            continue
        elif text[:1] == "~":  # another section
            words = []
        elif text.lower().startswith(_RECOMMENDATION):
            words = []
            reasons.append([])
            actions.append([])
        elif label.lower() in _LABELS and (colon or not rest):
            of = {_ACTION: actions, _RATIONALE: reasons}.get(label.lower(), [])
            words = of[-1] if of else []
            words += rest.split()
        elif not text.startswith(_IMPACT):
            words += text.split()
    return {
        number: Advice(_sentences(found), [*map(_sentences, reasons)], [*map(_sentences, actions)])
        for number, (found, reasons, actions) in texts.items()
    }


def _sentences(words: Iterable[str]) -> list[str]:
    """The sentences of a text, each with its full stop."""
    found: list[list[str]] = [[]]
    for word in words:
        found[-1].append(word)
        if word.endswith("."):
            found.append([])
    return [" ".join(one) for one in found if one]


def findings_of(lines: list[str], body: Sequence[int], *, is_page: bool = False) -> list[PrintedTable]:
    """The summary of the findings of one ADDM report as a table; none where the report does not speak of any.

    Where ADDM says that it found nothing, the table has no row.

    Args:
        lines: all lines of the file, or of the preformatted text.
        body: the numbers of the lines of the report, counted from 0; the first names the task.
        is_page: the lines are from a page, whose lines have no numbers.

    Returns:
        At most one table.  A finding that the text names and no summary lists is a problem of its rows.
    """
    signs = (_RULER.fullmatch, _TITLE.match, _NOTHING.fullmatch)
    if not any(sign(lines[number]) for number in body for sign in signs):
        return []
    cut = partial(_cut, lines, body, is_page=is_page)
    return [PrintedTable("ADDM Summary of Findings", cut, line=0 if is_page else body[0] + 1)]


def addm_of_page(text: str) -> list[PrintedTable]:
    r"""The ADDM reports within preformatted lines of a page: the text of each, and its findings.

    Examples:
        >>> [table.title for table in addm_of_page("ADDM Report for Task 'T'\n\nFINDING 1: 5% impact (3 seconds)")]
        ['ADDM Report', 'ADDM Summary of Findings']
    """
    if _NAME not in text:
        return []
    lines = text.split("\n")
    if kind.ADDM not in kind.classify([line for line in lines if _NAME in line]):
        return []
    kinds = kind.classify(lines)
    tables = []
    start = kinds.find(bytes([kind.ADDM]))
    while start >= 0:
        stop = start + 1
        while stop < len(lines) and kinds[stop] not in _ENDS and kinds[stop] != kind.ADDM:
            stop += 1
        body = [number for number in range(start, stop) if lines[number].strip()]
        tables.append(PrintedTable("ADDM Report", partial(_cut_page, lines, body)))
        tables += findings_of(lines, body, is_page=True)
        start = kinds.find(bytes([kind.ADDM]), stop)
    return tables


def _cut_page(lines: list[str], body: Sequence[int]) -> Rows:
    rows = cut_prose(lines, body)
    rows.lines = [0] * len(rows.lines)
    return rows


def _cut(lines: list[str], body: Sequence[int], *, is_page: bool) -> Rows:
    """One row a finding, and a problem for each finding of which the text alone says more than its name."""
    named = _TASK.search(lines[body[0]])
    task = named[0].strip("'") if named else ""
    rows = Rows(headings=_HEADINGS)
    listed: set[str] = set()
    is_summary = False
    for place, number in enumerate(body):
        line = lines[number]
        if _RULER.fullmatch(line):
            is_summary = True
        elif is_summary and (found := _ROW.fullmatch(line)):
            listed.add(found["number"])
            rows.cells.append((task, *(found[part] or "" for part in ("number", "name", "sessions", "pct", "count"))))
            rows.lines.append(0 if is_page else number + 1)
        elif titled := _TITLE.match(line):
            is_summary = False
            name = titled[0].split()[-1].rstrip(":")
            if name in listed:
                continue
            if impact := _OF_10G.fullmatch(line):
                below = (lines[body[other]] for other in range(place + 1, len(body)))
                rows.cells.append((task, name, *_below_title(below, impact["pct"])))
                rows.lines.append(0 if is_page else number + 1)
                continue
            at = None if is_page else number + 1
            reason = "no summary lists this finding of ADDM; only the raw table of the report has its figures"
            rows.problems.append(Problem(at, "missing", line.strip(), reason))
    return rows


def _below_title(lines: Iterable[str], pct: str) -> tuple[str, str, str, str]:
    """What a finding of 10g says: its text, which is not indented, no active sessions, its share, recommendations."""
    own = list(takewhile(lambda line: not _TITLE.match(line), lines))
    text = takewhile(lambda line: not line.startswith(" "), (line for line in own if not is_ruler(line)))
    return " ".join(map(str.strip, text)), "", pct, str(sum(_ADVICE.match(line) is not None for line in own))
