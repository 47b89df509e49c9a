"""Work on one source within the limits of a run."""

from __future__ import annotations

import errno
import faulthandler
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from iolab.dataset.store import StoreError
from logframe import LogParseError
from logframe.limits import limits
from logframe.source import clear_temporary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.dataset.jobs import Settings

#: What readers raise where the content is at fault.
UNREADABLE: Final = (LogParseError, OSError)


#: Numbers of errors of a full disk.
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def raise_of_place(error: BaseException) -> None:
    """Raise an error again that is no fault of a source: a disk is full, an object store does not answer."""
    cause: BaseException | None = error
    while cause is not None:
        is_full = isinstance(cause, OSError) and cause.errno in _FULL
        if is_full or isinstance(cause, StoreError) or os.strerror(errno.ENOSPC) in str(cause):
            raise error
        cause = cause.__cause__


@contextmanager
def guarded(settings: Settings) -> Iterator[None]:
    """A block of work on one source, within the limits; a process that exceeds the limit of time ends."""
    changes = {name: getattr(settings.limits, name) for name in settings.limits.__slots__}
    if not settings.is_own_process:
        with limits(**changes):
            yield
        return
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        if settings.seconds > 0:
            # Its thread needs no lock of the interpreter, so it also ends a process that hangs in compiled code.
            faulthandler.dump_traceback_later(settings.seconds, exit=True, file=nowhere)
        try:
            with limits(**changes):
                yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            with suppress(OSError):
                clear_temporary()
