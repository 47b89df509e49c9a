"""Pairs of logs that differ in one known thing: the first sentence names it; pairs that differ in nothing have none."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from sample_scripts import sample_script

import iolab
from iolab.comparison import pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READ, SCAN, LOCK = "db file sequential read", "db file scattered read", "enq: TX - row lock contention"
#: Events that the model of the reports does not have, and their classes.
EVENTS = {
    "enq: TM - contention": "Application",
    "log file switch (checkpoint incomplete)": "Configuration",
    "library cache lock": "Concurrency",
}
#: Text, a part that the sentence names, and its share of the change.
Pair = tuple[bytes, bytes, str, float]


def report(change: Callable[[dict[str, Any]], object] = lambda _: None, noise: float = 0.0, seed: int = 1) -> bytes:
    """A report of an hour; `change` edits counts, microseconds and CPU of its events by name."""
    model, series = sample_script("awr_model"), sample_script("make_awr_series")
    activity = model.make_activity(series.plan_hours()[0])
    chance = random.Random(seed)  # noqa: S311 - test data
    waits = {one.event: [one.count, one.time_us * (1 + chance.uniform(-noise, noise))] for one in activity.foreground}
    figures: dict[str, Any] = {
        "waits": waits,
        "cpu": activity.cpu_us * (1 + chance.uniform(-noise, noise)),
        "transactions": activity.transactions,
        "queue": 0.0,
    }
    change(figures)
    classes = {event: times[0] for event, times in model.TIMES.items()} | EVENTS
    mixes = {event: times[1] for event, times in model.TIMES.items()}
    mixes |= dict.fromkeys(EVENTS, mixes["buffer busy waits"])
    foreground = tuple(
        model.Wait(event, classes[event], round(count), round(time), 0, model.spread(round(count), mixes[event]))
        for event, (count, time) in waits.items()
    )
    waited = sum(one.time_us for one in foreground if one.wait_class != "Idle")
    edited = activity._replace(
        foreground=foreground,
        cpu_us=round(figures["cpu"]),
        transactions=round(figures["transactions"]),
        db_time_us=round((figures["cpu"] + waited) * 1.012 + figures["queue"]),
    )
    sections, summary, forms = (sample_script(f"awr_{name}") for name in ("sections", "summary", "forms"))
    blocks = [*summary.make_summary(edited), *sections.make_sections(edited)]
    head = forms.Head("HARBOR", "harbor1", 4102, 4103)
    return str(forms.write_text(blocks, head)).encode()


def times(event: str, count: float, average: float) -> Callable[[dict[str, Any]], None]:
    """An edit: an event occurs so many times as often, and takes so many times as long."""

    def edit(figures: dict[str, Any]) -> None:
        before = figures["waits"][event]
        figures["waits"][event] = [before[0] * count, before[1] * count * average]

    return edit


def new(event: str, seconds: float) -> Callable[[dict[str, Any]], None]:
    """An edit: an event that took nothing takes this long."""
    return lambda figures: figures["waits"].update({event: [round(seconds * 100), seconds * 1e6]})


def cpu(factor: float) -> Callable[[dict[str, Any]], None]:
    """An edit: more CPU."""
    return lambda figures: figures.update(cpu=figures["cpu"] * factor)


def both(*edits: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Several edits."""
    return lambda figures: [edit(figures) for edit in edits] and None


REPORTS: list[tuple[str, Callable[[dict[str, Any]], None], str, float]] = [
    ("reads take longer", times(READ, 1, 3), READ, 1.0),
    ("more reads", times(READ, 6, 1), READ, 1.0),
    ("fewer reads", times(READ, 0.1, 1), READ, 1.0),
    ("scans take longer", times(SCAN, 1, 20), SCAN, 1.0),
    ("more scans", times(SCAN, 12, 1), SCAN, 1.0),
    ("commits take longer", times("log file sync", 1, 9), "log file sync", 1.0),
    ("locks", times(LOCK, 1, 60), LOCK, 1.0),
    ("a new wait", new("free buffer waits", 2_000), "free buffer waits", 1.0),
    ("latches", times("library cache: mutex X", 500, 10), "library cache: mutex X", 1.0),
    ("more CPU", cpu(2), "DB CPU", 1.0),
    ("less CPU", cpu(0.3), "DB CPU", 1.0),
    ("reads beside CPU", both(times(READ, 1, 2), cpu(1.3)), "DB CPU", 0.67),
    ("direct reads", times("direct path read", 30, 2), "direct path read", 1.0),
    ("a larger load", both(times(READ, 2, 1), cpu(2), lambda f: f.update(transactions=f["transactions"] * 2)),
     "DB CPU", 0.87),
    ("a lock of a table", new("enq: TM - contention", 1_500), "enq: TM - contention", 1.0),
    ("logs that are full", new("log file switch (checkpoint incomplete)", 900), "log file switch", 1.0),
    ("a smaller cache", both(times(READ, 4, 1), cpu(1.05)), READ, 0.89),
    ("a plan with scans", both(times(READ, 0.05, 1), times(SCAN, 30, 1)), SCAN, 1.0),
    ("hard parses", both(new("library cache lock", 400), cpu(1.4)), "DB CPU", 0.81),
    ("a host with a queue", lambda figures: figures.update(queue=2.5e9), "not accounted for", 1.0),
]  # fmt: skip


def trace(
    *, read: float = 1, reads: int = 15, fetches: int = 60, think: int = 400, cpu: int = 12, lock: int = 0,
    parses: int = 1, lost: int = 0, scan: int = 0, busy: int = 0, runs: int = 1, seed: int = 1, noise: float = 0.0,
) -> bytes:  # fmt: skip
    """A session that traces itself and looks rows up."""
    made = sample_script("traced_session")
    made.PARAMETERS["buffer busy waits"] = ("file#", "block#", "class#")
    lookup = made.Statement("select amount from orders where id between :1 and :2", 140_205_333_907_112)
    session = made.Session("19.22.0.0.0", seed=seed)
    chance = random.Random(seed)  # noqa: S311 - test data
    session.head()

    def look_up() -> None:
        for number in range(reads):
            took = scan or round(500 * read * (1 + chance.uniform(-noise, noise)))
            session.wait(lookup.cursor, SCAN if scan else READ, took, (7, number + 1, 128 if scan else 1), 52_341)
            session.cpu(cpu, query=1)
        if busy:
            session.wait(lookup.cursor, "buffer busy waits", busy, (7, 9, 1))
        session.lose(lost)

    for _ in range(parses):
        session.call("PARSE", lookup, lambda: session.cpu(9_000 if parses > 1 else 100), misses=1)
    for _ in range(runs):
        session.call("EXEC", lookup, lambda: session.cpu(55))
    if lock:
        session.call("EXEC", lookup, lambda: session.wait(lookup.cursor, LOCK, lock, (1_415_053_318, 65_537, 9)))
    for number in range(fetches * runs):
        session.call("FETCH", lookup, look_up, rows=6_000 // fetches)
        if number < fetches * runs - 1:
            session.think(think, lookup.cursor)
    session.close(lookup)
    return str(session.text).encode()


TRACES: list[tuple[str, dict[str, Any], str, float]] = [
    ("reads take longer", {"read": 4}, READ, 1.0),
    ("more reads", {"reads": 60}, READ, 0.97),
    ("a smaller array", {"fetches": 600, "reads": 1, "think": 900}, "round trips between fetches", 1.1),
    ("a slower network", {"think": 20_000}, "round trips between fetches", 1.0),
    ("a lock", {"lock": 3_000_000}, LOCK, 1.0),
    ("more CPU", {"cpu": 900}, "CPU", 1.0),
    ("a host with a queue", {"lost": 15_000}, "not accounted for", 1.0),
    ("parses", {"parses": 200}, "CPU", 1.0),
    ("a plan with scans", {"scan": 4_000}, SCAN, 1.0),
    ("hot blocks", {"busy": 30_000}, "buffer busy waits", 1.0),
    ("a larger cache", {"reads": 2}, READ, 0.98),
    ("four executions", {"runs": 4}, READ, 0.92),
]


def spool(seconds: list[float], *, start: int = 0) -> bytes:
    """A session of statements with these times."""
    run = "SQL> select c{} from t;\n\n1 row selected.\n\nElapsed: 00:00:{:05.2f}\n"
    return "\n".join(run.format(number, elapsed) for number, elapsed in enumerate(seconds, start)).encode()


def system_calls(
    *, read: float = 0.0004, reads: int = 100, flush: float = 0.0, lock: float = 0.0, pause: float = 0.0
) -> bytes:
    """A process that reads, flushes, and does something else in between."""
    now, lines = 1_700_000_000.0, []
    for number in range(reads):
        lines.append(f'{now:.6f} pread64(3</u01/users01.dbf>, ""..., 8192, {8192 * number}) = 8192 <{read:.6f}>')
        now += read + 0.00005
        if flush:
            lines.append(f"{now:.6f} fdatasync(4</u01/redo01.log>) = 0 <{flush:.6f}>")
            now += flush + 0.00005
        if lock:
            lines.append(f"{now:.6f} futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <{lock:.6f}>")
            now += lock + 0.00005
        now += pause
    return "\n".join([*lines, f"{now:.6f} exit_group(0) = ?"]).encode()


TEN = [2.0 + number / 10 for number in range(10)]


def pairs() -> Iterator[tuple[str, Pair]]:
    """All pairs with a change, by name."""
    base = report()
    for name, edit, part, share in REPORTS:
        yield f"report: {name}", (base, report(edit), part, share)
    plain = trace()
    for name, options, part, share in TRACES:
        yield f"trace: {name}", (plain, trace(**options), part, share)
    slow = [*TEN[:4], 20.0, *TEN[5:]]
    yield "spool: one statement", (spool(TEN), spool(slow), "select c4 from t", 1.0)
    yield "spool: back again", (spool(slow), spool(TEN), "select c4 from t", 1.0)
    yield "spool: two statements", (spool(TEN), spool([8.0, *TEN[1:8], 5.8, TEN[9]]), "select c0 from t", 0.67)
    yield "spool: one more", (spool(TEN), spool([*TEN, 9.0]), "select c10 from t", 1.0)
    yield (
        "spool: other numbers",
        (spool(TEN), spool([0.5, *TEN[:5], 30.0, *TEN[6:]], start=-1), "select c5 from t", 0.98),
    )
    yield "strace: reads", (system_calls(), system_calls(read=0.004), "pread64", 1.0)
    yield "strace: more reads", (system_calls(), system_calls(reads=900), "pread64", 0.89)
    yield "strace: flushes", (system_calls(), system_calls(flush=0.01), "fdatasync", 1.0)
    yield "strace: a lock", (system_calls(), system_calls(lock=0.006), "futex", 1.0)
    yield "strace: between the calls", (system_calls(), system_calls(pause=0.01), "between calls", 1.0)


@pytest.mark.parametrize(("name", "made"), list(pairs()), ids=lambda one: one if isinstance(one, str) else "")
def test_the_first_sentence_names_the_change(name: str, made: Pair) -> None:
    """The part that was changed is named with its share; both ways round."""
    before, after, part, share = made
    one, two = iolab.load(before), iolab.load(after)
    for first, second in ((one, two), (two, one)):
        said = pair(first, second).verdict.partition(". ")[0]
        assert part in said, (name, said)
        shown = re.search(r"(\d+) % of the change is (?:from `([^`]*)`|(not accounted for))", said)
        if shown is not None:
            assert part in (shown[2] or shown[3])
            assert int(shown[1]) == pytest.approx(100 * min(share, 1), abs=9), (name, said)
        else:
            assert " while other parts " in said, (name, said)


def test_equal_logs_have_no_change() -> None:
    """200 pairs whose times differ by 2 % and less: nothing is said to have changed."""
    said = []
    for seed in range(50):
        chance = random.Random(seed)  # noqa: S311 - test data
        near = [[one * (1 + chance.uniform(-0.01, 0.01)) for one in TEN] for _ in range(2)]
        made = [
            tuple(report(noise=0.01, seed=2 * seed + side) for side in (0, 1)),
            tuple(trace(noise=0.02, seed=2 * seed + side) for side in (0, 1)),
            tuple(spool(one) for one in near),
            tuple(system_calls(read=0.0004 * (1 + chance.uniform(-0.01, 0.01))) for _ in range(2)),
        ]
        said += [iolab.ledger(one).compare(iolab.ledger(two)).sentence for one, two in made]

    assert len(said) == 200
    assert [one for one in said if not re.search(r" hardly changed \([^)]*\)\.$", one)] == []


def test_times_that_cannot_be_compared_are_said() -> None:
    """A log whose clock was set back has no total: the reads are compared, and the verdict says that times are not."""
    whole, back = system_calls(), system_calls(read=0.0008).replace(b"1700000000.", b"1700000900.", 1)
    found = pair(iolab.load(whole), iolab.load(back))

    assert found.change is None
    assert re.search(r"The times are not compared: the second log has no total: .*clock was set back", found.verdict)
    assert [what for what, _ in found.not_compared] == ["Times"]
