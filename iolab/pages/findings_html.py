"""Findings as a list of HTML with links to their evidence, and the rows that they cite."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from iolab.metrics.formatting import figure_text, impact_text
from iolab.pages.elements import AT_MOST, figure_html, large_html
from iolab.pages.tables import frame_html
from iolab.rules.finding import meanings
from iolab.rules.phrases import capital
from iolab.time_ledger.changes import WIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from iolab.time_ledger.changes import LedgerChange
    from logframe.formats import ParsedLog

#: Findings that are shown open, with the first of those that cannot tell; the others are folded.
MOST: Final = 5
_MOST_CITED: Final = 60
#: Letters of a line at 1440 pixels, and where a longer sentence is divided.
ONE_LINE: Final = 95
#: Letters of a total line that leave room for the second basis.
_BOTH: Final = 80
_STOPS: Final = (r"[:;.] ", r", (?=\d|so |one |at most |bypassing )")
_BEFORE_COMMAS: Final = ("Of ", "From ", "In ", "On ", "Among ", "At ")
_WHOLE: Final = r"(?=[^`]*(?:`[^`]*`[^`]*)*$)(?![^(]*\))"
#: Each mark's shape in a box of 13 by 13, and its word in the key.
_SHAPES: Final = {
    "major": ('<rect x="1.5" y="1.5" width="10" height="10"/>', "major, 20 % or more"),
    "notable": ('<path d="M6.5 1 12.5 12 .5 12z"/>', "notable, 5 to 20 %"),
    "context": ('<circle cx="6.5" cy="6.5" r="4.6" fill="none" stroke-width="2"/>', "context"),
    "cannot tell": ('<path d="M2 2 11 11M11 2 2 11" fill="none" stroke-width="2.4"/>', "cannot tell"),
    "evidence": ('<path d="M6.5.5 12.5 6.5 6.5 12.5.5 6.5z"/>', "problem of the evidence"),
}
_NOTHING: Final = "No finding applies to this log."
#: What the signs of numbers say; and a figure of a sentence that says itself what it is.
_RULES: Final = {"≤": AT_MOST, "?": "?: this log does not show it."}
_SAYS_ITSELF: Final = re.compile(
    r"(?<![\w.,:])(at most )?(?<![\w.,:])(\d[\d,.]*) "
    r"(%|us|ms|s|[KMGT]iB|(?:session|sample|CPU|request|wait|statement|execution|round trip)s?)(?!\w)"
)


class Said(NamedTuple):
    """A sentence that is no finding: its number as text, what to do next, and what its link is called and opens.

    Of sentences about one change `size` is the share of it, for the order.
    """

    number: str
    sentence: str
    step: str = ""
    link: tuple[str, str] | None = None
    size: float = 0.0


def findings_html(findings: pl.DataFrame, *, anchor: str, is_linked: bool = True) -> str:
    """The findings as a list: mark, impact, sentence with a link to its evidence, and why below it.

    Args:
        findings: what `iolab.findings` gives of one log.
        anchor: what the identifiers of the log's evidence begin with, as for `evidence_html`.
        is_linked: whether the rows that findings cite are on the page.

    Examples:
        >>> from iolab.rules.finding import Evidence, Finding, findings_frame
        >>> found = findings_frame([Finding("load", "2 sessions were `on <CPU>`.", evidence=(Evidence("info"),))])
        >>> 'on &lt;CPU&gt;</code>. <a href="#log-1-info">info' in findings_html(found, anchor="log-1")
        True
    """
    if findings.is_empty():
        return f'<p class="nothing">{_NOTHING}</p>'
    rows, last = [], (None, None)
    base = next(iter(findings.get_column("impact_of").drop_nulls().mode(maintain_order=True)), "")
    found = findings.to_dicts()
    refused = next((place for place, row in enumerate(found) if row["refused"]), len(found))
    if refused >= MOST:  # what is not known is not folded
        found[MOST - 1 : MOST - 1] = [found.pop(refused)] if refused < len(found) else []
    for row in found:
        # of several sentences about one part the first has its share
        own = row["part"], row["impact_of"]
        shown = row | {"impact": None} if row["part"] and own == last else row
        rows.append(_row(shown, anchor, base=base, is_linked=is_linked))
        last = own
    heading = f'<p class="base">% of {html.escape(base)}</p>' if base else ""
    kind = "findings" if base else "findings plain"
    parts = [heading, f'<ol class="{kind}">{"".join(rows[:MOST])}</ol>']
    others = f'<ol class="{kind}">{"".join(rows[MOST:])}</ol>'
    more = f"<details><summary>{len(rows) - MOST} more</summary>{others}</details>" if rows[MOST:] else ""
    used = [mark for mark in _SHAPES if mark in findings.get_column("mark").cast(pl.String).to_list()]
    key = "".join(f"<span>{_mark(mark)} {_SHAPES[mark][1]}</span>" for mark in used)
    rules = " ".join(said for sign, said in _RULES.items() if any(f">{sign}</a>" in one for one in rows))
    key += f'<span id="{anchor}-rules">{rules}</span>' if rules else ""
    parts.append(f'<div class="more">{more}<p class="key">{key}</p></div>')
    return "".join(parts)


def _row(row: dict[str, Any], anchor: str, *, base: str, is_linked: bool) -> str:
    number = impact_text(row["impact"], row["impact_lo"])
    if number and row["impact_lo"] and row["impact_hi"] - row["impact_lo"] > max(WIDE * row["impact_hi"], WIDE / 5):
        number = f"{100 * row['impact_lo']:.0f}–{100 * row['impact_hi']:.0f}"
    rules = f"{anchor}-rules"
    number = figure_html("?" if row["refused"] and not number else number, rules)
    if number and row["impact"] is not None and row["impact_of"] != base:
        number += f" <small>{html.escape(row['impact_of'].removeprefix('the '))}</small>"
    links = "".join(_link(one, anchor) for one in row["evidence"][:2]) if is_linked else ""
    below = [_words(row["detail"])] if row["detail"] else []
    if row["caveat"]:
        below.append(f"<b>note</b> {_words(row['caveat'])}")
    number = number or (_own_figure(row["sentence"], rules) if base else "")
    head = f'<li title="{html.escape(_about(row["name"]))}">{_mark(str(row["mark"]))}'
    return head + _columns(number, row["sentence"], links, below, row["next"] or "")


def _own_figure(sentence: str, rules: str) -> str:
    """The first figure of a sentence that has no share, with what it is, as HTML; without one that it is a fact.

    Examples:
        >>> _own_figure("Reads averaged 8.01 KiB (9 requests).", ""), _own_figure("`a.dbf` was opened.", "")
        ('8.01 <small>KiB</small>', '<small>fact</small>')
        >>> _own_figure("That is at most 21.3 us per block.", "r")
        '<a href="#r" title="how this bound is found">≤</a> 21.3 <small>us</small>'
    """
    found = _SAYS_ITSELF.search("".join(sentence.split("`")[::2]))
    if not found:
        return "<small>fact</small>"
    return f"{figure_html(f'<={found[2]}' if found[1] else found[2], rules)} <small>{found[3]}</small>"


def in_one_line(sentence: str) -> tuple[str, str]:
    """What of a sentence fits in one line of a wide screen, and the rest, which stands below.

    Examples:
        >>> in_one_line(f"{'x' * 80}: 140 waits of 1.46 ms; half of them took at most 1.59 ms.")[1]
        '140 waits of 1.46 ms; half of them took at most 1.59 ms'
        >>> in_one_line("Reads took 2 ms: slow.")
        ('Reads took 2 ms: slow.', '')
    """
    stops = _STOPS[: 1 if sentence.startswith(_BEFORE_COMMAS) else 2]
    ends = [one.span() for stop in stops for one in reversed([*re.finditer(stop + _WHOLE, sentence)])]
    if not ends or len(sentence.replace("`", "")) <= ONE_LINE:
        return sentence, ""
    # of a sentence that begins with long names even the first stop is too far
    fits = (one for one in ends if len(sentence[: one[0]].replace("`", "")) < ONE_LINE)
    end, start = next(fits, min(ends))
    return f"{sentence[:end]}.", sentence[start:].removesuffix(".")


def _columns(number: str, sentence: str, links: str, below: list[str], following: str) -> str:
    """Number, sentence in one line with its links as HTML, what stands below it, and what to do next."""
    said, rest = in_one_line(sentence)
    below = [capital(one) for one in (_words(rest), *below)] if rest else below
    said, following = _words(said) + links, _words(following)
    second = f'<p class="detail">{". ".join(below)}</p>' if below else ""
    third = f'<p class="detail next"><b>next</b> {following}</p>' if following else ""
    return f'<span class="impact">{number}</span><div><p>{said}</p>{second}</div>{third}</li>'


def sentences_html(rows: Iterable[Said], *, base: str = "") -> str:
    """Sentences that are no findings: number, sentence with its link, and what to do next of each.

    Examples:
        >>> sentences_html([Said("66", "`read` rose.", "", ("both rows", "read"))], base="% of the change")
        '<p class="base">% of the change</p><ol class="findings unmarked"><li><span
        class="impact">66</span><div><p><code>read</code> rose. <a
        href="#read">both rows&nbsp;›</a></p></div></li></ol>'
    """
    shown = list(rows)
    items = "".join(
        f"<li>{_columns(number, one.sentence, _link_to(one.link), [], one.step)}"
        for one in shown
        for number in [figure_html(one.number, "") or _own_figure(one.sentence, "")]
    )
    kind = "findings unmarked" if any(one.number for one in shown) else "findings unmarked plain"
    return (f'<p class="base">{html.escape(base)}</p>' if base else "") + f'<ol class="{kind}">{items}</ol>'


def verdict_html(change: LedgerChange, warning: str = "") -> str:
    """How a total changed, and that per unit of work, in one line; what makes it doubtful stands before it.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> one, other = (Account(Interval.exact(seconds), "DB time").ledger() for seconds in (20, 10))
        >>> "<b class=large>20 → 10 s</b> of DB time<span> (−50 %); no part" in verdict_html(one.compare(other))
        True
    """
    said = change.sentence
    if change.is_shared:
        base = "" if (change.unit, change.base) == ("sessions active", "DB time") else f" of {change.subject}"
        ratio = change.ratio.replace("-", "−")
        said = f"{_arrow(change)} {change.unit}{base}{ratio}{change.cause(is_short=True)}"
    lead = ""
    if (work := change.per_work) is not None:
        lead = f"Per transaction: {_arrow(work)} {work.unit.partition(' ')[0]}."
        said, lead = (said, f'<p class="lead">{lead}</p>') if len(said) > _BOTH else (f"{said} {lead}", "")
    return f'<p class="verdict">{large_html(f"{warning} {said}".strip(), 2)}</p>{lead}'


def _arrow(change: LedgerChange) -> str:
    return f"{figure_text(change.a.value)} → {figure_text(change.b.value)}"


def part_anchor(change: LedgerChange, part: str) -> str:
    """The identifier of a part of a change: of two changes with the same totals either will do."""
    name = f"from-{change.a.value:.6g}-to-{change.b.value:.6g}-{part}".casefold()
    return "".join(one if one.isalnum() else "-" for one in name).strip("-")


def moves_html(change: LedgerChange, drawn: str, others: Iterable[Said] = ()) -> str:
    """The parts that hold a change, with their shares of it and what to do next; then others, at most five in all.

    Args:
        change: what changed.
        drawn: its picture: below the sentences, on a phone above them.
        others: sentences about the same change.
    """
    rows = [
        Said(f"{100 * share:.0f}" if share else "", said, step, ("rows", part_anchor(change, part)), share or 0.0)
        for share, said, step, part in change.moves
    ]
    base = "% of the change" if any(one.number for one in rows) else ""
    rows = sorted([*rows, *others][:MOST], key=lambda one: -abs(one.size))
    said = sentences_html(rows, base=base) if rows else ""
    return f'<div class="first"><div>{said}</div><div class="beside-findings"><div>{drawn}</div></div></div>'


def _about(name: str) -> str:
    """What docs/findings.md says of a finding, as it appears beside the pointer."""
    meaning = meanings().get(name)
    if meaning is None:
        return name
    caution = f" Caution: {meaning.caution}" if meaning.caution else ""
    return f"{name}: {meaning.matters}{caution} Refuted by: {meaning.refuted_by}."


def _link(one: dict[str, Any], anchor: str) -> str:
    table, rows, lines = one["table"], one["rows"], one["lines"]
    said = table.replace("_", " ")
    if lines:
        said = f"line {lines[0]:,}"
    elif rows:
        said = f"{len(rows)} {'row' if len(rows) == 1 else 'rows'} of {said}"
    return _link_to((said, f"{anchor}-{table}"))


def _link_to(link: tuple[str, str] | None) -> str:
    return f' <a href="#{html.escape(link[1])}">{html.escape(link[0])}&nbsp;›</a>' if link else ""


def _mark(mark: str) -> str:
    shape, word = _SHAPES[mark]
    kind = mark.replace(" ", "-")
    return (
        f'<svg class="mark {kind}" width="13" height="13" viewBox="0 0 13 13" role="img" '
        f'aria-label="{html.escape(word)}">{shape}</svg>'
    )


def _words(value: object) -> str:
    """A text with what is between backticks in code font, and bounds in brackets in grey."""
    parts = html.escape(str(value), quote=False).split("`")
    if len(parts) % 2 == 0:
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def evidence_html(
    log: ParsedLog, findings: pl.DataFrame, *, anchor: str, shown: Mapping[str, pl.DataFrame] | None = None
) -> tuple[str, set[str]]:
    """The rows that findings cite, by table; each table has the identifier that the links of `findings_html` go to.

    Args:
        log: the log.
        findings: its findings.
        anchor: what identifiers begin with.
        shown: tables that the page has anyway.

    Returns:
        The tables as HTML, and the names of those that are shown anyway and cited whole: they are not among them.
    """
    cited: dict[str, tuple[list[str], list[int]]] = {}
    for row in findings.iter_rows(named=True):
        for one in row["evidence"]:
            names, lines = cited.setdefault(one["table"], ([], []))
            names += one["rows"]
            lines += one["lines"]
    parts: list[str] = []
    whole: set[str] = set()
    for table, (names, lines) in cited.items():
        frame = frame_of(log, table)
        rows = frame if frame is None else _cited_rows(frame, names, lines)
        if rows is not None and (other := (shown or {}).get(table)) is not None and rows.height == other.height:
            whole.add(table)
            continue
        body = "<p>Of the whole log.</p>" if rows is None or rows.is_empty() else frame_html(rows, most=_MOST_CITED)
        title = html.escape(table.replace("_", " "))
        parts.append(f'<section class="cited" id="{anchor}-{table}"><h4>{title}</h4>{body}</section>')
    return "".join(parts), whole


def frame_of(log: ParsedLog, table: str) -> pl.DataFrame | None:
    """A table of a log that findings cite; None where it is not one of its frames."""
    if table == "diagnostics":
        return log.diagnostics
    getter = getattr(log, "__getitem__", None)
    if getter is not None:  # a report builds its tables when they are asked for
        try:
            found = getter(table)
        except KeyError:
            return None
        return found if isinstance(found, pl.DataFrame) else None
    frame = log.frames().get(table)
    return None if frame is None else frame.lazy().collect()


def _cited_rows(frame: pl.DataFrame, names: list[str], lines: list[int]) -> pl.DataFrame:
    """The rows that hold a name in one of their text columns, or are of the lines; without names the first rows."""
    if lines and "line" in frame.columns:
        return frame.filter(pl.col("line").is_in(lines))
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    for column in texts if names else ():
        lower = pl.col(column).str.to_lowercase()
        found = frame.filter(lower.is_in([name.lower() for name in names]))
        if found.height:
            return found
    if names and "statement" in frame.columns:
        return frame.filter(pl.col("statement").cast(pl.String).is_in(names))
    return frame
