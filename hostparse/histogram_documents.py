"""Histograms that stand in one line as a document: a dictionary of Python (biolatency -j), JSON (bpftrace -f json)."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from logframe import load_grammar
from logframe.json_leaves import loads

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAMMAR: Final = load_grammar("hostparse", "histogram.lark", "line")
#: The unit in a heading or a name.
UNIT: Final = re.compile(GRAMMAR.pattern(r"\b(?P<unit>{UNIT})\b"))
_NANOSECONDS: Final = {"n": 1.0, "u": 1e3, "m": 1e6, "s": 1e9}
_LONG_UNITS: Final = {"nanosec": "ns", "microsec": "us", "millisec": "ms"}
SOURCE: Final = re.compile(GRAMMAR.pattern("{SOURCE}"))
_BRACKETED: Final = re.compile(GRAMMAR.pattern(r"[(](?P<unit>{UNIT})[)]"))
#: Counts and ends of buckets lie below it.
_MOST: Final = 1 << 62


class Described(NamedTuple):
    """A table of a document.

    Attributes:
        tool: that prints such documents.
        unit: of the ends of its buckets, as printed.
        time: as printed.
        key: what the table is of.
        buckets: lower end, upper end and count of each.
    """

    tool: str
    unit: str | None
    time: str | None
    key: str | None
    buckets: list[tuple[float | None, float | None, int]]


def tables_of(line: str) -> list[Described]:
    """The tables of a document.

    Raises:
        ValueError: it is no histogram, or a number is not one that a frame can hold.

    Examples:
        >>> tables_of('{"type": "hist", "data": {"@us": [{"min": 1, "max": 1, "count": 5}]}}')
        [Described(tool='bpftrace', unit='us', time=None, key='us', buckets=[(1.0, 2.0, 5)])]
    """
    try:
        return list(_each(_document(line)))
    except (TypeError, KeyError, AttributeError, OverflowError) as error:
        raise ValueError(f"no histogram: {error}") from None


def _document(line: str) -> Any:  # noqa: ANN401 - any JSON
    """JSON, or a dictionary of Python; None where a line is neither."""
    try:
        return loads(line)
    except (ValueError, RecursionError):
        try:
            return ast.literal_eval(line)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None


def _each(found: Any) -> Iterator[Described]:  # noqa: ANN401 - any JSON
    if isinstance(found["data"], list):
        keys = [value for name, value in found.items() if name not in {"ts", "val_type", "data"}]
        key = next((value.decode() if isinstance(value, bytes) else str(value) for value in keys), None)
        buckets = [(each["interval-start"], each["interval-end"], each["count"]) for each in found["data"]]
        yield Described(
            "bcc", _text(found.get("val_type")), _text(found.get("ts")), key, [_bucket(*b) for b in buckets]
        )
        return
    if found.get("type") not in {"hist", "lhist"}:
        raise ValueError("no histogram")
    for name, each in found["data"].items():
        key = str(name).lstrip("@")
        buckets = [(one.get("min"), one.get("max"), one["count"]) for one in (each if isinstance(each, list) else [])]
        yield Described("bpftrace", unit_in(key), None, key, [_bucket(*bucket) for bucket in buckets])


def nanoseconds_in(unit: str) -> float | None:
    """Nanoseconds in a unit of time; None without one."""
    return _NANOSECONDS[_LONG_UNITS.get(unit, unit)[0]] if UNIT.fullmatch(unit) else None


def unit_in(name: str) -> str | None:
    """The unit in the name of a map or in a heading; not in a key, as in ``@read_usecs[ns-slapd]``."""
    found = UNIT.search(name.partition("[")[0].replace("_", " "))
    return None if found is None else found["unit"]


def unit_in_brackets(text: str) -> str | None:
    """The unit in ``read latency (us)``; words of a text are not (``ns-slapd`` is a program)."""
    found = _BRACKETED.search(text)
    return None if found is None else found["unit"]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _bucket(first: float | None, last: float | None, count: int) -> tuple[float | None, float | None, int]:
    """The ends of a bucket, whose last value is printed; no number that a frame cannot hold."""
    if not 0 <= int(count) < _MOST or any(end is not None and not abs(float(end)) < _MOST for end in (first, last)):
        raise ValueError("a number that no frame can hold")
    return None if first is None else float(first), None if last is None else float(last) + 1, int(count)
