"""Text that was copied: what was added is removed, and each line keeps its number."""

import random
import re

import pytest

from logframe.line_cleanup import LineCleanup, find_cleanup
from logframe.margins import BEFORE_LINES
from logframe.normalize import (
    GRAMMAR,
    PREFIXES,
    LineMap,
    with_line_feeds,
    without_comment_marks,
    without_doubled_blank_lines,
    without_entities,
    without_margin,
    without_quotes,
    without_terminal_codes,
)

RULER = re.compile(r"\s*-{3}")
#: A log of no format: each line says how many reads there were.
LOG = ["reads  1", "reads 12", "reads  3", "reads 14"]


def count_reads(lines: list[str]) -> int:
    """How many lines are of that log."""
    return sum(re.fullmatch(r"reads +\d+", line) is not None for line in lines)


@pytest.mark.parametrize(("rule", "sample"), [found for found in GRAMMAR.samples if found[0].islower()])
def test_prefixes_match_their_samples(rule: str, sample: str) -> None:
    """Each pattern matches everything before the line, and nothing of it; each is in the list."""
    assert re.sub(GRAMMAR.pattern(f"^{{{rule.upper()}}}"), "", sample) == "a line"
    assert rule.upper() in {*PREFIXES, *BEFORE_LINES}


@pytest.mark.parametrize("added", ["> ", ">> ", "Nov 21 18:36:01 db1 agent[7]: ", "  12: ", "x.log:", "\t", "    "])
def test_what_most_lines_have_is_removed(added: str) -> None:
    """A prefix is found where the log's own reader takes more lines without it; a line without it stays."""
    found = find_cleanup([added + line for line in LOG], count_reads, [r"[^ ]+:"])

    assert [found.cleaned(added + line) for line in LOG] == LOG
    assert found.cleaned("reads 7") == "reads 7"


def test_a_log_that_was_not_copied_stays() -> None:
    """Nothing is removed from lines that the reader takes as they are, nor from lines that it takes in no way."""
    assert find_cleanup(LOG, count_reads) == LineCleanup()
    assert find_cleanup(["> of another log"] * 9, count_reads) == LineCleanup()
    assert find_cleanup([], count_reads) == LineCleanup()


@pytest.mark.parametrize("blank", [0, 1, 2])
def test_doubled_blank_lines(blank: int) -> None:
    """A copy with a blank line after each line gives the lines of the text, and where each was."""
    chance = random.Random(blank)  # noqa: S311 - reproducible, no secret
    lines = ["first", *[chance.choice(["", "x", "y"]) for _ in range(200)], "last"]
    copy = [*[""] * blank, *[line for text in lines for line in (text, "")]]

    found = without_doubled_blank_lines(copy, fewest=8)

    assert found is not None
    assert [line for line in found.select(copy) if line] == [line for line in lines if line]
    assert found.select(copy)[-len(lines) :] == lines
    assert found.size == len(copy)
    assert [copy[number] for number in found.kept] == found.select(copy)


def test_blank_lines_of_the_text_itself_stay() -> None:
    """Two full lines one after the other show that no line was put between them; few lines show nothing."""
    assert without_doubled_blank_lines(["a", "b", *["", "c"] * 20], fewest=8) is None
    assert without_doubled_blank_lines(["a", "", "b", ""], fewest=3) is None


def test_line_maps_are_composed() -> None:
    """Lines left out in several steps keep their numbers in the source, and values return to all lines."""
    found = LineMap.of(6).without({0}).without({1, 3}).without({1})

    assert found.kept == [1, 5]
    assert not found.is_whole
    assert LineMap.of(6).is_whole
    assert found.spread(bytearray(b"xy"), bytearray(b"......")) == b".x...y"
    assert LineMap.of(2).spread(bytearray(b"xy"), bytearray(b"..")) == b"xy"


@pytest.mark.parametrize("depth", range(1, 8))
def test_nested_quotations(depth: int) -> None:
    """Marks are removed however often a text was quoted; a mark of the log's own stays."""
    marks = "> " * depth
    text = f"See:\n{marks}reads 1\n{marks.rstrip()}\n{marks}reads 2 > 1\n\n> not of the log\n"

    assert without_quotes(text, lambda lines: "reads" in lines) == "See:\nreads 1\n\nreads 2 > 1\n\n> not of the log\n"


@pytest.mark.parametrize("mark", ["> ", ">", ">> ", "> > ", "    ", "\t"])
def test_margins_of_ruled_tables(mark: str) -> None:
    """What all lines of the tables start with is removed, and nothing of the columns' own indent."""
    table = ["  name  reads", "------ ------", "     x      1"]

    assert without_margin([mark + line for line in table], RULER) == table


def test_comment_marks() -> None:
    """Only runs that hold a piece of the log lose their marks; a ruler is no comment."""
    text = "-- reads 1\n--reads 2\n----------\n-- about something else\n"

    assert without_comment_marks(text, lambda lines: "reads" in lines) == (
        "reads 1\nreads 2\n----------\n-- about something else\n"
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[1;31mreads\x1b[0m\x1b[K 1", "reads 1"),
        ("\x1b]0;title\x07reads 1\x07", "reads 1"),
        ("\x1b]0;title\x1b\\reads 1", "reads 1"),
        ("reasd\b\bds 1", "reads 1"),
        ("\b\breads 1", "\b\breads 1"),
        ("reads 1", "reads 1"),
    ],
)
def test_terminal_codes(text: str, plain: str) -> None:
    """What a terminal writes beside the text is removed; a backspace at the start of a line has nothing to remove."""
    assert without_terminal_codes(text) == plain


def test_line_ends_and_entities_move_no_line() -> None:
    """Whatever ends the lines, and whatever an entity stands for, there are as many lines as before."""
    assert with_line_feeds("a\r\nb\r\n") == with_line_feeds("a\nb\n") == with_line_feeds("a\rb\r") == "a\nb\n"
    assert without_entities("a&#10;b &unknown; &#x3c;&gt;") == "a b &unknown; <>"


def test_short_lines_that_are_padded() -> None:
    """Where lines longer than the line size are not padded, the shorter ones show the padding."""
    long = [f"{line} and so on" for line in LOG for _ in range(4)]
    lines = [*long, *[line.ljust(12) for line in LOG]]
    found = find_cleanup(lines, count_reads)

    assert min(map(len, long)) > 12
    assert found.has_blanks_at_end is (len(LOG) > 2)
    assert find_cleanup([*long, "reads 1 ", "reads 12  ", "reads 3"], count_reads) == LineCleanup()
