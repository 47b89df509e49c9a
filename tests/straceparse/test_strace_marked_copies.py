"""Copies of logs with numbers, an indent, tabs or marks of a page: calls and processes are those of the log."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import pytest
from polars.testing import assert_frame_equal
from transformations import indented, joined, numbered

from straceparse import read_strace, unparsed

if TYPE_CHECKING:
    import polars as pl

PLAIN = joined(
    [f'pread64({number}, "abc &quot;x&quot; &amp; y", 8192, {number * 8192}) = 8192' for number in range(3, 20)]
)
OF_PROCESSES = joined([f'{4711 + number % 3} read({number}, "ab", 2){" " * 6}= 2' for number in range(3, 20)])
SECONDS = joined([f'{number // 4:6} read({number}, "ab", 2) = 2' for number in range(20)])
RELATIVE = joined([f'     0.{number % 999:06} read({number}, "{"ab" * 40}", 80) = 80' for number in range(4000)])
COUNTED = {"grep -n": "{}:", "cat -n": "{:6d}\t", "listing": "{:5d}  "}


def figures(text: str) -> pl.DataFrame:
    """What is typed of each line."""
    return read_strace(text.encode()).select("kind", "pid", "relative_ts", "syscall", "args", "result")


@pytest.mark.parametrize("text", [PLAIN, OF_PROCESSES, RELATIVE], ids=["plain", "processes", "relative"])
@pytest.mark.parametrize("form", COUNTED.values(), ids=COUNTED)
def test_numbers_of_lines(text: str, form: str) -> None:
    """Numbers of lines before calls are no part of their names, and no process, wherever the log is sampled."""
    assert_frame_equal(figures(numbered(text, form)), figures(text))


@pytest.mark.parametrize("margin", ["  ", "    ", "\t"])
@pytest.mark.parametrize("text", [OF_PROCESSES, SECONDS], ids=["processes", "seconds"])
def test_an_indent_before_whole_numbers(text: str, margin: str) -> None:
    """A process is one with an indent before it, too; seconds of `-r` begin with blanks themselves."""
    assert_frame_equal(figures(indented(text, margin)).drop("relative_ts"), figures(text).drop("relative_ts"))
    assert figures(SECONDS).get_column("pid").null_count() == 20


def test_marks_of_a_page_in_strings() -> None:
    """They are the log's own where tabs alone were put into it, and a page's where they stand outside of strings."""
    expected = figures(PLAIN)

    assert "&quot;x&quot; &amp;" in expected.item(0, "args")
    assert_frame_equal(figures(PLAIN.replace(") = ", ")\t= ")), expected)
    assert_frame_equal(figures(html.escape(PLAIN)), expected)


def test_a_number_before_a_name() -> None:
    """Only a number of bits belongs to the name of a call."""
    found = read_strace(b'32:read(3, "ab", 2) = 2\n64:read(3, "ab", 2) = 2\n' * 9 + b'10:read(3, "ab", 2) = 2\n')

    assert found.get_column("syscall").to_list() == ["32:read", "64:read"] * 9 + [None]
    assert unparsed(found).get_column("line").to_list() == [19]


def test_a_prompt_at_the_end() -> None:
    """A prompt is chatter with and without the blank after it."""
    expected = ["call"] * 17 + ["chatter"]
    for prompt in ("scott@db1:~$ ", "scott@db1:~$"):
        assert figures(f"{PLAIN}{prompt}\n").get_column("kind").to_list() == expected
