"""Several logs of one kind as one block of a terminal: a row a log, in the order of time, with the same columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from iolab.metrics.formatting import size_text, time_text, until_text
from iolab.pages.elements import split_headline
from iolab.pages.findings_html import Said, frame_of
from iolab.pages.ledger_rows import time_cell
from iolab.pages.ledger_text import bar_text, cut, plain
from iolab.rules.phrases import three
from iolab.views import view_of
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from iolab.pages.summary import LogSummary
    from iolab.time_ledger.account import Ledger
    from logframe.formats import ParsedLog

#: Fewer logs have a block each.
LEAST: Final = 4
_MOST_ROWS: Final = 14
_ENDS: Final = 5
_COLUMNS: Final = 3
_NAME: Final = 14
#: A label is shown up to here, even where fewer parts are.
_LABEL: Final = 25
_LEAST_COLUMNS: Final = 2
#: What this many of the headlines have in common stands above the rows.
_COMMON: Final = 0.8
#: Parts whose averages are compared, and the factor by which one has to change.
_LARGEST: Final = 5
_CHANGED: Final = 1.5
_MOST_PARAMETERS: Final = 3
#: With these values of it, reads bypass the page cache of the host; the cache that stands for it.
_OPTIONS: Final = "filesystemio_options"
_PAST_CACHE: Final = ("SETALL", "DIRECTIO")
_CACHE: Final = "db_cache_size"
#: A part with this share is missed where it is gone; one with a smaller share hardly occurs.
_LARGE: Final = 0.05
_NOTHING: Final = 0.001
#: A log is one of the busiest with this share of the highest load.
_BUSY: Final = 0.8
#: A parameter of this many bytes or more is a size.
_SIZE: Final = 2**20
#: Letters of a period within a day.
_ONE_DAY: Final = len("2026-09-14 18:00 to 19:00")


@dataclass(frozen=True, slots=True)
class LogRow:
    """What a row of the block needs of a log, without the log itself.

    Attributes:
        kind: the format of the log and the base of its ledger: rows of one kind stand in one block.
        noun: what such a log is called.
        headline: what it is.
        begin: when it begins, where it says so.
        end: when it ends.
        ledger: its lead ledger.
        started: when its instance was started, where it says so to the minute.
        machine: its platform and processors, where it says them.
        parameters: its initialization parameters, as `iolab.evidence.changes.parameter_changes` takes them.
    """

    kind: tuple[str, str]
    noun: str
    headline: str
    begin: datetime | None
    end: datetime | None
    ledger: Ledger
    started: datetime | None
    parameters: pl.DataFrame
    machine: str = ""


def log_row(seen: LogSummary) -> LogRow | None:
    """The row of a log; None of one that states no times."""
    if seen.ledger is None:
        return None
    view = view_of(seen.log.format)
    span = None if view.span is None else view.span(seen.log)
    kind = (seen.log.format, seen.ledger.base)
    begin, end = (None, None) if span is None else span[:2]
    found = None if span is None else frame_of(seen.log, "parameters")
    parameters = pl.DataFrame()
    info = getattr(seen.log, "info", None)
    if found is not None and {"parameter", "begin", "end"} <= set(found.columns):
        whose = f"{getattr(info, 'db_id', None)} {getattr(info, 'instance', None)}"
        parameters = found.select(
            pl.lit(whose).alias("instance_name"),
            pl.lit(begin, pl.Datetime("us")).alias("begin_time"),
            pl.lit(end, pl.Datetime("us")).alias("end_time"),
            pl.lit(1).alias("part"),
            *("parameter", "instance", "begin", "end", "pdb"),
        )
    started = getattr(info, "startup_time", None)
    cpus, memory = getattr(info, "cpus", None), getattr(info, "memory_gb", None)
    machine = [getattr(info, "platform", None), cpus and counted(cpus, "processor"), memory and f"{memory:,.0f} GiB"]
    said = ", ".join(filter(None, machine))
    return LogRow(kind, view.noun, seen.headline, begin, end, seen.ledger, started, parameters, said)


def folder_text(
    logs: Mapping[str, LogRow],
    *,
    width: int = 100,
    style: Callable[[str, str], str] = plain,
    is_utf8: bool = True,
) -> str:
    """The block: what the logs have in common, a row a log, what changed, and the two logs between which it did.

    Args:
        logs: the row of each log by its name, all of one kind.
        width: of the terminal, in columns.
        style: gives a text of a role its colour.
        is_utf8: whether bars may be drawn with block characters.
    """
    ordered = in_time(logs)
    common, own = _headlines([one.headline for one in ordered.values()])
    shares = {name: _shares(one.ledger) for name, one in ordered.items()}
    weight: dict[str, float] = {}
    for of in shares.values():
        for part, share in of.items():
            weight[part] = weight.get(part, 0.0) + share
    parts = sorted(weight, key=lambda part: (-weight[part], part))[:_COLUMNS]
    sizes = {name: _size(one.ledger) for name, one in ordered.items()}
    longest = max((size for size in sizes.values() if size is not None), default=0.0)
    is_rate = all(one.ledger.void or one.ledger.elapsed is not None for one in ordered.values())
    rows: list[tuple[str, list[str], str]] = []
    for (name, one), said in zip(ordered.items(), own, strict=True):
        total, size = one.ledger.total, sizes[name]
        label = said or name
        if total is None or size is None:
            rows.append(("", [], f"no total: {one.ledger.void}; {label}"))
            continue
        cells = [three(size)] if is_rate else []
        cells.append(time_cell(total.value, total.lo, total.hi))
        cells += [f"{100 * shares[name][part]:.1f}" if part in shares[name] else "" for part in parts]
        rows.append((bar_text(size / longest if longest > 0 else 0.0, 12, is_utf8=is_utf8), cells, label))
    first = next(iter(ordered.values()))
    heads = ["active"] * is_rate + [first.ledger.base, *(f"{part[:_NAME].rstrip()} %" for part in parts)]
    shown, left_out = _chosen(rows, list(sizes.values()))
    wide = [max([len(head), *(len(cells[n]) for _, cells, _ in shown if cells)]) for n, head in enumerate(heads)]
    longest_label = min(_LABEL, max(len(label) for _, _, label in shown))
    while len(heads) > _LEAST_COLUMNS and 14 + sum(wide) + 2 * len(wide) + longest_label > width:
        heads, wide = heads[:-1], wide[:-1]  # the label is worth more than a small part
    lines = [cut(f"{len(ordered)} {first.noun}s{f': {common}' if common else ''}", width)]
    lines.append(style(cut(f"{'':14}{'  '.join(f'{h:>{w}}' for h, w in zip(heads, wide, strict=True))}", width), "dim"))
    for bar, cells, label in shown:
        figures = "  ".join(f"{cell:>{w}}" for cell, w in zip(cells, wide, strict=False))
        lines.append(cut(f"{bar:12}  {figures}  {label}", width))
    change = _change(ordered)
    others = [one.sentence for one in _parameters(ordered, changed_parameters(ordered))]
    for sentence in ([] if change is None else [change.sentence]) + others:
        lines += textwrap.wrap(sentence, width, break_on_hyphens=False)
    if left_out:
        lines.append(style(f"{left_out} more: --all", "dim"))
    if change is not None:
        lines.append(style(cut("next: iolab compare {} {}".format(*change.between), width), "dim"))
    return "\n".join(lines)


def folder_head(
    logs: Mapping[str, LogRow], changed: Sequence[dict[str, Any]]
) -> tuple[str, str, list[Said], tuple[str, str] | None]:
    """Title of logs of one kind, and what they are; what changed, in sentences; the two logs between which it did.

    A sentence links to the part ``heat`` or ``comparisons`` of a page, or to a log by its name.

    Args:
        logs: the row of each log by its name, in the order of time.
        changed: what `changed_parameters` gives of them.
    """
    common, _ = _headlines([one.headline for one in logs.values()])
    noun = next(iter(logs.values())).noun
    period = _period([time for one in logs.values() for time in (one.begin, one.end) if time is not None])
    period = f", {period}" if period else ""
    change = _change(logs, changed)
    said = [] if change is None else [Said("", change.total), *change.rows, *_gone(logs, change.between[1])]
    said += _parameters(logs, changed)
    title, kind = split_headline(common)
    kind = f"{len(logs)} {kind.replace(noun, f'{noun}s', 1)}" if kind else ""
    machines = {one.machine for one in logs.values() if one.machine}
    kind += f" · {machines.pop()}" if kind and len(machines) == 1 else ""
    title = f"{title}{period}" if kind else f"{len(logs)} {noun}s{f': {common}' if common else ''}{period}"
    return title, kind, said, change and change.between


def change_base(logs: Mapping[str, LogRow], between: tuple[str, str] | None) -> str:
    """What the numbers of the sentences are: the change at a restart, or from a time on."""
    if between is None or (begin := logs[between[1]].begin) is None:
        return ""
    is_restart = _since(logs, between).startswith("after")
    return "change at the restart" if is_restart else f"change at {begin:%Y-%m-%d %H:%M}"


def _since(logs: Mapping[str, LogRow], between: tuple[str, str]) -> str:
    """When what changed between two logs did: after a restart, else from the later log on."""
    row, end = logs[between[1]], logs[between[0]].end
    is_restart = row.started and end and row.begin and end <= row.started <= row.begin
    return f"after the restart at {row.started:%Y-%m-%d %H:%M}" if is_restart else f"from {_when(between[1], row)} on"


def sets_head(sets: Mapping[str, Mapping[str, ParsedLog]]) -> tuple[str, str]:
    """What the logs of two sets have in common, and when each set was; of which kind they are.

    Args:
        sets: the logs of each by the name of the set.
    """
    logs = [log for named in sets.values() for log in named.values()]
    heads = [headline(log) for log in logs if (headline := view_of(log.format).headline) is not None]
    common, own = _headlines(heads)
    if len(sets) == len(logs) == len(own) and "" not in own and not split_headline(common)[1]:
        is_kind = all(head.startswith(common) for head in heads)
        titles = [title for title, kind in map(split_headline, heads) if kind]
        is_named = is_kind and len(titles) == len(own)
        both = " and ".join(f"{one} ({name})" for one, name in zip(titles if is_named else own, sets, strict=True))
        if is_named or not common:
            return both, common
        return f"{common}: {both}" if is_kind or split_headline(f"-, {common}")[1] else f"{both}, {common}", ""
    common = common or " and ".join(dict.fromkeys(f"{view_of(log.format).noun}s" for log in logs))
    common, kind = split_headline(common)
    periods = []
    for named in sets.values():
        spans = [span(log) for log in named.values() if (span := view_of(log.format).span) is not None]
        periods.append(_period([time for one in spans if one is not None for time in one[:2]]))
    days = {period[:10] for period in periods}
    if len(periods) > 1 and len(days) == 1 and all(len(period) == _ONE_DAY for period in periods):
        common, periods = f"{common}, {days.pop()}", [period[11:] for period in periods]
    when = " and ".join(f"{period} ({name})" if period else name for name, period in zip(sets, periods, strict=True))
    return f"{common}: {when}", kind


def _period(times: Sequence[datetime]) -> str:
    if not times:
        return ""
    begin, end = min(times), max(times)
    return f"{begin:%Y-%m-%d %H:%M} to {until_text(begin, end, '%H:%M')}"


def _gone(ordered: Mapping[str, LogRow], at: str) -> list[Said]:
    """The parts that were large before a log and do not occur from it on, or the reverse, a sentence each."""
    names = [name for name, one in ordered.items() if one.ledger.total is not None]
    sides = names[: names.index(at)], names[names.index(at) :]
    shares: list[dict[str, float]] = []
    for side in sides:
        times: dict[str, float] = {}
        for name in side:
            for part, time, _ in _timed(ordered[name].ledger):
                times[part] = times.get(part, 0.0) + time
        whole = sum(total.value for name in side if (total := ordered[name].ledger.total) is not None)
        shares.append({part: time / whole for part, time in times.items()} if whole > 0 else {})
    base = ordered[at].ledger.base
    said = []
    before, after = shares
    for one, other, now, then, sign in (
        (before, after, "before", "after", "-"),
        (after, before, "after", "before", "+"),
    ):
        for part in sorted(one, key=lambda part: (-one[part], part)):
            if other and one[part] >= _LARGE and other.get(part, 0.0) < _NOTHING:
                word = "hardly occurs" if part in other else "is not listed"
                share, side = f"{three(100 * one[part])} %", sides[now == "after"]
                sentence = f"`{part}` took {share} of {base} {now}, and {word} {then}."
                link = (counted(len(side), "report"), "heat")
                said.append(
                    Said(f"{sign}{100 * one[part]:.0f} %", sentence, _step(ordered[side[-1]].ledger, part), link)
                )
    return said


def changed_parameters(ordered: Mapping[str, LogRow]) -> list[dict[str, Any]]:
    """The initialization parameters that differ from one log to the next (`iolab.evidence.changes`)."""
    from iolab.evidence.changes import parameter_changes  # noqa: PLC0415 - it brings in the readers of reports

    frames = [
        one.parameters.with_columns(report=pl.lit(name)) for name, one in ordered.items() if one.parameters.height
    ]
    if len(frames) < 2:
        return []
    return parameter_changes(pl.concat(frames)).filter(pl.col("status") == "changed").to_dicts()


def _parameters(logs: Mapping[str, LogRow], found: Sequence[dict[str, Any]]) -> list[Said]:
    """Which initialization parameters differ from one log to the next, and when, a sentence each."""
    said = []
    timed = {name: one for name, one in logs.items() if one.ledger.total is not None and one.begin and one.end}
    for row in found[:_MOST_PARAMETERS]:
        values = " to ".join(_value(row["parameter"], row[side]) for side in ("before", "after"))
        begin, end = row["from_time"], row["to_time"]
        when = (
            f"between {_period([begin, end]).replace(' to ', ' and ')}" if begin < end else f"at {end:%Y-%m-%d %H:%M}"
        )
        sentence = f"`{row['parameter']}` changed from {values} {when}."
        first = next((name for name in reversed(timed) if timed[name].end <= row["from_time"]), "")
        second = next((name for name, one in timed.items() if one.begin >= row["to_time"]), "")
        step = f"compare the reports: iolab compare {first} {second}" if first and second else ""
        said.append(Said("new", sentence, step, ("report", second) if second else None))
    more = len(found) - len(said)
    return [*said, Said("", f"{counted(more, 'more parameter')} changed.")] if more else said


def _value(parameter: str, value: str) -> str:
    is_size = parameter.endswith(("_size", "_target", "_limit")) and value.isdecimal() and int(value) >= _SIZE
    return size_text(int(value)) if is_size else cut(value, _LABEL)


def in_time(logs: Mapping[str, LogRow]) -> dict[str, LogRow]:
    """The rows in the order of time; one without a time stays after its neighbour by name."""
    last, keys = "", {}
    for name in sorted(logs):
        begin = logs[name].begin
        last = last if begin is None else str(begin)
        keys[name] = (last, begin is None, name)
    return {name: logs[name] for name in sorted(logs, key=keys.__getitem__)}


def _headlines(headlines: Sequence[str]) -> tuple[str, list[str]]:
    """What nearly all headlines have in common, and what each has of its own.

    Examples:
        >>> _headlines(["AWR report, DB1 on h, 10:00", "AWR report, DB1 on h, 11:00"])
        ('AWR report, DB1 on h', ['10:00', '11:00'])
    """
    split = [one.split(", ") for one in headlines]
    counts = Counter(part for one in split for part in dict.fromkeys(one))
    shared = [part for part, count in counts.items() if count >= max(2, _COMMON * len(split))]
    return ", ".join(shared), [", ".join(part for part in one if part not in shared) for one in split]


def _size(ledger: Ledger) -> float | None:
    """Sessions active of a log with a period, else its total; None of a void ledger."""
    if ledger.total is None:
        return None
    if ledger.elapsed is not None and ledger.elapsed.value > 0:
        return ledger.total.value / ledger.elapsed.value
    return float(ledger.total.value)


def _shares(ledger: Ledger) -> dict[str, float]:
    if ledger.void or not ledger.views:
        return {}
    tops = ledger.parts("what" if "what" in ledger.views else ledger.views[0])
    return {
        row["name"]: row["share"]
        for row in tops.iter_rows(named=True)
        if row["level"] == 0 and row["share"] is not None and row["share"] > 0
    }


def _chosen(
    rows: list[tuple[str, list[str], str]], sizes: list[float | None]
) -> tuple[list[tuple[str, list[str], str]], int]:
    """The first and last rows of many, void ones, and the largest of the others; how many are left out."""
    if len(rows) <= _MOST_ROWS:
        return rows, 0
    kept = {*range(_ENDS), *range(len(rows) - _ENDS, len(rows))}
    others = sorted(set(range(len(rows))) - kept, key=lambda n: (sizes[n] is not None, -(sizes[n] or 0.0)))
    kept |= set(others[: _MOST_ROWS - len(kept)])
    return [rows[n] for n in sorted(kept)], len(rows) - len(kept)


class _Change(NamedTuple):
    """What changed most in logs, the two between which it did, and figures of it: a total line, and sentences."""

    sentence: str
    between: tuple[str, str]
    total: str
    rows: tuple[Said, ...] = ()


def _step(ledger: Ledger, part: str) -> str:
    """What to do next about a part."""
    return next((row["next"] or "" for row in ledger.parts("what").to_dicts() if row["name"] == part), "")


def _latency_step(before: LogRow, after: LogRow, part: str, changed: Sequence[dict[str, Any]]) -> str:
    """What to do about a part that takes longer from a log on: about a parameter that changed with it, else devices."""
    is_io = any(row["name"] == part and row["kind"] == "io" for row in after.ledger.parts("what").to_dicts())
    end, begin = before.end, after.begin
    own = [row for row in changed if end and begin and row["from_time"] <= begin and row["to_time"] >= end]
    if not own:
        return "see the devices: iostat -xt 5" if is_io else _step(after.ledger, part)
    row = min(own, key=lambda one: one["parameter"] != _OPTIONS)
    if not is_io or row["parameter"] != _OPTIONS or row["after"].upper() not in _PAST_CACHE:
        return f"test with `{row['parameter']}` = {cut(row['before'], _LABEL)} again: it changed at the same time"
    caches = (
        after.parameters.filter(parameter=_CACHE).select(pl.coalesce("end", "begin")).to_series().drop_nulls().to_list()
    )
    memory = after.machine.rpartition(", ")[2]
    size = f" ({_value(_CACHE, caches[0])} of {memory})" if caches and memory.endswith(" GiB") else ""
    return f"enlarge `{_CACHE}`{size}: with {row['after']} reads bypass the page cache"


def _change(ordered: Mapping[str, LogRow], changed: Sequence[dict[str, Any]] = ()) -> _Change | None:
    """Which part takes longer, or less long, from one log on, else where the load changed most; and both logs.

    The part is the largest whose averages before a log are all on one side of those from it on.
    """
    logs = [(name, one) for name, one in ordered.items() if one.ledger.total is not None]
    seconds: dict[str, float] = {}
    averages: dict[str, list[tuple[int, float, float]]] = {}
    for place, (_, one) in enumerate(logs):
        for part, time, count in _timed(one.ledger):
            seconds[part] = seconds.get(part, 0.0) + time
            averages.setdefault(part, []).append((place, time, count))
    for part in sorted(seconds, key=lambda part: (-seconds[part], part))[:_LARGEST]:
        found = [split for cut_at in range(1, len(averages[part])) if (split := _split(averages[part], cut_at))]
        if found and len(averages[part]) >= LEAST:
            ratio, place, before, after = max(found)
            change = f"{three(ratio)} times as long" if after > before else f"{three(100 - 100 / ratio)} % less"
            said = f"`{part}` took {time_text(before)} before {_when(*logs[place])} and {time_text(after)} after"
            sides = [[one for _, one in side] for side in (logs[:place], logs[place:])]
            between = (logs[place - 1][0], logs[place][0])
            each = [[t / n for at, t, n in averages[part] if (at >= place) == side] for side in (False, True)]
            ends = [f"{time_text(min(side))} to {time_text(max(side))}" for side in each]
            number = f"× {three(ratio)}" if after > before else f"-{three(100 - 100 / ratio)} %"
            link = (f"{len(each[0])} and {len(each[1])} reports", "heat")
            text = f"`{part}` took {ends[0]} before and {ends[1]} after."
            busiest, more, load = _busiest(*sides)
            step = "compare the reports: iolab compare {} {}".format(*between)
            rows = [Said(number, text, _latency_step(logs[place - 1][1], logs[place][1], part, changed), link)]
            if busiest:
                rows.append(Said(more, load, step, ("comparison", "comparisons")))
            total = f"{time_text(before)} → {time_text(after)} per `{part}` {_since(ordered, between)}: {change}."
            return _Change(f"{said}: {change}.{busiest}", between, total, tuple(rows))
    sizes = {name: _size(one.ledger) or 0.0 for name, one in logs}
    if len(logs) < 2 or any(one.ledger.elapsed is None for _, one in logs):
        return None
    first, second = max(pairwise(sizes), key=lambda pair: abs(sizes[pair[1]] - sizes[pair[0]]))
    said = f"The load changed most at {_when(second, ordered[second])}: from {three(sizes[first])}"
    said += f" to {three(sizes[second])} sessions active."
    return _Change(said, (first, second), said)


def _busiest(before: Sequence[LogRow], after: Sequence[LogRow]) -> tuple[str, str, str]:
    """Sessions active, and on CPU, in the busiest logs before and after; the change; when; empty without periods."""
    figures: list[tuple[float, float, str, str]] = []
    for side in (before, after):
        sizes = [_size(one.ledger) or 0.0 for one in side]
        rows = [one for one, size in zip(side, sizes, strict=True) if size >= _BUSY * max(sizes)]
        busy = [one.ledger for one in rows]
        elapsed = sum(one.elapsed.value for one in busy if one.elapsed is not None)
        if any(one.ledger.elapsed is None or "what" not in one.ledger.views for one in side) or elapsed <= 0:
            return "", "", ""
        total = sum(one.total.value for one in busy if one.total is not None)
        cpu = float(pl.concat([one.parts("what").filter(level=0, kind="cpu")["seconds"] for one in busy]).sum())
        period = _period([time for one in rows for time in (one.begin, one.end) if time is not None])
        figures.append((total / elapsed, cpu / elapsed, counted(len(rows), "report"), period))
    (active, on_cpu, count, when), (active_now, on_cpu_now, count_now, now) = figures
    said = f"had {three(active)} sessions active before and {three(active_now)} after"
    said = f" The busiest logs {said}, {three(on_cpu)} and {three(on_cpu_now)} of them on CPU."
    number = f"{100 * (active_now / active - 1):+.0f} %" if active else ""
    first = f"The busiest {count} had {three(active)} sessions active before, {count_now} had {three(active_now)}"
    busiest = f"{first} after: {three(on_cpu)} and {three(on_cpu_now)} of them on CPU"
    return said, number, f"{busiest}, {when}, and {now}." if when and now else f"{busiest}."


def _timed(ledger: Ledger) -> list[tuple[str, float, float]]:
    """Name, seconds and count of the parts of a ledger that have an average and no part within."""
    if ledger.unit != "s" or "what" not in ledger.views:
        return []
    parts = ledger.parts("what")
    leaves = parts.filter(~parts["part"].is_in(parts["parent"].drop_nulls().to_list()), parts["avg"] > 0)
    return leaves.select("name", "seconds", "count").rows()


def _split(series: list[tuple[int, float, float]], cut_at: int) -> tuple[float, int, float, float] | None:
    """By what factor the average of a part changes from a log on, that log, and both averages; None of a small one."""
    sides = series[:cut_at], series[cut_at:]
    each = [[time / count for _, time, count in side] for side in sides]
    if max(each[0]) >= min(each[1]) and max(each[1]) >= min(each[0]):
        return None
    before, after = (sum(time for _, time, _ in side) / sum(count for _, _, count in side) for side in sides)
    ratio = max(before, after) / min(before, after)
    return (ratio, series[cut_at][0], before, after) if ratio >= _CHANGED else None


def _when(name: str, one: LogRow) -> str:
    return name if one.begin is None else f"{one.begin:%Y-%m-%d %H:%M}"
