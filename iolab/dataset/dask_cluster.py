"""Jobs on a Dask cluster, through the executor of its client (`concurrent.futures`)."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final, Self

from iolab.dataset.executors import Executor, LostError, Outcome, UnreachableError
from logframe.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

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
