"""The register of checks: what a report says that cannot be, so that lines are missing or two reports were joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

import polars as pl

from awrparse.records import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.info import AwrInfo
    from awrparse.raw_tables import RawTables
    from awrparse.records import Document
    from logframe import Interval
    from logframe.printed import DecimalMark

#: The modules that have checks, in the order in which these are made.
_MODULES: Final = ("headings", "markup", "text_lines", "figures", "rows")
#: Columns of the contradictions of a report.
CHECKS: Final = pl.Schema(
    {
        "check": pl.String(),
        "table": pl.String(),
        "item": pl.String(),
        **{f"{which}{end}": pl.Float64() for which in ("first", "second") for end in ("", "_lo", "_hi")},
        "reason": pl.String(),
    }
)


class Report(Protocol):
    """What checks ask of a report (`awrparse.AwrReport`)."""

    kind: str
    document: Document
    raw_tables: RawTables
    decimal_mark: DecimalMark

    @property
    def info(self) -> AwrInfo:
        """Database, instance, host and period."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of its canonical tables."""

    def __contains__(self, name: object) -> bool:
        """Has it this canonical table?"""

    def __getitem__(self, name: str) -> pl.DataFrame:
        """A canonical table."""

    def with_bounds(self, name: str) -> pl.DataFrame:
        """A canonical table with the bounds of its figures; without rows where the report lacks it."""


class Contradiction(NamedTuple):
    """Two figures that cannot both be right beyond rounding."""

    check: str
    table: str
    item: str
    first: Interval
    second: Interval
    reason: str


Find = Callable[[Report], Iterable["Problem | Contradiction"]]
#: What a check looks at: the lines of the report, the rows of its tables, or its figures.
Of = Literal["lines", "rows", "figures"]


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        find: gives problems, or contradictions of figures.
        proves: what is so where it finds something.
        of: what it looks at.
        cost_ms: time that it takes of one core for a report of 0.5 MB, 1 where it is less.
        is_certain: of figures: a whole report of no release fails it, so that the diagnostics have it, too.
    """

    find: Find
    proves: str
    of: Of
    cost_ms: int
    is_certain: bool

    @property
    def name(self) -> str:
        """Name of the check."""
        return getattr(self.find, "__name__", "").strip("_")


_FOUND: Final[list[Check]] = []


def check(proves: str, of: Of = "lines", *, cost_ms: int, is_certain: bool = False) -> Callable[[Find], Find]:
    """Register a check; see `Check`."""

    def register(find: Find) -> Find:
        _FOUND.append(Check(find, proves, of, cost_ms, is_certain))
        return find

    return register


@cache
def checks() -> tuple[Check, ...]:
    """All checks, in order."""
    for name in _MODULES:
        import_module(f"awrparse.integrity.{name}")
    return tuple(_FOUND)


def problems_of(report: Report, of: Of) -> Iterator[Problem]:
    """What the checks of lines, or those of rows and the certain ones of figures, find."""
    for one in checks():
        if one.of == of or (of == "rows" and one.is_certain):
            for found in one.find(report):
                if isinstance(found, Contradiction):
                    yield Problem(None, "contradiction", found.item, f"{found.table}: {found.reason}")
                else:
                    yield found


def contradictions_of(report: Report) -> pl.DataFrame:
    """Contradictions within a report, a row each with both figures and their bounds, with the schema `CHECKS`."""
    rows = [
        (found.check, found.table, found.item, *_bounds(found.first), *_bounds(found.second), found.reason)
        for one in checks()
        if one.of == "figures"
        for found in one.find(report)
        if isinstance(found, Contradiction)
    ]
    return pl.DataFrame(rows, schema=CHECKS, orient="row")


def _bounds(figure: Interval) -> tuple[float, float, float]:
    return float(figure.value), float(figure.lo), float(figure.hi)
