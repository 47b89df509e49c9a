"""What was wrong with a log when it was opened is in its diagnostics, whoever reads it."""

from __future__ import annotations

import bz2
import gzip
import lzma
from functools import partial
from pathlib import Path

import pytest
import zstandard

import iolab

SAMPLES = Path(__file__).parents[2] / "sample_data"
#: A log of each reader.
LOGS = {
    "awr": "one_case/awrrpt_1_881_882.txt",
    "sqlplus": "one_case/orders_flash.lst",
    "strace": "captures/async_direct_tt_T.strace",
    "sqltrace": "sqltrace/orders_flash_ora_4711.trc",
    "tkprof": "sqltrace/orders_flash_ora_4711.prf",
    "host": "host/iostat.out",
    "latency_histogram": "host/biolatency.txt",
    "session_samples": "host/session_polls.csv",
}
PACK = {
    "gzip": gzip.compress,
    "bzip2": partial(bz2.compress, compresslevel=1),
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("name", LOGS)
def test_compressed_data_that_ends_early_is_said(name: str) -> None:
    """Half of a compressed log is read, and a diagnostic says that the rest is missing."""
    packed = gzip.compress((SAMPLES / LOGS[name]).read_bytes())
    cut = packed[: 4 * len(packed) // 5]

    log = iolab.load(cut, format=name)

    assert "unreadable" in log.diagnostics.get_column("kind").to_list()
    assert "ends early" in " ".join(log.diagnostics.get_column("reason").to_list())


@pytest.mark.parametrize("form", PACK)
def test_every_form_of_compression_says_it(form: str) -> None:
    """Not only gzip: the log is recognised by what came out, and the note stays."""
    text = "".join(f"SQL> exec plums.pick({number * 7919 % 10007})\n\n" for number in range(8_000))
    packed = PACK[form](text.encode())

    log = iolab.load(packed[:-20])

    assert log.diagnostics.filter(kind="unreadable").height == 1


@pytest.mark.parametrize("name", ["awr", "sqlplus", "strace", "host"])
def test_a_guessed_encoding_is_said(name: str) -> None:
    """Text that is not UTF-8 is read by a guess, and a diagnostic says which."""
    text = (SAMPLES / LOGS[name]).read_text(encoding="utf-8") + "\nübermäßige Größen für Ähren, Öfen und Übermut\n"

    log = iolab.load(text.encode("cp1252"))

    assert "encoding" in log.diagnostics.get_column("kind").to_list()
