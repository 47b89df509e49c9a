"""The command `iolab`; exit codes as in `logframe.console`."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from iolab.command_line import MOST_ROWS, ExampleCommand, as_text, json_option, logs_argument, named_logs
from iolab.dataset.commands import compact, convert, remove, scan, status, verify
from logframe import LogParseError
from logframe.console import limit_option, log_named, reading, run, say, version_option
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from iolab.pages.ledger_folder import LogRow
    from iolab.pages.summary import LogSummary
    from iolab.pages.summary_text import Part
    from iolab.sources import NamedLog, Place

_MOST_NAMED: Final = 3
_HIGHEST_PORT: Final = 65_535
_DEFAULT_LAB: Final = Path("iolab-notebooks")

_PATH: Final = click.Path(path_type=Path)


def _formats_like(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The formats that begin with what was typed, for the shell."""
    from logframe.formats import formats as registered  # noqa: PLC0415 - the packages are imported on use

    return [name for name in registered() if name.startswith(incomplete)]


_format_option = click.option(
    "--as",
    "log_format",
    metavar="FORMAT",
    shell_complete=_formats_like,
    help="Read every log as this format, such as awr, where the guess is wrong.",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of a command line.

    Args:
        arguments: The words after the command's name; by default those of the process.

    Examples:
        >>> main(["report-notebooks", "--notebooks", "no_such_folder", "--out", "build/none"])
        1
    """
    return run(iolab, arguments, "iolab")


#: The commands in the order of use; `iolab --help` lists them so.
_ORDER: Final = (
    "show",
    "report",
    "compare",
    "what-if",
    "sql",
    "convert",
    "status",
    "scan",
    "verify",
    "compact",
    "formats",
    "lab",
)


class _Commands(click.Group):
    """Commands in the order of use, each with its whole first sentence."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Their names."""
        del context  # click's protocol
        return sorted(self.commands, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Name and first sentence of each."""
        said = [(name, self.commands[name].get_short_help_str(limit=1_000)) for name in self.list_commands(context)]
        with formatter.section("Commands"):
            formatter.write_dl(said)


@click.group(
    cls=_Commands,
    params=[version_option(), limit_option()],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog="LOG is a log, compressed or not, a folder, a pattern or an archive; - reads standard input.  "
    "Exit codes: 0 done, 1 a log or a notebook could not be read, compared or run, 2 the command line is wrong, "
    "130 interrupted.",
)
def iolab() -> None:
    """Oracle I/O evidence: AWR reports, SQL*Plus spools, strace logs and others as tables, figures and charts."""


def _command(*examples: str, name: str | None = None) -> Callable[[Callable[..., object]], click.Command]:
    return iolab.command(name, cls=ExampleCommand, examples=examples)


@_command(
    "iolab report awr.html ora_4711.strace spool.txt -o report.html",
    "iolab report before.html after.html -o compared.html --json",
    "iolab report --before monday/ --after tuesday/ -o change.html",
    "iolab report --set none=monday/ --set setall=tuesday/ --set directio=wednesday/ -o sets.html",
)
@click.argument("logs", nargs=-1, metavar="[LOG]...")
@click.option("--before", multiple=True, metavar="LOG", help="A log of before a change; may be given again.")
@click.option("--after", multiple=True, metavar="LOG", help="A log of after it; may be given again.")
@click.option(
    "--set", "sets", multiple=True, metavar="NAME=LOG", help="A log of a named set; the first set is the reference."
)
@click.option("-o", "--out", type=_PATH, required=True, metavar="PAGE", help="The page to write.")
@json_option
def report(
    logs: tuple[str, ...],
    before: tuple[str, ...],
    after: tuple[str, ...],
    sets: tuple[str, ...],
    out: Path,
    as_json: bool,  # noqa: FBT001 - click passes options by name
) -> int:
    """Write one page about logs, or about a change.

    Any mix of logs is read, and logs that belong together are compared; the page says why others are not.  With
    --before and --after the page says what changed between two sets of logs: settings, load, latencies, statements;
    with --set, of several sets, what changed from the first to each other one.  Of a dataset of reports (iolab convert)
    the page shows all instances, and what changed where.
    """
    from iolab.dataset.layout import is_dataset  # noqa: PLC0415 - see above
    from iolab.pages.writing import write_report  # noqa: PLC0415 - see above

    if len(logs) == 1 and not (before or after or sets) and is_dataset(logs[0]):
        from iolab.pages.fleet_page import write_fleet_report  # noqa: PLC0415 - see above

        write_fleet_report(logs[0], out)
        click.echo(as_text({"page": str(out), "failed": []}) if as_json else str(out))
        return 0
    if bool(before) != bool(after) or [bool(logs), bool(before), bool(sets)].count(True) != 1:
        raise click.UsageError("report takes logs, or logs of --before and of --after a change, or logs of --set")
    if sets:
        from iolab.pages.several_sets import write_sets_report  # noqa: PLC0415 - see above

        failed = write_sets_report(_named_sets(sets), out, say=say)
    elif before:
        from iolab.pages.before_after import write_change_report  # noqa: PLC0415 - see above

        sides = [[log_named(word) for word in words] for words in (before, after)]
        failed = write_change_report(sides[0], sides[1], out, say=say)
    else:
        failed = write_report([log_named(word) for word in logs], out, say=say)
    for line in failed:
        say(f"iolab: {line}")
    click.echo(as_text({"page": str(out), "failed": failed}) if as_json else str(out))
    return 1 if failed else 0


def _named_sets(words: tuple[str, ...]) -> dict[str, list[Place]]:
    """The logs of each set, of words such as `monday=awr.html`."""
    found: dict[str, list[Place]] = {}
    for word in words:
        name, equals, log = word.partition("=")
        if not (equals and name.strip() and log):
            raise click.UsageError(f"--set takes NAME=LOG, got {word!r}")
        found.setdefault(name.strip(), []).append(log_named(log))
    if len(found) < 2:
        raise click.UsageError(f"--set takes logs of 2 sets or more, got those of {', '.join(found)}")
    return found


#: Colours of marks on a terminal, of the 16 of the system; the text says the same without them.
_COLOURS: Final = {"major": "red", "notable": "yellow", "cannot tell": "magenta", "evidence": "magenta"}


def _coloured(text: str, role: str) -> str:
    if "NO_COLOR" in os.environ:
        return text
    if role in {"dim", "verdict"}:
        return click.style(text, dim=role == "dim", bold=role == "verdict")
    return click.style(text, fg=_COLOURS.get(role))


def _unread(error: Exception, place: str, *, given: int, as_json: bool) -> int:
    """Say why a log of several was not read; a program error at the only log is raised again."""
    from iolab.pages.sections import reason_of  # noqa: PLC0415 - the pages are imported by the commands that need them
    from iolab.pages.summary_json import error_json  # noqa: PLC0415 - see below

    is_known = isinstance(error, (LogParseError, OSError))
    reason = str(error) if is_known else f"{place}: {reason_of(error, place, given=given)}"
    say(f"iolab: {reason}")
    if as_json:
        click.echo(as_text(error_json(reason, place)))
    return 1


def _terminal() -> tuple[int, bool]:
    """The width of the terminal, and whether it shows any character."""
    return shutil.get_terminal_size((100, 24)).columns, (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _screen(one: NamedLog, seen: LogSummary, parts: Sequence[Part], *, as_json: bool, is_whole: bool) -> str:
    """What is printed of a log."""
    from iolab.pages.ledger_text import cut  # noqa: PLC0415 - see above
    from iolab.pages.summary_json import summary_json  # noqa: PLC0415 - see above
    from iolab.pages.summary_text import summary_text  # noqa: PLC0415 - see above

    _ = seen.findings  # they read a large log once, for the ledger and the headline, too
    if as_json:
        return as_text(summary_json(seen, one.place))
    width, is_utf8 = _terminal()
    heading = click.style(cut(f"{one.name}: {seen.headline}", width), bold=True)
    text = summary_text(
        seen,
        one.name,
        parts=parts or ["findings"],
        width=width,
        is_whole=is_whole,
        style=_coloured,
        is_utf8=is_utf8,
    )
    return f"{heading}\n{text}" if text else heading


@_command("iolab show awr.html", "iolab show *.strace --json", "ssh dbhost cat /tmp/ora_4711.strace.gz | iolab show -")
@logs_argument
@_format_option
@click.option("--findings", "is_findings", is_flag=True, help="Print the findings: the default.")
@click.option("--all", "is_all", is_flag=True, help="Print all findings, each with its reason.")
@click.option("--figures", "is_figures", is_flag=True, help="Print figures with their bounds and notes.")
@click.option("--tables", "is_tables", is_flag=True, help="Print the main tables.")
@json_option
def show(logs: tuple[str, ...], log_format: str | None, as_json: bool, **asked: bool) -> int:  # noqa: FBT001 - click
    """Say what each log is, where its time went, and what to do next.

    The account of time comes first: parts that add up to the total, each with its share; then sentences, the next step,
    and what cannot be determined.
    """
    from iolab.pages.ledger_folder import LEAST, folder_text, log_row  # noqa: PLC0415 - see below
    from iolab.pages.summary import summarize  # noqa: PLC0415 - the parsers are imported by the commands that need them
    from iolab.pages.summary_text import PARTS  # noqa: PLC0415 - see above

    parts = [part for part in PARTS if asked[f"is_{part}"]]
    if asked["is_all"] and "findings" not in parts:
        parts.insert(0, "findings")
    code, is_any_shown = 0, False
    named = named_logs(logs)
    is_gathered = len(named) >= LEAST and not parts and not as_json
    #: Logs of one kind stand in one block, unless more is asked for; the first few are kept until that is known.
    rows, kept = dict[str, "LogRow"](), list[tuple["NamedLog", "LogSummary"]]()

    @contextmanager
    def surviving(one: NamedLog) -> Iterator[None]:
        """A list of many logs survives any error of one."""
        nonlocal code
        try:
            with reading(one.name):
                yield
        except Exception as error:  # noqa: BLE001 - see above
            code = _unread(error, one.place, given=len(named), as_json=as_json)

    def show_one(one: NamedLog, seen: LogSummary) -> None:
        nonlocal is_any_shown
        text = ""
        with surviving(one):  # findings, figures and tables may read the log again
            text = "\n" * is_any_shown + _screen(one, seen, parts, as_json=as_json, is_whole=asked["is_all"])
        if text:
            click.echo(text)
            is_any_shown = not as_json

    for one in named:
        is_read = False
        with surviving(one):
            seen = summarize(one.source, format=log_format)
            row = log_row(seen) if is_gathered else None
            is_read = True
        if not is_read:
            continue
        if row is not None and all(row.kind == other.kind for other in rows.values()):
            rows[one.name] = row
            kept = [*kept, (one, seen)] if len(rows) < LEAST else []
            continue
        if len(rows) < LEAST:  # of several kinds: each has a block of its own, in their order
            is_gathered = False
            for each in kept:
                show_one(*each)
            rows, kept = {}, []
        show_one(one, seen)
    if len(rows) >= LEAST:
        width, is_utf8 = _terminal()
        block = folder_text(rows, width=width, style=_coloured, is_utf8=is_utf8)
        click.echo("\n" * is_any_shown + block)
    for each in kept:
        show_one(*each)
    return code


@_command(
    "iolab compare setall.html none.html",
    "iolab compare buffered.strace direct.strace",
    "iolab compare linux.txt hpux.txt --json",
)
@logs_argument
@click.option("--paired", "design", flag_value="rounds", help="Pair the runs of a statement one by one.")
@click.option("--unpaired", "design", flag_value="samples", help="Never pair runs.")
@click.option(
    "--threshold",
    type=float,
    default=2.0,
    metavar="PERCENT",
    show_default=True,
    help="Smallest difference that matters.",
)
@click.option(
    "--order",
    type=click.Choice(["unknown", "sequential", "turns", "abba"]),
    default="unknown",
    show_default=True,
    help="How the runs of the two logs were made, where the logs do not show it.",
)
@json_option
def compare(logs: tuple[str, ...], design: str | None, threshold: float, order: str, as_json: bool) -> int:  # noqa: FBT001 - click passes options by name
    """Compare two logs; a ratio is second / first.

    Two AWR or Statspack reports are compared by rates, two sessions or SQL traces by the statements that both ran, two
    strace logs by rates and by reads of one mode and size, and a trace with what a report or a session counted.  What
    cannot be compared is refused, with the reason and exit code 1.
    """
    from iolab.comparison import Options, pair  # noqa: PLC0415 - see above
    from iolab.loading import load  # noqa: PLC0415 - the parsers are imported by the commands that need them
    from iolab.pages.pairing_text import pairing_text  # noqa: PLC0415 - see above
    from iolab.rules.pairs import OF_COMPARISONS  # noqa: PLC0415 - see above
    from iolab.rules.run import findings_together  # noqa: PLC0415 - see above

    if len(logs) != 2 and not any(character in logs[0] for character in "*?["):
        raise click.UsageError(f"compare takes exactly 2 logs, got {len(logs)}")
    named = named_logs(logs)
    if len(named) != 2:
        listed = ", ".join(one.name for one in named[:_MOST_NAMED]) + ", ..." * (len(named) > _MOST_NAMED)
        raise LogError(f"compare takes exactly 2 logs, got {len(named)}: {listed}")
    with reading():
        first, second = (load(one.source) for one in named)
    options = Options.checked(threshold / 100, design or "auto", order)
    names = (named[0].name, named[1].name)
    with reading():
        found = pair(first, second, names=names, options=options)
    if as_json:
        said: dict[str, object] = {
            "logs": found.names,
            "verdict": found.verdict,
            "why": found.why,
            "paragraphs": found.paragraphs,
        }
        if (change := found.change) is not None:
            total = {"a": change.a.value, "b": change.b.value, "unit": change.unit, "is_shared": change.is_shared}
            said["change"] = total | {"sentence": change.sentence, "parts": change.parts.to_dicts()}
        frames = {title: frame.to_dicts() for title, frame in found.frames.items()}
        click.echo(as_text(said | {"frames": frames}))
        return 0
    both = findings_together([(named[0].name, first), (named[1].name, second)])
    both = both.filter(~both["name"].is_in(OF_COMPARISONS))
    click.echo(pairing_text(found, both, width=shutil.get_terminal_size((100, 24)).columns, style=_coloured))
    return 0


@_command(
    'iolab what-if awr.html --part "db file sequential read" --factor 0.5',
    'iolab what-if ora_4711.trc --part "db file sequential read" --average 0.2',
    'iolab what-if ora_4711.trc --part "db file sequential read" --like ora_4890.trc',
    name="what-if",
)
@click.argument("log")
@_format_option
@click.option("--part", required=True, metavar="NAME", help="The part of the time that changes.")
@click.option("--average", type=float, metavar="MS", help="Its new average in ms.")
@click.option("--count", type=float, metavar="N", help="Its new count.")
@click.option("--factor", type=float, metavar="K", help="Its time after / before.")
@click.option("--like", metavar="LOG", help="Take the average that the part has in another log.")
def what_if(
    log: str,
    log_format: str | None,
    part: str,
    average: float | None,
    count: float | None,
    factor: float | None,
    like: str | None,
) -> int:
    """Say what the total time would be if one part were shorter, or occurred less often.

    All other parts are assumed unchanged.  Parts whose time does not answer the question are refused.
    """
    from iolab.loading import load  # noqa: PLC0415 - the parsers are imported by the commands that need them
    from iolab.time_ledger.run import ledger  # noqa: PLC0415 - see above

    if [average, count, factor, like].count(None) != 3:
        raise click.UsageError("what-if takes one of --average, --count, --factor and --like")
    found = ledger(load(log_named(log), format=log_format))
    if like is not None:
        other = ledger(load(log_named(like)))
        rows = other.parts(other.views[0] if other.views else "what").filter(name=part).drop_nulls("avg")
        if rows.is_empty():
            raise LogError(f"{like} has no average of {part!r}")
        average = 1e3 * float(rows.item(0, "avg"))
    click.echo(found.what_if(part, average=None if average is None else average / 1e3, count=count, factor=factor))
    return 0


@_command(
    'iolab sql "SELECT event, total_wait_s FROM top_events ORDER BY total_wait_s DESC" awr.html',
    'iolab sql "SELECT source, sum(total_wait_s) FROM top_events GROUP BY source" reports/ --csv',
    'iolab sql "SHOW TABLES" ora_4711.trc',
)
@click.argument("query")
@logs_argument
@click.option("--rows", type=click.IntRange(1), default=MOST_ROWS, show_default=True, help="Print this many rows.")
@click.option("--csv", "as_csv", is_flag=True, help="Print all rows as CSV.")
@json_option
def sql(query: str, logs: tuple[str, ...], rows: int, as_csv: bool, as_json: bool) -> int:  # noqa: FBT001 - click
    """Query the tables of logs, or of a dataset, in SQL.

    Tables of several logs have the name of the log in the column source.  SHOW TABLES lists the tables of the logs; a
    name that is not there is answered with those that are.  Of several logs those that cannot be read are named.
    """
    from iolab import query as querying  # noqa: PLC0415 - the parsers are imported by the commands that need them
    from iolab.converting import flat  # noqa: PLC0415 - see above
    from iolab.pages.tables import whole_frame_text  # noqa: PLC0415 - see above

    failed: list[str] = []
    places = logs[0] if len(logs) == 1 and logs[0] != "-" else [log_named(log) for log in logs]
    with reading():
        found = querying.sql(query, places, say=failed.append)
    for line in failed:
        say(f"iolab: {line}")
    if as_csv:
        click.echo(flat(found).write_csv(), nl=False)
    else:
        click.echo(as_text(found.to_dicts()) if as_json else whole_frame_text(found, most=rows))
    return 1 if failed else 0


@_command("iolab formats")
def formats() -> int:
    """List the formats of logs that are read."""
    from logframe.formats import formats as registered  # noqa: PLC0415 - the packages are imported on use

    found = registered()
    width = max(map(len, found), default=0)
    for name, one in found.items():
        click.echo(f"{name:{width}}  {one.title}")
    return 0


@_command("iolab report-notebooks --out build/report", name="report-notebooks")
@click.option("--notebooks", type=_PATH, default=Path("notebooks"), metavar="DIR", show_default=True)
@click.option("--out", type=_PATH, default=Path("build/report"), metavar="DIR", show_default=True)
def report_notebooks(notebooks: Path, out: Path) -> int:
    """Run the notebooks of a folder, write a page of each and an index, and print the headline figures."""
    from iolab.lab import notebooks as running  # noqa: PLC0415 - see above

    running.report_notebooks(notebooks, out)
    return 0


@_command(
    "iolab lab",
    "iolab lab ~/awr --port 9000",
    "iolab lab --no-browser --port 8888    # on a host; on the laptop: ssh -L 8888:127.0.0.1:8888 HOST",
)
@click.argument("folder", type=_PATH, default=_DEFAULT_LAB, metavar="[DIR]")
@click.option("--no-browser", is_flag=True, help="Open no browser; print the address.")
@click.option(
    "--port", type=click.IntRange(1, _HIGHEST_PORT), metavar="N", help="By default the first free one from 8888 on."
)
def lab(folder: Path, no_browser: bool, port: int | None) -> int:  # noqa: FBT001 - click passes options by name
    """Open JupyterLab on a copy of the notebooks.

    The notebooks and the sample data are copied to a folder, by default ./iolab-notebooks.  A file that was changed is
    kept, and named.  In the folder of the project itself nothing is copied.
    """
    from iolab.lab.copies import copy_lab, lab_command, start  # noqa: PLC0415 - see above
    from logframe.extras import require  # noqa: PLC0415 - see above

    require("jupyterlab")
    say(str(copy_lab(folder)))
    start(lab_command(folder, browser=not no_browser, port=port))


for _one in (convert, status, scan, compact, verify, remove):
    iolab.add_command(_one)
