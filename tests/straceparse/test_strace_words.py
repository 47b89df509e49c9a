"""A word of a line is another one: figures that are not read then are in the diagnostics."""

from __future__ import annotations

import pytest

from straceparse import read_strace, unparsed
from straceparse.log import read_log

BLOCK = (
    "{aio_data=0x7f12, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=256, aio_buf=0x7f41, aio_nbytes=8192, aio_offset=0}"
)
OLD_BLOCK = "{data:0x7fe3, pread, filedes:268, buf:0x7fe3, nbytes:8192, offset:0}"
EVENT = "{data=0x7f12, obj=0x7f13, res=8192, res2=0}"
OLD_EVENT = "{(nil), 0x7ffd6e764a50, 8192, 0}"
READ = '10:00:00.000100 pread64(257, "\\1\\2"..., 8192, 65536) = 8192 <0.000120>'
SUBMIT = f"10:00:00.000300 io_submit(0x7f01, 1, [{BLOCK}]) = 1 <0.000020>"
REAP = f"10:00:00.000500 io_getevents(0x7f01, 1, 128, [{EVENT}], NULL) = 1 <0.000010>"
WHOLE = [
    READ,
    SUBMIT,
    REAP,
    SUBMIT.replace(BLOCK, OLD_BLOCK).replace("[{", "{{").replace("}]", "}}"),
    REAP.replace(EVENT, OLD_EVENT).replace("[{", "{{").replace("}]", "}}"),
    "10:00:00.000900 io_submit(0x7f01, 1, {{(nil), 0, 0, 0, 268}}) = 1 <0.000020>",
    (
        "10:00:00.001000 io_submit(0x7f01, 1, [{aio_lio_opcode=IOCB_CMD_PREADV, aio_fildes=5, "
        "aio_buf=[{iov_base=0x7f, iov_len=4096}], aio_offset=0}]) = 1 <0.000020>"
    ),
    '10:00:00.001100 recv(7, "abc", 1024, 0) = 3 <0.000020>',
    '10:00:00.001200 unlinkat(7, "abc", 0) = 0 <0.000020>',
]


def test_what_strace_prints_has_no_diagnostic() -> None:
    """Control blocks and events of all versions, halves of calls, and calls that look like others."""
    halves = [
        "11 10:00:00.100000 io_getevents(0x7f, 1, 128,  <unfinished ...>",
        f"12 10:00:00.200000 io_submit(0x7f, 1, [{BLOCK}] <unfinished ...>",
        f"11 10:00:00.200010 <... io_getevents resumed> [{EVENT}], NULL) = 1",
        "12 10:00:00.200020 <... io_submit resumed> ) = 1",
        f"11 10:00:00.200030 <... io_getevents resumed>, [{EVENT}, {EVENT}], NULL) = 2",
    ]
    for lines in (WHOLE, halves):
        assert unparsed(read_strace("\n".join(lines).encode())).rows() == []


@pytest.mark.parametrize(
    ("line", "whole", "damaged"),
    [
        *((0, "pread64", word) for word in ("dread64", "prea", "PREAD64")),
        *((1, "io_submit", word) for word in ("do_submit", "io_submi")),
        (2, "io_getevents", "pv_nlalcluaz"),
        *((1, name, name.upper()) for name in ("aio_fildes", "aio_nbytes", "aio_offset", "aio_lio_opcode")),
        *((1, name, f"x{name}") for name in ("aio_data", "aio_fildes", "aio_nbytes", "aio_offset")),
        *((1, name, f"viq {name}") for name in ("aio_buf", "aio_nbytes")),
        *((2, f"{name}=", f"d{name}=") for name in ("data", "obj", "res", "res2")),
        (2, "res=8192, ", ""),
        (2, "0x7f12", "0x7émm"),
        *((3, name, f"d{name}") for name in ("nbytes", "filedes", "offset", "data")),
        *((place, "io_", "do_") for place in (3, 4, 5)),
    ],
)
def test_a_word_of_a_call_is_another(line: int, whole: str, damaged: str) -> None:
    """A name of a call or of a field that strace does not print: the line is named, and what is read is of it."""
    lines = [*WHOLE]
    lines[line] = lines[line].replace(whole, damaged)
    rows = unparsed(read_strace("\n".join(lines).encode())).select("line", "kind").rows()

    assert [number for number, _ in rows] == [line + 1]


@pytest.mark.parametrize("word", ["seconds", "usecs/call", "errors"])
def test_a_heading_of_a_summary_is_another(word: str) -> None:
    """A table of strace -c with a column that is not known: its heading is in the diagnostics."""
    table = (
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        " 75.51    0.000296           2       121         3 pread64\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        "100.00    0.000296           2       121         3 total\n"
    )

    assert read_log(table.encode()).diagnostics.is_empty()
    assert read_log(table.replace(word, f"{word[:-1]} ").encode()).diagnostics["line"].to_list() == [1]
