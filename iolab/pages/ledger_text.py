"""The first screen of a log on a terminal: what it is, the total, the ledger with bars, sentences, what to do next."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import polars as pl

from iolab.pages.ledger_rows import LARGE, LEAST, count_head, ledger_rows, view_head
from iolab.rules.finding import OF_SAMPLES
from iolab.rules.time_parts import NEARLY_ALL, VIEWS, sentence
from iolab.time_ledger.parts import ASIDE, NO_STATEMENT, UNKNOWN
from logframe.oracle import WAIT_CLASSES
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from iolab.pages.ledger_rows import Row
    from iolab.time_ledger.account import Ledger

#: A finding and the lines of its sentence.
Said: TypeAlias = tuple[dict[str, Any], list[str]]
#: Findings that the line of the total says.
_TOTALS: Final = ("total", "load", "no_total")
#: Problems of the evidence that correct figures a little: their step is not the first.
_CORRECTIONS: Final = ("trace_clock", "impossible_figure")
#: Findings that say no more than a row.
_AS_ROWS: Final = ("idle_processors",)
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
#: Lines of a block; `iolab show --all` has no limit.
MOST_LINES: Final = 18
#: Lines of a block with room for sentences.
USUAL_LINES: Final = 15
_MOST_SENTENCES: Final = 5
#: Lines of sentences for which small parts are folded, those on every screen, and sentences among the first without
#: a share.
_WANTED_SENTENCES: Final = 3
_LEAST_SENTENCES: Final = 2
_FIRST: Final = 2
#: A fact with this much of the time that no row shows is the main one.
_HALF: Final = 0.5
#: A part that is explained leads where no other one of its table is larger by this factor.
_NEARLY: Final = 0.75
#: Parts below these shares are folded, the first one with which the tables leave lines for sentences.
_FOLDED_BELOW: Final = (LEAST, 0.05, LARGE)
#: Sentences above the tables begin on this line at the latest, in one paragraph where needed; the second on the next.
_FIRST_LINES: Final = 3
#: What explains nothing is one of them where they have few lines, or the tables are small.
_FEW_LINES: Final = 4
_WIDE: Final = 100
#: What a bar has for time that a part may hold, by whether block characters may be used.
_POSSIBLE: Final = {True: "░", False: "."}
#: Narrower terminals have shorter bars.
_NARROW: Final = 90
_LEAST_WIDTH: Final = 60


def plain(text: str, role: str) -> str:
    """The text without colour."""
    del role  # without colours all roles are alike
    return text


def first_screen(
    findings: pl.DataFrame,
    ledger: Ledger | None,
    *,
    width: int = _WIDE,
    is_whole: bool = False,
    columns: pl.DataFrame | None = None,
    style: Callable[[str, str], str] = plain,
    is_utf8: bool = True,
) -> str:
    """The block of a log below its first line, usually 14 lines of 100 columns, at most 17.

    Args:
        findings: what `iolab.findings` gives of the log.
        ledger: its lead ledger; None of a log that states no times.
        width: of the terminal, in columns; at most 100 are used.
        is_whole: all sentences, each with its detail; else at most 18 lines with the first one, usually 15.
        columns: texts to show of statements instead of count and average, by ``part``.
        style: gives a text of a role (a mark, or ``dim``) its colour.
        is_utf8: whether bars may be drawn with block characters.
    """
    width = max(_LEAST_WIDTH, min(width, _WIDE))
    lines: list[str] = []
    tables: list[str] = []
    if ledger is not None and ledger.void:
        lines += textwrap.wrap(printable(f"no total: {ledger.void}"), width)
    elif ledger is not None:
        lines += textwrap.wrap(printable(ledger.text or ledger.base), width, break_on_hyphens=False)
        for least in [LEAST] if is_whole else _FOLDED_BELOW:
            tables = list(_tables(ledger, width, least, columns=columns, is_utf8=is_utf8, style=style))
            if len(lines) + len(tables) + _WANTED_SENTENCES + 2 <= USUAL_LINES:
                break
    unknown = [cut(one, width) for one in _cannot_tell(findings, is_whole=is_whole)[: 3 if is_whole else 1]]
    said = [
        (row, _wrapped(row["sentence"], width))
        for row in sentences(findings, is_whole=is_whole, has_ledger=ledger is not None)
    ]
    little = () if ledger is None or ledger.void else _CORRECTIONS
    gates = [row for row, _ in said if row["mark"] == "evidence" and row["name"] not in little]
    parents, repeats = _parents(ledger), _row_sentences(ledger)
    lead = None if ledger is None or ledger.void else _lead(said, parents, repeats)
    leading = [] if lead is None else [lead]
    if lead is not None:
        said.remove(lead)
        for one in _beside(said, lead, ledger, parents) if ledger is not None and not is_whole else ():
            above, is_first = len(lines) + sum(len(text) for _, text in [*leading, one]), leading == [lead]
            is_short = above <= _FEW_LINES or (is_first and above + len(tables) <= USUAL_LINES - 2)
            begin = len(lines) + len(_wrapped(_paragraph([*leading, one]), width))
            if one in said and (is_short or one in _causes(said, lead)) and begin <= _FIRST_LINES + is_first:
                said.remove(one)
                leading.append(one)
        lines += [style(line, mark) for mark, text in _paragraphs(leading, len(lines), width) for line in text]
        if is_whole:
            lines += [f"    {line}" for line in _details(lead[0], width - 4)]
    if not is_whole:
        left, least = (
            USUAL_LINES - 2 - len(lines) - len(tables),
            _LEAST_SENTENCES - sum(len(text) for _, text in leading),
        )
        if left - len(unknown) < least:
            unknown = []  # refusals are cut first
        most_lines = max(left - len(unknown), least)
        said = _chosen(said, parents | _aside(ledger), repeats, most_lines) if most_lines > 0 else []
    shown: list[str] = []
    for row, text in said:
        shown += [style(line, str(row["mark"])) for line in text]
        if is_whole:
            shown += [f"    {line}" for line in _details(row, width - 4)]
    causes = [one[0] for other in leading for one in _causes(leading, other)]
    first = [*causes, *(row for row, _ in leading if row["part"] not in parents)]
    steps = [*gates, *first, *sorted((row for row, _ in [*leading, *said]), key=lambda row: _urgency(row, parents))]
    steps = [row for row in [*steps, *findings.iter_rows(named=True)] if row["next"] and not row["refused"]]
    after = [cut(f"next: {row['next']}", width) for row in steps[:1]]
    return "\n".join([*lines, *tables, *shown, *(style(line, "dim") for line in [*after, *unknown])])


def _paragraphs(leading: Sequence[Said], above: int, width: int) -> Iterator[tuple[str, list[str]]]:
    """Sentences, each with lines of its own; the last ones in one paragraph where the last would begin too low."""
    for start in range(len(leading) - 1, -1, -1):
        before = above + sum(len(text) for _, text in leading[:start])
        if not start or before + len(_wrapped(_paragraph(leading[start:]), width)) <= _FIRST_LINES:
            yield from ((str(row["mark"]), text) for row, text in leading[:start])
            whole = " ".join(row["sentence"] for row, _ in leading[start:])
            yield str(leading[start][0]["mark"]), _wrapped(whole, width)
            return


def _paragraph(several: Sequence[Said]) -> str:
    """Sentences up to the first word of the last one: the lines up to that with which it begins."""
    return " ".join([*(row["sentence"] for row, _ in several[:-1]), several[-1][0]["sentence"].split(" ")[0]])


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), width, break_long_words=False, break_on_hyphens=False)


def _parents(ledger: Ledger | None) -> set[str]:
    """The events and calls of a ledger that have parts themselves; a statement says more than its events.

    But for a class that is larger than the largest event, which is of another class: its sentence names its events.
    """
    if ledger is None or ledger.void or "what" not in ledger.views:
        return set()
    parts = ledger.parts("what").filter(~pl.col("kind").is_in([*UNKNOWN]), pl.col("own_lo") > 0)
    parents = set(ledger.frame.filter(pl.col("view") == "what").get_column("parent").drop_nulls())
    is_parent = pl.col("part").is_in([*parents])
    for top in parts.filter(~is_parent).sort("own_lo", descending=True).head(1).iter_rows(named=True):
        larger = parts.filter(is_parent, pl.col("own_lo") > top["own_lo"], pl.col("part") == pl.col("class"))
        parents -= {*larger.get_column("part")} - {top["parent"]}
    return parents


def _urgency(row: dict[str, Any], parents: set[str]) -> tuple[int, float]:
    """Whose next step is the block's: that of a fact among the first two, else of the largest part without parts."""
    if row["impact_lo"] is None:
        return (0 if row["rank"] <= _FIRST else 3), row["rank"]
    return (2 if row["part"] in parents else 1), -row["impact_lo"]


def _lead(said: list[Said], parents: set[str], repeats: set[str]) -> Said | None:
    """The sentence above the table: that there are other reports, what was too much for a host, a fact, else a share.

    A fact is one that its rule puts before all parts.  Of the largest shares half the time without a row leads, else
    one that says more than its row.
    """
    several = [one for one in said if one[0]["name"] == "several_reports"]
    if first := several or _severe(said):
        return first[0]
    named = [one for one in said if one[0]["part"] != NO_STATEMENT]
    shares = [one for one in named if one[0]["impact_lo"] is not None and one[0]["impact_lo"] >= LARGE]
    facts = [one for one in said if one[0]["impact_lo"] is None and one[0]["mark"] == "context"]
    parts = [row["rank"] for row, _ in said if row["part"] is not None]
    if facts and parts and facts[0][0]["rank"] < min(parts):  # its rule puts it before all parts
        return facts[0]
    if not shares:  # of a log in which no part is large, the fact that its rules say first
        return next((one for one in said[:1] if one[0]["mark"] == "context"), None)
    least = max(row["impact_lo"] for row, _ in shares) / 2
    leaves = [row for row, _ in shares if row["part"] not in {*parents, *WAIT_CLASSES} and row["name"] != VIEWS["who"]]
    largest = max((row["impact_lo"] for row in leaves), default=0.0)

    def weight(one: Said) -> tuple[bool, bool, bool, float]:
        row = one[0]
        is_large = row["name"] == VIEWS["who"] or row["impact_lo"] >= _NEARLY * largest
        is_explained = is_large and row["mark"] == "major" and bool(_causes(said, one))
        is_more = is_explained or (is_large and row["sentence"] not in repeats and row["part"] not in parents)
        return row["part"] is None and row["impact_lo"] >= _HALF, is_explained, is_more, row["impact_lo"]

    lead = max((one for one in shares if one[0]["impact_lo"] >= least), key=weight)
    ahead = next((one for one in named if one[0]["part"] is not None), lead)
    if ahead[0]["name"] == lead[0]["name"] == VIEWS["who"] and ahead[0]["impact_lo"] < lead[0]["impact_lo"]:
        return ahead  # its rule puts it before a larger one
    if lead[0]["name"] != VIEWS["who"] or lead[0]["sentence"] not in repeats:
        return lead
    # a statement whose sentence is its row says less than a wait with its cause
    explained = (one for one in shares if one[0]["mark"] == "major" and _causes(said, one))
    return max(explained, key=lambda one: float(one[0]["impact_lo"]), default=lead)


def _severe(said: list[Said]) -> list[Said]:
    """What was too much for a host in many samples: no row of a table says it, and busy CPUs are one of these facts."""
    return [one for one in said if one[0]["impact_of"] == OF_SAMPLES and one[0]["mark"] == "major"]


def _causes(said: list[Said], one: Said) -> list[Said]:
    """What stands below the own sentence of an event or call: its place or cause."""
    part, rank, name = one[0]["part"], one[0]["rank"], one[0]["name"]
    is_what = part is not None and name != VIEWS["who"]
    return [other for other in said if is_what and other[0]["part"] == part and other[0]["rank"] > rank]


def _beside(said: list[Said], lead: Said, ledger: Ledger, parents: set[str]) -> list[Said]:
    """What may stand beside it: what was too much for a host; its cause; the largest wait, or statement, of the other.

    A wait beside a statement, or the reverse, is of 20 % or more; one with its cause stands beside CPU, too.
    """
    is_both = {"what", "who"} <= {*ledger.views}
    who = set(ledger.parts("who").filter(~pl.col("kind").is_in([*UNKNOWN]))["part"]) if is_both else set[str]()
    cpu = {*ledger.frame.filter(pl.col("view") == "what", pl.col("kind") == "cpu").get_column("part")}
    others = [
        one
        for one in said
        if (who or not lead[0]["part"]) and one[0]["part"] and one[0]["part"] not in parents
        if (one[0]["mark"] == "major" and (f"`{one[0]['part']}`" not in lead[0]["sentence"] or _causes(said, one)))
        or (lead[0]["part"] in cpu and one[0]["impact_lo"] and _causes(said, one))
        if lead[0]["part"] in {*parents, *cpu, None} or (one[0]["part"] in who) != (lead[0]["part"] in who)
    ]
    most = max((one[0]["impact_lo"] for one in others), default=0.0)
    others.sort(key=lambda one: (one[0]["impact_lo"] < most / 2 or not _causes(said, one), -one[0]["impact_lo"]))
    causes = [one for other in others[:1] for one in _causes(said, other)]
    about = f"`{str(lead[0]['part']).partition(' ')[0]}` "
    same = [one for one in said if lead[0]["name"] == VIEWS["who"] and one[0]["sentence"].startswith(about)]
    same = [one for one in same if f" in `{str(one[0]['part']).rpartition('/')[2]}`" not in lead[0]["sentence"]]
    return [*_severe(said)[:1], *_causes(said, lead)[:2], *same[:1], *others[:1], *causes[:1]]


def _chosen(said: list[Said], as_rows: set[str], repeats: set[str], most_lines: int) -> list[Said]:
    """The sentences that fit: at most five, those first that say more than rows of the table, the largest first."""
    leaves = [row for row, _ in said if row["impact_lo"] is not None and row["part"] not in as_rows]
    most = max(leaves, key=lambda row: row["impact_lo"], default=None)

    def weight(number: int) -> tuple[bool, bool, float, int]:
        row = said[number][0]
        first = row["mark"] == "evidence" or (row["impact"] is None and row["rank"] <= _FIRST)
        is_row = row is not most and (row["sentence"] in repeats or row["part"] in as_rows)
        return not first, is_row, -(row["impact_lo"] or 0.0), number

    kept: list[int] = []
    for number in sorted(range(len(said)), key=weight):
        if len(kept) < _MOST_SENTENCES and sum(len(said[n][1]) for n in [*kept, number]) <= most_lines:
            kept.append(number)
    if not kept:
        return said[:1]
    return [said[number] for number in sorted(kept, key=lambda number: (*weight(number)[:1], *weight(number)[2:]))]


def _aside(ledger: Ledger | None) -> set[str]:
    """The parts of a ledger that are beside its total."""
    if ledger is None or ledger.void:
        return set()
    return set(ledger.frame.filter(pl.col("kind").is_in(list(ASIDE))).get_column("part"))


def _row_sentences(ledger: Ledger | None) -> set[str]:
    """The sentences that say of a part what its row says."""
    if ledger is None or ledger.void:
        return set()
    views = [view for view in VIEWS if view in ledger.views]
    return {sentence(ledger, row) for view in views for row in ledger.parts(view).iter_rows(named=True)}


def sentences(findings: pl.DataFrame, *, is_whole: bool, has_ledger: bool) -> list[dict[str, Any]]:
    """The findings whose sentence stands on a screen below the ledger.

    The total stands above it; a part whose child holds nearly all of it says no more than the child.
    """
    rows = [row for row in findings.iter_rows(named=True) if not row["refused"]]
    if has_ledger:
        rows = [row for row in rows if row["name"] not in _TOTALS]
    if is_whole:
        return rows
    rows = [row for row in rows if row["name"] not in _AS_ROWS and not _is_small(row)]
    return [row for number, row in enumerate(rows) if not _is_repeated(row, rows[number + 1 :])]


def below_ledger(findings: pl.DataFrame, ledger: Ledger | None) -> pl.DataFrame:
    """The findings that a page or notebook shows below the total and the parts: those sentences, and all refusals."""
    if ledger is None:
        return findings
    ranks = [row["rank"] for row in sentences(findings, is_whole=False, has_ledger=True)]
    return findings.filter(pl.col("refused") | pl.col("rank").is_in(ranks))


def _is_repeated(row: dict[str, Any], later: Sequence[dict[str, Any]]) -> bool:
    """Whether the next finding is of a child with nearly all of the part's time; such a part has nothing to add."""
    if not row["part"] or row["name"] != "time_profile" or not later or row["impact"] is None:
        return False
    child = later[0]
    is_child = child["part"] is not None and child["impact"] is not None and child["impact"] <= row["impact"]
    is_child = is_child and child["part"] != row["part"]
    return bool(is_child and child["name"] != "main_statement" and child["impact"] >= NEARLY_ALL * row["impact"])


def _details(row: dict[str, Any], width: int) -> list[str]:
    found = []
    for label, name in (("", "detail"), ("note: ", "caveat"), ("next: ", "next")):
        if row[name]:
            found += textwrap.wrap(printable(label + row[name]), width, break_long_words=False)
    return found


def _cannot_tell(findings: pl.DataFrame, *, is_whole: bool) -> list[str]:
    refused = findings.filter(pl.col("refused")).iter_rows(named=True)
    shown = [row for row in refused if is_whole or not _is_small(row)]
    return [row["sentence"] + (f" next: {row['next']}" if row["next"] else "") for row in shown]


def _is_small(row: dict[str, Any]) -> bool:
    """Whether a finding is of so little of the time that its row would be folded."""
    return row["impact_hi"] is not None and row["impact_hi"] < LEAST and row["mark"] != "evidence"


def _tables(
    ledger: Ledger,
    width: int,
    least: float,
    *,
    columns: pl.DataFrame | None,
    is_utf8: bool,
    style: Callable[[str, str], str],
) -> Iterator[str]:
    """The tables of what took the time and of the statements, with parts below a share folded."""
    mark = _POSSIBLE[is_utf8]
    is_twice = is_marked = False
    if set(ledger.frame.get_column("kind")) == {"not_in_log"}:
        return  # one part that is not divided
    for view in [view for view in ("what", "who") if view in ledger.views] or ledger.views[:1]:
        if view == "who" and ledger.unshared and least > LEAST:
            continue  # of a database that was idle no statement matters
        rows = ledger_rows(ledger, view, least=least)
        yield from _table(ledger, view, rows, width, columns=columns, is_utf8=is_utf8, style=style)
        is_twice |= any(row.kind == "counted_twice" and row.percent for row in rows)
        is_marked |= any(mark in _bar(row, _bar_width(width), is_utf8=is_utf8) for row in rows)
    if is_twice and is_marked:
        yield cut(f"{mark} at most: the log does not show which part holds what is counted twice", width)


def _table(
    ledger: Ledger,
    view: str,
    rows: list[Row],
    width: int,
    *,
    columns: pl.DataFrame | None,
    is_utf8: bool,
    style: Callable[[str, str], str],
) -> list[str]:
    if not rows:
        return []
    largest = max(rows, key=lambda row: row.lo or 0.0)
    # Time without a name comes first where it is the largest part.
    if view == "what" and largest.kind in UNKNOWN and largest.level == 0:
        rows = [largest, *(row for row in rows if row is not largest)]
    bar = _bar_width(width)
    extra = _columns(rows, columns)
    heads = ["%", "time", *(extra[0] if extra else (count_head(ledger, view, rows), "average"))]
    cells = [
        [row.percent, row.time, *(extra[1][n] if extra else (row.count, row.average))] for n, row in enumerate(rows)
    ]
    kept = [n for n in range(len(heads)) if any(one[n] for one in cells)]
    wide = {n: max(len(heads[n]), *(len(one[n]) for one in cells)) for n in kept}
    has_bars = any(row.hi is not None for row in rows)
    lines = []
    for row, one in zip(rows, cells, strict=True):
        drawn = f"{_bar(row, bar, is_utf8=is_utf8):{bar}}  " if has_bars else ""
        figures = "  ".join(f"{one[n]:>{wide[n]}}" for n in kept)
        lines.append(cut(f"{drawn}{figures}  {'  ' * row.level}{row.name}", width))
    head = "  ".join(f"{heads[n]:>{wide[n]}}" for n in kept)
    title = f"{' ' * (bar + 2) if has_bars else ''}{head}  {view_head(ledger, view, rows)}"
    return [style(cut(title, width), "dim"), *lines]


def _columns(rows: Sequence[Row], columns: pl.DataFrame | None) -> tuple[list[str], list[list[str]]] | None:
    """Texts to show instead of count and average, where the format has them for these rows."""
    if columns is None or columns.is_empty() or not {row.part for row in rows} & set(columns["part"].to_list()):
        return None
    names = [name for name in columns.columns if name != "part"]
    by_part: Mapping[str, dict[str, Any]] = {row["part"]: row for row in columns.iter_rows(named=True)}
    found = [[str(by_part.get(row.part or "", {}).get(name) or "") for name in names] for row in rows]
    return [name.replace("_", " ") for name in names], found


def _bar_width(width: int) -> int:
    return 16 if width >= _NARROW else 8


def _bar(row: Row, width: int, *, is_utf8: bool) -> str:
    """A bar of a share of the total: solid what is certain, light what is possible, shaded inside the row above."""
    if row.lo is None or row.hi is None or row.kind == "counted_twice":
        return ""
    lo, hi = min(row.lo, 1.0) * width, min(row.hi, 1.0) * width
    if hi - lo < width * 0.02 and row.level == 0:
        return bar_text((lo + hi) / 2 / width, width, is_utf8=is_utf8)
    solid = ("▒" if row.level else "█") if is_utf8 else ("=" if row.level else "#")
    possible = _POSSIBLE[is_utf8]
    certain = round(lo)
    return solid * certain + (possible * (round(hi) - certain) if hi - lo >= width * 0.02 else "")


def bar_text(share: float, width: int, *, is_utf8: bool) -> str:
    """A bar of this many columns for a share of 1; in eighths of a column where block characters may be used.

    Examples:
        >>> bar_text(0.5, 8, is_utf8=True), bar_text(0.27, 8, is_utf8=True), bar_text(0.5, 8, is_utf8=False)
        ('████', '██▏', '####')
    """
    eighths = max(round(share * width * 8), 1) if share > 0 else 0
    return _EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8].strip() if is_utf8 else "#" * round(share * width)


def cut(text: str, width: int) -> str:
    """A text on one line of a terminal, with an ellipsis where it is cut."""
    text = printable(text)
    return text if len(text) <= width else f"{text[: width - 3].rstrip()}..."
