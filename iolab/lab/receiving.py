"""The receiving side of an upload: messages in, answers out; files arrive in pieces and appear whole or not at all.

The field in a notebook (`iolab.lab.picker`) and the one of the launcher (`iolab.lab.server`) use it.
"""

from __future__ import annotations

import errno
import filecmp
import re
import secrets
import shutil
import time
import unicodedata
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: An upload without a message for so long is lost, and its incomplete file is removed.
IDLE_S: Final = 600.0
_MAX_NAME_BYTES: Final = 120
_MAX_SUFFIX_BYTES: Final = 20
_UNSAFE: Final = re.compile(r"[/\\:*?\"<>|]+")
#: Names that Windows gives to devices, with any suffix: a folder with such a file cannot be copied there.
_DEVICES: Final = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


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
        >>> from pathlib import Path
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
    """A file on its way: hidden in its folder until it is whole."""

    name: str
    path: Path
    size: int
    file: BinaryIO
    received: int = 0
    heard: float = field(default_factory=time.monotonic)


class Receiver:
    """The kernel's side of uploads: messages in, answers out; knows no widget.

    Args:
        folder: Where the files go.
        describe: What a file is, in a few words; raises ValueError for one that is no known log.  By default
            `iolab.loading.describe`.

    Examples:
        >>> from pathlib import Path
        >>> receiver = Receiver(Path("/no/such/folder"))
        >>> receiver.receive({"type": "cancel", "id": "1"}, [])
        {'id': '1', 'type': 'cancelled'}
    """

    def __init__(self, folder: Path, describe: Callable[[Path], str] | None = None) -> None:
        self.folder = folder
        self.done: dict[str, Path] = {}
        self._names: dict[str, str] = {}
        self._describe = describe or _describe
        self._open: dict[str, _Upload] = {}

    def receive(self, message: dict[str, Any], buffers: list[Any]) -> dict[str, Any]:
        """The answer to a message: ``next`` with an offset, ``done``, ``cancelled``, ``removed`` or ``failed``."""
        key = str(message.get("id"))
        # The answer has the number of its message, so that the browser distinguishes late answers.
        number = {"n": message["n"]} if "n" in message else {}
        upload = self._open.get(key)
        if upload is not None:
            upload.heard = time.monotonic()
        try:
            return {"id": key, **number, **self._answer(key, message, buffers)}
        except Exception as error:  # noqa: BLE001 - whatever it is, the browser waits for an answer, and shows it
            upload = self._open.get(key)
            self._drop(key)
            unknown = {"unknown": True} if isinstance(error, _UnknownUploadError) else {}
            return {"type": "failed", "id": key, **number, **unknown, "message": _reason(error, upload)}

    def name_of(self, message: dict[str, Any]) -> str:
        """The name of the file that a message is about; empty where it is not known."""
        upload = self._open.get(str(message.get("id")))
        return str(message.get("name") or ("" if upload is None else upload.name))

    def drop_idle(self, idle_s: float = IDLE_S) -> list[str]:
        """The names of uploads of which nothing was heard for so long; what had come of them is removed."""
        now = time.monotonic()
        lost = [key for key, upload in self._open.items() if now - upload.heard >= idle_s]
        names = [self._open[key].name for key in lost]
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
            case "remove":
                if (path := self.done.pop(key, None)) is not None:
                    path.unlink(missing_ok=True)
                    del self._names[key]
                return {"type": "removed"}
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
        path = self.folder / f".{secrets.token_hex(8)}.part"
        self._open[key] = _Upload(safe_name(name), path, size, path.open("xb"))
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
        for other, path in self.done.items():
            if self._names[other] == upload.name and path.is_file() and filecmp.cmp(path, upload.path, shallow=False):
                self._drop(key)
                self.done[key], self._names[key] = self.done.pop(other), self._names.pop(other)
                return {"type": "done", "name": path.name, "what": what, "replaces": other}
        path = free_path(self.folder, upload.name)
        path.touch(exist_ok=False)  # the name is this file's from now on
        upload.path.replace(path)
        del self._open[key]
        self.done[key], self._names[key] = path, upload.name
        return {"type": "done", "name": path.name, "what": what}

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


def _describe(path: Path) -> str:
    from iolab.loading import describe  # noqa: PLC0415 - a server that reads no log itself loads no parser

    return describe(path)


def _reason(error: Exception, upload: _Upload | None) -> str:
    """One line for a reader, with the name of the file instead of its path."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk that the kernel writes to is full; what had come of the file was removed"
    if isinstance(error, OSError) and error.strerror:
        return f"the kernel cannot keep the file: {error.strerror}"
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return line if upload is None else line.removeprefix(f"{upload.path}: ").replace(str(upload.path), upload.name)
