"""Every step of a release but the publishing, on this machine: versions, wheels, clean installations, archive, docs.

Each line of the report is a step with its figures; the first one that fails ends the run.  What cannot be tried here
(a wheel of another system) is reported.

    python release/check.py [--tag v0.2.0] [--without-docs]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "release"))

from wheels import PURE, write_checksums  # noqa: E402 - beside this file

if TYPE_CHECKING:
    from collections.abc import Sequence

DIST: Final = ROOT / "dist"
SAMPLE: Final = "sample_data/one_case/awrrpt_1_881_882.txt"
PAIR: Final = ("sample_data/articles/003_filesystemio_setall.txt", "sample_data/articles/003_filesystemio_none.txt")
RUNS: Final = ("sample_data/articles/002_linux.txt", "sample_data/articles/002_hpux.txt")
#: What an installation must do, by its extra: the arguments of ``iolab``, its exit code, and what it says.
TRIALS: Final[dict[str, tuple[tuple[tuple[str, ...], int, str], ...]]] = {
    "": (
        (("--version",), 0, "compiled kernel"),
        (("show", SAMPLE), 0, "DB time"),
        (("compare", *PAIR), 0, "DB time"),
        (("report", SAMPLE, "-o", "page.html"), 0, ""),
        (("compare", *RUNS), 1, "iolab[report]"),
        (("lab", "--no-browser"), 1, "iolab[lab]"),
    ),
    "report": ((("compare", *RUNS), 0, ""),),
    "lab": ((("lab", "--help"), 0, "JupyterLab"),),
}


def say(step: str, figures: str) -> None:
    """Print a line of the report."""
    print(f"{step:22} {figures}", flush=True)


def run(command: Sequence[str | Path], **environment: str) -> str:
    """Run a command of a step; what it printed.

    Raises:
        SystemExit: it failed; the message is its output.
    """
    done = subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def version() -> str:
    """The version of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def check_version(tag: str) -> None:
    """The version, the first heading of the CHANGELOG and the tag must agree."""
    heading = next(
        line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line[:3] == "## "
    )
    if heading.split()[1] != version():
        sys.exit(f"pyproject.toml says {version()}, the CHANGELOG {heading!r}")
    if tag and tag != f"v{version()}":
        sys.exit(f"the tag is {tag!r}, the version {version()}")
    say("version", version() + (f", tag {tag}" if tag else ""))


def pythons() -> dict[str, str]:
    """The supported Pythons of this machine that run: version -> interpreter, those of pyenv and uv among them."""
    wanted = [f"3.{minor}" for minor in range(11, 20)]
    candidates = [path for name in wanted if (path := shutil.which(f"python{name}"))]
    candidates += map(str, Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python"))
    if uv := shutil.which("uv", path=f"{os.environ['PATH']}{os.pathsep}{ROOT / '.venv' / 'bin'}"):
        listed = json.loads(run([uv, "python", "list", "--only-installed", "--output-format", "json"]))
        candidates += [one["path"] for one in listed]
    found = {}
    for path in candidates:
        command = [path, "-c", "import ensurepip, venv, sys; print('{}.{}'.format(*sys.version_info))"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found.setdefault(done.stdout.strip(), path)
    return {name: found[name] for name in wanted if name in found}


def try_installation(python: str, wheel: Path, extra: str, folder: Path) -> str:
    """Install a wheel in a new environment and try what its extra promises; seconds and size."""
    started = time.monotonic()
    run([python, "-m", "venv", folder])
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, f"{wheel}[{extra}]" if extra else wheel])
    seconds = time.monotonic() - started
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6
    try_commands(folder, extra)
    return f"{size:.0f} MB in {seconds:.1f} s"


def try_commands(folder: Path, extra: str) -> None:
    """Run what an extra promises.

    Raises:
        SystemExit: a command ends otherwise, or does not say what it must.
    """
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "sample_data").symlink_to(ROOT / "sample_data")
        for arguments, code, said in TRIALS[extra]:
            done = subprocess.run(
                [folder / "bin" / "iolab", *arguments], cwd=work, capture_output=True, text=True, check=False
            )
            if done.returncode != code or said not in done.stdout + done.stderr:
                sys.exit(f"iolab {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}{done.stderr}")


def try_archive(archive: Path, python: str) -> str:
    """Unpack the archive for hosts without a network, install from it, and try it."""
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(archive) as packed:
            packed.extractall(work, filter="data")
        folder = Path(work) / "installed"
        started = time.monotonic()
        run([next(Path(work).glob("iolab-*")) / "install.sh", folder], PYTHON=python, PIP_NO_INDEX="1")
        seconds = time.monotonic() - started
        try_commands(folder, "report")
    return f"{archive.stat().st_size / 1e6:.0f} MB, installed in {seconds:.1f} s"


def main() -> None:
    """Run the steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", default="", help="the tag of the release")
    parser.add_argument("--without-docs", action="store_true")
    asked = parser.parse_args()
    check_version(asked.tag)
    for line in run([sys.executable, "release/wheels.py", "--out", DIST]).splitlines():
        say("built", line)
    wheels = sorted(DIST.glob("*.whl"))
    run([sys.executable, "-m", "twine", "check", "--strict", *wheels, *DIST.glob("*.tar.gz")])
    say("metadata", f"{len(wheels)} wheels and the source distribution pass twine")
    for wheel in wheels:
        if "-manylinux" in wheel.name:
            said = run([sys.executable, "-m", "auditwheel", "show", wheel])
            if "manylinux_2_17_" not in said:
                sys.exit(said)
            say("auditwheel", f"{wheel.name}: consistent")
    machine = f"manylinux2014_{os.uname().machine}"
    native = next((wheel for wheel in wheels if wheel.stem.endswith(machine)), None)
    found = pythons()
    for name, python in found.items() if native else ():
        with tempfile.TemporaryDirectory() as work:
            for extra in TRIALS:
                say(
                    f"Python {name}{f' [{extra}]' * bool(extra)}",
                    try_installation(python, native, extra, Path(work) / extra),
                )
    say(
        "not run here", "wheels of musl, macOS and Windows: .github/workflows/release.yml runs them before it publishes"
    )
    newest = [name for name in found if name in {"3.11", "3.12", "3.13"}]
    run([sys.executable, "release/bundle.py", "--out", DIST])
    (archive,) = DIST.glob("iolab-*-linux-x86_64.tar.gz")
    for name in newest:
        say(f"archive, Python {name}", try_archive(archive, found[name]))
    write_checksums(DIST)
    if not asked.without_docs:
        say("docs", run([sys.executable, "release/site.py"]).strip().rsplit("\n", 1)[-1])
    print(f"Ready to publish: {PURE} and {len(wheels) - 1} platforms of version {version()}.")


if __name__ == "__main__":
    main()
