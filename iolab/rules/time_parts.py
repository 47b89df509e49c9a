"""Findings from the time ledger: every part of 10 % or more, in the order of its own time, and what rules say of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.rules import phrases
from iolab.rules.finding import CALM, Evidence, Finding
from iolab.time_ledger.changes import ROUND_TRIPS
from iolab.time_ledger.next_steps import CLIENT_WORK, MORE_ROWS
from iolab.time_ledger.parts import ASIDE, NO_OWNER, UNKNOWN
from logframe.interval import Interval
from logframe.oracle import WAIT_CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from iolab.time_ledger.account import Ledger

#: A part with this much of the time, certainly its own, has a finding.
PART: Final = 0.10
#: Of gaps between records this much is shown where there is room.
SMALL: Final = 0.0025
#: From here on what explains a part stands beside it.
LARGE: Final = 1 / 3
#: Events with this much of their class are named with it.
_MOST: Final = 0.5
#: The place of a cause below what else rules say of the part.
_CAUSE: Final = 9
#: Units of sizes, as powers of 2; a size stands this near to its name.
_SIZES: Final = {"K": 10, "M": 20, "G": 30, "T": 40}
_NEAR_WORDS: Final = 3
#: The views whose parts are findings, and the name of such a finding; other views are tables.
VIEWS: Final = {"what": "time_profile", "who": "main_statement"}
#: The names of the findings that a ledger makes without a rule.
NAMES: Final = ("no_total", "total", "not_accounted_for", "counted_twice", "client_time", *VIEWS.values())
#: A child with this much of its parent says all that the parent would.
NEARLY_ALL: Final = 0.8
#: Predicates of time that no row names, where its name alone is not one.
_UNNAMED: Final = {
    "captured, not listed": "was captured, but is not listed",
    "idle, or a process that is not listed": "was idle, or used by processes that are not listed",
    "other recursive SQL": "was used by other recursive SQL",
    "statements that are not listed": "was used by statements that are not listed",
}
#: Places of findings: problems first, the total, time without a name, parts, facts, time of clients, refusals.
_TOTAL, _UNKNOWN, _PARTS, _ASIDE = 0, 1, 2, 1_000_000


def numbers_after(diagnostics: pl.DataFrame, name: str) -> list[int]:
    """The whole numbers after a name in lines that were not read: what a session printed beside the output of a tool.

    Examples:
        >>> lines = ["cat /proc/sys/sunrpc/tcp_slot_table_entries", "2", "HugePages_Free:    20480", "Swap: 7 8"]
        >>> texts = pl.DataFrame({"text": lines})
        >>> numbers_after(texts, "slot_table_entries"), numbers_after(texts, "HugePages_Free")
        ([2], [20480])
    """
    return [int(word) for part in _words_after(diagnostics, name) for word in takewhile(str.isdecimal, part)]


def sizes_after(diagnostics: pl.DataFrame, name: str) -> list[int]:
    """The sizes in bytes after a name in lines that were not read, such as ``sga_target big integer 52G``.

    Examples:
        >>> sizes_after(pl.DataFrame({"text": ["sga_target=52G, 2", "sga_target big integer 512M"]}), "sga_target")
        [55834574848, 536870912]
    """
    found = []
    for part in _words_after(diagnostics, name):
        words = (word.rstrip(",;)").upper().removesuffix("B") for word in part[:_NEAR_WORDS])
        sizes = [int(word[:-1]) << _SIZES[word[-1]] for word in words if word[-1:] in _SIZES and word[:-1].isdecimal()]
        found += sizes[:1]
    return found


def _words_after(diagnostics: pl.DataFrame, name: str) -> list[list[str]]:
    words = " ".join(diagnostics.get_column("text").drop_nulls())
    return [part.replace("=", " ").removeprefix(":").split() for part in words.split(name)[1:]]


def with_ledger(found: Iterable[Finding], ledgers: Sequence[Ledger]) -> list[Finding]:
    """The findings of a log: those of the parts of its lead ledger, with what rules say of them.

    Args:
        found: What rules found; one with `Finding.part` replaces what the ledger says of that part.
        ledgers: The ledgers of the log, the lead one first; none of a log without times.

    Returns:
        Of a void ledger the reason, gates and refusals; else the total, the parts and the other findings.
    """
    others = list(found)
    if not ledgers:
        return others
    lead = ledgers[0]
    if lead.void:
        evidence = tuple(_places(lead.remarks.get_column("evidence").to_list()))
        gate = Finding(
            "no_total", f"The total time is unknown: {lead.void}.", evidence=evidence, is_gate=True, next=_next_of(lead)
        )
        kept = [one for one in others if one.is_gate or one.is_refused or (lead.facts_hold and not one.part)]
        return [replace(gate, position=_TOTAL), *kept]
    by_part: dict[str, list[Finding]] = {}
    named = list(named_parts(lead))
    causes = {place: part for place, one in enumerate(others) if (part := _explained(named, one))}
    for one in others:
        if one.part:
            by_part.setdefault(one.part, []).append(one)
    result = [one for place, one in enumerate(others) if not one.part and place not in causes]
    if not any(one.order == 0 for one in result):
        result.append(Finding("total", f"{phrases.capital(lead.text or lead.base).rstrip('.')}.", order=0))
    views = reversed(lead.views)  # an id that stands in several views is that of the first one
    shares = {row["part"]: row for view in views for row in lead.parts(view).iter_rows(named=True)}
    is_calm = any(one.name == CALM and one.order < 0 for one in others)
    for number, row in enumerate(named):
        said = by_part.pop(row["part"], [])
        first, *more = _of_part(lead, row, number, said)
        first = replace(first, next="") if is_calm and not said else first
        more += [replace(others[n], part=part, order=_CAUSE) for n, part in causes.items() if part == row["part"]]
        result += [first, *(replace(one, position=first.position) for one in more)]
    # What a rule says of a smaller part stays, with the part's share, below the parts.
    for part, ones in by_part.items():
        small = shares.get(part)
        if small is None or not repeats_parent(small, shares.get(small["parent"])):
            result += [replace(one, **_impact(lead, small)) for one in ones]
    return result


def _explained(named: Sequence[dict[str, Any]], one: Finding) -> str:
    """The largest part that a finding explains; a class of which no part has a third of the time is one itself."""
    if one.part or one.is_gate or one.is_refused:
        return ""
    least = 0.0 if one.impact is None else one.impact.lo  # what took more is no detail of it
    found = [row for row in named if row["view"] == "what" and (row["share_hi"] or 0.0) >= least]
    found = [row for row in found if any(str(row[key]).startswith(one.explains) for key in ("name", "class"))]
    large = [row for row in found if row["share_hi"] >= LARGE] or found
    leaves = [row for row in large if row["part"] not in {other["parent"] for other in large}]
    return str(max(leaves, key=lambda row: row["share"])["part"]) if leaves else ""


def named_parts(lead: Ledger) -> Iterator[dict[str, Any]]:
    """The parts that have a finding, in the order to read them: time without a name, then by own time, then clients.

    Yields:
        Rows of `Ledger.parts`; with ``view``.
    """
    trees: list[list[dict[str, Any]]] = []
    for view in VIEWS:
        if view not in lead.views:
            continue
        for row in lead.parts(view).iter_rows(named=True):
            row["view"] = view
            if row["level"] == 0:
                trees.append([row])
            else:
                trees[-1].append(row)
    # The same time without a name closes every view: it is reported once.
    unknown = [tree for tree in trees if tree[0]["kind"] in {*UNKNOWN, "counted_twice"}]
    known = [tree for tree in trees if tree[0]["kind"] not in {*UNKNOWN, "counted_twice", "contains"}]
    aside = [tree for tree in known if tree[0]["kind"] in ASIDE]
    work = [tree for tree in known if tree not in aside]
    work.sort(key=lambda tree: (-tree[0]["own_lo"], -tree[0]["own_hi"]))
    first = [tree for tree in unknown if tree[0]["view"] == next(iter(VIEWS)) or len(lead.views) == 1]
    said: dict[str, dict[str, Any]] = {}
    for row in (row for tree in [*first, *work, *aside] for row in tree):
        if row["part"] not in said and _is_large(lead, row) and not repeats_parent(row, said.get(row["parent"])):
            said[row["part"]] = row
            yield row


def repeats_parent(row: dict[str, Any], parent: dict[str, Any] | None) -> bool:
    """Whether a part of a statement holds nearly all of it: the statement's row and sentence say so much."""
    return parent is not None and row["view"] == "who" and bool(row["own_lo"] >= NEARLY_ALL * parent["own_lo"])


def _is_large(lead: Ledger, row: dict[str, Any]) -> bool:
    if lead.unshared or lead.total is None or lead.total.value <= 0:
        return False
    if row["kind"] == "counted_twice":
        return bool(-row["seconds"] >= PART * lead.total.value)
    if row["kind"] in ASIDE and lead.work_base:
        return bool(row["own_lo"] >= PART * lead.total.value)
    if row["own_lo"] <= 0 < (row["share_hi"] or 0) and row["kind"] not in UNKNOWN and _is_upper(lead):
        return bool(row["share_hi"] >= PART)
    return (row["share_lo"] or 0.0) >= PART


def _is_upper(lead: Ledger) -> bool:
    """Whether the log gives upper bounds of times only."""
    named = lead.frame.filter(~pl.col("kind").cast(pl.String).is_in([*UNKNOWN, "counted_twice", "contains"]))
    return bool(named.height and named.get_column("own_lo").max() == 0)


def _impact(lead: Ledger, row: dict[str, Any] | None) -> dict[str, Any]:
    if row is None or row["share"] is None or row["kind"] in {"counted_twice", *ASIDE}:
        return {"impact": None}
    of = lead.work_base or lead.base
    return {"impact": Interval(row["share"], row["share_lo"], row["share_hi"]), "impact_of": of}


def _of_part(lead: Ledger, row: dict[str, Any], number: int, rules: list[Finding]) -> list[Finding]:
    """The finding of a part: its rule's sentence where it has one, else that of its kind; then what else rules say."""
    position = _PARTS + number
    if row["kind"] in {*UNKNOWN, "counted_twice"} and row["level"] == 0:
        position = _UNKNOWN
    elif row["kind"] in ASIDE:
        position = _ASIDE
    impact = _impact(lead, row)
    remarks = lead.remarks.filter(pl.col("part") == row["part"])
    said = {role: _joined(remarks, role) for role in ("detail", "caution", "next")}
    aside = "client_time" if position == _ASIDE else VIEWS[row["view"]]
    name = {**dict.fromkeys(UNKNOWN, "not_accounted_for"), "counted_twice": "counted_twice"}.get(row["kind"], aside)
    one, *more = rules or [Finding(name, "", part=row["part"])]
    first = replace(
        one,
        **impact,
        sentence=one.sentence or sentence(lead, row),
        detail=one.detail or said["detail"],
        caveat=one.caveat or said["caution"],
        next=one.next or row["next"] or said["next"],
        evidence=one.evidence or tuple(_places([row["evidence"]])),
        position=position,
    )
    return [first, *(replace(other, **impact) for other in more)]


def small_gaps(lead: Ledger, said: pl.DataFrame) -> Iterator[Finding]:
    """Time between records, and of clients, that has a row of a ledger and no sentence yet: for where there is room."""
    rows = lead.parts("what").to_dicts() if lead.total is not None and "what" in lead.views else []
    steps = {"client": CLIENT_WORK, "gap": MORE_ROWS * any(row["name"].startswith(ROUND_TRIPS) for row in rows)}
    for row in rows:
        is_left = not row["level"] and row["kind"] in steps and row["part"] not in said.get_column("part")
        if is_left and lead.total is not None and row["own_lo"] >= SMALL * lead.total.value:
            yield replace(_of_part(lead, row | {"view": "what"}, 0, [])[0], next=steps[row["kind"]])


def sentence(lead: Ledger, row: dict[str, Any]) -> str:
    """What a part took, in one sentence.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from iolab.time_ledger.parts import Place
        >>> account = Account(Interval.exact(12_612.5), "DB time")
        >>> read = account.add("what", "db file sequential read", Interval.exact(9_336), kind="io",
        ...     count=Interval.exact(770_898), evidence=Place("foreground_events"))
        >>> cpu = account.add("what", "DB CPU", Interval.exact(2_876.5), kind="cpu")
        >>> lead = account.ledger(elapsed=Interval.exact(903), counted={"what": "waits"})
        >>> for row in lead.parts().iter_rows(named=True): print(sentence(lead, row))
        `db file sequential read` took 74 % of DB time: 854 waits per second, 12.1 ms each.
        CPU took 23 % of DB time: 3.19 CPUs on average.
        3.2 % of DB time is not accounted for.
    """
    of = lead.work_base or lead.base
    share = None if row["share"] is None else Interval(row["share"], row["share_lo"], row["share_hi"])
    time = Interval(row["seconds"], min(row["seconds_lo"], row["seconds"]), max(row["seconds_hi"], row["seconds"]))
    took = f"{phrases.percent(share)} of {of}" if share is not None else phrases.seconds(time)
    is_timed = lead.unit == "s"
    kind, name = row["kind"], row["name"]
    if kind == "counted_twice":
        is_share = lead.total is not None and lead.total.value > 0
        over = phrases.percent(-row["seconds"] / lead.total.value) if is_share else phrases.seconds(-1 * time)  # type: ignore[union-attr]
        return f"CPU time and waits exceed {of} by {over}."
    if kind == "not_in_log":
        return f"{took} cannot be divided: the log does not contain this section."
    if kind in {"not_accounted", "unlisted"}:
        if name == NO_OWNER:
            return f"The statement is unknown for {took.removesuffix(of)}the time: no row of the log names it."
        verb = "are" if of.startswith("samples") else "is"
        return f"{took} {_UNNAMED.get(name, f'{verb} {name}')}."
    if kind == "gap":
        return f"{phrases.seconds(time)} passed {name}: {took}."
    if kind in ASIDE and lead.work_base:
        return f"{phrases.capital(name)} took {phrases.seconds(time)} of {phrases.seconds(lead.total or time)}."
    detail = ""
    count, events = row["count"], _events_of(lead, row)
    if kind == "cpu":
        if is_timed and lead.elapsed is not None and lead.elapsed.lo > 0 and lead.base == "DB time":
            detail = f": {phrases.three(time.value / lead.elapsed.value)} CPUs on average"
        inner = lead.parts(row["view"]).filter(pl.col("parent") == row["part"], kind="cpu").to_dicts()
        shares = [Interval(one["share"] or 0.0, one["share_lo"] or 0.0, one["share_hi"] or 0.0) for one in inner]
        if len(inner) > 1 and max(one.lo for one in shares) >= PART:  # it has a sentence itself: one time, not two
            named = [f"{one['name']} {phrases.percent(share)}" for one, share in zip(inner, shares, strict=True)]
            detail = f": {', '.join(named)}"
        name = "CPU" if name == "DB CPU" else name
        return f"{phrases.capital(name)} took {took}{detail}."
    if events:
        detail = f": {', '.join(events)}"
    elif count is not None and count > 0:
        noun = lead.counted.get(row["view"], "waits")
        bounded = Interval(count, min(row["count_lo"], count), max(row["count_hi"], count))
        each = phrases.seconds(time / bounded) if bounded.lo > 0 and is_timed else ""
        said = phrases.often_each(bounded, lead.elapsed, noun, each) if each else ""
        detail = f": {said or phrases.often(bounded, lead.elapsed, noun)}"
    elif share is not None and is_timed:
        detail = f": {phrases.seconds(time)}"
    verb = "was in" if of.endswith("samples") else "took"
    return f"{_title(row)} {verb} {took}{detail}."


def _events_of(lead: Ledger, row: dict[str, Any]) -> list[str]:
    """The one or two events with most of the time of a class: an average of all of its waits may be none of any."""
    if row["class"] != row["name"] or row["name"] not in WAIT_CLASSES:
        return []
    own = pl.col("parent") == row["part"], pl.col("kind") != "unlisted", pl.col("count") > 0, pl.col("share") > 0
    events = lead.parts(row["view"]).filter(*own).sort("seconds", descending=True).to_dicts()[:2]
    if sum(one["seconds"] for one in events) < _MOST * row["seconds"]:
        return []
    shown = [one for one in events if one["share"] >= PART or one is events[0]]
    each = [phrases.seconds(one["seconds"] / one["count"]) for one in shown]
    return [
        f"`{one['name']}` {phrases.percent(one['share'])} ({phrases.counted(one['count'], 'waits')} of {time})"
        for one, time in zip(shown, each, strict=True)
    ]


def _title(row: dict[str, Any]) -> str:
    """The name of a part for the begin of a sentence: what the log prints in code font."""
    name = str(row["name"])
    if row["view"] == "who":
        words = name.split(" ", maxsplit=1)
        is_id = len(words[0]) >= 10 and words[0].isalnum() and not words[0].isalpha()
        return f"`{words[0]}`" if is_id else phrases.capital(name)
    is_printed = row["evidence"] is not None and (row["class"] not in {None, name} or name[:1].islower())
    if row["class"] == name and name in WAIT_CLASSES:
        return f"Waits of class {name}"
    return f"`{name}`" if is_printed else phrases.capital(name)


def _joined(remarks: pl.DataFrame, role: str) -> str:
    return "; ".join(remarks.filter(pl.col("role") == role).get_column("text"))


def _next_of(lead: Ledger) -> str:
    return _joined(lead.remarks, "next")


def _places(cells: Iterable[dict[str, Any] | None]) -> Iterator[Evidence]:
    for cell in cells:
        if cell is not None:
            yield Evidence(cell["table"], tuple(cell["rows"] or ()), tuple(cell["lines"] or ()))
