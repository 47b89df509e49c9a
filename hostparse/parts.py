"""Parts of a log: the rows under one heading, as figures in the units of their columns' names.

What stands last in a log that no line feed ends may go on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from logframe import Diagnostic
from logframe.copied import ends_open

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from hostparse.headings import Heading
    from logframe import Log


#: Half a unit of the last printed place of a column: one number, or one a row.
Half = float | pl.Series


@dataclass(frozen=True)
class Part:
    """The rows under one heading.

    Attributes:
        heading: the columns.
        frame: the columns of `hostparse.sampling.PLACE`, then the names and the figures as printed, in the units of the
            columns' names.
        halves: of each column of figures.
        problems: line, heading and text of cells that hold no figure where one is expected.
    """

    heading: Heading
    frame: pl.DataFrame
    halves: dict[str, Half]
    problems: tuple[tuple[int, str, str], ...] = ()

    def rows(self) -> tuple[pl.DataFrame, dict[str, Half]]:
        """One row a name, one column a metric; and the half units of the metrics."""
        return self.frame, self.halves


@dataclass(frozen=True)
class CrossedPart(Part):
    """Figures of one metric with a column for each name, as nmon prints its disks.

    Attributes:
        names: of the columns of `frame`, in order; `heading` has a key and the metric.
        is_by_name: Whether the log prints all metrics of a name beside each other, not all names of a metric.
    """

    names: tuple[str, ...] = ()
    is_by_name: bool = False

    def rows(self) -> tuple[pl.DataFrame, dict[str, Half]]:
        """One row a sample and name, all names of a sample together."""
        return self._rows

    @cached_property
    def _rows(self) -> tuple[pl.DataFrame, dict[str, Half]]:
        key, metric = (field.name for field in self.heading.fields)
        place = [name for name in self.frame.columns if name not in self.halves]
        values = pl.concat([self.frame.get_column(name).alias(metric) for name in self.halves])
        names = pl.Series(key, self.names, dtype=pl.String)
        height, width = self.frame.height, len(self.names)
        # column after column: the row numbers say how to put all names of a sample together
        row = pl.int_range(height * width, dtype=pl.UInt32, eager=True)
        sample, name = row // width, row % width
        cell = name * height + sample
        placed = self.frame.select(pl.col(place).gather(sample))
        frame = placed.hstack([names.gather(name), values.gather(cell)])
        halves = list(self.halves.values())
        if all(isinstance(half, float) and half == halves[0] for half in halves):
            return frame, {metric: halves[0]}
        spread = [
            half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, height) for half in halves
        ]
        together = pl.concat([half.rename("half") for half in spread])
        return frame, {metric: together.gather(cell)}


def together(pieces: list[Part]) -> Part:
    """The pieces of a part, read from one stretch of the log after another, as one part."""
    if len(pieces) == 1:
        return pieces[0]
    frame = pl.concat([piece.frame for piece in pieces])
    problems = tuple(problem for piece in pieces for problem in piece.problems)
    return replace(pieces[0], frame=frame, halves=_halves_together(pieces), problems=problems)


_Key = TypeVar("_Key", bound="Hashable")


def cut_end(
    name: str, parts: Mapping[_Key, Part], halves: Mapping[_Key, AbstractSet[float]], last: int
) -> tuple[dict[_Key, Part], list[Diagnostic]]:
    """The parts, where a log ends within a figure without that figure: it shows fewer decimals than all others.

    Args:
        name: of the log.
        parts: of the end of the log.
        halves: of each, the half units of its last column in the rows that came before.
        last: its last line that is not blank.
    """
    found = dict(parts)
    for key, part in parts.items():
        lines = part.frame.get_column("line")
        if not len(lines) or lines[-1] != last or not part.heading.fields:
            continue
        column = part.heading.fields[-1].name
        half = part.halves.get(column)
        if half is None:
            continue
        spread = half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, len(lines))
        others = {*halves.get(key, ()), *spread[:-1]} - {None}
        if len(others) != 1 or spread[-1] is None or spread[-1] <= (usual := others.pop()):
            continue
        values = pl.when(pl.col("line") != last).then(pl.col(column)).alias(column)
        found[key] = replace(part, frame=part.frame.with_columns(values), halves={**part.halves, column: usual})
        printed = part.heading.fields[-1].printed
        reason = f"the log ends within the figure under {printed}: it shows fewer decimals than all others, and is null"
        return found, [Diagnostic(name, last, None, "cut", None, reason)]
    return found, []


def _halves_together(pieces: list[Part]) -> dict[str, Half]:
    filled = [piece for piece in pieces if piece.frame.height] or pieces[:1]
    found: dict[str, Half] = {}
    for name, first in filled[0].halves.items():
        halves = [piece.halves[name] for piece in filled]
        if isinstance(first, float) and all(isinstance(half, float) and half == first for half in halves):
            found[name] = first
        else:
            found[name] = pl.concat(
                [
                    half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, piece.frame.height)
                    for half, piece in zip(halves, filled, strict=True)
                ]
            )
    return found


def open_end(log: Log, parts: Iterable[Part], last: int) -> list[Diagnostic]:
    """A diagnostic about a name or a whole number at the end of a log without a line feed; none for others.

    A figure with decimals shows by their number that it was cut: `hostparse.parts.cut_end`.

    Args:
        log: opened.
        parts: of its end.
        last: its last line that is not blank.
    """
    if not ends_open(log):
        return []
    for part in parts:
        lines = part.frame.get_column("line")
        if len(lines) and lines[-1] == last and part.heading.fields and _may_go_on(part):
            printed = part.heading.fields[-1].printed
            reason = f"the log ends without a line feed: what is under {printed} in its last line may go on"
            return [Diagnostic(log.name, last, None, "cut", None, reason)]
    return []


def _may_go_on(part: Part) -> bool:
    """Whether the last column has names, figures without decimals, or one figure only."""
    field = part.heading.fields[-1]
    half = part.halves.get(field.name)
    if field.metric is None or half is None or part.frame.height == 1:
        return True
    own = half[-1] if isinstance(half, pl.Series) else half
    return own in {0.0, 0.5 * field.metric.factor, field.metric.factor}
