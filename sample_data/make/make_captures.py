"""Writes the sample captures: the reader under ``strace``, with three sets of options.

    python3 sample_data/make/make_captures.py

Needs ``cc``, ``libaio-dev`` and ``strace``, and the right to create ``/u01``. Every capture is the unedited output of
strace. The environment is empty, the file names are relative, and the data files are dropped from the page
cache before each capture.
"""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

from data_files import NAMES, drop_from_page_cache, make_data_files

CAPTURES = Path(__file__).resolve().parent.parent / "captures"
MODES = ("scattered", "sequential", "async")
READS = 300
MEBIBYTES = 256

# Two processes, so that strace splits calls; one of them would make -f tell nothing.
FOLLOWED_READS = 150
FOLLOWED_PROCESSES = 2


def list_captures() -> dict[str, tuple[list[str], list[str]]]:
    """The options of strace, and the arguments of the reader, by the name of the capture."""
    captures = {}
    for mode, cache in product(MODES, ("buffered", "direct")):
        direct = ["--direct"] if cache == "direct" else []
        arguments = [mode, *direct, "--count", str(READS), *NAMES]
        captures[f"{mode}_{cache}_r"] = (["-r"], arguments)
        captures[f"{mode}_{cache}_tt_T"] = (["-tt", "-T"], arguments)
    for mode in MODES:
        processes = ["--count", str(FOLLOWED_READS), "--processes", str(FOLLOWED_PROCESSES)]
        arguments = [mode, "--direct", *processes, *NAMES]
        captures[f"{mode}_direct_f_ttt_T_y"] = (["-f", "-ttt", "-T", "-y"], arguments)
    return captures


def main() -> None:
    """Writes every capture and prints its command."""
    CAPTURES.mkdir(exist_ok=True)
    with make_data_files(MEBIBYTES) as folder:
        for name, (options, arguments) in list_captures().items():
            drop_from_page_cache(folder)
            output = f"{name}.strace"
            command = ["strace", *options, "-o", output, "./reader", *arguments]
            subprocess.run(command, check=True, cwd=folder, env={})
            (CAPTURES / output).write_bytes((folder / output).read_bytes())
            print("env -i", *command)


if __name__ == "__main__":
    main()
