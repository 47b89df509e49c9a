"""What must hold of any input, whatever it holds."""

from __future__ import annotations

import hashlib
import io
import warnings
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe import DIAGNOSTICS, LogError
from logframe.formats import FormatWarning
from logframe.loading import load_all_logs
from logframe.provenance import provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from logframe.formats import ParsedLog


class Violation(AssertionError):  # noqa: N818 - what was violated, not an error of the program
    """An invariant does not hold."""


class Checked(NamedTuple):
    """What was read of an input that holds what must hold.

    Attributes:
        formats: Format of each log.
        digest: Digest of all frames: the same for the same figures; empty unless the check was thorough.
    """

    formats: list[str]
    digest: str


def read(data: bytes) -> list[ParsedLog]:
    """The logs of an input; none where it is refused with one of the project's own errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FormatWarning)  # a format that fails to recognise a log
        try:
            return load_all_logs({"name": "fuzzed.log", "content": data})
        except LogError:
            return []


def frames_of(log: ParsedLog) -> dict[str, pl.DataFrame]:
    """Every frame of a log, and its diagnostics."""
    frames = {name: frame.lazy().collect() for name, frame in log.frames().items()}
    if log.diagnostics.schema != DIAGNOSTICS:
        raise Violation(f"{log.format}: the diagnostics have the schema {log.diagnostics.schema}")
    return {**frames, "diagnostics": log.diagnostics}


def is_described(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """The log says what it is, and each column of bounds is beside its figure."""
    if not log.describe() or "\n" in log.describe():
        raise Violation(f"{log.format}: described as {log.describe()!r}")
    for name, frame in frames.items():
        for column in frame.columns:
            alone = column.removesuffix("_lo") if column.endswith("_lo") else column
            if alone != column and alone not in frame.columns and f"{alone}_hi" not in frame.columns:
                raise Violation(f"{log.format}: {name}.{column} has no figure beside it")


def bounds_hold(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """A figure lies within its own bounds."""
    for name, frame in frames.items():
        checks = []
        for column, dtype in frame.schema.items():
            lo, hi = f"{column}_lo", f"{column}_hi"
            if lo in frame.columns and hi in frame.columns and dtype.is_numeric():
                unknown = pl.any_horizontal(pl.col(lo, hi, column).is_null())
                checks.append((unknown | pl.col(column).is_between(lo, hi)).all().alias(column))
        for column, holds in _first_row(frame, checks):
            if not holds:
                raise Violation(f"{log.format}: {name}.{column} lies outside its bounds")


def figures_are_finite(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """A figure too large for its type is none: it is null, or its line is a diagnostic."""
    for name, frame in frames.items():
        floats = [column for column, dtype in frame.schema.items() if dtype.is_float()]
        for column, holds in _first_row(frame, [pl.col(column).is_finite().all() for column in floats]):
            if not holds:
                raise Violation(f"{log.format}: {name}.{column} is infinite or no number")


def _first_row(frame: pl.DataFrame, checks: list[pl.Expr]) -> Iterable[tuple[str, bool]]:
    """The name and the value of each check of a frame."""
    return frame.select(checks).row(0, named=True).items() if checks else ()


def lines_are_accounted_for(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """A reader that counts lines has each once; no row names a line that the log has not."""
    if log.kind == "strace" and "events" in frames:
        numbers = frames["events"].get_column("line")
        if numbers.n_unique() != numbers.len():
            raise Violation("strace: a line is there twice")
    spool_lines = getattr(log, "lines", None)
    if log.format == "sqlplus" and callable(spool_lines):
        parts = spool_lines().get_column("part")
        if parts.null_count():
            raise Violation("sqlplus: a line is neither a record nor recognised nor a diagnostic")


def no_figure_is_lost_in_silence(log: ParsedLog, data: bytes) -> None:
    """A log that loses a figure has a diagnostic: a damaged log is one that says so."""
    try:
        lost = provenance(log, {"name": "fuzzed.log", "content": data}).filter(status="lost")
    except LogError:  # the source holds more than the log
        return
    if lost.height and log.diagnostics.is_empty():
        line, text, frame = lost.select("line", "text", "frame").row(0)
        raise Violation(f"{log.format}: {frame} lost {text[:40]!r} of line {line} without a diagnostic")


def parquet_keeps_it(log: ParsedLog, frames: dict[str, pl.DataFrame]) -> None:
    """Each frame survives a trip through Parquet."""
    for name, frame in frames.items():
        out = io.BytesIO()
        frame.write_parquet(out)
        out.seek(0)
        if not pl.read_parquet(out).equals(frame):
            raise Violation(f"{log.format}: {name} is another after Parquet")


#: Checked of every input.
CHEAP: Final[tuple[Callable[[ParsedLog, dict[str, pl.DataFrame]], None], ...]] = (
    is_described,
    bounds_hold,
    figures_are_finite,
    lines_are_accounted_for,
)


def digest_of(frames: list[dict[str, pl.DataFrame]]) -> str:
    """Digest of the schemas and the values of all frames."""
    found = hashlib.blake2b(digest_size=16)
    for log in frames:
        for name in sorted(log):
            frame = log[name]
            found.update(f"{name} {frame.schema}".encode())
            found.update(repr(frame.rows()).encode(errors="surrogatepass"))
    return found.hexdigest()


def check(data: bytes, *, is_thorough: bool = False) -> Checked:
    """Read an input and check what must hold.

    Args:
        data: The input.
        is_thorough: Also account for its figures, read it twice, and through Parquet, and make a digest.

    Raises:
        Violation: An invariant does not hold.
    """
    logs = read(data)
    frames = [frames_of(log) for log in logs]
    for log, its in zip(logs, frames, strict=True):
        for invariant in CHEAP:
            invariant(log, its)
    if is_thorough:
        if len(logs) == 1:
            no_figure_is_lost_in_silence(logs[0], data)
        again = [frames_of(log) for log in read(data)]
        for log, first, second in zip(logs, frames, again, strict=True):
            if first.keys() != second.keys() or any(not first[name].equals(second[name]) for name in first):
                raise Violation(f"{log.format}: read twice, it is not the same")
            parquet_keeps_it(log, first)
    return Checked([log.format for log in logs], digest_of(frames) if is_thorough else "")
