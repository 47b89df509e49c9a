"""Pages read with compiled code and without it: the same tables, cells, titles and notes, however damaged."""

import random
import re
from pathlib import Path

import pytest

from awrparse import html
from awrparse.html import MARK, cut_page
from awrparse.sniff import kind_of_html
from logframe.kernel import load_kernel

DATA = Path(__file__).parent / "awr_data" / "valid"
TAG = re.compile(r"<[^>]*>")
#: What is put between the tags of a page.
PIECES = (
    *("<b>", "</b>", "<a href='x'>", "</a>", "<br/>", "<div>", "</div>", "<p>", "<span title='>'>", "<td>", "</td>"),
    *("<th>", "</th>", "<tr>", "</tr>", "<table>", "</table>", "<tbody>", "</thead>", "<caption>", "<h3>Other</h3>"),
    *("<li>note</li>", "<td colspan=2>", "<td rowspan='2'>", "<style>a<b</style>", "<!DOCTYPE x>", "<?x y?>", "</>"),
    *("<script>if (a<b) '</td>'</script>", "<", "< b", "&", "&amp;", "&lt;td&gt;", "&nbsp;", "&#160;", "&#xA0;"),
    *("&eacute;", "&lt", "&#0;", " ", "\n", "\t", " \n ", "\xa0", "\u2003", "\u3000x", "\x85", "\x1f", "\x0c", "\x00"),
    *("text", "\u00fc", "\u6f22", "<select>", "<textarea>", "</textarea>", "<svg>", "<form>", "<input>", "<pre>\n"),
    *("</pre>", "<title>t<td></title>", '<x y="', "<x y='", "<x =y>", "<x y = z/>", "<TD>", '<Table Summary="s">'),
    *("<template>", "<noscript>", "<hr>", "<th colspan=2>", '<th COLSPAN="3" >', "<th colspan=''>", "<th colspan=250>"),
    *("<th colspan=2 colspan=1>", "<th colspan='1' rowspan=1>", "<th colspan>", "<th colspan=' 2'>", "<th colspan=02>"),
)


def page(draw: random.Random) -> str:
    """A page of tables as a report prints them."""
    tables = []
    for number in range(draw.randrange(1, 6)):
        width = draw.randrange(1, 5)
        cells = (
            "1,234",
            " a &lt; b ",
            "",
            "&#160;",
            "x<a class='awr' href='#1'>y</a>",
            "two\n lines",
            "\xa0",
            "&quot;",
        )
        head = "<tr>" + "".join(f"<th class='awrbg'>Heading {place}</th>" for place in range(width)) + "</tr>\n"
        if width > 1 and draw.random() < 0.5:
            first = draw.randrange(1, width)
            blank = draw.choice(("<td>&#160;</td>", "<td></td>", "<th></th>", "<td>x</td>"))
            span = draw.choice((width - first, width - first, draw.randrange(4)))
            head = f"<tr>{blank * first}<th class='awrbg' colspan='{span}'>Of all &amp; none </th></tr>\n" + head
        rows = (
            "<tr>" + "".join(f"<td align='right'>{draw.choice(cells)}</td>" for _ in range(width)) + "</tr>"
            for _ in range(draw.randrange(4))
        )
        body = "\n".join(rows)
        if draw.random() < 0.3:
            body = f"<tbody>{body}</tbody>"
        note = draw.choice(("", "<ul><li>a note</li></ul>", "<p />", "<a href='#top'>Back to Top</a>"))
        start = f"<h3>Title {number}</h3>{note}<table border='1' summary='s {number}'>"
        tables.append(f"{start}{head * draw.randrange(3)}{body}</table>")
    return f"<html><head><title>AWR Report</title></head><body>{'<p />'.join(tables)}</body></html>"


def contents(text: str, monkeypatch: pytest.MonkeyPatch, *, compiled: bool) -> list[object]:
    """All that is read of a page."""
    with monkeypatch.context() as patch:
        if not compiled:
            patch.setattr(html, "cut_page", lambda _: None)
        document = html.read_html(text, *kind_of_html(text))
        return [
            (table.title, table.summary, table.notes, table.rows.headings, table.rows.cells)
            for table in document.tables
        ]


def assert_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both engines read the same."""
    assert contents(text, monkeypatch, compiled=True) == contents(text, monkeypatch, compiled=False), text


needs_kernel = pytest.mark.skipif(load_kernel() is None, reason="no compiled code")


@needs_kernel
@pytest.mark.parametrize("seed", range(20))
def test_damaged_pages(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tags dropped, doubled and moved, pieces of markup and text put between and within them, pages cut anywhere."""
    draw = random.Random(seed)  # noqa: S311 - data for tests
    for _ in range(25):
        text = page(draw)
        assert_same(text, monkeypatch)
        for _ in range(draw.randrange(1, 4)):
            places = [found.span() for found in TAG.finditer(text)] or [(0, 0)]
            start, end = draw.choice(places)
            match draw.randrange(5):
                case 0:
                    text = text[:start] + text[end:]
                case 1:
                    text = text[:end] + text[start:]
                case 2:
                    text = text[:end] + draw.choice(PIECES) + text[end:]
                case 3:
                    place = draw.randrange(len(text) + 1)
                    text = text[:place] + draw.choice(PIECES) + text[place:]
                case _:
                    text = text[: draw.randrange(len(text) + 1)]
        assert_same(text, monkeypatch)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.html")), ids=lambda path: path.name)
def test_reports_of_the_tests(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reports that the tests made."""
    assert_same(path.read_text(encoding="utf-8"), monkeypatch)


@needs_kernel
def test_regular_tables_leave_the_page() -> None:
    """The cells of a regular table are cut; another keeps its content; both are marked, whatever the page says."""
    regular = "<table {}><tr><th>A</th><th>B</th></tr><tr><td>&lt;1&#160;</td><td> x\n y</td></tr></table>"
    text = f"<html><h1>T</h1>{regular.format('summary=s')}<table {MARK}=0><tr><td colspan=2>z</td></tr></table></html>"
    found = cut_page(text)

    assert found is not None
    assert found.has_heads
    assert {mark: (table.cells, table.width, table.heads) for mark, table in found.tables.items()} == {
        "0": (["A", "B", "<1", "x y"], 2, 1)
    }
    assert found.rest == (
        f'<html><h1>T</h1><table {MARK}="0" summary=s></table>'
        f'<table {MARK}="" {MARK}=0><tr><td colspan=2>z</td></tr></table></html>'
    )


@needs_kernel
def test_headings_that_span_columns() -> None:
    """A heading stands in each column that it spans; a table with any other span keeps its content."""
    above = "<tr><td>&#160;</td><th colspan={}>% of <b>Waits</b> </th></tr>"
    below = "<tr><th>Event</th><th>&lt;1ms</th><th>&lt;2ms</th></tr><tr><td>e</td><td>1</td><td>2</td></tr>"
    spans = ("2", '" 2"', "'02'", "3", "0", "-2", "1e0", "201", '"2" rowspan=1', "2 colspan=2")
    found = cut_page("<h1>T</h1>" * 20 + "".join(f"<table>{above.format(span)}{below}</table>" for span in spans))

    assert found is not None
    cells = ["", "% of Waits", "% of Waits", "Event", "<1ms", "<2ms", "e", "1", "2"]
    assert {mark: (table.cells, table.width, table.heads) for mark, table in found.tables.items()} == dict.fromkeys(
        ("0", "1", "2"), (cells, 3, 2)
    )


@needs_kernel
def test_spans_take_no_more_than_the_page() -> None:
    """Long headings that span many columns are left to the parser where they would outgrow the page."""
    heading = f"<tr><th colspan=200>{'x' * 1000}</th></tr>"
    found = cut_page(f"<table>{heading * 50}</table>")

    assert found is not None
    assert found.tables == {}


@needs_kernel
@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><td><table><tr><td>1</td></tr></table></td></tr></table>",
        "<select><table><tr><td>1</td></tr></table></select>",
        "<textarea><table><tr><td>1</td></tr></table></textarea>",
        "<table><tr><td>1</td></tr></table><x y='",
        "<script><!-- <table> --></script>",
        "\ud800",
    ],
)
def test_pages_for_the_parser(text: str) -> None:
    """Tables in tables, elements that change how markup is read, tags without an end: the parser gets it all."""
    assert cut_page(text) is None
