"""What JupyterLab makes of a log: its page, written by a process of its own with limits, and a notebook about it.

A path is one that JupyterLab gives: relative to the folder that it serves.  What leaves that folder is refused.
"""

from __future__ import annotations

import asyncio
import json
import os
import posixpath
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe.errors import RefusedError

#: Processes that read at the same time, and logs that may wait for one.
READERS: Final = 2
MOST_WAITING: Final = 20
#: What one process may take.  Its address space is not limited: the library that draws reserves far more than it uses.
MEMORY_BYTES: Final = 8 * 2**30
TIMEOUT_S: Final = 1800.0
#: Pages that are kept; older ones are removed and written again when they are asked for.
MOST_KEPT: Final = 20
#: Without the user's PYTHON* variables, and without modules of the current folder; -I would also hide what
#: `pip install --user` installed.
_READER: Final = (sys.executable, "-E", "-P", "-m", "iolab", "report")


@dataclass
class Page:
    """A page that is written, or was.

    Attributes:
        id: A random name that the browser asks for it by.
        logs: The log, or the two that it compares.
        keys: The path, the time of the last change and the size of what was read.
        folder: What belongs to it, the process's temporary files too.
        state: Where it stands.
        message: Why it failed.
        began: When the reading began or, before that, when it was asked for; in seconds of a steady clock.
        seconds: How long the reading took.
        viewers: How many tabs show it or wait for it.
    """

    id: str
    logs: tuple[Path, ...]
    keys: list[tuple[str, int, int]]
    folder: Path
    state: Literal["waiting", "reading", "done", "failed"] = "waiting"
    message: str = ""
    began: float = 0.0
    seconds: float = 0.0
    viewers: int = 1
    process: subprocess.Popen[bytes] | None = None
    task: asyncio.Task[None] | None = None

    @property
    def path(self) -> Path:
        """Where the page is, once it is written."""
        return self.folder / "page.html"

    @property
    def name(self) -> str:
        """What messages call it."""
        return " and ".join(log.name for log in self.logs)

    def end(self) -> None:
        """End its process, and all that it started."""
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()


def log_notebook(name: str) -> dict[str, Any]:
    """A notebook about one log beside it, to be run; as JSON.

    Args:
        name: The file of the log.

    Examples:
        >>> [cell["source"] for cell in log_notebook("ora_4711.trc")["cells"]][1].splitlines()[2]
        'LOG = "ora_4711.trc"'
    """
    first = ["from iolab.lab import cells", "", f"LOG = {json.dumps(name, ensure_ascii=False)}", "cells.set_up()"]
    first += ["looks = cells.read_logs([LOG])", "cells.show_answer(looks)"]
    texts = [
        "# What does this log say?\n\nIts findings, where its time went, its charts and its frames.",
        "\n".join(first),
        "cells.show_times(looks)",
        "cells.show_charts(looks)",
        "cells.show_frames(looks)",
        "## Your own question\n\nEach frame of the log, for Polars; `iolab.metrics` and `iolab.charts` take them.",
        "(seen,) = looks.values()\nframes = seen.log.frames()\nlist(frames)",
    ]
    cells: list[dict[str, Any]] = []
    for number, text in enumerate(texts):
        is_text = text.startswith("#")
        cell: dict[str, Any] = {
            "cell_type": "markdown" if is_text else "code",
            "id": f"cell-{number:02}",
            "metadata": {},
        }
        cells.append(cell | {"source": text} | ({} if is_text else {"execution_count": None, "outputs": []}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def refused(reason: str) -> RefusedError:
    """A refusal; Polars, which the module of errors imports, is not loaded by a server that refuses nothing."""
    from logframe.errors import RefusedError  # noqa: PLC0415 - see above

    return RefusedError(reason)


def find_served(root: Path, path: object, *, is_folder: bool = False, is_hidden_allowed: bool = False) -> Path:
    """The file, or the folder, that a path of JupyterLab names.

    Args:
        root: The folder that is served.
        path: As the browser sent it.
        is_folder: A folder is meant.
        is_hidden_allowed: Whether the server shows hidden files.

    Raises:
        RefusedError: It names none of that folder.

    Examples:
        >>> find_served(Path("sample_data"), "README.md").name
        'README.md'
        >>> find_served(Path("sample_data"), "../pyproject.toml")
        Traceback (most recent call last):
        logframe.errors.RefusedError: the path leaves the folder that JupyterLab serves
    """
    if not isinstance(path, str) or not path or "\0" in path:
        raise refused("no file is named")
    parts = PurePosixPath(posixpath.normpath(path)).parts
    if PurePosixPath(path).is_absolute() or Path(path).is_absolute() or Path(path).drive:
        raise refused("the path is absolute; only files of the folder that JupyterLab serves are read")
    if ".." in parts:  # those in the middle are gone
        raise refused("the path leaves the folder that JupyterLab serves")
    served = root.resolve()
    try:
        found = served.joinpath(*parts).resolve(strict=True)
        mode = found.stat().st_mode
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path cannot be followed"
        raise refused(f"{PurePosixPath(path).name}: {reason}") from error
    if not found.is_relative_to(served):
        raise refused(f"{PurePosixPath(path).name} is a link that leaves the folder that JupyterLab serves")
    if not is_hidden_allowed and any(part.startswith(".") for part in (*parts, *found.relative_to(served).parts)):
        raise refused("hidden files are not read")
    if not (S_ISDIR(mode) if is_folder else S_ISREG(mode)):
        raise refused(f"{PurePosixPath(path).name} is not a {'folder' if is_folder else 'file'}")
    return found


class Pages:
    """The pages of a server.

    Args:
        readers: How many processes read at the same time.
        memory_bytes: What one may allocate.
        timeout_s: How long one may read.
        command: What reads a log; takes the log, ``-o`` and the page.
    """

    def __init__(
        self,
        *,
        readers: int = READERS,
        memory_bytes: int = MEMORY_BYTES,
        timeout_s: float = TIMEOUT_S,
        command: Sequence[str] = _READER,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="iolab-pages-", ignore_cleanup_errors=True)
        self._pages: dict[str, Page] = {}
        self._free = asyncio.Semaphore(readers)
        self._memory_bytes, self._timeout_s, self._command = memory_bytes, timeout_s, tuple(command)

    def open(self, *logs: Path) -> Page:
        """The page of a log, or of two, as they are now: one that is there already, or a new one that is being written.

        Raises:
            RefusedError: The two logs are one, or too many logs are waiting.
        """
        if len(set(logs)) < len(logs):
            raise refused(f"{logs[0].name} cannot be compared with itself")
        keys = [*map(_key, logs)]
        for page in self._pages.values():
            if page.keys == keys and page.state != "failed":
                page.viewers += 1
                return page
        if sum(page.state == "waiting" for page in self._pages.values()) >= MOST_WAITING:
            raise refused(f"{MOST_WAITING} logs are waiting to be read; close some of their tabs")
        for old in [page for page in self._pages.values() if page.state in {"done", "failed"}][: -MOST_KEPT or None]:
            self._remove(old)
        page = Page(secrets.token_urlsafe(16), logs, keys, Path(tempfile.mkdtemp(dir=self._folder.name)))
        page.began = time.monotonic()
        self._pages[page.id] = page
        page.task = asyncio.get_running_loop().create_task(self._write(page))
        return page

    def get(self, name: str) -> Page | None:
        """A page by its name; None where it is not kept any more."""
        return self._pages.get(name)

    def leave(self, page: Page) -> None:
        """A tab does not show the page any more; without a tab a reading ends, and a finished page is kept."""
        page.viewers -= 1
        if page.viewers <= 0 and page.state in {"waiting", "reading"}:
            self._remove(page)

    def describe(self, page: Page) -> dict[str, Any]:
        """The state of a page, for the browser."""
        is_over = page.state in {"done", "failed"}
        waiting = [one for one in self._pages.values() if one.state in {"waiting", "reading"}]
        return {
            "id": page.id,
            "state": page.state,
            "message": page.message,
            "size": sum(size for _, _, size in page.keys),
            "seconds": round(page.seconds if is_over else time.monotonic() - page.began, 1),
            "before": 0 if page.state != "waiting" else waiting.index(page),
            "is_changed": is_over and _is_changed(page),
        }

    def close(self) -> None:
        """End all reading, and remove all pages."""
        for page in list(self._pages.values()):
            self._remove(page)
        self._folder.cleanup()

    def _remove(self, page: Page) -> None:
        self._pages.pop(page.id, None)
        page.end()
        if page.task is not None and page.process is None:
            page.task.cancel()
        shutil.rmtree(page.folder, ignore_errors=True)

    async def _write(self, page: Page) -> None:
        async with self._free:
            page.began, page.state = time.monotonic(), "reading"
            try:
                message = await self._read(page)
            except Exception as error:  # noqa: BLE001 - whatever it is, the browser waits for an answer, and shows it
                message = str(error) or type(error).__name__
            page.seconds = time.monotonic() - page.began
            # A page is also there where one log of an archive could not be read; it says so itself.
            page.state, page.message = ("done", "") if page.path.is_file() else ("failed", message)

    def _start(self, page: Page) -> subprocess.Popen[bytes]:
        """Start the reader."""
        with (page.folder / "said.txt").open("wb") as said:
            process = subprocess.Popen(  # noqa: S603 - the interpreter that runs this
                [*self._command, *map(str, page.logs), "-o", str(page.path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                cwd=page.folder,
                env={**os.environ, "TMPDIR": str(page.folder)},
                start_new_session=True,
            )
        self._limit(process.pid)
        return process

    async def _read(self, page: Page) -> str:
        """Run the reader; the reason where it wrote no page."""
        page.process = self._start(page)
        try:
            code = await asyncio.to_thread(page.process.wait, self._timeout_s)
        except subprocess.TimeoutExpired:
            page.end()
            await asyncio.to_thread(page.process.wait)
            return (
                f"{page.name} was not read within {self._timeout_s / 60:,.3g} minutes. "
                f"In a terminal there is no limit: iolab report {' '.join(log.name for log in page.logs)} -o page.html"
            )
        said = (page.folder / "said.txt").read_text(encoding="utf-8", errors="replace")
        if code < 0 or said.rstrip().endswith("MemoryError"):
            ended = f"was ended by signal {-code}; it may need" if code < 0 else "needs"
            return (
                f"{page.name}: the reader {ended} more than the "
                f"{self._memory_bytes / 2**30:,.3g} GiB of memory that it may take"
            )
        for log in page.logs:
            said = said.replace(str(log), log.name)
        _, is_said, reason = said.rpartition("iolab: ")
        if not is_said:  # a traceback, or nothing
            reason = f"{page.name}: the reader failed: {(reason.strip().splitlines() or [f'exit code {code}'])[-1]}"
        return reason.strip()

    def _limit(self, process: int) -> None:
        """Set the limits of a process, where the system can do so from outside."""
        try:
            import resource  # noqa: PLC0415 - not on Windows
        except ImportError:
            return
        if hasattr(resource, "prlimit"):
            limits = {
                resource.RLIMIT_DATA: self._memory_bytes,
                resource.RLIMIT_CORE: 0,
                # The process ends by itself where this one was killed and cannot end it.
                resource.RLIMIT_CPU: int(self._timeout_s * (os.cpu_count() or 1)) + 1,
            }
            for limit, most in limits.items():
                with suppress(ProcessLookupError, ValueError, PermissionError):
                    _, hard = resource.prlimit(process, limit)
                    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
                    resource.prlimit(process, limit, (least, least))


def _key(log: Path) -> tuple[str, int, int]:
    """What tells whether a log has changed."""
    found = log.stat()
    return str(log), found.st_mtime_ns, found.st_size


def _is_changed(page: Page) -> bool:
    """Whether a log is no longer what was read, or is gone."""
    try:
        return [*map(_key, page.logs)] != page.keys
    except OSError:
        return True
