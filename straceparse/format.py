"""The format of strace logs for the registry (`logframe.formats`)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from logframe.formats import Format, Sniff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Log, Source
    from logframe.formats import Head
    from logframe.provenance import Part
    from logframe.ranges import Splitting
    from straceparse.log import StraceLog

#: With fewer of its sampled lines strace's, a log is not an strace log.
MIN_SHARE: Final = 0.5
#: This many lines are looked at for another tracer's.
_LINES: Final = 400
_SURE: Final = 0.95
#: The same of a log whose lines were wrapped: a call may go on in several lines.
_LEAST_WRAPPED: Final = 0.1
#: Lines are wrapped at a size up to this; of this many lines one is full, and fewer lines are not enough.
_WIDEST, _FULL, _FEWEST = 200, 6, 8
#: The score of a log most of whose lines are stacks or dumps, or that is only a summary.
_SPARSE: Final = 0.8


def sniff(head: Head) -> Sniff | None:
    """Whether a log is strace's: by the share of its sampled lines that are."""
    from straceparse.dialects import (  # noqa: PLC0415 - readers are imported on use
        dialect_of_sample,
        may_be_strace,
        sampled_lines,
    )
    from straceparse.opening import other_tracer, shortened  # noqa: PLC0415 - readers are imported on use
    from straceparse.summary import ends_with_summary  # noqa: PLC0415 - readers are imported on use

    if (other := other_tracer(head.text.split("\n")[:_LINES])) is not None:
        reason = f"a log of {other[0]}, whose times and results are not strace's"
        return Sniff(_SURE, reason, is_refused=True, line=other[1])
    log = shortened(head.log)
    sample = sampled_lines(log)
    least = _LEAST_WRAPPED if _is_wrapped(sample) else MIN_SHARE
    if not may_be_strace(sample, least) and not log.is_empty() and not ends_with_summary(log):
        return None
    found = dialect_of_sample([log])
    if found.share >= MIN_SHARE:
        return Sniff(found.share, f"an strace log: {found.share:.0%} of its sampled lines are strace's")
    if least < MIN_SHARE and (share := _share_of_calls(found.cleanup.cleaned_lines(sample))) >= least:
        return Sniff(MIN_SHARE, f"an strace log whose lines were wrapped: {share:.0%} of them begin a call")
    if found.has_stacks or found.has_dumps:
        return Sniff(_SPARSE, "an strace log with stacks or dumps")
    if found.has_summary and ends_with_summary(log):
        return Sniff(_SPARSE, "the summary of strace -c")
    return None


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether many lines leave no place for the next word, as where a terminal, an editor or a mail has cut them."""
    texts = [line.rstrip() for line in lines if line.strip()]
    longest = max(map(len, texts), default=0)
    filled = sum(
        2 * len(line) > longest <= len(line) + 1 + len(below.split(maxsplit=1)[0]) for line, below in pairwise(texts)
    )
    return longest <= _WIDEST and filled * _FULL >= len(texts) > _FEWEST


def _share_of_calls(lines: list[str]) -> float:
    """The share of lines that begin with a call, whole or cut."""
    from straceparse.patterns import read_records  # noqa: PLC0415 - readers are imported on use

    records = read_records(lines)
    begun = [one for one in records if one.kind == "cut" and (one.clock or one.relative_ts or one.pid)]
    return (len(begun) + sum(one.kind == "call" for one in records)) / len(records)


def read(source: Source) -> StraceLog:
    """The log as `straceparse.StraceLog`."""
    from straceparse.log import read_log  # noqa: PLC0415 - readers are imported on use

    return read_log(source)


def is_one_log(logs: Sequence[Log]) -> bool:
    """Whether files are those that ``strace -ff`` wrote in one run: one name, with a process id at its end."""
    from straceparse.dialects import dialect_of, file_pid  # noqa: PLC0415 - readers are imported on use

    pids = {file_pid(log) for log in logs}
    stems = {log.name.rpartition(".")[0] for log in logs}
    if None in pids or len(pids) < len(logs) or len(stems) != 1:
        return False
    return not any(log.is_empty() for log in logs[:8]) and all(dialect_of([log]).share >= MIN_SHARE for log in logs[:8])


def splitting() -> Splitting:
    """How a large log is read in pieces."""
    from straceparse.ranges import SPLITTING  # noqa: PLC0415 - wanted by few

    return SPLITTING


def places(parsed: StraceLog, source: Source) -> list[Part]:
    """Which events and requests came from which lines."""
    from straceparse.provenance import parts_of  # noqa: PLC0415 - wanted by few

    return parts_of(parsed, source)


FORMAT: Final = Format(
    name="strace",
    title="an strace log",
    sniff=sniff,
    read=read,
    is_one_log=is_one_log,
    splitting=splitting,
    places=places,
)
