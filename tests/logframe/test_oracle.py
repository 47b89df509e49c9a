"""Oracle's names: lists are clean, a cut name is completed where one fits, times have the unit they are counted in."""

import pytest

from logframe.oracle import find_names, full_name, known_names, unit_of
from logframe.oracle.units import CENTISECONDS, MICROSECONDS, TIME_MODEL

KINDS = ("event", "statistic", "latch", "io_function", "filetype", "component", "pool", "block_class", "parameter")


@pytest.mark.parametrize("kind", KINDS)
def test_lists(kind: str) -> None:
    """No name is blank, padded or there twice."""
    names = known_names(kind)

    assert names
    assert [name for name in names if name != name.strip() or not name] == []
    assert len({" ".join(name.split()) for name in names}) == len(names)


@pytest.mark.parametrize("name", known_names("statistic")[::5])
def test_whole_names(name: str) -> None:
    """A whole name stands for itself, also where another begins so, in any case and however it is padded."""
    assert find_names("statistic", name) == find_names("statistic", name.upper()) == (name,)
    assert find_names("statistic", name.replace(" ", "  ")) == (name,)
    assert full_name("statistic", name, len(name)) == name


def test_no_name_has_two_units() -> None:
    """The lists of units share no name."""
    assert CENTISECONDS.isdisjoint(MICROSECONDS)
    assert CENTISECONDS.isdisjoint(TIME_MODEL)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("CPU used by this session", "cs"),
        ("recursive cpu usage", "cs"),
        ("user I/O wait time", "cs"),
        ("redo write time", "cs"),
        ("redo write time (usec)", "us"),
        ("file io wait time", "us"),
        ("sql execute elapsed time", "us"),
        ("segment prealloc time (ms)", "ms"),
        ("redo KB read", "KB"),
        ("physical read total bytes", None),
        ("redo size", None),
        ("session pga memory max", None),
        ("physical reads", None),
        ("background timeouts", None),
        ("redo synch time overhead count (<2 msec)", None),
    ],
)
def test_units(name: str, unit: str | None) -> None:
    """Times are in centiseconds unless the name says otherwise, or it is one of the time model's."""
    assert unit_of(name) == unit
