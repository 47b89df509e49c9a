"""An object store on this machine, and one between it and a client that fails as those of the cloud do."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager, redirect_stderr, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from threading import Thread
from typing import TYPE_CHECKING

from moto.server import ThreadedMotoServer

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is put before the answer of each kind of fault, of 1.
BUSY, FAILED, LOST, SLOW = 0.05, 0.07, 0.03, 0.3


@contextmanager
def object_store() -> Iterator[str]:
    """The address of an object store."""
    with redirect_stderr(StringIO()):
        found = ThreadedMotoServer(port=0, verbose=False)
        found.start()
        host, port = found.get_host_and_port()
        yield f"http://{host}:{port}"
        found.stop()


@contextmanager
def failing(address: str, seed: int | None = None) -> Iterator[str]:
    """The address of a store whose requests fail by chance.

    Some are refused with 503.  Of writes, some are done and answered with 500, or not at all.  Lists are slow.

    Args:
        address: Of the store itself.
        seed: Of the chance; None for a store whose first write of each key is done and answered with 500.
    """
    draw = random.Random(seed)  # noqa: S311 - a case, not a secret
    written: set[str] = set()
    target = address.removeprefix("http://")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

        def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in {"transfer-encoding", "connection", "date", "server", "content-length"}:
                    self.send_header(name, value)
            length = dict(headers).get("Content-Length", "0") if self.command == "HEAD" else str(len(body))
            self.send_header("Content-Length", length)
            self.end_headers()
            self.wfile.write(body)

        def _any(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            chance = draw.random() if seed is not None else 1.0 if self.path in written else BUSY
            if self.command == "PUT":
                written.add(self.path)
            if chance < BUSY:
                self._answer(503, [], b"<Error><Code>SlowDown</Code><Message>busy</Message></Error>")
                return
            if "list-type" in self.path and chance < SLOW:
                time.sleep(chance)
            link = HTTPConnection(target)
            link.request(self.command, self.path, data, dict(self.headers))
            found = link.getresponse()
            body = found.read()
            link.close()
            if self.command == "PUT" and chance < BUSY + FAILED:
                self._answer(500, [], b"<Error><Code>InternalError</Code><Message>try again</Message></Error>")
            elif self.command == "PUT" and chance < BUSY + FAILED + LOST:
                self.close_connection = True
            else:
                self._answer(found.status, found.getheaders(), body)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _any  # noqa: N815 - names of the library

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that goes away is no fault."""

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        with suppress(OSError):
            server.shutdown()
