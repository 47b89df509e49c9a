"""The check of patterns: hard texts are made of a pattern's own syntax, and what takes too long on them is found."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.patterns import Used, compiled_patterns, found_growth, text_of


@pytest.mark.parametrize("pattern", [r"(?:a+)+b", r"(?:<[^<>]*>|<.*>)*x", rb"(?:x|x)*y", r"x*x*x*x*y"])
def test_a_pattern_that_grows_is_found(pattern: str | bytes) -> None:
    """Exponential and cubic ones, whose longer text is ended."""
    found = found_growth(re.compile(pattern), 60)

    assert found is not None
    assert found.use in {"match", "fullmatch"}


@pytest.mark.parametrize("pattern", [r"a+b", r"[^<>]*<\d{2,4}>", rb"x*y", r"(?P<one>a|b)*(?P=one)\s?\Z"])
def test_a_pattern_that_does_not_grow_is_none(pattern: str | bytes) -> None:
    """Linear ones: no text is hard for them."""
    assert found_growth(re.compile(pattern), 20) is None


@pytest.mark.parametrize(
    "pattern", [r"[^\W\d]\s*(?P<a>x|y)=(?P=a)[0-9a-f]{2}", r"(?i:a{3,4}b?)[^\x00-\x20]*\.", rb"\xff?a+"]
)
def test_a_text_has_the_syntax_of_its_pattern(pattern: str | bytes) -> None:
    """Of many texts some match, and one trial gives one text."""
    compiled = re.compile(pattern)
    texts = [text_of(compiled, trial, 3) for trial in range(200)]
    given = [text.encode("latin-1", "replace") if isinstance(pattern, bytes) else text for text in texts]

    assert any(map(compiled.match, given))
    assert texts == [text_of(compiled, trial, 3) for trial in range(200)]


def test_patterns_are_noted_with_their_use() -> None:
    """What the project compiles is noted once, with the methods that are asked for; what others compile is not."""
    with compiled_patterns() as found:
        compiled = re.compile("noted by a test")

    assert isinstance(compiled, re.Pattern)
    assert not found
    used = Used(compiled, "here")
    assert used.search("x") is None
    assert used.pattern == "noted by a test"
    assert used.uses == {"search"}
