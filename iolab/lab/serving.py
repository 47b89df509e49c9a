"""A JupyterLab of its own for a test or a measurement: with a port, settings and a token of its own."""

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from iolab.lab.copies import lab_command

_PATIENCE_S: Final = 180.0
_SETTINGS: Final = ("CONFIG", "DATA", "RUNTIME")


@contextmanager
def serve_lab(
    folder: Path, settings: Path, *, token: str, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The address of a JupyterLab on a folder, on a free port of this machine; it ends with the context.

    Args:
        folder: What it shows.
        settings: Where it keeps its settings and its log; the user's own are not touched.
        token: What a request must bring along.
        environment: Variables besides those of this process.

    Yields:
        The address, once the server answers.

    Raises:
        TimeoutError: If it does not answer within three minutes; the message has the end of its log.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(settings / name.lower()) for name in _SETTINGS}
    command = lab_command(folder, browser=False, port=port)
    command += [f"--IdentityProvider.token={token}", f"--LabApp.workspaces_dir={settings / 'workspaces'}"]
    log = settings / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(command, env={**os.environ, **own, **(environment or {})}, stdout=out, stderr=out)  # noqa: S603 - the interpreter that runs this
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(f"{url}/api?token={token}", server, log)
            yield url
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers.

    Raises:
        TimeoutError: If it does not, or has ended.
    """
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end and server.poll() is None:
        with suppress(OSError), urllib.request.urlopen(url, timeout=2):  # noqa: S310 - of this machine
            return
        time.sleep(0.5)
    raise TimeoutError(f"JupyterLab does not answer: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
