"""Mutators: what damage, editors, mail programs and tools do to a log; each takes its bytes and a generator."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

#: Pieces that are often at the edges of what a reader expects.
TOKENS: Final = (
    *(b"\x00", b"\xff", b"\xe2\x82", b"\x1b[31m", b"\r", b"\t", b"\x0c", b"\x1a", b"\xef\xbb\xbf"),
    *(b"-1", b"0", b"99999999999999999999", b"1e400", b"NaN", b"####", b"N/A", b"1.234,56", b"0x", b"?"),
    *(b"(", b")", b'"', b"'", b"<", b">", b"&lt;", b"</td>", b"<table>", b"--", b"/*", b"|", b"=", b"> "),
    *(b"SQL> ", b"Elapsed: 00:00:00.01", b"-----", b"<unfinished ...>", b"resumed>", b"WAIT #1:", b"EXEC #0:"),
)
_DIGITS: Final = re.compile(rb"[0-9]+")
#: Figures, and no digits of names, clocks and paths.
_FIGURES: Final = re.compile(rb"(?<![\w#@:/.-])[0-9][0-9,]*(?:\.[0-9]+)?(?![\w:/])|(?<==)[0-9]+(?![\w:/])")
_start: Final = re.Match.start


def flip(data: bytes, chance: random.Random) -> bytes:
    """A few bytes are others."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def insert(data: bytes, chance: random.Random) -> bytes:
    """A token is inserted, once or often."""
    for _ in range(chance.choice((1, 1, 3, 20))):
        place = chance.randrange(len(data) + 1)
        data = data[:place] + chance.choice(TOKENS) * chance.choice((1, 1, 2, 300)) + data[place:]
    return data


def cut(data: bytes, chance: random.Random) -> bytes:
    """The end, the beginning or a piece is missing."""
    first, second = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return chance.choice((data[:first], data[second:], data[:first] + data[second:]))


def repeat(data: bytes, chance: random.Random) -> bytes:
    """A piece is there twice."""
    first, second = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:second] + data[first:]


def numbers(data: bytes, chance: random.Random) -> bytes:
    """Digits are others: figures that contradict each other, dates that do not exist."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    changed = bytearray(data)
    for place in chance.sample(places, min(len(places), chance.randint(1, 30))):
        changed[place] = 48 + chance.randrange(10)
    return bytes(changed)


def long_numbers(data: bytes, chance: random.Random) -> bytes:
    """A number has more digits than a machine word, a decimal, or Python's limit for integers holds."""
    runs = list(_DIGITS.finditer(data))
    for run in sorted(chance.sample(runs, min(len(runs), chance.choice((1, 1, 4)))), reverse=True, key=_start):
        digits = chance.choice((b"1", b"9")) + chance.choice((b"0", b"9")) * chance.choice((9, 18, 19, 40, 5000))
        data = data[: run.start()] + digits + data[run.end() :]
    return data


def extremes(data: bytes, chance: random.Random) -> bytes:
    """The figures of all lines, or of some, are zero, as large as they fit, not shown or missing."""
    table = bytes.maketrans(b"0123456789", 10 * chance.choice((b"0", b"0", b"9", b"#", b" ")))
    share = chance.choice((0.1, 0.5, 1.0))
    found = data.split(b"\n")
    for place in range(chance.choice((0, 5, 30)), len(found)):
        if chance.random() < share:
            found[place] = _FIGURES.sub(lambda figure: figure.group().translate(table), found[place])
    return b"\n".join(found)


def lines(data: bytes, chance: random.Random) -> bytes:
    """Lines are dropped, doubled, moved, joined, split or blank."""
    found = data.split(b"\n")
    for _ in range(chance.randint(1, 6)):
        place, other = chance.randrange(len(found)), chance.randrange(len(found))
        match chance.randrange(7):
            case 0 if len(found) > 1:
                del found[place]
            case 1:
                found.insert(other, found[place])
            case 2:
                found[place], found[other] = found[other], found[place]
            case 3 if place + 1 < len(found):
                found[place : place + 2] = [found[place] + found[place + 1]]
            case 4 if found[place]:
                middle = chance.randrange(len(found[place]))
                found[place : place + 1] = [found[place][:middle], found[place][middle:]]
            case 5:
                found.insert(place, b"")
            case _:
                found[place] = chance.choice(TOKENS) + found[place]
    return b"\n".join(found)


def layout(data: bytes, chance: random.Random) -> bytes:
    """What programs do to every line: other line ends, quotes, indents, padding, doubled blank lines, tabs."""
    match chance.randrange(7):
        case 0:
            return data.replace(b"\n", b"\r\n")
        case 1:
            return data.replace(b"\n", b"\r")
        case 2:
            return b"\n".join(b"> " + line for line in data.split(b"\n"))
        case 3:
            return b"\n".join(b"    " + line for line in data.split(b"\n"))
        case 4:
            return b"\n".join(line.ljust(chance.choice((80, 133, 500))) for line in data.split(b"\n"))
        case 5:
            return data.replace(b"\n", b"\n\n")
        case _:
            return data.replace(b"        ", b"\t")


def encode(data: bytes, chance: random.Random) -> bytes:
    """Another encoding."""
    text = data.decode("utf-8", errors="replace")
    return text.encode(chance.choice(("utf-16", "utf-16-le", "utf-8-sig", "cp1252", "gb18030")), errors="replace")


def long_line(data: bytes, chance: random.Random) -> bytes:
    """One line is very long: a token, or some characters of the log, again and again, somewhere in a line."""
    first = chance.randrange(len(data) + 1)
    few = data[first : first + chance.choice((1, 2, 3, 4, 5, 6, 12, 24))] or b"x"
    run = chance.choice((b"x", b" ", b"(", b"0", b".", b"a,", chance.choice(TOKENS), few))
    place = max(data.find(b"\n", first), 0) + chance.choice((0, 0, 1, 1, -1, chance.randint(0, 30)))
    return data[:place] + run * (chance.choice((500, 10_000, 200_000)) // len(run)) + data[place:]


def pack(data: bytes, chance: random.Random) -> bytes:
    """Compressed or in an archive, and perhaps damaged there."""
    match chance.randrange(5):
        case 0:
            packed = gzip.compress(data, mtime=0)
        case 1:
            packed = bz2.compress(data)
        case 2:
            packed = lzma.compress(data)
        case 3:
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as archive:
                archive.writestr(zipfile.ZipInfo("log"), data)
            packed = out.getvalue()
        case _:
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w") as tar:
                entry = tarfile.TarInfo("log")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
            packed = out.getvalue()
    return flip(packed, chance) if chance.random() < 0.5 else packed


MUTATORS: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    flip,
    insert,
    cut,
    repeat,
    numbers,
    long_numbers,
    extremes,
    lines,
    layout,
    encode,
    long_line,
    pack,
)


def mutate(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """One to three mutations; sometimes the log continues as another one."""
    if chance.random() < 0.1:
        data = data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]
    for _ in range(chance.choice((1, 1, 2, 3))):
        if data:
            data = chance.choice(MUTATORS)(data, chance)
    return data
