"""What the readers of all formats return: frames by name, findings, and a representation in a notebook.

The parsers know no findings and no charts.  These come from the object that is registered under the entry-point group
``logframe.display`` (`iolab.display`), which is imported when one of them is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeGuard

from logframe.errors import LogError, LogParseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

#: Group of entry points of what shows logs.
GROUP: Final = "logframe.display"


class TableNotFoundError(LogParseError, KeyError):
    """The log has no such table."""


class ParsedLog:
    """What the reader of every format returns; its class inherits from this one.

    ``log["top_events"]`` is a frame, `print` and a notebook show what the log is, where its time went, the first
    findings, and its frames.

    """

    __slots__ = ()
    __iter__: ClassVar[None] = None  # its frames are by name: it is no sequence

    if TYPE_CHECKING:  # a field of a dataclass would take a property for its default

        @property
        def format(self) -> str:
            """The format's name in the registry."""

        @property
        def kind(self) -> str:
            """What the format calls this kind of log, such as ``awr_pdb``."""

        @property
        def source(self) -> str:
            """Name of the log."""

        @property
        def diagnostics(self) -> pl.DataFrame:
            """What was not read, guessed or is doubtful (`logframe.DIAGNOSTICS`)."""

    def frames(self) -> Mapping[str, pl.DataFrame | pl.LazyFrame]:
        """Every frame of the log by name."""
        raise NotImplementedError

    def describe(self) -> str:
        """What the log is, in a few words."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a DataFrame, or a LazyFrame of a large log
        """A frame of the log.

        Raises:
            TableNotFoundError: It has none of that name; a KeyError, too.
        """
        found = self.frames()
        if name not in found:
            raise TableNotFoundError(f"the log has no table {name!r}", source=self.source, expected=near(name, found))
        return found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.frames()

    def _ipython_key_completions_(self) -> list[str]:
        """What a notebook offers after ``log["``."""
        return list(self.frames())

    @property
    def findings(self) -> pl.DataFrame:
        """What the log says first (`iolab.findings`)."""
        found: pl.DataFrame = display().findings(self)
        return found

    @property
    def ledger(self) -> Any:  # noqa: ANN401 - an iolab.time_ledger.Ledger
        """The account of its time (`iolab.ledger`)."""
        return display().ledger(self)

    @property
    def charts(self) -> Any:  # noqa: ANN401 - an iolab.display.LogCharts
        """Its charts by name; each is drawn when it is asked for."""
        return display().LogCharts(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.source}: {self.describe()}>"

    def __str__(self) -> str:
        return str(display().log_text(self))

    def _repr_html_(self) -> str:
        return str(display().log_html(self))

    def _repr_pretty_(self, printer: Any, cycle: object) -> None:  # noqa: ANN401 - IPython's protocol
        del cycle  # a log holds no other
        printer.text(str(self))


def is_log(value: object) -> TypeGuard[ParsedLog]:
    """Whether a value is what a reader returns, by its class: no property of it is computed.

    Examples:
        >>> is_log(b"text"), is_log("a.trc")
        (False, False)
    """
    return isinstance(value, ParsedLog) or all(hasattr(type(value), name) for name in ("frames", "describe"))


@cache
def display() -> Any:  # noqa: ANN401 - a module that this package does not know
    """What shows logs.

    Raises:
        LogError: Nothing is registered, as in a copied folder.
    """
    for point in entry_points(group=GROUP):
        return point.load()
    raise LogError("nothing shows logs: the package's metadata is missing; install the project with pip")


def near(name: str, known: Iterable[str]) -> str:
    """The names nearest to one that is not there, else the first ones."""
    from difflib import get_close_matches  # noqa: PLC0415 - only on the way to an error

    names = list(known)
    close = get_close_matches(name, names, n=3, cutoff=0.4)
    return " or ".join(close) if close else ", ".join(names[:8])
