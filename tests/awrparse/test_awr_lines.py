"""The lines of text reports: grammar, classification, rows built and cut again."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from awrparse import read_awr
from awrparse.text import lines
from awrparse.text.labels import is_label_line, label_values, section_title
from awrparse.text.layout import Cutter, Layout
from awrparse.text.rows import cut_rows
from logframe import Grammar, columns_of, headings

SAMPLES = lines.GRAMMAR.samples


def test_every_rule_has_a_sample_and_is_a_kind() -> None:
    """A rule without a line as reports print it could be wrong unseen; each rule is what a line may be."""
    rules = set(lines.GRAMMAR.kinds.values())
    assert {rule for rule, _ in SAMPLES} == rules - {"blank"}
    assert rules <= set(lines.KINDS)


@pytest.mark.parametrize(("rule", "sample"), SAMPLES)
def test_samples_match_their_rule(rule: str, sample: str) -> None:
    """Each sample above a rule parses as that rule."""
    assert lines.GRAMMAR.parse(sample).data == rule


@pytest.mark.parametrize(("rule", "sample"), SAMPLES)
def test_the_classifier_agrees_with_the_grammar(rule: str, sample: str) -> None:
    """The quick classifier and the parser give a line the same kind."""
    assert lines.KINDS[lines.classify([sample])[0]] == rule


def test_a_terminal_that_is_added_to_the_grammar_classifies_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grammar is the program: another alternative of a rule, and the classifier gives its lines that kind."""
    text = lines.GRAMMAR.text.replace("end: END_OF_REPORT", "end: END_OF_REPORT | BERICHTSENDE")
    grammar = Grammar("awrparse", "report.lark", "line")
    grammar.text = text + '\nBERICHTSENDE.28: "Ende des Berichts"\n'
    assert lines.KINDS[lines.classify(["Ende des Berichts"])[0]] == "text"

    monkeypatch.setattr(lines, "GRAMMAR", grammar)
    lines.classifiers.cache_clear()
    try:
        assert lines.KINDS[lines.classify(["Ende des Berichts"])[0]] == "end"
    finally:
        lines.classifiers.cache_clear()


@given(st.text(alphabet=st.sampled_from(" -~>:`abAS/DBInst0159.\f"), max_size=90))
def test_any_line_has_the_kind_the_grammar_gives_it(line: str) -> None:
    """On any text of such letters both engines agree."""
    if not line.strip():
        assert lines.classify([line])[0] == lines.BLANK
    elif "\n" not in line:
        found = lines.GRAMMAR.parse(line).data
        assert lines.KINDS[lines.classify([line])[0]] == found


WORDS = st.text(alphabet=st.characters(whitelist_categories=("Ll", "Lu", "Nd")), min_size=1, max_size=6)
NUMBERS = st.one_of(
    st.integers(0, 9_999_999).map("{:,}".format),
    st.decimals(0, 999, places=1).map(str),
    st.sampled_from(["", "N/A", ".0", "####"]),
)


@st.composite
def printed_tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, ...]]]:
    """A ruled table of a name and right-aligned numbers, and its cells."""
    width = draw(st.integers(2, 6))
    rows = [
        (" ".join(draw(st.lists(WORDS, min_size=1, max_size=3))), *(draw(NUMBERS) for _ in range(width)))
        for _ in range(draw(st.integers(1, 8)))
    ]
    # a row without any number would be a name that goes on
    rows = [(name, *(cells if any(cells) else ("0", *cells[1:]))) for name, *cells in rows]
    sizes = [max(8, *(len(row[place]) for row in rows)) for place in range(width + 1)]
    heads = [f"H{place}" for place in range(width + 1)]
    text = [
        " ".join(cell.ljust(size) if place == 0 else cell.rjust(size) for place, (cell, size) in enumerate(pairs))
        for pairs in (
            list(zip(row, sizes, strict=True)) for row in [tuple(heads), tuple("-" * s for s in sizes), *rows]
        )
    ]
    return [line.rstrip() for line in text], rows


@given(printed_tables())
def test_a_printed_table_comes_back(table: tuple[list[str], list[tuple[str, ...]]]) -> None:
    """Cells built into a ruled table and cut again are the same."""
    text, rows = table
    body = range(2, len(text))

    found = cut_rows(Layout("T", (([text[0]], text[1]),)), text, body)

    assert found.cells == rows
    assert found.lines == [number + 1 for number in body]
    assert not found.problems


RULERS = st.lists(st.integers(1, 9), min_size=1, max_size=5).map(lambda sizes: " ".join("-" * size for size in sizes))


@given(RULERS, st.integers(0, 3), st.lists(st.text(alphabet=" 0a,\t", max_size=40), max_size=9))
def test_lines_cut_together_are_cut_as_one_by_one(ruler: str, margin: int, texts: list[str]) -> None:
    """A table cut by columns has the cells, and the lines that do not fit, of each line cut alone."""
    cutter = Cutter(columns_of(" " * margin + ruler))

    assert cutter.cut_all(texts) == [cutter.cut(text) for text in texts]


@given(RULERS, st.lists(st.text(alphabet=" abc", max_size=40), max_size=3))
@example("-- -", ["aa aa"])
def test_headings_are_those_of_each_word(ruler: str, texts: list[str]) -> None:
    """Heading lines cut as rows give the names that a look at each word gives."""
    found = Layout("T", ((texts, ruler),)).groups[0][0]

    assert found == headings(texts, columns_of(ruler))


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Wait Classes   First DB/Inst: FIG/fig1 Snaps: 1-2", "Wait Classes"),
        ("\fOS Statistics - DetailDB/Inst: FIG/fig1  Snaps: 1-2", "OS Statistics - Detail"),
        ("SQL ordered by Gets for DB: FIG  Instance: fig1", "SQL ordered by Gets"),
        ("Headfirst DB/Inst: FIG/fig1", "Headfirst"),
        ("First DB/Inst: FIG/fig1", "First"),
        ("  no mark beside it ", "no mark beside it"),
    ],
)
def test_titles_of_sections(line: str, title: str) -> None:
    """What stands beside a title is none of it, with a blank before it or not."""
    assert section_title(line) == title


def test_a_note_of_two_lines_is_one_remark() -> None:
    """The second line of a note belongs to it and is no remark of its own."""
    text = [
        "Orchard Stats   DB/Inst: FIG/fig1  Snaps: 1-2",
        "-> all apples of the",
        "   last harvest",
        "",
        "Name  N",
        "---- --",
    ]

    report = read_awr("\n".join([*text, "pip   1"]).encode())

    assert report.raw_tables.notes("Orchard Stats") == ("all apples of the last harvest",)
    assert report.line_counts["note"] == 2


@given(printed_tables())
def test_a_table_in_a_report_loses_no_line(table: tuple[list[str], list[tuple[str, ...]]]) -> None:
    """Within a section every line is a record, and the counts add up."""
    text, rows = table
    report = "\n".join(["Orchard Stats   DB/Inst: FIG/fig1  Snaps: 1-2", "-> a note", "", *text, " " * 26 + "-" * 54])

    read = read_awr(report.encode())

    assert read.line_counts["record"] == len(rows)
    assert sum(read.line_counts.values()) == len(text) + 4
    assert read.raw_tables["Orchard Stats"].height == len(rows)
    assert read.raw_tables.notes("Orchard Stats") == ("a note",)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("            Library Hit   %:   97.10        Soft Parse %:   96.82", True),
        ("                     Avg message sent queue time (ms):      0.2", True),
        ("We tested with this command: ./run 32. It was slow.", False),
        ("Dear all,", False),
    ],
)
def test_label_lines(line: str, *, expected: bool) -> None:
    """Labels with values are distinguished from prose."""
    assert is_label_line(line) is expected


def test_labels_of_two_pairs() -> None:
    """Two labels on a line, blanks within the first."""
    assert label_values("  Buffer  Hit   %:   99.87    In-memory Sort %:  100.00") == [
        ["Buffer Hit %", "99.87"],
        ["In-memory Sort %", "100.00"],
    ]


def test_records_of_three_lines() -> None:
    """Three rulers make records of three lines; a blank line ends a record early."""
    text = ["name-of-one", "          1          2", "          3", "name-of-two", "          4          5", ""]
    layout = Layout("T", ((["Name"], "-" * 30), (["A B"], "-" * 11 + " " + "-" * 10), (["C"], "-" * 11)))

    found = cut_rows(layout, text, range(len(text)))

    assert found.headings == ("Name", "A B", "", "C")
    assert found.cells == [("name-of-one", "1", "2", "3"), ("name-of-two", "4", "5", "")]


def test_group_headings_are_joined() -> None:
    """A ruler over several columns names a group, and is no line of the record."""
    upper = (["        Current"], " " * 8 + "-" * 13)
    lower = (["Class    Got   Lost"], "------- ------ ------")
    layout = Layout("T", (upper, lower))

    found = cut_rows(layout, ["data         1      2"], [0])

    assert found.headings == ("Class", "Current Got", "Current Lost")
    assert found.cells == [("data", "1", "2")]
