"""Jobs on a Dask cluster, through the futures of its client."""

from __future__ import annotations

import logging
import queue
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final, Self

from iolab.dataset.executors import LostError, Outcome, UnreachableError
from logframe.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable

#: How long a cluster is waited for, in seconds.
_PATIENCE: Final = 30.0
#: The number of workers is asked for so often, in seconds.
_COUNTED: Final = 5.0
#: A cluster without a worker for this many seconds is given up.
_ALONE: Final = 120.0


class DaskCluster:
    """Jobs on a Dask cluster, one at a time in each thread of its workers.

    A job whose worker ends is reported as lost; Dask starts another worker where it has a nanny.  Workers with one
    thread each keep the limit of time for a source, and remove temporary files after each source.

    Args:
        client: A `distributed.Client`.
        closes: What is closed at the end, the client among them.
    """

    def __init__(self, client: Any, closes: tuple[Any, ...]) -> None:  # noqa: ANN401 - Dask is optional
        self._client = client
        self._closes = closes
        self._alive = time.monotonic()
        self._started: dict[int, tuple[object, Any, float]] = {}
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._number = 0
        self._counted = 0.0
        self._workers = 0
        self.is_own_process = True
        if self.workers == 0:
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
        try:
            client = distributed.Client(address, timeout=_PATIENCE)
        except (OSError, TimeoutError) as error:
            raise UnreachableError(f"the Dask scheduler at {address} does not answer: {error}") from error
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, TimeoutError) as error:
            client.close()
            raise UnreachableError(f"the Dask scheduler at {address} has no worker: {error}") from error
        return cls(client, (client,))

    @property
    def workers(self) -> int:
        """How many jobs run at a time: the threads of all workers, counted now and then."""
        if time.monotonic() - self._counted > _COUNTED:
            self._counted = time.monotonic()
            with suppress(OSError, TimeoutError):
                threads = self._client.nthreads().values()
                self._workers = sum(threads)
                self.is_own_process = set(threads) <= {1}
            if self._workers:
                self._alive = time.monotonic()
        return self._workers

    @property
    def free(self) -> int:
        """How many jobs may be submitted now: one a thread, so that the end of a worker is the end of one job."""
        return max(self.workers - len(self._started), 0 if self._started else 1)

    @property
    def running(self) -> int:
        """The jobs that are not reported yet."""
        return len(self._started)

    def submit(self, task: object, function: Callable[..., Any], *arguments: object) -> None:
        """Start a job."""
        self._number += 1
        number = self._number
        future = self._client.submit(function, *arguments, pure=False, retries=0)
        self._started[number] = task, future, time.monotonic()
        future.add_done_callback(lambda _: self._ended.put(number))

    def wait(self, seconds: float) -> list[Outcome]:
        """The jobs that ended.

        Raises:
            UnreachableError: The scheduler does not answer any more, or has had no worker for a while.
        """
        found = []
        with suppress(queue.Empty):
            found.append(self._outcome(self._ended.get(timeout=seconds)))
            while True:
                found.append(self._outcome(self._ended.get_nowait()))
        if not found and self._client.status not in {"running", "connecting"}:
            raise self._unreachable()
        if not self.workers and time.monotonic() - self._alive > _ALONE:
            raise UnreachableError(
                f"the cluster has had no worker for {_ALONE:.0f} s; what is committed stays: --resume goes on"
            )
        return found

    def _unreachable(self) -> UnreachableError:
        return UnreachableError(
            "the Dask scheduler does not answer any more; what is committed stays: --resume goes on"
        )

    def _outcome(self, number: int) -> Outcome:
        killed = require("distributed").KilledWorker
        task, future, start = self._started.pop(number)
        seconds = time.monotonic() - start
        match future.status:
            case "finished":
                return Outcome(task, future.result(), None, seconds)
            case "error":
                error = future.exception()
                return Outcome(task, None, LostError(str(error)) if isinstance(error, killed) else error, seconds)
            case _:
                raise self._unreachable()

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        for _, future, _ in self._started.values():
            with suppress(Exception):
                future.cancel()
        for one in self._closes:
            with suppress(Exception):
                one.close()
