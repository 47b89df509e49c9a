"""`iolab.findings`: the rules of each log's format, and of a pair of logs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.rules.finding import findings_frame, nothing_found
from iolab.rules.time_parts import with_ledger
from iolab.sources import as_logs, is_one
from iolab.time_ledger.run import ledgers
from iolab.views import view_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.rules.finding import Finding
    from iolab.sources import Places
    from logframe.formats import ParsedLog

#: Of more logs pairs are compared by pages and `iolab.compare` only, but for the logs of a run.
_MOST_TOGETHER: Final = 4
#: The logs of a run are of several formats, and few of each: a report, settings, samples of the tools of the system.
_MOST_OF_A_RUN: Final = 10


def findings(logs: Places) -> pl.DataFrame:
    """What a log says first: findings with their share, their evidence and what to do next, in order.

    Args:
        logs: a log as `iolab.load` gives it, what `iolab.load` takes (a path, bytes, a file), or several: a list, a
            mapping, a folder, a pattern, an archive.  Of two reports, two sessions or two traces the change between
            them comes first, and of a trace with a report or a session whether they belong together.

    Returns:
        The columns `iolab.rules.finding.FINDINGS`; of several logs with ``log`` before them: its key in the mapping,
        or its short name (`iolab.sources.NamedLog`); null for what concerns all of them.

        * ``rank``; ``name`` of the finding; ``mark``: `evidence` (a problem of the evidence), `major` (20 % or more),
          `notable` (5 % or more), `context`, `cannot tell`
        * ``impact``, ``impact_lo``, ``impact_hi``: ratio; of what is in ``impact_of``; impacts overlap and do not
          add up
        * ``sentence``; ``detail``; ``caveat``; ``next``: what to do next (of every major finding and refusal)
        * ``evidence``: tables with the names of rows, or line numbers
        * ``refused``: it says what cannot be determined

    Raises:
        LogNotFoundError: Nothing is at a path; it is a `FileNotFoundError`.
        LogParseError: One of them is no known log.
        LogError: No log was given.

    Examples:
        >>> import iolab
        >>> found = iolab.findings(iolab.load(b"     0.000123 pread64(268, '', 8192, 0) = 8192"))
        >>> found.columns[:3]
        ['rank', 'name', 'mark']
        >>> iolab.findings("sample_data/articles/003_filesystemio_none.txt").item(1, "name")
        'time_profile'
    """
    named = list(as_logs(logs).items())
    if is_one(logs) and len(named) == 1:
        return _of_log(named[0][1])
    parts = [_of_log(log).select(pl.lit(name).alias("log"), pl.all()) for name, log in named]
    together = findings_together(named)
    if together.height:
        parts.insert(0, together.select(pl.lit(None, pl.String).alias("log"), pl.all()))
    return pl.concat(parts)


def findings_together(named: list[tuple[str, ParsedLog]]) -> pl.DataFrame:
    """What a few logs say together (`FINDINGS`): changes, contradictions, and what cannot be determined of them."""
    return findings_frame(_of_pairs(named))


def _of_pairs(named: list[tuple[str, ParsedLog]]) -> Iterator[Finding]:
    """What pairs of a few logs say together; logs of one format are a pair where there are two of it."""
    formats = [log.format for _, log in named]
    if len(named) > _MOST_TOGETHER and (
        len(named) > _MOST_OF_A_RUN or max(map(formats.count, formats)) > _MOST_TOGETHER
    ):
        return
    for one, two in combinations(named, 2):
        if one[1].format == two[1].format and formats.count(one[1].format) > 2:
            continue
        for first, second in ((one, two), (two, one)):
            find = view_of(first[1].format).pair_findings.get(second[1].format)
            if find is not None:
                yield from find(first, second)
                break


def _of_log(log: ParsedLog) -> pl.DataFrame:
    view = view_of(log.format)
    said = [] if view.findings is None else list(view.findings(log))
    accounts = ledgers(log)
    if view.findings is None and not accounts:
        return findings_frame(())
    found = findings_frame(with_ledger(said, accounts) or [nothing_found(view.looked_at)])
    steps = view.other_steps(log) if view.other_steps is not None else {}
    for usual, other in steps.items():
        found = found.with_columns(pl.col("next").str.replace_all(usual, other))
    return found
