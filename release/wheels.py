"""Builds the source distribution and the wheels of every platform into a folder, checks them and writes SHA256SUMS.

A wheel of a platform has compiled code for it, made on this machine by the compiler of the package ziglang; the wheel
for any machine has none.  What is checked without running it: the tag, the processor and the format of each library,
the newest version of glibc that it asks for, and that it exports what the project calls.

    python release/wheels.py [--out dist] [TARGET ...]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hatch_build import TARGETS  # noqa: E402 - a file of the root

#: The wheel for any machine.
PURE: Final = "any"
#: Newest glibc of the manylinux2014 policy (PEP 599).
GLIBC: Final = (2, 17)
#: What every library exports: which source it was made of.
SYMBOL: Final = b"iolab_source"
_GLIBC: Final = re.compile(rb"GLIBC_(\d+)\.(\d+)")
_ELF: Final = {62: "x86_64", 183: "aarch64"}
_MACH_O: Final = {0x0100000C: "arm64", 0x01000007: "x86_64"}
_PE: Final = {0x8664: "amd64"}
_FORMATS: Final = {"linux": "ELF", "musl": "ELF", "macos": "Mach-O", "windows": "PE"}


class WheelError(RuntimeError):
    """A wheel is not what its name says; the message says why."""


def build(target: str, out: Path) -> Path:
    """Build the wheel of a platform, or `PURE`.

    Raises:
        WheelError: it cannot be built.
    """
    environment = {**os.environ, "IOLAB_KERNEL": "off"} if target == PURE else {**os.environ, "IOLAB_TARGET": target}
    return _hatchling("wheel", out, environment)


def build_sdist(out: Path) -> Path:
    """Build the source distribution."""
    return _hatchling("sdist", out, dict(os.environ))


def _hatchling(kind: str, out: Path, environment: dict[str, str]) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", out]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WheelError((done.stderr or done.stdout).strip())
    return max(out.glob("*.whl" if kind == "wheel" else "*.tar.gz"), key=lambda path: path.stat().st_mtime_ns)


def platform_of(library: bytes) -> str:
    """The format and processor of a library: ``ELF x86_64``, ``Mach-O arm64``, ``PE amd64``.

    Examples:
        >>> platform_of(b"MZ")
        'unknown'
    """
    little = "little"
    if library.startswith(b"\x7fELF"):
        return f"ELF {_ELF.get(int.from_bytes(library[18:20], little), 'unknown')}"
    if library.startswith(b"\xcf\xfa\xed\xfe"):
        return f"Mach-O {_MACH_O.get(int.from_bytes(library[4:8], little), 'unknown')}"
    if library.startswith(b"MZ") and len(library) > 64:
        place = int.from_bytes(library[60:64], little)
        return f"PE {_PE.get(int.from_bytes(library[place + 4 : place + 6], little), 'unknown')}"
    return "unknown"


def expected_platform(target: str) -> str:
    """What the libraries of a target must be."""
    system, processor = target.split("-")
    return f"{_FORMATS[system]} {processor}"


def check(wheel: Path, target: str) -> int:
    """Check the libraries of a wheel; how many there are.

    Raises:
        WheelError: the tag, a library's platform, its glibc or its symbols are wrong.
    """
    tag = "any" if target == PURE else TARGETS[target][1]
    if not wheel.stem.endswith(f"-{tag}"):
        raise WheelError(f"{wheel.name} has not the tag {tag}")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".compiled")]
        sources = [name for name in archive.namelist() if name.endswith(".c") and name.count("/") == 1]
        wanted = 0 if target == PURE else len(sources)
        if len(names) != wanted or not sources:
            raise WheelError(f"{wheel.name} has {len(names)} libraries of {wanted}")
        for name in names:
            _check_library(f"{wheel.name}: {name}", archive.read(name), target)
    return len(names)


def _check_library(name: str, library: bytes, target: str) -> None:
    found, expected = platform_of(library), expected_platform(target)
    if found != expected:
        raise WheelError(f"{name} is {found}, not {expected}")
    newest = max(((int(major), int(minor)) for major, minor in _GLIBC.findall(library)), default=(0, 0))
    if newest > (GLIBC if target.startswith("linux") else (0, 0)):
        raise WheelError(f"{name} asks for glibc {newest[0]}.{newest[1]}")
    if SYMBOL not in library:
        raise WheelError(f"{name} does not export {SYMBOL.decode()}")


def write_checksums(folder: Path) -> Path:
    """Write SHA256SUMS of all files of a folder, as ``sha256sum --check`` reads it."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(lines), encoding="utf-8")
    return sums


def main() -> None:
    """Build, check, and print one line for each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join([*TARGETS, PURE]))
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for old in (*asked.out.glob("*.whl"), *asked.out.glob("*.tar.gz")):
        old.unlink()
    sdist = build_sdist(asked.out)
    print(f"{sdist.stat().st_size / 1e6:6.2f} MB  {sdist.name}")
    for target in asked.targets or (*TARGETS, PURE):
        try:
            wheel = build(target, asked.out)
            libraries = check(wheel, target)
        except WheelError as error:
            sys.exit(f"{target}: {error}")
        print(f"{wheel.stat().st_size / 1e6:6.2f} MB  {wheel.name}  ({libraries} libraries)", flush=True)
    write_checksums(asked.out)


if __name__ == "__main__":
    main()
