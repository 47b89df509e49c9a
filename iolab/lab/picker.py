"""Upload in a notebook: files of any size are streamed to disk in pieces.

picker = iolab.LogPicker()
picker                  # drop files on it, or choose them
picker.paths            # where they are now
"""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import anywidget
import traitlets

from iolab.lab.receiving import IDLE_S, Receiver
from logframe.atomic import lock_file
from logframe.errors import LogError

#: A piece travels in one message; Jupyter's server cuts messages above 10 MiB.
PIECE_BYTES: Final = 4 * 2**20
#: The browser repeats its request for an answer that is later than this.
PATIENCE_MS: Final = 15_000
_PREFIX: Final = "iolab-upload-"
#: Held by the kernel that a folder belongs to.
_LOCK: Final = ".in-use"
#: What stands in a saved notebook, and where no widgets are: the field itself needs a kernel.
_HINT: Final = (
    "<p><b>Run this cell (Shift+Enter): the field to drop logs on appears here.</b> "
    "In JupyterLab the card <i>Oracle I/O logs</i> of the launcher takes logs without running anything.</p>"
)


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
        refused: Names of the files of the last upload that were no logs, and why.
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
        self._batch: object = None
        self._accepted: set[str] = set()
        self._refused: dict[str, tuple[str, str]] = {}
        self._timer: asyncio.TimerHandle | None = None
        atexit.register(self._remove)
        self.on_msg(self._handle)

    def __repr__(self) -> str:
        return f"LogPicker({len(self.paths)} files in {self.folder.name})" if self.paths else "LogPicker()"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:  # noqa: ANN401 - IPython's
        bundle = super()._repr_mimebundle_(**options)
        if bundle is not None:
            bundle[0]["text/html"] = _HINT
        return bundle  # type: ignore[no-any-return,unused-ignore]

    @property
    def refused(self) -> dict[str, str]:
        """Names of the files of the last upload that were no logs, and why."""
        return dict(self._refused.values())

    @property
    def path(self) -> Path | None:
        """The file that came last, or None."""
        return self.paths[-1] if self.paths else None

    def chosen(self, paths: Sequence[str | Path], samples: Sequence[str | Path]) -> list[str | Path]:
        """The paths that are named and the files that were uploaded; samples only where nothing was chosen.

        Raises:
            LogError: None of the files that were uploaded last is a log: neither the samples nor what was uploaded
                before is what was asked for.

        Examples:
            >>> LogPicker().chosen([], ["sample.txt"])
            ['sample.txt']
        """
        found = [*paths, *self.paths]
        if self.refused and not paths and not (self.paths and self._accepted):
            reasons = "; ".join(f"{name}: {reason}" for name, reason in self.refused.items())
            before = "; remove it from the list to see what was uploaded before" if self.paths else ""
            raise LogError(f"no uploaded file is a log: {reasons}{before}")
        return found or list(samples)

    def _handle(self, _: object, message: dict[str, Any], buffers: list[Any]) -> None:
        key, name = str(message.get("id")), self._receiver.name_of(message)
        if message.get("type") == "open" and message.get("batch") != self._batch:
            self._batch = message.get("batch")
            self._accepted.clear()
            self._refused.clear()
        answer = self._receiver.receive(message, buffers)
        if answer["type"] == "failed" and name:
            self._refused[key] = name, str(answer["message"])
        elif answer["type"] == "done":
            self._accepted.add(key)
        elif answer["type"] == "removed":
            self._accepted.discard(key)
            self._refused.pop(key, None)
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
