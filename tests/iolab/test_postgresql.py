"""A server under strace: what is said of a process that commits agrees with the counters of the server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from iolab.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

#: So many transactions are committed under strace.
COMMITS = 60
#: From this version on the writes of the log are counted with all others.
IN_STAT_IO = 180000
COUNTERS = (
    "select wal_write, wal_sync, wal_write_time, wal_sync_time from pg_stat_wal",
    "select sum(writes), sum(fsyncs), sum(write_time), sum(fsync_time) from pg_stat_io where object = 'wal'",
)
CONFIGURATION = """
listen_addresses = ''
track_wal_io_timing = on
autovacuum = off
checkpoint_timeout = 1h
wal_level = minimal
max_wal_senders = 0
"""
#: How the log is made durable: buffered with a flush, or with O_DIRECT and O_DSYNC.
METHODS = ("fdatasync", "open_datasync")


class Counted(NamedTuple):
    """What a server counts of its log, in milliseconds the times."""

    writes: int
    flushes: int
    write_ms: float
    flush_ms: float


class Server:
    """A server of PostgreSQL in a folder of its own.

    Args:
        folder: an empty one.
        binaries: the folder of its programs.
        method: `wal_sync_method`.
    """

    def __init__(self, folder: Path, binaries: Path, method: str) -> None:
        self.folder = folder
        self._binaries = binaries
        # a server does not run as root
        self._as_user = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups") * (os.geteuid() == 0)
        if self._as_user:
            shutil.chown(folder, "postgres", "postgres")
        self._run("initdb", "-D", folder / "data", "-A", "trust", "-U", "postgres", "-N")
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"{CONFIGURATION}unix_socket_directories = '{folder}'\nwal_sync_method = {method}\n")
        self.control("start")

    def _run(self, program: str, *words: object) -> None:
        command = [*self._as_user, str(self._binaries / program), *map(str, words)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            pytest.skip(f"{program} does not run here: {(done.stderr or done.stdout).strip().splitlines()[-1]}")

    def control(self, what: str) -> None:
        """Start or stop it."""
        # its output would stay open with the server
        words = ("-D", self.folder / "data", "-w", "-m", "fast", "-l", self.folder / "server.log", what)
        command = [*self._as_user, str(self._binaries / "pg_ctl"), *map(str, words)]
        done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode:
            pytest.skip(f"the server does not {what} here")

    def client(self, *words: str) -> list[str]:
        """The command of a client."""
        return ["psql", "-h", str(self.folder), "-U", "postgres", "-XqAt", *words]

    def ask(self, statement: str) -> str:
        """What a statement gives."""
        return subprocess.run(self.client("-c", statement), check=True, capture_output=True, text=True).stdout.strip()

    def counted(self) -> Counted:
        """Its counters of the log."""
        statement = COUNTERS[int(self.ask("show server_version_num")) >= IN_STAT_IO]
        writes, flushes, write_ms, flush_ms = self.ask(statement).split("|")
        return Counted(int(writes), int(flushes), float(write_ms), float(flush_ms))


@pytest.fixture(scope="module")
def binaries() -> Path:
    """The programs of the newest server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    missing = [name for name in ("strace", "psql", "setpriv") if shutil.which(name) is None]
    if not found or missing:
        pytest.skip(f"needs PostgreSQL and strace{': no ' + missing[0] if missing else ''}")
    return found[-1].parent


@pytest.fixture(params=METHODS)
def server(request: pytest.FixtureRequest, binaries: Path) -> Iterator[Server]:
    """A running server, one for each method."""
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        started = Server(Path(folder), binaries, request.param)
        yield started
        started.control("stop")


def commit(server: Server, log: Path) -> tuple[Counted, Counted]:
    """Commit transactions, the process of the session under strace; the counters before and after."""
    server.ask("create table t(id int primary key, v text)")
    server.ask("insert into t select g, repeat('x', 200) from generate_series(1, 1000) g")
    server.ask("checkpoint")
    # a session that has read the table: what it does below is to write
    with subprocess.Popen(server.client(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        assert session.stdin is not None
        assert session.stdout is not None
        print("select pg_backend_pid();", "select count(v) from t where id < 0;", file=session.stdin, flush=True)
        process = session.stdout.readline().strip()
        session.stdout.readline()
        tracer = subprocess.Popen(
            ["strace", "-f", "-ttt", "-T", "-yy", "-v", "-o", log, "-p", process], stderr=subprocess.PIPE, text=True
        )
        assert tracer.stderr is not None
        if "attached" not in (said := tracer.stderr.readline()):
            tracer.wait()
            pytest.skip(f"a process cannot be traced here: {said.strip()}")
        before = server.counted()
        for number in range(1, COMMITS + 1):
            print("update t set v = repeat('y', 200) where id =", f"{number};", file=session.stdin)
        print("select 'done';", file=session.stdin, flush=True)
        assert session.stdout.readline().strip() == "done"
        session.stdin.close()
        session.wait()
        tracer.stderr.close()
        tracer.wait()
    for _ in range(50):  # the counters of a session are there soon after its end
        if (after := server.counted()).writes >= before.writes + COMMITS:
            break
        time.sleep(0.1)
    return before, after


def test_commits(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Writes and flushes are those that the server counts, their times no longer, and they come before the reads."""
    log = tmp_path / "backend.strace"
    before, after = commit(server, log)
    assert main(["show", "--figures", "--json", str(log)]) == 0
    shown = json.loads(capsys.readouterr().out)
    figures = {row["metric"]: row for row in shown["figures"]}
    of_log = [one["sentence"] for one in shown["findings"] if one["name"] == "write_latency"]
    writes, flushes = after.writes - before.writes, after.flushes - before.flushes

    assert writes == COMMITS
    assert (figures["writes"]["lo"], figures["writes"]["hi"]) == (writes, writes)
    assert figures["write_latency_us_mean (sync)"]["lo"] * writes <= (after.write_ms - before.write_ms) * 1e3 + writes
    assert of_log[0].startswith(f"{writes} writes to `")
    if flushes:
        assert (figures["flushes"]["lo"], figures["flushes"]["hi"]) == (flushes, flushes)
        assert (
            figures["sync_latency_us_mean (sync)"]["lo"] * flushes <= (after.flush_ms - before.flush_ms) * 1e3 + flushes
        )
        assert f"{flushes} flushes of `" in of_log[1]
        assert of_log[1].endswith("one after each write.")
    else:
        assert "flushes" not in figures
        # the server opens its log with both
        said = [line for line in log.read_text().splitlines() if "openat(" in line and "/pg_wal/" in line]
        assert said
        assert all("O_DSYNC|O_DIRECT" in line for line in said)
    # of the calls they come first: waiting for the client is none of the time; what is between calls is the machine's
    first = next(one for one in shown["findings"] if one["part"] not in {None, "between calls"})
    assert first["part"] == ("file flushes" if flushes else "file writes")
    # other sentences about requests come after them; they stand below the part of the time that they explain
    names = [one["name"] for one in shown["findings"]]
    requests = [name for name in names if name in {"write_latency", "async_or_sync", "read_size", "read_latency_class"}]
    assert requests[0] == "write_latency"
