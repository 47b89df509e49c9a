"""Two accounts of time compared, and what a changed part would save: on sample logs, and on copies with one change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import iolab
from iolab.cli import main
from iolab.metrics.report_facts import ReportFacts, Statement
from iolab.time_ledger import Account, Ledger
from iolab.time_ledger.changes import change_of
from iolab.time_ledger.reports import ledger_of
from iolab.time_ledger.run import ledger
from logframe.errors import LogError
from logframe.interval import Interval

SAMPLES = Path(__file__).parents[2] / "sample_data"
FLASH, DISK = (SAMPLES / "sqltrace" / name for name in ("orders_flash_ora_4711.trc", "orders_disk_ora_4890.trc"))
QUIET, BUSY = (SAMPLES / "awr_series" / f"awrrpt_1_{name}.txt" for name in ("4102_4103", "4107_4108"))
PAIRS = [(FLASH, DISK), (QUIET, BUSY)]


def _ledger(total: float, *parts: tuple[str, str, float, float | None]) -> Ledger:
    account = Account(Interval.exact(total), "total call time")
    for name, kind, seconds, count in parts:
        number = None if count is None else Interval.exact(count)
        account.add("what", name, Interval.exact(seconds), kind=kind, count=number)
    return account.ledger()


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_second_of_the_change_belongs_to_a_part(first: Path, second: Path) -> None:
    """Every second of the change belongs to a part."""
    found = ledger(first).compare(ledger(second))
    counted = found.parts.filter(~pl.col("kind").is_in(["idle", "client"])) if found.is_work else found.parts
    top = counted.filter(pl.col("parent").is_null()).group_by("view").agg(pl.col("change").sum())
    assert top.height >= 1
    for change in top.get_column("change"):
        assert change == pytest.approx(found.change.value, rel=1e-9)
    split = found.parts.drop_nulls("by_count")
    assert split.height > 0
    assert (split["by_count"] + split["by_time"] - split["change"]).abs().max() < 1e-9
    assert found.parts.filter(pl.col("change_lo") > pl.col("change")).is_empty()
    assert found.parts.filter(pl.col("change_hi") < pl.col("change")).is_empty()


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_change_back_is_the_negative(first: Path, second: Path) -> None:
    """The change back is the negative."""
    there, back = ledger(first).compare(ledger(second)), ledger(second).compare(ledger(first))
    both = there.parts.join(back.parts, on=["view", "part"], suffix="_back", how="full")
    assert both.height == there.parts.height == back.parts.height
    for name in ("change", "by_count", "by_time"):
        assert (both[name] + both[f"{name}_back"]).abs().max() < 1e-9
    assert (both["change_lo"] + both["change_hi_back"]).abs().max() < 1e-9


@pytest.mark.parametrize("log", [FLASH, DISK, QUIET, BUSY])
def test_a_log_and_itself_have_no_change(log: Path) -> None:
    """A log and itself have no change."""
    found = ledger(log).compare(ledger(log))
    assert not found.is_shared
    assert found.parts["change"].abs().max() == 0
    assert found.parts["share"].null_count() == found.parts.height
    assert " hardly changed (" in found.sentence
    assert "`" not in found.sentence


def test_an_event_outside_the_first_list_is_bounded_by_it() -> None:
    """An event outside the first list is bounded by it."""
    found = ledger(QUIET).compare(ledger(BUSY)).parts
    for name in ("Configuration", "free buffer waits"):
        row = found.filter(pl.col("view") == "what", pl.col("name") == name).row(0, named=True)
        assert row["status"] == "new"
        assert 0 < row["a_hi"] < 0.001
        assert row["change"] == pytest.approx(0.447, abs=0.001)
        assert row["share"] == pytest.approx(0.162, abs=0.001)


def test_the_sentence_names_the_part_that_was_changed() -> None:
    """The sentence names the part that was changed."""
    before = _ledger(100, ("CPU", "cpu", 40, None), ("read", "io", 50, 1000), ("lock", "wait", 10, 10))
    cases = {
        "read": _ledger(160, ("CPU", "cpu", 40, None), ("read", "io", 110, 1000), ("lock", "wait", 10, 10)),
        "CPU": _ledger(160, ("CPU", "cpu", 100, None), ("read", "io", 50, 1000), ("lock", "wait", 10, 10)),
        "lock": _ledger(160, ("CPU", "cpu", 40, None), ("read", "io", 50, 1000), ("lock", "wait", 70, 10)),
        "latch": _ledger(
            160, ("CPU", "cpu", 40, None), ("read", "io", 50, 1000), ("lock", "wait", 10, 10), ("latch", "wait", 60, 9)
        ),
    }
    for name, after in cases.items():
        sentence = before.compare(after).sentence
        which = ", which only B lists" if name == "latch" else ""
        assert (
            sentence == f"Total call time rose from 100 to 160 s (+60 %); 100 % of the change is from `{name}`{which}."
        )
    unknown = _ledger(160, ("CPU", "cpu", 40, None), ("read", "io", 50, 1000), ("lock", "wait", 10, 10))
    assert before.compare(unknown).sentence.endswith("100 % of the change is not accounted for: its cause is unknown.")


def test_parts_that_moved_against_each_other_are_not_called_unchanged() -> None:
    """Parts that moved against each other are not called unchanged."""
    before = _ledger(100, ("CPU", "cpu", 50, None), ("read", "io", 50, 100))
    found = before.compare(_ledger(101, ("CPU", "cpu", 80, None), ("read", "io", 21, 100)))
    assert not found.is_shared
    assert found.sentence.endswith(", but `CPU` rose by 30 s and `read` fell by 29 s.")


def _reports(*statements: tuple[int, str, str]) -> list[Ledger]:
    """Reports of 100 s that are equal but for DB time, and the name and text of the one statement."""
    exact = Interval.exact
    return [
        ledger_of(
            ReportFacts(
                db_time_s=exact(time),
                elapsed_s=exact(100),
                db_cpu_s=exact(20),
                statements=(Statement(name, exact(time - 10), exact(50), text=text),),
            )
        )
        for time, name, text in statements
    ]


def test_a_statement_is_one_however_much_of_its_text_is_printed() -> None:
    """HTML prints other lengths of a text than text does: nothing appears, and nothing is gone."""
    sides = _reports(
        (100, "309mwpa4tk161", "SELECT COUNT(C2) FROM CF1 WHERE CUSTID > 1"),
        (150, "309mwpa4tk161", "SELECT COUNT(C2) FROM CF1 WHER..."),
    )
    said = " ".join(change_of(*sides).sentences)

    assert "`309mwpa4tk161 SELECT COUNT(C2) FROM CF1 WHERE CUSTID > 1` rose by 0.500 sessions" in said
    assert "appeared" not in said


def test_statspack_and_awr_name_a_statement_by_its_text() -> None:
    """The one has its hash value, the other its SQL id: nothing appears, and nothing is gone."""
    text = "SELECT COUNT(C2) FROM CF1"
    sides = _reports((100, "3739063178", text), (150, "309mwpa4tk161", text))
    said = " ".join(change_of(*sides).sentences)

    assert "SELECT COUNT(C2) FROM CF1` rose by 0.500 sessions" in said
    assert "appeared" not in said


@pytest.mark.parametrize("is_back", [False, True])
def test_classes_that_one_log_lists_are_no_new_time(is_back: bool) -> None:  # noqa: FBT001 - a case
    """Statspack prints no classes: its events are compared with those of AWR, and every second has a part."""
    whole, other = ledger(QUIET), ledger(BUSY)
    frame = other.frame
    classes = frame.filter(view="what").get_column("parent").drop_nulls().unique().to_list()
    loose = frame.filter(~pl.col("part").is_in(classes)).with_columns(
        parent=pl.when(~pl.col("parent").is_in(classes)).then("parent")
    )
    sides = [whole, replace(other, frame=loose)]
    found, same = change_of(*sides[:: -1 if is_back else 1]), change_of(*[whole, other][:: -1 if is_back else 1])
    top = found.parts.filter(pl.col("parent").is_null(), view="what")

    assert found.change.value == same.change.value
    assert top["change"].sum() == pytest.approx(found.change.value)
    assert not found.parts.filter(pl.col("part").is_in(classes)).height
    assert found.sentence == same.sentence


def test_totals_of_different_kinds_are_refused() -> None:
    """Totals of different kinds are refused."""
    with pytest.raises(LogError, match="different kinds"):
        ledger(FLASH).compare(ledger(QUIET))


def test_a_prediction_is_what_the_changed_account_says() -> None:
    """A prediction is what the changed account says."""
    before = _ledger(100, ("CPU", "cpu", 40, None), ("read", "io", 50, 1000), ("lock", "wait", 10, 10))
    for asked in ({"average": 0.025}, {"count": 500}, {"factor": 0.5}):
        found = before.what_if("read", **asked)
        assert (found.after.lo, found.after.value, found.after.hi) == (75, 75, 75)


def test_the_reads_of_disk_predict_the_trace_of_disk() -> None:
    """The sample pair differs in storage only: reads as fast as in the other trace give its total."""
    flash, disk = ledger(FLASH), ledger(DISK)
    parts = disk.parts().filter(pl.col("name").str.starts_with("db file"))
    assert parts.height == 2
    value = flash.total.value
    for name, average in parts.select("part", "avg").iter_rows():
        value += flash.what_if(name, average=average).after.value - flash.total.value
    assert value == pytest.approx(disk.total.value, rel=0.001)


@pytest.mark.parametrize("part", ["not accounted for", "enq: TX - row lock contention", "direct path read"])
def test_parts_that_answer_no_what_if_are_refused(part: str) -> None:
    """Parts that answer no what if are refused."""
    with pytest.raises(LogError, match=r"no what-if of .*: .*; the total is between"):
        ledger(BUSY).what_if(part, factor=0.5)


@pytest.mark.parametrize("asked", [{}, {"factor": -1}, {"factor": 2, "count": 3}, {"average": float("inf")}])
def test_a_what_if_takes_one_number(asked: dict[str, float]) -> None:
    """A what if takes one number."""
    with pytest.raises(LogError, match="takes one of"):
        ledger(FLASH).what_if("db file sequential read", **asked)


def test_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """The commands."""
    assert main(["compare", str(QUIET), str(BUSY)]) == 0
    assert "55 % of the change is from `DB CPU`" in " ".join(capsys.readouterr().out.split())
    assert main(["what-if", str(QUIET), "--part", "db file sequential read", "--factor", "0.5"]) == 0
    assert "321 s less" in capsys.readouterr().out
    assert main(["what-if", str(QUIET), "--part", "not accounted for", "--factor", "0.5"]) == 1
    with pytest.raises(SystemExit, match="2"):
        main(["what-if", str(QUIET), "--part", "DB CPU"])


def test_two_tkprof_reports_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Two tkprof reports are compared."""
    report = SAMPLES / "sqltrace" / "orders_flash_ora_4711.prf"
    copy = tmp_path / "b.prf"
    copy.write_bytes(report.read_bytes())
    assert iolab.load(copy).format == iolab.load(report).format
    assert main(["compare", str(report), str(copy)]) == 0
    assert "Call time hardly changed" in capsys.readouterr().out


@pytest.mark.corpus
def test_a_larger_array_is_predicted_from_the_round_trips(corpus: Path) -> None:
    """Half the round trips, of twice the rows: the real total of the other trace lies within the prediction."""
    name = "jkstill__oracle-trace__array-size-tests__trace__latency-0.2ms__cdb1_ora_{}.trc"
    fifty, hundred = (
        ledger(corpus / "sqltrace" / name.format(one)) for one in ("2999_PF-0.2ms-050", "3018_PF-0.2ms-100")
    )
    found = fifty.what_if("round trips between fetches", count=1000)

    assert "a trip with more rows takes 0 to 20 % longer" in found.assumption
    assert found.after.lo <= hundred.total.value <= found.after.hi < fifty.total.value


def test_reads_as_fast_as_in_another_log(capsys: pytest.CaptureFixture[str]) -> None:
    """`--like` takes the average of the part in the other log."""
    part = ["--part", "db file sequential read"]
    average = float(ledger(FLASH).parts().filter(name="db file sequential read")["avg"].item()) * 1e3
    assert main(["what-if", str(DISK), *part, "--average", f"{average:.9f}"]) == 0
    by_hand = capsys.readouterr().out
    assert main(["what-if", str(DISK), *part, "--like", str(FLASH)]) == 0
    assert capsys.readouterr().out == by_hand
    assert main(["what-if", str(DISK), "--part", "no such part", "--like", str(FLASH)]) == 1
    assert "has no average of 'no such part'" in capsys.readouterr().err
