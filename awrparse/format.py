"""The format of AWR, Statspack, ASH and ADDM reports for the registry (`logframe.formats`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from logframe.formats import Format, Sniff
from logframe.grammar import load_grammar

if TYPE_CHECKING:
    import polars as pl

    from awrparse.report import AwrReport
    from logframe import Source
    from logframe.formats import Head, ParsedLog
    from logframe.provenance import Part

GRAMMAR: Final = load_grammar("awrparse", "sniff.lark", "name")
#: A session that spooled a report is more than its report, but the report is what it was run for.
_NAMED: Final = 0.95
#: Tables of a report within another log: that log is more than they are.
_TABLES: Final = 0.5
_TABLE: Final = r"\n\f?(?:{SUMMARY_TITLE}\n(?:[^\n]*\n){0,6}?{TABLE_RULER}\n|{SECTION_OF_DB})"
#: Tables copied out of a report have no heading of their own: the reader has to try.
_POSSIBLE: Final = 0.1


def sniff(head: Head) -> Sniff | None:
    """Whether a log is a report: by what it calls itself."""
    mark, pattern = GRAMMAR.literal("REPORT_MARK"), GRAMMAR.pattern("{ANY_REPORT}")
    for number, line in enumerate(head.text.split("\n"), 1):
        # a search that ignores case is slow
        if mark in line.lower() and (found := re.search(pattern, line)):
            return Sniff(_NAMED, f"a report: it says {found.group()!r}", line=number)
    if found := re.search(GRAMMAR.pattern(_TABLE), f"\n{head.text}\n"):
        return Sniff(_TABLES, "tables of a report", line=head.text.count("\n", 0, found.start()) + 1)
    return Sniff(_POSSIBLE, "perhaps part of a report")


def read(source: Source) -> AwrReport:
    """The report as `awrparse.AwrReport`, with the bounds of its printed numbers."""
    from awrparse.report import NoReportError, read_awr, read_refusal  # noqa: PLC0415 - readers are imported on use

    try:
        return read_awr(source, printed=True)
    except NoReportError:
        return read_refusal(source)


def parts(log: ParsedLog) -> tuple[AwrReport, ...]:
    """All reports of the file that a report was read from."""
    return cast("AwrReport", log).parts


def row_keys(log: ParsedLog) -> pl.DataFrame:
    """Database, instance, snapshots and period of a report, in one row."""
    from awrparse.many import row_keys as keys_of  # noqa: PLC0415 - readers are imported on use

    return keys_of(cast("AwrReport", log))


def places(report: AwrReport, _source: Source) -> list[Part]:
    """Which rows of the canonical tables came from which lines."""
    from awrparse.provenance import parts_of  # noqa: PLC0415 - wanted by few

    return parts_of(report)


FORMAT: Final = Format(
    name="awr",
    title="an AWR, Statspack or ASH report",
    sniff=sniff,
    read=read,
    parts=parts,
    row_keys=row_keys,
    places=places,
)
