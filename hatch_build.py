"""Build hook: compiles the C files of the packages, where there is a compiler.

Each ``PACKAGE/NAME.c`` becomes ``PACKAGE/NAME.compiled``: in a wheel, which then is one of its platform, or in the tree
of an editable installation.  Without a compiler, or when it fails or hangs, there is one warning and a wheel for any
machine: everything works without compiled code, slower.  ``IOLAB_KERNEL=require`` makes that an error, ``off`` compiles
nothing.  ``CC`` names the compiler (default ``cc``).
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Any machine of the platform runs the library: no flag names a processor.
FLAGS: Final = ("-O2", "-shared", "-fPIC")
#: The compiler needs less than a second; one that hangs is stopped after so many.
TIMEOUT_S: Final = 120


class CompileError(RuntimeError):
    """A C file could not be compiled; the message says why."""


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling runs before it builds a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what the wheel holds and where it runs."""
        root = Path(self.root)
        packages = self.build_config.packages
        sources = sorted(path for package in packages for path in (root / package).glob("*.c"))
        choice = os.environ.get("IOLAB_KERNEL", "")
        if choice not in {"", "off", "require"}:
            raise ValueError(f"IOLAB_KERNEL={choice!r}: it must be 'require', 'off' or empty")
        is_editable = version == "editable"
        try:
            self._folder = tempfile.TemporaryDirectory(dir=root if is_editable else None, prefix=".compiled-")
            libraries = {} if choice == "off" else compile_all(sources, Path(self._folder.name))
        except CompileError as error:
            if choice == "require":
                raise
            self.app.display_warning(f"Compiled code is left out, Polars expressions do its work: {error}")
            libraries = {}
        if is_editable:
            for source in sources:
                source.with_suffix(".compiled").unlink(missing_ok=True)
            for source, library in libraries.items():
                library.replace(source.with_suffix(".compiled"))
            return
        if not libraries:
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"
        for source, library in libraries.items():
            build_data["force_include"][str(library)] = source.with_suffix(".compiled").relative_to(root).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's
        """Remove what was compiled for the wheel."""
        if (folder := getattr(self, "_folder", None)) is not None:
            folder.cleanup()


def compile_all(sources: list[Path], folder: Path) -> dict[Path, Path]:
    """The library of each C file, in a folder: all of them or none.

    Raises:
        CompileError: this system is not supported, there is no compiler, or it fails.
    """
    if os.name != "posix":
        raise CompileError("it is built on Linux and macOS only")
    return {source: _compiled(source, folder) for source in sources}


def _compiled(source: Path, folder: Path) -> Path:
    try:
        compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    except ValueError as error:
        raise CompileError(f"CC cannot be read: {error}") from error
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    library = folder / f"{source.parent.name}-{source.stem}"
    command = [*compiler, *FLAGS, f'-DIOLAB_SOURCE="{digest}"', "-o", str(library), str(source)]
    try:
        done = subprocess.run(  # noqa: S603 - the compiler that the user names
            command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False
        )
    except OSError as error:
        raise CompileError(f"no C compiler: {compiler[0]}: {error.strerror or error}") from error
    except subprocess.TimeoutExpired as error:
        raise CompileError(f"{compiler[0]} did not end within {TIMEOUT_S} s") from error
    if done.returncode or not library.is_file():
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        raise CompileError(
            f"{compiler[0]} failed with status {done.returncode}" + "".join(f": {line}" for line in last)
        )
    return library


def platform_tag() -> str:
    """The platform of a wheel as its name spells it; an interpreter for two processors compiles for one."""
    name = sysconfig.get_platform()
    if name.endswith("universal2"):
        name = name.removesuffix("universal2") + platform.machine()
    return name.replace("-", "_").replace(".", "_")
