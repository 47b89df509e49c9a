"""Where jobs run: in this process, in processes of this machine, or on a Dask cluster.

An executor runs one function with one argument at a time in each of its processes, and reports what ended.  A process
that ends takes one job with it, which is reported as `Lost`; its place is taken by a new process.

A Dask cluster is used through the executor of its client (`concurrent.futures`).
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final, Self

from logframe.errors import LogError
from logframe.extras import require
from logframe.processes import one_thread_each

if TYPE_CHECKING:
    from collections.abc import Callable


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


class Executor(ABC):
    """Runs jobs, as futures of `concurrent.futures`.

    Attributes:
        is_own_process: Jobs run in processes of their own.
        workers: How many jobs run at a time.
    """

    is_own_process: bool = True
    workers: int = 1

    def __init__(self) -> None:
        self._started: dict[Future[Any], tuple[object, float]] = {}
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    @property
    def free(self) -> int:
        """How many jobs may be submitted now."""
        return max(self.workers - len(self._started), 0)

    @property
    def running(self) -> int:
        """How many jobs were submitted and are not reported yet."""
        return len(self._started)

    def submit(self, task: object, function: Callable[..., Any], *arguments: object) -> None:
        """Start a job."""
        at = time.monotonic()
        future = self._start(function, *arguments)
        self._started[future] = task, at
        future.add_done_callback(self._ended.put)

    def wait(self, seconds: float) -> list[Outcome]:
        """The jobs that ended; an empty list after this many seconds without one."""
        found = []
        with suppress(queue.Empty):
            found.append(self._outcome(self._ended.get(timeout=seconds)))
            while True:
                found.append(self._outcome(self._ended.get_nowait()))
        return found

    def _outcome(self, future: Future[Any]) -> Outcome:
        task, start = self._started.pop(future)
        error = self._error(future)
        return Outcome(task, None if error else future.result(), error, time.monotonic() - start)

    @abstractmethod
    def _start(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Start a job."""

    def _error(self, future: Future[Any]) -> BaseException | None:
        """What a job raised, or `LostError`."""
        return future.exception()

    @abstractmethod
    def close(self) -> None:
        """End all processes; what still runs is lost."""


class Serial(Executor):
    """Runs each job at once in this process."""

    is_own_process = False

    def _start(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:  # noqa: BLE001 - reported as an outcome
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing is to be ended."""


class Processes(Executor):
    """Processes of this machine, each of them a pool of its own, so that the end of one is the end of one job.

    The pools of libraries take the end of a process for the end of all jobs: with 2 processes, pebble 5.2 raised
    `BrokenProcessPool` for every job after 1 to 3 kills in 4 of 4 trials (a process that ends while it has no job), and
    loky says so of its executor.

    Args:
        count: How many; None for one a processor.
    """

    def __init__(self, count: int | None = None) -> None:
        super().__init__()
        self.workers = count or os.cpu_count() or 1
        self._pools = [self._pool() for _ in range(self.workers)]
        self._places: dict[Future[Any], int] = {}

    @staticmethod
    def _pool() -> tuple[ProcessPoolExecutor, int]:
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

    def _start(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        place = min(set(range(self.workers)) - set(self._places.values()))
        try:
            future = self._pools[place][0].submit(function, *arguments)
        except BrokenExecutor:  # the process ended while it had no job
            self._pools[place] = self._pool()
            future = self._pools[place][0].submit(function, *arguments)
        self._places[future] = place
        return future

    def _error(self, future: Future[Any]) -> BaseException | None:
        place, error = self._places.pop(future), future.exception()
        if not isinstance(error, BrokenExecutor):
            return error
        self._pools[place][0].shutdown(wait=False)
        self._pools[place] = self._pool()
        return LostError(str(error))

    def close(self) -> None:
        """End all processes."""
        for pool, number in self._pools:
            if self._started:
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


#: How long a cluster is waited for, in seconds.
_PATIENCE: Final = 30.0
#: The number of workers is asked for so often, in seconds.
_COUNTED: Final = 5.0
#: A cluster without a worker for this many seconds is given up.
_ALONE: Final = 120.0


class DaskCluster(Executor):
    """Jobs on a Dask cluster, one at a time in each thread of its workers.

    A job whose worker ends is reported as lost; Dask starts another worker where it has a nanny.  Workers with one
    thread each keep the limit of time for a source, and remove temporary files after each source.

    Args:
        client: A `distributed.Client`.
        closes: What is closed at the end, the client among them.
    """

    def __init__(self, client: Any, closes: tuple[Any, ...]) -> None:  # noqa: ANN401 - Dask is optional
        super().__init__()
        self._client = client
        self._executor = client.get_executor(pure=False, retries=0)
        self._closes = closes
        self._alive = time.monotonic()
        self._counted = 0.0
        if self._count() == 0:
            self.close()
            raise UnreachableError("the cluster has no worker")

    @classmethod
    def local(cls, count: int | None) -> Self:
        """A cluster of this machine.

        Args:
            count: Workers; None for one a processor.
        """
        dask, distributed = require("dask"), require("distributed")
        settings = ExitStack()
        # A worker that takes longer to start again, as on a busy machine, would be dropped, and no other one started.
        settings.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"}))
        # Nothing reads the samples of Dask's profiler.
        with dask.config.set(
            {"distributed.scheduler.allowed-failures": 0, "distributed.worker.profile.enabled": False}
        ):
            cluster = distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
                env={"POLARS_MAX_THREADS": "1"},
            )
        client = distributed.Client(cluster)
        return cls(client, (client, cluster, settings))

    @classmethod
    def at(cls, address: str) -> Self:
        """A cluster that is there.

        Args:
            address: Of its scheduler, such as ``tcp://host:8786``.

        Raises:
            UnreachableError: It does not answer, or has no worker.
        """
        distributed = require("distributed")
        with ExitStack() as settings:
            # What went wrong is an error here; Dask would print a traceback of its own for a scheduler that died.
            settings.enter_context(distributed.utils.silence_logging_cmgr(logging.CRITICAL))
            try:
                client = distributed.Client(address, timeout=_PATIENCE)
            except (OSError, TimeoutError) as error:
                raise UnreachableError(f"the Dask scheduler at {address} does not answer: {error}") from error
            try:
                client.wait_for_workers(1, timeout=_PATIENCE)
            except (OSError, TimeoutError) as error:
                client.close()
                raise UnreachableError(f"the Dask scheduler at {address} has no worker: {error}") from error
            return cls(client, (client, settings.pop_all()))

    def _count(self) -> int:
        """How many jobs run at a time: the threads of all workers, counted now and then."""
        if time.monotonic() - self._counted > _COUNTED:
            self._counted = time.monotonic()
            with suppress(OSError, TimeoutError):
                threads = self._client.nthreads().values()
                self.workers = sum(threads)
                self.is_own_process = set(threads) <= {1}
            if self.workers:
                self._alive = time.monotonic()
        return self.workers

    @property
    def free(self) -> int:
        """How many jobs may be submitted now: one a thread, so that the end of a worker is the end of one job."""
        return max(self._count() - len(self._started), 0 if self._started else 1)

    def _start(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def wait(self, seconds: float) -> list[Outcome]:
        """The jobs that ended.

        Raises:
            UnreachableError: The scheduler does not answer any more, or has had no worker for a while.
        """
        found = super().wait(seconds)
        if not found and self._client.status not in {"running", "connecting"}:
            raise self._unreachable()
        if not self._count() and time.monotonic() - self._alive > _ALONE:
            raise UnreachableError(
                f"the cluster has had no worker for {_ALONE:.0f} s; what is committed stays: --resume goes on"
            )
        return found

    def _unreachable(self) -> UnreachableError:
        return UnreachableError(
            "the Dask scheduler does not answer any more; what is committed stays: --resume goes on"
        )

    def _error(self, future: Future[Any]) -> BaseException | None:
        if future.cancelled() or self._client.status not in {"running", "connecting"}:
            raise self._unreachable()
        error = future.exception()
        return LostError(str(error)) if isinstance(error, require("distributed").KilledWorker) else error

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        for future in self._started:
            with suppress(Exception):
                future.cancel()
        for one in self._closes:
            with suppress(Exception):
                one.close()
