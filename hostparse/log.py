"""A log of samples: its frames, long and wide, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from hostparse.shapes import joined, long_rows, stacked, wide_rows
from logframe import diagnostics_frame

if TYPE_CHECKING:
    from datetime import datetime

    import polars as pl

    from hostparse.parts import Part
    from hostparse.runs import Runs
    from logframe import Diagnostic

_RANK: Final = ("iostat", "vmstat", "mpstat", "pidstat", "sar", "zpool", "biopattern", "nmon")


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


@dataclass(frozen=True)
class HostLog:
    """What the operating system saw.

    Attributes:
        source: name of the log.
        kind: the tool: iostat, vmstat, mpstat, pidstat, sar, zpool, nmon, ...; several are joined by ``+``.
        parts: the tables as they were printed.
        runs: where, when and by what command.
        diagnostics: `logframe.DIAGNOSTICS`: lines and cells that could not be read, and what was assumed.
        lines: number of lines of each kind.
        clock: times that someone states for a log without times; the frames do not show them.
    """

    source: str
    kind: str
    parts: tuple[Part, ...]
    run_list: Runs
    diagnostics: pl.DataFrame
    lines: dict[str, int] = field(default_factory=dict)
    clock: AssumedClock | None = None

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
        return tuple(dict.fromkeys(part.heading.scope for part in self.parts))

    def wide(self, scope: str, *, bounds: bool = False) -> pl.DataFrame:
        """One row a sample and device (or CPU, process, ...), one column a metric.

        Tables that split one report over several headings are joined by run, sample and name.  Figures that say nothing
        (see `hostparse.rules`) are null; the rows of means that a tool prints at its end are left out.

        Args:
            scope: one of `scopes`.
            bounds: add ``<metric>_lo`` and ``<metric>_hi``, the bounds of the rounding.

        Raises:
            KeyError: the log has no table of that scope.
        """
        parts = [part for part in self.parts if part.heading.scope == scope]
        if not parts:
            raise KeyError(f"{scope!r}: the log has {', '.join(self.scopes) or 'no table'}")
        return joined((wide_rows(part, bounds=bounds) for part in parts), [part.heading.keys for part in parts])

    @property
    def samples(self) -> pl.LazyFrame:
        """One row a figure: `hostparse.SAMPLES`.

        * ``scope``, ``name``: what it is about (device, cpu, ...) and which
        * ``metric``, ``unit``: the names of the wide frames, and their unit
        * ``printed``: the heading;  ``basis``: see `hostparse.columns.Metric`
        * ``value``, ``value_lo``, ``value_hi``: the figure and the bounds of its rounding
        * ``flag``: why ``value`` is null although something is printed: `hostparse.rules`, or ``no_figure``
        * ``is_since_boot``: a mean since the start of the system, no sample; null where it may be either
        """
        return stacked([long_rows(part, averages=False) for part in self.parts])

    @property
    def averages(self) -> pl.LazyFrame:
        """The means that a tool printed at its end, in the columns of `samples`; ``sample`` and the times are null."""
        return stacked([long_rows(part, averages=True) for part in self.parts])

    def frames(self) -> dict[str, pl.DataFrame | pl.LazyFrame]:
        """The frames by name: ``runs``, ``samples``, ``averages``, and one wide frame a scope."""
        return {
            "runs": self.runs,
            "samples": self.samples,
            "averages": self.averages,
            **{scope: self.wide(scope) for scope in self.scopes},
        }

    def describe(self) -> str:
        """One line: the tool, the host, how many samples."""
        counts = [part.frame.get_column("sample").drop_nulls().n_unique() for part in self.parts if part.frame.height]
        hosts = self.runs.get_column("host").drop_nulls().unique().sort().to_list()
        where = f" of {hosts[0]}" if len(hosts) == 1 else f" of {len(hosts)} hosts" if hosts else ""
        number = max(counts, default=0)
        about = ", ".join(self.scopes) or "nothing"
        return f"{self.kind}{where}, {number:,} sample{'' if number == 1 else 's'} of {about}"


def kind_of(parts: tuple[Part, ...]) -> str:
    """The tools that printed the tables, joined by ``+``."""
    tools = {part.heading.tool for part in parts if part.frame.height}
    return "+".join([tool for tool in _RANK if tool in tools] or sorted(tools)) or "host"


def make_diagnostics(notes: tuple[Diagnostic, ...]) -> pl.DataFrame:
    """The diagnostics of a log as a frame."""
    return diagnostics_frame(list(notes))
