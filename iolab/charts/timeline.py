"""Time line of system calls by kind: each call where there are few, shares of the time where there are many."""

from typing import Final

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import ChartError, need, shorten, time_unit
from straceparse.call_table import HIDDEN, READS, REAPS, SUBMITS, SYNCS, WRITES

#: Up to this many calls each is drawn.
MOST_CALLS: Final = 300
_WIDTH: Final = 640
_OTHER: Final = "other calls"
#: Kinds of calls in the order they are drawn, and the system calls of each.
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "read": READS,
    "submit (AIO)": (*SUBMITS, *HIDDEN),
    "reap (AIO)": REAPS,
    "write": WRITES,
    "sync": SYNCS,
    "wait": (
        *("semtimedop", "semop", "futex", "nanosleep", "clock_nanosleep", "wait4", "waitid"),
        *("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "restart_syscall", "pause"),
    ),
    "network": (
        *("recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg"),
        *("accept", "accept4", "connect", "socket", "bind", "listen", "shutdown"),
    ),
}
_ORDER: Final = [*KINDS, _OTHER]


@vega.chart
def call_timeline(
    calls: pl.DataFrame, *, most: int = MOST_CALLS, bins: int = 60, title: str = "Where the time goes"
) -> vega.Chart:
    """When a process was in which kind of call: bars of calls where they are few, else shares of each stretch of time.

    What to read from it: white is time outside calls, in which the process computed or waited for a processor. Reads
    that fill the time are a process bound by its storage; `reap` that fills it is one that waits for asynchronous
    reads, `submit` that does is asynchronous in name only (the kernel reads within `io_submit`). `wait` is semaphores,
    sleeps and polls: log writer, locks, an idle client. Kinds that alternate do not overlap; rows that overlap are of
    different processes.

    Args:
        calls: What `straceparse.calls` gives: ``name``, ``start``, ``end``, ``gap``, ``pid``.
        most: Up to this many calls each is a bar; above, the time in calls is summed by kind and bin of time.
        bins: How many bins of time.
        title: The heading.

    A log without ``-T`` does not tell when a call ended: each is drawn up to the process's next call, as the heading
    then says, and no white is left.  Shares are of the time of all processes that are in a call or between two.

    Raises:
        ChartError: If a column is missing, no call has a start and an end, or the clock shows no time between them.

    Examples:
        >>> calls = pl.DataFrame({"pid": [1, 1], "name": ["pread64", "write"], "start": [0, 4_000_000],
        ...     "end": [3_000_000, 5_000_000], "gap": [4_000_000, None]})
        >>> calls = calls.with_columns(pl.col("start", "end", "gap").cast(pl.Duration("ns")))
        >>> [(row["kind"], row["took"]) for row in next(iter(call_timeline(calls).to_dict()["datasets"].values()))]
        [('read', 3.0), ('write', 1.0)]
        >>> shares = next(iter(call_timeline(calls, most=1, bins=5).to_dict()["datasets"].values()))
        >>> [(row["kind"], row["share"]) for row in shares]
        [('read', 1.0), ('read', 1.0), ('read', 1.0), ('write', 1.0)]
    """
    need(calls, "pid", "name", "start", "end", "gap")
    has_ends = calls.get_column("end").null_count() < calls.height
    end = pl.col("end") if has_ends else pl.col("start") + pl.col("gap")
    kind = pl.col("name").replace_strict(
        {name: kind for kind, names in KINDS.items() for name in names}, default=_OTHER, return_dtype=pl.String
    )
    drawn = calls.select(
        "pid", "name", kind=kind, start=pl.col("start").dt.total_nanoseconds(), end=end.dt.total_nanoseconds()
    ).filter(pl.col("start").is_not_null() & (pl.col("end") >= pl.col("start")))
    if drawn.is_empty():
        raise ChartError("no call has a start and an end: there is nothing to draw")
    if drawn.get_column("end").max() == drawn.get_column("start").min():
        raise ChartError("the log's clock has no time between the calls: there is nothing to draw")
    notes = [] if has_ends else ["without -T each call is drawn up to the process's next call"]
    if drawn.height <= most:
        return _bars(drawn, {"text": title, "subtitle": notes} if notes else title)
    processes = drawn.get_column("pid").n_unique()
    notes.append(
        f"{drawn.height:,} calls{f' of {processes} processes' if processes > 1 else ''}, in {bins} bins of time"
    )
    return _shares(drawn, bins, {"text": title, "subtitle": notes})


def _colour(drawn: pl.DataFrame) -> tuple[list[str], vega.Spec]:
    """The kinds that are there, in a fixed order, each always in its own colour."""
    there = set(drawn.get_column("kind"))
    kinds = [kind for kind in _ORDER if kind in there]
    legend = vega.Legend(orient="top", values=kinds, columns=4)
    return kinds, vega.Color("kind:N", scale=vega.Scale(domain=_ORDER), title=None, legend=legend)


def _bars(drawn: pl.DataFrame, title: vega.Spec | str) -> vega.Chart:
    """Each call as a bar, one row a kind."""
    kinds, colour = _colour(drawn)
    unit, nanoseconds = time_unit(drawn.get_column("end").max())
    bars = drawn.sort("start", "pid", maintain_order=True).select(
        "pid",
        "name",
        "kind",
        begin=pl.col("start") / nanoseconds,
        end=pl.col("end") / nanoseconds,
        took=(pl.col("end") - pl.col("start")) / 1e6,
    )
    return (
        vega.Chart(shorten(bars, 9), title=title)
        # A stroke keeps a call of a microsecond visible in a log of seconds.
        .mark("bar", height=16, strokeWidth=0.8)
        .encode(
            x=vega.X("begin:Q", title=f"since the start of the log ({unit})"),
            x2="end:Q",
            y=vega.Y("kind:N", sort=kinds, title=None),
            color=colour,
            stroke=vega.Stroke("kind:N", scale=vega.Scale(domain=_ORDER), legend=None),
            tooltip=[
                vega.Tooltip("name:N", title="call"),
                vega.Tooltip("pid:N", title="process"),
                vega.Tooltip("begin:Q", title=f"from ({unit})"),
                vega.Tooltip("end:Q", title=f"to ({unit})"),
                vega.Tooltip("took:Q", title="took (ms)"),
            ],
        )
        .properties(width=_WIDTH, height=26 * len(kinds))
    )


def _shares(drawn: pl.DataFrame, bins: int, title: vega.Spec) -> vega.Chart:
    """Time in each kind of call in each bin of time, as a share of the bin and the processes."""
    kinds, colour = _colour(drawn)
    first, last = drawn.select(pl.col("start").min().alias("first"), pl.col("end").max().alias("last")).row(0)
    unit, nanoseconds = time_unit(last)
    # Whole nanoseconds: sums are then the same each time.
    width = max(-(-(last - first) // bins), 1)
    start, end = pl.col("start") - first, pl.col("end") - first
    pieces = (
        drawn.lazy()
        .select("pid", "kind", start=start, end=end)
        .with_columns(
            bin=pl.int_ranges(pl.col("start") // width, (pl.col("end") - 1).clip(pl.col("start")) // width + 1)
        )
        .explode("bin")
        .with_columns(
            inside=pl.min_horizontal("end", (pl.col("bin") + 1) * width)
            - pl.max_horizontal("start", pl.col("bin") * width)
        )
    )
    # A process counts in the bins between its first call and its last.
    lives = (
        drawn.lazy()
        .group_by("pid")
        .agg(born=start.min(), died=end.max())
        .with_columns(
            bin=pl.int_ranges(pl.col("born") // width, (pl.col("died") - 1).clip(pl.col("born")) // width + 1)
        )
        .explode("bin")
        .with_columns(
            lived=pl.min_horizontal("died", (pl.col("bin") + 1) * width)
            - pl.max_horizontal("born", pl.col("bin") * width)
        )
        .group_by("bin")
        .agg(pl.col("lived").sum(), processes=pl.len())
    )
    place = {kind: number for number, kind in enumerate(kinds)}
    cells = (
        pieces.group_by("bin", "kind")
        .agg(pl.col("inside").sum(), calls=pl.len())
        .join(lives, on="bin")
        .filter(pl.col("inside") > 0)
        .select(
            "kind",
            "calls",
            "processes",
            begin=(first + pl.col("bin") * width) / nanoseconds,
            end=(first + (pl.col("bin") + 1) * width) / nanoseconds,
            share=(pl.col("inside") / pl.col("lived")).clip(0, 1),
            place=pl.col("kind").replace_strict(place, return_dtype=pl.Int64),
        )
        .sort("place", "begin")
        .collect()
    )
    return (
        vega.Chart(shorten(cells), title=title)
        .mark("bar")
        .encode(
            x=vega.X("begin:Q", bin="binned", title=f"since the start of the log ({unit})"),
            x2="end:Q",
            y=vega.Y(
                "share:Q",
                stack="zero",
                scale=vega.Scale(domain=[0, 1]),
                axis=vega.Axis(format="%"),
                title="share of the processes' time",
            ),
            color=colour,
            order=vega.Order("place:Q"),
            tooltip=[
                vega.Tooltip("kind:N"),
                vega.Tooltip("begin:Q", title=f"from ({unit})"),
                vega.Tooltip("end:Q", title=f"to ({unit})"),
                vega.Tooltip("share:Q", format=".1%", title="share of the time"),
                vega.Tooltip("calls:Q", format=",", title="calls in it"),
                vega.Tooltip("processes:Q", format=",", title="processes"),
            ],
        )
        .properties(width=_WIDTH, height=200)
    )
