"""Opening logs: every way a log comes in gives the same lines, and what is wrong with one is said."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard

from logframe import LogNotFoundError, LogParseError, open_log, open_logs
from logframe import source as module

LINES = ["one", "", "three  ", "fünf", "\tsix"]
TEXT = "\n".join(LINES) + "\n"
DATA = TEXT.encode()


def zipped(**members: bytes) -> bytes:
    """A zip archive of the members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": lambda data: bz2.compress(data, 1),
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE),
    "zstd": zstandard.compress,
    "zip": lambda data: zipped(log=data),
}
#: The format before xz has no magic number of its own, so that more of its header must be there.
HEADERS = {"lzma": 13}
#: Those whose files may simply be joined, end to end.
STREAMS = sorted(PACKERS.keys() - {"zip"})


@pytest.mark.parametrize("compression", PACKERS)
def test_compressed(compression: str, tmp_path: Path) -> None:
    """Compression is known by its magic bytes, whatever the name of the file says."""
    path = tmp_path / "log.txt"
    path.write_bytes(PACKERS[compression](DATA))
    log = open_log(path)

    assert (log.compression, log.encoding, log.notes, log.lines()) == (compression, "utf-8", (), LINES)


def test_plain_is_scanned_where_it_lies(tmp_path: Path) -> None:
    """A UTF-8 file is not copied, even when its name promises compression."""
    path = tmp_path / "log.gz"
    path.write_bytes(DATA)
    log = open_log(path)

    assert (log.target, log.compression, log.name, log.lines()) == (path, None, str(path), LINES)


@pytest.mark.parametrize("compression", STREAMS)
def test_joined_streams(compression: str) -> None:
    """Two compressed files joined end to end, as log rotation makes them, are one log of both."""
    pack = PACKERS[compression]

    assert open_log(pack(b"a\nb\n") + pack(b"c\n")).lines() == ["a", "b", "c"]


@pytest.mark.parametrize("compression", STREAMS)
def test_cut_short(compression: str) -> None:
    """Compressed data that ends early gives what stands before the end, and a note."""
    numbers = [f"line {number * 7919 % 1_000_003}" for number in range(60_000)]
    packed = PACKERS[compression]("\n".join(numbers).encode())
    log = open_log(packed[: len(packed) * 3 // 4])
    lines = log.lines()

    assert [note.kind for note in log.notes] == ["unreadable"]
    assert 1_000 < len(lines) < 60_000
    assert lines[:-1] == numbers[: len(lines) - 1]


@pytest.mark.parametrize("compression", STREAMS)
def test_nothing_but_a_magic_number(compression: str) -> None:
    """Data that only begins like compressed data is refused in one sentence."""
    with pytest.raises(LogParseError, match="damaged compressed data"):
        open_logs(PACKERS[compression](DATA)[: HEADERS.get(compression, 6)] + b"\xee" * 40)


def test_zip_of_several() -> None:
    """Each member of an archive is a log of its own, in the order of the archive."""
    logs = open_logs({"name": "logs.zip", "content": zipped(b=b"second\n", a="erst\u00e9".encode("cp1252"), empty=b"")})

    assert [log.name for log in logs] == ["logs.zip/b", "logs.zip/a", "logs.zip/empty"]
    assert [log.lines() for log in logs] == [["second"], ["ersté"], []]
    assert [log.encoding for log in logs] == ["utf-8", "cp1252", "utf-8"]


@pytest.mark.parametrize("count", [2, 300])
def test_zip_of_overlapping_members(count: int) -> None:
    """Members that are read from one place in the archive would be much from little: they are refused unread."""
    data = zipped(log=DATA)
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entries = data[start:end] * count
    record = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(entries), start, 0)

    with pytest.raises(LogParseError, match="overlap"):
        open_logs(data[:start] + entries + record)
    assert open_log(data).lines() == LINES


def test_members_of_an_archive_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many members there are, what of them is held in memory is bounded: the others are files."""
    monkeypatch.setattr(module, "MEMORY_LIMIT", 100)
    logs = open_logs(zipped(**{f"log{number}": b"x" * 39 + b"\n" for number in range(5)}))

    assert [isinstance(log.target, bytes) for log in logs] == [True, True, False, False, False]
    assert {tuple(log.lines()) for log in logs} == {("x" * 39,)}


def test_zip_encrypted() -> None:
    """An archive with a password is refused, with what to do."""
    data = bytearray(zipped(log=DATA))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1

    with pytest.raises(LogParseError, match="encrypted"):
        open_logs(bytes(data))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped(), None),
        (zipped(log=DATA)[:60], "damaged zip archive"),
    ],
    ids=["no member", "no directory"],
)
def test_zip_unusable(data: bytes, message: str | None) -> None:
    """An archive without a readable member gives an error, never an empty result.

    An empty archive is only its end record, which no magic number of a member opens: it holds NUL bytes and no line.
    """
    if message is None:
        assert open_log(data).lines() == [data.decode()]
        return
    with pytest.raises(LogParseError, match=message):
        open_logs(data)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"\xef\xbb\xbf" + DATA, "utf-8"),
        (TEXT.encode("utf-16"), "utf-16"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-32"), "utf-32"),
        (TEXT.encode("cp1252"), "cp1252"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_encodings(data: bytes, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """Whatever the encoding, the lines are the same, and no byte order mark stands in the first."""
    log = open_log(pack(data))

    assert (log.encoding, log.lines()) == (encoding, LINES)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("已用时间:  00: 00: 01.10\n执行计划\n", "gb18030"),
        ("Ecoulé : 00 :00 :00.03\n", "cp1252"),
        ("\x81 é\n", "latin-1"),
    ],
)
def test_guessed_encodings_are_reported(text: str, encoding: str) -> None:
    """Text that is not UTF-8 is read as what fits, and the guess is a diagnostic that names the way out."""
    log = open_log(text.encode(encoding))

    assert (log.encoding, log.text()) == (encoding, text)
    assert [(note.kind, "encoding='...'" in note.reason) for note in log.notes] == [("encoding", True)]


def test_named_encoding() -> None:
    """The caller's encoding beats the guess; one that Python lacks is refused."""
    data = "Затрач.время: 00:00:11.18".encode("koi8-r")

    assert open_log(data, encoding="koi8-r").text() == "Затрач.время: 00:00:11.18"
    with pytest.raises(LogParseError, match="unknown encoding 'klingon'"):
        open_log(data, encoding="klingon")


def test_named_encoding_that_does_not_fit() -> None:
    """Bytes that the named encoding cannot decode are written as escapes and noted; none is dropped."""
    log = open_log(b"ab\xffcd\n", encoding="ascii")

    assert (log.lines(), [note.kind for note in log.notes]) == ([r"ab\xffcd"], ["encoding"])


def test_utf8_with_stray_bytes() -> None:
    r"""Mostly UTF-8 text stays UTF-8: each stray byte is written as \xNN, each such line has a note."""
    log = open_log("ü\né\n".encode() + b"b\xff\xfec\nplain\n")

    assert (log.encoding, log.lines()) == ("utf-8", ["ü", "é", r"b\xff\xfec", "plain"])
    assert [(note.line, note.kind, note.text) for note in log.notes] == [(3, "encoding", r"b\xff\xfec")]


def test_many_stray_bytes_are_summed_up() -> None:
    """Twenty lines are listed; one more row tells how many there are."""
    log = open_log(("ü\n" * 40).encode() + b"x\xff\n" * 30)

    assert len(log.notes) == 21
    assert log.notes[-1].reason.startswith("30 lines")


def test_character_across_pieces() -> None:
    """A character whose bytes lie in two pieces of the file is one character."""
    text = "a" * (module.CHUNK - 1) + "ü\nend"

    assert open_log(text.encode()).lines() == [text[:-4], "end"]
    assert open_log(text.encode("utf-16")).lines() == [text[:-4], "end"]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\fb\vc\n", ["a\fb\vc"]),
        ("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c"]),
        (b"a\rb\n", ["a\rb"]),
    ],
)
def test_lines(data: bytes, lines: list[str], tmp_path: Path) -> None:
    """Only a line feed ends a line; from bytes, from a file, by head and by scan it is the same."""
    path = tmp_path / "log"
    path.write_bytes(data)
    for log in (open_log(data), open_log(path)):
        scanned = log.scan().collect().get_column("line").to_list()

        assert (log.lines(), log.head()) == (lines, lines)
        assert [line.removesuffix("\r") for line in scanned] == lines
        assert log.is_empty() == (not data)


def test_scan_counts_from_one() -> None:
    """Line numbers are those an editor shows."""
    frame = open_log(b"a\nb").scan(name="text", row_index_name="line").collect()

    assert frame.rows() == [(1, "a"), (2, "b")]
    assert open_log(b"").scan(name="text", row_index_name="line").collect().schema == {
        "line": pl.UInt32,
        "text": pl.String,
    }


def test_head_leaves_out_a_cut_line(tmp_path: Path) -> None:
    """The last line of a head is whole, or is left out; the only line is never left out."""
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\nthree\n")

    assert open_log(path).head(9) == ["one", "two"]
    assert open_log(path).head(6) == ["one"]
    assert open_log(path).head(2) == ["one"[:3]]


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, io.BytesIO, lambda data: io.StringIO(data.decode())])
def test_in_memory(wrap: Callable[[bytes], module.Source]) -> None:
    """Bytes in any form, and file objects, binary or text."""
    assert open_log(wrap(DATA)).lines() == LINES


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_open_file(mode: str, tmp_path: Path) -> None:
    """An open file keeps its name."""
    path = tmp_path / "log"
    path.write_bytes(DATA)
    with path.open(mode, encoding=None if mode == "rb" else "utf-8") as file:
        log = open_log(file)

    assert (log.name, log.lines()) == (str(path), LINES)


def test_uploads() -> None:
    """What a notebook's upload widget holds: mappings with a name and a memory view."""
    uploads = ({"name": "a.log", "content": memoryview(DATA)}, {"name": "b.log.gz", "content": gzip.compress(DATA)})

    assert [(log.name, log.lines()) for log in open_logs(uploads)] == [("a.log", LINES), ("b.log.gz", LINES)]
    with pytest.raises(TypeError, match="'content'"):
        open_logs({"name": "a.log"})


def test_paths(tmp_path: Path) -> None:
    """A path, a string, a glob, a folder, a file URL and lists of them."""
    for name in ("b.log", "a.log", "c.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "d.log").write_text("d.log", encoding="utf-8")

    def names(source: module.Source) -> list[str]:
        return [log.text() for log in open_logs(source)]

    assert names(tmp_path / "a.log") == names(str(tmp_path / "a.log")) == ["a.log"]
    assert names((tmp_path / "a.log").as_uri()) == ["a.log"]
    assert names(str(tmp_path / "*.log")) == ["a.log", "b.log"]
    assert names(str(tmp_path / "**" / "*.log")) == ["a.log", "b.log", "d.log"]
    assert names(tmp_path) == ["a.log", "b.log", "c.txt"]
    assert names([tmp_path / "c.txt", str(tmp_path / "*.log"), b"bytes"]) == ["c.txt", "a.log", "b.log", "bytes"]


def test_path_with_the_marks_of_a_pattern(tmp_path: Path) -> None:
    """A file that is there is that file, though its name looks like a pattern."""
    path = tmp_path / "log[1].txt"
    path.write_bytes(DATA)
    log = open_log(path)

    assert log.lines() == log.scan().collect().to_series().to_list() == LINES


def test_missing(tmp_path: Path) -> None:
    """A log that is not there: what was looked for, and the file that was perhaps meant."""
    (tmp_path / "session.log").write_bytes(DATA)

    with pytest.raises(LogNotFoundError, match=r"no such file\n.*did you mean .*session\.log"):
        open_logs(tmp_path / "sesion.log")
    with pytest.raises(LogNotFoundError, match="no file matches the pattern"):
        open_logs(str(tmp_path / "*.trc"))
    with pytest.raises(LogNotFoundError, match=r"the folder .*absent does not"):
        open_logs(tmp_path / "absent" / "log")
    with pytest.raises(FileNotFoundError, match="the path is empty"):
        open_logs("")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(LogNotFoundError, match="the folder holds no file"):
        open_logs(tmp_path / "nothing")


def test_text_is_no_path() -> None:
    """Pasted text is refused with the way to read it, and a name that no file can have is no crash."""
    with pytest.raises(LogParseError, match=r"text, not a path\n.*text\.encode\(\)"):
        open_logs("one\ntwo")
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(LogNotFoundError) as caught:
            open_logs(name)

        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("source", [7, None, 1.5])
def test_no_source(source: object) -> None:
    """What cannot hold a log is a mistake of the program, not of the log."""
    with pytest.raises(TypeError, match=r"not (int|NoneType|float)"):
        open_logs(source)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"\x7fELF\x02\x01", "executable"),
        (b"%PDF-1.7", "PDF"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"7z\xbc\xaf'\x1c", "7-Zip"),
    ],
)
def test_no_text(start: bytes, what: str, tmp_path: Path) -> None:
    """A file that is surely no log is refused by what it is."""
    path = tmp_path / "log"
    path.write_bytes(start + bytes(100))

    with pytest.raises(LogParseError, match=f"{what}.*not a text log"):
        open_logs(path)


def test_unknown_binary_is_kept() -> None:
    """Bytes of no known kind become text without loss: the reader of the format decides."""
    data = bytes(range(256)) * 3

    assert open_log(data).text().replace("\r\n", "\n")
    assert open_log(data).notes


def test_one_log_is_wanted() -> None:
    """`open_log` refuses several, and names them; none at all is refused too."""
    with pytest.raises(LogParseError, match=r"2 logs where one is wanted \(<bytes>, <bytes>"):
        open_log([b"a", b"b"])
    with pytest.raises(LogParseError, match="0 logs where one is wanted"):
        open_log([])


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the operating system is said with the name of the log."""
    path = tmp_path / "log"
    path.write_bytes(DATA)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(LogParseError, match="log: cannot be read: Permission denied"):
        open_logs(path)


def test_large_text_goes_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacked text beyond the limit lives in a temporary file, and reads the same."""
    monkeypatch.setattr(module, "MEMORY_LIMIT", 1000)
    lines = [f"line {number}" for number in range(1000)]
    log = open_log(gzip.compress("\n".join(lines).encode()))

    assert isinstance(log.target, Path)
    assert log.lines() == log.scan().collect().to_series().to_list() == lines
