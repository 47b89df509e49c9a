"""Builds one archive for database hosts without a network: wheels of iolab[report] for Linux x86_64, and an installer.

The versions are those of requirements.lock.  The archive has ``install.sh``, which checks SHA256SUMS and installs with
``pip --no-index`` into a new environment.

    python release/bundle.py [--out dist] [--python 3.11 ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.requirements import InvalidRequirement, Requirement

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "release"))

from wheels import PURE, build, check, write_checksums  # noqa: E402 - beside this file

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET: Final = "linux-x86_64"
#: The Pythons that the archive has wheels for.
VERSIONS: Final = ("3.11", "3.12", "3.13")
#: What hosts of glibc 2.28 (Oracle Linux 8) and later take.
PLATFORMS: Final = (
    *("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_24_x86_64"),
    *("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_5_x86_64", "manylinux1_x86_64"),
)
INSTALL: Final = """#!/bin/sh
# Installs iolab without a network: ./install.sh [FOLDER]  (default: $HOME/iolab).  PYTHON=... chooses the interpreter.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$HOME/iolab}
cd "$here"
sha256sum --check --quiet SHA256SUMS
for python in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
    "$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "No Python of 3.11 to 3.13 with venv was found; name one with PYTHON=..." >&2; exit 1; }
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --find-links wheels 'iolab[report]'
"$folder/bin/iolab" --version
echo "Installed: $folder/bin/iolab"
"""


def pins(lock: Path, version: str) -> Iterator[str]:
    """What a lock file pins for one version of Python."""
    environment = {"python_version": version, "python_full_version": f"{version}.0"}
    for line in lock.read_text(encoding="utf-8").splitlines():
        text = line.removesuffix("\\").strip()
        if line[:1] in {" ", "#", ""}:
            continue
        try:
            pinned = Requirement(text)
        except InvalidRequirement:
            continue
        if pinned.marker is None or pinned.marker.evaluate(environment):
            yield f"{pinned.name}{pinned.specifier}"


def download(wheel: Path, version: str, folder: Path) -> None:
    """Put the wheels that one version of Python needs into a folder."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as constraints:
        constraints.write("\n".join(pins(ROOT / "requirements.lock", version)))
        constraints.flush()
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", version]
        command += [option for name in PLATFORMS for option in ("--platform", name)]
        command += ["--constraint", constraints.name, "--dest", str(folder), f"{wheel}[report]"]
        subprocess.run(command, check=True)


def main() -> None:
    """Write the archive, and print its name and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", nargs="+", default=VERSIONS, metavar="VERSION")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        built = build(TARGET, Path(name))
        check(built, TARGET)
        release = built.name.split("-")[1]
        content = Path(name) / f"iolab-{release}-linux-x86_64"
        wheels = content / "wheels"
        wheels.mkdir(parents=True)
        for version in asked.python:
            download(built, version, wheels)
        check(build(PURE, wheels), PURE)
        (content / "install.sh").write_text(INSTALL, encoding="utf-8")
        (content / "install.sh").chmod(0o755)
        sums = write_checksums(wheels).read_text(encoding="utf-8")
        (wheels / "SHA256SUMS").unlink()
        (content / "SHA256SUMS").write_text(sums.replace("  ", "  wheels/"), encoding="utf-8")
        archive = asked.out / f"{content.name}.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as packed:  # wheels are compressed already
            packed.add(content, content.name)
    print(f"{archive.stat().st_size / 1e6:.0f} MB  {archive}")


if __name__ == "__main__":
    main()
