"""Upload in a notebook: files of any size are streamed to disk in pieces.

picker = iolab.LogPicker()
picker                  # drop files on it, or choose them
picker.paths            # where they are now
"""

import asyncio
import atexit
import errno
import re
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO, Final

import anywidget
import traitlets

from iolab.loading import describe
from logframe.errors import LogError
from logframe.locking import lock_file

#: A piece travels in one message; Jupyter's server cuts messages above 10 MiB.
PIECE_BYTES: Final = 4 * 2**20
#: The browser repeats its request for an answer that is later than this.
PATIENCE_MS: Final = 15_000
#: An upload without a message for so long is lost, and its incomplete file is removed.
IDLE_S: Final = 600.0
_MAX_NAME_BYTES: Final = 120
_MAX_SUFFIX_BYTES: Final = 20
_UNSAFE: Final = re.compile(r"[/\\:*?\"<>|]+")
#: Names that Windows gives to devices, with any suffix: a folder with such a file cannot be copied there.
_DEVICES: Final = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
_PREFIX: Final = "iolab-upload-"
#: Held by the kernel that a folder belongs to.
_LOCK: Final = ".in-use"


def safe_name(name: str) -> str:
    r"""A file name that stays in its folder, whatever was sent.

    Examples:
        >>> safe_name("../../etc/passwd"), safe_name("C:\\logs\\awr.html"), safe_name(".."), safe_name("a\x00b.log")
        ('passwd', 'awr.html', 'log', 'a_b.log')
    """
    last = re.split(r"[/\\]", name)[-1]
    # Control characters, marks that turn the direction of text, halves of a character, what Unicode does not know.
    visible = "".join("_" if unicodedata.category(one).startswith("C") else one for one in last)
    kept = _UNSAFE.sub("_", visible).strip(". ")
    if _DEVICES.match(kept):
        kept = f"_{kept}"
    stem, dot, suffix = kept.rpartition(".")
    if len(kept.encode()) > _MAX_NAME_BYTES:
        end = dot + _cut(suffix, _MAX_SUFFIX_BYTES - 1) if stem else ""
        kept = _cut(stem or kept, _MAX_NAME_BYTES - len(end.encode())).rstrip(". ") + end
    return kept or "log"


def _cut(text: str, most: int) -> str:
    """The beginning of a text, of at most this many bytes."""
    return text.encode()[:most].decode(errors="ignore")


def free_path(folder: Path, name: str) -> Path:
    """A path in the folder that no file has: the name, or the name with a number.

    Examples:
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
    heard: float = field(default_factory=time.monotonic)


class Receiver:
    """The kernel's side of uploads: messages in, answers out; knows no widget.

    Args:
        folder: Where the files go.
        describe: What a file is, in a few words; raises ValueError for one that is no known log.

    Examples:
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
        # The answer has the number of its message, so that the browser distinguishes late answers.
        number = {"n": message["n"]} if "n" in message else {}
        upload = self._open.get(key)
        if upload is not None:
            upload.heard = time.monotonic()
        try:
            return {"id": key, **number, **self._answer(key, message, buffers)}
        except Exception as error:  # noqa: BLE001 - whatever it is, the browser waits for an answer, and shows it
            self._drop(key)
            name = "" if upload is None else str(upload.path)
            unknown = {"unknown": True} if isinstance(error, _UnknownUploadError) else {}
            return {"type": "failed", "id": key, **number, **unknown, "message": _reason(error, name)}

    def name_of(self, message: dict[str, Any]) -> str:
        """The name of the file that a message is about; empty where it is not known."""
        upload = self._open.get(str(message.get("id")))
        return str(message.get("name") or ("" if upload is None else upload.path.name))

    def drop_idle(self, idle_s: float = IDLE_S) -> list[str]:
        """The names of uploads of which nothing was heard for so long; what had come of them is removed."""
        now = time.monotonic()
        lost = [key for key, upload in self._open.items() if now - upload.heard >= idle_s]
        names = [self._open[key].path.name for key in lost]
        for key in lost:
            self._drop(key)
        return names

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
                return {"type": "next", "offset": self._known(key).received}
            case "cancel":
                self._drop(key)
                return {"type": "cancelled"}
            case other:
                raise ValueError(f"unknown message {other!r}")

    def _start(self, key: str, name: str, size: int) -> dict[str, Any]:
        self._drop(key)
        if size < 0:
            raise ValueError("a file cannot have fewer than no bytes")
        free = shutil.disk_usage(self.folder).free
        if size > free:
            raise OSError(f"the file has {size:,} bytes and the disk {free:,} free")
        path = free_path(self.folder, name)
        self._open[key] = _Upload(path, size, path.open("xb"))
        return self._finish(key) if size == 0 else {"type": "next", "offset": 0}

    def _append(self, key: str, offset: int, piece: Any) -> dict[str, Any]:  # noqa: ANN401 - bytes or a memoryview
        if key in self.done:
            return self._said(key)
        upload = self._known(key)
        # A piece that was sent twice, because its answer was lost, is not written twice.
        if offset == upload.received:
            upload.file.write(piece)
            upload.received += len(piece)
            if upload.received > upload.size:
                raise ValueError("more bytes came than the file has")
        if upload.received == upload.size:
            return self._finish(key)
        return {"type": "next", "offset": upload.received}

    def _known(self, key: str) -> _Upload:
        if key not in self._open:
            raise _UnknownUploadError(
                "this upload is not known here: it was given up, or the kernel was restarted; choose the file again"
            )
        return self._open[key]

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
            # On a full disk closing fails too, for it writes what is left.
            with suppress(OSError):
                upload.file.close()
            upload.path.unlink(missing_ok=True)


class _UnknownUploadError(LookupError):
    """A message about an upload that this kernel does not know."""


def _reason(error: Exception, path: str) -> str:
    """One line for a reader, without the path in the kernel's folder."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk that the kernel writes to is full; what had come of the file was removed"
    if isinstance(error, OSError) and error.strerror:
        return f"the kernel cannot keep the file: {error.strerror}"
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0].replace(f"{path}: ", "").replace(path, Path(path).name) if path else lines[0]


def remove_left_folders(parent: Path) -> list[Path]:
    """The folders of uploads whose kernel was killed before it could remove them; they are removed now."""
    left = []
    for lock in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("rb") as file:
            lock_file(file, wait=False)  # raises while the kernel lives
            shutil.rmtree(lock.parent, ignore_errors=True)
            left.append(lock.parent)
    return left


class LogPicker(anywidget.AnyWidget):
    """A field to drop logs on; they are streamed to a folder that goes away with the kernel.

    Attributes:
        paths: Where the files are, in the order in which they came.
        folder: The folder that holds them.
        refused: Names of files that were no logs, and why, until a file of that name is accepted.
    """

    _esm = files("iolab.lab").joinpath("picker.js").read_text(encoding="utf-8")
    _css = files("iolab.lab").joinpath("picker.css").read_text(encoding="utf-8")
    piece_bytes = traitlets.Int(PIECE_BYTES).tag(sync=True)
    patience_ms = traitlets.Int(PATIENCE_MS).tag(sync=True)
    paths = traitlets.List(traitlets.Instance(Path))

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - traits of the widget
        super().__init__(**options)
        remove_left_folders(Path(tempfile.gettempdir()))
        made = Path(tempfile.mkdtemp(prefix=f"new-{_PREFIX}"))
        self._lock = (made / _LOCK).open("wb")
        lock_file(self._lock)
        # Only now another kernel may find it: it is locked.
        self.folder = made.rename(made.with_name(made.name.removeprefix("new-")))
        self._receiver = Receiver(self.folder)
        self.refused: dict[str, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        atexit.register(self._remove)
        self.on_msg(self._handle)

    def __repr__(self) -> str:
        return f"LogPicker({len(self.paths)} files in {self.folder.name})" if self.paths else "LogPicker()"

    @property
    def path(self) -> Path | None:
        """The file that came last, or None."""
        return self.paths[-1] if self.paths else None

    def chosen(self, paths: Sequence[str | Path], samples: Sequence[str | Path]) -> list[str | Path]:
        """The paths that are named and the files that were uploaded; samples only where nothing was chosen.

        Raises:
            LogError: Files were uploaded, and none of them is a log: the samples are not what was asked for.

        Examples:
            >>> LogPicker().chosen([], ["sample.txt"])
            ['sample.txt']
        """
        found = [*paths, *self.paths]
        if not found and self.refused:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self.refused.items())
            raise LogError(f"no uploaded file is a log: {reasons}")
        return found or list(samples)

    def _handle(self, _: object, message: dict[str, Any], buffers: list[Any]) -> None:
        name = self._receiver.name_of(message)
        answer = self._receiver.receive(message, buffers)
        if answer["type"] == "failed" and name:
            self.refused[name] = str(answer["message"])
        elif answer["type"] == "done":
            self.refused.pop(name, None)
        self.paths = list(self._receiver.done.values())
        self.send(answer)
        if answer["type"] == "next":
            self._look_again()

    def _look_again(self) -> None:
        """Incomplete uploads are purged even if no further message comes; the kernel's event loop calls this."""
        if self._timer is not None:
            self._timer.cancel()
        with suppress(RuntimeError):
            self._timer = asyncio.get_running_loop().call_later(IDLE_S + 1, self._receiver.drop_idle)

    def _remove(self) -> None:
        self._receiver.close()
        self._lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)
