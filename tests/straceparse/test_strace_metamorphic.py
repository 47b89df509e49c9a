"""What people and tools do to logs: a lossless transformation changes no typed cell, a lossy one is diagnosed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zipfile
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from straceparse import calls, io_requests, read_strace, unparsed

if TYPE_CHECKING:
    from collections.abc import Callable

#: Columns that hold the text as it was printed; padding and wrapping may change their blanks.
TEXT = ("args", "note", "reason")


def zipped(data: bytes) -> bytes:
    """An archive with the log in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ora.strace", data)
    return out.getvalue()


def each_line(change: Callable[[int, str], str]) -> Callable[[str], bytes]:
    """A change of every line."""
    return lambda text: "".join(
        f"{change(number, line)}\n" for number, line in enumerate(text.splitlines(), 1)
    ).encode()


#: Transformations that lose nothing: what comes back must be equal, cell by cell.
LOSSLESS: dict[str, Callable[[str], bytes]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "no newline at the end": lambda text: text.rstrip("\n").encode(),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 big endian": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "zip": lambda text: zipped(text.encode()),
    "gzip in two parts": lambda text: gzip.compress(text[:99].encode()) + gzip.compress(text[99:].encode()),
    "colour": each_line(lambda _, line: line.replace("(", "\x1b[1m(\x1b[0m", 1)),
    "mail": each_line(lambda _, line: f"> {line}"),
    "mail of a mail": each_line(lambda _, line: f">> {line}"),
    "indent": each_line(lambda _, line: f"    {line}"),
    "trailing blanks": each_line(lambda _, line: f"{line}   "),
    "line numbers of cat": each_line(lambda number, line: f"{number:6d}\t{line}"),
    "syslog": each_line(lambda _, line: f"Nov 21 18:36:01 dbhost strace[4711]: {line}"),
    "container": each_line(lambda _, line: f"2026-11-21T18:36:01.123456Z stdout F {line}"),
    "grep": each_line(lambda number, line: f"ora_4711.strace:{number}:{line}"),
}


def built(options: str, seed: int, lines: int = 60) -> str:
    """A log as strace prints it with these options: reads, writes, failures, split calls, signals."""
    chance = random.Random(f"{options} {seed}")  # noqa: S311 - reproducible data, no secret
    clock = 1_795_253_115_000_000
    out = []
    waiting: dict[int, str] = {}
    pids = [3698, 3699] if "-f" in options.split() else [0]
    for _ in range(lines):
        step = chance.randint(30, 900)
        clock += step
        pid = chance.choice(pids)
        size, offset, fd = (
            chance.choice((8192, 32768, 1048576)),
            chance.randrange(0, 1 << 40, 8192),
            chance.randint(256, 260),
        )
        event = chance.choice(
            [
                f'pread64({fd}, "\\6\\242\\0\\0 (\\"a) = 1"..., {size}, {offset}) = {size}',
                f'pwrite64({fd}, "\\6\\242"..., {size}, {offset}) = {size}',
                f"pread64({fd}, 0x7ffe, {size}, {offset}) = -1 EIO (Input/output error)",
                (
                    "semtimedop(3, [{sem_num=1, sem_op=-1, sem_flg=0}], 1, {tv_sec=3, tv_nsec=0})"
                    " = -1 EAGAIN (Resource temporarily unavailable)"
                ),
                "times(NULL) = 1718042948",
                f"sendfile({fd}, {fd + 1}, [{offset}] => [{offset + size}], {size}) = {size}",
                "--- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---",
            ]
        )
        if pid in waiting:
            event = f"<... pread64 resumed>{waiting.pop(pid)}"
        elif pid and event.startswith("pread64") and chance.random() < 0.4:
            _, mark, _ = event.partition(' (\\"a')
            if mark:
                event, waiting[pid] = f"pread64({fd}, <unfinished ...>", f'"x"..., {size}, {offset}) = {size}'
        prefix = f"{pid:<5} " if pid else ""
        if "-r" in options:
            prefix += f"{step // 10**6:6d}.{step % 10**6:06d} "
        elif "-ttt" in options:
            prefix += f"{clock // 10**6}.{clock % 10**6:06d} "
        elif "-tt" in options:
            prefix += f"09:{36 + clock // 10**6 % 60 // 2:02d}:{clock // 10**6 % 60:02d}.{clock % 10**6:06d} "
        has_time = "-T" in options and not event.startswith("---") and "<unfinished" not in event
        out.append(prefix + event + (f" <0.{chance.randint(1, 9999):06d}>" if has_time else ""))
    return "\n".join(out) + "\n"


OPTIONS = ["-r", "-ttt -T", "-f -tt -T", "-f -r", "-T", "-f -ttt -T"]


def frames(source: bytes) -> dict[str, pl.DataFrame]:
    """All typed frames of a log."""
    events = read_strace(source)
    found = calls(events)
    return {"events": events, "calls": found, "requests": io_requests(found)}


#: A log as strace wrote it, which many tests change.
original = lru_cache(2)(frames)


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("options", OPTIONS)
def test_lossless_transformations_change_no_cell(options: str, name: str) -> None:
    """Every frame of the transformed log equals that of the log as strace wrote it."""
    text = built(options, seed=1)
    expected = original(text.encode())
    assert unparsed(expected["events"]).is_empty()

    for table, found in frames(LOSSLESS[name](text)).items():
        assert_frame_equal(found, expected[table])


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("options", OPTIONS)
def test_wrapped_lines_are_diagnosed_and_the_others_are_equal(options: str, width: int) -> None:
    """A line that was broken is no call of another size: it is the same call, or a diagnostic; the others are equal."""
    text = built(options, seed=2)
    lines = text.splitlines()
    wrapped = [line[start : start + width] for line in lines for start in range(0, len(line), width)]
    expected = frames(text.encode())["events"]
    events = read_strace("\n".join(wrapped).encode())
    whole = [number for number, line in enumerate(wrapped, 1) if line in set(lines)]
    columns = ["kind", "pid", "syscall", "args", "result", "errno", "elapsed"]
    shown = events.filter(pl.col("line").is_in(whole)).select(columns)
    wanted = expected.filter(pl.Series([len(line) <= width for line in lines])).select(columns)

    assert_frame_equal(shown, wanted)
    sizes = set(expected.get_column("result").drop_nulls())
    diagnosed = set(unparsed(events).get_column("line"))
    wrong = calls(events).filter(pl.col("result").is_not_null() & ~pl.col("result").is_in(sizes))
    assert [row for row in wrong.select("line", "end_line").rows() if diagnosed.isdisjoint(row)] == []


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("cut", range(1, 120, 17))
def test_a_log_cut_anywhere_keeps_what_stands_before(options: str, cut: int) -> None:
    """The lines before the cut are equal; the cut line is a diagnostic unless the cut left a whole line."""
    data = built(options, seed=3).encode()[:-cut]
    lines = data.count(b"\n")
    whole, found = read_strace(built(options, seed=3).encode()), read_strace(data)

    assert_frame_equal(found.head(lines), whole.head(lines))
    rest = data.rpartition(b"\n")[2].decode()
    last = unparsed(found).filter(pl.col("line") > lines)
    is_whole = bool(rest) and found.get_column("kind")[-1] in {"call", "resumed", "signal", "unfinished", "blank"}
    assert last.height == int(bool(rest) and not is_whole)
