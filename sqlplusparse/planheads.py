"""The headings of a plan's table: which line is one, and what each column is read into."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from logframe import load_grammar
from sqlplusparse.lines import Pattern

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
PLAN_GRAMMAR: Final = load_grammar("sqlplusparse", "plan.lark")
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
