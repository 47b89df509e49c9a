"""`iolab lab`: JupyterLab on a copy of the notebooks and of the sample data; what the user changed stays."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from logframe.extras import require

#: Where the copy goes unless a folder is named.
DEFAULT_FOLDER: Final = Path("iolab-notebooks")
#: Remembers in the copy what was written, so that a later version replaces only what the user left as it was.
RECORD: Final = ".iolab.json"
#: Settings of JupyterLab for all users: no news, no question about them.
SETTINGS: Final = Path(__file__).parent / "settings"
#: What is opened first.
FIRST: Final = "notebooks/00_start_here.ipynb"
_PARTS: Final = ("notebooks", "sample_data")
_LEFT_OUT: Final = ("__pycache__", ".ipynb_checkpoints", "build")
_MOST_NAMED: Final = 5


@dataclass(frozen=True)
class LabCopy:
    """What `copy_lab` did.

    Attributes:
        folder: Where the copy is.
        written: Files that were missing, or that were as an earlier version had written them.
        kept: Files that differ from what would be written, because they were changed: left alone.
        unchanged: Files that were there already.
    """

    folder: Path
    written: tuple[str, ...]
    kept: tuple[str, ...]
    unchanged: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.folder}: {len(self.written)} files written, {len(self.unchanged)} there already"]
        if self.kept:
            named = ", ".join(self.kept[:_MOST_NAMED]) + (", ..." if len(self.kept) > _MOST_NAMED else "")
            lines.append(f"kept as you changed them, {len(self.kept)} files: {named}")
        return "\n".join(lines)


def find_lab_files() -> Path:
    """The folder that holds `notebooks` and `sample_data`: in the installed package, or the checkout around it.

    Raises:
        FileNotFoundError: They are in neither.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "lab_files", package.parent):
        if (folder / FIRST).is_file():
            return folder
    raise FileNotFoundError("the notebooks are not installed: install iolab from its wheel, or run it in a checkout")


def copy_lab(folder: Path, *, source: Path | None = None) -> LabCopy:
    """Copy the notebooks and the sample data to a folder; a file that the user changed is kept, and named.

    In the folder that holds them already (a checkout) nothing is written.

    Args:
        folder: Made if it is not there.
        source: The folder that holds `notebooks` and `sample_data`; by default `find_lab_files()`.

    Raises:
        OSError: A file cannot be written, or the folder is a file.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     source = Path(place) / "source"
        ...     (source / "notebooks").mkdir(parents=True)
        ...     _ = (source / "notebooks" / "a.ipynb").write_text("{}")
        ...     first = copy_lab(Path(place) / "copy", source=source)
        ...     _ = (Path(place) / "copy" / "notebooks" / "a.ipynb").write_text("mine")
        ...     again = copy_lab(Path(place) / "copy", source=source)
        ...     first.written, again.written, again.kept
        (('notebooks/a.ipynb',), (), ('notebooks/a.ipynb',))
    """
    source = find_lab_files() if source is None else source
    folder.mkdir(parents=True, exist_ok=True)
    if folder.samefile(source):
        return LabCopy(folder, (), (), tuple(path.relative_to(source).as_posix() for path in _shipped(source)))
    record = _read_record(folder / RECORD)
    files: dict[str, list[str]] = {"written": [], "kept": [], "unchanged": []}
    for path in _shipped(source):
        name = path.relative_to(source).as_posix()
        target, digest = folder / name, _digest(path)
        there = _digest(target) if target.is_file() else None
        if there == digest:
            files["unchanged"].append(name)
        elif target.exists() and there != record.get(name):
            files["kept"].append(name)
            continue
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            # An interrupted copy must not be taken for a file that the user changed.
            partial = target.with_name(f"{target.name}.part")
            shutil.copyfile(path, partial)
            partial.replace(target)
            files["written"].append(name)
        record[name] = digest
    (folder / RECORD).write_text(json.dumps(record, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    return LabCopy(folder, *(tuple(names) for names in files.values()))


def _shipped(source: Path) -> list[Path]:
    """The files of a copy, in the order of their names."""
    found = [path for part in _PARTS for path in (source / part).rglob("*") if path.is_file()]
    return sorted(
        path
        for path in found
        if not any(part in _LEFT_OUT or part.startswith("kernel-ipc-") for part in path.relative_to(source).parts)
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_record(path: Path) -> dict[str, str]:
    """What was written before; nothing where the record is missing or damaged, so that all that differs is kept."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def lab_command(folder: Path, *, browser: bool = True, port: int | None = None) -> list[str]:
    """The command that starts JupyterLab on a copy, at the first notebook; it asks the network for nothing.

    Args:
        folder: The copy.
        browser: Open a browser.
        port: Listen there or fail; by default the first free one from 8888 on.

    Examples:
        >>> lab_command(Path("copy"), browser=False, port=9000)[3:6]
        ['--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb', '--LabApp.news_url=None',
         '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate']
    """
    command = [sys.executable, "-m", "jupyterlab", f"--LabApp.default_url=/lab/tree/{FIRST}"]
    command += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command.append(f"--LabApp.app_settings_dir={SETTINGS}")  # else it asks each user whether news are wanted
    command.append(f"--ServerApp.root_dir={folder.resolve()}")
    command.append("--ServerApp.ip=127.0.0.1")  # whatever the user's configuration says
    if not browser:
        command.append("--no-browser")
    if port is not None:
        command += [f"--port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command


def start(command: list[str]) -> NoReturn:
    """Replace this process by JupyterLab: the terminal, its signals and its exit code are JupyterLab's own.

    Raises:
        MissingExtraError: JupyterLab is not installed.
    """
    require("jupyterlab")
    os.execv(command[0], command)  # noqa: S606 - the interpreter that runs this, without a shell
