"""The time ledger on a page: the total, its parts as an icicle, and as tables of account."""

from __future__ import annotations

import html
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from iolab.pages.elements import AT_MOST, figure_html, large_html, text_html
from iolab.pages.ledger_rows import (
    LARGE,
    PAGE_LEAST,
    Row,
    aligned_times,
    averages_ms,
    count_head,
    ledger_rows,
    time_cell,
    view_head,
)
from iolab.rules.phrases import capital, percent, three
from iolab.time_ledger.parts import ASIDE, UNKNOWN
from iolab.time_ledger.sql_traces import GAP
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import polars as pl

    from iolab.time_ledger.account import Ledger
    from iolab.time_ledger.parts import Sampled
    from logframe.interval import Interval

#: The colour of a wait class (`page.css`).
_CLASSES: Final = {
    "User I/O": "other_reads",
    "System I/O": "system_io",
    "Commit": "commit",
    "Configuration": "space_to_write",
    "Application": "locks",
    "Concurrency": "concurrency",
    "Cluster": "cluster",
    "Network": "network",
}
_SINGLE: Final = ("db file sequential read", "cell single block", "pread64", "read", "User I/O")
_KINDS: Final = {"cpu": "cpu", "io": "other_reads", "idle": "shared_reads", "gap": "gap"}
#: What the colours and hatchings mean, in the order of the key.
MEANING: Final = {
    "c-cpu": "CPU",
    "c-single_block": "single-block reads",
    "c-other_reads": "other I/O",
    "c-system_io": "System I/O",
    "c-commit": "Commit",
    "c-space_to_write": "Configuration",
    "c-locks": "Application",
    "c-concurrency": "Concurrency",
    "c-cluster": "Cluster",
    "c-network": "Network",
    "c-other": "other",
    "c-shared_reads": "client, idle",
    "c-gap": "between records",
    "c-unknown": "time without a name",
    "c-samples": "seen by samples",
    "c-twice": "counted twice",
}
#: Beside a part of this share the others are drawn once more, magnified.
_ALMOST_ALL: Final = 0.95
_WEDGE: Final = 12
#: What tables of an account are called, by what their rows are.
_CAPTIONS: Final = {"statement": "Statements", "process": "Processes"}
_OPEN: Final = ("c-unknown", "c-twice", "c-samples")
#: Pieces below this share have no label, and those below the second are left to the eye.
_LABEL: Final = 0.022
_LEAST: Final = 0.0005
_HEIGHT: Final = 22
_BAR: Final = 100
#: Kinds of time within a statement: their colours and names.
_WITHIN: Final = {"cpu": ("c-cpu", "CPU"), "io": ("c-other_reads", "I/O"), "network": ("c-network", "round trips")}
BAR_BOX: Final = f'width="100%" height="14" viewBox="0 0 {_BAR} 14" preserveAspectRatio="none"'


def colour(kind: str, wait_class: str | None, name: str) -> str:
    """The class of the style sheet that colours a part.

    Examples:
        >>> colour("io", "User I/O", "db file sequential read"), colour("not_accounted", None, "not accounted for")
        ('c-single_block', 'c-unknown')
    """
    if kind in UNKNOWN or kind == "counted_twice":
        return "c-twice" if kind == "counted_twice" else "c-unknown"
    if kind == "client":
        return "c-shared_reads"
    if kind == "io" and name.startswith(_SINGLE):
        return "c-single_block"
    return f"c-{_CLASSES.get(wait_class or '') or _CLASSES.get(name) or _KINDS.get(kind, 'other')}"


def total_html(ledger: Ledger, *, anchor: str, linked: Mapping[str, str] = MappingProxyType({})) -> str:
    """The total as the first line below the title, and the icicle of its parts; of a void ledger the reason.

    The pieces lead where the rows of `ledger_html` do.
    """
    if ledger.void:
        return f'<p class="total void"><b>no total</b>: {text_html(ledger.void)}</p>'
    said, opened = printable(ledger.text or ledger.base), _open_time(ledger)
    text = f"{said.partition('; ')[0]}{opened}" if opened else said
    said = f'<p class="total">{large_html(capital(text))}</p>'
    return said + icicle_html(ledger, anchor=anchor, linked=linked)


def _open_time(ledger: Ledger) -> str:
    """What changes how all shares are read: a closing part of 10 % or more, as the end of a sentence."""
    rows = ledger.parts(ledger.views[0]).to_dicts() if ledger.views else []
    said = [
        f"; {percent(abs(row['share']))} is {row['name']}"
        for row in rows
        if row["kind"] in {"not_accounted", "counted_twice"} and not row["level"] and abs(row["share"] or 0.0) >= LARGE
    ]
    return "".join(said)


def covered(ledger: Ledger | None) -> Iterator[str]:
    """How much of the total a report captured, by its own line; and what else its total line had no room for."""
    if ledger is None or ledger.void or ledger.total is None:
        return
    if _open_time(ledger) and (rest := printable(ledger.text or "").partition("; ")[2]):
        yield rest.replace("the ", "").replace(" were ", " ")
    for check in ledger.checks.filter(view="what", unit=f"% of {ledger.base}").to_dicts():
        found = "equal" if check["holds"] else f"the parts have {check['computed']:.1f} %"
        yield f"check line: {check['printed']:.1f} %, {found}"
    between = ledger.frame.filter(view=ledger.views[0], name=GAP).get_column("seconds").to_list()
    if between and ledger.total.value > 0:
        yield f"{100 * (1 - sum(between) / ledger.total.value):.1f} % of the time is inside records"


def ledger_html(
    ledger: Ledger,
    *,
    anchor: str,
    columns: pl.DataFrame | None = None,
    linked: Mapping[str, str] = MappingProxyType({}),
    beside: str = "",
    is_second: bool = False,
) -> str:
    """The tables of a ledger, its statements beside its parts; nothing of a void one.

    Args:
        ledger: the lead ledger of a log.
        anchor: what identifiers begin with.
        columns: texts to show of statements instead of count and average, by ``part``.
        linked: the identifiers of what is on the page, by part or by table of evidence.
        beside: what stands beside or below the tables, as HTML.
        is_second: whether that is beside the first one.
    """
    if ledger.void:
        return ""
    views = [view for view in ("what", "who") if view in ledger.views] or ledger.views[:1]
    tables = [_table(ledger, view, anchor, columns=columns, linked=linked) for view in views]
    place = 1 if is_second else len(tables)
    tables[place:place] = [beside] if beside else []
    tables += [_phases(ledger, anchor)] if "phase" in ledger.views else []
    return f'<div class="ledgers{" period" * (ledger.elapsed is not None)}">{"".join(tables)}</div>'


def icicle_html(ledger: Ledger, *, anchor: str, linked: Mapping[str, str] = MappingProxyType({})) -> str:
    """The parts of the first view as rows of pieces: total, parts, children; each row adds up to that above.

    Time that is counted twice is the length by which the second row is longer than the total.  Beside a total of 0
    nothing has a share, and nothing is drawn.
    """
    if not ledger.views or ledger.total is None or ledger.total.value <= 0:
        return ""
    rows = [row | {"place": _place(row, linked)} for row in ledger.parts(ledger.views[0]).to_dicts()]
    tops = [row for row in rows if row["level"] == 0 and row["kind"] not in {"contains", "counted_twice"}]
    scale = max(sum(row["seconds"] for row in tops), ledger.total.value)
    width, figure = ledger.unit, f"{ledger.total.value:,.0f}"
    if width == "s":
        width, figure = "time", time_cell(ledger.total.value, ledger.total.lo, ledger.total.hi)
    said = f"{ledger.base} {figure}"
    pieces = [_piece(0.0, ledger.total.value / scale, 0, "c-total", said, anchor)]
    if (twice := scale - ledger.total.value) > _LEAST * scale:
        tip = f"counted twice {100 * twice / ledger.total.value:.0f} %"
        pieces.append(_piece(ledger.total.value / scale, twice / scale, 0, "c-twice", tip, anchor))
    drawn, depth = _rows(ledger, rows, tops, scale, anchor)
    magnified, key = _magnified(rows, tops, scale, depth, anchor)
    pieces += drawn
    pieces.append(magnified)
    all_of = "".join(pieces)
    chips = "".join(
        f"<span>{chip_html(kind, anchor)} {said}</span>"
        for kind, said in MEANING.items()
        if paint(kind, anchor) in all_of
    )
    height = _HEIGHT * (depth + 1) + (_HEIGHT + _WEDGE if magnified else 0)
    said = html.escape(f"{ledger.base}: " + ", ".join(f"{row['name']} {_share(row)}" for row in tops[:6]))
    return (
        f'<figure class="icicle" role="group" aria-label="{said}"><svg width="100%" height="{height}">'
        f"{patterns_html(anchor)}{all_of}</svg></figure>"
        f'<p class="key icicle-key"><span>Width is {width}.{key}</span>{chips}</p>'
    )


def _rows(
    ledger: Ledger, rows: list[dict[str, Any]], tops: list[dict[str, Any]], scale: float, anchor: str
) -> tuple[list[str], int]:
    """The pieces of the parts, of their children and of samples, and how many rows they are."""
    pieces: list[str] = []
    place, depth = 0.0, 1
    large = [row["part"] for row in tops if row["seconds"] >= _ALMOST_ALL * scale]
    for row in tops:
        width = row["seconds"] / scale
        pieces.append(_part_piece(row, place, width, 1, anchor))
        inside = place
        for child in rows:
            is_seen = not large or row["part"] in large  # small parts are magnified instead
            if is_seen and child["parent"] == row["part"] and child["seconds"] > 0 and child["kind"] != "contains":
                of = min(child["seconds"] / scale, place + width - inside)
                pieces.append(_part_piece(child, inside, of, 2, anchor))
                inside, depth = inside + of, 2
        if row["kind"] == "not_accounted" and row["seconds"] >= LARGE * scale:
            for one in ledger.sampled_in("what"):
                tip = f"samples: {one.name}, {_plus_minus(one.seconds, ledger)} %"
                pieces.append(_piece(place, min(one.seconds.value / scale, width), 2, "c-samples", tip, anchor))
                depth = 2
        place += width
    return pieces, depth


def _magnified(
    rows: list[dict[str, Any]], tops: list[dict[str, Any]], scale: float, depth: int, anchor: str
) -> tuple[str, str]:
    """Parts beside one that is nearly all as a row of their own with a wedge to where they are, and the key of it.

    In place of a part without a kind of its own stand those within.
    """
    tops = [row for row in tops if row["seconds"] > 0]
    small = [row for row in tops if row["seconds"] < _ALMOST_ALL * scale]
    rest = sum(row["seconds"] for row in small)
    if len(small) != len(tops) - 1 or rest < _LEAST * scale:
        return "", ""
    is_left = small[0] is tops[0]
    if small != (tops[:-1] if is_left else tops[1:]):
        return "", ""
    width = 100 * rest / scale
    ends = f"M0 0H{width:.3f}L100 {_WEDGE}H0z" if is_left else f"M{100 - width:.3f} 0H100V{_WEDGE}H0z"
    top = _HEIGHT * (depth + 1)
    wedge = (
        f'<svg y="{top - 2}" width="100%" height="{_WEDGE}" viewBox="0 0 100 {_WEDGE}" preserveAspectRatio="none">'
        f'<path d="{ends}" class="wedge"/></svg>'
    )
    place, pieces = 0.0, []
    for one in small:
        within = [row for row in rows if row["parent"] == one["part"] and row["seconds"] > 0 and one["kind"] == "mixed"]
        whole = sum(row["seconds"] for row in within)
        for row in within or [one]:
            wide = one["seconds"] / rest * (row["seconds"] / whole if within else 1)
            pieces.append(_part_piece(row, place, wide, 0, anchor))
            place += wide
    drawn = f'<svg y="{top + _WEDGE - 2}" width="100%" height="{_HEIGHT}">{"".join(pieces)}</svg>'
    return (
        wedge + drawn,
        f" Lowest row: the other {time_cell(rest, rest, rest)}, {three(scale / rest)} times as wide.",
    )


def chip_html(kind: str, anchor: str) -> str:
    """A square in the colour or hatching of a part."""
    return f'<svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" {paint(kind, anchor)}/></svg>'


def paint(kind: str, anchor: str) -> str:
    """What paints a piece of a part."""
    hatched = {"c-unknown": "unknown", "c-twice": "twice"}.get(kind)
    return f'class="open" fill="url(#{anchor}-{hatched})"' if hatched else f'class="{kind}"'


def _plus_minus(seconds: Interval, ledger: Ledger) -> str:
    """A share of the total with two standard deviations of the samples."""
    whole = 1.0 if ledger.total is None else ledger.total.value
    return f"{100 * seconds.value / whole:.1f} ± {50 * (seconds.hi - seconds.lo) / whole:.1f}"


def patterns_html(anchor: str) -> str:
    """Hatching for time without a name, crossed where it is counted twice."""
    twice = pattern_html(f"{anchor}-twice", 6, '<path d="M0 0 6 6" class="hatch"/>')
    return f"<defs>{pattern_html(f'{anchor}-unknown', 6)}{twice}</defs>"


def pattern_html(name: str, step: int, more: str = "") -> str:
    """A hatching by its identifier, with lines at a distance in pixels."""
    size = f'width="{step}" height="{step}" patternUnits="userSpaceOnUse"'
    return f'<pattern id="{name}" {size}><path d="M0 {step} {step} 0" class="hatch"/>{more}</pattern>'


def _part_piece(row: dict[str, Any], place: float, width: float, level: int, anchor: str) -> str:
    kind = colour(row["kind"], row["class"], row["name"])
    name = printable(" ".join(row["name"].split()))
    piece = _piece(place, width, level, kind, f"{name} {_share(row)}".strip(), anchor)
    return f'<a href="#{html.escape(row["place"])}">{piece}</a>' if row["place"] and piece else piece


def _place(row: dict[str, Any] | None, linked: Mapping[str, str]) -> str | None:
    """Where a part leads: to its own place on the page, else to the table of its evidence."""
    evidence = None if row is None else row["evidence"]
    return None if row is None else linked.get(row["part"], linked.get("" if evidence is None else evidence["table"]))


def _share(row: dict[str, Any]) -> str:
    return "" if row["share"] is None else f"{100 * row['share']:.1f} %"


def _piece(place: float, width: float, level: int, kind: str, tip: str, anchor: str) -> str:
    """A piece with its label, where it is wide enough for one."""
    if width < _LEAST:
        return ""
    text = ""
    if width >= _LABEL:
        on = "on-total" if kind == "c-total" else "on-open" if kind in _OPEN else "on-piece"
        label = f'<div class="piece {on}"><span>{html.escape(tip)}</span></div>'
        text = f'<foreignObject width="100%" height="{_HEIGHT - 2}">{label}</foreignObject>'
    return (
        f'<svg x="{100 * place:.3f}%" y="{level * _HEIGHT}" width="{100 * width:.3f}%" height="{_HEIGHT}">'
        f'<title>{html.escape(tip)}</title><rect width="100%" height="{_HEIGHT - 2}" {paint(kind, anchor)}/>{text}'
        "</svg>"
    )


def _table(ledger: Ledger, view: str, anchor: str, *, columns: pl.DataFrame | None, linked: Mapping[str, str]) -> str:
    """The parts of a view as a page of account: bar, share, time, count, average, and the sum at the foot."""
    rows = ledger_rows(ledger, view, least=PAGE_LEAST)
    if not rows:
        return ""
    # statements may be small: beside a bar of many, or of all that no list names, theirs would not be seen
    single = [row for row in rows if view != "who" or (row.kind not in UNKNOWN and row.row is not None)]
    longest = max((row.hi or 0.0 for row in single), default=0.0)
    by_part = {} if columns is None else {row["part"]: row for row in columns.iter_rows(named=True)}
    extra = [name for name in (columns.columns if columns is not None else []) if name != "part"]
    is_extra = bool(extra) and any(row.part in by_part for row in rows)
    heads = (
        extra
        if is_extra
        else [count_head(ledger, view, rows), "average\N{NO-BREAK SPACE}ms" if view == "what" else "average"]
    )
    cells = [
        [str(by_part.get(row.part or "", {}).get(name) or "") for name in extra]
        if is_extra
        else [row.count, row.average]
        for row in rows
    ]
    if view == "what" and not is_extra:  # statements keep the unit with the number
        cells = [[count, one] for (count, _), one in zip(cells, averages_ms(rows), strict=True)]
    kept = [n for n in range(len(heads)) if any(one[n] for one in cells)]
    is_who, total, rules = view == "who", ledger.total, f"{anchor}-{view}-rules"
    sampled = {
        row.part: ledger.sampled_in(view)
        for row in rows
        if row.kind == "not_accounted" and not row.level and (row.hi or 0.0) >= LARGE
    }
    seen_times = [(one.seconds.value, one.seconds.lo, one.seconds.hi) for seen in sampled.values() for one in seen]
    sum_of = None if total is None else (total.value, total.lo, total.hi)
    own = [row.seconds if row.time else None for row in rows]
    unit, times = aligned_times([*own, *seen_times, sum_of], 0.0 if total is None else total.value)
    rows = [replace(row, time=time) for row, time in zip(rows, times, strict=False)]
    seen_texts = iter(times[len(rows) :])
    titles = ["%", f"time\N{NO-BREAK SPACE}{unit}" if any(own) else "", *(heads[n].replace("_", " ") for n in kept)]
    head = "".join(f'<th class="number">{html.escape(one)}</th>' for one in titles)
    within = {part: kinds for part, kinds in ledger.within.items() if is_who}
    body = ""
    for row, one in zip(rows, cells, strict=True):
        kinds = within.get(row.part or "", {})
        bar = _parts_bar(row, longest, kinds) if kinds else _bar(row, longest, anchor)
        body += _line(row, [one[n] for n in kept], bar, anchor, linked, view)
        for seen in sampled.get(row.part, ()):
            body += _sampled_line(seen, ledger, longest, len(kept), next(seen_texts), rules)
    foot = ""
    if view in {"what", "who"} and total is not None:
        share = "" if ledger.work_base or ledger.unshared else "100.0"
        blank = [""] * len(kept)
        # of what has no times the sum is one of its counts
        sums = [times[-1], *blank] if any(own) or not kept else ["", times[-1].removesuffix(".0"), *blank[1:]]
        last = "".join(f'<td class="number">{html.escape(one)}</td>' for one in (share, *sums))
        foot = f'<tfoot><tr><th scope="row">{text_html(ledger.base)}</th><td></td>{last}</tr></tfoot>'
    note = f'<p class="note">{text_html(f"% of {ledger.work_base}")}</p>' if ledger.work_base else ""
    if used := {kind for row in rows for kind in within.get(row.part or "", {})}:
        key = [(kind, said) for name, (kind, said) in _WITHIN.items() if name in used] + [("rest", "rest")]
        chips = "".join(f"<span>{chip_html(kind, anchor)} {said}</span>" for kind, said in key)
        scale = "" if ledger.unshared else f"<span>full width {100 * longest:.1f} %</span>"
        note = f'<p class="key">{chips}{scale}</p>{note}'
    note += _where(ledger) if is_who else ""
    note += _reading(rules, rows, times if view == ledger.views[0] else [], longest, is_sampled=bool(seen_times))
    if ledger.unshared:
        note = f'<p class="note">{text_html(f"No shares: {ledger.unshared}")}</p>'
    what = view_head(ledger, view, rows)
    caption = f"<caption>{_CAPTIONS.get(what.split(',')[0], 'Ledger')} <small>adds up to the total</small></caption>"
    head = f'{caption}<thead><tr><th scope="col">{what}</th><td></td>{head}</tr></thead>'
    table = f'<table class="ledger">{head}<tbody>{body}</tbody>{foot}</table>'
    return f'<div id="{anchor}-{view}">{table}{note}</div>'


def _reading(anchor: str, rows: list[Row], times: list[str], longest: float, *, is_sampled: bool) -> str:
    """How to read what a table has: whole seconds, bars of two parts, a dot, blocks without a share."""
    parts = [row for row in rows if row.kind not in UNKNOWN and row.kind != "counted_twice"]
    said = {
        "Times without decimals are known to whole seconds at best.": 0
        < sum("." in one for one in times if one)
        < sum(map(bool, times)),
        "Solid bar: certainly of this part; pale bar with a line: at most.": any(
            (row.hi or 0.0) - (row.lo or 0.0) >= 0.01 * longest and 0 < (row.hi or 0.0) <= longest for row in parts
        ),
        AT_MOST: any(one.startswith("<=") for row in rows for one in (row.percent, row.time, row.average)),
        "Dot, line and ±: samples with their 95 % interval; they are not added.": is_sampled,
        '"contains": a block that encloses statements; its time is not added again.': any(
            row.kind == "contains" for row in rows
        ),
    }
    shown = " ".join(one for one, is_used in said.items() if is_used)
    return f'<p class="note" id="{anchor}">{html.escape(shown)}</p>' if shown else ""


def _where(ledger: Ledger) -> str:
    """The services or instances that had the total, in one line."""
    rows = ledger.parts("where").to_dicts() if "where" in ledger.views else []
    tops = [row for row in rows if not row["level"] and (row["share"] or 0.0) >= PAGE_LEAST]
    said = ", ".join(f"{text_html(row['name'])} {_share(row)}" for row in tops)
    return f'<p class="note"><b>Where</b>: {said}</p>' if said else ""


def _phases(ledger: Ledger, anchor: str) -> str:
    """Parse, execute and fetch calls by their own time, and their sum, which is a part of the total."""
    calls = [row for row in ledger.parts("phase").to_dicts() if (row["evidence"] or {}).get("table") == "calls"]
    longest = max((row["own_hi"] for row in calls), default=0.0) or 1.0
    body = ""
    for row in calls:
        bar = bar_html(row["own_lo"] / longest, row["own_hi"] / longest, "c-other", anchor)
        cells = _own_time([row])
        body += (
            f'<tr class="level-1"><th scope="row">{text_html(row["name"])}</th><td class="bar">{bar}</td>{cells}</tr>'
        )
    head = '<th scope="col">phase</th><td></td><th class="number">own time</th><th class="number">calls</th>'
    return (
        f'<div id="{anchor}-phase"><table class="ledger phases"><caption>Phases <small>own time of the calls</small>'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f'<tfoot><tr><th scope="row">all calls</th><td></td>{_own_time(calls)}</tr></tfoot></table></div>'
    )


def _own_time(calls: list[dict[str, Any]]) -> str:
    """The cells of the own time of calls, and of their number."""
    time, lo, hi, count = (sum(row[name] for row in calls) for name in ("seconds", "own_lo", "own_hi", "count"))
    return "".join(f'<td class="number">{html.escape(one)}</td>' for one in (time_cell(time, lo, hi), f"{count:,.0f}"))


def _parts_bar(row: Row, longest: float, within: Mapping[str, float]) -> str:
    """The bar of a statement: CPU, I/O, round trips and the rest of its time."""
    whole = 0.0 if row.row is None else row.row["seconds"]
    if row.hi is None or whole <= 0 or not longest:
        return ""
    size, place, drawn = min(1.0, row.hi / longest) * _BAR, 0.0, ""
    for seconds, kind in (*((within.get(name, 0.0), kind) for name, (kind, _) in _WITHIN.items()), (whole, "rest")):
        width = min(size * seconds / whole, size - place)
        drawn += f'<rect x="{place:.1f}" y="1" width="{width:.1f}" height="12" class="{kind}"/>'
        place += width
    return f'<svg {BAR_BOX} aria-hidden="true">{drawn}</svg>'


def _sampled_line(one: Sampled, ledger: Ledger, longest: float, blanks: int, text: str, rules: str) -> str:
    """What samples see, below the time without a name: a dot and a line where the scale holds it."""
    whole = 1.0 if ledger.total is None else ledger.total.value
    time = one.seconds
    lo, value, hi = (_BAR * end / whole / (longest or 1.0) for end in (time.lo, time.value, time.hi))
    hi = min(hi, _BAR)
    drawn = f'{_whisker(lo, hi)}<circle cx="{value:.1f}%" cy="7" r="2.5" class="dot"/>'
    bar = f'<svg width="100%" height="14" aria-hidden="true">{drawn}</svg>' if value <= _BAR else ""
    kind = "samples who" if rules.endswith("-who-rules") else "samples"
    return (
        f'<tr class="level-1 {kind}"><th scope="row">samples: {text_html(one.name)}</th>'
        f'<td class="bar">{bar}</td>'
        f'<td class="number">{figure_html(_plus_minus(time, ledger), rules)}</td>'
        f'<td class="number">{text}</td>{"<td></td>" * blanks}</tr>'
    )


def _line(row: Row, cells: list[str], bar: str, anchor: str, linked: Mapping[str, str], view: str) -> str:
    is_who, rules = view == "who", f"{anchor}-{view}-rules"
    kind = "unknown" if row.kind in {*UNKNOWN, "counted_twice"} else "aside" if row.kind in ASIDE else row.kind
    name = html.escape(row.name)
    shown = f"<code>{name}</code>" if row.level and row.row is not None else name
    own = row.name if row.row is None else row.row["name"]
    if row.row is not None and row.row["level"] > row.level:
        parent, _, rest = name.partition(": ")
        shown = f"{parent}: <code>{rest}</code>"
    if is_who and (not row.level or row.kind == "contains"):
        kind = f"{kind} who"
        first, blank, rest = name.partition(": " if name.startswith("line ") else " ")
        shown = f"<code>{first}</code>{blank}{rest}" if row.row and (row.row["evidence"] or {}).get("rows") else name
    link = f'<a href="#{html.escape(place)}">{shown}</a>' if (place := _place(row.row, linked)) else shown
    figures = "".join(f'<td class="number">{figure_html(one, rules)}</td>' for one in (row.percent, row.time, *cells))
    chip = (
        ""
        if row.level or (is_who and row.kind not in UNKNOWN)
        else chip_html(colour(row.kind, row.wait_class, own), anchor)
    )
    return (
        f'<tr class="level-{min(row.level, 3)} {kind}"><th scope="row" title="{name}">{chip}{link}</th>'
        f'<td class="bar">{bar}</td>{figures}</tr>'
    )


def _bar(row: Row, longest: float, anchor: str) -> str:
    """The bar of a row; none without a share, and of one that is longer than the scale."""
    lo, hi = row.lo, row.hi
    if row.kind == "counted_twice" and row.row is not None:  # its share is less than nothing
        lo = hi = abs(row.row["share"] or 0.0)
    if lo is None or hi is None or not 0 < hi <= longest:
        return ""
    kind = colour(row.kind, row.wait_class, row.name if row.row is None else row.row["name"])
    return bar_html(lo / longest, hi / longest, kind, anchor, high=7 if row.level else 12)


def bar_html(lo: float, hi: float, kind: str, anchor: str, *, high: int = 12, rings: Iterable[float] = ()) -> str:
    """Solid up to the certain share, pale to the possible one, and a whisker between them where they are apart.

    Args:
        lo: what is certain, of the longest bar.
        hi: what is possible.
        kind: a class of the style sheet.
        anchor: what identifiers of hatchings begin with.
        high: in pixels.
        rings: what was measured elsewhere, of the longest bar.
    """
    lo, hi = lo * _BAR, hi * _BAR
    top = (14 - high) / 2
    if kind in {"c-unknown", "c-twice"}:
        drawn = f'<rect y="{top}" width="{hi:.1f}%" height="{high}" {paint(kind, anchor)}/>'
    else:
        solid = (lo + hi) / 2 if hi - lo < 0.01 * _BAR else lo
        drawn = f'<rect y="{top}" width="{solid:.1f}%" height="{high}" class="{kind}"/>'
        if hi - lo >= 0.01 * _BAR:
            drawn += f'<rect x="{lo:.1f}%" y="{top}" width="{hi - lo:.1f}%" height="{high}" class="{kind} pale"/>'
            drawn += _whisker(lo, hi)
    drawn += "".join(f'<circle cx="{_BAR * one:.1f}%" cy="7" r="4" class="ring"/>' for one in rings)
    return f'<svg width="100%" height="14" aria-hidden="true">{drawn}</svg>'


def _whisker(lo: float, hi: float) -> str:
    """A line with end strokes, in per cent of the width."""
    ends = ((lo, hi, 7, 7), (lo, lo, 4, 10), (hi, hi, 4, 10))
    line = '<line x1="{:.1f}%" x2="{:.1f}%" y1="{}" y2="{}" class="whisker"/>'
    return "".join(line.format(*one) for one in ends)
