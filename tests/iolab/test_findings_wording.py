"""Sentences of findings: no impossible share, no wrong plural, no latency of few waits, no large part left out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import iolab
from iolab.metrics.report_facts import FunctionIo, ReportFacts, TopEvent, Wait
from iolab.rules import gates, load, profile, reads, writes
from iolab.rules.finding import findings_frame
from iolab.rules.time_parts import with_ledger
from iolab.time_ledger.reports import ledger_of
from logframe import LogError
from logframe.interval import Interval

SAMPLES = Path(__file__).parents[2] / "sample_data"
#: What no sentence may hold: a share below zero or above all, a wrong plural, a list that ends in dots.
_WRONG = {
    "a figure below zero": re.compile(r"(?<![\w.-])-\d"),
    "several of one": re.compile(r"(?<![\d.,])1 (?:waits|reads|blocks|requests|calls|runs|gets|events|times)\b"),
    "one of several": re.compile(
        r"(?<![\d.,])(?:[2-9]|\d\d+) (?:wait|read|block|request|call|event)\b(?! (?:[a-z]*s\b|\d))"
    ),
    "two points": re.compile(r"\.\.$"),
    "an exponent": re.compile(r"\de[+-]\d"),
    "no value": re.compile(r"\b(?:nan|inf|None)\b"),
    "two blanks": re.compile(r"  |^ | $"),
    "a number that was not rounded": re.compile(r"(?<![\d.])(?!0\.0)\d+\.\d{5,}"),
    "a per cent sign without its blank": re.compile(r"\d%"),
    "two marks": re.compile(r"[,;:.] ?[,;:](?!\w)|\(\)"),
}
#: Names of the log, as they are.
_QUOTED = re.compile(r"(?<=`)[^`]+(?=`)")
#: How a sentence begins and ends, and how what stands after a label (next, note) does: it is no sentence.
_SENTENCE = re.compile(r"[A-Z0-9`<].*[.]", re.DOTALL)
_LABELLED = re.compile(r"[a-z0-9`].*[^.]|(?:[A-Z0-9_$]{2,}|CPU|[A-Z]\$\w+)\b.*[^.]|[^.]*\.\.\.`", re.DOTALL)
_LABELS = ("detail", "next", "caveat")
_SHARE = re.compile(r"(\d[\d,]*\.?\d*)(?: \[[^\]]*\])? % (?!of DB time: (?:up|a wait)|CPU|of \d)")


def _read(wait: str = "", cpu: int = 100, elapsed: int = 1_000, gets: int = 2, tim: int = 2_000) -> str:
    return f"{wait}FETCH #1:c={cpu},e={elapsed},p=1,cr={gets},cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={tim}\n"


def _wait(elapsed: int, tim: int = 1_700, event: str = "db file sequential read") -> str:
    return f"WAIT #1: nam='{event}' ela= {elapsed} file#=1 block#=2 blocks=1 obj#=3 tim={tim}\n"


def _said(log: str) -> dict[str, str]:
    found = iolab.findings(iolab.load(log.encode()))
    return dict(found.select("name", "sentence").iter_rows())


def _wrong_in(found: pl.DataFrame) -> list[tuple[str, str]]:
    """What is wrong in the sentences of findings, with the sentence."""
    wrong = []
    for name, sentence in found.select("name", "sentence").iter_rows():
        if not _SENTENCE.fullmatch(sentence):
            wrong.append(("no sentence", sentence))
        wrong += [(what, sentence) for what, pattern in _WRONG.items() if pattern.search(_QUOTED.sub("", sentence))]
        may_exceed = name in {"overlapping_shares", "waits_before_the_period"}
        shares = [float(number.replace(",", "")) for number in _SHARE.findall(sentence)]
        if not may_exceed and any(share > 100 for share in shares):
            wrong.append(("a share above all", sentence))
    for label in (name for name in _LABELS if name in found.columns):
        for text in found[label].drop_nulls():
            wrong += [(what, text) for what, pattern in _WRONG.items() if pattern.search(_QUOTED.sub("", text))]
            if not _LABELLED.fullmatch(text):
                wrong.append((f"a {label} that begins or ends as a sentence", text))
    for name, share in found.filter(pl.col("impact") > 1).select("name", "impact").iter_rows():
        wrong.append((name, f"impact {share}"))
    return wrong


def test_wrong_sentences_are_recognised() -> None:
    """The patterns of this test find what they are for, and accept what is right."""
    bad = ("-10.8 % unaccounted for.", "1 waits of.", "3 wait of.", "1 of 8 KiB, ....", "110.3 % was CPU.", "1e-05 s.")
    bad += ("a read of 3 ms.", "A read of 3 ms", "A read  of 3 ms.", "A read of 3.141592 ms.", "2.3% was CPU.")
    good = ("1 wait of 3 ms.", "Both reads were of 8 KiB.", "Up to 2.5 events.", "97.5 [97.4, 97.7] % of the time.")
    good += ("`t-1` took 3 ms.", "Statement `f.1e5  .` took 3 ms.")
    frame = pl.DataFrame({"name": "x", "sentence": "", "impact": 0.5})

    assert all(_wrong_in(frame.with_columns(sentence=pl.lit(text))) for text in bad)
    assert [found for text in good for found in _wrong_in(frame.with_columns(sentence=pl.lit(text)))] == []
    right = frame.with_columns(sentence=pl.lit("A read took 3 ms."))
    assert all(
        _wrong_in(right.with_columns(detail=pl.lit(text))) for text in ("The log has it", "it has it.", "it:, no")
    )
    assert not any(_wrong_in(right.with_columns(detail=pl.lit(text))) for text in ("it has", "CPU of all", "`x` has"))


def test_sentences_of_the_sample_data_are_sound() -> None:
    """No sentence of a log of the project has an impossible share or a wrong plural."""
    wrong = {}
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file() and path.suffix not in {".md", ".py", ".json"}:
            try:
                logs = iolab.load_all(path)
            except LogError:
                continue
            wrong[path.name] = [one for log in logs for one in _wrong_in(iolab.findings(log))]

    assert len(wrong) > 40
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.corpus
@pytest.mark.parametrize("kind", ["awr", "sqltrace"])
def test_sentences_of_real_logs_are_sound(corpus: Path, kind: str, *, is_whole: bool) -> None:
    """The same of real logs: of one in five."""
    wrong = {}
    for path in sorted((corpus / kind).rglob("*"))[:: 1 if is_whole else 5]:
        if path.is_file():
            try:
                logs = iolab.load_all(path)
            except LogError:
                continue
            wrong[str(path)] = [one for log in logs for one in _wrong_in(iolab.findings(log))]

    assert len(wrong) > 5
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize(("cpu", "wait"), [(100, 300), (1_000, 0), (2_000, 0), (900, 600), (0, 0), (0, 1_000)], ids=str)
def test_parts_of_a_trace_are_never_below_zero_or_above_all(cpu: int, wait: int) -> None:
    """CPU within waits is counted twice, and more CPU than time is no total: no share is below zero."""
    log = _read(_wait(100 * wait, 170_000) if wait else "", 100 * cpu, 100_000, tim=200_000)
    found = iolab.findings(iolab.load(log.encode()))
    names = found.get_column("name").to_list()

    assert _wrong_in(found) == []
    assert ("no_total" in names) == (cpu > 1_100)
    assert ("counted_twice" in names) == (cpu <= 1_100 < cpu + wait)


def test_few_waits_of_a_trace_are_no_latency() -> None:
    """Up to 29 waits have no median."""
    few, many = (
        _said("".join(_read(_wait(600 + n, 1_700 + 1_500 * n), tim=2_000 + 1_500 * n) for n in range(count)))
        for count in (29, 30)
    )
    one = _said(_read(_wait(60_000, 170_000), elapsed=100_000, tim=200_000))

    assert few["cost_of_a_read"].endswith("29 waits of 614 us, too few for a latency.")
    assert "half of them took at most" in many["cost_of_a_read"]
    assert one["cost_of_a_read"].endswith("1 wait of 60 ms, too few for a latency.")


def test_lines_of_another_clock_are_no_gap() -> None:
    """Where two traces are one file, the time between them is not missing from a trace: there is no total."""
    one = _read(_wait(9, 4_999_999_900), tim=5_000_000_000) + _read(tim=5_000_900_000)
    two = _read(_wait(9, 999_900), tim=1_000_000) + _read(tim=1_900_000)

    assert "records cover only" in _said(one)["no_total"]
    assert "two clocks" in _said(one + two)["no_total"]
    assert _said(one + two)["trace_clock"].startswith("`tim` goes back by ")


def test_cpu_of_a_logical_read_needs_many_and_a_fine_clock() -> None:
    """A handful of gets, and CPU of a few clock ticks, give no cost of one."""
    fine = "".join(_read(cpu=4_321 + n, elapsed=4_500, gets=600, tim=n * 10_000) for n in (1, 2, 3))
    coarse = "".join(_read(cpu=4_000, elapsed=9_000, gets=600, tim=n * 10_000) for n in (1, 2, 3))

    assert _said(fine)["cpu_of_a_get"].startswith("A logical read took at most 7.2")
    assert "cpu_of_a_get" not in _said(coarse)
    assert "cpu_of_a_get" not in _said(_read(cpu=4_321, elapsed=4_500, gets=5))


def test_cpu_that_was_not_counted_is_no_upper_bound() -> None:
    """A host that counts the CPU of every fourth call gives no cost of a logical read, and the rest says why."""
    calls = "".join(_read(cpu=1_400 if n % 4 == 0 else 0, elapsed=1_400, gets=90, tim=n * 1_500) for n in range(1, 41))
    wait = "WAIT #1: nam='SQL*Net message to client' ela= 1 driver id=1 #bytes=1 p3=0 obj#=1 tim=90\n"

    found = iolab.findings(iolab.load((wait + calls).encode()))

    assert "cpu_of_a_get" not in found["name"]
    detail = found.filter(pl.col("name") == "not_accounted_for")["detail"].item(0)
    assert detail == "30 of 40 calls show time and no CPU: what is not accounted for may be CPU that was not counted"


def test_cpu_of_reading_blocks_is_no_cost_of_a_logical_read() -> None:
    """Where each get read its block from disk, no cost of a logical read is said."""
    cached = _read(cpu=90_000, elapsed=90_100, gets=1_100, tim=200_000)

    assert "cpu_of_a_get" in _said(cached)
    assert "cpu_of_a_get" not in _said(cached.replace("p=1,", "p=1100,"))


def test_a_wait_after_a_call_on_one_line_is_not_in_the_call() -> None:
    """Two records without a line end between them: the wait for the client began when the call had ended."""
    call = "FETCH #1:c=400,e=444,p=0,cr=4,cu=0,mis=0,r=10,dep=0,og=1,plh=9,tim=1000000"
    wait = "WAIT #1: nam='SQL*Net message from client' ela= 186 driver id=1 #bytes=1 p3=0 obj#=1 tim=1000250"
    later = "FETCH #1:c=40,e=45,p=0,cr=1,cu=0,mis=0,r=4,dep=0,og=1,plh=9,tim=1000400"

    one, two = (
        dict(iolab.ledger("\n".join(lines).encode()).parts().select("part", "seconds").iter_rows())
        for lines in ((call + wait, later), (call, wait, later))
    )

    assert one == two
    assert one["round trips between fetches"] == 186e-6


def test_time_in_reads_of_pipes_is_not_said_to_be_of_data() -> None:
    """A process that waits for a pipe spends its time in `read`, and reads no data."""
    pipe = '1700000000.000000 read(3<pipe:[77]>, "x", 4096) = 1 <0.900000>\n'
    data = '1700000000.000000 read(3</u01/t.dbf>, "", 8192) = 8192 <0.900000>\n'
    rest = '1700000001.000000 pread64(4</u01/t.dbf>, "", 8192, 0) = 8192 <0.000400>\n'

    assert _said(pipe + rest)["trace_profile"] == "`read` on pipes took 90 % of 1.00 s: 1 call of 900 ms."
    assert _said(data + rest)["trace_profile"].endswith("all of it on `t.dbf`.")


def test_requests_without_an_end_are_not_in_the_bytes() -> None:
    """Bytes are those that the kernel returned; requests that the log does not see end are said apart."""
    start = '1.000000 openat(AT_FDCWD, "/u01/t.dbf", O_RDONLY|O_DIRECT) = 3</u01/t.dbf>\n'
    list_ = ", ".join(
        f"{{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3</u01/t.dbf>, aio_buf=0x{n}000, aio_nbytes=8192, "
        f"aio_offset={8192 * n}}}"
        for n in (1, 2, 3)
    )
    submit = f"1.000100 io_submit(0x7f0000000000, 3, [{list_}]) = 3\n"
    reap = "1.000200 io_getevents(0x7f0000000000, 1, 3, [{data=0, obj=0x1, res=8192, res2=0}], NULL) = 1\n"

    found = iolab.findings(iolab.load((start + submit + reap).encode()))

    said = found.filter(pl.col("name") == "async_or_sync")["sentence"].item()
    assert "All" not in said
    assert said.endswith("1 of them returned 8 KiB. The log does not show how the others ended.")


def _wait_s(count: float, seconds: float) -> Wait:
    return Wait(Interval.exact(count), Interval.exact(seconds))


_MIXED = ReportFacts(
    db_time_s=Interval.exact(10_000),
    db_cpu_s=Interval.exact(6_000),
    elapsed_s=Interval.exact(3_600),
    cpus=16,
    events={"db file sequential read": _wait_s(900_000, 3_000), "log file sync": _wait_s(90_000, 900)},
    activity={"session logical reads": Interval.exact(10**9)},
)


def test_cpu_is_a_part_of_the_profile_unless_it_is_most_of_it() -> None:
    """CPU is a part of DB time like any other, under another name where it is nearly all of it."""
    mostly = replace(_MIXED, db_cpu_s=Interval.exact(9_000), events={"log file sync": _wait_s(90_000, 900)})

    said = [(one.name, one.part, one.sentence) for one in load.cpu_is_the_time(_MIXED)]
    assert said == [("time_profile", "DB CPU", "CPU took 60 % of DB time: 1.67 of 16 CPUs.")]
    assert [one.name for one in load.cpu_is_the_time(mostly)] == ["cpu_is_the_time"]


def test_top_events_stand_for_a_missing_table() -> None:
    """A report with its top events only has their parts, and the rest is not in the log; of Statspack, too.

    Of a mixed list, what background processes may have waited for is at most the sessions' time.
    """
    top = TopEvent("db file sequential read", "User I/O", Interval.exact(900_000), Interval.exact(3_000))
    cut = replace(_MIXED, events={}, top_events=(top, TopEvent("DB CPU", None, None, Interval.exact(6_000))))
    rows = ledger_of(cut).parts().select("name", "kind", "seconds", "own_lo").rows()

    assert rows[1:] == [
        ("db file sequential read", "io", 3_000.0, 3_000.0),
        ("not among the top events", "not_in_log", 1_000.0, 0.0),
    ]
    write = TopEvent("log file parallel write", "System I/O", Interval.exact(9_000), Interval.exact(500))
    mixed = ledger_of(replace(cut, top_events=(*cut.top_events, write), shares_of_all_waits=True))
    assert mixed.parts().select("name", "kind", "seconds", "own_lo").rows()[1:] == [
        ("db file sequential read", "io", 3_000.0, 3_000.0),
        ("log file parallel write", "io", 500.0, 0.0),
        ("not among the top events", "not_in_log", 500.0, 0.0),
    ]


def test_locks_name_slow_storage_where_every_kind_of_io_was_slow() -> None:
    """Why locks were held: the sentence on storage is named first, only where it is true."""
    locks = {"enq: TX - row lock contention": _wait_s(5_000, 6_000), "db file sequential read": _wait_s(9_000, 400)}
    background = {name: _wait_s(900, 90) for name in ("log file parallel write", "control file parallel write")}
    slow = replace(_MIXED, db_cpu_s=None, events=locks, background=background)

    own, cause = profile.lock_waits(slow)
    assert own.sentence == ""
    assert cause.sentence.startswith("All I/O was slow on average: ")
    assert cause.sentence.endswith("; a lock lasts until its commit.")
    assert [one.sentence for one in profile.lock_waits(replace(slow, background={}))] == [""]


def test_cost_of_a_direct_read_is_said_only_where_db_time_is_missing() -> None:
    """DB time a request is an upper bound that means nothing where CPU accounts for DB time."""
    direct = {"direct path read": _wait_s(700_000, 900)}
    io = {"Direct Reads": FunctionIo(Interval.exact(400), Interval.exact(4e8), Interval.exact(0))}
    facts = replace(_MIXED, events=direct, functions=io)
    full = replace(facts, db_cpu_s=Interval.exact(9_000))
    missing = replace(facts, db_cpu_s=Interval.exact(200))

    assert "of DB time" not in next(reads.direct_path_sync_or_async(full)).sentence
    assert "A request cost at most 6.94 ms of DB time" in next(reads.direct_path_sync_or_async(missing)).sentence


def test_shares_of_waits_that_began_before_the_period_are_ranges() -> None:
    """Where waits alone are more than DB time, each share is a range: without what is counted twice at least."""
    events = {
        "enq: TX - row lock contention": _wait_s(3_000, 6_000),
        "log file sync": _wait_s(900, 2_400),
        "log buffer space": _wait_s(900, 1_200),
        "resmgr:cpu quantum": _wait_s(5_000, 2_000),
    }
    facts = replace(_MIXED, db_cpu_s=Interval.exact(300), events=events)
    rules = (gates.overlapping_shares, profile.lock_waits, profile.resource_manager, writes.log_space)
    found = findings_frame(with_ledger((one for rule in rules for one in rule(facts)), [ledger_of(facts)]))

    by_name = {row["name"]: row for row in found.iter_rows(named=True)}
    assert by_name["waits_before_the_period"]["sentence"].startswith("Waits alone are 116 % of DB time")
    assert by_name["lock_waits"]["sentence"].startswith("`enq: TX - row lock contention` took 41 to 60 % of DB time")
    locks = by_name["lock_waits"]
    assert (locks["impact"], locks["impact_lo"], locks["impact_hi"]) == pytest.approx((0.6, 0.41, 0.6))
    assert "log_space" not in by_name  # of a part that may be none
