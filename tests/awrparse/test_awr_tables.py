"""The data files of the canonical tables hold what `awrparse.columns` says, and the reader refuses what it does not."""

from __future__ import annotations

import re
import tomllib
from dataclasses import MISSING, fields
from importlib.resources import files
from typing import get_args

import pytest

from awrparse import TABLES
from awrparse.columns import Kind, Shape, Table, fold
from awrparse.tables import TOPICS, VIEWS, read_tables
from awrparse.values import CELLS
from logframe.data_files import data_files

EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))


def test_every_file_is_a_topic() -> None:
    """No data file lies there unread, and no name of a table is in two of them."""
    assert data_files("awrparse.tables") == sorted(TOPICS)
    names = [name for topic in TOPICS for name in read_tables(tomllib.loads(_text(topic)))]
    assert len(names) == len(set(names)) == len(TABLES)


@pytest.mark.parametrize("topic", TOPICS)
def test_shared_columns_are_shared(topic: str) -> None:
    """A column at the top of a file is one of two tables or more, and no table spells it out again."""
    text = _text(topic)
    shared = text.split("shared = '''\n")[1].split("'''")[0].splitlines() if "shared = '''" in text else []
    for row in shared:
        name = row.split(" | ")[0]
        plain = [line for line in text.splitlines() if "|" not in line and name in line.split()]
        assert len(plain) > 1, name
        assert text.splitlines().count(row) == 1, name


@EVERY
def test_kinds_and_shapes(table: Table) -> None:
    """Every value is of the types that `awrparse.columns` lists."""
    assert table.shape in get_args(Shape)
    assert {column.kind for column in table.columns} <= {*get_args(Kind)}
    assert table.meaning.endswith(".")
    assert all(column.meaning for column in table.columns)
    for value in (table, *table.pivots):
        for one in fields(value):
            assert one.default is MISSING or type(getattr(value, one.name)) is type(one.default), one.name


@EVERY
def test_names_of_columns(table: Table) -> None:
    """Each column has one definition and each heading one column; what a table says of columns is of its own."""
    names = [column.name for column in table.columns]
    assert len(names) == len(set(names))
    heads = {(fold(head), column.name) for column in table.columns for head in column.heads}
    assert len(heads) == len(table.by_head)
    said = [*table.group, *table.filled, *table.splits, *table.in_title, *filter(None, (table.total, table.within))]
    said += [name for layout in table.layouts.values() for name in layout]
    said += [name for moved in table.moved.values() for name in (*moved, *moved.values())]
    for pivot in table.pivots:
        said += [pivot.key, *pivot.fixed, *pivot.filled, *(column for _, column in pivot.heads.values())]
    assert {*said} <= {*names}
    assert {*table.needs} <= {*names}


@EVERY
def test_patterns(table: Table) -> None:
    """Titles are patterns, with the group that `group` reads; what splits a cell is in the grammar of cells."""
    assert all(re.compile(title) for title in (*table.titles, table.rows_like, *table.moved))
    assert not table.group or any("which" in re.compile(title).groupindex for title in table.titles)
    for template in table.splits.values():
        groups = re.compile(CELLS.pattern(template)).groupindex
        assert {group.removesuffix("_minutes") for group in groups} <= table.by_name.keys()


def test_parts_of_the_statements() -> None:
    """Each order of the sections of statements is a table of its own name."""
    assert {order for _, order in VIEWS.values()} == {*TABLES["sql"].group["ordered_by"].values()}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[one]\nmeaning = 'x'\ncolumns = 'waits'", KeyError),
        ("[one]\ncolumns = ''", TypeError),
        ("[one]\nmeaning = 'x'\ntitle = '^x'\ncolumns = 'a | text | b'", TypeError),
        ("[one]\nmeaning = 'x'\ncolumns = 'a | text'", TypeError),
    ],
    ids=["unknown column", "no meaning", "unknown key", "column without a meaning"],
)
def test_what_is_wrong_is_refused(text: str, error: type[Exception]) -> None:
    """A slip in a data file is an error, never a table without that column."""
    with pytest.raises(error):
        read_tables(tomllib.loads(text))


def _text(topic: str) -> str:
    return files("awrparse.tables").joinpath(f"{topic}.toml").read_text(encoding="utf-8")
