"""Which logs are compared with each other: every two that a view compares, and what one log repeats."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final

from iolab.comparison.not_compared import not_compared
from iolab.comparison.result import Options, Pairing, UnpairedError
from iolab.loading import as_log
from iolab.sources import as_logs
from iolab.time_ledger.run import ledger
from iolab.views import view_of
from logframe.errors import LogError, RefusedError
from logframe.extras import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from iolab.sources import Places
    from iolab.time_ledger.changes import LedgerChange
    from logframe import Source
    from logframe.formats import ParsedLog

#: Of more logs of one kind, the first is compared with this many others; the rest is named and left out.
MOST_PAIRS: Final = 5


def pair(
    a: ParsedLog | Source,
    b: ParsedLog | Source,
    *,
    names: tuple[str, str] = ("a", "b"),
    options: Options | None = None,
) -> Pairing:
    r"""Two logs compared.

    Of two logs of one kind the accounts of their time are compared (`iolab.time_ledger.changes`), and besides:

    * two AWR or Statspack reports: settings, load, latencies and statements
    * two SQL*Plus sessions: the runs of the statements that both have, or the statements one by one (`iolab.compare`)
    * two SQL traces: the statements that both executed, and where the time went
    * two strace logs: rates, and the times of reads of one mode and size (`iolab.compare`)
    * a report or a session, and an strace log: what both counted of the same reads (`iolab.evidence.align_trace`)
    * and what the views of other formats compare (`iolab.views.View.compare`)

    Args:
        a: What `iolab.load` gives, or takes.
        b: The other one.
        names: What to call them.
        options: How runs of statements are compared: threshold, design, order.

    Raises:
        UnpairedError: If the two have nothing in common that can be compared; the message says why.

    Examples:
        >>> from iolab.loading import load
        >>> log = load(b"     0.000000 pread64(268, '', 8192, 0) = 8192")
        >>> pair(log, load(b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n"))
        Traceback (most recent call last):
        iolab.comparison.result.UnpairedError: the session shows neither physical reads nor requests nor bytes read:
        set autotrace on, or list its statistics
    """
    a, b = as_log(a), as_log(b)
    change = _change(a, b) if a.format == b.format else None
    if b.format not in view_of(a.format).compare and a.format in view_of(b.format).compare:
        a, b, names = b, a, (names[1], names[0])
    if (compare := view_of(a.format).compare.get(b.format)) is not None:
        try:
            found = compare(a, b, names, options or Options())
        except RefusedError as error:
            if change is None or isinstance(change, str) or not view_of(a.format).compares_times:
                raise UnpairedError(f"{error}") from error
            found = Pairing(names, paragraphs=(f"Only the times are compared: {error}.",))
        if isinstance(change, str):
            said = f"{found.verdict} The times are not compared: {change}.".strip()
            return replace(found, verdict=said, not_compared=(("Times", change),))
        return found if change is None else replace(found.with_change(change), not_compared=_unpaired(a, b, change))
    if change is not None and not isinstance(change, str):
        found = Pairing(names, f"two logs of one kind, {view_of(a.format).noun}").with_change(change)
        return replace(found, not_compared=_unpaired(a, b, change))
    said = ", ".join(f"{name} is a {view_of(log.format).noun}" for name, log in zip(names, (a, b), strict=True))
    raise UnpairedError(f"{said}: they cannot be compared")


def _unpaired(a: ParsedLog, b: ParsedLog, change: LedgerChange) -> tuple[tuple[str, str], ...]:
    return tuple(not_compared([[a], [b]], [[ledger(a)], [ledger(b)]], change))


def _change(a: ParsedLog, b: ParsedLog) -> LedgerChange | str | None:
    """The change of the time from one log to another, or why it has none; None where a log has no account of time."""
    try:
        first, second = ledger(a), ledger(b)
    except LogError:
        return None
    try:
        return first.compare(second)
    except LogError as error:
        return str(error)


def pair_all(logs: Mapping[str, ParsedLog] | Places) -> Iterator[Pairing]:
    """Every comparison among logs, with those that were tried and refused.

    Of each format the first log is compared with up to five others; logs of two formats that compare, up to five
    pairs; and what each log repeats.

    Args:
        logs: What `iolab.load` gives or takes: several, or by name.

    Yields:
        Pairings; those with a ``refusal`` could not be compared, and it says why.
    """
    named: Mapping[str, ParsedLog] = as_logs(logs)
    by_format: dict[str, list[str]] = {}
    for name, log in named.items():
        by_format.setdefault(log.format, []).append(name)
    for one, names in by_format.items():
        if (relate := view_of(one).relate) is not None:
            named = {**named, **relate({name: named[name] for name in names})}
    for name, log in named.items():
        compare_runs = view_of(log.format).compare_runs
        try:
            if compare_runs is not None and (found := compare_runs(log, name)) is not None:
                yield found
        except MissingExtraError as error:
            yield Pairing((name,), refusal=str(error))
    for one, (first, *others) in by_format.items():
        if one in view_of(one).compare:
            rest = f"of the {view_of(one).noun}s the first is compared with {MOST_PAIRS} others"
            yield from _first_of([(first, other) for other in others], named, rest)
    for one, other in product(by_format, repeat=2):
        if one != other and other in view_of(one).compare:
            rest = f"{MOST_PAIRS} pairs of a {view_of(one).noun} and a {view_of(other).noun} are compared"
            yield from _first_of(list(product(by_format[one], by_format[other])), named, rest)


def _first_of(pairs: list[tuple[str, str]], logs: Mapping[str, ParsedLog], said: str) -> Iterator[Pairing]:
    """The first comparisons, and which were left out."""
    for a, b in pairs[:MOST_PAIRS]:
        try:
            yield pair(logs[a], logs[b], names=(a, b))
        except (MissingExtraError, UnpairedError) as error:
            yield Pairing((a, b), refusal=str(error))
    if len(pairs) > MOST_PAIRS:
        left = tuple(dict.fromkeys(b for _, b in pairs[MOST_PAIRS:]))
        yield Pairing(left, refusal=f"{said}; these are left out")
