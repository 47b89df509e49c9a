"""What a comparison must not hide or mix: times shown as zero, statements that failed, places and units."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from iolab import load
from iolab.cli import main
from iolab.comparison import (
    Pairing,
    SampleError,
    UnpairedError,
    compare,
    compare_many,
    compare_paired,
    compare_sets,
    pair,
)

if TYPE_CHECKING:
    from pathlib import Path

    from logframe.formats import ParsedLog

TIMES = [5.0, 5.1, 5.2, 5.05, 5.15, 5.12]
COUNT = "select count(*) from harbours"
PLAIN = "select port from berths"


def script(*statements: tuple[str, float | str]) -> str:
    """A session: each statement with its seconds, or with the error it ended in."""
    lines = ["SQL> set timing on"]
    for text, outcome in statements:
        lines += [f"SQL> {text};", ""]
        if isinstance(outcome, str):
            lines += [text, "*", "ERROR at line 1:", outcome, "", "", "Elapsed: 00:00:00.01", ""]
            continue
        minutes, seconds = divmod(outcome, 60)
        lines += ["         N", "----------", "         1", "", f"Elapsed: 00:{minutes:02.0f}:{seconds:05.2f}", ""]
    return "\n".join(lines)


def session(*statements: tuple[str, float | str]) -> ParsedLog:
    """The session as a log."""
    return load(script(*statements).encode())


def compared(a: ParsedLog, b: ParsedLog) -> Pairing:
    """Two sessions compared."""
    return pair(a, b, names=("a", "b"))


def test_a_time_shown_as_zero_hides_no_regression() -> None:
    """0.00 s to 50 s is slower, 5,000 times at least, and first; the set is not said to be unchanged."""
    found = compared(session((COUNT, 0), (PLAIN, 5)), session((COUNT, 50), (PLAIN, 5)))

    row = found.frames["Statements"].row(0, named=True)
    assert (row["change"], row["ratio"]) == ("slower", None)
    assert row["ratio_lo"] == pytest.approx(5000, rel=0.001)
    assert found.paragraphs[1].startswith(f"Slower: {COUNT}: 0 s -> 50 s, 5,000x at least")
    assert "The set is not compared: 1 statement with a time shown as zero, and a change" in found.paragraphs[-1]
    assert "1 slower" in found.verdict


def test_two_times_below_the_step_are_no_change() -> None:
    """0.00 s against 0.00 s, and 0.00 s against 0.01 s: the ratio is not known, and nothing is said to be slower."""
    found = compared(session((COUNT, 0), (PLAIN, 0)), session((COUNT, 0), (PLAIN, 0.01)))

    assert set(found.frames["Statements"]["change"]) == {"unknown"}
    assert found.paragraphs[-1] == "The set is not compared: 2 statements with a time shown as zero have no ratio."


def test_a_statement_that_failed_is_said_first() -> None:
    """What ended in an error took no time of its work: it is neither faster nor merely missing."""
    found = compared(
        session((COUNT, 9), (PLAIN, 5)), session((COUNT, "ORA-00942: table or view does not exist"), (PLAIN, 5))
    )

    assert found.paragraphs[1].startswith(f"Failed in B: {COUNT} (ORA-00942")
    assert "Failed in B" in found.verdict
    both = compare_sets(
        {"a": session((COUNT, 9), (PLAIN, 5))}, {"b": session((COUNT, "ORA-01555: too old"), (PLAIN, 5))}
    )
    assert "Failed in B" in both.sentences[0]


def test_many_small_changes_of_one_direction_are_in_the_headline() -> None:
    """Each statement takes 12 % more, which is within 20 %: that all do is said before they are called so."""
    statements = [(f"{COUNT} where id = {number}", 1.0 + number / 2) for number in range(8)]
    found = compared(session(*statements), session(*((text, seconds * 1.12) for text, seconds in statements)))
    same = compared(session(*statements), session(*statements))

    assert found.verdict.startswith("The time of the timed statements rose from 22 to 24.6 s (+12 %), spread over many")
    assert "Of 8 statements in B against A: 8 within 20% or the clock's step; in the middle B" in found.verdict
    assert found.verdict.endswith("more time than A.")
    assert same.verdict.endswith(" Of 8 statements in B against A: 8 within 20% or the clock's step.")


def test_a_range_of_the_clock_is_no_interval_of_runs() -> None:
    """The ratio of two single runs has the bounds of their clock, and they are called so."""
    found = compared(session((COUNT, 3.3), (PLAIN, 5)), session((COUNT, 9.9), (PLAIN, 5)))

    assert "3.000x (2.989 to 3.008 by the clock's step)" in found.paragraphs[1]


def test_a_statement_that_succeeded_later_did_not_fail() -> None:
    """A first try that failed is no failure of the statement."""
    found = compared(session((COUNT, 9)), session((COUNT, "ORA-01555: snapshot too old"), (COUNT, 9)))

    assert not [text for text in found.paragraphs if text.startswith("Failed")]


def test_sessions_of_which_everything_failed_are_refused_with_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The refusal names the error, in Python and on the command line."""
    texts = script((COUNT, 9)), script((COUNT, "ORA-00942: table or view does not exist"))
    with pytest.raises(UnpairedError, match=r"failed in B: .* \(ORA-00942"):
        compared(*(load(text.encode()) for text in texts))
    for name, text in zip("ab", texts, strict=True):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    assert main(["compare", str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]) == 1
    assert "ORA-00942" in capsys.readouterr().err


def test_other_rows_keep_their_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Statements that returned other numbers of rows are not compared, and their times are still said."""
    for name, rows, seconds in (("a", "10 rows", "09"), ("b", "999 rows", "55")):
        text = (
            f"SQL> set timing on\nSQL> {PLAIN};\n\nPORT\n----\nA\n\n{rows} selected.\n\nElapsed: 00:00:{seconds}.00\n"
        )
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    assert main(["compare", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)

    assert said["verdict"].endswith(" Of 1 statement with the same text none can be compared.")
    assert "(10 against 999 rows, 9 s -> 55 s)" in " ".join(said["paragraphs"])


@pytest.mark.parametrize("places", [[0, 1, 2, 3, 4, math.nan], [0, 1, 2, 3, 4, math.inf], [0, 1, 2, 3, 4, True]])
def test_a_place_that_is_no_number_is_refused(places: list[float]) -> None:
    """A run without a place in the order would be put anywhere."""
    with pytest.raises(SampleError, match="A: a place in the run order is not a finite number"):
        compare(TIMES, TIMES, order_a=places, order_b=range(6, 12))


def test_durations_beside_numbers_are_refused() -> None:
    """Five seconds against a column of 5.0 that may be milliseconds: no ratio of a thousand, in either order."""
    numbers = pl.Series(TIMES)
    durations = (numbers * 1e6).cast(pl.Int64).cast(pl.Duration("us"))
    for a, b in ((numbers, durations), (durations, numbers)):
        with pytest.raises(SampleError, match="plain numbers; their units may differ"):
            compare(a, b, unit="ms")
        with pytest.raises(SampleError, match="their units may differ"):
            compare_paired(a, b)
    with pytest.raises(SampleError, match="their units may differ"):
        compare_many({"x": numbers, "y": numbers, "z": durations})
    assert compare(durations, durations, unit="ms").ratio.value == 1


def test_an_interval_of_a_time_is_above_zero() -> None:
    """Few runs that resemble their neighbours widen the interval of a median on the scale of the ratio, both alike."""
    result = compare([2.08, 2.08, 2.05, 2.03, 1.96, 1.91, 1.91, 2.0], [2.9, 2.94, 2.96, 3.06, 3.11, 3.1, 3.08, 3.06])

    for median in result.medians:
        assert median.lo is not None
        assert 0 < median.lo < median.value
        assert " times for dependence" in median.basis


def test_equal_medians_with_other_means_are_not_alike() -> None:
    """A few runs that take four times as long are no equivalence: the means say so, first."""
    flat = [5.0 + place % 5 / 100 for place in range(31)]
    tail = [20.0 if place % 6 == 5 else one for place, one in enumerate(flat)]
    alike, other = compare(flat, flat), compare(flat, tail)

    assert alike.verdict == "equivalent"
    assert other.verdict == "undecided"
    assert "a few runs make the difference" in other.reason
    assert other.headline.endswith(" of the means.")
    assert "of the means" not in alike.headline


def test_reads_of_traces_with_a_tail_are_not_alike() -> None:
    """Medians of batches do not see the slow reads; the means of all reads do."""

    def log(slow: int) -> bytes:
        times = [50_000 if slow and number % slow == 0 else 480 + number % 40 for number in range(600)]
        lines, clock = [], 1_700_000_000_000_000
        for number, time in enumerate(times):
            call = f'pread64(3</u01/a.dbf>, "", 8192, {number * 8192}) = 8192'
            lines.append(f"{clock // 1_000_000}.{clock % 1_000_000:06d} {call} <{time / 1e6:.6f}>")
            clock += time + 20
        return "\n".join(lines).encode()

    pairs = [pair(load(log(0)), load(log(slow)), names=("a", "b")) for slow in (0, 40)]

    assert "of the means" not in pairs[0].verdict
    assert "of the means" in pairs[1].verdict
    assert "alike" not in pairs[1].verdict


@pytest.mark.parametrize(("heavy", "more"), [(300.0, 1.15), (30.0, 1.2), (3.0, 6.0)])
def test_a_heavy_statement_is_not_hidden_by_many_light_ones(heavy: float, more: float) -> None:
    """40 statements that took as long, and one with a large part of the time that did not: never equivalent."""
    light = [(f"{COUNT} where id = {number}", 1 + number / 10) for number in range(40)]
    found = compared(session(*light, (PLAIN, heavy)), session(*light, (PLAIN, heavy * more)))

    assert "Verdict: undecided" in str(found)
    assert "equivalent" not in str(found)
    assert PLAIN in found.verdict or heavy * (more - 1) < 0.05 * (heavy + 118)


def test_a_tail_is_not_hidden_by_equal_medians() -> None:
    """Two runs of twenty that take four times as long: never equivalent."""
    for seed in range(40):
        chance = random.Random(seed)  # noqa: S311 - test data
        a, b = ([5 * (1 + chance.gauss(0, 0.003)) for _ in range(20)] for _ in range(2))
        b[3], b[11] = 4 * b[3], 4 * b[11]
        assert compare(a, b).verdict != "equivalent"
