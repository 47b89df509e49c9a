"""Oracle's names: lists are clean, a cut name is completed where one fits, times have the unit they are counted in."""

from importlib.resources import files
from pathlib import Path

import pytest

from awrparse import read_awr
from logframe.oracle import WAIT_CLASSES, find_names, full_name, known_names, unit_of, wait_class_of
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


def test_each_event_of_the_list_has_one_class() -> None:
    """A name stands under one class of V$EVENT_NAME, and no beginning contradicts a name of the list."""
    lines = files("logframe.oracle").joinpath("event_classes.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]

    assert {wait_class for wait_class, _ in rows} <= set(WAIT_CLASSES)
    assert len({name for _, name in rows}) == len(rows)
    assert [name for wait_class, name in rows if not name.endswith("*") and wait_class_of(name) != wait_class] == []


@pytest.mark.parametrize(
    ("event", "wait_class"),
    [
        ("DB FILE  SEQUENTIAL READ", "User I/O"),
        ("enq: TX - row lock contentio", "Application"),
        ("log file switch (private s", "Configuration"),
        ("latch: cache buffers chains", "Concurrency"),
        ("latch: cache buffers lru chain", "Other"),
        ("resmgr:cpu quantum", "Scheduler"),
        ("GCR sleep", "Idle"),
        ("plum wait", "Other"),
    ],
)
def test_an_event_has_the_class_of_its_name(event: str, wait_class: str) -> None:
    """Names in any case, cut ones, beginnings; what is not in the list is of the class of most."""
    assert wait_class_of(event) == wait_class


@pytest.mark.corpus
def test_printed_classes_of_real_reports_are_those_of_the_list(corpus: Path) -> None:
    """Every report that prints classes beside events agrees with the list."""
    contradicted = set()
    for path in sorted((corpus / "awr").rglob("*")):
        if path.suffix not in {".txt", ".html"}:
            continue
        report = read_awr(path)
        for name in ("top_events", "ash_top_events", "rac_events"):
            rows = report[name].select("event", "wait_class").drop_nulls().unique() if name in report else None
            for event, wait_class in rows.iter_rows() if rows is not None else ():
                if wait_class not in {"CPU", wait_class_of(event)}:
                    contradicted.add((event, wait_class))
    assert contradicted == set()
