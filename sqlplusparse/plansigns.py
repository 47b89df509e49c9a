"""Signs that a plan is not whole, or stands below lines of another statement: what no client prints so."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sqlplusparse.lines import Kind, Pattern
from sqlplusparse.page import LineRole
from sqlplusparse.planframe import unread_rows
from sqlplusparse.planheads import PLAN_GRAMMAR, is_heading
from sqlplusparse.plansections import is_cut

if TYPE_CHECKING:
    from sqlplusparse.page import Page
    from sqlplusparse.records import Block, Plan

_ID: Final = Pattern("{BAR}(?P<mark>[^0-9|]*)(?P<id>{UP_TO_9_DIGITS})[^0-9|]*{BAR}", PLAN_GRAMMAR)
_DOUBLE_RULE: Final = Pattern("{DOUBLE_RULE}", PLAN_GRAMMAR)
_TWO_RULERS: Final = bytes((Kind.RULER, Kind.RULER))
_ADAPTIVE: Final = "adaptive plan"
_PREDICATES: Final = "Predicate Information"


def note_plan(page: Page, block: Block, plan: Plan) -> None:
    """Add a diagnostic where a plan is not whole."""
    if plan.operations and (problem := _problem_of(page, block, plan)):
        page.note(block.first, "cut", f"this plan is not whole: {problem}")
    for line in unread_rows(plan):
        page.note(line, "cut", "figures of this row of a plan are not read")


def _problem_of(page: Page, block: Block, plan: Plan) -> str:
    found = [one for one in (_ID.match(operation.text) for operation in plan.operations) if one is not None]
    ids = [int(one["id"]) for one in found]
    if ids[:1] != [0]:
        return "its first rows are missing"
    if any(after != before + 1 for before, after in pairwise(ids)) and not any(
        _ADAPTIVE in note for note in plan.notes
    ):
        return "rows within it are missing"
    if plan.layout == "old":
        return "its last row does not end" if is_cut(plan.operations[-1].text) else ""
    if not _is_opened(page, block):
        return "the line above its headings is missing"
    if _is_section_empty(page, block):
        return "a section below it has no line"
    if not _is_closed(page, plan.operations[-1].line):
        return "the line that ends its table is missing"
    if not _is_headed(page, block):
        return "what stands above its hash value is missing"
    if _has_predicates(page, block):
        starred = {int(one["id"]) for one in found if "*" in one["mark"]}
        if starred - plan.predicates.keys():
            return "predicates of its rows are missing"
        if plan.predicates and is_cut(plan.predicates[max(plan.predicates)][-1]):
            return "its last predicate does not end"
    return ""


def _is_opened(page: Page, block: Block) -> bool:
    """Does a ruler stand above the headings of a plan?"""
    heads = (number for number in range(block.first, block.last) if page.kinds[number] == Kind.PLAN_ROW)
    heading = next((number for number in heads if is_heading(page.lines[number])), block.first)
    number = heading - 1
    while number > 0 and page.kinds[number] == Kind.BLANK:
        number -= 1
    if number > block.first and page.kinds[number - 1 : heading] == _TWO_RULERS:
        # the line size cuts a ruler where it cuts the headings
        return len(page.lines[number]) != len(page.lines[heading])
    return _is_rule(page, number)


def _is_headed(page: Page, block: Block) -> bool:
    """Is the line above a hash value, with which a plan begins, blank, a heading, or none of a statement's text?"""
    above = block.first - 1
    return above < 0 or page.kinds[block.first] != Kind.PLAN_HASH or page.kinds[above] != Kind.TEXT


def _is_section_empty(page: Page, block: Block) -> bool:
    """Does a plan end with the heading of a section, or the ruler below it?"""
    kinds = page.kinds[block.last - 2 : block.last]
    return kinds[-1] == Kind.PLAN_SECTION or kinds == bytes((Kind.PLAN_SECTION, Kind.RULER))


def _has_predicates(page: Page, block: Block) -> bool:
    """Has a plan a section of predicates?"""
    number = page.kinds.find(Kind.PLAN_SECTION, block.first, block.last)
    while number >= 0:
        if page.lines[number].lstrip().startswith(_PREDICATES):
            return True
        number = page.kinds.find(Kind.PLAN_SECTION, number + 1, block.last)
    return False


def _is_closed(page: Page, number: int) -> bool:
    """Does a ruler follow the last row of a plan, which may be cut into several lines?"""
    number += 1
    while number < len(page) and (page.kinds[number] == Kind.BLANK or page.roles[number] == LineRole.PLAN):
        number += 1
    return number < len(page) and _is_rule(page, number)


def _is_rule(page: Page, number: int) -> bool:
    """Is a line a rule from the left to the right of a plan's table?"""
    line = page.lines[number]
    return (page.kinds[number] == Kind.RULER and " " not in line.strip()) or _DOUBLE_RULE.fullmatch(line) is not None
