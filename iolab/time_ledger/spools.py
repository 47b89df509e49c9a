"""The account of a SQL*Plus session: the elapsed times of its statements, the runs of one text together."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, TypeAlias

import polars as pl

from iolab.metrics.formatting import short_text, time_text
from iolab.metrics.spool_statements import SAMPLE, statement_costs
from iolab.time_ledger.account import Account, void_ledger
from iolab.time_ledger.listings import listing_ledgers, seconds_text
from iolab.time_ledger.parts import NO_OWNER, TIMED, Place
from iolab.time_ledger.samples import session_ledgers
from logframe.interval import Interval
from logframe.wording import counted
from sqlplusparse import queried_samples, queried_tables
from sqltraceparse import without_literals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from iolab.time_ledger.account import Ledger
    from sqlplusparse import SessionSamples, Spool

#: The sum of the lines may differ from that of the statements by this much of it.
_SLACK: Final = 0.01
#: The total is a range where its bounds differ by more than this.
_RANGE: Final = 0.05
#: More statements that differ only in literals are one part.
_MOST_ALIKE: Final = 100
#: This many are one part, too, where each of them took less than this share of the time.
_FEW_ALIKE, _LARGE = 10, 0.10
#: Of more statements the smaller ones are one part together.
_MOST_PARTS: Final = 1000
_MOST_PLACES, _MOST_TEXT = 20, 100
#: Statements of less time are not what a session is about, where others list views.
_SHORT_S: Final = 1.0
#: What autotrace counts; statements of as many rows and bytes are alike, and compared where gets differ by this factor.
_GETS: Final = ("consistent gets", "db block gets")
_ROWS, _SENT, _FACTOR = "rows processed", "bytes sent via SQL*Net to client", 2
_TRIPS: Final = "SQL*Net roundtrips to/from client"
#: Fewer gets need no word.
_FEW_GETS: Final = 1_000
_COMPARE: Final = "compare its plan with that of the statement at line {}"
#: A statement: its number, line, text and elapsed time (0 where it is not timed).
_Row: TypeAlias = tuple[int, int, str | None, float]
#: Kinds of statements that change what a later run does.
_CHANGING: Final = ("ddl", "plsql", "alter session", "alter system")
_MOST_CHANGE: Final = 50
_ANALYSIS: Final = ("list chained rows", "dbms_session.sleep", "dbms_lock.sleep")
_FIGURES: Final = ("elapsed_s", "elapsed_s_lo", "elapsed_s_hi")


def spool_ledgers(spool: Spool) -> list[Ledger]:
    """The accounts of a session: of samples, waits and statements that its queries returned, and of its own statements.

    What took longest comes first.
    """
    timed, listed = timed_ledgers(spool), listing_ledgers(spool)
    asked = [one for samples in sampled(spool) for one in session_ledgers(samples)]
    took = sum(one.total.value for one in timed if one.total is not None)
    lead = next((one for one in listed[:1] if not one.unshared), None)  # not if all are idle
    most = None if lead is None else lead.elapsed or lead.work or lead.total
    if not asked and most is not None and (not is_long(spool) or (listed[0].unit == "s" and took < most.value)):
        asked, listed = listed, []
    return [*asked, *timed, *listed] or gets_ledgers(spool)


def is_long(spool: Spool) -> bool:
    """Whether statements took most of the time that did more than to list what views of the dictionary show."""
    whole = spool.statements.get_column("elapsed_s").sum() or 0
    others = spool.statements.filter(~pl.col("statement").is_in(diagnoses(spool))).get_column("elapsed_s").sum() or 0
    return bool(others >= max(_SHORT_S, whole / 2))


def diagnoses(spool: Spool) -> list[int]:
    """The statements by which someone looked for a cause: lists of views of the dictionary or chained rows, pauses."""
    lists = [one.statement for one in queried_tables(spool) if any(_is_view(word) for word in one.words)]
    texts = spool.statements.drop_nulls("text").select("statement", "text").iter_rows()
    return [
        *(one for one in lists if one is not None),
        *(n for n, text in texts if any(one in text.lower() for one in _ANALYSIS)),
    ]


def _is_view(word: str) -> bool:
    return word.removeprefix("sys.").startswith(("v$", "gv$", "x$", "dba_"))


def sampled(spool: Spool) -> list[SessionSamples]:
    """The samples of sessions that the queries of a session returned, those of most time first.

    None where its statements took longer than the samples stand for.  Queries that group the same samples by other
    columns (events, statements) are one each.
    """
    times = [(_samples(one) * (one.step_s or 1), one) for one in queried_samples(spool)]
    took = sum(one.total.value for one in timed_ledgers(spool) if one.total is not None) if times else 0.0
    times.sort(key=lambda pair: -pair[0])
    for _, one in times[1:]:
        if one.asked_line is not None and _samples(one) < (1 - _SLACK) * _samples(times[0][1]):
            one.base = f"{_samples(one):,} samples (query at line {one.asked_line:,})"
    return [one for time, one in times] if times and times[0][0] > took else []


def _samples(one: SessionSamples) -> int:
    return int(one.samples.get_column("session_samples").sum())


def timed_ledgers(spool: Spool) -> list[Ledger]:
    r"""The account of the times of a session: one view, ``who``, of the statements that succeeded.

    Statements that failed stand apart, in a remark.  An Elapsed line that no statement owns is a part of its own; one
    that SQLcl prints again at the end of a script is not counted.  Of very many statements the largest are parts, and
    the others one part together.

    Examples:
        >>> import sqlplusparse
        >>> run = "SQL> select {} from t;\n\nElapsed: 00:00:0{}.00\n"
        >>> failed = "SQL> select 3 from t;\nORA-00942: no t\n\nElapsed: 00:00:00.50\n"
        >>> (one,) = timed_ledgers(sqlplusparse.read_spool((run.format(1, 3) + run.format(2, 1) + failed).encode()))
        >>> print(one.tree("who"))
        timed statements took 4.00 s in total; every statement is timed, 1 failed (0.500 s, not counted)
          75.0               3             1  line 1: select 1 from t
          25.0               1             1  line 4: select 2 from t
           0.0               0                not accounted for
    """
    lines = spool.timings.filter(pl.col("origin") == "statement")
    if lines.is_empty():
        return []
    timed = spool.statements.filter(pl.col("elapsed_s").is_not_null())
    failed = timed.filter(pl.col("status") == "error")
    unknown = lines.filter(pl.col("statement").is_null())
    apart = _remark(failed)
    if failed.height == lines.height:
        all_of = "the only timed statement" if failed.height == 1 else f"all {failed.height:,} timed statements"
        return [
            void_ledger(
                f"{all_of} failed ({seconds_text(_sum(failed))} in all)", base=TIMED, remarks=apart, facts_hold=True
            )
        ]
    groups = statement_costs(spool)
    total = _sum(groups) + _sum(unknown)
    account = Account(total, TIMED)
    parts = _alike(groups)
    large = parts if parts.height <= _MOST_PARTS else parts.top_k(_MOST_PARTS, by="elapsed_s")
    account.add_frame(_parts(large))
    if large.height < parts.height:
        others = parts.join(large, on="part", how="anti")
        name = f"{others.height:,} other statements"
        account.add("who", name, _sum(others), kind="mixed", count=Interval.exact(int(others.get_column("runs").sum())))
    if unknown.height:
        count, place = Interval.exact(unknown.height), Place("timings", (), tuple(unknown.get_column("line").head(20)))
        account.add("who", NO_OWNER, _sum(unknown), kind="unlisted", count=count, evidence=place)
        detail = "the time may be of a commit by SET AUTOCOMMIT, which is not echoed"
        account.remark("detail", "unknown_owner", detail, part=NO_OWNER)
        account.remark("next", "unknown_owner", "`set echo on` before the statements", part=NO_OWNER)
    printed, computed = _sum(lines).value, total.value + _sum(failed).value
    account.check("`Elapsed` lines", view="who", printed=printed, computed=computed, slack=_SLACK * printed)
    for row in apart:
        account.remark("caution", "failed_statements", str(row["text"]))
    step = float(lines.get_column("resolution_s").sort()[-1])
    return [
        account.ledger(
            unshared="" if total.lo > 0 else f"all times are below the clock's step of {step:g} s",
            text=_total_text(spool, groups, failed, total, step),
            counted={"who": "runs"},
        )
    ]


def gets_ledgers(spool: Spool) -> list[Ledger]:
    r"""The account of the logical reads that autotrace counted of several statements, where none is timed.

    Examples:
        >>> import sqlplusparse
        >>> traced = f"\nStatistics\n{'-' * 58}\n  0  db block gets\n  {{}}  consistent gets\n  8  rows processed\n"
        >>> one, two = (f"SQL> select /*+ {hint} */ 1 from t;\n" for hint in ("full(t)", "index(t)"))
        >>> text = one + traced.format(3_000) + two + traced.format(1_000)
        >>> (one,) = gets_ledgers(sqlplusparse.read_spool(text.encode()))
        >>> print(one.tree("who"), one.remarks.item(0, "text"), sep="\n")
        autotrace counted 4,000 logical reads of 2 statements, none of which is timed
          75.0           3,000                line 1: select /*+ full(t) */ 1 from t
          25.0           1,000                line 8: select /*+ index(t) */ 1 from t
           0.0               0                not accounted for
        line 8, the same but for hints or comments, made 1,000 gets, 3 times fewer
    """
    gets, better = dict.fromkeys(_counts(spool), 0) | gets_of(spool), cheaper_forms(spool)
    total = sum(gets.values())
    if len(gets) < 2 or total < _FEW_GETS or spool.timings.height:
        return []
    account = Account(Interval.exact(total), "the logical reads")
    for number, line, kind, text in spool.statements.select("statement", "first_line", "kind", "text").iter_rows():
        if number not in gets:
            continue
        below = "" if text else f", below `{short_text(title, _MOST_TEXT)}`" if (title := spool.title(line)) else ""
        said, step = better.get(number, ("", None))
        part = account.add(
            "who", f"line {line:,}: {short_text(text or kind or 'no text', _MOST_TEXT)}{below}",
            Interval.exact(gets[number]), kind="mixed", evidence=Place("autotrace", (str(number),)), next_step=step,
        )  # fmt: skip
        if said:
            account.remark("detail", "main_statement", said, part=part)
    said = f"autotrace counted {total:,} logical reads of {len(gets):,} statements, none of which is timed"
    return [account.ledger(text=said, unit="logical reads")]


def cheaper_forms(spool: Spool) -> dict[int, tuple[str, str]]:
    """The statements that another one did the work of with far fewer gets, or faster: that one, and what to do next.

    Where that one ran later, what changed between them stands beside it.
    """
    counts = _counts(spool)
    gets = {number: count for number, count in gets_of(spool).items() if count > 0}
    columns = ("statement", "first_line", "text", pl.col("elapsed_s").fill_null(0.0))
    rows = spool.statements.filter(pl.col("statement").is_in([*gets])).select(*columns).rows()
    same = {row[0]: _same_work(counts[row[0]], row[2]) for row in rows}
    least_of = _two_forms([row for row in rows if same[row[0]]], same, lambda row: gets[row[0]])
    fastest_of = _two_forms([row for row in rows if same[row[0]] and row[3]], same, lambda row: row[3])
    found, ran = {}, _changing(spool)
    for number, _, text, took in rows:
        least, fastest = (
            next((row for row in of.get(same[number], ()) if text is None or row[2] != text), None)
            for of in (least_of, fastest_of)
        )
        if least is not None and gets[number] >= max(_FACTOR * gets[least[0]], _FEW_GETS):
            other, line = least[:2]
            times = float(f"{gets[number] / gets[other]:.2g}")
            did, than = ("made", "with"), f"{gets[other]:,} gets, {times:,.12g} times fewer"
        elif fastest is not None and took >= max(_FACTOR * fastest[3], _SHORT_S):
            other, line = fastest[:2]
            did, than = ("took", "in"), time_text(fastest[3])
        else:
            continue
        word = f"the same but for hints or comments, {did[0]}" if text else f"sent as many rows and bytes {did[1]}"
        change = _between(ran, number, other)
        after = f", after `{short_text(change, _MOST_CHANGE)}`" if change and not is_flush(change) else ""
        found[number] = f"line {line:,}{', ' * bool(text)}{' ' * (not text)}{word} {than}{after}", _COMPARE.format(line)
    return found


def _two_forms(
    rows: list[_Row], same: Mapping[int, tuple[object, ...]], cost: Callable[[_Row], float]
) -> dict[tuple[object, ...], list[_Row]]:
    """The cheapest statement of each work, and the cheapest of another text."""
    forms: dict[tuple[object, ...], dict[str | None, _Row]] = {}
    for row in sorted(rows, key=cost):
        texts = forms.setdefault(same[row[0]], {})
        if len(texts) < 2:
            texts.setdefault(row[2], row)
    return {key: [*texts.values()] for key, texts in forms.items()}


def changes(spool: Spool, statements: Sequence[int]) -> list[str | None]:
    """What changed before each run of a statement since the run before it: the first statement that may have.

    A flush of a cache is named where nothing else ran.
    """
    ran = _changing(spool)
    return [None, *(_between(ran, before, run) for before, run in itertools.pairwise(statements))]


def _changing(spool: Spool) -> list[tuple[int, str]]:
    """The statements that may change what a later run does: their numbers and texts."""
    is_one = pl.col("kind").is_in(_CHANGING), pl.col("text").is_not_null(), pl.col("status") == "ok"
    return spool.statements.filter(*is_one).select("statement", "text").sort("statement").rows()


def _between(ran: list[tuple[int, str]], before: int, run: int) -> str | None:
    place = bisect_left(ran, (before + 1, ""))
    texts = (text for _, text in ran[place : bisect_left(ran, (run, ""))])
    return min(texts, key=is_flush, default=None)


def is_flush(text: str | None) -> bool:
    """Whether a statement empties a cache, which makes no run faster."""
    return text is not None and "flush" in text.lower()


def _counts(spool: Spool) -> dict[int, dict[str, int]]:
    """What autotrace counted of each statement."""
    counts: dict[int, dict[str, int]] = {}
    for number, name, value in spool.autotrace.select("statement", "name", "value").drop_nulls().iter_rows():
        counts.setdefault(number, {})[name] = value
    return counts


def gets_of(spool: Spool) -> dict[int, int]:
    """The logical reads of each statement of which autotrace printed some."""
    counted_gets = spool.autotrace.filter(pl.col("name").is_in(_GETS)).drop_nulls("value")
    return dict(counted_gets.group_by("statement").agg(pl.col("value").sum()).iter_rows())


def _same_work(counts: Mapping[str, int], text: str | None) -> tuple[object, ...]:
    """What statements that ask for the same have in common: their text but for hints, else how much they returned."""
    if text:
        pieces = text.lower().split("/*")
        words = " ".join([pieces[0], *(one.partition("*/")[2] for one in pieces[1:])]).split()
        return (*words, counts.get(_ROWS), counts.get(_TRIPS))
    return (counts[_ROWS], counts[_SENT], counts.get(_TRIPS)) if counts.get(_ROWS) and counts.get(_SENT) else ()


def _sum(rows: pl.DataFrame) -> Interval:
    value, lo, hi = rows.select(pl.col(_FIGURES).sum()).row(0)
    return Interval(value, min(lo, value), max(hi, value))


def _alike(groups: pl.DataFrame) -> pl.DataFrame:
    """The statements; many that differ only in literals are one, a few alone where none of them is large."""
    alike = groups.with_columns(key=without_literals(pl.col("text")))
    of_small = pl.col("elapsed_s").max().over("key") < _LARGE * pl.col("elapsed_s").sum()
    number = pl.len().over("key")
    many = alike.filter(pl.col("key").is_not_null(), (number > _MOST_ALIKE) | ((number >= _FEW_ALIKE) & of_small))
    if many.is_empty():
        return groups
    sums = many.group_by("key", maintain_order=True).agg(
        pl.col("runs", *_FIGURES).sum(),
        pl.col("statements", "lines").list.first().head(_MOST_PLACES),
        count=pl.len(),
    )
    rows = sums.select("count", "key").iter_rows()
    name = pl.Series("name", [f"{count:,} statements alike: {short_text(key, _MOST_TEXT)}" for count, key in rows])
    rest = alike.join(many, on="part", how="anti")
    both = pl.concat([rest, sums.with_columns(name, part=name)], how="diagonal")
    return both.select(groups.columns)


def _parts(groups: pl.DataFrame) -> pl.DataFrame:
    """The statements as parts of the view ``who``."""
    return groups.select(
        "part",
        "name",
        view=pl.lit("who"),
        kind=pl.lit("mixed"),
        seconds="elapsed_s",
        seconds_lo="elapsed_s_lo",
        seconds_hi="elapsed_s_hi",
        count="runs",
        evidence=pl.struct(
            table=pl.lit("statements"), rows=pl.col("statements").cast(pl.List(pl.String())), lines="lines"
        ),
    )


def _remark(failed: pl.DataFrame) -> list[dict[str, object]]:
    """The remark of statements that failed (`REMARKS`)."""
    if failed.is_empty():
        return []
    text = f"{counted(failed.height, 'statement')} failed; their {seconds_text(_sum(failed))} are not in the total"
    return [{"part": None, "role": "caution", "rule": "failed_statements", "text": text, "evidence": None}]


def _total_text(spool: Spool, groups: pl.DataFrame, failed: pl.DataFrame, total: Interval, step: float) -> str:
    """The total as one line: how long, how many statements have no time, how many failed."""
    width = total.hi - total.lo
    figure, clock = seconds_text(total), ""
    if width > _RANGE * total.value:
        decimals = max(0, math.ceil(-math.log10(step) - 1e-9))
        lo, hi = (round(number, decimals + 1) for number in (total.lo, total.hi))
        scale = 10**decimals
        lo, hi = math.floor(lo * scale + 1e-6) / scale, math.ceil(hi * scale - 1e-6) / scale
        figure, clock = f"{lo:,.{decimals}f} to {hi:,.{decimals}f} s", f" (clock step {step:g} s)"
    untimed = spool.statements.filter(pl.col("elapsed_s").is_null()).height
    are, noun = "is" if untimed == 1 else "are", "run" if _is_repeated(groups) else "statement"
    without = f"{counted(untimed, noun)} {are} not timed" if untimed else "every statement is timed"
    said = f"{TIMED} took {figure} in total{clock}; {without}"
    if failed.height:
        return f"{said}, {failed.height:,} failed ({seconds_text(_sum(failed))}, not counted)"
    return f"{said}, none failed" if _is_repeated(groups) else said


def _is_repeated(groups: pl.DataFrame) -> bool:
    return groups.filter(pl.col("runs") >= SAMPLE).height > 0


def spool_headline(spool: Spool) -> str:
    r"""What a session is: how many statements, or how many runs of how many; those without a time, too.

    Examples:
        >>> import sqlplusparse
        >>> run = b"SQL> select 1 from t;\n\nElapsed: 00:00:01.00\n"
        >>> spool_headline(sqlplusparse.read_spool(run)), spool_headline(sqlplusparse.read_spool(run * 3))
        ('SQL*Plus session, 1 statement', 'SQL*Plus session, 3 runs of 1 statement')
    """
    groups = statement_costs(spool)
    if not _is_repeated(groups):
        return spool.describe()
    is_timed = pl.col("elapsed_s").is_not_null() & (pl.col("status") == "ok")
    others = spool.statements.filter((~is_timed).fill_null(value=True)).get_column("text")
    texts = {*others} - {*spool.statements.filter(is_timed).get_column("text")}
    number = groups.height + len(texts - {None}) + others.null_count()
    return f"SQL*Plus session, {counted(spool.statements.height, 'run')} of {counted(number, 'statement')}"
