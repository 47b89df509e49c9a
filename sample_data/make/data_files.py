"""The folder in which the captures and the runs are made: two data files of random content, and the reader."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAKE = Path(__file__).resolve().parent

#: A neutral place: ``strace -y`` prints the folder of every file.
FOLDER = Path("/u01/oradata/IOLAB")
NAMES = ("users01.dbf", "users02.dbf")
EXTENT_BYTES = 1 << 20


def write_random_file(path: Path, mebibytes: int) -> None:
    """Fills *path* with random bytes, so that no layer can store or send fewer bytes than the file has."""
    with path.open("wb") as file:
        for _ in range(mebibytes):
            file.write(os.urandom(EXTENT_BYTES))
        file.flush()
        os.fsync(file.fileno())


def drop_from_page_cache(folder: Path) -> None:
    """Makes the next buffered read of the data files go to the device."""
    for name in NAMES:
        file = os.open(folder / name, os.O_RDONLY)
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)


@contextmanager
def make_data_files(mebibytes: int) -> Iterator[Path]:
    """The folder with the reader built and two data files of *mebibytes* each; all of it goes away again.

    Raises:
        FileExistsError: The folder is there already; nothing of it is touched.
    """
    missing = [parent for parent in FOLDER.parents if not parent.exists()]
    FOLDER.mkdir(parents=True)
    try:
        reader = FOLDER / "reader"
        source = MAKE / "reader.c"
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", reader, source, "-laio"], check=True)
        for name in NAMES:
            write_random_file(FOLDER / name, mebibytes)
        yield FOLDER
    finally:
        shutil.rmtree(FOLDER)
        for parent in missing:
            parent.rmdir()
