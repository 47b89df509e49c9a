"""Frames as notebooks show them."""

import sys
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from iolab.charts.notebook_frames import notebook_table, show_frames

FRAME = pl.DataFrame({"name": ["v$statname a, v$mystat", 'a "b" <c>', "", None], "value": [1.5, 2.0, None, 4.0]})


def test_texts_stand_to_the_left_without_quotes() -> None:
    """Texts lose the quotes around them and keep those inside; numbers, nulls and headings stay as they are."""
    shown = notebook_table(FRAME)

    for cell in ("v$statname a, v$mystat", "a &quot;b&quot; &lt;c&gt;", ""):
        assert f'<td style="text-align: left">{cell}</td>' in shown
    assert "<td>null</td><td>4.0</td>" in shown
    assert '<th style="text-align: left">name</th><th>value</th>' in shown


def test_names_of_views_are_no_formulas() -> None:
    """JupyterLab leaves the table as it is, though two dollars stand in it."""
    assert notebook_table(FRAME).startswith('<div class="mathjax_ignore">')


def test_a_frame_with_columns_left_out_keeps_its_headings() -> None:
    """Where Polars leaves columns out, the headings are its own."""
    frame = pl.DataFrame({f"c{number}": ["x"] for number in range(30)})
    with pl.Config(tbl_cols=4):
        shown = notebook_table(frame)

    assert (shown.count("<th>"), "c29" in shown) == (5, True)


@pytest.mark.parametrize("module", [None, SimpleNamespace(get_ipython=lambda: None)])
def test_nothing_happens_outside_a_notebook(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    """A script may choose the theme too."""
    monkeypatch.setitem(sys.modules, "IPython", module)

    show_frames()


def test_a_notebook_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a kernel frames are shown by this module."""
    found: dict[Any, Any] = {}
    formatter = SimpleNamespace(formatters={"text/html": SimpleNamespace(for_type=found.__setitem__)})
    shell = SimpleNamespace(display_formatter=formatter)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    show_frames()

    assert found == {pl.DataFrame: notebook_table}
