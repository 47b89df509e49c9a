"""The commands `iolab convert`, `status`, `scan`, `compact`, `verify` and `remove`, and what they print."""

from __future__ import annotations

import re
import shutil
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

import click

from iolab.command_line import MOST_ROWS, ExampleCommand, as_text, json_option, logs_argument, named_logs
from logframe import LogParseError
from logframe.console import say, spreadsheet_option
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from iolab.converting import Format
    from iolab.dataset.jobs import Progress


def _command(
    *examples: str, params: Sequence[click.Parameter] = ()
) -> Callable[[Callable[..., object]], click.Command]:
    return click.command(cls=ExampleCommand, examples=examples, params=list(params))


@_command(
    "iolab convert reports/ -o fleet --executor processes:8",
    "iolab convert reports/ -o fleet --resume",
    "iolab convert ora_4711.strace -o frames --format csv --spreadsheet-safe",
    "iolab convert awr.html -o awr.xlsx --format xlsx",
    params=[spreadsheet_option()],
)
@logs_argument
@click.option(
    "-o",
    "--out",
    required=True,
    metavar="DATASET",
    help="Folder of the dataset or of the files, or s3://BUCKET/PREFIX.",
)
@click.option(
    "--executor",
    default="processes",
    metavar="WHERE",
    show_default=True,
    help="Where logs are read: processes, processes:N, dask-local:N, dask://HOST:PORT, serial.",
)
@click.option("--tables", metavar="NAME,...", help="Tables to write, by default all.")
@click.option("--since", metavar="WHEN", help="Leave out files that did not change since a date, or an age such as 7d.")
@click.option("--resume", is_flag=True, help="Continue an existing dataset.")
@click.option("--retry", is_flag=True, help="Read again what could not be read before.")
@click.option("--seconds", type=float, default=900.0, show_default=True, help="Limit of time for one log; 0 for none.")
@click.option(
    "--format", "form", type=click.Choice(["parquet", "csv", "xlsx"]), help="Write plain files of a few logs instead."
)
@json_option
def convert(
    logs: tuple[str, ...],
    out: str,
    form: str | None,
    as_json: bool,  # noqa: FBT001 - click passes options by name
    spreadsheet_safe: bool,  # noqa: FBT001 - see above
    **options: Any,  # noqa: ANN401 - see above
) -> int:
    """Convert logs of any number to a dataset: one folder a table, Parquet files, each log once.

    A log that cannot be read is a row of the dataset's sources, and stops nothing.  An interrupted run goes on with
    --resume, which converts what is new or has changed.  LOG is a file, a folder with all below it, a pattern, an
    archive, or @FILE with one of these a line.

    With --format every frame of a log becomes one file, with its figures; several logs are written each to a folder of
    its own.  Columns have their unit in their name, and bounds end in _lo and _hi.  In CSV and Excel times are
    nanoseconds, and lists are JSON; Excel gets one workbook with a sheet a frame.
    """
    if spreadsheet_safe and form != "csv":
        raise click.UsageError("--spreadsheet-safe needs --format csv")
    if form is not None:
        return _convert_plainly(logs, Path(out), form, as_json=as_json, is_safe=spreadsheet_safe)
    if "-" in logs:
        raise click.UsageError("standard input is converted with --format only: a dataset names its sources")
    from iolab.dataset.run import convert as to_dataset  # noqa: PLC0415 - see above

    tables, since = options.pop("tables"), options.pop("since")
    with ProgressLine() as progress:
        try:
            done = to_dataset(
                logs,
                out,
                tables=None if tables is None else tables.split(","),
                since=None if since is None else since_of(since),
                progress=progress,
                **options,
            )
        except KeyboardInterrupt:
            counts = {} if progress.last is None else progress.last.counts
            shown = ", ".join(f"{count:,} {status}" for status, count in counts.items()) or "nothing"
            say(f"iolab: interrupted; committed in this run: {shown}; --resume goes on")
            raise
    click.echo(as_text({"dataset": out, **asdict(done)}) if as_json else str(done))
    return 0


def _convert_plainly(logs: tuple[str, ...], out: Path, form: str, *, as_json: bool, is_safe: bool) -> int:
    from iolab.converting import convert_log  # noqa: PLC0415 - the parsers are imported by the commands that need them

    named, code = named_logs(logs), 0
    for one in named:
        own = re.sub(r"[^\w.-]+", "_", one.name.partition(".* (")[0])
        folder = out if len(named) == 1 else out / own
        try:
            written = convert_log(one.source, folder, form=cast("Format", form), spreadsheet_safe=is_safe)
            for path, rows in written:
                click.echo(as_text({"file": str(path), "rows": rows}) if as_json else f"{path}  {rows:,} rows")
        except LogParseError as error:
            code = 1
            say(f"iolab: {error}")
    return code


_dataset = click.argument("dataset", metavar="DATASET")


def _tables_like(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The tables of the dataset that was typed before, for the shell."""
    from iolab import dataset as datasets  # noqa: PLC0415 - see above

    try:
        tables = datasets.status(context.params["dataset"]).tables.get_column("table").to_list()
    except LogError:
        return []
    return [one for name in tables for one in (name.rpartition("/")[2], name) if one.startswith(incomplete)]


@_command("iolab status fleet", "iolab status fleet --sources", "iolab status fleet --diagnostics --json")
@_dataset
@click.option("--sources", "part", flag_value="sources", help="List the sources that were not converted.")
@click.option("--diagnostics", "part", flag_value="diagnostics", help="List what was not read.")
@json_option
def status(dataset: str, part: str | None, as_json: bool) -> int:  # noqa: FBT001 - click passes by name
    """Say what a dataset consists of."""
    from iolab import dataset as datasets  # noqa: PLC0415 - see above
    from iolab.pages.tables import frame_text  # noqa: PLC0415 - see above

    if part is None:
        found = datasets.status(dataset)
        tables = found.tables.to_dicts()
        shown = {"batches": found.batches, "sources": found.sources, "tables": tables}
        click.echo(as_text(shown) if as_json else str(found))
        return 0
    frame = datasets.sources(dataset) if part == "sources" else datasets.diagnostics(dataset)
    if part == "sources":
        frame = frame.filter(frame["status"] != "converted").select("source", "status", "duplicate_of", "message")
    click.echo(as_text(frame.to_dicts()) if as_json else frame_text(frame, most=MOST_ROWS, names={}))
    return 0


@_command("iolab scan fleet foreground_events", "iolab scan fleet awr/foreground_events --rows 1000 --json")
@_dataset
@click.argument("table", metavar="TABLE", shell_complete=_tables_like)
@click.option("--rows", type=click.IntRange(1), default=MOST_ROWS, show_default=True, help="Print this many rows.")
@json_option
def scan(dataset: str, table: str, rows: int, as_json: bool) -> int:  # noqa: FBT001 - click passes by name
    """Print the first rows of a table of a dataset."""
    from iolab import dataset as datasets  # noqa: PLC0415 - see above
    from iolab.dataset.reading import collected  # noqa: PLC0415 - see above
    from iolab.pages.tables import frame_text  # noqa: PLC0415 - see above

    frame = collected(dataset, datasets.scan(dataset, table).head(rows))
    click.echo(as_text(frame.to_dicts()) if as_json else frame_text(frame, most=rows, names={}))
    return 0


@_command("iolab verify fleet", "iolab verify fleet --quick", "iolab verify fleet --repair")
@_dataset
@click.option("--quick", is_flag=True, help="Compare names and sizes of files, and do not read them.")
@click.option("--repair", is_flag=True, help="Have the sources of missing or damaged files converted again.")
def verify(dataset: str, quick: bool, repair: bool) -> int:  # noqa: FBT001 - click passes by name
    """Check that a dataset holds what was committed, and nothing else."""
    from iolab import dataset as datasets  # noqa: PLC0415 - see above

    if repair:
        datasets.repair(dataset, contents=not quick)
    wrong = datasets.verify(dataset, contents=not quick)
    for line in wrong:
        say(f"iolab: {line}")
    click.echo(f"{dataset}: {f'{len(wrong):,} faults' if wrong else 'no fault'}")
    lost = datasets.status(dataset).sources.get("lost", 0) if repair else 0
    if lost:
        click.echo(f"{lost:,} sources lost rows: iolab convert LOG... -o {dataset} --resume converts them again")
    return 1 if wrong else 0


@_command("iolab remove fleet /logs/ora_4711.trc", "iolab remove fleet /logs/host0")
@_dataset
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
def remove(dataset: str, sources: tuple[str, ...]) -> int:
    """Remove sources and their rows from a dataset: logs, archives, or folders with all in them.

    The logs themselves stay.  A later run that is given one of them converts it again.
    """
    from iolab import dataset as datasets  # noqa: PLC0415 - see above

    for source in datasets.remove(dataset, sources):
        click.echo(f"removed {source}")
    return 0


@_command("iolab compact fleet")
@_dataset
def compact(dataset: str) -> int:
    """Unite the files of a dataset to fewer and larger ones."""
    from iolab import dataset as datasets  # noqa: PLC0415 - see above

    before, after = datasets.compact(dataset)
    click.echo(f"{dataset}: {before:,} batches, now {after:,}")
    return 0


#: Where the standard error is no terminal, a line is printed so often, in seconds.
_EVERY: Final = 30.0
_DAYS: Final = {"d": 1, "w": 7}


class ProgressLine:
    """Shows how far a run is on the standard error: a line that is rewritten on a terminal, else one now and then."""

    def __init__(self) -> None:
        self._start = self._shown = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self.last: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal and self.last is not None:
            say("")

    def __call__(self, progress: Progress) -> None:
        """Show it."""
        self.last = progress
        now = time.monotonic()
        if not self._is_terminal and now - self._shown < _EVERY:
            return
        self._shown = now
        rate = progress.done / (now - self._start)
        left = f"{(progress.total - progress.done) / rate:,.0f} s left" if rate else ""
        counts = ", ".join(f"{count:,} {status}" for status, count in progress.counts.items())
        line = f"{progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} MB, {rate / 1e6:,.1f} MB/s, {left}: {counts}"
        if self._is_terminal:
            sys.stderr.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
            sys.stderr.flush()
        else:
            say(line)


def since_of(text: str, now: datetime | None = None) -> datetime:
    """The time that ``--since`` names: a date, a date with a time, or this many days or weeks ago (``7d``, ``2w``).

    Raises:
        LogError: It is not one of these.

    Examples:
        >>> since_of("2026-09-14")
        datetime.datetime(2026, 9, 14, 0, 0, tzinfo=datetime.timezone.utc)
        >>> since_of("2w", datetime(2026, 9, 15, tzinfo=UTC))
        datetime.datetime(2026, 9, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if text[:-1].isdecimal() and text[-1:] in _DAYS:
        return (now or datetime.now(UTC)) - timedelta(days=int(text[:-1]) * _DAYS[text[-1]])
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise LogError(f"--since is a date such as 2026-09-14, or an age such as 7d or 2w, not {text!r}") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
