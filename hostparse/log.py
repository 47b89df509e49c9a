"""A log of samples: its frames, long and wide, and what could not be read.

A log of another kind than samples is its frames alone (`FrameLog`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from hostparse.shapes import SAMPLES, joined, layout_of, long_rows, needed_columns, wide_rows
from hostparse.tools import TOOLS
from logframe import diagnostics_frame
from logframe.lazy_rows import lazy_rows
from logframe.parsed_log import ParsedLog
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    import polars as pl

    from hostparse.runs import Runs
    from hostparse.shapes import Layout
    from hostparse.stored import Parts
    from logframe import Diagnostic


class AssumedClock(NamedTuple):
    """Times of a log that prints none.

    Attributes:
        first_end: The end of the first report.
        step_s: Seconds from one report to the next.
        why: What they rest on.
    """

    first_end: datetime
    step_s: float
    why: str = ""


@dataclass(frozen=True, repr=False)
class HostLog(ParsedLog):
    """What the operating system saw.

    Attributes:
        source: name of the log.
        kind: the tool: iostat, vmstat, mpstat, pidstat, sar, zpool, nmon, ...; several are joined by ``+``.
        parts: the tables as they were printed; of a large log, in files.
        runs: where, when and by what command.
        diagnostics: `logframe.DIAGNOSTICS`: lines and cells that could not be read, and what was assumed.
        lines: number of lines of each kind.
        clock: times that someone states for a log without times; the frames do not show them.
    """

    source: str
    kind: str
    parts: Parts
    run_list: Runs
    diagnostics: pl.DataFrame
    lines: dict[str, int] = field(default_factory=dict)
    clock: AssumedClock | None = None
    _layouts: dict[str, Layout] = field(default_factory=dict, repr=False, compare=False)

    @property
    def format(self) -> str:
        """The format's name in the registry."""
        return "host"

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row a run: `hostparse.RUNS`."""
        return self.run_list.frame()

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        """What the tables are about, in the order of the log: ``host``, ``device``, ``cpu``, ``process``, ..."""
        return tuple(dict.fromkeys(heading.scope for heading in self.parts.headings))

    def wide(self, scope: str, *, bounds: bool = False) -> pl.DataFrame:
        """One row a sample and device (or CPU, process, ...), one column a metric.

        Tables that split one report over several headings are joined by run, sample and name.  Meaningless figures
        (see `hostparse.shapes`) are null; the rows of means that a tool prints at its end are left out.

        Args:
            scope: one of `scopes`.
            bounds: add ``<metric>_lo`` and ``<metric>_hi``, the bounds of the rounding.

        Raises:
            KeyError: the log has no table of that scope.
        """
        return self.scan(scope, bounds=bounds).collect()

    def scan(self, scope: str, *, bounds: bool = False) -> pl.LazyFrame:
        """The frame that `wide` gives, as a LazyFrame: of a large log, its rows are never in memory together.

        Args:
            scope: one of `scopes`.
            bounds: add the bounds of the rounding.

        Raises:
            KeyError: the log has no table of that scope.
        """
        numbers = [number for number, heading in enumerate(self.parts.headings) if heading.scope == scope]
        if not numbers:
            raise KeyError(f"{scope!r}: the log has {', '.join(self.scopes) or 'no table'}")
        keys = [self.parts.headings[number].keys for number in numbers]
        if not self.parts.is_large:
            whole = self._wide_rows(0, numbers, bounds=bounds)
            return joined(whole, keys, layout_of(lambda: [whole], keys)).lazy()
        layout = self._layout(scope, numbers)

        def rows(columns: list[str]) -> Iterator[pl.DataFrame]:
            only = {*columns, *(name[:-3] for name in columns)}
            for piece in range(self.parts.pieces):
                yield joined(self._wide_rows(piece, numbers, bounds=bounds, only=only), keys, layout)

        empty = joined(self._wide_rows(None, numbers, bounds=bounds), keys, layout)
        return lazy_rows(rows, empty.schema)

    def _layout(self, scope: str, numbers: list[int]) -> Layout:
        """How the tables of a scope become one frame."""
        if scope not in self._layouts:
            headings = [self.parts.headings[number] for number in numbers]

            def pieces() -> Iterator[list[pl.DataFrame]]:
                for piece in range(self.parts.pieces):
                    yield self._wide_rows(piece, numbers, bounds=False)

            self._layouts[scope] = layout_of(pieces, [heading.keys for heading in headings])
        return self._layouts[scope]

    def _wide_rows(
        self,
        piece: int | None,
        numbers: list[int],
        *,
        bounds: bool,
        only: Collection[str] | None = None,
    ) -> list[pl.DataFrame]:
        """The wide rows of some parts in a piece of the log; without one, none."""
        frames = []
        for number in numbers:
            heading = self.parts.headings[number]
            wanted = None if only is None else needed_columns(heading, only)
            part = self.parts.empty(number) if piece is None else self.parts.part(piece, number, wanted)
            frames.append(wide_rows(part, bounds=bounds, only=only))
        return frames

    @property
    def samples(self) -> pl.LazyFrame:
        """One row a figure: `hostparse.SAMPLES`.

        * ``scope``, ``name``: what it is about (device, cpu, ...) and which
        * ``metric``, ``unit``: the names of the wide frames, and their unit
        * ``printed``: the heading;  ``basis``: see `hostparse.tools.Metric`
        * ``value``, ``value_lo``, ``value_hi``: the figure and the bounds of its rounding
        * ``flag``: why ``value`` is null although something is printed: `hostparse.shapes`, or ``no_figure``
        * ``is_since_boot``: a mean since the start of the system, no sample; null where it may be either
        """
        return self._long(averages=False)

    @property
    def averages(self) -> pl.LazyFrame:
        """The means that a tool printed at its end, in the columns of `samples`; ``sample`` and the times are null.

        ``name`` contains the user of a process, too: of samples the wide frame does.
        """
        return self._long(averages=True)

    def _long(self, *, averages: bool) -> pl.LazyFrame:
        """One row a figure, column after column."""

        def rows(_: list[str]) -> Iterator[pl.DataFrame]:
            for number, heading in enumerate(self.parts.headings):
                names = [field.name for field in heading.fields if field.metric is not None]
                for name in names if self.parts.is_large else [None]:
                    wanted = None if name is None else needed_columns(heading, {name})
                    for piece in range(self.parts.pieces):
                        yield from long_rows(self.parts.part(piece, number, wanted), averages=averages, only=name)

        return lazy_rows(rows, SAMPLES)

    def frames(self) -> dict[str, pl.DataFrame | pl.LazyFrame]:
        """The frames by name: ``runs``, ``samples``, ``averages``, and one wide frame a scope."""
        return {
            "runs": self.runs,
            "samples": self.samples,
            "averages": self.averages,
            **{scope: self.scan(scope) if self.parts.is_large else self.wide(scope) for scope in self.scopes},
        }

    def describe(self) -> str:
        """One line: the tool, the host, how many samples."""
        counts = [self.parts.samples(number) for number in range(len(self.parts.headings))]
        hosts = self.runs.get_column("host").drop_nulls().unique().sort().to_list()
        where = f" of {hosts[0]}" if len(hosts) == 1 else f" of {len(hosts)} hosts" if hosts else ""
        number = max(counts, default=0)
        about = ", ".join(self.scopes) or "nothing"
        return f"{self.kind}{where}, {counted(number, 'sample')} of {about}"


def kind_of(parts: Parts) -> str:
    """The tools that printed the tables, joined by ``+``."""
    tools = {heading.tool for number, heading in enumerate(parts.headings) if parts.height(number)}
    known = sorted((tool.rank, tool.name) for tool in TOOLS.values() if tool.name in tools)
    return "+".join([name for _, name in known] or sorted(tools)) or "host"


def make_diagnostics(notes: tuple[Diagnostic, ...]) -> pl.DataFrame:
    """The diagnostics of a log as a frame."""
    return diagnostics_frame(list(notes))


@dataclass(frozen=True, repr=False)
class FrameLog(ParsedLog):
    """A log as frames (`logframe.formats.ParsedLog`).

    Attributes:
        format: the format's name in the registry.
        kind: the tool.
        source: name of the log.
        tables: the frames by name.
        diagnostics: `logframe.DIAGNOSTICS`.
        what: the log in a few words.
    """

    format: str
    kind: str
    source: str
    tables: dict[str, pl.DataFrame]
    diagnostics: pl.DataFrame
    what: str

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by name."""
        return self.tables

    def describe(self) -> str:
        """The log in a few words."""
        return self.what
