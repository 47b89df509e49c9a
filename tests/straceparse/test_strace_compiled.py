"""The compiled engine gives the events of the Polars expressions, bit for bit, on regular, odd and damaged lines."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import straceparse
from logframe import Log, open_log
from logframe.kernel import load_kernel
from logframe.native import engine
from straceparse.batches import BatchReader, _lines
from straceparse.dialects import Dialect, dialect_of
from straceparse.prefix import layout_of
from straceparse.records import GRAMMAR

#: Lines damaged by one test of one style; a long run takes 100,000 (a million in all).
DAMAGED = int(os.environ.get("IOLAB_DAMAGED_LINES", "1500"))
#: What damages a line, beside cuts and pieces of other lines.
MARKS = (
    '"',
    "\\",
    "(",
    ")",
    "<",
    ">",
    "{",
    "=",
    " = ",
    ") = ",
    " <0.000001>",
    "?",
    "0",
    "0x",
    "-",
    "é",
    "\r",
    "\t",
    "\0",
    "E",
    " ",
)

COLUMNS = list(straceparse.EVENTS)

Prefix = Callable[[random.Random, int], str]


def _stamp(number: int, digits: int = 6) -> str:
    return f"{1_795_253_115 + number // 1000}.{number % 1000 * 1001:06d}{'0' * (digits - 6)}"


def _day(number: int) -> str:
    return f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.{number % 1_000_000:06d}"


#: Options of strace -> what stands before each line, and whether -T, -y and split calls are there.
STYLES: dict[str, tuple[Prefix, bool, bool, bool]] = {
    "plain": (lambda _, __: "", False, False, False),
    "-T": (lambda _, __: "", True, False, False),
    "-r": (lambda chance, _: f"{chance.randint(0, 12):6d}.{chance.randint(0, 999_999):06d} ", False, False, False),
    "-f -ttt -T": (lambda chance, n: f"{chance.randint(9, 99_999):<5d} {_stamp(n)} ", True, False, True),
    "-f -tt -T -y": (lambda chance, n: f"{chance.randint(9, 99_999):<5d} {_day(n)} ", True, True, True),
    "-tt -r": (
        lambda chance, n: f"{_day(n)} (+ {chance.randint(0, 99):5d}.{chance.randint(0, 999_999):06d}) ",
        False,
        False,
        False,
    ),
    "-f on standard error": (lambda chance, _: f"[pid {chance.randint(9, 99_999):5d}] ", False, False, True),
    "-n -i": (lambda chance, _: f"[{chance.randint(0, 400):4d}] [{chance.getrandbits(48):016x}] ", False, False, False),
    "-i with blanks": (lambda chance, _: f"[    {chance.getrandbits(48):012x}] ", False, False, False),
    "-ttt with nanoseconds": (lambda _, n: f"{_stamp(n, 9)} ", True, False, False),
    "-t": (lambda _, n: f"{_day(n)[:8]} ", False, True, False),
}


def _results(chance: random.Random) -> str:
    number = chance.choice((0, 1, 7, 8192, 10**12, 999_999_999_999_999_999, 2**63 - 1, 2**63, 10**20))
    return chance.choice(
        (
            *(str(number), f"-{number}", hex(number), f"0{chance.randint(0, 777)}", f"-0{number}", "0x", "?", "00"),
            *(
                "-1 ENOENT (No such file or directory)",
                "-1 EAGAIN (Resource (temporarily) unavailable)",
                "? ERESTARTSYS (To be restarted)",
            ),
            *("1 ([{fd=3, revents=POLLIN}])", "0x8002 (flags O_RDWR|O_LARGEFILE)", "0 (Timeout)", "-1 EX = 5 (a = b)"),
            *("3</etc/x (deleted) = 1>", "3</a b> (text = here)", "4<a> EIO (x)", "5<socket:[12]>", "12<>", "3</a<b>>"),
        )
    )


def _arguments(chance: random.Random) -> str:
    parts = (
        *(
            "",
            "3",
            "0x1f",
            '"a\\"b"...',
            '"a) = 1", 5',
            "NULL",
            "[{fd=3, events=POLLIN}]",
            "{a=1, b={2, 3}}",
            "O_RDWR|O_CLOEXEC",
        ),
        *(
            "3</etc/passwd>",
            "fd=3</u01/a b.dbf>",
            "AT_FDCWD</tmp>",
            '"x = y"',
            '" = "',
            "a=b",
            "=",
            "(1 << 3)",
            "f(g(1))",
            "f(g(h(1)))",
        ),
        *("18446744073709551615", "  ", '"é"', "7<socket:[99]>(deleted)", "[1 => 2]", "{st_mode=S_IFREG|0644, ...}"),
    )
    return ", ".join(chance.choices(parts, k=chance.randint(0, 4)))


def _event(chance: random.Random, style: tuple[Prefix, bool, bool, bool]) -> str:
    _, has_elapsed, _, can_split = style
    name = chance.choice(
        ("read", "pread", "pwrite", "pread64", "io_submit", "a", "_x9", "clock_nanosleep_time64", "n" * 48, "n" * 49)
    )
    end = f" <{chance.randint(0, 9)}.{chance.randint(0, 999_999):06d}>" if has_elapsed else ""
    arguments, pad = _arguments(chance), " " * chance.choice((0, 0, 0, 1, 7))
    match chance.randint(0, 19):
        case 0:
            return f"+++ exited with {chance.choice((0, 1, 137, '00', '007'))} +++"
        case 1:
            return f"--- SIG{chance.choice(('ALRM', 'RT_3', 'x'))} {{si_signo=SIGALRM}} {chance.choice(('', ' '))}---"
        case 2:
            return f"{name}({chance.randint(0, 9)}){pad} = ?"
        case 3 | 4 if can_split:
            return f"{name}({arguments}{chance.choice(('', ', ', ' '))} <unfinished ...>"
        case 5 | 6 if can_split:
            return f"<... {name} resumed>{arguments}){pad} = {_results(chance)}{end}"
        case 7:
            return chance.choice([sample for _, sample in GRAMMAR.samples])
        case _:
            return f"{name}({arguments}){pad} = {_results(chance)}{end}"


def _damaged(line: str, other: str, chance: random.Random) -> str:
    start = chance.randint(0, len(line))
    end = chance.randint(start, len(line))
    return chance.choice(
        (
            *(
                line[:start],
                line[start:],
                line[:start] + line[end:],
                line[:start] + chance.choice(MARKS) + line[start:],
            ),
            *(line[:start] + other, line[:start] + chance.choice(MARKS) + line[end:], line + chance.choice(MARKS)),
        )
    )


def whole_lines(name: str) -> bytes:
    """Lines of a style as strace prints them, to know the style by."""
    chance = random.Random(name)  # noqa: S311 - reproducible lines, no secret
    prefix, has_elapsed, has_paths, can_split = STYLES[name]
    elapsed = " <0.000123>" if has_elapsed else ""
    path = "</etc/x>" if has_paths else ""
    lines = [f'{prefix(chance, number)}read(3{path}, "x"..., 10) = 10{elapsed}' for number in range(500)]
    if can_split:
        lines += [f"{prefix(chance, number)}read(3,  <unfinished ...>" for number in range(20)]
    return "\n".join([*lines, ""]).encode()


def log_of(name: str, count: int, seed: int, *, damaged: bool = False) -> bytes:
    """Lines of a style: regular ones, odd ones, and damaged ones."""
    chance = random.Random(f"{name} {seed}")  # noqa: S311 - reproducible lines, no secret
    style = STYLES[name]
    lines = [style[0](chance, number) + _event(chance, style) for number in range(count)]
    if damaged:
        lines = [_damaged(line, chance.choice(lines), chance) for line in lines]
    return whole_lines(name) + "\n".join(lines).encode()


def dialect_for(name: str) -> Dialect:
    """The dialect of a style."""
    return dialect_of([open_log(whole_lines(name))])


def reader_of(dialect: Dialect, batch_bytes: int = 1 << 16) -> BatchReader:
    """A reader for the logs of a dialect."""
    return BatchReader(layout_of(dialect.lines), dialect, batch_bytes=batch_bytes)


def by_compiled(log: Log, dialect: Dialect, columns: list[str], batch_bytes: int = 1 << 16) -> pl.DataFrame | None:
    """The events by the compiled engine; None for a log that only expressions read."""
    reader = reader_of(dialect, batch_bytes)
    batches = reader.lines_of(log, None)
    return None if isinstance(batches, pl.LazyFrame) else pl.concat(list(reader.events(batches, columns)))


def by_expressions(log: Log, dialect: Dialect, columns: list[str]) -> pl.DataFrame:
    """The events by Polars expressions."""
    return pl.concat(list(reader_of(dialect).events(_lines(log, dialect, None), columns)))


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    if load_kernel() is None:
        pytest.skip(f"no compiled engine: {engine()}")


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.parametrize("name", STYLES)
def test_engines_agree(name: str, *, damaged: bool) -> None:
    """Every column of every line, for each style of log, with odd results and with damage."""
    dialect = dialect_for(name)
    for seed in range(max(1, DAMAGED // 5000)):
        log = open_log(log_of(name, min(DAMAGED, 5000), seed, damaged=damaged))
        found = by_compiled(log, dialect, COLUMNS)

        assert found is not None
        assert_frame_equal(found, by_expressions(log, dialect, COLUMNS))


def test_engines_agree_on_carriage_returns() -> None:
    """Several at the end of a line, or nothing else in it, are none of the call."""
    dialect = dialect_for("-f -ttt -T")
    lines = log_of("-f -ttt -T", 40, 1).split(b"\n")
    for place in range(5, 25):
        lines[place] = lines[place] * (place % 4 > 0) + b"\r" * (place % 7)
    log = open_log(b"\n".join(lines))
    found = by_compiled(log, dialect, COLUMNS)

    assert found is not None
    assert_frame_equal(found, by_expressions(log, dialect, COLUMNS))
    assert not found.get_column("note").str.contains("\r").any()


@pytest.mark.parametrize("name", STYLES)
def test_styles_are_cut_by_compiled_code(name: str) -> None:
    """The logs of the test above are what it compares: many of their lines are cut, not handed back."""
    cutter = reader_of(dialect_for(name))._cutter  # noqa: SLF001 - what was cut does not show outside
    assert cutter is not None
    (batch,) = cutter.batches(open_log(log_of(name, 400, 1)), None, 1 << 20)
    _, is_filled, rest = cutter.read(batch, ["line", "name"])

    assert is_filled.sum() > 570
    assert rest is not None
    assert rest.height + is_filled.sum() == len(is_filled) == batch.lines.count


@pytest.mark.parametrize("name", STYLES)
def test_columns_one_by_one(name: str) -> None:
    """A column that is asked for alone is the column of the whole frame."""
    lines = log_of(name, 300, 2).splitlines(keepends=True)[::8]
    log, dialect = open_log(b"".join(lines)), dialect_for(name)
    whole = by_expressions(log, dialect, COLUMNS)
    for column in COLUMNS:
        alone = by_compiled(log, dialect, [column])

        assert alone is not None
        assert_frame_equal(alone, whole.select(column))


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 519, 520, 521, 900, 5000])
def test_number_of_rows(rows: int) -> None:
    """`n_rows` ends within a batch, at its end, or nowhere."""
    data = log_of("-f -ttt -T", 400, 3)
    found = straceparse.scan_strace(data, n_rows=rows).collect()

    assert_frame_equal(found, straceparse.scan_strace(data).collect().head(rows))


def test_file_and_bytes(tmp_path: Path) -> None:
    """A file in pieces, lines longer than a piece, and no newline at the end: the events of the bytes."""
    long = b'1     1795253115.000001 read(3, "' + b"x" * 300_000 + b'"...) = 1 <0.000001>'
    data = log_of("-f -ttt -T", 3000, 4, damaged=True) + b"\n" + long
    path = tmp_path / "a.strace"
    path.write_bytes(data)
    dialect = dialect_for("-f -ttt -T")
    found = by_compiled(open_log(path), dialect, COLUMNS, batch_bytes=1)

    assert found is not None
    assert_frame_equal(found, by_compiled(open_log(data), dialect, COLUMNS, batch_bytes=1 << 24))
    assert found.get_column("args").str.len_bytes()[-1] == 300_008


def test_log_that_shrinks_or_grows(tmp_path: Path) -> None:
    """A log that is cut or written to while it is read ends where it ends; bytes that are no UTF-8 lose nothing."""
    path = tmp_path / "a.strace"
    line = b'3 1795253115.000001 read(3, "x"..., 10) = 10 <0.000010>\n'
    path.write_bytes(line * 4000)
    events = straceparse.scan_strace(path)
    path.write_bytes(line * 10)
    assert events.collect().height == 10
    path.write_bytes(line * 20 + b"\xff\xfe no text \xc3\n" + line)
    found = events.collect()

    assert found.height == 22
    assert found.row(20, named=True)["note"] == r"\xff\xfe no text \xc3"
    assert found.get_column("kind").to_list()[-1] == "call"


@pytest.mark.corpus
def test_engines_agree_on_real_logs(opened: dict[str, tuple[Log, Dialect]]) -> None:
    """Every line of every real log that the compiled engine reads."""
    lines = 0
    for log, dialect in opened.values():
        found = by_compiled(log, dialect, COLUMNS)
        if found is not None:
            assert_frame_equal(found, by_expressions(log, dialect, COLUMNS))
            lines += found.height

    assert lines > 30_000
