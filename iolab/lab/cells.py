"""What the cells of the notebooks share: set-up, what is shown of logs, and refusals that are a sentence, no traceback.

%load_ext iolab
%iolab show awr.html ora_4711.trc        # what each log is, and what it says
%iolab ledger ora_4711.trc               # where its time went
%iolab charts ora_4711.trc
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final, NoReturn

import polars as pl

from iolab.charts.theme import enable_theme
from iolab.comparison.matching import pair_all
from iolab.sources import find_logs
from logframe.errors import LogError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from IPython.core.interactiveshell import InteractiveShell

    from iolab.lab.picker import LogPicker
    from iolab.pages.summary import LogSummary
    from logframe.formats import ParsedLog

#: From this number of AWR reports on, what changed from one to the next comes first.
_MANY: Final = 4
#: The findings of each of several logs, the largest first.
_MOST_EACH: Final = 3
_MOST_COLUMNS, _MOST_ROWS = 10, 6
_USAGE: Final = "Usage: `%iolab show LOG...`, `%iolab ledger LOG...` or `%iolab charts LOG...`"


def set_up() -> None:
    """Set the theme of the charts; a log that cannot answer a cell stops the run with a sentence.

    Outside IPython only the theme is set.
    """
    from IPython.core.getipython import get_ipython  # noqa: PLC0415 - of JupyterLab, which need not be installed

    enable_theme()
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((LogError, OSError), _say)  # type: ignore[no-untyped-call]


def _say(
    _: InteractiveShell, __: type[BaseException], error: BaseException, ___: TracebackType | None, **____: object
) -> None:
    """Show the reason of a refusal."""
    from IPython.display import Markdown, display  # noqa: PLC0415 - see above

    display(Markdown(f"**Not answered:** {error}"))  # type: ignore[no-untyped-call]


def refuse(reason: str) -> NoReturn:
    """Stop with a reason.

    Raises:
        RefusedError: Always.
    """
    raise RefusedError(reason)


def pair_sentences(logs: Mapping[str, ParsedLog]) -> list[str]:
    r"""What every two logs say together, or why they are not compared: one sentence each.

    Examples:
        >>> from iolab.loading import load
        >>> spool = load(b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n")
        >>> pair_sentences({"a.lst": spool, "b.strace": load(b"     0.000000 pread64(268, '', 8192, 0) = 8192")})
        ['`a.lst` and `b.strace` are not compared: the session shows neither physical reads nor requests nor bytes read:
        set autotrace on, or list its statistics.']
    """
    return [
        f"{' and '.join(f'`{name}`' for name in one.names)}"
        + (f" are not compared: {one.refusal}." if one.refusal else f": {one.verdict or ' '.join(one.paragraphs[:1])}")
        for one in pair_all(logs)
        if len(one.names) == 2
    ]


def read_table(path: str | Path, *columns: str, texts: tuple[str, ...] = ()) -> pl.DataFrame:
    """A CSV file with these columns.

    Args:
        path: Of the file.
        columns: That it must have, of numbers above zero; it may have more.
        texts: Those of them that are kept as text.

    Raises:
        RefusedError: The file cannot be read as CSV, lacks a column, or has no such numbers.
        OSError: There is no such file.

    Examples:
        >>> read_table("sample_data/articles/000_medians.csv", "median_s", texts=("median_s",)).height
        3
        >>> read_table("sample_data/articles/000_medians.csv", "cost")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        logframe.errors.RefusedError: sample_data/articles/000_medians.csv has no column cost: it has test, read, ...
    """
    try:
        table = pl.read_csv(path, schema_overrides=dict.fromkeys(texts, pl.String()))
    except pl.exceptions.PolarsError as error:
        refuse(f"{path} is not a CSV file of the expected form: {str(error).partition(chr(10))[0]}")
    if missing := [name for name in columns if name not in table.columns]:
        refuse(f"{path} has no column {', '.join(missing)}: it has {', '.join(table.columns)}")
    if table.is_empty():
        refuse(f"{path} has no rows")
    for name in (name for name in columns if name not in texts):
        if not table[name].dtype.is_numeric() or not (table[name] > 0).all(ignore_nulls=False):
            refuse(f"{path} has values in column {name} that are no numbers above zero")
    return table


def open_field() -> LogPicker:
    """Set up a notebook, and the field that takes its logs."""
    from iolab.lab.picker import LogPicker  # noqa: PLC0415 - of JupyterLab, which need not be installed

    set_up()
    return LogPicker()


def read_logs(places: Iterable[str | Path]) -> dict[str, LogSummary]:
    """The summaries of logs by their names.

    Raises:
        LogError: One of them cannot be read.
    """
    from iolab.pages.summary import summarize  # noqa: PLC0415 - the parsers are imported on use

    return {log.name: summarize(log.source) for log in find_logs(places)}


def _show(*shown: object) -> None:
    """Show texts as Markdown, and everything else as itself."""
    from IPython.display import Markdown, display  # noqa: PLC0415 - see above

    display(*(Markdown(one) if isinstance(one, str) else one for one in shown))  # type: ignore[no-untyped-call]


def show_answer(looks: Mapping[str, LogSummary]) -> None:
    """Show what logs say: all of them in a line each, what changed in a series of reports, the findings of each."""
    from iolab.pages.findings_text import MOST, findings_markdown  # noqa: PLC0415 - see above
    from iolab.pages.ledger_text import below_ledger  # noqa: PLC0415 - see above

    totals = {name: _total(seen) for name, seen in looks.items()}
    if len(looks) > 1:
        rows = [f"| {_cell(name)} | {_cell(seen.headline)} | {_cell(totals[name])} |" for name, seen in looks.items()]
        _show("\n".join(["| log | what | its time |", "|:--|:--|:--|", *rows]))
    reports = {name: seen.log for name, seen in looks.items() if seen.log.format == "awr" and seen.log.info.begin_time}  # type: ignore[attr-defined]
    if len(reports) >= _MANY:
        _show_series(reports)
    for name, seen in looks.items():
        head = f"**{name}**" if len(looks) > 1 else f"**{name}**: {seen.headline}\n\n{totals[name]}"
        said = below_ledger(seen.findings, seen.ledger)
        _show(f"{head}\n\n{findings_markdown(said, most=MOST if len(looks) == 1 else _MOST_EACH)}")


def _total(seen: LogSummary) -> str:
    from iolab.metrics.formatting import as_sentence  # noqa: PLC0415 - see above

    return "" if seen.ledger is None else as_sentence(seen.ledger.text or f"no total: {seen.ledger.void}")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def outwards(frame: pl.DataFrame, digits: int = 4) -> pl.DataFrame:
    """A table with its figures rounded to some significant digits; its bounds are rounded outwards.

    Lower bounds are ``lo``, ``longer_than`` and those that end in ``_lo``, upper ones ``hi``, ``at_most`` and ``_hi``.
    Of ``at_least`` and ``more_sessions`` the size is a lower bound.

    Examples:
        >>> rows = {"at_least": [1.99996], "more_sessions": [-8.39617], "a_lo": [0.0], "a_hi": [1.43501], "b": [2.5]}
        >>> outwards(pl.DataFrame(rows)).row(0)
        (1.999, -8.396, 0.0, 1.436, 2.5)
    """
    rounded = []
    for name, kind in frame.schema.items():
        if not kind.is_float():
            continue
        value = pl.col(name)
        size = value.abs()
        step = pl.max_horizontal(10 ** (size.log10().floor() - digits + 1), 1e-6)  # tables print no finer figure
        near = (size / step).round() * step
        found = value.round_sig_figs(digits)
        less = pl.when(near > size * (1 + 1e-9)).then(near - step).otherwise(near)
        more = pl.when(near < size * (1 - 1e-9)).then(near + step).otherwise(near)
        if name in {"at_least", "more_sessions"}:
            found = less * value.sign()
        elif name in {"lo", "longer_than"} or name.endswith("_lo"):
            found = pl.when(value >= 0).then(less).otherwise(-more)
        elif name in {"hi", "at_most"} or name.endswith("_hi"):
            found = pl.when(value >= 0).then(more).otherwise(-less)
        rounded.append(found.round_sig_figs(digits).alias(name))
    return frame.with_columns(rounded)


def _show_series(reports: dict[str, Any]) -> None:
    from awrparse.many import bounded_frames  # noqa: PLC0415 - see above
    from iolab import charts  # noqa: PLC0415 - see above
    from iolab.evidence.changes import (  # noqa: PLC0415 - see above
        neighbour_changes,
        parameter_changes,
        timeline_sentences,
    )
    from iolab.evidence.timeline import TABLES, timeline_of  # noqa: PLC0415 - see above

    line = timeline_of(bounded_frames(reports, TABLES)).only()
    sentences = timeline_sentences(line, neighbour_changes(line), parameter_changes(line.parameters))
    _show("\n".join(f"- {sentence}" for sentence in sentences), charts.sessions_over_time(line.sessions, line.breaks))
    _show("Notebook `07_many_reports` goes on from here.")


def show_times(looks: Mapping[str, LogSummary]) -> None:
    """Show where the time of each log went."""
    for name, seen in looks.items():
        if seen.ledger is not None and not seen.ledger.void:
            _show(seen.ledger.to_chart(seen.ledger.views[0]).properties(title=f"{name}: {seen.ledger.base}"))


def show_charts(looks: Mapping[str, LogSummary]) -> None:
    """Show the charts of each log; drag moves one, the wheel with Shift zooms, a double click shows all again."""
    for name, seen in looks.items():
        for chart in seen.charts(name=name):
            _show(chart)


def show_figures(looks: Mapping[str, LogSummary]) -> None:
    """Show the figures of each log with their bounds and notes."""
    from IPython.display import HTML  # noqa: PLC0415 - see above

    from iolab.metrics.formatting import as_sentence  # noqa: PLC0415 - see above
    from iolab.pages.metric_table import Headline  # noqa: PLC0415 - see above

    for name, seen in looks.items():
        _show("\n".join([f"`{name}`", "", *(f"- {as_sentence(note)}" for note in seen.notes)]))
        if seen.figures.height:
            _show(HTML(Headline(seen.figures.to_dicts()).to_html()))  # type: ignore[no-untyped-call]


def show_comparisons(looks: Mapping[str, LogSummary]) -> None:
    """Show how logs that pair up compare, and why others do not."""
    from IPython.display import HTML  # noqa: PLC0415 - see above

    from iolab.comparison import pair_all  # noqa: PLC0415 - see above
    from iolab.pages.tables import frame_html  # noqa: PLC0415 - see above

    for found in pair_all({name: seen.log for name, seen in looks.items()}):
        _show(str(found))
        for title, frame in (found.tables or found.frames).items():
            _show(f"*{title}*", HTML(frame_html(frame, names={"a": "A", "b": "B"})))  # type: ignore[no-untyped-call]


def show_frames(looks: Mapping[str, LogSummary]) -> None:
    """Show the beginning of the main frames of each log."""
    from iolab.metrics.formatting import count_text  # noqa: PLC0415 - see above

    for name, seen in looks.items():
        for title, frame in seen.frames.items():
            columns = [one for one in frame.columns if frame[one].null_count() < frame.height][:_MOST_COLUMNS]
            _show(
                f"`{name}`: {title.replace('_', ' ')}, {count_text(frame.height, 'row')}",
                frame.select(columns).head(_MOST_ROWS),
            )


def show_unread(looks: Mapping[str, LogSummary]) -> None:
    """Show what was not read of each log, or is worth a look."""
    for name, seen in looks.items():
        if seen.diagnostics.height:
            _show(f"`{name}`", seen.diagnostics.select("line", "kind", "reason"))


def add_magic(shell: object) -> None:
    """Add `%iolab` to a session, and the theme of the charts."""
    enable_theme()
    magics: Any = shell
    magics.register_magic_function(_magic, magic_name="iolab")


def _magic(line: str) -> None:
    """Show what logs say: %iolab show LOG..., %iolab ledger LOG..., %iolab charts LOG..."""
    shows = {"show": show_answer, "ledger": show_times, "charts": show_charts}
    try:
        word, *logs = shlex.split(line) or [""]
        if word not in shows or not logs:
            refuse(_USAGE)
        shows[word](read_logs(logs))
    except (LogError, OSError, ValueError) as error:
        _show(f"**Not answered:** {error}")
