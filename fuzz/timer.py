"""A limit of the time that a block of code takes."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What waits, and takes no CPU, hangs after so many times as long: the machine may be busy with others.
_WAITS: Final = 15


class Hang(Exception):  # noqa: N818 - what happened, not an error of the program
    """Something took too long."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `Hang` where the block takes more CPU seconds, or waits for much longer."""

    def stop(*_: object) -> None:
        raise Hang(f"more than {seconds:g} s")

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, _WAITS * seconds))
    before = [signal.signal(number, stop) for _, number, _ in timers]
    for timer, _, limit in timers:
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
