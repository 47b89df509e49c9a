"""Line ends of logs."""

from pathlib import Path

from logframe import open_log


def test_carriage_returns_alone_end_lines(tmp_path: Path) -> None:
    """As old editors wrote them; where line feeds end lines, a carriage return is left where it stands."""
    path = tmp_path / "a.log"
    path.write_bytes(b"one\rtwo\r")

    assert open_log(path).lines() == open_log(b"one\rtwo").lines() == ["one", "two"]
    assert open_log(b"10 %\r20 %\ndone").lines() == ["10 %\r20 %", "done"]
