"""Plans into a frame: the operations with their parents, the figures read, predicates and notes beside them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import read_printed
from sqlplusparse.lines import DIGITS, Pattern
from sqlplusparse.plans import PLAN_GRAMMAR
from sqlplusparse.schemas import PLANS, frame_of

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from sqlplusparse.records import Plan

#: Figures of a plan, and what ``K`` stands for in each: rows are counted in thousands, memory in 1024 bytes.
FIGURES: Final = {
    "starts": 1000,
    "e_rows": 1000,
    "e_bytes": 1024,
    "temp_space": 1024,
    "cost": 1000,
    "a_rows": 1000,
    "buffers": 1000,
    "reads": 1000,
    "writes": 1000,
    "o_mem": 1024,
    "one_mem": 1024,
    "used_mem": 1024,
    "used_tmp": 1024,
}
#: Columns of texts, joined by line feeds until they are in a frame: Polars splits them faster than it takes lists.
_LISTS: Final = ("predicates", "notes")
_TIMES: Final = ("e_time_s", "a_time_s")
#: Figures that another one in brackets may follow.
_BRACKETS: Final = {"cost": "cpu_percent", "used_mem": "passes"}
_BRACKET: Final = Pattern(r"(?P<figure>{FIGURE_BEFORE})\((?P<bracket>{DIGITS})\)", PLAN_GRAMMAR)
_TIME: Final = Pattern(
    r"(?:(?P<hours>{UP_TO_9_DIGITS}):)?(?P<minutes>{UP_TO_9_DIGITS}):(?P<seconds>{UP_TO_9_DIGITS})"
    r"(?:\.(?P<fraction>{UP_TO_9_DIGITS}))?",
    PLAN_GRAMMAR,
)
_OLD: Final = Pattern(
    r"(?:(?P<of>{OLD_OPERATION}) OF '?(?P<name>{OLD_NAME})'?(?P<more>{OLD_DETAIL})|(?P<bare>{BARE_OPERATION}))"
    r"(?: ?\((?P<figures>{OLD_FIGURES})\))?",
    PLAN_GRAMMAR,
)
_OLD_FIGURE: Final = Pattern("={DIGITS}", PLAN_GRAMMAR)
_OLD_FIGURES: Final = {"Cost": "cost", "Card": "e_rows", "Bytes": "e_bytes"}


def plans_frame(owned: list[tuple[int | None, Plan]], *, printed: bool) -> pl.DataFrame:
    """One row an operation; with `printed`, each figure has its bounds beside it.

    ``is_inactive``: a row that an adaptive plan marks so, and that was not used in the end.
    """
    rows = [
        {"statement": owner, "plan": ordinal, **row}
        for ordinal, (owner, plan) in enumerate(owned, 1)
        for row in _plan_rows(plan)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {}
    for name, dtype in PLANS.items():
        schema[name] = dtype
        if printed and (name in FIGURES or name in _TIMES):
            schema[f"{name}_lo"] = pl.Float64
            schema[f"{name}_hi"] = pl.Float64
    if not rows:
        return pl.DataFrame(schema=schema)
    columns = {name: [row.get(name) for row in rows] for name in schema}
    flat = {name: pl.String if name in _LISTS else dtype for name, dtype in schema.items()}
    return frame_of(columns, flat, strict=False).with_columns(
        pl.col(_LISTS).str.split("\n").fill_null(pl.lit([], pl.List(pl.String)))
    )


def _plan_rows(plan: Plan) -> list[dict[str, object]]:
    rows = []
    named = [operation.cells() for operation in plan.operations]
    depths = _depths(plan, named)
    is_flat = plan.layout != "old" and len(named) > 1 and not any(depths)  # a copy that lost its blanks
    ids = [int(cells["id"].strip("*->= ")) for cells in named]
    for place, (operation, cells) in enumerate(zip(plan.operations, named, strict=True)):
        number = ids[place]
        parent = cells.get("parent_id")
        row: dict[str, object] = {
            "line": operation.line + 1,
            "layout": plan.layout,
            "plan_source": plan.plan_source,
            "sql_id": plan.sql_id,
            "child_number": plan.child_number,
            "plan_hash_value": plan.hash_value,
            "id": number,
            "parent_id": int(parent) if parent else _parent(ids, depths, place),
            "depth": None if is_flat and place else depths[place],
            "is_inactive": cells["id"].startswith("-") and not cells["id"].startswith("->"),
            "predicates": "\n".join(plan.predicates.get(number, ())) or None,
            "notes": ("\n".join(plan.notes) or None) if place == 0 else None,
            "sql_text": plan.sql_text if place == 0 else None,
            "explains": plan.explains,
        }
        row |= _old_cells(cells["operation"]) if plan.layout == "old" else _table_cells(cells)
        rows.append(row)
    return rows


def _depths(plan: Plan, named: list[dict[str, str]]) -> list[int]:
    """How deep each operation is nested, from its indentation or, in the old layout, from its parents."""
    if plan.layout != "old":
        above: list[int] = []
        nested = []
        for operation in (cells.get("operation", "") for cells in named):
            indent = len(operation) - len(operation.lstrip())
            while above and above[-1] >= indent:
                above.pop()
            nested.append(len(above))
            above.append(indent)
        return nested
    depths: dict[str, int] = {}
    found = []
    for cells in named:
        depth = depths.get(cells.get("parent_id", ""), -1) + 1
        depths[cells["id"]] = depth
        found.append(depth)
    return found


def _parent(ids: list[int], depths: list[int], place: int) -> int | None:
    """The last operation before this one that is nested less deep."""
    depth = depths[place]
    return next((ids[above] for above in range(place - 1, -1, -1) if depths[above] < depth), None)


def _table_cells(cells: dict[str, str]) -> dict[str, object]:
    row: dict[str, object] = {}
    for name, cell in cells.items():
        if name in FIGURES:
            row |= _with_bracket(name, cell) if name in _BRACKETS else _figure(name, cell)
        elif name in _TIMES:
            row |= _time(name, cell)
        elif name == "operation":
            row[name] = cell.strip()
        elif name in PLANS and name != "id":
            row[name] = cell or None
    return row


def _with_bracket(name: str, cell: str) -> dict[str, object]:
    """A figure with another one in brackets after it: ``29625   (1)``, ``2048  (0)``."""
    found = _BRACKET.fullmatch(cell)
    if found is None:
        return _figure(name, cell)
    return {**_figure(name, found["figure"].rstrip(" ")), _BRACKETS[name]: int(found["bracket"])}


@lru_cache(maxsize=1 << 12)
def _figure(name: str, cell: str) -> dict[str, object]:
    found = read_printed(cell, base=FIGURES[name])
    return {name: found.value, f"{name}_lo": found.lo, f"{name}_hi": found.hi}


@lru_cache(maxsize=1 << 12)
def _time(name: str, cell: str) -> dict[str, object]:
    """``00:00:01.34`` in seconds; rounding or truncation is not documented, so the bounds are as for Elapsed."""
    found = _TIME.fullmatch(cell)
    if found is None:
        return {name: None}
    fraction = found["fraction"] or ""
    scale = 10 ** len(fraction)
    seconds = (int(found["hours"] or 0) * 60 + int(found["minutes"])) * 60 + int(found["seconds"])
    ticks = seconds * scale + int(fraction or 0)
    return {name: ticks / scale, f"{name}_lo": max(2 * ticks - 1, 0) / (2 * scale), f"{name}_hi": (ticks + 1) / scale}


def unread_rows(plan: Plan) -> list[int]:
    """Lines of the rows of a plan with figures that are in no column of the frame."""
    if plan.layout == "old":
        return [operation.line for operation in plan.operations if _has_unread_old(operation.cells()["operation"])]
    if not plan.operations:
        return []
    is_plain = _plain_row(tuple(plan.operations[0].names)).fullmatch
    return [row.line for row in plan.operations if not is_plain(row.text) and _has_unread_cell(row.cells())]


@lru_cache(maxsize=1 << 8)
def _plain_row(names: tuple[str, ...]) -> Pattern:
    """The form of nearly all rows: figures and times where their columns are."""
    kinds = {
        **dict.fromkeys(FIGURES, "PLAIN_FIGURE"),
        **dict.fromkeys(_BRACKETS, "PLAIN_BRACKET"),
        **dict.fromkeys(_TIMES, "PLAIN_TIME"),
    }
    cells = "{BAR}".join(f"{{{kinds.get(name, 'CELL')}}}" for name in names)
    return Pattern(f"{{BAR}}{cells}{{BAR}}", PLAN_GRAMMAR)


def _has_unread_cell(cells: dict[str, str]) -> bool:
    read = _table_cells(cells)
    figures = (name for name in cells if name in FIGURES or name in _TIMES)
    return any(read.get(name) is None and DIGITS.search(cells[name]) for name in figures)


def _has_unread_old(text: str) -> bool:
    printed = len(list(_OLD_FIGURE.finditer(text)))
    figures = _old_figures(_OLD.fullmatch(text)) if printed else ()
    return printed > len(_OLD_FIGURES.keys() & {name for name, figure in figures if figure})


def _old_figures(found: re.Match[str] | None) -> Iterator[tuple[str, str]]:
    """Names and figures in the last brackets of an operation."""
    for word in ((found and found["figures"]) or "").replace(",", " ").split():
        name, _, figure = word.partition("=")
        yield name, figure


def _old_cells(text: str) -> dict[str, object]:
    """An operation of the old layout: ``TABLE ACCESS (FULL) OF 'T' (Cost=4 Card=2 Bytes=10)``."""
    found = _OLD.fullmatch(text)
    if found is None:
        return {"operation": text}
    row: dict[str, object] = {"operation": found["of"] or found["bare"], "object_name": found["name"]}
    for name, figure in _old_figures(found):
        if name in _OLD_FIGURES:
            row |= _figure(_OLD_FIGURES[name], figure)
    return row
