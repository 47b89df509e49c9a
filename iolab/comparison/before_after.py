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
from iolab.comparison.report_sets import (
    SETTINGS,
    active_sessions,
    by_instance,
    cautions_of_report,
    cautions_of_sets,
    change_sentences,
    changed_latencies,
    changed_load,
    changed_settings,
    draw_times,
    middle_report,
    other_system,
    place_of,
    repeats,
    reports_apart,
)
from iolab.comparison.report_statements import (
    STATEMENT_CHANGES,
    cautions_of_statements,
    changed_statements,
    statement_sentences,
)
from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.session_report import Options
from iolab.comparison.statements import find_statements
from iolab.views import view_of
from sqlplusparse import Spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from logframe.formats import ParsedLog
#: How paragraphs of statements that changed begin, and how many of them are in the first sentences.
_MOVED: Final = ("Failed in B: ", "Slower: ", "Faster: ")
_MOST_STATEMENTS: Final = 3


@dataclass(frozen=True)
class BeforeAfter:
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
        drawers: Functions that draw a chart each; they may raise `iolab.charts.ChartError`.
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
    drawers: tuple[Callable[[], Any], ...] = ()

    def charts(self) -> list[Any]:
        """The charts; none where there is nothing to draw."""
        return Pairing(self.names[0], drawers=self.drawers).charts()

    def __str__(self) -> str:
        """What changed, a line each."""
        return "\n".join(self.sentences)


def compare_sets(
    before: Mapping[str, ParsedLog], after: Mapping[str, ParsedLog], *, options: Options | None = None
) -> BeforeAfter:
    """What changed from one set of logs to another.

    Args:
        before: The logs of before the change, by name, as `iolab.load` gives them; of any formats.
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
        A = old, B = new: Of 1 statement in B against A: 1 slower. Slower: select count(*) from t: 2 s -> 9 s...
    """
    names = (tuple(before), tuple(after))
    skipped: list[tuple[str, str]] = []
    reports = [{name: log for name, log in logs.items() if isinstance(log, AwrReport)} for logs in (before, after)]
    for side in reports:
        again = repeats(side)
        skipped += [(name, f"of the same snapshots as {first}: it counts once") for name, first in again.items()]
        for name in again:
            del side[name]
    groups = by_instance(*reports)
    settings, load, latencies, statements = [], [], [], []
    sentences: list[str] = []
    drawers: list[Callable[[], Any]] = []
    for instance, (first, second) in groups.items():
        if not first or not second:
            known = {**first, **second}
            when = "before" if not first else "after"
            skipped.append((", ".join(known), f"no report of {instance} is of {when} the change"))
            continue
        settings.append(changed_settings(first, second))
        load.append(changed_load(first, second))
        latencies.append(changed_latencies(first, second))
        statements.append(
            changed_statements(*([(place_of(one), one) for one in side.values()] for side in (first, second)))
        )
        for frames in (settings, load, latencies, statements):
            frames[-1] = frames[-1].with_columns(instance=pl.lit(instance))
        label = f"{instance}: " if sum(bool(one and two) for one, two in groups.values()) > 1 else ""
        if different := other_system(first, second):
            sentences.append(label + different)
        sentences += [label + said for said in change_sentences(settings[-1], load[-1], latencies[-1])]
        active = [active_sessions(side) for side in (first, second)]
        for when, sessions in zip(("before", "after"), active, strict=True):
            sentences += [label + said for said in reports_apart(sessions, when)]
        sentences += [label + said for said in statement_sentences(statements[-1])]
        skipped += [(instance, said) for said in cautions_of_sets(first, second)]
        skipped += [(instance, said) for said in cautions_of_statements(statements[-1])]
        both = [*first.items(), *second.items()]  # files of one name may be in both sets
        skipped += [(name, said) for name, report in both for said in cautions_of_report(report)]
        drawers.append(partial(draw_times, middle_report(first, active[0]), middle_report(second, active[1])))
    others = [{name: log for name, log in logs.items() if not isinstance(log, AwrReport)} for logs in (before, after)]
    pairings = list(_pairings(others[0], others[1], options or Options(), skipped))
    sentences += [_said(one) for one in pairings]
    if not load and not pairings:
        reasons = "; ".join(f"{what}: {why}" for what, why in skipped) or "they are of different kinds"
        raise UnpairedError(f"no log of before the change compares with one of after it: {reasons}")
    empty = BeforeAfter(names)
    return BeforeAfter(
        names,
        tuple(sentences),
        pl.concat([empty.settings, *settings]),
        pl.concat([empty.load, *load]),
        pl.concat([empty.latencies, *latencies]),
        pl.concat([empty.statements, *statements]),
        tuple(pairings),
        pl.DataFrame(skipped, schema=empty.not_compared.schema, orient="row"),
        tuple(drawers),
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
