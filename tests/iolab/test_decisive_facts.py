"""The object, moment, plan, file or limit behind the largest part stands in its sentence, beside its share."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar, cast

import polars as pl
import pytest

import iolab
from iolab.metrics.awr import with_all_waits
from iolab.metrics.report_facts import ReportFacts, Statement, Wait
from iolab.metrics.report_figures import _alike
from iolab.pages.ledger_rows import ledger_rows
from iolab.pages.ledger_text import first_screen
from iolab.pages.summary import summarize
from iolab.rules.ash import _mostly_on, _place, _plans, _when, blockers_of
from iolab.rules.compare_report import _statement
from iolab.rules.exadata import exadata
from iolab.rules.finding import Finding, findings_frame
from iolab.rules.load import cpu_is_the_time, db_time_unaccounted, instance_idle, parse_time
from iolab.rules.profile import not_separable, resource_manager
from iolab.rules.reads import temporary_space
from iolab.rules.report_causes import most_blocks, network, parameters_behind, sequence_cache
from iolab.rules.report_places import places, statement_blocks
from iolab.rules.reports import lines_not_read
from iolab.rules.time_parts import with_ledger
from iolab.rules.writes import commit_beyond_write, log_space, writers_behind
from iolab.time_ledger.account import Account
from iolab.time_ledger.next_steps import event_step
from iolab.time_ledger.reports import ledger_of
from logframe import Interval

if TYPE_CHECKING:
    from awrparse import AwrReport

exact = Interval.exact
BEGIN = dt.datetime(2024, 3, 1, 10, 0)  # noqa: DTZ001 - reports have no zone


def _segment_row(statistic: str, name: str, total: float | None, captured: float | None) -> dict[str, object]:
    """A row of a list of segments."""
    row = {"ordered_by": statistic, "owner": "A", "object": name, "pdb": None}
    return row | {"total_pct": total, "capture_pct": captured}


def tables(**frames: object) -> AwrReport:
    """A report of these tables."""
    return cast("AwrReport", {name: pl.DataFrame(rows) for name, rows in frames.items()})


class Sampled(dict[str, pl.DataFrame]):
    """A report with samples."""

    def __init__(self, frames: object, kind: str) -> None:
        super().__init__(cast("dict[str, pl.DataFrame]", frames))
        self.kind, self.with_bounds = kind, self.__getitem__


def facts_of(event: str, seconds: float, **more: object) -> ReportFacts:
    """A report of 1,000 s of DB time, in which one event took most."""
    events = {event: Wait(exact(9_000), exact(seconds))}
    return ReportFacts(db_time_s=exact(1_000), elapsed_s=exact(600), events=events, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("averages", "said"),
    [
        ((1.2, 28.6, 1.4), "28.6 ms in {}2{}, 1.30 ms in the others"),
        ((1.2, 3.5, 1.3), ""),  # less than 3 times as long
        ((28.6,), ""),
    ],
)
def test_the_instance_or_tablespace_behind_an_event(averages: tuple[float, ...], said: str) -> None:
    """One whose waits took far longer than those of the others is named; rows about all instances are none."""
    rows = [("*", 99.0), *((str(n), ms) for n, ms in enumerate(averages, 1))]
    events = [{"event": "log file sync", "instance": n, "avg_wait_ms": ms, "waits": 100} for n, ms in rows]
    spaces = [{"tablespace": n, "avg_read_ms": ms, "reads": 100} for n, ms in rows[1:]]
    for event, report, name in (
        ("log file sync", tables(top_events=events), ("instance ", "")),
        ("db file sequential read", tables(tablespace_io=spaces), ("tablespace `", "`")),
    ):
        found = list(places(report, facts_of(event, 700)))
        assert bool(found) == bool(said)
        assert not said or found[0].sentence.endswith(f" took {said.format(*name)}.")
        assert not said or ("v$datafile" in found[0].next) == ("tablespace" in name[0])


@pytest.mark.parametrize(
    ("event", "statistic", "said"),
    [
        ("enq: TX - index contention", "row_lock_waits", "Segment `T_PK` accounts for 97 % of `row lock waits`"),
        ("db file sequential read", "physical_reads", "Segment `T_PK` accounts for 97 % of `physical reads`"),
        ("gc buffer busy acquire", "gc_buffer_busy", "Segment `T_PK` accounts for 97 % of `gc buffer busy`"),
        ("log file sync", "row_lock_waits", ""),
    ],
)
def test_the_segment_behind_an_event(event: str, statistic: str, said: str) -> None:
    """The object with most of the list that belongs to an event is named, with partitions together."""
    rows = [_segment_row(statistic, "T_PK", None, pct) for pct in (60.0, 37.0)]
    rows += [_segment_row(statistic, "T", None, 2.0)]
    found = [one.sentence for one in places(tables(segments=rows), facts_of(event, 700))]
    assert [said in one for one in found] == [True] * bool(said)


@pytest.mark.parametrize("other", ["T_PK", "T"])
def test_one_segment_behind_several_events_is_one_fact(other: str) -> None:
    """Events of one hot segment are said together, with their share; of two segments each event has its own."""
    lists = {"gc_buffer_busy": "T_PK", "buffer_busy_waits": other}
    rows = [_segment_row(of, name, None, 91.0) for of, name in lists.items()]
    events = {n: Wait(exact(900), exact(s)) for n, s in (("gc buffer busy acquire", 250), ("buffer busy waits", 180))}
    facts = replace(facts_of("gc buffer busy acquire", 250), events=events)
    found = [one for one in places(tables(segments=rows), facts) if not one.explains]
    said = "Waits for `gc buffer busy acquire` and `buffer busy waits` took 43 % of DB time: "
    said += "segment `T_PK` accounts for 91 % of `gc buffer busy`, 91 % of `buffer busy waits`."
    assert [one.sentence for one in found] == [said] * (other == "T_PK")
    assert all("`T_PK`" in one.next and one.impact is not None and one.impact.value == 0.43 for one in found)
    assert len([*places(tables(segments=rows), facts)]) == (1 if found else 2)
    busy = {**events, "gc cr block busy": Wait(exact(900), exact(180))}
    slow = replace(facts, events=busy, background={"log file parallel write": Wait(exact(900), exact(68))})
    placed = [*places(tables(segments=rows), slow)]
    assert any("a log write took 75.6 ms" in one.sentence and "redo" in one.next for one in placed)


@pytest.mark.parametrize("seconds", [50, 20])
def test_small_waits_of_one_index_are_one_fact_with_the_insert_behind_it(seconds: float) -> None:
    """Waits of which none is large are large together; what inserts has a third of the time or more."""
    segment = _segment_row("gc_buffer_busy", "X9", None, 91.0)
    names = ("enq: TX - index contention", "gc buffer busy acquire", "gc current block busy")
    insert = Statement("6kd2v9s1xq8fa", exact(700), exact(90), text="INSERT INTO A.T(ID) VALUES (:1)")
    events = {name: Wait(exact(900), exact(seconds)) for name in names}
    facts = replace(facts_of(names[0], seconds), events=events, statements=(insert,))
    found = [one.sentence for one in places(tables(segments=[segment]), facts)]
    said = f"Waits for {', '.join(f'`{name}`' for name in names[:2])} and `{names[2]}` took 15 % of DB time: segment "
    said += "`X9` accounts for 91 % of `gc buffer busy`; `6kd2v9s1xq8fa` (70 % of DB time) inserts into `A.T`."
    assert found == [said] * (seconds == 50)


@pytest.mark.parametrize(("taken", "listed"), [(700, True), (700, False), (200, True), (200, False)])
def test_what_grows_and_what_inserts_into_it_stand_beside_the_wait_for_space(taken: float, listed: bool) -> None:  # noqa: FBT001 - a case
    """The segment of a list, and the statement with a third of the time, where it inserts."""
    lob = _segment_row("block_changes", "LOB$$", None, 76.0)
    insert = Statement("6kd2v9s1xq8fa", exact(taken), exact(90), text="insert /*+ append */ into a.scan values (:1)")
    facts = replace(facts_of("enq: HW - contention", 660), statements=(insert,))
    found = [*places(tables(segments=[lob]) if listed else tables(), facts)]
    named = "`6kd2v9s1xq8fa` (70 % of DB time) inserts into `A.SCAN`"
    said = ["Segment `LOB$$` accounts for 76 % of `block changes`"] * listed + [named] * (taken == 700)
    assert [one.sentence for one in found] == [f"{'; '.join(said)}."] * bool(said)
    assert [one.next.endswith("in advance: `LOB$$`") for one in found] == [listed] * bool(said)


@pytest.mark.parametrize(
    ("block_class", "step"),
    [("segment header", "ASSM"), ("undo header", "undo_management"), ("data block", "hash partitions")],
)
def test_the_class_of_blocks_behind_waits_for_buffers(block_class: str, step: str) -> None:
    """Blocks that no partitions spread have another cure, and their class stands beside the segment."""
    segment = _segment_row("buffer_busy_waits", "T", 95.0, None)
    waits = [{"block_class": block_class, "total_wait_s": 97.0}, {"block_class": "file header", "total_wait_s": 3.0}]
    (found,) = places(tables(segments=[segment], buffer_waits=waits), facts_of("buffer busy waits", 700))
    assert (f"most of their time for blocks of class `{block_class}`" in found.sentence) == ("header" in block_class)
    assert step in found.next


def files(*rows: tuple[str, str, int, float]) -> AwrReport:
    """A report of these files (tablespace, file, reads, average in ms), and of the averages of their tablespaces."""
    names = ("tablespace", "file", "reads", "avg_read_ms")
    frame = pl.DataFrame(rows, schema=names, orient="row")
    average = (pl.col("reads") * pl.col("avg_read_ms")).sum() / pl.col("reads").sum()
    spaces = frame.group_by("tablespace").agg(average.alias("avg_read_ms"), pl.col("reads").sum())
    return tables(file_io=frame, tablespace_io=spaces)


@pytest.mark.parametrize(
    ("slow", "said"),
    [
        (("/u7/d/b.dbf",), "file `/u7/d/b.dbf`"),  # its tablespace has fast ones, too
        (("/u7/d/b.dbf", "/u7/d/c.dbf"), "directory `/u7/d`"),
        (("+D7/db/b.2", "+D7/db/c.3"), "directory `+D7`"),
        (("/u1/d/b.dbf", "/u1/d/c.dbf", "/u1/d/e.dbf", "/u1/d/f.dbf"), "tablespace `B`"),
    ],
)
def test_the_place_of_slow_reads(slow: tuple[str, ...], said: str) -> None:
    """Of files, directories or disk groups, and tablespaces, the one that differs most: an average hides a file."""
    fast = ["/u1/d/e.dbf", "/u1/d/f.dbf"] if len(slow) < 4 else []
    rows = [("B", file, 1_000, 39.0) for file in slow] + [("B", file, 1_000, 3.0) for file in fast]
    rows += [("A", f"/u1/d/a{n}.dbf", 900, 3.0) for n in range(3)]
    (found,) = places(files(*rows), facts_of("db file sequential read", 700))
    assert found.sentence == f"A read took 39 ms in {said}, 3 ms in the others."
    assert "iostat -xt 5" in found.next
    assert ("v$datafile" in found.next, slow[-1] in found.next) == (False, len(slow) in {1, 4})


@pytest.mark.parametrize(
    ("seconds", "averages", "share", "said"),
    [
        (198, (19.0, 22.2, 21.4), 20.0, "A read took 19 to 22.2 ms in all 3 data files: consistent with slow storage"),
        (198, (19.0, 22.2, 21.4), 97.0, "A read took 19 to 22.2 ms in all 3 data files: consistent with slow storage"),
        (198, (19.0, 22.2, 60.0), 20.0, ""),  # one stands out
        (198, (19.0, 22.2), 20.0, ""),
        (108, (11.0, 12.2, 12.4), 20.0, "A read took 11 to 12.4 ms in all 3 data files: consistent with slow storage"),
        (108, (11.0, 12.2, 12.4), 97.0, "Segment `T` accounts for 97 % of `physical reads`"),
        (88, (9.0, 9.2, 9.4), 20.0, ""),
    ],
)
def test_slow_reads_of_all_files_are_of_what_they_share(
    seconds: float, averages: tuple[float, ...], share: float, said: str
) -> None:
    """Where no place of slow reads stands out, the storage does; but what was read, where it is not that slow."""
    report = files(*((f"A{n}", f"/u1/a{n}.dbf", 3_000, ms) for n, ms in enumerate(averages)))
    segment = _segment_row("physical_reads", "T", share, None)
    read = cast("dict[str, object]", report)
    report = tables(**read, segments=[segment])
    found = list(places(report, facts_of("db file sequential read", seconds)))
    assert [one.sentence.startswith(said) for one in found] == [True] * bool(said)
    assert all(("paths" in one.next) == ("storage" in said) for one in found)


@pytest.mark.parametrize(("reads", "is_said"), [(8_900, True), (400, False)])
def test_reads_of_undo_are_no_slow_storage(reads: int, is_said: bool) -> None:  # noqa: FBT001 - a case
    """Where most reads were of undo, for consistent reads, neither the devices nor a data segment is the cause."""
    activity = {"data blocks consistent reads - undo records applied": exact(88_120_331)}
    facts = facts_of("db file sequential read", 700, activity=activity)
    found = list(places(files(("UNDO_2", "u.dbf", reads, 1.5), ("A", "a.dbf", 1_100, 1.4)), facts))
    assert [one.sentence for one in found] == is_said * [
        "89 % of reads were of undo (`UNDO_2`): 88,100,000 undo records were applied for consistent reads."
    ]
    assert all("iostat" not in one.next for one in found)


def test_the_segment_of_a_statement_and_the_sequence_of_an_index() -> None:
    """One sentence has the statement with most of the blocks and their segment; a hot index its sequence."""
    counts = {"physical_reads": 31_022_110.0, "reads_pct": 92.0}
    scan = Statement("2881204331", exact(800), exact(412), counts=counts)
    insert = Statement("gk2v8xw0q1d71", exact(9), text="insert into t values (app.seq_t.nextval, :1)")
    rows = [_segment_row(of, "T_PK", 93.1, None) for of in ("physical_reads", "gc_buffer_busy")]
    report, facts = tables(segments=rows), facts_of("db file scattered read", 700, statements=(scan,))
    (read,) = statement_blocks(report, facts)
    assert read.sentence == (
        "`2881204331` read 75,300 blocks per execution: 92 % of all physical reads; segment `T_PK` accounts for 93 %."
    )
    assert list(places(report, facts)) == []
    (busy,) = places(report, facts_of("gc buffer busy acquire", 700, statements=(insert,)))
    assert busy.sentence == "Segment `T_PK` accounts for 93 % of `gc buffer busy`; sequence `SEQ_T` numbers its rows."
    assert "ASH" not in busy.next
    other = replace(insert, text="insert into u values (app.seq_t.nextval, :1)")
    (busy,) = places(report, facts_of("gc buffer busy acquire", 700, statements=(other,)))
    assert "SEQ_T" not in busy.sentence


def test_statements_that_differ_only_in_literals() -> None:
    """Hard parses name literals where texts show them: full texts, not those that a list cuts."""
    texts = ["select a from t where b = 'X-1'", "select a from t where b = 'X-2'", "select a from t where b = 'Y'"]
    texts += ["select c from u where d = :1"]
    rows = [
        {"sql_id": f"id{n}", "sql_text": text[:12] + "...", "ordered_by": "elapsed"} for n, text in enumerate(texts)
    ]
    full = [{"sql_id": f"id{n}", "sql_text": text} for n, text in enumerate(texts)]
    assert _alike(tables(sql=rows)) == (0, 0)
    alike = _alike(tables(sql=rows, sql_text=full))
    assert alike == (3, 4)
    hard = {"parse_s": exact(720), "hard_parse_s": exact(680)}
    (found,) = parse_time(facts_of("library cache: mutex X", 300, alike=alike, **hard))
    assert found.sentence.endswith("; 3 of the 4 statements listed differ from another only in literals.")
    assert found.next.startswith("use bind variables")
    (other,) = parse_time(facts_of("library cache: mutex X", 300, **hard))
    assert "literals" not in other.sentence


def test_no_other_log_is_asked_for_what_the_report_shows() -> None:
    """Time in a run queue and fast reads are no refusal; a checkpoint that is not complete is no archiver."""
    queue = facts_of("log file sync", 100, db_cpu_s=exact(300), cpus=8, idle_pct=exact(1.0))
    assert list(not_separable(queue)) == []
    assert [one.name for one in not_separable(replace(queue, idle_pct=exact(50.0)))] == ["not_separable"]
    assert list(not_separable(facts_of("db file sequential read", 700))) != []
    fast = {"db file sequential read": Wait(exact(500_000), exact(700))}
    assert list(not_separable(replace(queue, db_cpu_s=None, events=fast))) == []
    assert "archiving" not in event_step("log file switch (checkpoint incomplete)")


def test_the_cause_begins_on_the_third_line() -> None:
    """Below a total of two lines the second sentence goes on where the first one ends."""
    account = Account(exact(1_000), "DB time")
    account.add("what", "log file sync", exact(700), kind="wait", count=exact(9_000))
    account.add("what", "DB CPU", exact(300), kind="cpu")
    cause = Finding("log_write", "A log write took 22 ms.", explains=("log file sync",))
    for text, line in (("the total", 2), ("the total " * 12, 2)):
        ledger = account.ledger(text=text, counted={"what": "waits"})
        screen = first_screen(findings_frame(with_ledger([cause], [ledger])), ledger, width=100).splitlines()
        assert "A log write took" in screen[line]


def test_the_flash_behind_reads_of_cells() -> None:
    """How many reads the flash of the cells served stands beside their share."""
    activity = {"cell flash cache read hits": exact(110), "physical read total io requests": exact(1_000)}
    facts = facts_of("cell single block physical read", 700, activity=activity)
    rows = findings_frame(with_ledger(exadata(activity), [ledger_of(facts)]))
    (said,) = rows.filter(name="flash_hits", part="cell single block physical read").get_column("sentence")
    assert said == "Flash answered 11 % of 1,000 read requests."


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ((0, 900, 0, 0), (", all of them from 10:06 to 10:12", 1.0, 360.0)),
        ((10, 10, 500, 480), (", 98 % of them from 10:12 on", 0.98, 720.0)),
        ((100, 110, 90, 100), ("", 1.0, None)),
    ],
)
def test_when_an_event_was_sampled(samples: tuple[int, ...], said: tuple[str, float, float | None]) -> None:
    """A span of slots with nearly all samples of an event is said, with its length, not an even one."""
    slots = [
        {"slot_begin": BEGIN + dt.timedelta(minutes=6 * n), "slot_s": 360.0, "event": name, "samples": count}
        for n, own in enumerate(samples)
        for name, count in (("log file sync", own), ("CPU + Wait for CPU", 50))
    ]
    row = {"kind": "wait", "name": "log file sync"}
    assert _when(tables(ash_activity=slots), row) == said


@pytest.mark.parametrize(
    ("share", "of_object", "said"), [(0.6, 50.0, ", mostly on `A.T (TABLE)`"), (0.5, 34.0, ""), (0.6, 29.0, "")]
)
def test_the_object_of_an_event(share: float, of_object: float, said: str) -> None:
    """An object is said of an event, or of its part in a statement, where it must have half of these samples."""
    events = [{"event": "buffer busy waits", "scope": "user", "activity_pct": 60.0}]
    objects = [{"event": "buffer busy waits", "object": "A.T (TABLE)", "event_pct": of_object}]
    report = tables(ash_top_events=events, ash_objects=objects)
    assert _mostly_on(_place(report, "buffer busy waits", share)) == said
    assert _mostly_on(_place(report, "gc buffer busy acquire", share)) == ""


@pytest.mark.parametrize(("kind", "where"), [("ash", ", all in `enq: TX - row lock contention`"), ("awr", "")])
def test_the_session_that_blocked_others(kind: str, where: str) -> None:
    """A report of a period that has samples names the blocker beside the event; only by a share of all samples."""
    event = "enq: TX - row lock contention"
    row = {"session": "7,1", "sid": 7, "event": event, "program": "pay", "samples": None, "samples_of": None}
    for share, of, count in ((60.0, "samples", 1), (99.0, "blocking that the report counts", kind == "ash")):
        rows = [row | {f"event_pct{end}": share for end in ("", "_lo", "_hi")}]
        events = [{"event": event, "scope": "all"} | {f"activity_pct{end}": 90.0 for end in ("", "_lo", "_hi")}]
        found = list(
            blockers_of(cast("AwrReport", Sampled(tables(ash_blocking_sessions=rows, ash_top_events=events), kind)))
        )
        said = f"Session 7 (pay) blocked other sessions in {share:.0f} % of the {of}{where}."
        assert [one.sentence for one in found] == [said] * count


def test_ddl_beside_the_session_that_blocks_the_library_cache() -> None:
    """What changes or compiles an object is named with the blocker, not with one of another lock."""
    text = "ALTER PACKAGE A.P COMPILE"
    ran = [{"sql_id": "7k2qx0zm9w4cd", "activity_pct": 3.0, "sql_text": text}]
    ran += [{"sql_id": "1mz8c4t0h5wyr", "activity_pct": 80.0, "sql_text": "begin a.p; end;"}]
    for event, said in (("library cache pin", f"; `7k2qx0zm9w4cd` ran meanwhile: {text}."), ("latch free", ".")):
        row = {"session": "7,1", "sid": 7, "event": event, "program": "pay", "samples": None, "samples_of": None}
        rows = [row | {f"event_pct{end}": 60.0 for end in ("", "_lo", "_hi")}]
        events = [{"event": event, "scope": "all"} | {f"activity_pct{end}": 90.0 for end in ("", "_lo", "_hi")}]
        log = Sampled(tables(ash_blocking_sessions=rows, ash_top_events=events, ash_sql_events=ran), "ash")
        (found,) = blockers_of(cast("AwrReport", log))
        assert found.sentence.endswith(f"all in `{event}`{said}")


def test_sorts_on_disk_with_most_of_the_time_lead() -> None:
    """Reads and writes of temporary space are one; the gets of a statement that waits for them are not its time."""
    events = {f"direct path {what} temp": Wait(exact(900), exact(390)) for what in ("read", "write")}
    counts = {"buffer_gets": 9e8, "gets_pct": 60.0}
    one = Statement("7k2qx0zm9w4cd", exact(800), exact(9), io_s=exact(700), counts=counts)
    facts = ReportFacts(db_time_s=exact(1_000), elapsed_s=exact(600), events=events,
        activity={"workarea executions - multipass": exact(21)}, statements=(one,))  # fmt: skip
    (found,) = temporary_space(facts)
    assert (found.part, found.mark) == ("", "major")
    assert "78 % of DB time" in found.sentence
    assert found.sentence.endswith("21 work areas needed several passes.")
    assert not list(most_blocks(facts))
    assert list(most_blocks(replace(facts, statements=(replace(one, io_s=exact(100)),))))


def test_a_statement_of_two_plans_has_both() -> None:
    """The share of each plan, the larger one first; of one plan nothing is said."""
    rows = [{"sql_id": "a", "plan_hash": plan, "event_pct": pct} for plan, pct in ((7, 60.0), (7, 8.0), (9, 2.0))]
    assert _plans(tables(ash_sql_events=rows), "a") == "; plan 7 68 %, plan 9 2.0 %"
    assert _plans(tables(ash_sql_events=rows[:2]), "a") == ""


def test_the_statement_behind_a_change_between_periods() -> None:
    """Of two periods the statement with most of the change leads, with its executions and plans."""
    row = {"ordered_by": "elapsed", "sql_id": "7k2qx0zm9w4cd", "first_pct": 3.0, "second_pct": 80.0}
    row |= {"first_elapsed_per_exec_ms": 24.0, "second_elapsed_per_exec_ms": 3_600.0, "plans": "1/ 1/ 2"}
    row |= {"first_reads_per_exec": 9.0, "second_reads_per_exec": 50_000.0}
    row |= {"first_gets_per_exec": None, "second_gets_per_exec": None}
    gets = row | {"ordered_by": "gets", "first_gets_per_exec": 84.0, "second_gets_per_exec": 61_200.0}
    one, two = (ReportFacts(db_time_s=exact(time), elapsed_s=exact(100)) for time in (100, 500))
    (found,) = _statement(tables(compare_sql=[row, gets]), one, two)
    assert found.sentence == (
        "`7k2qx0zm9w4cd` made up 99.2 % of the increase in DB time: 3.60 s per execution after 24 ms, "
        "61,200 gets after 84, 50,000 blocks read after 9; its plan changed."
    )
    assert list(_statement(tables(compare_sql=[row]), one, one)) == []


@pytest.mark.parametrize(
    ("event", "settings", "said"),
    [
        ("free buffer waits", {"disk_asynch_io": "FALSE"}, "`disk_asynch_io` = FALSE: writes are not asynchronous."),
        ("free buffer waits", {"filesystemio_options": "NONE", "db_recovery_file_dest": "+FRA"}, "asynchronous."),
        ("free buffer waits", {"filesystemio_options": "none", "control_files": "+DATA/a.ctl"}, ""),
        ("free buffer waits", {"filesystemio_options": "setall"}, ""),
        ("free buffer waits", {"db_writer_processes": "1", "cpu_count": "4"}, ""),
        ("log file switch (archiving needed)", {"log_archive_max_processes": "2"}, "= 2: few processes archive."),
        ("log file sync", {"disk_asynch_io": "FALSE"}, ""),
    ],
)
def test_the_parameter_behind_a_wait(event: str, settings: dict[str, str], said: str) -> None:
    """A setting that explains a wait stands beside it, with what to set; of file systems where files are in one."""
    found = list(parameters_behind(facts_of(event, 600, parameters=settings, cpus=4)))
    assert [one.sentence.endswith(said) for one in found] == [True] * bool(said)
    assert all(one.explains == (event,) and one.next for one in found)
    assert list(parameters_behind(facts_of(event, 50, parameters=settings, cpus=4))) == []


@pytest.mark.parametrize(("printed", "count"), [(902_000, 902_000), (9_000, 901_800), (None, 901_800)])
def test_counts_of_a_period_are_those_that_it_prints(printed: int | None, count: float) -> None:
    """A rate per second is rounded: the count of the same waits among the top events is not."""
    row = {"event": "db file scattered read", "wait_class": "User I/O", "second_total_wait_s": 12_718.2}
    row |= {"second_waits_per_s": 250.3, "second_waits_per_s_lo": 250.25, "second_waits_per_s_hi": 250.35}
    top = {"second_event": row["event"], "second_wait_class": "User I/O", "second_waits": printed}
    frames = {"compare_wait_events": [row], "compare_top_events": [top | {"second_total_wait_s": 12_718.2}]}
    report = Sampled(
        {name: pl.DataFrame(rows) for name, rows in frames.items()} | {"compare_wait_classes": pl.DataFrame()}, ""
    )
    facts = with_all_waits(ReportFacts(elapsed_s=exact(3_603)), cast("AwrReport", report), "second")
    assert facts.events["db file scattered read"].waits.value == count


def test_the_limit_behind_a_wait() -> None:
    """A small limit, the memory of sorts, or slow writes stand in the sentence of the wait for them."""
    caged = facts_of("resmgr:cpu quantum", 600, cpus=64, cpu_count=2)
    assert next(resource_manager(caged)).sentence.endswith(": `cpu_count` was 2 of 64 CPUs.")
    assert "cpu_count" not in next(resource_manager(facts_of("resmgr:cpu quantum", 600, cpus=64))).sentence
    spilled = facts_of("direct path write temp", 330, parameters={"pga_aggregate_target": "2147483648"})
    spilled.events["direct path read temp"] = Wait(exact(900), exact(300))
    assert next(temporary_space(spilled)).sentence.endswith("; `pga_aggregate_target` was 2 GiB.")
    write = {"db file parallel write": Wait(exact(1_000), exact(115))}
    _, behind = writers_behind(facts_of("free buffer waits", 600, background=write))
    assert behind.sentence.endswith("for the database writers, whose writes took 115 ms.")
    write["db file async I/O submit"] = Wait(exact(1_000), exact(380))
    _, sync = writers_behind(facts_of("free buffer waits", 600, background=write))
    assert sync.sentence.endswith("whose `db file async I/O submit` took 380 ms.")
    switched = {"log switches (derived)": exact(40)}
    full = facts_of("log file switch (checkpoint incomplete)", 600, activity=switched)
    assert [one.sentence for one in log_space(full)] == ["", "The logs switched 240 times per hour."]
    assert [one.sentence for one in log_space(facts_of("log buffer space", 600, activity=switched))] == [""]
    full = facts_of("log file switch (archiving needed)", 600, activity=switched)
    full.background["Log archive I/O"] = Wait(exact(1_000), exact(19))
    assert next(one for one in log_space(full) if one.next).sentence.endswith("; `Log archive I/O` took 19 ms each.")
    assert "iostat -xt 5" in event_step("log file switch (archiving needed)")
    redo = facts_of("log file switch (checkpoint incomplete)", 600, activity={"redo size": exact(6e9)})
    assert [one.sentence for one in log_space(redo)] == ["", "Sessions made 10 MB/s of redo."]


@pytest.mark.parametrize(
    ("end_mb", "pool_mb", "said"),
    [
        (896, 11_136, "cache shrank from 7.88 GiB to 896 MiB; the shared pool grew from 3.88 GiB to 10.9 GiB."),
        (896, 3_968, "The buffer cache shrank from 7.88 GiB to 896 MiB."),
        (7_040, 4_992, ""),
    ],
)
def test_a_buffer_cache_that_shrank(end_mb: int, pool_mb: int, said: str) -> None:
    """Reads of single blocks of an instance whose buffer cache lost half of its size say so."""
    sizes = (("Buffer Cache", 8_064, end_mb), ("Shared Pool Size", 3_968, pool_mb), ("Log Buffer", 64, None))
    rows = [
        {"cache": name, "begin_bytes": begin * 2.0**20, "end_bytes": end and end * 2.0**20}
        for name, begin, end in sizes
    ]
    found = list(places(tables(cache_sizes=rows), facts_of("db file sequential read", 600)))
    assert [one.sentence.endswith(said) for one in found] == [True] * bool(said)


def test_the_sequence_behind_its_lock() -> None:
    """Of one sequence in the texts of the statements the name is known, of two it is not."""

    def said(*texts: str) -> list[str]:
        used = tuple(Statement(f"gk2v8xw0q1d7{n}", exact(9), text=text) for n, text in enumerate(texts))
        facts = facts_of("enq: SQ - contention", 700, statements=used)
        return [one.sentence for one in sequence_cache(facts)]

    insert = "insert into t values (app.seq_t.nextval, :1)"
    assert said("select 1 from dual", insert) == ["`gk2v8xw0q1d71` takes numbers of sequence `APP.SEQ_T`."]
    assert said(insert, "insert into u values (seq_u.nextval)") == []
    assert said("select 1 from dual") == []


class Rac(dict[str, pl.DataFrame]):
    """A report of one instance of several, with the counters of its network devices."""

    raw_tables: ClassVar = {
        "Interconnect Device Statistics": pl.DataFrame({"Device Name": ["a", "b"], "Receive Dropped": [7, 61_204]})
    }


def test_lost_blocks_are_a_fault_of_the_network() -> None:
    """The class names the events that make it, not the average of all; what the devices dropped stands beside it."""
    events = {
        "gc cr block lost": Wait(exact(500), exact(250)),
        "gc current block lost": Wait(exact(250), exact(125)),
        "gc cr block 2-way": Wait(exact(500_000), exact(250)),
    }
    facts = ReportFacts(db_time_s=exact(1_000), elapsed_s=exact(600), events=events, classes={"Cluster": exact(625)})
    pings = [{"latency_8k_us": 4_112.0, "latency_500b_us": 182.0}, {"latency_8k_us": 60.0, "latency_500b_us": 41.0}]
    found = list(network(cast("AwrReport", Rac(rac_interconnect_ping=pl.DataFrame(pings))), facts))
    (said,) = (one.sentence for one in found)
    assert said.startswith("The private network lost blocks; `b` dropped 61,204 packets that it received")
    assert said.endswith(", and 8 KiB pings took 4.11 ms (500 bytes: 182 us).")
    cause = replace(found[0], explains=("Cluster", "gc "))
    rows = findings_frame(with_ledger([cause], [ledger_of(facts)]))
    place = rows.get_column("name").to_list().index("lost_blocks")
    assert rows.item(place, "part") == "Cluster"
    assert rows.item(place - 1, "sentence") == (
        "Waits of class Cluster took 62 % of DB time: `gc cr block 2-way` 25 % (500,000 waits of 500 us), "
        "`gc cr block lost` 25 % (500 waits of 500 ms)."
    )
    screen = first_screen(rows, ledger_of(facts)).splitlines()
    assert "The private network lost blocks" in " ".join(screen[:4])
    assert screen[-1].startswith("next: see what the private network drops")


def test_a_cause_is_beside_a_small_part_too() -> None:
    """What explains a part of 10 % stands below it; without one of that size it stands by itself."""
    cause = Finding("log_write", "A log write took 22 ms.", explains=("log file sync",))
    parts = {}
    for share in (150, 50):
        rows = findings_frame(with_ledger([cause], [ledger_of(facts_of("log file sync", share))]))
        parts[share] = rows.filter(name="log_write").item(0, "part")
    assert parts == {150: "log file sync", 50: None}


def test_no_plan_is_asked_of_a_short_statement() -> None:
    """One that inserts a row, or gets a few blocks each time, has no better plan: its step is what it waited for."""
    insert = Statement("1qx8r5f0ctm2d", exact(800), exact(9_000), text="insert into t (a) values (:1)")
    lookup = Statement("az1wtf3paa83q", exact(800), exact(9_000), cpu_s=exact(700), counts={"buffer_gets": 36_000})
    scan = Statement("bz0q5s1n2f7ga", exact(800), exact(9_000), counts={"buffer_gets": 36_000_000})
    steps = [
        ledger_of(facts_of("enq: TX - index contention", 300, statements=(one,))).parts("who").item(0, "next")
        for one in (insert, lookup, scan)
    ]
    assert ["index that grows" in one for one in steps] == [True, True, False]
    assert "display_awr('bz0q5s1n2f7ga')" in steps[2]
    quiet = ledger_of(facts_of("latch free", 1, statements=(lookup,))).parts("who").item(0, "next")
    assert quiet == "see what executes `az1wtf3paa83q` so often: its module"


def test_a_short_period_says_so() -> None:
    """Two snapshots taken back to back are of no use: the length stands in the sentence, the step is another report."""
    (found,) = instance_idle(ReportFacts(db_time_s=exact(0.4), elapsed_s=exact(11)))
    assert found.sentence == "The report covers only 11 s, and almost nothing ran in it."
    assert "busy hour" in found.next


def test_time_without_a_name_on_a_busy_host() -> None:
    """Where the processors were busy with others, that stands beside the time that is no CPU and no wait."""
    facts = facts_of("log file sync", 100, db_cpu_s=exact(300), cpus=8, idle_pct=exact(1.0), busy_cpu_pct=exact(14.0))
    (found,) = db_time_unaccounted(facts)
    assert found.sentence.endswith(" 99 % busy, 14 % of it by this instance, consistent with waiting for one.")
    assert found.next.startswith("see the processes of the host")
    user = Statement("c4q8n1y0mzs7k", exact(700), cpu_s=exact(280))
    (own,) = db_time_unaccounted(
        facts_of("log file sync", 100, db_cpu_s=exact(300), cpus=8, idle_pct=exact(1.0), statements=(user,))
    )
    assert "c4q8n1y0mzs7k" in own.next


def test_a_statement_that_waits_is_asked_for_no_plan() -> None:
    """Where neither CPU nor I/O was most of a statement, its next step is that of what it waited for."""
    time = {"cpu_s": exact(80), "io_s": exact(20)}
    facts = facts_of("gc buffer busy acquire", 350, statements=(Statement("6wz0kq2dm81xv", exact(800), **time),))
    steps = ledger_of(facts).parts("who").get_column("next").to_list()
    assert "its object is the segment" in steps[0]
    little = facts_of("latch: cache buffers chains", 20, statements=(Statement("6wz0kq2dm81xv", exact(800), **time),))
    assert "plan" in ledger_of(little).parts("who").item(0, "next")


@pytest.mark.parametrize("other", [2_000, 29_000, 90_000])
def test_the_file_behind_reads_of_a_trace(other: int) -> None:
    """Reads of one file that take far longer than those of another are no mean of both; slow reads are no plan's."""
    lines = ["*** 2024-03-01 10:00:00.000", "*** SESSION ID:(7.9) 2024-03-01 10:00:00.000"]
    lines += ["PARSING IN CURSOR #3 len=15 dep=0 uid=9 oct=3 lid=9 tim=1000 hv=1 ad='a' sqlid='1v8xq0zm9w4cd'"]
    lines += ["select a from t", "END OF STMT", "PARSE #3:c=10,e=10,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=9,tim=1000"]
    lines += ["EXEC #3:c=10,e=10,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=9,tim=1020"]
    tim = 1020
    for _ in range(40):
        for file, ela in ((14, 30_000), (9, other)):
            tim += ela
            lines += [
                f"WAIT #3: nam='db file scattered read' ela= {ela} file#={file} block#=7 blocks=16 obj#=5 tim={tim}"
            ]
    lines += [f"FETCH #3:c=100,e={tim - 1000},p=1280,cr=1290,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={tim + 50}"]
    found = iolab.findings("\n".join(lines).encode()).filter(name="main_statement").row(0, named=True)
    said, step = found["sentence"], "see its device: select name from v$datafile where file# = 14; iostat -xt 5"
    if other != 2_000:
        assert ("devices of the files" in found["next"]) == (other == 90_000)
        return
    assert found["next"] == step
    assert said.endswith("`db file scattered read`; file 14 had 94 % of this time, 30 ms each, and the others 2 ms.")


def test_rows_of_statements_add_up() -> None:
    """Statements below 10 % are one row, so that the rows of a screen are the total."""
    account = Account(exact(100), "DB time")
    for name, seconds in (("large", 60), ("first", 8), ("second", 7)):
        account.add("who", name, exact(seconds), kind="mixed")
    account.add("what", "DB CPU", exact(100), kind="cpu")
    account.closes(None, "not listed", kind="unlisted", view="who")
    shares = [float(row.percent) for row in ledger_rows(account.ledger(), "who")]
    assert shares == [60.0, 15.0, 25.0]
    assert sum(float(row.percent) for row in ledger_rows(account.ledger(), "who", least=0.1)) == 100


def test_a_calm_host_says_so_above_its_table() -> None:
    """Where no part is large, what the rules say first stands above the table."""
    head = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(4 CPU)\n\n"
    head += "12:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
    rows = "".join(
        f"12:0{n}:01        all      4.00      0.00      1.00      0.20      0.00     94.80\n" for n in range(1, 7)
    )
    log = (head + rows).encode()
    lines = first_screen(iolab.findings(log), iolab.ledger(log), width=100).splitlines()
    assert lines[1].startswith("The CPUs were idle")


def test_rows_of_vmstat_with_single_blanks_are_no_counters_of_disks() -> None:
    """A row of figures alone has no device: it is none of /proc/diskstats."""
    row = "3 17 2248214 74021 1120 418966 5794 13428 8592 15326 13490 21288 14 11 20 55 0\n"
    text = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
        "r b swpd free buff cache si so bi bo in cs us sy id wa st\n" + row * 5
    )
    assert iolab.load(text.encode()).format == "host"


@pytest.mark.parametrize("write_s", [400, 900])  # several log writers may be busy for longer than the period
def test_commits_and_the_write_of_the_log(write_s: int) -> None:
    """How long a write took stands beside the commits that waited for it, however busy the log writers were."""
    writes = {"log file parallel write": Wait(exact(9_000), exact(write_s))}
    facts = facts_of("log file sync", 700, background=writes, kind="statspack")
    (found,) = commit_beyond_write(facts)
    assert found.sentence == f"Commits waited for the log: a log write took {write_s / 9:.3g} ms on average."


def test_the_first_line_that_was_not_read_is_shown() -> None:
    """Lines of a table that was not read show which table it is."""
    notes = pl.DataFrame({"kind": ["unparsed"], "line": [88], "text": ["SQL Id      1st     2nd"]})
    said = next(lines_not_read(cast("AwrReport", SimpleNamespace(diagnostics=notes)))).sentence
    assert said == "1 line of tables was not read; the first is line 88: `SQL Id 1st 2nd`."


def test_the_busiest_sample_is_what_the_log_prints() -> None:
    """The share of the busiest sample is that of its printed digits, not the largest that rounding allows."""
    head = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
    rows = [
        f"{head}          {5.8 if n == 9 else 2.1}    0.0    3.7    0.2    0.0    {90.3 if n == 9 else 94.0}\n\n"
        for n in range(20)
    ]
    said = iolab.findings("".join(rows).encode()).filter(name="processors").item(0, "sentence")
    assert "9.5 % in the busiest of 19 samples" in said


def test_idle_processors_of_10g_are_those_of_its_statistics() -> None:
    """Without the table "Host CPU" the times of the host say how idle its processors were."""
    path = Path(__file__).parents[1] / "awrparse" / "awr_data" / "valid" / "awr_text_102_rac.txt"
    text = path.read_text(encoding="utf-8")
    row = "BUSY_TIME                                     493,824\n"
    assert row in text
    found = iolab.ledger(
        text.replace(row, f"{row}IDLE_TIME                                     952,176\n").encode()
    ).text
    assert found.endswith("; the 4 CPUs were 66 % idle")
    assert "idle" not in iolab.ledger(text.encode()).text


def test_a_compare_period_report_is_named_by_its_instances() -> None:
    """Such a report of 11.2 names no database: the title of its page begins with its instance."""
    text = """WORKLOAD REPOSITORY COMPARE PERIOD REPORT

Snapshot Set    DB Id    Instance     Inst Num Release     Cluster Host          Std Block Size
------------ ----------- ------------ -------- ----------- ------- ------------ ---------------
First (1st)   1840022917 PLUM                1 11.2.0.4.0  NO      garden1          8192
Second (2nd)  1840022917 {:<12}        1 11.2.0.4.0  NO      garden1          8192
"""
    for second, said in (("PLUM", "PLUM"), ("PEAR", "PLUM and PEAR")):
        headline = summarize(text.format(second).encode()).headline
        assert headline.startswith(f"AWR compare-period report, {said} on garden1")


def test_cpu_among_the_top_events_of_a_period_is_its_cpu() -> None:
    """Without a time model the row `CPU time` is the CPU of a period of a compare-period report, and no rest."""
    rule, columns = "-" * 96, " ".join("-" * width for width in (30, 13, 12, 12, 13, 11))
    row = " {:<29} {:<13} {:>12} {:>12,.1f} {:>13} {:>11.1f}"
    sides = [
        [
            ("CPU time", "", "N/A", 2910.0, "N/A", 47.5),
            ("db file sequential read", "User I/O", "610,220", 2804.0, 4.6, 45.8),
        ],
        [
            ("CPU time", "", "N/A", 13944.0, "N/A", 51.8),
            ("db file sequential read", "User I/O", "4,090,110", 12640.0, 3.1, 47.0),
        ],
    ]
    heads = "Event                          Wait Class           Waits      Time(s)  Avg Time(ms)    %DB time"
    rows = "\n".join(f"{row.format(*one)}   {row.format(*two)}" for one, two in zip(*sides, strict=True))
    text = f"""WORKLOAD REPOSITORY COMPARE PERIOD REPORT

Snapshot Set    DB Id    Instance     Inst Num Release     Cluster Host          Std Block Size
------------ ----------- ------------ -------- ----------- ------- ------------ ---------------
First (1st)   1840022917 PLUM                1 11.2.0.4.0  NO      garden1          8192
Second (2nd)  1840022917 PLUM                1 11.2.0.4.0  NO      garden1          8192

Snapshot Set  Begin Snap Id Begin Snap Time            End Snap Id End Snap Time                  Avg Active Users           Elapsed Time (min)            DB time (min)
------------ -------------- ------------------------- ------------ ------------------------- -------------------------- -------------------------- --------------------------
1st                    7120 13-Oct-15 10:00:02 (Tue)          7121 13-Oct-15 11:00:04 (Tue)                         1.7                       60.0                      102.0
2nd                    7144 14-Oct-15 10:00:05 (Wed)          7145 14-Oct-15 11:00:06 (Wed)                         7.5                       60.0                      448.5

Top Timed Events   First DB/Inst: PLUM/PLUM Snaps: 7120-7121 (Elapsed time: 3602.11 sec  DB time: 6120.4 sec),  Second DB/Inst: PLUM/PLUM Snaps: 7144-7145 (Elapsed time: 3600.87 sec  DB time: 26910.8 sec)
-> Events with a "-" did not make the Top list in this set of snapshots, but are displayed for comparison purposes

{"1st":>50}{"2nd":>99}
{rule}   {rule}
{heads}   {heads}
{columns}   {columns}
{rows}
                           {rule}
"""  # noqa: E501 - as the report prints it
    parts = iolab.ledger(text.encode()).parts().select("name", "seconds").rows()
    assert ("DB CPU", 13944.0) in parts
    assert sum(seconds for name, seconds in parts if name.startswith("not")) < 0.02 * 26910


@pytest.mark.parametrize(("cpu_pct", "first"), [(0.0, "wait"), (90.0, "statement")])
def test_a_wait_with_its_cause_stands_before_a_statement_without_one(cpu_pct: float, first: str) -> None:
    """A statement whose sentence is its row leads only where no wait of 20 % or more has a cause."""
    one = Statement("bz0q5s1n2f7ga", exact(700), exact(90), cpu_s=exact(7 * cpu_pct), io_s=exact(0), text="insert")
    facts = facts_of("buffer busy waits", 250, statements=(one,), db_cpu_s=exact(650))
    cause = Finding("place_of_waits", "Segment `T_PK` accounts for 93 %.", explains=("buffer busy",))
    stated = Finding("main_statement", "`bz0q5s1n2f7ga` took 70 %, 90 % of it CPU.", part="bz0q5s1n2f7ga insert")
    ledger = ledger_of(facts)
    found = findings_frame(with_ledger([cause, *[stated] * (cpu_pct > 0)], [ledger]))
    lines = first_screen(found, ledger, width=100).splitlines()
    assert [lines[1].startswith("`buffer busy waits`"), "T_PK" in lines[2]] == [first == "wait"] * 2
    assert lines[1].startswith("`bz0q5s1n2f7ga`") == (first == "statement")


def test_a_difference_within_the_rounding_of_the_printed_times_is_no_fact() -> None:
    """What closes a sum is called so where it is certain; else it is the rounding of the times that were printed."""
    for cpu, name in ((39.0, "rounding of the printed figures"), (36.0, "not accounted for"), (43.0, "counted twice")):
        account = Account(exact(100), "DB time")
        account.add("what", "User I/O", Interval(60, 58, 62), kind="io")
        account.add("what", "DB CPU", exact(cpu), kind="cpu")
        assert ledger_rows(account.ledger(), "what")[-1].name == name


def test_a_wait_with_its_cause_stands_before_idle_processors() -> None:
    """CPU time that no statement explains is work; what sessions waited for, half as long or longer, is the fact."""
    facts = replace(facts_of("enq: TX - row lock contention", 320), db_cpu_s=exact(450))
    cause = Finding("place_of_waits", "Segment `T` accounts for 97 %.", explains=("enq: TX",))
    for found, begin in (([cause], "`enq: TX"), ([], "CPU")):
        ledger = ledger_of(facts)
        lines = first_screen(findings_frame(with_ledger(found, [ledger])), ledger, width=100).splitlines()
        assert lines[1].startswith(begin)
        assert ("Segment `T`" in lines[2]) == bool(found)


def test_what_is_said_of_a_statement_stands_together() -> None:
    """The blocks that the first statement read stand below it, before the waits of which they are the cause."""
    one = Statement("bz0q5s1n2f7ga", exact(950), exact(90), cpu_s=exact(10), io_s=exact(940), text="select")
    events = {name: Wait(exact(9), exact(s)) for name, s in (("read by other session", 450), ("direct path read", 400))}
    ledger = ledger_of(replace(facts_of("", 0, statements=(one,)), events=events))
    stated = Finding("main_statement", "`bz0q5s1n2f7ga` took 95 %, 99 % of it I/O.", part="bz0q5s1n2f7ga select")
    blocks = Finding("blocks_of_a_statement", "`bz0q5s1n2f7ga` read 77,800 blocks.", explains=("User I/O",))
    found = findings_frame(with_ledger([stated, blocks], [ledger]))
    lines = first_screen(found, ledger, width=100).splitlines()
    assert [line.partition(" 95")[0].partition(" 77")[0] for line in lines[1:3]] == [
        "`bz0q5s1n2f7ga` took",
        "`bz0q5s1n2f7ga` read",
    ]


@pytest.mark.parametrize(("seconds", "is_calm"), [(40, True), (120, False)])
def test_nothing_stands_out_of_a_host_with_idle_processors(seconds: float, *, is_calm: bool) -> None:
    """A report is called calm where the host was idle, most was CPU, and no wait, statement or parsing was large."""
    facts = facts_of("enq: TX - row lock contention", seconds, db_cpu_s=exact(860), idle_pct=exact(88), cpus=16)
    facts = replace(facts, classes={"Application": exact(seconds), "User I/O": exact(60)})
    one = Statement("bz0q5s1n2f7ga", exact(500), exact(90), text="select")
    said = [next(cpu_is_the_time(of)).sentence for of in (facts, replace(facts, statements=(one,)))]
    assert [text.startswith("Nothing stands out: CPU took 86 %") for text in said] == [is_calm, False]
