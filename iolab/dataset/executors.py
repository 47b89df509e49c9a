"""Where jobs run: in this process, in processes of this machine, or on a Dask cluster.

An executor runs one function with one argument at a time in each of its processes, and reports what ended.  A process
that ends takes one job with it, which is reported as `Lost`; its place is taken by a new process.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final, Protocol

from logframe.errors import LogError
from logframe.processes import one_thread_each

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from iolab.dataset.dask_cluster import DaskCluster

#: A process checks so often whether the one that started it is still there, in seconds.
_LOOKS: Final = 1.0


class UnreachableError(LogError):
    """The cluster cannot be reached."""


class LostError(Exception):
    """The process of a job ended before the job did."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A job that ended.

    Attributes:
        task: What was given to `Executor.submit` to know it by.
        result: What the function returned.
        error: What it raised, or `LostError`.
        seconds: How long it took, with the time that it waited in the executor.
    """

    task: Any
    result: Any
    error: BaseException | None
    seconds: float


class Executor(Protocol):
    """Runs jobs."""

    @property
    def is_own_process(self) -> bool:
        """Whether jobs run in processes of their own."""

    @property
    def workers(self) -> int:
        """How many jobs run at a time."""

    @property
    def free(self) -> int:
        """How many jobs may be submitted now."""

    @property
    def running(self) -> int:
        """How many jobs were submitted and are not reported yet."""

    def submit(self, task: object, function: Callable[..., Any], *arguments: object) -> None:
        """Start a job."""

    def wait(self, seconds: float) -> list[Outcome]:
        """The jobs that ended; an empty list after this many seconds without one."""

    def close(self) -> None:
        """End all processes; what still runs is lost."""


@dataclass
class Serial:
    """Runs each job at once in this process."""

    is_own_process: bool = False
    workers: int = 1
    _ended: list[Outcome] = field(default_factory=list)

    @property
    def free(self) -> int:
        """One job at a time."""
        return 0 if self._ended else 1

    @property
    def running(self) -> int:
        """The jobs that are not reported yet."""
        return len(self._ended)

    def submit(self, task: object, function: Callable[..., Any], *arguments: object) -> None:
        """Run a job."""
        start = time.monotonic()
        try:
            result, error = function(*arguments), None
        except Exception as raised:  # noqa: BLE001 - reported as an outcome
            result, error = None, raised
        self._ended.append(Outcome(task, result, error, time.monotonic() - start))

    def wait(self, seconds: float) -> list[Outcome]:
        """The job that ended."""
        del seconds  # there is nothing to wait for
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Nothing is to be ended."""


class Processes:
    """Processes of this machine, each of them a pool of its own, so that the end of one is the end of one job.

    Args:
        count: How many; None for one a processor.
    """

    is_own_process = True

    def __init__(self, count: int | None = None) -> None:
        self.workers = count or os.cpu_count() or 1
        self._pools: list[tuple[ProcessPoolExecutor, int]] = []
        self._idle: list[int] = list(range(self.workers))
        self._started: dict[int, tuple[object, float]] = {}
        self._ended: queue.SimpleQueue[tuple[int, Future[Any]]] = queue.SimpleQueue()
        self._pools = [self._start() for _ in range(self.workers)]

    @staticmethod
    def _start() -> tuple[ProcessPoolExecutor, int]:
        pool = ProcessPoolExecutor(1, get_context("spawn"), _prepare, (os.getpid(),))
        with one_thread_each():
            number: Future[int] = pool.submit(os.getpid)
        try:
            return pool, number.result()
        except BrokenExecutor as error:
            raise LogError(
                "a process cannot be started: a script needs if __name__ == '__main__', and code that is read from the "
                "standard input cannot start any; executor='serial' reads in this process"
            ) from error

    @property
    def free(self) -> int:
        """The processes without a job."""
        return len(self._idle)

    @property
    def running(self) -> int:
        """The jobs that are not reported yet."""
        return len(self._started)

    def submit(self, task: object, function: Callable[..., Any], *arguments: object) -> None:
        """Start a job in a process that has none."""
        place = self._idle.pop()
        self._started[place] = task, time.monotonic()
        try:
            future = self._pools[place][0].submit(function, *arguments)
        except BrokenExecutor:  # the process ended while it had no job
            self._pools[place] = self._start()
            future = self._pools[place][0].submit(function, *arguments)
        future.add_done_callback(lambda done: self._ended.put((place, done)))

    def wait(self, seconds: float) -> list[Outcome]:
        """The jobs that ended."""
        found = []
        with suppress(queue.Empty):
            found.append(self._outcome(*self._ended.get(timeout=seconds)))
            while True:
                found.append(self._outcome(*self._ended.get_nowait()))
        return found

    def _outcome(self, place: int, future: Future[Any]) -> Outcome:
        task, start = self._started.pop(place)
        self._idle.append(place)
        seconds = time.monotonic() - start
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            self._pools[place][0].shutdown(wait=False)
            self._pools[place] = self._start()
            return Outcome(task, None, LostError(str(error)), seconds)
        return Outcome(task, None if error else future.result(), error, seconds)

    def close(self) -> None:
        """End all processes."""
        is_busy = bool(self._started)
        for pool, number in self._pools:
            if is_busy:
                with suppress(ProcessLookupError):
                    os.kill(number, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows has one signal that ends
            pool.shutdown(wait=True, cancel_futures=True)
        self._pools = []


def _prepare(parent: int) -> None:
    """Prepare a process: the one that started it handles Ctrl-C, and when that one has ended, this one ends, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def open_executor(text: str | Executor) -> Executor:
    """The executor of a description.

    Args:
        text: ``processes``, ``processes:4``, ``serial``, ``dask-local``, ``dask-local:4`` or ``dask://host:port``; or
            an `Executor`.

    Raises:
        LogError: It is not one of these.

    Examples:
        >>> open_executor("serial").workers
        1
    """
    if not isinstance(text, str):
        return text
    kind, _, rest = text.partition(":")
    if kind == "serial" and not rest:
        return Serial()
    if kind in {"processes", "dask-local"} and (not rest or (rest.isdecimal() and int(rest))):
        count = int(rest) if rest else None
        return Processes(count) if kind == "processes" else _dask().local(count)
    if kind == "dask" and rest.startswith("//") and rest.rpartition(":")[2].isdecimal():
        return _dask().at(f"tcp:{rest}")
    raise LogError(
        f"no executor {text!r}; there are processes, processes:N, serial, dask-local, dask-local:N and dask://HOST:PORT"
    )


def _dask() -> type[DaskCluster]:
    from iolab.dataset.dask_cluster import DaskCluster  # noqa: PLC0415 - its library is optional

    return DaskCluster
