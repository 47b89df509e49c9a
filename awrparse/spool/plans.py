"""Execution plans: the old indented layout and the new table, wherever they are printed, rows rejoined, notes kept."""

from __future__ import annotations

import re
from typing import Final

from awrparse.spool.lines import OLD_PLAN_ROW, PLAN_HASH, SQL_ID, Kind
from awrparse.spool.page import Mark, Page
from awrparse.spool.records import Operation, Plan

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
_ENDS: Final = frozenset(
    {
        Kind.PROMPT,
        Kind.FEEDBACK,
        Kind.ELAPSED,
        Kind.STATISTICS_HEADING,
        Kind.STATISTIC,
        Kind.PLAN_HEADING,
        Kind.FENCE,
        Kind.ERROR,
        Kind.BANNER,
        Kind.SNAPPER_ROW,
        Kind.TIMER_NAME,
        Kind.TRACE,
    }
)
#: Kinds of lines that the rest of a cut row may be.
_REJOINED: Final = frozenset({Kind.TEXT, Kind.RULER, Kind.PLAN_ROW})
#: Statistics are looked for so many lines below a plan's last readable line.
_FARTHEST_STATISTICS: Final = 60
_ID: Final = re.compile(r"[*\->= ]*[0-9]{1,9}[*\->= ]*")
_PREDICATE: Final = re.compile(r"\s*(?P<id>\d{1,9}) +- +(?P<text>.*)")
_LITERAL: Final = re.compile(r"'[^']*'")
_OLD_DETAIL: Final = re.compile(r"\s*(?P<id>\d{1,9}) +(?P<text>(?:PARALLEL_\w+|SERIAL_\w+|SINGLE_\w+).*)")


class _Reader:
    """Reads one plan from a page, section by section."""

    def __init__(self, page: Page, plan: Plan, *, is_explained: bool) -> None:
        self.page = page
        self.plan = plan
        self.is_explained = is_explained
        self.names: list[str] = []
        self.section = ""
        self.open_id: int | None = None

    def read(self, number: int) -> int:
        """Read from a line on; the line after the plan."""
        page, plan = self.page, self.plan
        end = number
        while number < len(page):
            kind = page.kinds[number]
            if kind in _ENDS or (kind is Kind.SQL_ID and number > end):
                break
            if kind is Kind.BLANK:
                number += 1
                continue
            if kind is Kind.PLAN_ROW:
                if self.section and not self._in_open_text(number) and self._is_heading(page.lines[number]):
                    break
                number = end = self._read_row(number)
            elif kind is Kind.PLAN_TABLE:
                page.marks[number] = Mark.HEADING
                number = end = number + 1
            elif kind is Kind.RULER:
                if plan.operations and self._starts_another(number):
                    break
                page.marks[number] = Mark.HEADING
                number = end = number + 1
            elif kind is Kind.PLAN_SECTION:
                self.section = page.lines[number].strip()
                self.open_id = None
                page.marks[number] = Mark.PLAN
                number = end = number + 1
            elif kind is Kind.PLAN_HASH:
                if plan.hash_value is not None or plan.operations:
                    break
                plan.hash_value = _hash(page.lines[number])
                page.marks[number] = Mark.PLAN
                number = end = number + 1
            elif kind is Kind.SQL_ID:
                if plan.sql_id is not None or plan.operations:
                    break
                number = end = self._read_sql_id(number)
            elif (after := self._read_text(number)) is not None:
                number = end = after
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
            if kind in {Kind.STATISTICS_HEADING, Kind.STATISTIC}:
                return True
            if kind in _ENDS or kind in {Kind.SQL_ID, Kind.PLAN_HASH}:
                return False
        return False

    def _starts_another(self, number: int) -> bool:
        """Do these dashes open the table of another plan?"""
        below = number + 1
        return (
            self.page.kind(below) is Kind.PLAN_ROW
            and self._is_heading(self.page.lines[below])
            and self.page.kind(number - 1) is not Kind.PLAN_ROW
        )

    @staticmethod
    def _is_heading(line: str) -> bool:
        return "Operation" in line and re.match(r"\s*\|\s*Id\b", line) is not None

    def _in_open_text(self, number: int) -> bool:
        return self.section != "" and self.page.kind(number - 1) is not Kind.RULER

    def _read_sql_id(self, number: int) -> int:
        """The line with the cursor's id, and the text of its statement."""
        page, plan = self.page, self.plan
        found = SQL_ID.match(page.lines[number].strip())
        if found is not None:
            plan.sql_id = found["sql_id"]
            plan.child_number = int(found["child"]) if found["child"] else None
            plan.plan_source = "cursor"
        page.marks[number] = Mark.PLAN
        number += 1
        for place in range(number, min(number + 300, len(page))):
            kind = page.kinds[place]
            if kind in {Kind.PLAN_HASH, Kind.PLAN_ROW}:
                page.mark(number, place, Mark.PLAN)
                return place
            if kind in _ENDS - {Kind.TRACE}:
                break
        return number

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
            page.note(number, "rejoined", f"a plan row cut at column {width} was rejoined from {end - number} lines")
        cells = [cell.strip() for cell in text.strip("|").split("|")] if self._is_whole(text) else []
        names = _names(cells) if not self.names and self._is_heading(text) else []
        if names:
            self.names = names
            page.mark(number, end, Mark.HEADING)
        elif self.names and cells and not cells[0].strip("* "):
            self._extend_heading(cells)
            page.mark(number, end, Mark.HEADING)
        elif self.names and len(cells) == len(self.names) and _ID.fullmatch(cells[0]):
            named = {name: cell for name, cell in zip(self.names, cells, strict=True) if name}
            named["operation"] = _operation_cell(text, self.names)
            self.plan.operations.append(Operation(number, named))
            page.mark(number, end, Mark.PLAN)
        elif self._is_heading(text):
            page.mark(number, end, Mark.HEADING)
        elif self.names:
            for place in range(number, end):
                page.refuse(
                    place, "unparsed", f"part of a plan row with {len(cells)} cells; the heading has {len(self.names)}"
                )
        else:
            page.mark(number, end, Mark.TEXT)
        return end

    def _goes_on(self, text: str, below: str) -> bool:
        """Is the line below the rest of a row that the line size cut?"""
        if not self._is_whole(text):
            return not self.names or text.count("|") + below.count("|") <= len(self.names) + 1
        if self.names or not below.endswith("|") or not self._is_heading(text):
            return False
        first = below.strip("|").split("|")[0].strip()
        return first != "" and not first.strip("* ").isdigit()

    def _extend_heading(self, cells: list[str]) -> None:
        """A second line of headings (SQL Monitor): ``Rows`` over ``(Estim)``."""
        if not self.plan.operations and any(cells):
            self.plan.layout = "monitor"
            for place, cell in enumerate(cells[: len(self.names)]):
                if cell == "(Actual)":
                    self.names[place] = "a_rows"
                elif cell in {"Active(s)", "Active", "(%)", "(# samples)", "Bytes", "Reqs"}:
                    self.names[place] = ""

    def _is_whole(self, text: str) -> bool:
        return text.endswith("|") and len(text) > 1 and (not self.names or text.count("|") > len(self.names))

    def _read_text(self, number: int) -> int | None:
        """A line below the table, or a row of the old layout; None when it is neither."""
        page, plan = self.page, self.plan
        line = page.lines[number]
        if self.section:
            return self._read_section_line(number, line)
        if not self.names and (row := OLD_PLAN_ROW.match(line.strip())):
            cells = {"id": row["id"], "operation": row["operation"].strip(), "indent": str(len(row["gap"]))}
            if row["parent"] is not None:
                cells["parent_id"] = row["parent"]
            plan.layout = "old"
            plan.operations.append(Operation(number, cells))
            page.marks[number] = Mark.PLAN
            return number + 1
        if plan.layout == "old" and plan.operations:
            detail = _OLD_DETAIL.match(line)
            if detail is not None or line.startswith("     "):
                if detail is not None:
                    self.open_id = int(detail["id"])
                plan.predicates.setdefault(self.open_id or 0, []).append(line.strip())
                page.marks[number] = Mark.PLAN
                return number + 1
        return None

    def _read_section_line(self, number: int, line: str) -> int | None:
        page, plan = self.page, self.plan
        is_predicate = self.section.startswith(("Predicate", "Column Projection", "Query Block", "Qry Block"))
        if self.section.startswith("Note"):
            if not line.startswith(" "):
                return None
            plan.notes.append(line.strip().removeprefix("- "))
        elif is_predicate and (found := _PREDICATE.match(line)):
            self.open_id = int(found["id"])
            if self.section.startswith("Predicate"):
                plan.predicates.setdefault(self.open_id, []).append(found["text"].strip())
        elif line.startswith(" ") or (is_predicate and self._is_open()):
            if self.section.startswith("Predicate") and self.open_id is not None:
                self._append(line)
        elif plan.plan_source == "explain" and is_predicate and self.open_id is not None:
            self._append(line)
        else:
            return None
        page.marks[number] = Mark.PLAN
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

    def _is_open(self) -> bool:
        """Has the last predicate more brackets opened than closed, or a literal that is not closed?"""
        texts = self.plan.predicates.get(self.open_id or 0)
        if self.open_id is None or not texts:
            return False
        bare = _LITERAL.sub("", texts[-1])
        return bare.count("(") > bare.count(")") or "'" in bare


def _names(cells: list[str]) -> list[str]:
    """The columns that headings stand for; none when a plan's own two are missing."""
    names = [HEADINGS.get(" ".join(cell.split()).lower(), "") for cell in cells]
    return names if {"id", "operation"} <= set(names) else []


def _operation_cell(text: str, names: list[str]) -> str:
    """The operation with its indentation, without the blank every cell begins with."""
    place = names.index("operation")
    cell = text.strip("|").split("|")[place]
    return cell.rstrip()[1:] if cell.startswith(" ") else cell.rstrip()


def _hash(line: str) -> int | None:
    found = PLAN_HASH.search(line)
    return int(found["hash"]) if found else None


def read_plan(page: Page, number: int, *, is_explained: bool) -> tuple[Plan, int]:
    """The plan that begins at a line, and the line after it.

    Args:
        page: the page.
        number: line of its heading, ``SQL_ID``, plan hash value, ruler or first row.
        is_explained: it stands under autotrace's heading, so it is what EXPLAIN PLAN said, not a cursor's own plan.
    """
    plan = Plan(layout="table", plan_source="explain")
    if is_explained:
        page.marks[number] = Mark.HEADING
        number += 1
    reader = _Reader(page, plan, is_explained=is_explained)
    end = reader.read(number)
    if {"a_rows", "a_time_s"} & set(reader.names):
        plan.plan_source = "cursor"
        plan.layout = "monitor" if plan.layout == "monitor" else "allstats"
    return plan, max(end, number)
