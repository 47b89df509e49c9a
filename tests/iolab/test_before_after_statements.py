"""Statements of two sets of reports: times per execution with bounds, plans, and those that one set lists."""

from pathlib import Path

import polars as pl
import pytest
from night_reports import report

from awrparse import AwrReport
from iolab import load
from iolab.comparison import compare_sets
from iolab.comparison.report_statements import STATEMENT_CHANGES, changed_statements, statement_sentences, statements_of
from iolab.pages.before_after import change_html

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
BERTHS = "7hq3wz8mt0c2f"
SAMPLED = """
Top SQL with Top Events                DB/Inst: HARBOR/harbor1  Snaps: 4107-4108

                                                       Sampled #
                 SQL ID             Planhash        of Executions     % Activity
----------------------- -------------------- -------------------- --------------
Event                          % Event Top Row Source                    % RwSrc
------------------------------ ------- --------------------------------- -------
          7hq3wz8mt0c2f           {plan}                  310          31.00
db file sequential read          22.00 TABLE ACCESS - BY INDEX ROWID       20.00
select b.berth_id, b.free_from from berths b where b.port = :1 and b.length_m >=

          -------------------------------------------------------------

"""


def sampled(number: int, plan: int) -> AwrReport:
    """A report with a table of sampled statements that names a plan."""
    line = "SQL ordered by Elapsed Time"
    return report(number, (line, SAMPLED.format(plan=plan) + line))


def changes(*sides: list[AwrReport]) -> pl.DataFrame:
    """The statements of sets of reports, without times of the reports."""
    before, after = ([(None, one) for one in side] for side in sides)
    return changed_statements(before, after)


def row(frame: pl.DataFrame, sql_id: str = BERTHS) -> dict[str, object]:
    """The row of a statement."""
    return frame.row(by_predicate=pl.col("sql_id") == sql_id, named=True)


def test_times_per_execution_are_of_the_totals() -> None:
    """4,806.0 s of 156,628 executions are 30.68 ms, though the column shows 0.03; shares are of the head's DB time."""
    found = changes([report(4107)], [report(4109)])
    berths = row(found)

    assert berths["elapsed_per_exec_s_before"] == pytest.approx(4806.0 / 156_628)
    assert berths["elapsed_per_exec_s_before_least"] == pytest.approx(4805.95 / 156_628)
    assert berths["elapsed_per_exec_s_after_greatest"] == pytest.approx(7652.05 / 122_040)
    assert (berths["ratio"], berths["change"]) == (pytest.approx(7652.0 / 122_040 / (4806.0 / 156_628)), "up")
    assert berths["share_pct_before"] == pytest.approx(31.0, abs=0.1)
    assert berths["reads_per_exec_before"] == pytest.approx(16_143_505 / 156_628)
    assert berths["rows_per_exec_before"] is None
    assert found.schema == STATEMENT_CHANGES


def test_the_first_is_the_one_that_costs_most_more() -> None:
    """Order is by the share of DB time that is due to the change, not by the ratio."""
    small = ("           620.1            285          2.18", "             6.2            285          0.02")
    found = changes([report(4107, small)], [report(4109)])

    assert row(found, "9ra5gw7qd3xnu")["ratio"] > row(found)["ratio"]  # type: ignore[operator]
    assert found["sql_id"][0] == BERTHS
    said = list(statement_sentences(found))
    assert said[0].startswith("Of 5 statements that both list, 5 took at least a fifth longer per execution, ")
    assert said[1].startswith(f"Longer: `{BERTHS}` (select b.berth_id")
    assert "30.7 to 62.7 ms: 2.04 times, 31.0 % of DB time after" in said[1]


def test_a_statement_of_one_set_is_no_change() -> None:
    """What only one report lists has no ratio: it may have run in the other."""
    other = (BERTHS, "00000aaaa0000")
    found = changes([report(4107)], [report(4109, other)])

    assert (row(found)["change"], row(found, other[1])["change"]) == ("listed before only", "listed after only")
    assert (row(found)["ratio"], row(found)["elapsed_per_exec_s_after"]) == (None, None)
    said = list(statement_sentences(found))
    assert said[-2].startswith("Listed after only: `00000aaaa0000` (select")
    assert "31.0 % of DB time" in said[-1]
    remarks = compare_sets({"a": report(4107)}, {"b": report(4109, other)}).not_compared["reason"].to_list()
    assert any("may have run in the other" in remark for remark in remarks)


@pytest.mark.parametrize(("after", "said"), [(1111111111, "same"), (2222222222, "changed")])
def test_plans_that_samples_show(after: int, said: str) -> None:
    """A plan that differs is said of the statement; where one report shows none, nothing is."""
    found = changes([sampled(4107, 1111111111)], [sampled(4109, after)])

    assert (row(found)["plans"], row(found)["plans_after"]) == (said, str(after))
    assert row(found, "1vd9kx4rs6b7y")["plans"] is None
    assert ("another plan" in " ".join(statement_sentences(found))) is (said == "changed")
    assert row(changes([sampled(4107, 1111111111)], [report(4109)]))["plans"] is None


def test_no_executions_give_no_time_per_execution() -> None:
    """A statement that began before the report has no average, and what contradicts itself has none either."""
    none = ("4,806.0        156,628          0.03", "4,806.0              0             0")
    wrong = ("4,806.0        156,628          0.03", "4,806.0        156,628          9.03")
    for change, text in ((none, "time not shown by both"), (wrong, "up")):
        first = report(4107, change)
        if change is wrong:  # the section of reads states the same totals, without an average that is wrong
            assert statements_of(first)[BERTHS, None].figures["elapsed_per_exec_s"].value == pytest.approx(
                0.030684, abs=1e-6
            )
        else:
            first = report(4107, none, ("16,143,505     156,628", "16,143,505           0"))
        assert row(changes([first], [report(4109)]))["change"] == text


def test_other_rows_are_said() -> None:
    """A statement that returned ten times the rows did other work, and the sentence says so."""
    section = (
        "SQL ordered by Executions              DB/Inst: HARBOR/harbor1  Snaps: 4107-4108\n\n"
        " Executions   Rows Processed  Rows per Exec   Time (s)   %CPU    %IO    SQL Id\n"
        "------------ --------------- -------------- ---------- ------ ------ -----------\n"
        "     {count} {rows:>15,} {each:>14}    4,806.0   22.0   71.0 7hq3wz8mt0c2f\n"
        "Module: berth_plan\nselect b.berth_id\n\n"
        "          ------------------------------------------------------\n\n\n"
    )
    line = "SQL ordered by Reads"
    few = report(4107, (line, section.format(count="156,628", rows=156_628, each="1.0") + line))
    many = report(4109, (line, section.format(count="122,040", rows=1_220_400, each="10.0") + line))

    assert "10 times the rows" in next(text for text in statement_sentences(changes([few], [many])) if "Longer" in text)


def test_sets_give_verdicts_in_the_order_of_time() -> None:
    """Six reports a side are samples; equal sets move no statement."""
    before = [report(number) for number in range(4102, 4108)]
    after = [*(report(number) for number in (4109, 4111, 4112, 4114, 4115)), load(SERIES / "awrrpt_1_4110_4111.html")]
    found = compare_sets({str(n): one for n, one in enumerate(before)}, {f"b{n}": one for n, one in enumerate(after)})

    berths = row(found.statements)
    assert (berths["reports_before"], berths["reports_after"], berths["change"]) == (6, 6, "up")
    same = changes(before, before)
    assert set(same["change"]) <= {"equivalent", "undecided"}


def test_the_page_has_statements_and_their_work() -> None:
    """Times in ms with shares and text, then blocks and plans."""
    page = change_html(compare_sets({"a": sampled(4107, 1111111111)}, {"b": sampled(4109, 2222222222)}))

    section = page[page.index('<section id="statements">') :]
    assert section.index("ms per exec before") < section.index("Blocks, rows and plans")
    assert "1111111111" in section
