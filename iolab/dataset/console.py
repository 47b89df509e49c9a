"""What the commands about datasets print."""

from __future__ import annotations

import shutil
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Self

from logframe.console import say
from logframe.errors import LogError

if TYPE_CHECKING:
    from types import TracebackType

    from iolab.dataset.jobs import Progress

#: Where the standard error is no terminal, a line is printed so often, in seconds.
_EVERY: Final = 30.0
_DAYS: Final = {"d": 1, "w": 7}


class ProgressLine:
    """Shows how far a run is on the standard error: a line that is rewritten on a terminal, else one now and then."""

    def __init__(self) -> None:
        self._start = self._shown = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self.last: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal and self.last is not None:
            say("")

    def __call__(self, progress: Progress) -> None:
        """Show it."""
        self.last = progress
        now = time.monotonic()
        if not self._is_terminal and now - self._shown < _EVERY:
            return
        self._shown = now
        rate = progress.done / (now - self._start)
        left = f"{(progress.total - progress.done) / rate:,.0f} s left" if rate else ""
        counts = ", ".join(f"{count:,} {status}" for status, count in progress.counts.items())
        line = f"{progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} MB, {rate / 1e6:,.1f} MB/s, {left}: {counts}"
        if self._is_terminal:
            sys.stderr.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
            sys.stderr.flush()
        else:
            say(line)


def since_of(text: str, now: datetime | None = None) -> datetime:
    """The time that ``--since`` names: a date, a date with a time, or this many days or weeks ago (``7d``, ``2w``).

    Raises:
        LogError: It is not one of these.

    Examples:
        >>> since_of("2026-09-14")
        datetime.datetime(2026, 9, 14, 0, 0, tzinfo=datetime.timezone.utc)
        >>> since_of("2w", datetime(2026, 9, 15, tzinfo=UTC))
        datetime.datetime(2026, 9, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if text[:-1].isdecimal() and text[-1:] in _DAYS:
        return (now or datetime.now(UTC)) - timedelta(days=int(text[:-1]) * _DAYS[text[-1]])
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise LogError(f"--since is a date such as 2026-09-14, or an age such as 7d or 2w, not {text!r}") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
