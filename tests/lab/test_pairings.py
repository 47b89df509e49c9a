"""Which logs pair up, what the comparison gives, and why others are refused."""

import re
from pathlib import Path

import polars as pl
import pytest
from selectolax.lexbor import LexborHTMLParser

import iolab
from iolab import load
from iolab.comparison import Options, Pairing, UnpairedError, pair, pair_all
from iolab.pages.writing import write_report
from logframe.formats import ParsedLog

SAMPLES = Path(__file__).parents[2] / "sample_data"
ARTICLES = SAMPLES / "articles"
CAPTURES = SAMPLES / "captures"
FILES = {
    "setall": ARTICLES / "003_filesystemio_setall.txt",
    "none": ARTICLES / "003_filesystemio_none.txt",
    "linux": ARTICLES / "002_linux.txt",
    "hpux": ARTICLES / "002_hpux.txt",
    "flash": ARTICLES / "004_exadata_flash_cache.txt",
    "runs": SAMPLES / "runs/buffered_direct_async.txt",
    "direct": CAPTURES / "scattered_direct_tt_T.strace",
    "buffered": CAPTURES / "scattered_buffered_tt_T.strace",
    "no_T": CAPTURES / "scattered_direct_r.strace",
    "async": CAPTURES / "async_direct_tt_T.strace",
    "async_no_T": CAPTURES / "async_direct_r.strace",
}


def pair_of(a: str, b: str) -> Pairing:
    """Two of the files above as a pair."""
    return pair(iolab.load(FILES[a]), iolab.load(FILES[b]), names=(a, b))


def trace(*lines: str) -> ParsedLog:
    """A log of strace."""
    return iolab.load("\n".join(lines).encode(), format="strace")


def session(text: str) -> ParsedLog:
    """A session of SQL*Plus."""
    return iolab.load(text.encode())


def timed(statement: str, *seconds: float, plan: int | None = None) -> str:
    """Runs of a statement as SQL*Plus shows them."""
    ruler, head = "-" * 38, "Execution Plan\n" + "-" * 58
    columns, row = "| Id  | Operation         | Name | Rows |", "|   0 | SELECT STATEMENT  |      |    1 |"
    step = f"{ruler}\n{columns}\n{ruler}\n{row}\n{ruler}"
    shown = f"\n{head}\nPlan hash value: {plan}\n\n{step}\n" if plan else ""
    return "".join(f"SQL> {statement};\n\n1 row selected.\n\nElapsed: 00:00:{one:05.2f}\n{shown}\n" for one in seconds)


def test_reports_are_compared_as_rates() -> None:
    """The article's pair: 999 times the wait, a fifteenth of the reads per second, and as much time in all."""
    found = pair_of("none", "setall")
    assert found.change is not None
    row = found.change.table().filter(pl.nth(0) == "db file sequential read").row(0, named=True)

    assert round(row["average, B / A"]) == 999
    assert row["count, B / A"] == pytest.approx(29.72 / 446.8, rel=0.001)
    assert found.verdict.startswith("DB time hardly changed (8.11 and 8.01 sessions active), but `free buffer waits`")
    assert len(found.charts()) == 1


def test_traces_with_T_are_compared_by_latency() -> None:  # noqa: N802 - the option's name
    """Reads of one mode and size are compared by the time in the call, of batches, with an interval."""
    found = pair_of("direct", "buffered")
    (said,) = (one for one in found.paragraphs if one.startswith("Synchronous"))
    rate = found.frames["Figures of the reads"].filter(pl.col("metric") == "read_mb_per_s").row(0, named=True)

    assert "126 blocks of 8 KiB, time in the call (-T)" in said
    assert "of 30 batches of 10 reads" in said
    assert "Verdict: B is slower than A" in said
    assert "Caveat: trend: B gets faster" in said  # and neighbouring batches resemble each other
    assert "for dependence (lag-1 0.72)" in said
    assert (round(rate["a"]), round(rate["b"]), round(rate["ratio"], 2)) == (1009, 663, 0.66)
    assert rate["ratio_lo"] < rate["b"] / rate["a"] < rate["ratio_hi"]


def test_traces_without_T_are_compared_by_gaps() -> None:  # noqa: N802 - the option's name
    """Where one log has no -T both are compared by the gap, which the text calls an upper bound of the latency."""
    said = str(pair_of("direct", "no_T"))

    assert "start to the process's next call, an upper bound of the latency" in said
    assert "time in the call (-T)" not in said


def test_synchronous_and_asynchronous_reads_have_no_common_time() -> None:
    """The rates are compared, the times are not: a call and a request are two things."""
    found = pair_of("direct", "async")

    assert "Read times are not compared" in str(found)
    assert found.frames["Figures of the reads"].get_column("ratio").drop_nulls().len() == 4
    assert len(found.charts()) == 1  # where the time changed


def test_asynchronous_reads_with_and_without_T() -> None:  # noqa: N802 - the option's name
    """A time to the end of a call and one to the next line are not compared."""
    assert "times are not compared, as one log has -T and the other has not" in str(pair_of("async", "async_no_T"))


def test_sessions_are_compared_by_their_runs() -> None:
    """Statements with the same text are samples; how each begins is said, too."""
    found = pair_of("linux", "hpux")
    own = [one for one in pair_all({"hpux": iolab.load(FILES["hpux"])}) if one.names == ("hpux",)]

    assert "linux (A, 5 runs) against hpux (B, 5 runs)" in str(found)
    assert "no interval: 5 runs in the smaller sample" in str(found)
    assert "first run apart: 63.27 s, then a median of 19.32 s in 4 runs (3.28x)" in str(own[0])


def test_a_changed_plan_is_a_result() -> None:
    """Runs of one text with two plans are compared, and the plans are shown."""
    a, b = (
        session(timed("select 1 from t", *times, plan=plan))
        for plan, times in ((11, (1.0, 1.1, 1.2)), (22, (4.0, 4.1, 4.3)))
    )
    found = pair(a, b)
    row = found.frames["Statements"].row(0, named=True)

    assert (row["change"], row["plan_changed"], row["plan_a"], row["plan_b"]) == ("slower", True, "11", "22")
    assert "Slower: select 1 from t: 1.10 s -> 4.10 s" in str(found)
    assert "plan changed (11 -> 22" in str(found)


def test_regressions_come_first_and_are_in_no_average() -> None:
    """Nine statements that stay, one that takes 20 times as long with a new plan, one that got faster."""
    texts = [f"select c{number} from t" for number in range(11)]  # noqa: S608 - a text that no one runs
    before = [0.5 + number / 4 for number in range(11)]
    after = list(before)
    after[6], after[2] = 20 * before[6], before[2] / 4
    a = session("".join(timed(text, time, plan=7) for text, time in zip(texts, before, strict=True)))
    b = session(
        "".join(
            timed(text, time, plan=8 if place == 6 else 7)
            for place, (text, time) in enumerate(zip(texts, after, strict=True))
        )
    )
    found = pair(a, b)
    frame = found.frames["Statements"]

    assert frame.get_column("change").to_list() == ["slower", "faster", *["same"] * 9]
    assert frame.get_column("verdict").null_count() == 11  # timed once: no verdict word
    assert found.paragraphs[0].startswith("Of 11 statements in B against A: 1 slower, 1 faster, 9 within 20%")
    assert "the plan of 1 changed" in found.paragraphs[0]
    assert found.paragraphs[1].startswith("Slower: select c6 from t: 2 s -> 40 s, 20")
    assert found.paragraphs[2].startswith("Faster: select c2 from t")
    assert "Verdict: equivalent" not in str(found)
    assert frame.row(0, named=True)["share_b_pct"] == pytest.approx(100 * 40 / sum(after))


def test_other_row_counts_are_other_work() -> None:
    """Statements that returned other numbers of rows are named, and in no frame."""
    one = "SQL> select 1 from t;\n\n{} rows selected.\n\nElapsed: 00:00:0{}\n\n"
    a, b = (session(one.format(rows, "2.00") + timed("select 2 from t", 1.0)) for rows in (40, 50))
    found = pair(a, b)

    assert found.frames["Statements"].get_column("text").to_list() == ["select 2 from t"]
    assert "they did different work: select 1 from t (40 against 50 rows, 2 s -> 2 s)" in str(found)


def test_sessions_taken_in_turns() -> None:
    """The order of the runs of two logs is stated: rounds remove the drift that both have."""
    drift = [1 + number / 20 for number in range(10)]
    a = session(timed("select 1 from t", *(4.0 * pace for pace in drift)))
    b = session(timed("select 1 from t", *(3.6 * pace for pace in drift)))
    turns = pair(a, b, options=Options(order="turns"))
    apart = pair(a, b)

    assert turns.frames["Statements"].get_column("verdict").to_list() == ["faster"]
    assert "Within 10 rounds (in turns)" in str(turns)
    assert apart.frames["Statements"].get_column("verdict").to_list() == ["undecided"]


def test_statements_timed_once_are_paired() -> None:
    """Without repetitions the statements that both timed are compared one by one."""
    texts = [f"select c{number} from t" for number in range(8)]  # noqa: S608 - a text that nobody runs
    a = session("".join(timed(text, 1.0 + place) for place, text in enumerate(texts)))
    b = session("".join(timed(text, 2.0 + 2 * place) for place, text in enumerate(texts)))

    found = pair(a, b)

    assert found.why == "both timed 8 statements with the same text"
    assert found.frames["Statements"].get_column("ratio").to_list() == [2.0] * 8


def test_statements_of_a_few_ticks_are_not_equivalent() -> None:
    """SQL*Plus shows hundredths: eight statements of 0.01 s in both sessions may differ by a factor of three."""
    text = "".join(timed(f"select c{number} from t", 0.01) for number in range(8))  # noqa: S608 - nobody runs it

    said = str(pair(session(text), session(text)))

    assert "Verdict: undecided" in said
    assert "resolution-limited: in 8 of 8 pairs the clock's step (0.01 s)" in said


def test_statements_of_two_clocks() -> None:
    """A client that shows milliseconds against one that shows hundredths: compared, the step not stated."""
    texts = [f"select c{number} from t" for number in range(8)]  # noqa: S608 - a text that nobody runs
    fine = "".join(
        f"SQL> {text};\n\n1 row selected.\n\nElapsed: 00:00:00.00{4 + place}\n" for place, text in enumerate(texts[:6])
    )
    coarse = "".join(timed(text, 0.01) for text in texts)

    assert "clock step not stated" in str(pair(session(fine), session(coarse)))


def test_two_single_times_are_a_change_only() -> None:
    """Two times are no samples: the change has bounds and no test."""
    found = pair(session(timed("select 1 from t", 2.0)), session(timed("SELECT 1\nfrom T", 1.0)))
    row = found.frames["Statements"].row(0, named=True)

    assert (row["ratio"], row["ratio_lo"], row["ratio_hi"]) == (
        0.5,
        pytest.approx(0.995 / 2.01),
        pytest.approx(1.01 / 1.995),
    )
    assert (row["change"], row["verdict"]) == ("faster", None)
    assert "p =" not in str(found)


def test_runs_whose_statements_are_not_shown_are_doubted() -> None:
    """Runs of nobody knows what are described with a warning, and never compared with each other."""
    text = "".join(f"\n1 row selected.\n\nElapsed: 00:00:0{seconds:.2f}\n" for seconds in (2.1, 2.2, 2.1, 2.3, 2.2))
    (found,) = pair_all({"runs": session(text)})

    assert "the log does not show the statements of its 5 runs" in str(found)
    assert "Mann-Whitney" not in str(found)


def test_samples_of_one_session_are_compared() -> None:
    """Interleaved runs of three statements are three samples, recognised by their texts and tested together."""
    text = "".join(
        timed(statement, seconds + 0.01 * turn)
        for turn in range(6)
        for statement, seconds in (("select a from t", 1.0), ("select b from t", 2.0), ("select c from t", 3.0))
    )
    (found,) = pair_all({"runs": session(text)})

    assert found.why == "3 samples of repeated runs in one session"
    assert "sample 2: select b from t" in found.paragraphs
    assert "Kruskal-Wallis" in str(found)


def test_a_session_beside_a_trace() -> None:
    """Both sides of the system calls, in the order database, trace, whatever the order of the arguments."""
    for names in (("flash", "direct"), ("direct", "flash")):
        found = pair_of(*names)
        row = found.frames["Both sides of the system calls"].row(0, named=True)

        assert found.names == ("flash", "direct")
        assert (row["quantity"], row["database"], row["trace"], row["verdict"]) == ("requests", 1841, 300, "differs")


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("SQL> select 1 from dual;\n", "SQL> select 1 from dual;\n", "a has no timed statement: SET TIMING ON"),
        (timed("select 1 from t", 1.0), timed("select 2 from t", 1.0), "no timed statement with the same text"),
    ],
    ids=["no times", "other statements"],
)
def test_sessions_that_cannot_be_compared(a: str, b: str, reason: str) -> None:
    """The refusal says what is missing or different."""
    with pytest.raises(UnpairedError) as raised:
        pair(session(a), session(b))
    assert reason in str(raised.value)


def test_traces_without_reads_are_refused() -> None:
    """A log of writes has nothing to compare reads with."""
    reads = trace("0.000000 pread64(3, '', 8192, 0) = 8192")

    with pytest.raises(UnpairedError, match="b has no reads of data"):
        pair(reads, trace("0.000000 write(3, '', 8192) = 8192"))


@pytest.mark.corpus
def test_a_statement_that_only_samples_name_is_in_the_verdict(corpus: Path, tmp_path: Path) -> None:
    """It stands behind the change of the total, with its share in both reports, and as a row of the page."""
    names = [corpus / f"awr/sarthi2020__AWR-reports/awr_rpt_{number}.html" for number in (2, 4)]
    said = "No SQL list names `0kg3s5m4uzp32`: 45 % of the samples of {}, less than 1.5 % of those of {}."

    assert pair(*map(iolab.load, names)).verdict.endswith(said.format("B", "A"))
    assert pair(*map(iolab.load, reversed(names))).verdict.endswith(said.format("A", "B"))
    write_report(names, tmp_path / "page.html")
    page = LexborHTMLParser((tmp_path / "page.html").read_text(encoding="utf-8"))
    total = page.css_first("p.verdict").text()
    change = "3.82 → 11.7 sessions active (+205 %); 74 % of the change has an unknown cause."
    assert total == f"{change} Per transaction: 292 → 773 ms."
    assert said.format("B", "A").replace("`", "") in page.css_first("ol.findings").text()
    assert [one.text() for one in page.css("ol.findings.unmarked .impact")] == ["74", "new", "7", "6", "−1"]
    row = page.css_first("tr.who")
    assert row.css_first("a").attributes["href"] == "#log-2-ash_sql_events"
    assert [cell.text().rstrip("\u2007") for cell in row.css("td")] == ["≤ 0.0569", "5.20 ± 0.243", "?", ""]


@pytest.mark.corpus
def test_a_report_of_another_system_is_refused(corpus: Path) -> None:
    """A trace of Linux is not put beside a report of a database on AIX."""
    report = iolab.load(corpus / "awr/_snippets/awr_text_11.2.0.3_rac_aix_exadata.txt")

    with pytest.raises(UnpairedError, match=r"AIX.* was traced on Linux"):
        pair(report, iolab.load(FILES["direct"]))


def test_all_pairs_say_why_or_why_not() -> None:
    """Every pair that is tried has a result or a reason, and no log is compared with itself."""
    logs = {name: iolab.load(path) for name, path in FILES.items() if name in {"none", "linux", "direct", "async"}}
    found = list(pair_all(logs))

    assert all(bool(one.refusal) != bool(one.why) for one in found)
    assert all(len(set(one.names)) == len(one.names) for one in found)
    assert [one.names for one in found] == [
        ("linux",),
        ("direct", "async"),
        ("none", "direct"),
        ("none", "async"),
        ("linux", "direct"),
        ("linux", "async"),
    ]


def test_many_logs_are_compared_with_the_first() -> None:
    """Five comparisons of a kind are made; the others are named."""
    log = iolab.load(FILES["direct"])
    found = list(pair_all({f"t{number}": log for number in range(8)}))

    assert [one.names for one in found] == [*(("t0", f"t{number}") for number in range(1, 6)), ("t6", "t7")]
    assert found[-1].refusal == "of the traces the first is compared with 5 others; these are left out"


def test_a_trace_without_a_date_is_not_put_beside_a_report() -> None:
    """A report of one evening and a trace of no known day: what is missing is said."""
    report = iolab.load(SAMPLES / "awr_series/awrrpt_1_4102_4103.txt")

    with pytest.raises(UnpairedError, match="b has no date: trace with -ttt"):
        pair(report, iolab.load(FILES["no_T"]))
    with pytest.raises(UnpairedError, match="a does not say when it begins and ends"):
        pair(iolab.load(FILES["setall"]), iolab.load(FILES["direct"]))


def test_runs_that_the_trace_lacks_are_counted() -> None:
    """A session that ran a statement twice is not the time of one execution."""
    spool = (SAMPLES / "one_case/orders_flash.lst").read_bytes()
    trace = iolab.load(SAMPLES / "sqltrace/orders_flash_ora_4711.trc")

    assert "The session has 2 runs of them, the trace 1 execution." in pair(trace, iolab.load(spool * 2)).verdict
    assert "The session has" not in pair(trace, iolab.load(spool)).verdict


SQL_TRACES = SAMPLES / "sqltrace"


@pytest.mark.parametrize(
    ("trace", "other", "said"),
    [
        ("flash_ora_4711.trc", "sqltrace/orders_flash_4711.strace", "894 of 894 waits for `db file sequential read`"),
        ("flash_ora_4711.trc", "one_case/orders_flash.lst", "0.33 s by the session's clock, 0.333 s in"),
        ("disk_ora_4890.trc", "one_case/orders_flash.lst", "they are of other executions"),
        ("flash_ora_4711.trc", "sqltrace/orders_flash_ora_4711.prf", "The report is of this trace: it has 65 calls"),
        ("disk_ora_4890.trc", "sqltrace/orders_flash_ora_4711.prf", "is of another trace, or of a part of this one"),
        ("flash_ora_4711.trc", "one_case/awrrpt_1_881_882.txt", "took 0.212 ms in the session, 0.676 ms on average"),
    ],
)
def test_a_sql_trace_is_put_beside_other_logs(trace: str, other: str, said: str) -> None:
    """Whichever comes first: what both say of one thing, or that they are of other runs."""
    one, two = load(SQL_TRACES / f"orders_{trace}"), load(SAMPLES / other)

    assert said in pair(one, two).verdict
    assert said in pair(two, one).verdict


def test_a_trace_of_another_process_is_refused() -> None:
    """The process of the strace log is not that of the trace."""
    with pytest.raises(UnpairedError, match="no process is in both logs"):
        pair(load(SQL_TRACES / "orders_disk_ora_4890.trc"), load(SQL_TRACES / "orders_flash_4711.strace"))


@pytest.mark.parametrize(("hours", "zone"), [(0, "+2"), (5, "-3"), (-9, "+11"), (11.5, "-9.5"), (15, ""), (-13, "")])
def test_a_trace_is_of_a_report_only_where_a_zone_of_the_earth_allows_it(hours: float, zone: str) -> None:
    """Strace counts UTC, a report the clock of its host: UTC-12 to UTC+14, and the sentence says which."""
    report = load(SAMPLES / "one_case/awrrpt_1_881_882.txt")
    text = (SQL_TRACES / "orders_flash_4711.strace").read_text(encoding="utf-8")
    moved = re.sub(r"\d{10}\.\d{6}", lambda found: f"{float(found[0]) + 3600 * hours:.6f}", text)
    log = load(moved.encode())
    if not zone:
        with pytest.raises(UnpairedError, match="was taken on"):
            pair(report, log)
        return

    assert f"They are of one time if the host's clock is UTC{zone}; the trace then covers 2." in str(pair(report, log))


def test_a_trace_of_another_day_is_not_set_beside_a_report() -> None:
    """One day away in any zone, and the averages of the two say nothing of each other."""
    text = (SAMPLES / "one_case/awrrpt_1_881_882.txt").read_text(encoding="utf-8")
    trace = load(SAMPLES / "sqltrace/orders_flash_ora_4711.trc")
    for day, is_refused in (("02-Mar-26", False), ("04-Mar-26", True), ("28-Feb-26", True)):
        report = load(text.replace("02-Mar-26 2", f"{day} 2").encode())
        if is_refused:
            with pytest.raises(UnpairedError, match=r"covers 2026-0\d-\d\d 22:55 to .*, .* was taken on 2026-03-02"):
                pair(trace, report)
        else:
            assert "on average of the instance" in pair(trace, report).verdict
