"""Logs, results and frames as Python and notebooks show them.

`logframe.parsed_log.ParsedLog` finds this module under the entry-point group ``logframe.display``.  `show_frames` is
called where a log is loaded: from then on a kernel shows frames by `frame_in_notebook`.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import count_text, impact_text
from iolab.pages.elements import marked_html
from iolab.pages.ledger_html import ledger_html, total_html
from iolab.pages.ledger_text import first_screen
from iolab.pages.tables import frame_html, wrapped
from iolab.rules.run import findings
from iolab.time_ledger.account import Ledger
from iolab.time_ledger.run import ledger, ledgers
from iolab.views import view_of
from logframe.parsed_log import TableNotFoundError, near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from iolab.time_ledger.changes import LedgerChange
    from logframe.formats import ParsedLog

__all__ = ["LogCharts", "findings", "ledger", "log_html", "log_text", "result_html", "show_frames"]

#: JupyterLab draws what is between two dollars as a formula, in tables too; it passes this class by.
_NO_FORMULAS: Final = "mathjax_ignore"
_HEADINGS: Final = re.compile(r"(?<=<thead><tr>).*?(?=</tr>)", re.DOTALL)
_QUOTED: Final = re.compile(r"<td>&quot;(.*?)&quot;</td>", re.DOTALL)
_LEFT: Final = ' style="text-align: left"'
_WRAPPED: Final = ' style="text-align: left; white-space: normal; max-width: 60em"'
#: Findings that a log shows; `log.findings` has all.
_MOST: Final = 5
#: Columns of a terminal that its text takes at most.
_WIDTH: Final = 100
#: What of the pages' style sheet a drawing of a ledger needs, and the colours of JupyterLab's theme.
_STYLED: Final = (".c-", "figure.icicle", ".key", ".piece", ".on-", "rect.open", ".total", "table.ledger")
_THEME: Final = (
    ".iolab{--tx:var(--jp-ui-font-color1,currentColor);--t2:var(--jp-ui-font-color2,GrayText);"
    "--bg:var(--jp-layout-color0,Canvas)} .iolab table.ledger th{text-align:left}"
)
#: Columns by which a frame of findings is known, whatever was filtered or added.
_FINDING: Final = frozenset({"mark", "sentence"})
#: Columns that Polars shows where no number is chosen.
_POLARS_COLUMNS: Final = 8


def log_text(log: ParsedLog) -> str:
    """What a log is, its ledger and first sentences as on a terminal, and its tables with their sizes."""
    accounts = ledgers(log)
    said = first_screen(findings(log), accounts[0] if accounts else None)
    sizes = ", ".join(f"{name} ({size})" for name, size in _sizes(log).items())
    return "\n".join(filter(None, [_headline(log), said, wrapped(f"tables: {sizes}", _WIDTH)]))


def log_html(log: ParsedLog) -> str:
    """The same for a notebook: total, parts as a bar, sentences, and the tables folded."""
    accounts = ledgers(log)
    remarks = log.diagnostics.height
    about = "; ".join([log.describe(), *([count_text(remarks, "remark") + " of the reader"] if remarks else [])])
    found = findings(log)
    more = f"<p><small>log.findings: {count_text(found.height, 'finding')}</small></p>" if found.height > _MOST else ""
    sizes = _sizes(log)
    rows = "".join(
        f"<tr><td{_LEFT}><code>log[&quot;{html.escape(name)}&quot;]</code></td><td{_LEFT}>{size}</td></tr>"
        for name, size in sizes.items()
    )
    return _block(
        f"<p><b>{html.escape(_headline(log))}</b><br><small>{html.escape(about)}</small></p>",
        total_html(accounts[0], anchor="iolab") if accounts else "",
        _findings_table(found.head(_MOST)) if found.height else "",
        more,
        f"<details><summary>{count_text(len(sizes), 'table')}</summary><table>{rows}</table></details>",
    )


def _headline(log: ParsedLog) -> str:
    headline = view_of(log.format).headline
    return (headline(log) if headline is not None else "") or f"{log.source}: {log.describe()}"


def _sizes(log: ParsedLog) -> dict[str, str]:
    """Each frame with its rows; those of a LazyFrame are not counted, as that reads the log."""
    return {
        name: count_text(frame.height, "row") if isinstance(frame, pl.DataFrame) else "lazy"
        for name, frame in log.frames().items()
    }


def result_html(result: object) -> str:
    """A ledger, a comparison or a prediction in words, drawings and tables."""
    from iolab.comparison.result import Pairing  # noqa: PLC0415 - it imports charts
    from iolab.time_ledger.changes import LedgerChange  # noqa: PLC0415 - see above

    if isinstance(result, Ledger):
        return _block(total_html(result, anchor="iolab"), ledger_html(result, anchor="iolab"))
    if isinstance(result, LedgerChange):
        changes = (frame_html(result.table(view)) for view in result.views)
        return _block(*(f"<p>{marked_html(one)}</p>" for one in result.sentences), *changes)
    tables = list((result.tables or result.frames).values()) if isinstance(result, Pairing) else []
    said = (f"<p>{marked_html(one)}</p>" for one in re.split(r"\n+", str(result)))
    return _block(*said, *map(frame_html, tables))


def ledger_chart(result: Ledger | LedgerChange, *view: str) -> Any:  # noqa: ANN401 - a chart, imported on use
    """A ledger as bars, or the change between two as a waterfall."""
    from iolab.charts import ledger_bars, ledger_change  # noqa: PLC0415 - charts are loaded for those who look at them

    return ledger_bars(result, *view) if isinstance(result, Ledger) else ledger_change(result)


def _block(*parts: str) -> str:
    return f'<div class="iolab {_NO_FORMULAS}"><style>{_style()}</style>{"".join(parts)}</div>'


@cache
def _style() -> str:
    lines = (files("iolab") / "pages" / "page.css").read_text(encoding="utf-8").splitlines()
    colours = " ".join(lines[: lines.index(next(line for line in lines if line.startswith("@media")))])
    rules = [line for line in lines if line.startswith(_STYLED)]
    return "".join([colours.replace(":root", ".iolab"), *rules, _THEME])


class LogCharts(Mapping[str, Any]):
    """The charts of a log by name; ``log.charts.ecdf`` and ``log.charts["ecdf"]`` draw one.

    Args:
        log: What `iolab.load` gives.
    """

    def __init__(self, log: ParsedLog) -> None:
        self._log = log

    @cached_property
    def _drawers(self) -> dict[str, Callable[[str], Any]]:
        from iolab.charts import ledger_bars  # noqa: PLC0415 - charts are loaded for those who look at them

        found = dict(view_of(self._log.format).summarize(self._log).drawers)
        if (accounts := ledgers(self._log)) and not accounts[0].void:
            found["ledger_bars"] = lambda _: ledger_bars.spec(accounts[0])
        return found

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - an Altair chart
        if name not in self._drawers:
            raise TableNotFoundError(
                f"the log has no chart {name!r}", source=self._log.source, expected=near(name, self._drawers)
            )
        return self._drawers[name](self._log.source).to_altair()

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawers)

    def __len__(self) -> int:
        return len(self._drawers)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an Altair chart
        if name.startswith("_") or name not in self._drawers:
            raise AttributeError(f"the log has no chart {name!r}", name=name, obj=self)
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        from iolab import charts  # noqa: PLC0415 - Altair is loaded for those who look at charts

        shows = {name: (getattr(charts, name).__doc__ or "").partition("\n")[0] for name in self}
        width = max(map(len, shows), default=0)
        return "\n".join(f"{name:{width}}  {what}" for name, what in shows.items()) or "no charts"


def _findings_table(found: pl.DataFrame) -> str:
    """Findings as whole sentences: log, share, sentence, what to do next."""
    bases = found.get_column("impact_of").drop_nulls().unique().to_list() if "impact_of" in found.columns else []
    heads = [*(["log"] if "log" in found.columns else []), "mark", f"% of {bases[0]}" if len(bases) == 1 else "%"]
    rows = []
    for row in found.iter_rows(named=True):
        texts = [row["log"] or "all"] if "log" in row else []
        cells = [f"<td{_LEFT}>{html.escape(str(text))}</td>" for text in [*texts, row["mark"]]]
        cells.append(f"<td>{impact_text(row.get('impact'), row.get('impact_lo'))}</td>")
        cells += [f"<td{_WRAPPED}>{marked_html(row.get(name) or '')}</td>" for name in ("sentence", "next")]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f"<th{_LEFT}>{html.escape(one)}</th>" for one in [*heads, "finding", "next"])
    return f'<table class="{_NO_FORMULAS}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def frame_in_notebook(frame: pl.DataFrame) -> str:
    """A frame as a notebook shows it: findings as sentences; texts to the left, without quotes, never as formulas.

    Bounds stand in brackets beside their value where Polars would leave out columns.

    Examples:
        >>> shown = frame_in_notebook(pl.DataFrame({"text": ["from v$mystat"], "gets": [3]}))
        >>> '<td style="text-align: left">from v$mystat</td><td>3</td>' in shown
        True
    """
    if set(frame.columns) >= _FINDING:
        return _findings_table(frame)
    most = int(pl.Config.state(if_set=True).get("POLARS_FMT_MAX_COLS") or _POLARS_COLUMNS)
    if 0 <= most < frame.width:
        frame = with_bounds_folded(frame)
    table = frame._repr_html_()
    headings = "".join(
        f"<th{_LEFT if kind in (pl.String, pl.Categorical, pl.Enum) else ''}>{html.escape(name)}</th>"
        for name, kind in frame.schema.items()
    )
    if len(frame.columns) == len(re.findall("<th>", table)):  # else Polars left columns out
        table = _HEADINGS.sub(lambda _: headings, table, count=1)
    table = _QUOTED.sub(rf"<td{_LEFT}>\1</td>", table).replace(' border="1"', "", 1)
    return f'<div class="{_NO_FORMULAS}">{table}</div>'


def with_bounds_folded(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose bounds are texts beside their values: ``elapsed_s_lo`` and ``elapsed_s_hi`` are in ``elapsed_s``.

    Examples:
        >>> with_bounds_folded(pl.DataFrame({"s": [0.73], "s_lo": [0.725], "s_hi": [0.74]})).to_dicts()
        [{'s': '0.73 [0.725, 0.74]'}]
    """
    bounds = {name: (f"{name}_lo", f"{name}_hi") for name in frame.columns} | {"value": ("lo", "hi")}
    bounds = {name: ends for name, ends in bounds.items() if {name, *ends} <= set(frame.columns)}
    texts = []
    for name, ends in bounds.items():
        value, lo, hi = (pl.col(one).cast(pl.Float64).round_sig_figs(6) for one in (name, *ends))
        ranged = pl.when(lo != hi).then(pl.format("{} [{}, {}]", value, lo, hi))
        texts.append(ranged.otherwise(pl.format("{}", value)).alias(name))
    return frame.with_columns(texts).drop([end for ends in bounds.values() for end in ends])


def show_frames() -> None:
    """From now on the notebook shows every frame by `frame_in_notebook`; outside a kernel nothing changes."""
    # A kernel has IPython loaded already; nothing else needs it.
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type(pl.DataFrame, frame_in_notebook)
        shell.display_formatter.formatters["text/plain"].for_type(pl.DataFrame, frame_as_text)


def frame_as_text(frame: pl.DataFrame, printer: Any, cycle: object) -> None:  # noqa: ANN401 - IPython's protocol
    """A frame as text: findings as whole sentences, one a line."""
    del cycle  # a frame holds no other
    if not set(frame.columns) >= _FINDING:
        printer.text(repr(frame))
        return
    rows = frame.select("mark", "sentence").iter_rows()
    printer.text("\n".join(f"[{mark}] {sentence}" for mark, sentence in rows))
