"""The decimal mark that figures show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logframe import read_printed, unique_names
from logframe.printed import decimal_mark, mark_of, with_points


@given(st.integers(0, 10**9), st.integers(0, 99), st.sampled_from(["", "K", "ms", " (mins)", "%"]))
def test_a_figure_with_two_decimals_shows_its_mark(whole: int, hundredths: int, unit: str) -> None:
    """Two digits after a mark are no group: the figure has one reading, and it is that of the other session."""
    points = f"{whole:,}.{hundredths:02}{unit}"
    commas = with_points(points, ",")

    assert (mark_of(points), mark_of(commas)) == (".", ",")
    assert read_printed(commas, decimal=",") == read_printed(points)


@pytest.mark.parametrize("figure", ["1,234", "1.234", "12", "", "abc", "1,2,3", "1.2.3", "12.3.4.5"])
def test_other_figures_show_none(figure: str) -> None:
    """Groups of three, whole numbers, releases and words."""
    assert mark_of(figure) is None
    assert decimal_mark([figure]) == "."


@given(st.lists(st.sampled_from(["", "A", "A (2)", "A (3)", " A ", "B", "column_1"]), max_size=8))
def test_unique_names_are_unique(names: list[str]) -> None:
    """No two are equal, also where a heading is what the number of another would make."""
    unique = unique_names(names)

    assert len(set(unique)) == len(names)
    assert [name for name in unique[:1] if names[0].strip()] == [name.strip() for name in names[:1] if name.strip()]
