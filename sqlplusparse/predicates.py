"""Conditions of plans and statements that compare a function of a column, so that no index on the column serves."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from logframe import load_grammar
from sqlplusparse.lines import Pattern

PLAN_GRAMMAR: Final = load_grammar("sqlplusparse", "plan.lark")
_CONVERTED: Final = Pattern(
    r'\b(?P<function>{FUNCTION})\({BEFORE_COLUMN}"(?P<column>{COLUMN})"{COMPARED}', PLAN_GRAMMAR
)
_IN_TEXT: Final = Pattern(
    r"\b(?P<function>{CONVERSION})\s*\(\s*(?:(?P<alias>{NAME})\.)?(?P<column>{NAME}){COMPARED_IN_TEXT}", PLAN_GRAMMAR
)


def converted_column(predicates: str) -> tuple[str, str] | None:
    """The first column of which a predicate compares a function, and that function: no index on the column serves it.

    Examples:
        >>> converted_column('filter("S"=1 AND TO_NUMBER("O"."EXT_REF")=448120931)'), converted_column('filter("S"=1)')
        (('EXT_REF', 'TO_NUMBER'), None)
    """
    found = _CONVERTED.search(predicates)
    return (found["column"], found["function"]) if found else None


def converted_in_text(text: str, table: str, *, is_only: bool) -> tuple[str, str] | None:
    """The first column of a table of which the condition of a statement compares a function, and that function.

    Args:
        text: of the statement.
        table: whose column it is to be: the alias tells.
        is_only: whether no other table is read, so a column without an alias is of this one.

    Examples:
        >>> text = "select upper(c.b) from cust c, ord o where c.id = o.cid and trunc(o.ts, 'MM') = :1"
        >>> converted_in_text(text, "ORD", is_only=False), converted_in_text(text, "CUST", is_only=False)
        (('TS', 'TRUNC'), None)
    """
    source, _, condition = text.upper().partition("WHERE")
    words = [word.rpartition(".")[2] for word in source.replace(",", " , ").split() if word != "AS"]
    names = {table, *(after for word, after in pairwise(words) if word == table)}
    own = (one for one in _IN_TEXT.finditer(condition) if (one["alias"] in names if one["alias"] else is_only))
    return next(((one["column"], one["function"]) for one in own), None)
