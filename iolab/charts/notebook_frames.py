"""Frames in a notebook: texts to the left and without quotes, and `v$` names that are not taken for formulas."""

import html
import re
import sys
from typing import Final

import polars as pl

#: JupyterLab draws what is between two dollars as a formula, in tables too; it passes this class by.
_NO_FORMULAS: Final = "mathjax_ignore"
_HEADINGS: Final = re.compile(r"(?<=<thead><tr>).*?(?=</tr>)", re.DOTALL)
_QUOTED: Final = re.compile(r"<td>&quot;(.*?)&quot;</td>", re.DOTALL)
_LEFT: Final = ' style="text-align: left"'


def notebook_table(frame: pl.DataFrame) -> str:
    """A frame as Polars shows it in a notebook, with texts to the left and without quotes.

    Examples:
        >>> shown = notebook_table(pl.DataFrame({"text": ["from v$mystat"], "gets": [3]}))
        >>> '<td style="text-align: left">from v$mystat</td><td>3</td>' in shown
        True
    """
    table = frame._repr_html_()
    headings = "".join(
        f"<th{_LEFT if kind in (pl.String, pl.Categorical, pl.Enum) else ''}>{html.escape(name)}</th>"
        for name, kind in frame.schema.items()
    )
    if len(frame.columns) == len(re.findall("<th>", table)):  # else Polars left columns out
        table = _HEADINGS.sub(lambda _: headings, table, count=1)
    table = _QUOTED.sub(rf"<td{_LEFT}>\1</td>", table).replace(' border="1"', "", 1)
    return f'<div class="{_NO_FORMULAS}">{table}</div>'


def show_frames() -> None:
    """From now on the notebook shows every frame as `notebook_table` does; outside a notebook nothing changes."""
    # A kernel has IPython loaded already; nothing else needs it.
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type(pl.DataFrame, notebook_table)
