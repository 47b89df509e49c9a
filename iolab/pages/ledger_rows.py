"""The rows of a ledger as a screen or a page shows them: large parts, small ones folded, figures as texts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import count_text, time_text
from iolab.rules import phrases
from iolab.rules.time_parts import repeats_parent
from iolab.time_ledger.parts import ASIDE, BLOCK_TIME, UNKNOWN
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.time_ledger.account import Ledger

#: Parts below this share of the total are folded into one row; on a page, those within a part below the second.
LEAST: Final = 0.03
PAGE_LEAST: Final = 0.01
#: Statements and the like from here on have a row of their own.
LARGE: Final = 0.10
#: This many rows of statements are shown where only a few are large.
_FEW_WHO: Final = 3
#: Statements that a page shows.
_PAGE_WHO: Final = 8
#: Blocks that enclose statements, on a page.
_MOST_BLOCKS: Final = 5
#: Small parts are folded where more rows would stand above the closing part.
_MOST_ROWS: Final = 6
#: Children of one part that are shown.
_MOST_CHILDREN: Final = 4
#: What is printed of a share that is nearly 0.
_NOTHING: Final = ("0.0", "<0.1")
#: Names of what closes a sum, and what it is called where the rounding of the printed figures explains it.
_OF_SUMS: Final = ("not accounted for", "counted twice")
_ROUNDING: Final = "rounding of the printed figures"
#: Bounds that touch 0 are this near to it.
_TOUCH_S: Final = 1e-9
#: A share is shown as a range where its bounds are apart by more than this, and by more than a point.
_RANGE: Final = 0.05
_POINT: Final = 0.01
#: What the rows of a view are.
HEADS: Final = {"what": "part", "phase": "phase", "who": "statement", "where": "where", "when": "time"}


@dataclass(frozen=True, slots=True)
class Row:
    """One row as shown.

    Attributes:
        part: its id; of folded parts None.
        level: its depth.
        kind: as in `PARTS`; of folded parts `mixed`.
        wait_class: the class, for a colour.
        name: what it is called.
        lo, hi: what is certainly, and at most, its share: for a bar; None where there are no shares.
        percent, time, count, average: figures as texts; empty without any.
        row: the row of `Ledger.parts`; None of folded parts; its level is deeper where a part is all of its parent.
        seconds: its time with bounds; None where it is not in the sum.
        each: its average in s, where there is an `average`.
    """

    part: str | None
    level: int
    kind: str
    wait_class: str | None
    name: str
    lo: float | None
    hi: float | None
    percent: str
    time: str
    count: str
    average: str
    row: dict[str, Any] | None = None
    seconds: tuple[float, float, float] | None = None
    each: float | None = None


def ledger_rows(ledger: Ledger, view: str, *, least: float = LEAST) -> list[Row]:
    """The rows of a view: large parts, the others folded where they are many, the closing part always.

    Args:
        ledger: the account of a log.
        view: one of its views.
        least: parts below this share are folded; above `LEAST` a closing part of about 0 stands in the row of those.
            With `PAGE_LEAST` nothing is left out of the sum: what is folded has rows of its own.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> account = Account(Interval.exact(100), "DB time")
        >>> for name, seconds in (("User I/O", 70), ("Commit", 2), ("Network", 1), ("Other", 2.5)):
        ...     _ = account.add("what", name, Interval.exact(seconds), kind="wait")
        >>> for row in ledger_rows(account.ledger(), "what"): print(row.percent, row.time, row.name)
        70.0 70 s User I/O
        2.5 2.5 s Other
        2.0 2 s Commit
        1.0 1 s Network
        24.5 24.5 s not accounted for
    """
    rows = _shown(ledger, ledger.parts(view).to_dicts(), view, least)
    return rows if ledger.unit == "s" else [replace(row, time="", average="") for row in rows]


def view_head(ledger: Ledger, view: str, rows: list[Row]) -> str:
    """What the rows of a view are: statements, or processes where the log is of those; and which period of two."""
    tables = {row.row["evidence"]["table"] for row in rows if row.row is not None and row.row["evidence"] is not None}
    head = "process" if view == "who" and tables and tables <= {"process", "calls", "events"} else HEADS[view]
    return f"{head}, {ledger.scope}" if ledger.scope.endswith(" period") else head


def count_head(ledger: Ledger, view: str, rows: list[Row]) -> str:
    """What the counts of the rows are; of waits beside calls, statements or CPU just counts.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> account = Account(Interval.exact(100), "DB time")
        >>> for name, kind in (("1vd9kx4rs6b7y", "mixed"), ("waits between calls", "wait")):
        ...     _ = account.add("who", name, Interval.exact(40), kind=kind, count=Interval.exact(9))
        >>> ledger = replace(account.ledger(), counted={"who": "executions"})
        >>> rows = ledger_rows(ledger, "who")
        >>> count_head(ledger, "who", rows), count_head(ledger, "who", rows[:1])
        ('count', 'executions')
    """
    noun = ledger.counted.get(view, "count")
    others = {"cpu", "mixed"} if noun == "waits" else {"wait", "client"} if view == "who" else set[str]()
    is_mixed = any(row.count and row.kind in others for row in rows)
    return "count" if is_mixed else noun


def _shown(ledger: Ledger, rows: list[dict[str, Any]], view: str, least: float) -> list[Row]:
    if view == "who":
        found: list[Row] = []
        is_page = least < LEAST
        is_only = is_page or len(ledger.views) == 1
        large, few, unknown, below = _who(ledger, rows, is_only=is_only)
        most = (max(0, _PAGE_WHO - len(large)) if is_page else _FEW_WHO) if is_only else 0
        most = min(most, sum(_row(row).percent not in _NOTHING for row in few)) if is_page else most
        most = len(few) if len(few) == most + 1 else most
        for row in [*large, *few[:most]]:
            found += [_row(row), *_children(ledger, rows, row, LARGE)]
        folded = few[most:]
        if folded and least > LEAST:  # where rows are many, one for all that has no row
            folded, unknown = [*folded, *unknown], []
        rest = [_rest_of(ledger, [*folded, *below])] if folded or below else []
        if is_page:  # nothing is left out of the sum
            rest = [row for row in rest if row.percent not in _NOTHING]
        else:
            rest = [row for row in rest if (row.hi or 1.0) >= (_POINT if folded else LEAST)]
        found += _contains(ledger, rows) if is_page else ()
        return [*found, *rest, *map(_row, unknown)]
    shown: list[Row] = []
    small: list[dict[str, Any]] = []
    closing: list[Row] = []
    aside: list[Row] = []
    tops = [row for row in rows if row["level"] == 0]
    least_top = least if least >= LEAST else least / 2
    for row in tops:
        if _is_closing(row):
            closing.append(_row(row))
        elif row["kind"] in ASIDE:
            aside.append(_row(row))
        elif row["kind"] != "contains" and _size(ledger, row) >= least_top:
            own = [_row(row), *_children(ledger, rows, row, least)]
            shown += _as_one(own) if least < LEAST else own
        elif row["kind"] != "contains":
            small.append(row)
    if least <= LEAST and len(shown) + len(small) <= _MOST_ROWS:
        shown += [_row(row) for row in small if row["seconds"] > 0 or _size(ledger, row) >= _POINT]
    elif len(small) == 1:
        shown.append(_row(small[0]))
    elif small:
        others = _folded(ledger, small, below=least_top)
        if least > LEAST and closing and all(row.percent in _NOTHING for row in closing):
            others = replace(others, name="; ".join([others.name, *(f"{row.name}: {row.time}" for row in closing)]))
            closing = []
        shown.append(others)
    return [*shown, *closing, *aside] if ledger.work_base else [*shown, *aside, *closing]


def _who(ledger: Ledger, rows: list[dict[str, Any]], *, is_only: bool) -> tuple[list[dict[str, Any]], ...]:
    """The statements of 10 % or more, smaller ones, time without a statement of 10 % or more, and less of it."""
    tops = [row for row in rows if row["level"] == 0 and row["kind"] not in {"contains", *ASIDE}]
    named = [row for row in tops if not _is_closing(row)]
    large = [row for row in named if _size(ledger, row) >= LARGE]
    few = [row for row in named if row not in large and (large or is_only) and _size(ledger, row) > 0]
    unknown = [row for row in tops if row["kind"] in UNKNOWN and (large or is_only)]
    below = [row for row in unknown if 0 < _size(ledger, row) < LARGE]
    return large, few, [row for row in unknown if _size(ledger, row) >= LARGE], below


def _rest_of(ledger: Ledger, rows: list[dict[str, Any]]) -> Row:
    """What is not listed one by one as one row: how many statements, and the names of other parts of 1 % of it."""
    least = _POINT * min(1.0, sum(_size(ledger, row) for row in rows))
    own = [row for row in rows if row["kind"] not in UNKNOWN and row["part"] != BLOCK_TIME]
    names = [
        *([_folded(ledger, own).name] if own else []),
        *(row["name"] for row in rows if row not in own and _size(ledger, row) >= least),
    ]
    return replace(_folded(ledger, rows), name=" and ".join([", ".join(names[:-1]), *names[-1:]]).removeprefix(" and "))


def _children(ledger: Ledger, rows: list[dict[str, Any]], parent: dict[str, Any], least: float) -> Iterator[Row]:
    """The children of a part that are large, and theirs; of those below 10 % a few."""
    own = [row for row in rows if row["parent"] == parent["part"] and row["kind"] != "contains"]
    large = [row for row in own if _size(ledger, row) >= (LARGE if _is_closing(row) else least)]
    is_page = least < LEAST
    left = [row for row in own if not repeats_parent(row, parent)]
    for number, row in enumerate(large):
        if repeats_parent(row, parent):
            continue
        if is_page or number < _MOST_CHILDREN or _size(ledger, row) >= LARGE:
            left.remove(row)
            yield _row(row)
            yield from _children(ledger, rows, row, least if is_page else LARGE)
    if is_page and left and len(left) < len(own):
        named = [row for row in left if not _is_closing(row)]
        said = [f"{len(named)} more"] * bool(named) + [row["name"] for row in left if _is_closing(row)]
        rest = replace(_folded(ledger, left), level=parent["level"] + 1, name=" and ".join(said))
        if rest.percent.strip("-") not in _NOTHING:
            yield rest


def _as_one(rows: list[Row]) -> list[Row]:
    """A part with a child that is all of it, as one row with the names of both and the time of the part."""
    if len(rows) != 2 or rows[0].percent != rows[1].percent or rows[1].row is None or _is_closing(rows[1].row):
        return rows
    (parent, child), figures = rows, ("lo", "hi", "percent", "time", "seconds")
    own = {name: getattr(parent, name) for name in figures}
    return [replace(child, level=parent.level, name=f"{parent.name}: {child.name}", **own)]


def _is_closing(row: dict[str, Any]) -> bool:
    return row["kind"] in {*UNKNOWN, "counted_twice"}


def _is_rounding(row: dict[str, Any]) -> bool:
    """Whether a closing part may be only what the rounding of the printed figures leaves."""
    is_about_0 = row["seconds_lo"] < 0 < row["seconds_hi"] + _TOUCH_S
    return _is_closing(row) and bool(is_about_0 and row["seconds"])  # one of 0 has the bounds of chance


def _size(ledger: Ledger, row: dict[str, Any]) -> float:
    """The share of a part, at most: of the work, else of the total."""
    if row["share_hi"] is not None:
        return float(abs(row["share"]) if _is_closing(row) else row["share_hi"])
    whole = 0.0 if ledger.total is None else ledger.total.value
    return 0.0 if whole <= 0 else float(abs(row["seconds"]) / whole)


def _row(row: dict[str, Any]) -> Row:
    count = "" if row["count"] is None else f"{row['count']:,.0f}"
    is_upper = row["own_lo"] <= 0 < row["own_hi"] and row["kind"] not in UNKNOWN
    average, each = "", None
    if row["avg"] is not None and row["kind"] != "cpu" and row["seconds_hi"] > 0:
        is_most = is_upper or row["seconds_lo"] <= 0
        each = row["seconds_hi"] / row["count"] if is_most else row["avg"]
        average = f"{'<=' * is_most}{time_text(each)}"
    return Row(
        row["part"],
        row["level"],
        row["kind"],
        row["class"],
        _ROUNDING if row["name"] in _OF_SUMS and _is_rounding(row) else printable(" ".join(row["name"].split())),
        None if row["share"] is None else max(0.0, row["share_lo"]),
        None if row["share"] is None else max(0.0, row["share_hi"]),
        _percent(row),
        time_cell(row["seconds"], row["seconds_lo"], row["seconds_hi"]),
        count,
        average,
        row,
        (row["seconds"], row["seconds_lo"], row["seconds_hi"]),
        each,
    )


def _contains(ledger: Ledger, rows: list[dict[str, Any]]) -> Iterator[Row]:
    """Blocks that enclose statements, without a share: their time is that of the statements; as the log orders them."""
    order = ledger.remarks.filter(role="contains").get_column("part").to_list()
    blocks = [row for row in rows if row["kind"] == "contains"]
    blocks.sort(key=lambda row: order.index(row["part"]) if row["part"] in order else len(order))
    for row in blocks[:_MOST_BLOCKS]:
        said = _row(row)
        yield Row(said.part, 1, "contains", None, said.name, None, None, "contains", "", said.count, "", row)
    if more := len(blocks[_MOST_BLOCKS:]):
        name = count_text(more, "other block", "other blocks")
        yield Row(None, 1, "contains", None, name, None, None, "contains", "", "", "")


def _percent(row: dict[str, Any]) -> str:
    if row["share"] is None:
        return ""
    value, lo, hi = (100 * row[name] for name in ("share", "share_lo", "share_hi"))
    if row["kind"] == "counted_twice":
        return f"{value:z.0f}"
    if hi - lo > max(_RANGE * hi, 100 * _POINT):
        return f"<={hi:.1f}" if lo <= 0 and row["own_lo"] <= 0 and row["kind"] not in UNKNOWN else f"{lo:.0f}-{hi:.0f}"
    if 0 < value < 0.05:
        return "<0.1"
    return "99.9" if 99.9 < value < phrases.ALL else f"{value:.1f}"


def time_cell(value: float, lo: float, hi: float) -> str:
    """A time for a column: in s, or in ms where it is below one second and known to the microsecond.

    Examples:
        >>> time_cell(9388, 9387.5, 9388.5), time_cell(0.250792, 0.250792, 0.250792), time_cell(52, 0, 52.5)
        ('9,388 s', '250.792 ms', '52 s')
        >>> time_cell(-164.4, -167.5, -163.8), time_cell(0.0, 0.0, 0.0), time_cell(14.000846, 14.000846, 14.000846)
        ('-164 s', '0 s', '14.001 s')
        >>> time_cell(1.4958, 0.0, 1.4958), time_cell(0.006, 0.0, 0.006)  # upper bounds alone
        ('<=1.496 s', '<=6.000 ms')
    """
    if lo <= 0 < value == hi:
        return f"<={time_cell(value, value, value)}"
    half = (hi - lo) / 2
    if value == 0:
        return "0 s"
    if abs(value) < 1 and half < 5e-4:
        return f"{value * 1e3:z,.3f} ms"
    most = 3 if abs(value) < 100 else 1
    decimals = most if half == 0 else min(max(0, math.ceil(-math.log10(2 * half) - 1e-9)), most)
    text = f"{value:z,.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text and lo == hi else text} s"


def aligned_times(times: list[tuple[float, float, float] | None], whole: float) -> tuple[str, list[str]]:
    """One unit for a column of times, and each as far as it is known, with its decimal point below that of the others.

    Args:
        times: each with its bounds; None is an empty cell.
        whole: their total, which says the unit and the decimals.

    Examples:
        >>> times = [(8844, 8843.5, 8844.5), (3447.1, 3447.05, 3447.15), (0.02, 0.02, 0.02), None]
        >>> aligned_times(times, 41_424.0)
        ('s', ['8,844\u2008\u2007', '3,447.1', '<0.1', ''])
        >>> aligned_times([(0.25, 0.0, 0.25)], 0.5)
        ('ms', ['<=250.000'])
    """
    unit, scale, most = ("ms", 1e3, 3) if whole < 1 else ("s", 1.0, 1 if whole >= 100 else 3)
    texts = ["" if one is None else _as_known(*(scale * bound for bound in one), most=most) for one in times]
    return unit, aligned(texts)


def averages_ms(rows: list[Row]) -> list[str]:
    """The averages of rows in ms, with their decimal points in a line."""
    marks = ["<=" * row.average.startswith("<=") for row in rows]
    each = [None if row.each is None else phrases.three(1e3 * row.each) for row in rows]
    return aligned([f"{mark}{one or ''}" for mark, one in zip(marks, each, strict=True)])


def aligned(texts: list[str]) -> list[str]:
    """Numbers with blanks of the width of a point and of digits after them, so that their points are one below another.

    Examples:
        >>> aligned(["12.25", "3.5", "7", ""])
        ['12.25', '3.5\u2007', '7\u2008\u2007\u2007', '']
        >>> aligned(["5.2 ± 0.24", "7.1 s", "1"])  # these are no numbers
        ['5.2 ± 0.24', '7.1 s', '1']
    """
    numbers = [text.lstrip("<>=≤+- ").replace(",", "") for text in texts]
    ends = [one.partition(".")[2] if one.replace(".", "", 1).isdigit() else None for one in numbers]
    most = max((len(end) for end in ends if end), default=0)
    return [
        text if end is None or not most else f"{text}{chr(0x2008) * (not end)}{chr(0x2007) * (most - len(end))}"
        for text, end in zip(texts, ends, strict=True)
    ]


def aligned_rows(rows: list[list[str]], wide: int) -> list[list[str]]:
    """Rows of a table, each filled up to a number of columns, with the points of each column in a line."""
    columns = zip(*([*row, *[""] * (wide - len(row))] for row in rows), strict=True)
    return [list(row) for row in zip(*(aligned(list(one)) for one in columns), strict=True)]


def _as_known(value: float, lo: float, hi: float, *, most: int) -> str:
    if lo <= 0 < value == hi:
        return f"<={_as_known(value, value, value, most=most)}"
    decimals = most if lo == hi else min(max(0, math.ceil(-math.log10(hi - lo) - 1e-9)), most)
    least = 10**-decimals
    return f"<{least:.{decimals}f}" if 0 < value < least / 2 else f"{value:z,.{decimals}f}"


def _folded(ledger: Ledger, small: list[dict[str, Any]], *, below: float | None = None) -> Row:
    """The row of small parts: below which share they are, for a screen and a page differ in it."""
    frame = pl.DataFrame(
        {name: [row[name] for row in small] for name in ("seconds", "seconds_lo", "seconds_hi")}, strict=False
    ).sum()
    value, lo, hi = frame.row(0)
    base = ledger.work if ledger.work is not None else ledger.total
    share = None if small[0]["share"] is None or base is None or base.value <= 0 else value / base.value
    is_class = all(row["class"] is not None and row["class"] == row["name"] for row in small)
    is_who = all(row["view"] == "who" and row["kind"] == "mixed" for row in small)
    noun = "statement" if is_who else "part"
    nouns = ("class", "classes") if is_class else (noun, f"{noun}s")
    if below is None or share is None:
        name = count_text(len(small), *(f"other {one}" for one in nouns))
    else:
        name = f"{count_text(len(small), *nouns)} below {100 * below:g} % each"
    return Row(
        None,
        0,
        "mixed",
        None,
        name,
        share,
        share,
        "" if share is None else f"{100 * share:.1f}",
        time_cell(value, lo, hi),
        "",
        "",
        seconds=(value, lo, hi),
    )
