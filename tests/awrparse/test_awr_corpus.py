"""Real reports: kinds, tables counted independently, golden figures, text against HTML, damage."""

import csv
import json
import random
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from awrparse import TABLES, AwrReport, read_awr
from awrparse.text.lines import KINDS as LINE_KINDS
from logframe import LogParseError

pytestmark = pytest.mark.corpus

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
#: How the index of the corpus calls the kinds; a snippet is a fragment, or a report when it has its banner.
KINDS = {"awrdiff": "awr_diff", "awr-pdb": "awr_pdb", "awrglobal": "awr_global"}
PAIRS = [
    ("1newstar__awr2csv/sample__awr_11204_1", ".txt", ".html"),
    ("Apress__troubleshooting-oracle-perf-14/chapter05__awr_1930_1945", ".txt", ".html"),
    ("Apress__troubleshooting-oracle-perf-14/chapter05__ash_1930_1945", ".txt", ".html"),
]
#: Columns that differ between text and HTML by more than cutting and rounding: Oracle's fault, or cut by design.
UNEQUAL = {
    ("info", "form"),
    ("info", "startup_time"),
    ("instances", "startup_time"),
    ("event_histogram", "waits"),
    ("sql", "sql_text"),
    ("segments", "subobject"),
    ("ash_sql_events", "sql_text"),
    ("ash_sql_row_sources", "sql_text"),
}


@pytest.fixture(scope="module")
def index(corpus: Path) -> list[dict[str, str]]:
    """The rows of the corpus's index."""
    with (corpus / "awr" / "INDEX.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def reports(corpus: Path, index: list[dict[str, str]]) -> dict[str, AwrReport]:
    """Every report, with bounds."""
    return {row["path"]: read_awr(corpus / "awr" / row["path"], printed=True) for row in index}


def _text(corpus: Path, path: str) -> str:
    return (corpus / "awr" / path).read_text(encoding="utf-8", errors="backslashreplace").replace("\r", "")


def test_kind_form_and_release(index: list[dict[str, str]], reports: dict[str, AwrReport]) -> None:
    """Each report is what the index says, whatever its file name."""
    for row in index:
        report = reports[row["path"]]
        wanted = KINDS.get(row["kind"], row["kind"])
        if wanted == "awr-snippet":
            wanted = "awr" if report.info.release else "fragment"
        assert (row["path"], report.kind, report.form) == (row["path"], wanted, row["format"])
        if report.kind not in {"addm", "fragment"}:
            assert (report.info.release or "").startswith(row["version"][:8])


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path, reports: dict[str, AwrReport]) -> None:
    """Figures read in the report by eye, row by row: nulls, overflows, shares beyond 100, names in full, units."""
    golden = json.loads(path.read_text(encoding="utf-8"))
    report = reports[golden["path"]]

    for name, value in golden["info"].items():
        found = getattr(report, name) if name in {"kind", "form"} else getattr(report.info, name)
        assert (name, found) == (name, value if value is None else pytest.approx(value))
    for table, key, expected in golden["rows"]:
        rows = [row for row in report[table].iter_rows(named=True) if _has(row, key)]
        assert (table, key, len(rows)) == (table, key, 1)
        found = {name: rows[0][name] for name in expected}
        assert (table, key, found) == (table, key, pytest.approx(expected))


def _has(row: dict[str, object], key: dict[str, object]) -> bool:
    return all(row[name] == (value if value is None else pytest.approx(value)) for name, value in key.items())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_heights(path: Path, reports: dict[str, AwrReport]) -> None:
    """The names of the tables, and how many rows each has, counted in the source by an HTML tokenizer or by line."""
    golden = json.loads(path.read_text(encoding="utf-8"))
    report = reports[golden["path"]]

    assert {name: report[name].height for name in report.tables} == golden["heights"]
    assert len(report.raw_tables) == golden["found"]


def test_there_are_golden_reports() -> None:
    """At least twelve reports with twenty figures, and nulls in each."""
    sizes = []
    for path in GOLDEN:
        golden = json.loads(path.read_text(encoding="utf-8"))
        figures = [*golden["info"].values(), *(value for *_, row in golden["rows"] for value in row.values())]
        assert None in figures
        sizes.append(len(figures))

    assert len(GOLDEN) >= 12
    assert sum(size >= 20 for size in sizes) >= 12


def test_every_line_of_text_is_accounted_for(
    corpus: Path, index: list[dict[str, str]], reports: dict[str, AwrReport]
) -> None:
    """The kinds of lines add up; what no rule takes is in the diagnostics with its reason."""
    for row in index:
        if row["format"] == "text":
            report, text = reports[row["path"]], _text(corpus, row["path"])
            counts = report.line_counts
            assert (row["path"], sum(counts.values())) == (row["path"], len(text.removesuffix("\n").split("\n")))
            assert counts.get("unparsed", 0) == 0
            kinds = Counter(report.diagnostics["kind"].to_list())
            assert (row["path"], kinds["unparsed"]) == (row["path"], 0)
            assert report.diagnostics.filter(pl.col("reason") == "").is_empty()


def test_every_ruler_has_its_table(corpus: Path, index: list[dict[str, str]], reports: dict[str, AwrReport]) -> None:
    """Rulers counted by themselves: each is in a table, or repeats one after a page break."""
    ruler = re.compile(r"^[\f ]*(?:[-~]+ +)*-{2,}(?: +-+)*$")
    end = re.compile(r"^ +-{50,}$")
    for row in index:
        if row["format"] != "text":
            continue
        lines = [line.rstrip() for line in _text(corpus, row["path"]).split("\n")]
        addm = next((number for number, line in enumerate(lines) if re.match(r" +ADDM\S* .*'$", line)), len(lines))
        lines = lines[:addm]
        counted = sum(bool(ruler.match(line)) and not end.match(line) for line in lines)
        known = reports[row["path"]].line_counts
        assert (row["path"], known.get("ruler", 0)) == (row["path"], counted)


@pytest.mark.parametrize(("stem", "text", "html"), PAIRS)
def test_text_and_html_of_one_snapshot_agree(stem: str, text: str, html: str, reports: dict[str, AwrReport]) -> None:
    """Equal canonical frames, up to what text cuts (names) or rounds (within the bounds of both)."""
    left, right = reports[stem + text], reports[stem + html]

    # only HTML lists the statements in full
    assert set(left.tables) ^ set(right.tables) == {"sql_text"}
    for name in left.tables:
        one, other = left[name], right[name]
        assert (name, one.height) == (name, other.height)
        for column in TABLES[name].columns:
            if (name, column.name) in UNEQUAL:
                continue
            faults = [pair for pair in _rows_of(one, other, column.name) if not _agree(*pair)]
            assert (name, column.name, faults) == (name, column.name, [])


def _rows_of(one: pl.DataFrame, other: pl.DataFrame, name: str) -> list[tuple[tuple, tuple]]:
    """Value and bounds of each row on both sides."""
    names = [name, *(f"{name}_{side}" for side in ("lo", "hi") if f"{name}_{side}" in one.columns)]
    return list(zip(one.select(names).rows(), other.select(names).rows(), strict=True))


def _agree(left: tuple, right: tuple) -> bool:
    if None in {left[0], right[0]}:
        return left[0] is right[0]
    if len(left) == 3:
        return max(left[1], right[1]) <= min(left[2], right[2]) * (1 + 1e-9) + 1e-9
    return left[0] == right[0] or str(right[0]).startswith(str(left[0]))


IMPOSSIBLE = {"class_above_db_time", "sessions_above_logged_on", "above_100_pct"}


def test_figures_that_cannot_be_are_found(reports: dict[str, AwrReport]) -> None:
    """A class of 6,961.7 sessions where 2,030 were logged on; CPU of twice DB time; no CPU beyond the CPUs."""
    found = {path: report.check().filter(pl.col("check").is_in(IMPOSSIBLE)) for path, report in reports.items()}
    every = pl.concat(frame.with_columns(path=pl.lit(path)) for path, frame in found.items())

    assert every.filter(check="sessions_above_logged_on").select("item", "first", "second").rows() == [
        ("Other", 6961.7, 2030.0)
    ]
    assert every.filter(check="class_above_db_time").select("item", "first", "second").rows() == [
        ("DB CPU", 1186.7, 617.8)
    ]
    assert every.filter(pl.col("first_lo") <= pl.col("second_hi")).is_empty()


def test_check_finds_the_known_faults_and_nothing_else(reports: dict[str, AwrReport]) -> None:
    """Months for minutes in HTML of 11.2 to 12.2, shifted headings of Tablespace IO in 11.2.0.4, Exadata's writes."""
    for path, report in reports.items():
        found = set(report.check()["check"]) - IMPOSSIBLE
        is_faulty = report.form == "html" and report.kind in {"awr", "awr_pdb"} and report.info.version < (18,)
        known = {"startup_time"} if is_faulty else set()
        if report.info.version[:4] == (11, 2, 0, 4) and "tablespace_io" in report and report.kind == "awr":
            known |= {"tablespace_io"}
        if "exadata_flash_writes" in report:
            known |= {"flash_writes"}
        assert (path, found) == (path, known)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_reports_raise_nothing_but_log_parse_error(
    seed: int, corpus: Path, index: list[dict[str, str]]
) -> None:
    """Cut, tags dropped, rows doubled, joined, as UTF-16: what can be read is read, the rest is in the diagnostics."""
    chance = random.Random(seed)  # noqa: S311 - a seed makes the damage repeatable
    for row in index[seed::4]:
        data = (corpus / "awr" / row["path"]).read_bytes()[:100_000]
        for damaged in _damaged(data, chance):
            try:
                report = read_awr(damaged)
            except LogParseError:
                continue
            assert report.diagnostics.columns
            assert all(report.raw_tables[title].columns or True for title in report.raw_tables)
            assert report.info.kind == report.kind


def _damaged(data: bytes, chance: random.Random) -> list[bytes]:
    place = chance.randrange(len(data))
    lines = data.split(b"\n")
    row = chance.randrange(len(lines))
    doubled = [*lines[:row], *lines[row : row + 12], *lines[row:]]
    tags = list(re.finditer(rb"</?t[rdh][^>]*>|</table>", data))
    dropped = chance.choice(tags) if tags else re.match(rb"", data)
    assert dropped is not None
    return [
        data[:place],
        b"\n".join(doubled),
        data[: dropped.start()] + data[dropped.end() :],
        data[: len(data) // 3] + b"\n" + data[: len(data) // 3],
        data.decode("utf-8", errors="replace").encode("utf-16"),
    ]


def test_two_reports_in_one_file(corpus: Path, index: list[dict[str, str]], reports: dict[str, AwrReport]) -> None:
    """Two reports joined come back as two parts with the tables of each."""
    for form in ("text", "html"):
        paths = [row["path"] for row in index if row["format"] == form and row["kind"] == "awr"][:2]
        data = b"\n".join((corpus / "awr" / path).read_bytes() for path in paths)

        first = read_awr(data)

        assert [part.info.db_id for part in first.parts] == [reports[path].info.db_id for path in paths]
        assert [len(part.raw_tables) for part in first.parts] == [len(reports[path].raw_tables) for path in paths]
        assert "several_reports" in first.diagnostics["kind"].to_list()


def test_no_character_of_a_row_is_lost(
    corpus: Path, index: list[dict[str, str]], reports: dict[str, AwrReport]
) -> None:
    """All that stands in the rows of a text report stands in its tables as printed, or in the diagnostics."""
    kinds = [LINE_KINDS.index(name) for name in ("record", "prose", "unparsed")]
    for row in index:
        if row["format"] != "text":
            continue
        first = reports[row["path"]]
        lines = _text(corpus, row["path"]).split("\n")
        printed, read = Counter[str](), Counter[str]()
        for report in first.parts:
            document = report.document
            below = lines[document.first_line - 1 :]
            for kind, line in zip(document.line_kinds, below, strict=False):
                if kind in kinds:
                    printed.update(filter(str.isalnum, line.removeprefix("Module:")))
            # the lines of the summary are in the text of the ADDM report, too
            titles = [title for title in report.raw_tables if not title.startswith("ADDM Summary of Findings")]
            cells = (cell for title in titles for cells in report.raw_tables.cells(title) for cell in cells)
            read.update(filter(str.isalnum, "".join(cells)))
        is_trailing = (pl.col("kind") == "misplaced") & pl.col("reason").str.starts_with("words after the last column")
        lost = first.diagnostics.filter((pl.col("kind") == "unparsed") | is_trailing)["text"].to_list()
        read.update(filter(str.isalnum, "".join(lost)))
        assert (row["path"], read) == (row["path"], printed)
