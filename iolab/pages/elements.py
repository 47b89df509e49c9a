"""Self-contained pages: charts, styles and scripts inside, nothing requested from a network.

A page carries a content security policy that runs its own scripts, known by their hashes, and nothing else: text of a
log that looks like a script stays text.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from iolab.charts.theme import VEGA_LITE, config
from logframe.extras import require
from logframe.wording import printable

#: Texts above this many characters get a column that is wide enough to read them.
_LONG: Final = 40
#: The width of A4 less its margins, of the padding of a column and of a letter in a printed table, in CSS pixels.
_PAPER: Final = 703
_PADDING: Final = 8
_LETTER: Final = 6.8
#: The same in a table that is printed smaller.
_SMALL_LETTER: Final = 5.6
_SMALL_PADDING: Final = 5
#: How much wider a letter of a heading is.
_BOLD: Final = 1.2
#: Words are not broken into shorter pieces.
_LEAST_WORD: Final = 13
#: What ends the first words of a heading.
_STOPS: Final = (", ", ": ")
#: A time, or sessions active, with its unit, or two of them.
_FIGURE: Final = re.compile(
    r"(?<!and )(?<![\d,.])\d[\d,.]*(?: (?:to|→) [\d,.]+)?(?: (?:[um]?s|min|h)\b|(?= sess| samp))"
)
#: A range as a terminal prints it.
_RANGE: Final = re.compile(r"^(\d[\d,.]*)-(\d[\d,.]*)(?=\s|$)")
AT_MOST: Final = "≤: at most; how much of it is certain cannot be determined."
#: JupyterLab puts the texts of tables to the right unless each cell says otherwise.
_LEFT: Final = ' style="text-align: left"'
_DRAW: Final = """
const dark = window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)").matches;
const themes = JSON.parse(document.getElementById("themes").textContent);
for (const figure of document.querySelectorAll("figure.chart")) {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  spec.config = themes[dark ? "dark" : "light"];
  const place = document.createElement("div");
  figure.append(place);
  window.vegaEmbed(place, spec, {renderer: "svg", actions: false, ast: true}).catch((error) => {
    place.textContent = "This chart could not be drawn: " + error;
  });
}
"""


@cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    bundle: str = require("vl_convert").javascript_bundle(vl_version=VEGA_LITE)
    return bundle.replace("</script", "<\\/script")


def _json(value: object) -> str:
    """JSON for a script element: no text in it can end the element."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")


def _script(text: str) -> tuple[str, str]:
    """The element of a script, and its source in a policy."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"<script>{text}</script>", f"'sha256-{digest}'"


def chart_html(spec: Mapping[str, Any], *, label: str = "") -> str:
    r"""The element of a chart, to be drawn by the script of `page_html`.

    Args:
        spec: A Vega-Lite specification.
        label: What the picture shows, for readers who do not see it.

    Examples:
        >>> chart_html({"mark": "</script>"}, label="a < b")
        '<figure class="chart" role="img" aria-label="a &lt; b"><script
        type="application/json">{"mark": "\\u003c/script\\u003e"}</script></figure>'
    """
    return (
        f'<figure class="chart" role="img" aria-label="{html.escape(label)}">'
        f'<script type="application/json">{_json(spec)}</script></figure>'
    )


def marked_html(sentence: str) -> str:
    """A sentence as HTML, with what stands between backticks as code.

    Examples:
        >>> marked_html("waits for `log file sync` > 1 ms")
        'waits for <code>log file sync</code> &gt; 1 ms'
    """
    parts = html.escape(sentence).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def split_headline(headline: str) -> tuple[str, str]:
    """What, where and when of a log for a title; its kind and release, which stand below it.

    Examples:
        >>> split_headline("AWR report, HARBOR on quay07, 12.1.0.2, 2026-09-14 18:00 to 19:00")
        ('HARBOR on quay07, 2026-09-14 18:00 to 19:00', 'AWR report 12.1.0.2')
        >>> split_headline("AWR report, SALES of CDB1 on db1, 19.0.0.0"), split_headline("strace log, one process")
        (('SALES of CDB1 on db1', 'AWR report 19.0.0.0'), ('strace log, one process', ''))
    """
    kind, _, rest = headline.partition(", ")
    parts = rest.split(", ")
    words = parts[0].split(" ")  # a database, or a container of one, and on which host
    if not words[0] or words[0][0].isdigit() or len(words) % 2 == 0 or not {*words[1::2]} <= {"of", "on"}:
        return headline, ""
    releases = [part for part in parts if "." in part and part.replace(".", "").isdigit()]
    title = [part for part in parts if part not in releases and not part.startswith("module ")]
    return ", ".join(title), " ".join([kind, *releases])


def title_html(title: str) -> str:
    """A heading with the name of what it is about in bold: all before "on" a host, else before the first comma.

    Examples:
        >>> title_html("AWR report, HARBOR on quay07, 12.1.0.2"), title_html("strace log, one process")
        ('AWR report, <b>HARBOR</b> on quay07, 12.1.0.2', '<b>strace log</b>, one process')
    """
    head, on, _ = title.partition(" on ")
    start = max((head.rfind(mark) + len(mark) for mark in _STOPS if on and mark in head), default=0)
    end = len(head) if on else min((place for mark in _STOPS if (place := title.find(mark)) > 0), default=len(title))
    return f"{html.escape(title[:start])}<b>{html.escape(title[start:end])}</b>{html.escape(title[end:])}"


def text_html(text: str) -> str:
    """A text of a log as HTML, without characters that control a terminal."""
    return html.escape(printable(text))


def figure_html(text: str, rules: str) -> str:
    """A figure of a terminal as a cell of a page: a true minus, "to" in a range, signs of bounds as links to rules.

    Args:
        text: the figure.
        rules: the identifier of what says how bounds are found.

    Examples:
        >>> figure_html("59-87", "r"), figure_html("-27", "r"), figure_html("<=8.7", "r")
        ('59 to 87', '−27', '<a href="#r" title="how this bound is found">≤</a> 8.7')
    """
    shown = html.escape(_RANGE.sub(r"\1 to \2", text)).replace("&lt;=", "≤ ")
    shown = f"−{shown[1:]}" if shown.startswith("-") else shown
    for sign in "≤±?":
        shown = shown.replace(sign, f'<a href="#{rules}" title="how this bound is found">{sign}</a>')
    return shown


def large_html(sentence: str, most: int = 1) -> str:
    """A sentence whose first figures are large, as HTML, and grey after them; one without is large up to its stop.

    Examples:
        >>> large_html("`log file sync` took 4.29 to 6.87 ms after: 2 s")
        '<code>log file sync</code> took <b class=large>4.29 to 6.87 ms</b> after<span>: 2 s</span>'
    """
    first = _FIGURE.search(sentence)
    begin = first.end() if first else 0
    stop = min((at for mark in (": ", "; ", " (") if (at := sentence.find(mark, begin)) > 0), default=len(sentence))
    head, rest = marked_html(sentence[:stop]), marked_html(sentence[stop:])
    found, count = _FIGURE.subn(r"<b class=large>\g<0></b>", head, count=most)
    return (found if count else f"<b>{head}</b>") + (f"<span>{rest}</span>" if rest else "")


def table_html(headings: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Iterable[str] = ()) -> str:
    """A table of texts; the columns named in `numbers` are aligned to the right.

    Examples:
        >>> table_html(["n"], [[1]], numbers=["n"])
        '<div class="wide mathjax_ignore"><table><thead><tr><th class="number">n</th></tr></thead><tbody><tr><td
        class="number">1</td></tr></tbody></table></div>'
    """
    shown = [["" if cell is None else str(cell) for cell in row] for row in rows]
    right = {place for place, heading in enumerate(headings) if heading in set(numbers)}
    long = {place for row in shown for place, cell in enumerate(row) if len(cell) > _LONG} - right
    wide, kind = _broken(headings, shown, right)
    wide -= long
    kinds = [
        ' class="number"'
        if place in right
        else f' class="long"{_LEFT}'
        if place in long
        else f' class="breaks"{_LEFT}'
        if place in wide
        else _LEFT
        for place in range(len(headings))
    ]
    head = "".join(f"<th{kind}>{html.escape(one)}</th>" for kind, one in zip(kinds, headings, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{html.escape(cell)}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>"
        for row in shown
    )
    # In JupyterLab what is between two dollars would be a formula: v$statname a, v$mystat b.
    table = f'<table class="{kind}">' if kind else "<table>"
    return f'<div class="wide mathjax_ignore">{table}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _longest(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _broken(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> tuple[set[int], str]:
    """The columns whose words are broken where the table is printed on A4 upright, the longest first, and its kind.

    Numbers are not broken: where they alone are wider than the paper, the table is printed smaller, and they may be.

    Examples:
        >>> _broken(["sql id", "file"], [["309mwpa4tk161", "/u01/oradata/PLUM/users01.dbf"]], set())
        (set(), '')
        >>> counts = ["1234567890"] * 6
        >>> _broken([*"abcdef", "file", "sql id"], [[*counts, "/u01/oradata/PLUM/users01.dbf", "309mwpa4tk161"]],
        ...     set(range(6)))
        ({6}, '')
    """
    words = [
        max(_BOLD * _longest(heading), max((_longest(row[place]) for row in rows), default=0))
        for place, heading in enumerate(headings)
    ]
    letters = (_PAPER - _PADDING * len(headings)) / _LETTER
    broken: set[int] = set()
    for place in sorted(set(range(len(words))) - numbers, key=lambda place: -words[place]):
        if sum(words) <= letters or words[place] <= _LEAST_WORD:
            break
        broken.add(place)
        words[place] = _LEAST_WORD
    if sum(words) <= letters:
        return broken, ""
    is_fit = sum(words) * _SMALL_LETTER + _SMALL_PADDING * len(headings) <= _PAPER
    return broken, "dense" if is_fit else "dense tight"


def page_html(title: str, body: str, *, styles: str = "", before: str = "") -> str:
    """A whole page around a body; the charts in it are drawn when it is opened, offline too.

    Args:
        title: The title, as text.
        body: The main part, as HTML; charts as `chart_html` gives them.
        styles: More styles.
        before: What precedes the main part, such as a contents bar.
    """
    scripts, sources, texts = [], [], []
    if 'class="chart"' in body:
        scripts.append(
            f'<script type="application/json" id="themes">{_json({m: config(m) for m in ("light", "dark")})}</script>'
        )
        texts += [_library(), _DRAW]
    if '<div class="wide' in body or 'class="what-if"' in body:
        texts.append(files("iolab.pages").joinpath("page.js").read_text(encoding="utf-8"))
    for element, source in map(_script, texts):
        scripts.append(element)
        sources.append(source)
    style = files("iolab.pages").joinpath("page.css").read_text(encoding="utf-8") + styles
    if 'class="drawn' in body:
        from iolab.pages.drawn import dark_rules  # noqa: PLC0415 - of pages with drawings

        style += f"@media screen and (prefers-color-scheme: dark) {{{dark_rules()}}}"
    body = body.replace(_LEFT, "")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    styled = "'unsafe-inline'" if " style=" in body or 'class="chart"' in body else f"'sha256-{digest}'"
    policy = (
        f"default-src 'none'; script-src {' '.join(sources) or chr(39) + 'none' + chr(39)}; "
        f"style-src {styled}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{before}<main>{body}</main>\n"
        + "\n".join(scripts)
        + "\n</body>\n</html>\n"
    )
