"""Where the waits of a report were: one instance, file or tablespace, undo, one statement, or one segment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.metrics.awr import ALL_INSTANCES
from iolab.metrics.formatting import size_text
from iolab.metrics.report_figures import report_facts
from iolab.rules.ash import blockers_of
from iolab.rules.finding import LITTLE, Evidence, Finding
from iolab.rules.latency import SINGLE_BLOCK
from iolab.rules.phrases import named_list, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.report_causes import busy_blocks, most_blocks, sequences_of
from iolab.rules.report_parts import parts_of
from iolab.rules.time_parts import LARGE, PART
from iolab.time_ledger.next_steps import BLOCKS, PARSES, event_step, step_at
from iolab.time_ledger.reports import is_calm
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from iolab.metrics.report_facts import ReportFacts

_READS: Final = ("physical_reads", "direct_reads")
#: The begin of an event -> the lists of segments that say for which of them its waits were, the best one first.
_SEGMENTS: Final = {
    **dict.fromkeys(("DB CPU", "latch: cache buffers chains"), ("logical_reads",)),
    "enq: TX - allocate ITL": ("itl_waits",),
    "enq: HW": ("direct_writes", "physical_writes", "block_changes"),
    "enq: TX - row lock": ("row_lock_waits",),
    "enq: TX - index": ("row_lock_waits", "buffer_busy_waits", "gc_buffer_busy"),
    "buffer busy waits": ("buffer_busy_waits",),
    "read by other session": ("buffer_busy_waits", *_READS),
    **dict.fromkeys(("gc buffer busy", "gc current block busy", "gc cr block busy"), ("gc_buffer_busy",)),
    "gc cr": ("cr_blocks_received",),
    "gc current": ("current_blocks_received",),
    **dict.fromkeys(("db file s", "cell single block", "cell multiblock", "cell smart"), _READS),
    "direct path read": _READS[::-1],
}
#: Lists of waits for what sessions change at once, and events of sessions that insert.
_CHANGED: Final = ("row_lock_waits", "buffer_busy_waits", "gc_buffer_busy")
_INSERTED: Final = ("enq: HW", "enq: TX - index")
_OF_TABLESPACE: Final = "see the devices of its data files: select name from v$datafile; iostat -xt 5"
_OF_ALL: Final = "see all devices and the paths to them: iostat -xt 5"
_OF_LOG: Final = "see the redo devices of this instance: iostat -xt 5"
_OF_CACHE: Final = f"set the least size of the buffer cache (db_cache_size); {PARSES}"
#: What lies in one place with this much of the time of an event, or of a list of segments, is named.
_MOSTLY: Final = 0.5
#: An instance, file or tablespace differs where its average is this many times that of the others.
_FAR: Final = 3
#: Reads of single blocks are slow from the first on, by what ADDM expects (DBIO_EXPECTED), and from the second on
#: whatever they read.
_SLOW_S: Final = (0.010, 0.020)
#: Files or tablespaces with this much of the reads count, where there are three or more; alike up to this ratio.
_COUNTS: Final = 0.01
_LEAST_PLACES: Final = 3
_ALIKE: Final = 2
_UNDO: Final = "UNDO"
_APPLIED: Final = "data blocks consistent reads - undo records applied"


@rule(
    "place_of_waits",
    "blocking_session",
    "busy_blocks",
    of="period",
    needs="waits by instance, reads by file or tablespace, sizes of caches, segments, or blocking sessions",
    thresholds={
        "half of the time, reads or waits": "a convention",
        "3 times the average of the others": "a convention",
        "10 ms for a read of one block": "DBIO_EXPECTED of ADDM",
        "20 ms for a log write": "FINDINGS F28",
    },
)
def place_of_waits(report: AwrReport) -> Iterator[Finding]:
    """Where most of a large event was: its instance, file, undo, statement or segment; and who blocked others."""
    yield from places(report, report_facts(report))
    yield from blockers_of(report)


def places(report: AwrReport, facts: ReportFacts) -> Iterator[Finding]:
    """The place of each large event, and what to look at there."""
    named = [_statistics(one) for one in most_blocks(facts)]
    large = [] if is_calm(facts) else [event for event, part in parts_of(facts).items() if part.is_large]
    hot, stated = hot_segment(report, facts), set[str]()
    for flush in busy_blocks(facts):  # before a hot segment is split
        if any(event in flush.explains for _, events in hot for event in events):
            hot = [(replace(one, sentence=f"{one.sentence} {flush.sentence}", next=flush.next), of) for one, of in hot]
        else:
            yield flush
    yield from (one for one, _ in hot)
    for event in (event for event in large if all(event not in events for _, events in hot)):
        lists = _lists_of(event)
        said, step = "", event_step(event)
        if far := _differs(report, event):
            is_instance = far.kind == "instance"
            said = f"A wait for `{event}` took {far.said}" if is_instance else f"A read took {far.said}"
            step = "" if is_instance else _of_files(report, far)
        elif said := _shrunk(report, event):
            step = _OF_CACHE
        elif said := _undo(report, facts, event):
            step = "see the longest queries, and what changes their rows: select * from v$undostat"
        elif said := _shared(report, facts, event, is_only=not named and not _segment(report, lists)):
            step = _OF_ALL
        elif (segment := _segment(report, lists)) and not any({*lists} & {*ones} for ones in named):
            said = f"Segment {segment.said} of `{segment.statistic.replace('_', ' ')}`"
            step = step_at(event, segment.name)
            if lists[0] == "buffer_busy_waits" and (block := _block_class(report)):
                said, step = f"{said}, most of their time for blocks of class `{block}`", BLOCKS[block]
            elif lists[0] in _CHANGED:
                said += next(_numbered(facts, segment.name), "")
        if event.startswith(_INSERTED) and (insert := _insert(facts)):
            said = f"{said}; {insert}" if said else insert
        if said and said not in stated:
            stated.add(said)
            yield Finding("place_of_waits", f"{said}.", next=step, explains=(event,))


def _lists_of(event: str) -> tuple[str, ...]:
    return next((of for begin, of in _SEGMENTS.items() if event.startswith(begin)), ())


def hot_segment(report: AwrReport, facts: ReportFacts) -> list[tuple[Finding, list[str]]]:
    """The segment of two or more events of what sessions change at once, large together, and these events."""
    found: dict[str, dict[str, _Segment]] = {}
    parts = {} if _block_class(report) or is_calm(facts) else parts_of(facts)
    for event in (event for event, part in parts.items() if part.share.lo >= LITTLE):
        lists = _lists_of(event)
        if lists[:1] and lists[0] in _CHANGED and (segment := _segment(report, lists)):
            found.setdefault(segment.name, {})[event] = segment
    name, events = max(found.items(), key=lambda item: len(item[1]), default=("", dict[str, _Segment]()))
    share = sum((parts[event].share for event in events), Interval.exact(0)).capped(1)
    if len(events) < 2 or share.lo < PART:
        return []
    largest = sorted(events, key=lambda event: -parts[event].share.value)
    base = parts[largest[0]].base
    of = [f"{percent(one.share)} of `{one.statistic.replace('_', ' ')}`" for one in dict.fromkeys(events.values())]
    inserts = [_insert(facts)] if any(event.startswith(_INSERTED) for event in events) else []
    said = f"Waits for {named_list([f'`{event}`' for event in largest])} took {percent(share)} of {base}"
    said = "; ".join([f"{said}: segment `{name}` accounts for {', '.join(of)}", *filter(None, inserts)])
    said, step = f"{said}{next(_numbered(facts, name), '')}.", step_at(largest[0], name)
    return [
        (Finding("place_of_waits", said, share, base, next=step, evidence=(Evidence("segments", (name,)),)), [*events])
    ]


def _insert(facts: ReportFacts) -> str:
    """The statement with a third of DB time or more, where it inserts: into what."""
    for one in facts.statements:
        verb, _, rest = one.text.replace("(", " ").upper().partition(" INTO ")
        share = Interval.exact(0) if facts.whole_s is None else (one.elapsed_s / facts.whole_s).capped(1)
        if verb.startswith("INSERT") and (table := rest.split()[:1]) and share.lo >= LARGE:
            return f"`{one.sql_id}` ({percent(share)} of DB time) inserts into `{table[0]}`"
    return ""


def _numbered(facts: ReportFacts, segment: str) -> Iterator[str]:
    """The sequence that numbers the rows of a segment: that of an INSERT into a table that its name begins with."""
    for name, one in sequences_of(facts).items():
        insert, _, table, *_ = [*one.text.upper().replace("(", " ").split(), "", "", ""]
        if insert == "INSERT" and segment.startswith(table.rpartition(".")[2]):
            yield f"; sequence `{name.rpartition('.')[2]}` numbers its rows"


@rule(
    "blocks_of_a_statement",
    of="period",
    needs="SQL ordered by gets, or by reads",
    thresholds={"half of the blocks": "a convention", "1,000 blocks per execution": "a convention"},
)
def blocks_of_a_statement(report: AwrReport) -> Iterator[Finding]:
    """The statement that read, or got, most blocks, for how many rows, and the segment of most of them."""
    yield from statement_blocks(report, report_facts(report))


def statement_blocks(report: AwrReport, facts: ReportFacts) -> Iterator[Finding]:
    """What `most_blocks` says, with the segment that has most of what it is a share of."""
    for one in most_blocks(facts):
        segment = _segment(report, _statistics(one))
        said = f"; segment {segment.said}" if segment else ""
        yield replace(one, sentence=f"{one.sentence.removesuffix('.')}{said}.")


def _statistics(one: Finding) -> tuple[str, ...]:
    """The lists of segments of the blocks that a statement read, or got."""
    return _READS if "User I/O" in one.explains else ("logical_reads",)


class _Far(NamedTuple):
    """An instance, or a place of reads, whose waits took far longer than those of the others.

    Attributes:
        ratio: how many times as long.
        kind, name: what it is, and its name.
        own, others: the averages, in words.
    """

    ratio: float
    kind: str
    name: str
    own: str
    others: str

    @property
    def said(self) -> str:
        """Both averages, as the end of a sentence."""
        name = self.name if self.kind == "instance" else f"`{self.name}`"
        return f"{self.own} in {self.kind} {name}, {self.others} in the others"


def _of_files(report: AwrReport, place: _Far) -> str:
    """How to see the devices of a file, a directory or a tablespace, by its slowest file; on NFS by another command."""
    file = place.name if place.kind != "tablespace" else ""
    if not file and "file_io" in report:
        own = report["file_io"].filter(pl.col("tablespace") == place.name).drop_nulls("avg_read_ms")
        file = next(iter(own.sort(pl.col("reads") * pl.col("avg_read_ms")).get_column("file").tail(1)), "")
    command = "nfsiostat 5" if "nfs" in file.lower() else "iostat -xt 5"
    return f"see the device of `{file}`: {command}" if file else _OF_TABLESPACE


def _differs(report: AwrReport, event: str) -> _Far | None:
    """The one instance, or place of reads, that took most of the time, each wait far longer than in the others.

    Of tablespaces, files and directories (disk groups) the one that differs most: an average over more than it hides
    it.
    """
    if "top_events" in report and "instance" in report["top_events"].columns:
        own = report["top_events"].filter(pl.col("event") == event, ~pl.col("instance").is_in(ALL_INSTANCES))
        if far := _far(own.select("waits", "avg_wait_ms", "instance"), "instance"):
            return far
    if not event.startswith("db file s"):
        return None
    found = []
    for table, kind in (("tablespace_io", "tablespace"), ("file_io", "file"), ("file_io", "directory")):
        if table in report:
            names = report[table].get_column("file" if table == "file_io" else kind).to_list()
            names = [name and _directory(name) if kind == "directory" else name for name in names]
            far = _far(report[table].select("reads", "avg_read_ms", name=pl.Series(names, dtype=pl.String)), kind)
            found += [far] if far else []
    return max(found, key=lambda far: round(far.ratio, 2), default=None)


def _directory(file: str) -> str:
    """The directory of a file, or its disk group.

    Examples:
        >>> _directory("/u7/oradata/x.dbf"), _directory("+DATA/db/x.301.88")
        ('/u7/oradata', '+DATA')
    """
    if file[:1] == "+":
        return file.partition("/")[0]
    return max((file.rpartition(separator)[0] for separator in "/\\"), key=len)


@rule("log_writes_by_instance", of="period", explains=("log file sync",), needs="top events of several instances")
def log_writes_by_instance(report: AwrReport) -> Iterator[Finding]:
    """The one instance whose log writes were far longer than those of the others."""
    if far := _differs(report, "log file parallel write"):
        evidence = (Evidence("top_events", ("log file parallel write",)),)
        yield Finding("log_writes_by_instance", f"A log write took {far.said}.", next=_OF_LOG, evidence=evidence)


def _shrunk(report: AwrReport, event: str) -> str:
    """Of reads of single blocks: that the buffer cache lost half of its size or more, and that the shared pool grew."""
    if not event.startswith("db file sequential") or "cache_sizes" not in report:
        return ""
    rows = report["cache_sizes"].select("cache", "begin_bytes", "end_bytes").drop_nulls().unique("cache", keep="none")
    sizes: dict[str, tuple[float, float]] = {name: (begin, end) for name, begin, end in rows.iter_rows()}
    (cache, less), (pool, more) = (sizes.get(name, (0.0, 0.0)) for name in ("Buffer Cache", "Shared Pool Size"))
    if not 0 < less <= _MOSTLY * cache:
        return ""
    said = f"The buffer cache shrank from {size_text(round(cache))} to {size_text(round(less))}"
    grew = f"; the shared pool grew from {size_text(round(pool))} to {size_text(round(more))}"
    return said + grew * (more > pool)


def _far(rows: pl.DataFrame, kind: str) -> _Far | None:
    """The name with most of the time, its average far above that of all others; of counts, averages (ms) and names."""
    rows = rows.drop_nulls().rename(dict(zip(rows.columns, ("count", "ms", "name"), strict=True)))
    time = (pl.col("count") * pl.col("ms")).sum()
    rows = rows.group_by("name").agg(time.alias("time"), pl.col("count").sum()).filter(pl.col("count") > 0)
    if rows.height < 2:
        return None
    name, most, count = rows.sort("time", "name", descending=[True, False]).row(0)
    left = rows.filter(pl.col("name") != name)
    rest, others = (float(left.get_column(column).sum()) for column in ("time", "count"))
    if not 0 < _FAR * rest * count <= most * others or most < _MOSTLY * (most + rest):
        return None
    averages = seconds(most / count / 1e3), seconds(rest / others / 1e3)
    return _Far(most * others / (rest * count), kind, str(name), *averages)


def _shared(report: AwrReport, facts: ReportFacts, event: str, *, is_only: bool) -> str:
    """Of slow reads of single blocks: that those of all files, or tablespaces, were alike; sooner as the only cause."""
    average = facts.listed_events[event].avg_s if event in SINGLE_BLOCK and event in facts.listed_events else None
    if average is None or average.lo < _SLOW_S[0 if is_only else 1]:
        return ""
    for table, kind in (("file_io", "data files"), ("tablespace_io", "tablespaces")):
        if table not in report:
            continue
        rows = report[table].select("reads", "avg_read_ms").drop_nulls().filter(pl.col("reads") > 0)
        own = rows.filter(pl.col("reads") >= _COUNTS * pl.col("reads").sum()).get_column("avg_read_ms").sort().to_list()
        if len(own) < _LEAST_PLACES or not 0 < own[-1] <= _ALIKE * own[0]:
            continue
        all_of = f"all {len(own)} {kind}" if len(own) == rows.height else f"each of the {len(own)} {kind} read most"
        took = seconds(Interval((own[0] + own[-1]) / 2, own[0], own[-1]) / 1e3)
        return f"A read took {took} in {all_of}: consistent with slow storage, or a path to it, that they share"
    return ""


def _undo(report: AwrReport, facts: ReportFacts, event: str) -> str:
    """Of reads of single blocks: that half of them or more were of undo, and how many records of it were applied."""
    if not event.endswith(("sequential read", "single block physical read")) or "tablespace_io" not in report:
        return ""
    rows = report["tablespace_io"].select("tablespace", "reads").drop_nulls()
    set_as = facts.parameters.get("undo_tablespace", "")
    own = rows.filter((pl.col("tablespace").str.head(len(_UNDO)) == _UNDO) | (pl.col("tablespace") == set_as))
    reads, whole = (float(one.get_column("reads").sum()) for one in (own, rows))
    if not 0 < _MOSTLY * whole <= reads:
        return ""
    applied, name = facts.activity.get(_APPLIED), own.sort("reads").item(-1, "tablespace")
    why = f": {three(applied.value)} undo records were applied for consistent reads" if applied is not None else ""
    return f"{percent(reads / whole)} of reads were of undo (`{name}`){why}"


def _block_class(report: AwrReport) -> str:
    """The class of block, other than data, with most of the time of the waits for buffers; empty of others."""
    rows = report["buffer_waits"].drop_nulls("total_wait_s") if "buffer_waits" in report else pl.DataFrame()
    own = rows.filter(pl.col("total_wait_s") > _MOSTLY * pl.col("total_wait_s").sum()) if rows.height else rows
    return str(own.item(0, "block_class")) if own.height and own.item(0, "block_class") in BLOCKS else ""


class _Segment(NamedTuple):
    """An object, and its share of the statistic that a list of segments is ordered by."""

    name: str
    share: float
    statistic: str

    @property
    def said(self) -> str:
        """Its share, as the begin of a clause that names the statistic."""
        return f"`{self.name}` accounts for {percent(self.share)}"


def _segment(report: AwrReport, lists: tuple[str, ...]) -> _Segment | None:
    """The object with half or more of what one of these lists of segments is ordered by."""
    for statistic in lists if "segments" in report else ():
        rows = report["segments"].filter(pl.col("ordered_by") == statistic, pl.col("object").is_not_null())
        share = pl.coalesce("total_pct", "capture_pct").sum() / 100
        top = rows.group_by("owner", "object", "pdb").agg(share=share).sort("share", "object", descending=[True, False])
        for name, part in top.head(1).filter(pl.col("share").is_between(_MOSTLY, 1)).select("object", "share").rows():
            return _Segment(str(name), float(part), statistic)
    return None
