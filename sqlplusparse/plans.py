"""Execution plans: the table wherever it is printed, rows rejoined, the sections below it, and the old layout."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from sqlplusparse.autotrace import is_session_statistic
from sqlplusparse.lines import BEGINNINGS, DIGITS, KINDS, OLD_PLAN_ROW, PLAN_HASH, SQL_ID, Kind, Pattern, runs_of
from sqlplusparse.page import LineRole, Page
from sqlplusparse.predicates import PLAN_GRAMMAR
from sqlplusparse.records import Operation, Plan
from sqlplusparse.statements import starts_statement

_OLD_NAMES: Final = ["id", "parent_id", "operation"]
_PREDICATE: Final = Pattern(r"\s*(?P<id>{UP_TO_9_DIGITS}){PREDICATE_MARK} +(?P<text>.*)", PLAN_GRAMMAR)
_PREDICATE_LINE: Final = Pattern("{PREDICATE_LINE}", PLAN_GRAMMAR)
_LITERAL: Final = Pattern("{LITERAL}", PLAN_GRAMMAR)
#: Sections of which nothing is kept, and how their lines begin: pasted copies may have lost the blanks at their start.
_REPORTS: Final = ("Hint Report", "SQL Analysis Report", "Query Block Registry")
_REPORTED: Final = Pattern("{REPORT_LINE}", PLAN_GRAMMAR)
#: V$SQL_PLAN holds 4,000 characters of a predicate; client and copies add blanks.
_LONGEST_PREDICATE: Final = 1 << 14
#: Characters of a row of the old layout that the line size may have cut.
_LONGEST_ROW: Final = 500
_OLD_DETAIL: Final = Pattern(r"\s*(?P<id>{UP_TO_9_DIGITS}) +(?P<text>{DISTRIBUTION})", PLAN_GRAMMAR)


class Sections:
    """Reads the lines of one plan that are not of its table.

    Attributes:
        name: the heading of the section that stands open; empty before the first.
    """

    def __init__(self, page: Page, plan: Plan) -> None:
        self.page = page
        self.plan = plan
        self.name = ""
        self.open_id: int | None = None

    def begin(self, name: str) -> None:
        """A new section."""
        self.name = name
        self.open_id = None

    def read(self, number: int, *, has_table: bool) -> int | None:
        """A line below the table, or a row of the old layout; None when it is neither."""
        page, plan = self.page, self.plan
        line = page.lines[number]
        if self.name:
            return self._read_section_line(number, line)
        if not has_table and is_session_statistic(line):
            return None
        row = None if has_table else OLD_PLAN_ROW.match(line.strip())
        if plan.layout == "old" and plan.operations and page.kinds[number] == Kind.TEXT:
            last = plan.operations[-1]
            if (
                len(last.text) <= _LONGEST_ROW
                and is_cut(last.text)
                and (row is None or not (OLD_ROW.fullmatch(line) or int(row["id"]) == len(plan.operations)))
            ):
                # the line size may have cut it at a blank
                gap = " " * (last.text[-2:-1].isdigit() and line[:1].isalpha())
                plan.operations[-1] = last._replace(text=f"{last.text[:-1]}{gap}{line}|")
                page.roles[number] = LineRole.PLAN
                return number + 1
        if row is not None:
            plan.layout = "old"
            plan.operations.append(
                Operation(number, _OLD_NAMES, "|{id}|{parent}|{operation}|".format_map(row.groupdict("")))
            )
            page.roles[number] = LineRole.PLAN
            return number + 1
        if plan.layout == "old" and plan.operations:
            detail = _OLD_DETAIL.match(line)
            if detail is not None or line.startswith("     "):
                if detail is not None:
                    self.open_id = int(detail["id"])
                plan.predicates.setdefault(self.open_id or 0, []).append(line.strip())
                page.roles[number] = LineRole.PLAN
                return number + 1
        return None

    def _read_section_line(self, number: int, line: str) -> int | None:
        page, plan = self.page, self.plan
        is_predicate = self.name.startswith(("Predicate", "Column Projection", "Query Block", "Qry Block"))
        if self.name.startswith("Note"):
            if not line.startswith((" ", "- ")):
                return None
            plan.notes.append(line.strip().removeprefix("- "))
        elif self.name.startswith(_REPORTS):
            if not _REPORTED.match(line):
                return None
        elif is_predicate and (found := _PREDICATE.match(line)):
            self.open_id = int(found["id"])
            if self.name.startswith("Predicate"):
                plan.predicates.setdefault(self.open_id, []).append(found["text"].strip())
        elif (self.name.startswith("Predicate") and self._is_full()) or (is_predicate and not self._is_begun(line)):
            return None
        elif line.startswith(" ") or (is_predicate and (self._is_open() or _PREDICATE_LINE.match(line))):
            if self.name.startswith("Predicate") and self.open_id is not None:
                self._append(line)
        elif (
            plan.plan_source == "explain"
            and is_predicate
            and self.open_id is not None
            and not (self._is_apart(number) or starts_statement(line))  # at an empty prompt, the next one follows
        ):
            self._append(line)
        else:
            return None
        page.roles[number] = LineRole.PLAN
        return number + 1

    def _append(self, line: str) -> None:
        """More of the predicate that the line before began; a line size may have cut a word in two."""
        texts = self.plan.predicates.get(self.open_id or 0)
        if not texts:
            return
        stripped = line.strip()
        if stripped.startswith(("filter(", "access(", "storage(")):
            texts.append(stripped)
        else:
            texts[-1] += (" " if line.startswith(" ") else "") + stripped

    def _is_begun(self, line: str) -> bool:
        """Has a line of the section the number of an operation, or is this one a predicate without it?"""
        return self.open_id is not None or _PREDICATE_LINE.match(line) is not None

    def _is_full(self) -> bool:
        """Is the last predicate longer than the database prints one?"""
        texts = self.plan.predicates.get(self.open_id or 0)
        return texts is not None and len(texts[-1]) > _LONGEST_PREDICATE

    def _is_apart(self, number: int) -> bool:
        """Are there two blank lines above?  A line size that cuts a row prints one after it."""
        return self.page.kinds[number - 2 : number] == bytes((Kind.BLANK, Kind.BLANK))

    def _is_open(self) -> bool:
        """Has the last predicate more brackets opened than closed, or a literal that is not closed?"""
        texts = self.plan.predicates.get(self.open_id or 0)
        if self.open_id is None or not texts:
            return False
        return is_cut(texts[-1])


def is_cut(text: str) -> bool:
    """Has a text more brackets opened than closed, or a literal that is not closed?"""
    bare = _LITERAL.sub("", text)
    return bare.count("(") > bare.count(")") or "'" in bare


#: A column's heading as printed -> the name of the column it is read into.
HEADINGS: Final = {
    "id": "id",
    "operation": "operation",
    "name": "object_name",
    "starts": "starts",
    "execs": "starts",
    "rows": "e_rows",
    "e-rows": "e_rows",
    "rows (estim)": "e_rows",
    "bytes": "e_bytes",
    "e-bytes": "e_bytes",
    "tempspc": "temp_space",
    "e-temp": "temp_space",
    "cost": "cost",
    "cost (%cpu)": "cost",
    "cost(%cpu)": "cost",
    "time": "e_time_s",
    "e-time": "e_time_s",
    "a-rows": "a_rows",
    "rows (actual)": "a_rows",
    "a-time": "a_time_s",
    "buffers": "buffers",
    "reads": "reads",
    "writes": "writes",
    "omem": "o_mem",
    "1mem": "one_mem",
    "o/1/m": "work_areas",
    "used-mem": "used_mem",
    "used-tmp": "used_tmp",
    "max-tmp": "used_tmp",
    "pstart": "pstart",
    "pstop": "pstop",
    "tq": "tq",
    "tq/ins": "tq",
    "in-out": "in_out",
    "pq distrib": "pq_distrib",
    "inst": "instance",
}
#: A row of a plan of the old layout, wherever it stands.
OLD_ROW: Final = Pattern("{OLD_ROW}", PLAN_GRAMMAR)
_FIRST: Final = Pattern("{HEADING_START}", PLAN_GRAMMAR)


def is_heading(line: str) -> bool:
    """Is this the row of headings of a plan?

    Examples:
        >>> is_heading("| Id  | Operation         | Name |"), is_heading("|   0 | SELECT STATEMENT  |      |")
        (True, False)
    """
    return "Operation" in line and _FIRST.match(line) is not None


@lru_cache(maxsize=1 << 10)
def names_of(text: str) -> tuple[str, ...]:
    """The columns that a row of headings stands for; none when a plan's own two are missing.

    Examples:
        >>> names_of("| Id  | Operation | A-Rows |   A-Time   |")
        ('id', 'operation', 'a_rows', 'a_time_s')

        A heading that is cut before its bracket ends is read, too:

        >>> names_of("| Id  | Operation | Cost (%CPU| Time     |")
        ('id', 'operation', 'cost', 'e_time_s')
    """
    headings = [" ".join(cell.split()).lower() for cell in text.strip("|").split("|")]
    names = tuple(HEADINGS.get(heading) or HEADINGS.get(f"{heading})", "") for heading in headings)
    return names if {"id", "operation"} <= set(names) else ()


_ENDS: Final = BEGINNINGS | {Kind.TRACE}
#: Kinds of lines that the rest of a cut row may be.
_REJOINED: Final = frozenset({Kind.TEXT, Kind.RULER, Kind.PLAN_ROW})
#: What the table of a cursor's plan begins with, and all other kinds of lines that its statement's text may have.
_TABLE_STARTS: Final = frozenset({Kind.PLAN_HASH, Kind.PLAN_ROW})
_STATEMENT_LINES: Final = runs_of(
    *(kind for kind in KINDS.values() if kind not in _TABLE_STARTS | {Kind.SQL_ID} | (_ENDS - {Kind.TRACE}))
)
_LONGEST_STATEMENT: Final = 300
_CONCATENATED: Final = "||"
_ROWS: Final = runs_of(Kind.PLAN_ROW)
#: What stands below the heading of a result.
_RESULT: Final = bytes((Kind.RULER, Kind.TEXT))
#: Statistics are looked for this many lines below a plan's last readable line.
_FARTHEST_STATISTICS: Final = 60
_STATISTICS: Final = frozenset({Kind.STATISTICS_HEADING, Kind.STATISTIC})
_NO_STATISTICS: Final = _ENDS | {Kind.SQL_ID, Kind.PLAN_HASH}
#: What SQL Monitor draws above and below its tables.
_DOUBLE_RULE: Final = Pattern("{DOUBLE_RULE}", PLAN_GRAMMAR)
_ID: Final = Pattern("{OPERATION_ID}", PLAN_GRAMMAR)
_WHOLE: Final = Pattern("{BAR}{OPERATION_ID}{BAR}", PLAN_GRAMMAR)
#: Second lines of the headings of SQL Monitor -> what the column is read into; none for those that are its own.
_SECOND_HEADINGS: Final = {
    "(Estim)": "e_rows",
    "(Actual)": "a_rows",
    **dict.fromkeys(("Active(s)", "Active", "(%)", "(# samples)", "Bytes", "Reqs"), ""),
}
#: Columns whose cells may hold digits that are no figures.
_TEXTS: Final = ("operation", "object_name")


class _Reader:
    """Reads one plan from a page, section by section."""

    def __init__(self, page: Page, plan: Plan, *, is_explained: bool) -> None:
        self.page = page
        self.plan = plan
        self.is_explained = is_explained
        self.names: list[str] = []
        self.headings: list[str] = []
        self.below = Sections(page, plan)

    def read(self, number: int) -> int:
        """Read from a line on; the line after the plan."""
        page, plan = self.page, self.plan
        kinds = page.kinds
        end = number
        while number < len(kinds):
            kind = kinds[number]
            if kind == Kind.BLANK:
                number += 1
                continue
            if kind in _ENDS or (kind == Kind.SQL_ID and number > end):
                break
            if kind == Kind.PLAN_ROW:
                if self.below.name and not self._in_open_text(number) and is_heading(page.lines[number]):
                    break
                number = end = self._read_whole_rows(number) or self._read_row(number)
            elif kind == Kind.PLAN_TABLE:
                page.roles[number] = LineRole.HEADING
                number = end = number + 1
            elif kind == Kind.RULER or (
                kind == Kind.TEXT and not self.below.name and _DOUBLE_RULE.fullmatch(page.lines[number])
            ):
                if plan.operations and self._starts_another(number):
                    break
                page.roles[number] = LineRole.HEADING
                number = end = number + 1
            elif kind == Kind.PLAN_SECTION:
                self.below.begin(page.lines[number].strip())
                page.roles[number] = LineRole.PLAN
                number = end = number + 1
            elif kind == Kind.PLAN_HASH:
                if plan.hash_value is not None or plan.operations:
                    break
                plan.hash_value = _hash(page.lines[number])
                page.roles[number] = LineRole.PLAN
                number = end = number + 1
            elif kind == Kind.SQL_ID:
                if plan.sql_id is not None or plan.operations:
                    break
                number = end = self._read_sql_id(number)
            elif self.below.name and self._heads_result(number):
                break
            elif (after := self.below.read(number, has_table=bool(self.names))) is not None:
                number = end = after
            elif is_session_statistic(page.lines[number]):
                break
            elif self.is_explained and plan.operations and self._has_statistics_ahead(number):
                page.refuse(number, "unparsed", "this line between a plan and its statistics belongs to neither")
                number = end = number + 1
            else:
                break
        return end

    def _has_statistics_ahead(self, number: int) -> bool:
        """Do the statistics of autotrace come before anything else that the client prints?"""
        for place in range(number, min(number + _FARTHEST_STATISTICS, len(self.page))):
            kind = self.page.kinds[place]
            if kind in _STATISTICS:
                return True
            if kind in _NO_STATISTICS:
                return False
        return False

    def _starts_another(self, number: int) -> bool:
        """Do these dashes open the table of another plan?"""
        below = number + 1
        return (
            self.page.kind(below) == Kind.PLAN_ROW
            and is_heading(self.page.lines[below])
            and self.page.kind(number - 1) != Kind.PLAN_ROW
        )

    def _heads_result(self, number: int) -> bool:
        """Do a ruler and a row follow directly, as below the heading of a result?  Sections have a blank line there."""
        return self.page.kinds[number + 1 : number + 3] == _RESULT

    def _in_open_text(self, number: int) -> bool:
        return self.below.name != "" and self.page.kind(number - 1) != Kind.RULER

    def _read_sql_id(self, number: int) -> int:
        """The line with the cursor's id, and the text of its statement."""
        page, plan = self.page, self.plan
        found = SQL_ID.match(page.lines[number].strip())
        if found is not None:
            plan.sql_id = found["sql_id"]
            plan.child_number = int(found["child"]) if found["child"] else None
            plan.plan_source = "cursor"
        page.roles[number] = LineRole.PLAN
        number += 1
        place = _STATEMENT_LINES(page.kinds, number).end()
        while place < len(page) and page.lines[place].startswith(_CONCATENATED):  # part of the text, no row of a table
            place = _STATEMENT_LINES(page.kinds, place + 1).end()
        if place < min(number + _LONGEST_STATEMENT, len(page)) and page.kinds[place] in _TABLE_STARTS:
            page.assign(number, place, LineRole.PLAN)
            shown = (page.lines[line].strip() for line in range(number, place) if page.kinds[line] != Kind.RULER)
            plan.sql_text = " ".join(filter(None, shown)) or None
            return place
        return number

    def _read_whole_rows(self, number: int) -> int | None:
        """The rows from a line on that stand whole in their lines, as nearly all do; None when the first does not."""
        if not self.names:
            return None
        lines, names, operations = self.page.lines, self.names, self.plan.operations
        bars = len(names) + 1
        place = number
        for place in range(number, _ROWS(self.page.kinds, number).end()):
            text = lines[place].strip()
            if text.count("|") != bars or text[-2:-1] == "|" or text[-1] != "|" or not _WHOLE.match(text):
                break
            operations.append(Operation(place, names, text))
        else:
            place += 1
        self.page.assign(number, place, LineRole.PLAN)
        return place if place > number else None

    def _read_row(self, number: int) -> int:
        """One row of the table, rejoined where the line size cut it."""
        page = self.page
        text = page.lines[number].strip()
        end = number + 1
        if not (self.names and self._is_whole(text)):
            while end < len(page) and page.kinds[end] in _REJOINED and self._goes_on(text, page.lines[end]):
                text += page.lines[end]
                end += 1
        if end > number + 1:
            width = len(page.lines[number])
            page.note(number, "repaired", f"a plan row cut at column {width} was rejoined from {end - number} lines")
        cells = [cell.strip() for cell in text.strip("|").split("|")] if self._is_whole(text) else []
        names = names_of(text) if cells and not self.names and is_heading(text) else ()
        if names:
            self.names, self.headings = list(names), cells
            page.assign(number, end, LineRole.HEADING)
        elif (
            self.names and cells and not cells[0].strip("* ") and (self._extend_heading(cells) or self._is_text(cells))
        ):
            page.assign(number, end, LineRole.HEADING)
        elif self.names and len(cells) == len(self.names) and _ID.fullmatch(cells[0]):
            self.plan.operations.append(Operation(number, self.names, f"|{text.strip('|')}|"))
            page.assign(number, end, LineRole.PLAN)
        elif is_heading(text):
            page.assign(number, end, LineRole.HEADING)
        elif self.names:
            for place in range(number, end):
                page.refuse(
                    place, "unparsed", f"part of a plan row with {len(cells)} cells; the heading has {len(self.names)}"
                )
        else:
            page.assign(number, end, LineRole.TEXT)
        return end

    def _goes_on(self, text: str, below: str) -> bool:
        """Is the line below the rest of a row that the line size cut?"""
        if not self._is_whole(text):
            return not self.names or text.count("|") + below.count("|") <= len(self.names) + 1
        if self.names or not below.endswith("|") or not is_heading(text):
            return False
        first = below.strip("|").split("|")[0].strip()
        return first != "" and not first.strip("* ").isdigit()

    def _extend_heading(self, cells: list[str]) -> bool:
        """Take a second line of headings (SQL Monitor: ``Rows`` over ``(Estim)``); False if it is not one."""
        if self.plan.operations or _SECOND_HEADINGS.keys().isdisjoint(cells):
            return False
        self.plan.layout = "monitor"
        for place, cell in enumerate(cells[: len(self.names)]):
            self.names[place] = _SECOND_HEADINGS.get(cell, self.names[place])
        return True

    def _is_text(self, cells: list[str]) -> bool:
        """Has a row without a number no figures that are read here?  Those of SQL Monitor's are its own reader's."""
        figures = (cell for name, cell in zip(self.names, cells, strict=False) if name not in _TEXTS)
        return self.plan.layout == "monitor" or not any(map(DIGITS.search, figures))

    def note_unread(self) -> None:
        """Figures below headings that are not known or stand there twice; of two that are alike the first counts."""
        for place, name in enumerate(self.names):
            if name in self.names[:place]:
                self.names[place] = ""  # the operations have the same list
        if self.plan.layout == "monitor" or "" not in self.names:
            return
        for place, heading in enumerate(self.headings):
            rows = [] if self.names[place] else self.plan.operations
            # a row may have fewer cells
            first = next((row.line for row in rows if any(map(DIGITS.search, row.texts()[place : place + 1]))), None)
            if first is not None:
                self.page.note(first, "unknown_name", f"plan: the figures under {heading!r} are not read")

    def _is_whole(self, text: str) -> bool:
        return text.endswith("|") and len(text) > 1 and (not self.names or text.count("|") > len(self.names))


def _hash(line: str) -> int | None:
    found = PLAN_HASH.search(line)
    return int(found["hash"]) if found else None


def read_plan(page: Page, number: int, *, is_explained: bool) -> tuple[Plan, int]:
    """The plan that begins at a line, and the line after it.

    Args:
        page: the page.
        number: line of its heading, ``SQL_ID``, plan hash value, ruler or first row.
        is_explained: it is under autotrace's heading: the plan of EXPLAIN PLAN, not a cursor's own.
    """
    plan = Plan(layout="table", plan_source="explain")
    if is_explained:
        page.roles[number] = LineRole.HEADING
        number += 1
    reader = _Reader(page, plan, is_explained=is_explained)
    end = reader.read(number)
    reader.note_unread()
    if {"a_rows", "a_time_s"} & set(reader.names):
        plan.plan_source = "cursor"
        plan.layout = "monitor" if plan.layout == "monitor" else "allstats"
    return plan, max(end, number)
