"""Before and after a change: two sets of logs of any kind, what changed between them, and what cannot be compared.

Reports of one instance are compared as sets: each quantity has the range over the reports of a set, with their
rounding, and from six reports a set on a verdict (`iolab.comparison.compare`).  Sessions, traces and logs of other
formats are compared one by one with the log of the other set that they share most with (`iolab.comparison.pair`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from awrparse import AwrReport
from iolab.comparison.changes import CHANGES
from iolab.comparison.matching import pair
from iolab.comparison.not_compared import not_compared
from iolab.comparison.report_sets import SETTINGS, by_instance, repeats
from iolab.comparison.report_statements import STATEMENT_CHANGES
from iolab.comparison.reports import ReportSets, compare_reports
from iolab.comparison.result import Options, Pairing, UnpairedError
from iolab.comparison.statements import find_statements
from iolab.shown import Shown
from iolab.sources import as_logs
from iolab.time_ledger.run import ledger
from iolab.views import view_of
from sqlplusparse import Spool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from iolab.sources import Places
    from iolab.time_ledger.changes import LedgerChange
    from logframe.formats import ParsedLog
#: How paragraphs of statements that changed begin, and how many of them are in the first sentences.
_MOVED: Final = ("Failed in B: ", "Slower: ", "Faster: ")
_MOST_STATEMENTS: Final = 3


@dataclass(frozen=True)
class BeforeAfter(Shown):
    """Two sets of logs compared.

    Attributes:
        names: The logs of each set.
        sentences: What changed, the most important first.
        settings: Parameters and facts of the head that changed between the reports (`SETTINGS`); ``instance`` names
            what the reports are of, here and in the next three.
        load: Rates and sessions of the reports (`CHANGES`).
        latencies: Average waits and percentiles of the reports' events (`CHANGES`).
        statements: Statements of the reports (`STATEMENT_CHANGES`).
        pairings: Sessions, traces and other logs compared one by one.
        not_compared: What could not be compared, or only with care: ``what`` and ``reason``.
        changes: Where the time of the reports of each instance changed.
    """

    names: tuple[tuple[str, ...], tuple[str, ...]]
    sentences: tuple[str, ...] = ()
    settings: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SETTINGS))
    load: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CHANGES))
    latencies: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CHANGES))
    statements: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=STATEMENT_CHANGES))
    pairings: tuple[Pairing, ...] = ()
    not_compared: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={"what": pl.String(), "reason": pl.String()})
    )
    changes: tuple[LedgerChange, ...] = ()

    def charts(self) -> list[Any]:
        """The charts; none where there is nothing to draw."""
        from iolab.charts import ledger_change  # noqa: PLC0415 - charts are loaded for those who look at them

        drawers = tuple(partial(ledger_change.spec, one) for one in self.changes)
        return Pairing(self.names[0], drawers=drawers).charts()

    def __str__(self) -> str:
        """What changed, a line each."""
        return "\n".join(self.sentences)


def compare_sets(
    before: Mapping[str, ParsedLog] | Places, after: Mapping[str, ParsedLog] | Places, *, options: Options | None = None
) -> BeforeAfter:
    """What changed from one set of logs to another.

    Args:
        before: The logs of before the change, of any formats: as `iolab.load` gives or takes them, several, or by
            name.
        after: Those of after it.
        options: How runs of statements are compared.

    Raises:
        UnpairedError: If the two sets have no logs of one kind in common.

    Examples:
        >>> import iolab
        >>> def session(seconds): return iolab.load(f'''SQL> set timing on
        ... SQL> select count(*) from t;
        ...
        ...   COUNT(*)
        ... ----------
        ...          1
        ...
        ... Elapsed: 00:00:{seconds:05.2f}
        ... '''.encode())
        >>> print(compare_sets({"old": session(2)}, {"new": session(9)}))  # doctest: +ELLIPSIS
        A = old, B = new: The time of the timed statements rose from 2 to 9 s (+350 %); 100 % of the change is from...
    """
    both: list[dict[str, ParsedLog]] = [as_logs(before), as_logs(after)]
    names = (tuple(both[0]), tuple(both[1]))
    skipped: list[tuple[str, str]] = []
    reports = [{name: log for name, log in logs.items() if isinstance(log, AwrReport)} for logs in both]
    for side in reports:
        again = repeats(side)
        skipped += [(name, f"of the same snapshots as {first}: it counts once") for name, first in again.items()]
        for name in again:
            del side[name]
    groups = by_instance(*reports)
    found: list[ReportSets] = []
    sentences: list[str] = []
    several = sum(bool(first and second) for first, second in groups.values()) > 1
    for instance, (first, second) in groups.items():
        if not first or not second:
            known = {**first, **second}
            when = "before" if not first else "after"
            skipped.append((", ".join(known), f"no report of {instance} is of {when} the change"))
            continue
        found.append(compare_reports(first, second, instance))
        label = f"{instance}: " if several else ""
        sentences += [label + said for said in found[-1].sentences]
        skipped += found[-1].cautions
        sides = [first.values(), second.values()]
        own = not_compared(sides, [[*map(ledger, side)] for side in sides], found[-1].change)
        skipped += [(label + what, reason) for what, reason in own]
    others = [{name: log for name, log in logs.items() if not isinstance(log, AwrReport)} for logs in both]
    pairings = list(_pairings(others[0], others[1], options or Options(), skipped))
    sentences += [_said(one) for one in pairings]
    if not found and not pairings:
        reasons = "; ".join(f"{what}: {why}" for what, why in skipped) or "they are of different kinds"
        raise UnpairedError(f"no log of before the change compares with one of after it: {reasons}")
    empty = BeforeAfter(names)
    return BeforeAfter(
        names,
        tuple(sentences),
        pl.concat([empty.settings, *(one.settings for one in found)]),
        pl.concat([empty.load, *(one.load for one in found)]),
        pl.concat([empty.latencies, *(one.latencies for one in found)]),
        pl.concat([empty.statements, *(one.statements for one in found)]),
        tuple(pairings),
        pl.DataFrame(skipped, schema=empty.not_compared.schema, orient="row"),
        tuple(one.change for one in found if one.change is not None),
    )


def _pairings(
    before: Mapping[str, ParsedLog],
    after: Mapping[str, ParsedLog],
    options: Options,
    skipped: list[tuple[str, str]],
) -> Iterator[Pairing]:
    """Logs of one format, each of before with the one of after that it shares most with, in order."""
    left = dict(after)
    for name, log in before.items():
        rivals = {other: one for other, one in left.items() if one.format == log.format}
        if not rivals:
            reason = f"no {view_of(log.format).noun} of after the change is left to compare it with"
            skipped.append((name, reason))
            continue
        best = max(rivals, key=lambda other: _in_common(log, rivals[other]))
        del left[best]
        try:
            yield pair(log, rivals[best], names=(name, best), options=options)
        except UnpairedError as error:
            skipped.append((f"{name} and {best}", str(error)))
    for name, log in left.items():
        skipped.append((name, f"no {view_of(log.format).noun} of before the change is left to compare it with"))


def _in_common(one: ParsedLog, other: ParsedLog) -> int:
    """How many statements two sessions share; 0 of other logs, which keep their order."""
    if isinstance(one, Spool) and isinstance(other, Spool):
        return len(find_statements(one).keys() & find_statements(other).keys())
    return 0


def _said(one: Pairing) -> str:
    """The result of a pairing in a sentence."""
    said = one.verdict or (one.paragraphs[0] if one.paragraphs else one.why)
    moved = [text for text in one.paragraphs if text.startswith(_MOVED)]
    said = " ".join([said, *(text for text in moved[:_MOST_STATEMENTS] if text != said)])
    return f"{', '.join(map('{} = {}'.format, 'AB', one.names))}: {said}"
