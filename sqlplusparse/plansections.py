"""What stands below a plan's table, predicates and notes, and the rows of the old layout, which has no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlplusparse.autotrace import is_session_statistic
from sqlplusparse.lines import OLD_PLAN_ROW, Kind, Pattern
from sqlplusparse.page import LineRole
from sqlplusparse.planheads import OLD_ROW, PLAN_GRAMMAR
from sqlplusparse.records import Operation
from sqlplusparse.statements import starts_statement

if TYPE_CHECKING:
    from sqlplusparse.page import Page
    from sqlplusparse.records import Plan

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
