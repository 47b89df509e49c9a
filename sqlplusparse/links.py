"""What a plan explains: the statement of the session with the text that DBMS_XPLAN or SQL Monitor shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlplusparse.runs import normal_text

if TYPE_CHECKING:
    from sqlplusparse.monitor import Monitor
    from sqlplusparse.records import Plan, Statement

#: A text that was cut is compared from this many characters on.
_FEWEST_COMMON: Final = 40


def link_plans(statements: list[Statement], plans: list[tuple[int | None, Plan]], monitors: list[Monitor]) -> None:
    """Give each plan of a cursor the statement that it explains: the last one above it with its text.

    Plans of SQL Monitor get the id and the plan hash value of their report.
    """
    if not monitors and all(plan.sql_text is None for _, plan in plans):
        return
    shown = {
        statement.ordinal: "".join(normal_text(statement.text).split())
        for statement in statements
        if statement.text is not None
    }
    for owner, plan in plans:
        first = plan.operations[0].line if plan.operations else -1
        for monitor in monitors:
            if monitor.first <= first < monitor.last:
                plan.sql_id = plan.sql_id or _text(monitor.found.get("sql_id"))
                hash_value = monitor.found.get("plan_hash_value")
                plan.hash_value = hash_value if isinstance(hash_value, int) else plan.hash_value
        if plan.sql_text is None:
            continue
        text = "".join(normal_text(plan.sql_text).split())
        last = owner if owner is not None else owner_of(first, statements) or len(statements)
        plan.explains = next(
            (ordinal for ordinal in range(last, 0, -1) if ordinal in shown and _is_same(text, shown[ordinal])), None
        )
        if plan.explains is not None and plan.hash_value is not None:
            statements[plan.explains - 1].cursor_hash = plan.hash_value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _is_same(shown: str, typed: str) -> bool:
    """Are two texts one, or is the first the beginning of the second?"""
    return shown == typed or (len(shown) >= _FEWEST_COMMON and typed.startswith(shown))


def owner_of(number: int, statements: list[Statement]) -> int | None:
    """The statement whose lines a line is one of; None between statements."""
    return next((one.ordinal for one in statements if one.first <= number < one.last), None)
