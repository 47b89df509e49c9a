"""Decoding: no byte is lost, whatever the bytes are."""

import io
import re

from hypothesis import given
from hypothesis import strategies as st

from logframe import open_log
from logframe.encoding import decode

_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")
ALPHABETS = {
    "cp1252": "abc é ü ß € ñ 0 1 : .\n",
    "gb18030": "abc 已 用 时 间 执 行 计 划 0 1 : .\n",
    "utf-16": "abc é 已 𝄞 0 1 : .\n",
    "utf-8": "abc é 已 𝄞 0 1 : .\n",
}


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    """Any bytes at all decode without an exception, to text that Polars takes, and some of it stands for every byte."""
    log = open_log(b"log " + data)
    text = log.text()

    assert text
    assert log.scan().collect().height == text.count("\n") + (not text.endswith("\n"))


@given(st.binary(max_size=200).filter(lambda data: b"\\" not in data))
def test_escapes_can_be_undone(data: bytes) -> None:
    """UTF-8 with stray bytes: replacing each escape by its byte gives back what was in the file."""
    source = ("ü\n" * 200).encode() + data
    decoded = decode(io.BytesIO(source), "log", encoding=None, spool=io.BytesIO)
    parts = _ESCAPE.split(decoded.text().read().decode())
    restored = b"".join(bytes.fromhex(part) if odd % 2 else part.encode() for odd, part in enumerate(parts))

    assert (decoded.encoding, restored) == ("utf-8", source)


@given(st.sampled_from(sorted(ALPHABETS)).flatmap(lambda name: st.tuples(st.just(name), st.text(ALPHABETS[name]))))
def test_named_encoding_round_trip(case: tuple[str, str]) -> None:
    """Text written in an encoding and read with it is the text."""
    encoding, text = case

    assert open_log(text.encode(encoding), encoding=encoding).text() == text
