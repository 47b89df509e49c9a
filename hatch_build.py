"""Build hook: compiles the C files of the packages, where there is a compiler.

Each ``PACKAGE/NAME.c`` becomes ``PACKAGE/NAME.compiled``: in a wheel, which then is one of its platform, or in the tree
of an editable installation.  Without a compiler, or when it fails or hangs, there is one warning and a wheel for any
machine: everything works without compiled code, slower.  ``IOLAB_KERNEL=require`` makes that an error, ``off`` compiles
nothing.  ``CC`` names the compiler (default ``cc``).  ``IOLAB_TARGET`` compiles for another platform (`TARGETS`) with
the compiler of the package ziglang.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Any machine of the platform runs the library: no flag names a processor.
FLAGS: Final = ("-O2", "-shared", "-fPIC", "-fstack-protector-strong")
#: On Linux: copies that check the size of their target, and tables of addresses that are fixed once they are loaded.
LINUX_FLAGS: Final = ("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wl,-z,relro", "-Wl,-z,now")
#: Platforms that wheels are made for -> target of zig, and tag of the wheel.
TARGETS: Final = {
    "linux-x86_64": ("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "linux-aarch64": ("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "musl-x86_64": ("x86_64-linux-musl", "musllinux_1_2_x86_64"),
    "musl-aarch64": ("aarch64-linux-musl", "musllinux_1_2_aarch64"),
    "macos-arm64": ("aarch64-macos.11.0", "macosx_11_0_arm64"),
    "macos-x86_64": ("x86_64-macos.10.13", "macosx_10_13_x86_64"),
    "windows-amd64": ("x86_64-windows-gnu", "win_amd64"),
}
#: The compiler needs less than a second, zig a minute or two for the first library of Windows; longer is a hang.
TIMEOUT_S: Final = 600


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
        target = os.environ.get("IOLAB_TARGET", "")
        if target and target not in TARGETS:
            raise ValueError(f"IOLAB_TARGET={target!r}: it must be one of {', '.join(TARGETS)}, or empty")
        is_editable = version == "editable"
        try:
            self._folder = tempfile.TemporaryDirectory(dir=root if is_editable else None, prefix=".compiled-")
            libraries = {} if choice == "off" else compile_all(sources, Path(self._folder.name), target)
        except CompileError as error:
            if choice == "require" or target:
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
        build_data["tag"] = f"py3-none-{TARGETS[target][1] if target else platform_tag()}"
        for source, library in libraries.items():
            build_data["force_include"][str(library)] = source.with_suffix(".compiled").relative_to(root).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's
        """Remove what was compiled for the wheel."""
        if (folder := getattr(self, "_folder", None)) is not None:
            folder.cleanup()


def compile_all(sources: list[Path], folder: Path, target: str = "") -> dict[Path, Path]:
    """The library of each C file, in a folder: all of them or none.

    Raises:
        CompileError: this system is not supported, there is no compiler, or it fails.
    """
    if os.name != "posix" and not target:
        raise CompileError("it is built on Linux and macOS only")
    command = compiler_of(target)
    return {source: _compiled(source, folder, command) for source in sources}


def compiler_of(target: str) -> list[str]:
    """The compiler with its options, for this machine or one of `TARGETS`.

    Raises:
        CompileError: ``CC`` cannot be read.
    """
    is_linux = sys.platform == "linux" and not target
    flags = [*FLAGS, *(LINUX_FLAGS if is_linux or target.startswith(("linux", "musl")) else ())]
    if target:
        return [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[target][0], "-s", *flags]
    try:
        return [*(shlex.split(os.environ.get("CC", "")) or ["cc"]), *flags]
    except ValueError as error:
        raise CompileError(f"CC cannot be read: {error}") from error


def _compiled(source: Path, folder: Path, compiler: list[str]) -> Path:
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    library = folder / f"{source.parent.name}-{source.stem}"
    command = [*compiler, f'-DIOLAB_SOURCE="{digest}"', "-o", str(library), str(source)]
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
