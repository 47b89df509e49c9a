"""Lines built from parts come back as built, in every dialect; damage raises nothing and loses nothing."""

import io
import random
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logframe import LogParseError
from logframe.limits import limits
from straceparse import EVENTS, calls, dialect, io_requests, parse_args, read_strace, unparsed
from straceparse.line_parser import read_line

#: Strings with everything that misleads a pattern, as strace escapes them.
ESCAPES = {10: "\\n", 9: "\\t", 34: '\\"', 92: "\\\\", 13: "\\r", 11: "\\v", 12: "\\f"}
TRICKY = [
    b") = 0 <0.000001>",
    b'"',
    b"\\",
    b"= -1 ENOENT (x)",
    b"(",
    b" <unfinished ...>",
    b"...",
    b"{[<",
    b"\x00\xff7",
]


def escaped(data: bytes) -> str:
    """A string as strace prints it: octal escapes as short as the next character allows."""
    shown = []
    for place, byte in enumerate(data):
        follows_digit = data[place + 1 : place + 2].isdigit()
        if byte in ESCAPES:
            shown.append(ESCAPES[byte])
        elif 32 <= byte < 127:
            shown.append(chr(byte))
        else:
            shown.append(f"\\{byte:03o}" if follows_digit else f"\\{byte:o}")
    return '"' + "".join(shown) + '"'


strings = st.lists(st.one_of(st.sampled_from(TRICKY), st.binary(max_size=6)), max_size=4).map(b"".join)
numbers = st.one_of(st.integers(-5, 1 << 40), st.integers(0, 1 << 63).map(hex))


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> tuple[str, object]:
    """An argument as text and as value."""
    kind = draw(st.sampled_from(["string", "number", "flags", "null"] + ["list", "struct", "tuple"] * (depth > 0)))
    match kind:
        case "string":
            data = draw(strings)
            return escaped(data) + draw(st.sampled_from(["", "..."])), data
        case "number":
            number = draw(numbers)
            return str(number), int(str(number), 0)
        case "flags":
            text = draw(st.sampled_from(["O_RDWR", "O_RDONLY|O_CLOEXEC", "S_IFREG|0644", "MAP_PRIVATE|0x40"]))
            return text, text
        case "null":
            return "NULL", None
    items = draw(st.lists(values(depth - 1), min_size=1, max_size=3))
    if kind == "list":
        return f"[{', '.join(text for text, _ in items)}]", [value for _, value in items]
    if kind == "tuple":
        return f"{{{', '.join(text for text, _ in items)}}}", tuple(value for _, value in items)
    named = ", ".join(f"field_{place}={text}" for place, (text, _) in enumerate(items))
    return f"{{{named}}}", {f"field_{place}": value for place, (_, value) in enumerate(items)}


@given(st.lists(values(), max_size=4))
@settings(max_examples=150, deadline=None)
def test_arguments_come_back(built: list[tuple[str, object]]) -> None:
    """Whatever is nested in whatever, each argument is the value it was built from."""
    assert parse_args(", ".join(text for text, _ in built)) == [[value for _, value in built]]


@dataclass(frozen=True)
class Style:
    """The options of a built log."""

    pid: str
    clock: str
    since: bool
    number: bool
    address: bool
    elapsed: int
    pad: int

    def prefix(self, pid: int, tick: int) -> str:
        """What stands before the event; a tick is a microsecond."""
        parts = {"none": "", "column": f"{pid:<5} ", "bracket": f"[pid {pid:>5}] ", "comm": f"{pid}<a b> "}[self.pid]
        seconds, micros = divmod(tick, 1_000_000)
        parts += {
            "none": "",
            "t": f"10:00:{seconds:02d} ",
            "tt": f"10:00:{seconds:02d}.{micros:06d} ",
            "ttt": f"17952531{seconds:02d}.{micros:06d} ",
            "ns": f"17952531{seconds:02d}.{micros:06d}000 ",
        }[self.clock]
        if self.since:
            parts += f"(+ {0:>5}.{tick % 1000:06d}) " if self.clock != "none" else f"{0:>6}.{tick % 1000:06d} "
        parts += "[  17] " if self.number else ""
        return parts + ("[00007f914b634c47] " if self.address else "")


styles = st.builds(
    Style,
    pid=st.sampled_from(["none", "column", "bracket", "comm"]),
    clock=st.sampled_from(["none", "t", "tt", "ttt", "ns"]),
    since=st.booleans(),
    number=st.booleans(),
    address=st.booleans(),
    elapsed=st.sampled_from([0, 3, 6, 9]),
    pad=st.sampled_from([1, 40]),
)
outcomes = st.sampled_from(
    [
        ("0", None, None),
        ("8192", None, None),
        ("0x7f914b634c47", None, None),
        ("?", None, None),
        ("-1", "ENOENT", "(No such file or directory)"),
        ("-1", "ENOENT", "(Datei oder Verzeichnis nicht gefunden)"),
        ("-1", "EAGAIN", "(資源が一時的に利用できません)"),
        ("?", "ERESTARTSYS", "(To be restarted if SA_RESTART is set)"),
        ("1", None, "([{fd=15, revents=POLLIN}], left {tv_sec=2, tv_nsec=9})"),
        ("0", None, "(Timeout)"),
        ("0", None, "(INJECTED)"),
    ]
)


@st.composite
def built_calls(draw: st.DrawFn) -> tuple[Style, list[tuple[str, tuple[object, ...]]]]:
    """A style, and lines in it with what must be read."""
    style = draw(styles)
    lines = []
    for tick in range(draw(st.integers(1, 8))):
        pid = draw(st.sampled_from([7, 999, 3698, 12345, 4194304]))
        name = draw(st.sampled_from(["read", "pread64", "io_submit", "_llseek", "syscall_334", "clone3"]))
        args = ", ".join(text for text, _ in draw(st.lists(values(), max_size=3)))
        value, errno, note = draw(outcomes)
        call = f"{style.prefix(pid, tick * 137)}{name}({args})".ljust(style.pad - 1)
        tail = " ".join(part for part in (value, errno, note) if part)
        digits = "0." + "0" * (style.elapsed - 1) + "7" if style.elapsed else ""
        text = f"{call} = {tail}" + (f" <{digits}>" if digits else "")
        elapsed = 7 * 10 ** (9 - style.elapsed) if digits else None
        shown_pid = None if style.pid == "none" else pid
        lines.append((text, ("call", shown_pid, name, args, value, errno, note, elapsed)))
    return style, lines


@given(built_calls())
@settings(max_examples=120, deadline=None)
def test_calls_of_every_dialect_come_back(built: tuple[Style, list[tuple[str, tuple[object, ...]]]]) -> None:
    """Pid, name, arguments, outcome and time of each call are what the line was built from."""
    style, lines = built
    log = "\n".join(text for text, _ in lines).encode()
    events = read_strace(log)
    found = events.select(
        "kind", "pid", "syscall", "args", "result_text", "errno", "note", pl.col("elapsed").cast(pl.Int64)
    )

    assert found.rows() == [parts for _, parts in lines]
    assert [read_line(text)[0] for text, _ in lines] == ["call"] * len(lines)
    found = dialect(log)
    assert (found.relative_ts != "none", found.has_syscall_number, found.has_instruction_pointer) == (
        style.since,
        style.number,
        style.address,
    )
    assert found.elapsed_digits == (style.elapsed or 0)


PIECES = [
    *('"', "\\", '\\"', " = ", "= ", ")", "(", "<", ">", "[", "]", "{", "}", "?", "\t", "é", "\x00", "\r", "\x1b[0m"),
    *(" <unfinished ...>", "<... ", " resumed>", " <0.000001>", "-1 EAGAIN (x)", "/*", "*/", "...", ", ", "[pid 12] "),
    *("+++ exited with 0 +++", "--- SIGCHLD {x} ---", "strace: Process 12 detached", "0x", "99999999999999999999"),
]


def mutated(line: str, other: str, chance: random.Random) -> str:
    """A line with one or two wounds: cut, spliced with another, a piece put in or lost."""
    for _ in range(chance.randint(1, 2)):
        start = chance.randint(0, len(line))
        end = min(len(line), start + chance.randint(0, 12))
        line = chance.choice(
            [
                line[:start],
                line[start:],
                line[:start] + line[end:],
                line[:start] + chance.choice(PIECES) + line[start:],
                line[:start] + chance.choice(PIECES) + line[end:],
                line[:start] + other[chance.randint(0, len(other)) :],
            ]
        )
    return line.replace("\n", "")


@pytest.mark.corpus
@pytest.mark.parametrize("seed", range(3))
def test_damaged_lines_raise_nothing_and_none_is_lost(
    events_of: dict[str, pl.DataFrame], strace_logs: Path, seed: int
) -> None:
    """Logs of damaged lines from everywhere: every line is an event, and all that follows works."""
    chance = random.Random(seed)  # noqa: S311 - reproducible damage, no secret
    lines = []
    for name in chance.sample(sorted(events_of), 25):
        source = (strace_logs / name).read_text(encoding="utf-8").splitlines()
        lines += [mutated(chance.choice(source), chance.choice(source), chance) for _ in range(12)]
    log = "\n".join(lines).encode()
    events = read_strace(log)

    assert events.height == len(lines)
    assert events.schema == EVENTS
    assert io_requests(calls(events)).height >= 0
    assert unparsed(events).get_column("reason").null_count() == 0
    assert dialect(log).lines
    parse_args(events.get_column("args"))


@given(st.binary(min_size=1, max_size=400))
@settings(max_examples=150, deadline=None)
def test_random_bytes(data: bytes) -> None:
    """Bytes that are no log give events or a `LogParseError`, nothing else."""
    try:
        events = read_strace(data)
    except LogParseError:
        return
    assert events.schema == EVENTS
    calls(events)
    unparsed(events)


LINE = '3698  09:36:52.167719 read(3, "a", 4096) = 1 <0.000041>'


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_other_encodings(encoding: str) -> None:
    """A log that an editor of Windows saved is the same log."""
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    events = read_strace(f"{mark}{LINE}\r\n{LINE}\r\n".encode(encoding))

    assert events.select("pid", "name", "result").rows() == [(3698, "read", 1)] * 2


def test_a_line_of_ten_megabytes() -> None:
    """A string of 10 MB is one argument; without its end the line is cut, and the next is read."""
    text = "a" * 10_000_000
    whole = f'write(1, "{text}", 10000000) = 10000000'
    with limits(max_line_bytes=1 << 24):
        events = read_strace(f'{whole}\n{LINE}\nwrite(1, "{text}\n{LINE}\n{text}'.encode())

    assert events.get_column("kind").to_list() == ["call", "call", "cut", "call", "unparsed"]
    assert events.get_column("args").str.len_chars()[0] == len(text) + len('1, "", 10000000')


def test_nul_bytes_stay_in_their_line() -> None:
    """A hole in a log (a crashed disk's zeros) is one unread line."""
    events = read_strace(f"{LINE}\n".encode() + b"\0" * 4096 + f"\n{LINE}\n".encode())

    assert events.get_column("kind").to_list() == ["call", "unparsed", "call"]


def test_interleaved_logs_are_read_line_by_line() -> None:
    """Two dialects in one file: each line is read by its own shape."""
    events = read_strace(f"{LINE}\n     0.000100 close(4) = 0\n[pid 12] fsync(3) = 0\n".encode() * 3)

    assert events.get_column("name").to_list() == ["read", "close", "fsync"] * 3
    assert events.get_column("kind").to_list() == ["call"] * 9


def test_strict_raises_at_the_first_unread_line() -> None:
    """With `strict` the error names line and text; a log without such a line raises nothing."""
    with pytest.raises(LogParseError, match="not a line of strace") as caught:
        read_strace(io.BytesIO(f"{LINE}\nhello\nworld\n".encode()), strict=True)

    assert (caught.value.line, caught.value.text) == (2, "hello")
    assert read_strace(LINE.encode(), strict=True).height == 1


@pytest.mark.parametrize("source", [b"", b"\xef\xbb\xbf"])
def test_an_empty_log_raises(source: bytes) -> None:
    """Nothing at all is an error, not an empty frame."""
    with pytest.raises(LogParseError, match="empty"):
        read_strace(source)


def test_carriage_returns_and_colours_are_removed() -> None:
    """Pasted and coloured logs are the same events."""
    coloured = "\x1b[33mread\x1b[0m\x1b[1m(\x1b[0m3\x1b[1m)\x1b[0m = 0\r\n" * 2

    assert read_strace(coloured.encode()).select("name", "args", "result_text").rows() == [("read", "3", "0")] * 2
