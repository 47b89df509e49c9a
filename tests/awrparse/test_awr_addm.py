"""ADDM reports, alone and within other reports, as text and on pages: no text and no finding is lost."""

from __future__ import annotations

from html import escape
from random import Random
from typing import Final

import pytest

import iolab
from awrparse import read_awr
from logframe.loading import load_log, provenance

NAMES: Final = ("Undersized Orchard", 'Top Trees by "Fruit I/O" and "Basket"', "Ripe | Unripe Plums", "12 Baskets 3")


def summary(findings: list[tuple[str, str, str, str]]) -> list[str]:
    """The summary of findings, as wide as its longest name."""
    width = max(len(name) for name, *_ in findings)
    lines = ["Summary of Findings", "-------------------"]
    lines += [f"   {'Description':{width}}  Active Sessions      Recommendations"]
    lines += [f"   {'':{width}}  Percent of Activity", f"   {'-' * width}  {'-' * 19}  {'-' * 15}"]
    for number, (name, sessions, pct, count) in enumerate(findings, 1):
        lines.append(f"{number:<3}{name:{width}}  {f'{sessions} | {pct}':19}  {count}")
    return lines


def addm(task: str, findings: list[tuple[str, str, str, str]], title: str = "ADDM Report for Task") -> list[str]:
    """An ADDM report with its summary, and what it says of each finding."""
    lines = [f"          {title} '{task}'", f"          {'-' * (len(task) + 23)}", ""]
    lines += ["Analysis Period", "---------------", "AWR snapshot range from 5 to 7.", ""]
    lines += [*summary(findings), "", "~" * 78, "~" * 78, ""] if findings else ["There are no findings to report."]
    for number, (name, sessions, pct, _) in enumerate(findings, 1):
        impact = f"Impact is {sessions} active sessions, {pct}% of total activity."
        lines += [f"Finding {number}: {name}", impact, "-" * len(impact), "The trees need water.", ""]
        lines += ["   Recommendation 1: Watering", f"   Estimated benefit is {sessions} active sessions, {pct}%.", ""]
    return lines


def drawn(seed: int) -> tuple[list[tuple[str, str, str, str]], list[tuple[object, ...]]]:
    """Findings as printed, and as read."""
    random = Random(seed)  # noqa: S311 - data for a test
    printed, read = [], []
    for number in range(1, random.randint(2, 12)):
        name = random.choice(NAMES)
        sessions, pct = random.randint(1, 9999) / 100, random.randint(1, 10000) / 100
        count = random.randint(0, 12)
        printed.append((name, f"{sessions:g}".removeprefix("0"), f"{pct:g}", str(count)))
        read.append((number, name, sessions, pct, count))
    return printed, read


def page(*reports: list[str]) -> str:
    """A page with a table, and ADDM reports in preformatted lines."""
    head = "<html><head><title>AWR Report for DB: FIG</title></head><body><h1>WORKLOAD REPOSITORY report for</h1>"
    table = "<table><tr><th>DB Name</th><th>DB Id</th></tr><tr><td>FIG</td><td>7</td></tr></table>"
    pres = "".join(f"<h2>ADDM Task</h2>\n<pre>\n{escape(chr(10).join(lines))}\n</pre>" for lines in reports)
    return f"{head}{table}{pres}<p>End of Report</body></html>"


@pytest.mark.parametrize("seed", range(8))
def test_findings_of_reports_as_text_and_on_a_page(seed: int) -> None:
    """The findings are read, and the text is kept, whatever stands around the report."""
    printed, read = drawn(seed)
    lines = addm("ADDM:7_1_45", printed)
    for text in ("\n".join(lines), "\r\n".join(lines), page(lines), "\n".join(f"> {line}" for line in lines)):
        report = read_awr(text.encode())
        assert report["addm_report_findings"].rows() == [("ADDM:7_1_45", *row) for row in read]
        assert "The trees need water." in report.raw_tables["ADDM Report"]["text"].to_list()
        assert report.diagnostics.is_empty()


def test_two_reports_on_one_page() -> None:
    """Each finding is that of its own task."""
    first, second = drawn(1), drawn(2)
    report = read_awr(page(addm("PLUM", first[0]), addm("PEAR", second[0])).encode())

    expected = [("PLUM", *row) for row in first[1]] + [("PEAR", *row) for row in second[1]]
    assert report["addm_report_findings"].rows() == expected


def test_a_report_in_another_language() -> None:
    """The form of the rows is known, not their words; the decimal mark is that of the report."""
    lines = addm("ADDM:7_1_45", [("Obstgarten zu klein", ",33", "29,93", "5"), ("Birnen", "1,2", "4,4", "0")])
    lines[0] = "          ADDM-Bericht für Task 'ADDM:7_1_45'"
    report = read_awr("\n".join(lines).encode())

    found = report["addm_report_findings"].select("finding", "impact_sessions", "impact_pct").rows()
    assert found == [("Obstgarten zu klein", 0.33, 29.93), ("Birnen", 1.2, 4.4)]


def test_no_findings_is_a_table_without_rows_and_no_problem() -> None:
    """A report that found nothing keeps its text."""
    for text in ("\n".join(addm("PLUM", [])), page(addm("PLUM", []))):
        report = read_awr(text.encode())
        assert report["addm_report_findings"].is_empty()
        assert "There are no findings to report." in report.raw_tables["ADDM Report"]["text"].to_list()
        assert report.diagnostics.is_empty()


def test_findings_before_11_are_in_the_text() -> None:
    """Releases before 11.1 print no summary: each finding has its share in its title, and its text below."""
    old = ["          DETAILED ADDM REPORT FOR TASK 'PLUM' WITH ID 7", "          ----", "", "Analysis Period: today"]
    old += ["FINDING 1: 51% impact (309 seconds)", "-----------------------------------"]
    old += ["Dry trees need", "water.", "", "   RECOMMENDATION 1: Watering, 51% benefit (309 seconds)"]
    old += ["      ACTION: Water them.", "   RECOMMENDATION 2: Shade, 2.5% benefit (15 seconds)", ""]
    old += ["FINDING 2: 100% impact (606 seconds)", "------------------------------------", "No trees."]
    rows = [("PLUM", 1, "Dry trees need water.", None, 51.0, 2), ("PLUM", 2, "No trees.", None, 100.0, 0)]

    for text in ("\n".join(old), page(old), "\n".join(line for line in old if line)):
        report = read_awr(text.encode())
        assert report["addm_report_findings"].rows() == rows
        assert report.diagnostics.is_empty()
    said = iolab.findings(read_awr("\n".join(old).encode()))["sentence"].to_list()
    assert said[0] == "ADDM rates `No trees.` at 100 % of the activity."


def test_findings_that_no_summary_lists_are_named() -> None:
    """A row of another form is not read, and a finding without its share neither: both are said."""
    text = ["          ADDM Report for Task 'PLUM'", "", "FINDING 1: Dry trees", "-----", "They need water."]
    report = read_awr("\n".join(text).encode())
    assert report.diagnostics.select("line", "kind").rows() == [(3, "missing")]
    assert "Dry trees" in "".join(report.raw_tables["ADDM Report"]["text"])
    assert read_awr(page(text).encode()).diagnostics["kind"].to_list() == ["missing"]

    lines = addm("PLUM", [("Trees", ".33", "29.93", "5"), ("Figs", "####", "####", "1"), ("Plums", ".1", "2", "3")])
    report = read_awr("\n".join(lines).encode())
    assert report["addm_report_findings"]["finding"].to_list() == ["Trees", "Plums"]
    assert report.diagnostics["text"].to_list() == ["Finding 2: Figs"]


def test_the_figures_of_the_summary_are_accounted_for() -> None:
    """No number of a report is lost, and those of the summary are in its table."""
    printed, _ = drawn(3)
    text = "\n".join(addm("PLUM", printed))
    first = text.split("\n").index("Summary of Findings") + 6
    found = provenance(load_log(text.encode()), text.encode())
    rows = found.filter(found["line"].is_between(first, first + len(printed) - 1))

    assert set(rows.filter(rows["frame"].is_not_null())["frame"]) == {"addm_report_findings"}
    assert "lost" not in found["status"].to_list()
    pages = page(addm("PLUM", printed)).encode()
    assert "lost" not in provenance(load_log(pages), pages)["status"].to_list()


ADVICE: Final = (
    'Investigate I/O on TABLE "FIG.TREES" with object\n      ID 7.',
    "Consider watering.",
    'Set the parameter "orchard_size" to 12288 M.',
)


@pytest.mark.parametrize("label", ["   Action\n      ", "      ACTION: "])
@pytest.mark.parametrize("advice", ADVICE)
def test_what_addm_says_of_a_finding_stands_beside_its_share(advice: str, label: str) -> None:
    """Figures of the reasons, and of actions those that name something; what follows them is no part of them."""
    lines = addm("TASK_1", [("Undersized Orchard", "2", "60", "1"), ("Few Trees", "1", "30", "1")])
    more = f"{label}{advice}\n   Rationale\n      A tree of 3 died. Watering took 26\n      milliseconds.\n"
    more += "   Symptoms That Led to the Finding:\n   ------\n      Fruit took 9 seconds."
    place = lines.index("   Estimated benefit is 2 active sessions, 60%.")
    found = iolab.findings("\n".join([*lines[: place + 1], more, *lines[place + 1 :], ""]).encode())
    first, second = found.filter(name="addm_finding").get_column("sentence")
    named = "; it advises: " + " ".join(advice.replace('"', "`").split()).removesuffix(".") if '"' in advice else ""
    assert first == "ADDM rates `Undersized Orchard` at 60 % of the activity: watering took 26 milliseconds" + (
        named[:14] + named[14:15].lower() + named[15:] + "."
    )
    assert second == "ADDM rates `Few Trees` at 30 % of the activity."
    step = found.filter(name="addm_finding").item(0, "next")
    assert step.startswith("see whether this advice of ADDM fits: ")
    assert step.endswith(" ".join(advice[1:].replace('"', "`").split()).removesuffix("."))
