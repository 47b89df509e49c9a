"""Errors and diagnostics: they say where, they survive a trip between processes."""

import copy
import pickle

import polars as pl
import pytest

from logframe import DIAGNOSTICS, Diagnostic, LogNotFoundError, LogParseError, diagnostics_frame


def caret_character(error: LogParseError) -> str:
    """The character that the caret of a message points at."""
    lines = str(error).split("\n")
    caret = next(number for number, line in enumerate(lines) if line.strip() == "^")
    place = lines[caret].index("^")
    return lines[caret - 1][place : place + 1]


@pytest.mark.parametrize("text", ["read(3) !", "!", "\tread\t!", "x" * 500 + "!" + "y" * 500, "é已!"])
def test_caret_points_at_the_column(text: str) -> None:
    """The caret stands under the offending character, in a line of a readable width."""
    error = LogParseError("no", text=text, column=text.index("!") + 1)

    assert caret_character(error) == "!"
    assert max(map(len, str(error).split("\n"))) < 170


def test_caret_behind_the_end() -> None:
    """A line that ends too early has its caret behind its last character."""
    assert str(LogParseError("no", source="s", line=2, column=4, text="abc")) == "s:2:4: no\n  abc\n     ^"


def test_control_characters_are_not_printed() -> None:
    """What a log holds cannot steer the terminal that shows the error."""
    shown = str(LogParseError("no", text="\x1b[31mred\x07\rx", column=1))

    assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, "<log>: no"),
        ({"source": "a"}, "a: no"),
        ({"source": "a", "line": 3}, "a:3: no"),
        ({"line": 3, "column": 1}, "<log>:3:1: no"),
    ],
)
def test_place(place: dict[str, object], expected: str) -> None:
    """As much of the place as is known."""
    assert str(LogParseError("no", **place)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [LogParseError, LogNotFoundError])
@pytest.mark.parametrize("travel", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])  # noqa: S301 - our own bytes
def test_survives_pickling(kind: type[LogParseError], travel) -> None:  # noqa: ANN001 - any of the three
    """An error raised in a worker process arrives whole."""
    error = kind("no", source="a", line=3, column=2, text="abc", expected="b")
    error.add_note("seen twice")
    arrived = travel(error)

    assert (type(arrived), str(arrived), vars(arrived)) == (kind, str(error), vars(error))


def test_family() -> None:
    """One `except` catches all; a missing log is also what Python calls a missing file."""
    assert issubclass(LogParseError, ValueError)
    assert issubclass(LogNotFoundError, LogParseError)
    assert issubclass(LogNotFoundError, FileNotFoundError)


def test_diagnostics_frame() -> None:
    """Rows in the order given, always with the same schema."""
    row = Diagnostic("a", 3, None, "unparsed", "text", "no rule accepts it")

    assert diagnostics_frame([]).schema == DIAGNOSTICS
    assert diagnostics_frame([row, row._replace(line=1)]).select("line", "column").rows() == [(3, None), (1, None)]
    assert diagnostics_frame([row._replace(line=None, text=None)]).schema == DIAGNOSTICS
    assert tuple(DIAGNOSTICS) == Diagnostic._fields
    assert diagnostics_frame([row]).schema["line"] == pl.Int64


def test_a_row_becomes_an_error() -> None:
    """What `strict=True` raises is what the row says."""
    error = Diagnostic("a", 3, 2, "unparsed", "text", "no rule accepts it").to_error()

    assert str(error) == "a:3:2: no rule accepts it\n  text\n   ^"
