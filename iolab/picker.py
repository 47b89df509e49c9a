"""Upload in a notebook: files of any size are streamed to disk in pieces.

picker = iolab.LogPicker()
picker                  # drop files on it, or choose them
picker.paths            # where they are now
"""

import atexit
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, Final

import anywidget
import traitlets

from iolab.kinds import describe

#: A piece travels in one message; Jupyter's server cuts messages above 10 MiB.
PIECE_BYTES: Final = 4 * 2**20
_MAX_NAME: Final = 120
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


def safe_name(name: str) -> str:
    r"""A file name that stays in its folder, whatever was sent.

    >>> safe_name("../../etc/passwd"), safe_name("C:\\logs\\awr.html"), safe_name(".."), safe_name("a\x00b.log")
    ('passwd', 'awr.html', 'log', 'a_b.log')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = _UNSAFE.sub("_", last).strip(". ")
    stem, dot, suffix = kept.rpartition(".")
    if len(kept) > _MAX_NAME:
        kept = f"{stem[: _MAX_NAME - 20]}{dot}{suffix[:19]}" if dot else kept[:_MAX_NAME]
    return kept or "log"


def free_path(folder: Path, name: str) -> Path:
    """A path in the folder that no file has: the name, or the name with a number.

    >>> free_path(Path("/no/such/folder"), "awr.html").name
    'awr.html'
    """
    path = folder / safe_name(name)
    stem, suffix = path.stem, path.suffix
    number = 2
    while path.exists():
        path = folder / f"{stem}-{number}{suffix}"
        number += 1
    return path


@dataclass
class _Upload:
    """A file on its way."""

    path: Path
    size: int
    file: BinaryIO
    received: int = 0


class Receiver:
    """The kernel's side of uploads: messages in, answers out; knows no widget.

    Args:
        folder: Where the files go.
        describe: What a file is, in a few words; raises ValueError for one that is no known log.

    >>> receiver = Receiver(Path("/no/such/folder"))
    >>> receiver.receive({"type": "cancel", "id": "1"}, [])
    {'id': '1', 'type': 'cancelled'}
    """

    def __init__(self, folder: Path, describe: Callable[[Path], str] = describe) -> None:
        self.folder = folder
        self.done: dict[str, Path] = {}
        self._describe = describe
        self._open: dict[str, _Upload] = {}

    def receive(self, message: dict[str, Any], buffers: list[Any]) -> dict[str, Any]:
        """The answer to a message: ``next`` with an offset, ``done``, ``cancelled`` or ``failed``."""
        key = str(message.get("id"))
        try:
            return {"id": key, **self._answer(key, message, buffers)}
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._drop(key)
            return {"type": "failed", "id": key, "message": _reason(error)}

    def close(self) -> None:
        """Stop what is on its way, and forget it."""
        for key in list(self._open):
            self._drop(key)

    def _answer(self, key: str, message: dict[str, Any], buffers: list[Any]) -> dict[str, Any]:
        match message.get("type"):
            case "open":
                return self._start(key, str(message["name"]), int(message["size"]))
            case "piece":
                return self._append(key, int(message["offset"]), buffers[0] if buffers else b"")
            case "ask":
                if key in self.done:
                    return self._said(key)
                return {"type": "next", "offset": self._open[key].received}
            case "cancel":
                self._drop(key)
                return {"type": "cancelled"}
            case other:
                raise ValueError(f"unknown message {other!r}")

    def _start(self, key: str, name: str, size: int) -> dict[str, Any]:
        self._drop(key)
        if size < 0:
            raise ValueError("a file cannot have fewer than no bytes")
        room = shutil.disk_usage(self.folder).free
        if size > room:
            raise OSError(f"the file has {size:,} bytes and the disk room for {room:,}")
        path = free_path(self.folder, name)
        self._open[key] = _Upload(path, size, path.open("xb"))
        return self._finish(key) if size == 0 else {"type": "next", "offset": 0}

    def _append(self, key: str, offset: int, piece: Any) -> dict[str, Any]:  # noqa: ANN401 - bytes or a memoryview
        if key in self.done:
            return self._said(key)
        upload = self._open[key]
        # A piece that was sent twice, because its answer was lost, is not written twice.
        if offset == upload.received:
            upload.file.write(piece)
            upload.received += len(piece)
            if upload.received > upload.size:
                raise ValueError("more bytes came than the file has")
        if upload.received == upload.size:
            return self._finish(key)
        return {"type": "next", "offset": upload.received}

    def _finish(self, key: str) -> dict[str, Any]:
        upload = self._open[key]
        upload.file.close()
        what = self._describe(upload.path)  # raises for what is no log: the file is dropped then
        del self._open[key]
        self.done[key] = upload.path
        return {"type": "done", "name": upload.path.name, "what": what}

    def _said(self, key: str) -> dict[str, Any]:
        return {"type": "done", "name": self.done[key].name, "what": self._describe(self.done[key])}

    def _drop(self, key: str) -> None:
        upload = self._open.pop(key, None)
        if upload is not None:
            upload.file.close()
            upload.path.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    """One line for a reader."""
    if isinstance(error, KeyError):
        return "this upload is not known here: the kernel was restarted; choose the file again"
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class LogPicker(anywidget.AnyWidget):
    """A field to drop logs on; they are streamed to a folder that goes away with the kernel.

    Attributes:
        paths: Where the files are, in the order in which they came.
        folder: The folder that holds them.
    """

    _esm = files("iolab").joinpath("picker.js").read_text(encoding="utf-8")
    _css = files("iolab").joinpath("picker.css").read_text(encoding="utf-8")
    piece_bytes = traitlets.Int(PIECE_BYTES).tag(sync=True)
    paths = traitlets.List(traitlets.Instance(Path))

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - traits of the widget
        super().__init__(**options)
        self.folder = Path(tempfile.mkdtemp(prefix="iolab-"))
        self._receiver = Receiver(self.folder)
        atexit.register(self._remove)
        self.on_msg(self._handle)

    @property
    def path(self) -> Path | None:
        """The file that came last, or None."""
        return self.paths[-1] if self.paths else None

    def _handle(self, _: object, message: dict[str, Any], buffers: list[Any]) -> None:
        answer = self._receiver.receive(message, buffers)
        self.paths = list(self._receiver.done.values())
        self.send(answer)

    def _remove(self) -> None:
        self._receiver.close()
        shutil.rmtree(self.folder, ignore_errors=True)
