"""Time lines of many reports: active sessions by class, average waits with bounds, and top events as a heat map."""

import math
from datetime import datetime
from typing import Final

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import MAX_POINTS, REST, ChartError, class_colours, named, need, shorten
from iolab.metrics.awr import key_of

_WIDTH: Final = 720
#: What the names of events take of it.
_LABELS: Final = 120
_TIMES: Final = ("begin_time", "end_time")
#: Dark enough on white, light enough on a dark ground.
_RESTART: Final = "#C4453C"


@vega.chart
def sessions_over_time(
    sessions: pl.DataFrame,
    breaks: pl.DataFrame | None = None,
    *,
    cpus: int | None = None,
    most: int = 7,
    title: str = "Average active sessions",
) -> vega.Chart:
    """Average active sessions of each report, stacked by wait class, from snapshot to snapshot.

    What to read from it: how busy the instance was and with what.  A column as high as the line of processors, if it is
    CPU, is a host that has no more to give; colours above the green of `DB CPU` are waits.  White is time that no
    report covers, not an idle instance; a dashed line is a restart.

    Args:
        sessions: What `iolab.evidence.timeline.active_sessions` gives of classes or events, of one instance.
        breaks: What `iolab.evidence.report_periods.find_breaks` gives; restarts are marked.
        cpus: Draw a line at this many sessions.
        most: How many classes; the rest are drawn as one.
        title: The heading.

    Raises:
        ChartError: If a column is missing, there is nothing to draw, or there are several instances.

    Examples:
        >>> sessions = pl.DataFrame({"report": ["a"] * 2, "instance_name": ["i"] * 2,
        ...     "begin_time": [datetime(2026, 1, 1, 1)] * 2, "end_time": [datetime(2026, 1, 1, 2)] * 2,
        ...     "wait_class": ["DB CPU", "User I/O"], "value": [2.0, 1.0], "lo": [1.9, 0.9], "hi": [2.1, 1.1]})
        >>> data = next(iter(sessions_over_time(sessions).to_dict()["datasets"].values()))
        >>> [(row["what"], row["bottom"], row["top"]) for row in data]
        [('DB CPU', 0.0, 2.0), ('User I/O', 2.0, 3.0)]
    """
    key = _checked(sessions)
    drawn = _few_kinds(_few_periods(sessions, key), most)
    names = _class_order(drawn)
    place = {name: number for number, name in enumerate(names)}
    drawn = drawn.with_columns(place=pl.col("what").replace_strict(place, return_dtype=pl.Int64))
    drawn = drawn.sort("begin_time", "place").with_columns(top=pl.col("value").cum_sum().over("begin_time", "end_time"))
    drawn = _shown(drawn.with_columns(bottom=pl.col("top") - pl.col("value")).drop("place"))
    tooltip = [
        *_period_tooltip(),
        vega.Tooltip("what:N", title=key.replace("_", " ")),
        vega.Tooltip("value:Q", title="active sessions", format=".3~f"),
        vega.Tooltip("lo:Q", title="at least", format=".3~f"),
        vega.Tooltip("hi:Q", title="at most", format=".3~f"),
        vega.Tooltip("top:Q", title="with those below", format=".3~f"),
    ]
    bars = (
        vega.Chart(drawn)
        .mark("rect", stroke="white", strokeWidth=0.5)
        .encode(
            x=_time_axis(drawn),
            x2="end_time:T",
            y=vega.Y("bottom:Q", title="average active sessions"),
            y2="top:Q",
            color=vega.Color(
                "what:N",
                sort=names,
                scale=vega.Scale(domain=names, range=class_colours(names)),
                title=None,
                legend=vega.Legend(orient="top", columns=4),
            ),
            tooltip=tooltip,
        )
    )
    layers: list[vega.Chart] = [bars]
    if cpus:
        line = vega.Chart(pl.DataFrame({"cpus": [cpus], "label": [f"{cpus} processors"]}))
        layers.append(line.mark("rule", strokeDash=[2, 3]).encode(y="cpus:Q"))
        layers.append(line.mark("text", align="right", dy=-6, x=_WIDTH - 2).encode(y="cpus:Q", text="label:N"))
    return _dressed([*layers, *_break_marks(breaks)], title, 280)


@vega.chart
def latency_over_time(
    latencies: pl.DataFrame,
    breaks: pl.DataFrame | None = None,
    *,
    log: bool = True,
    title: str = "Average wait",
) -> vega.Chart:
    """The average wait of one or a few events, one step a report, with the bounds that the rounding allows as a band.

    What to read from it: a step that stays is a change of storage, of caching or of a parameter; look at the restarts
    for its cause.  On the logarithmic axis equal distances are equal factors.  A band as high as the steps is a report
    whose rounding hides the change.  An average that rises with no more waits is slower storage; one that falls while
    the number of waits rises may be a cache that answers.

    Args:
        latencies: What `iolab.evidence.timeline.latencies` gives, of one instance and of the events to draw.
        breaks: What `iolab.evidence.report_periods.find_breaks` gives; restarts are marked.
        log: A logarithmic axis.
        title: The heading.

    Raises:
        ChartError: If a column is missing, there is nothing to draw, or there are several instances.

    Examples:
        >>> waits = pl.DataFrame({"report": ["a"], "instance_name": ["i"], "begin_time": [datetime(2026, 1, 1, 1)],
        ...     "end_time": [datetime(2026, 1, 1, 2)], "event": ["log file sync"], "value": [0.5], "lo": [0.45],
        ...     "hi": [0.55]})
        >>> next(iter(latency_over_time(waits).to_dict()["datasets"].values()))[0]["value"]
        0.5
    """
    key = _checked(latencies)
    above = latencies.filter((pl.col("lo") > 0) if log else pl.lit(True))
    need(above)
    drawn = _shown(_few_periods(above, key))
    names = drawn.get_column("what").unique(maintain_order=True).sort().to_list()
    scale = vega.Scale(type="log", nice=False, padding=12) if log else vega.Scale(zero=True)
    base = vega.Chart(drawn).encode(
        x=_time_axis(drawn),
        x2="end_time:T",
        color=vega.Color(
            "what:N", sort=names, title=None, legend=vega.Legend(orient="top", columns=3, symbolOpacity=1)
        ),
        tooltip=[
            *_period_tooltip(),
            vega.Tooltip("what:N", title=key.replace("_", " ")),
            vega.Tooltip("value:Q", title="average wait (ms)"),
            vega.Tooltip("lo:Q", title="at least (ms)"),
            vega.Tooltip("hi:Q", title="at most (ms)"),
        ],
    )
    label = f"average wait (ms{', log' if log else ''})"
    axis = vega.Axis(values=_log_ticks(drawn), format="~g") if log else vega.Axis()
    band = base.mark("rect", opacity=0.3).encode(y=vega.Y("lo:Q", title=label, scale=scale, axis=axis), y2="hi:Q")
    step = base.mark("rule", strokeWidth=3).encode(y=vega.Y("value:Q", title=label, scale=scale, axis=axis))
    return _dressed([band, step, *_break_marks(breaks)], title, 240)


@vega.chart
def events_over_time(
    sessions: pl.DataFrame, *, most: int = 10, title: str = "Sessions in each top event"
) -> vega.Chart:
    """A heat map of top events over time: the darker, the more sessions were active in the event.

    What to read from it: which event took over, and when.  Blank is an event that the report does not list: no time
    worth a line in a whole report, and not known from a list of top events alone.

    Args:
        sessions: What `iolab.evidence.timeline.active_sessions` gives of events, of one instance.
        most: How many events, those with the most time over all reports.
        title: The heading.

    Raises:
        ChartError: If a column is missing, there is nothing to draw, or there are several instances.

    Examples:
        >>> sessions = pl.DataFrame({"report": ["a"], "instance_name": ["i"], "begin_time": [datetime(2026, 1, 1, 1)],
        ...     "end_time": [datetime(2026, 1, 1, 2)], "event": ["DB CPU"], "value": [2.0], "lo": [1.9], "hi": [2.1]})
        >>> next(iter(events_over_time(sessions).to_dict()["datasets"].values()))[0]["what"]
        'DB CPU'
    """
    key = _checked(sessions)
    drawn = _few_periods(sessions, key)
    order = _by_time_spent(drawn)[:most]
    drawn = _shown(drawn.filter(pl.col("what").is_in(order)))
    chart = (
        vega.Chart(drawn)
        .mark("rect", stroke="white", strokeWidth=0.5)
        .encode(
            x=_time_axis(drawn),
            x2="end_time:T",
            y=vega.Y("what:N", sort=order, title=None, scale=vega.Scale(paddingInner=0.08)),
            color=vega.Color(
                "value:Q",
                title="active sessions",
                scale=vega.Scale(type="sqrt"),
                legend=vega.Legend(orient="top", direction="horizontal", gradientLength=200, titleOrient="left"),
            ),
            tooltip=[
                *_period_tooltip(),
                vega.Tooltip("what:N", title=key.replace("_", " ")),
                vega.Tooltip("value:Q", title="active sessions", format=".3~f"),
                vega.Tooltip("lo:Q", title="at least", format=".3~f"),
                vega.Tooltip("hi:Q", title="at most", format=".3~f"),
            ],
        )
    )
    return _dressed([chart], title, 26 * len(order) + 10, width=_WIDTH - _LABELS)


def _checked(frame: pl.DataFrame) -> str:
    """The column that names what is drawn.

    Raises:
        ChartError: If the frame cannot be drawn.
    """
    need(frame, "report", "instance_name", *_TIMES, "value", "lo", "hi")
    try:
        key = key_of(frame)
    except KeyError as error:
        raise ChartError(str(error.args[0])) from error
    names = frame.get_column("instance_name").unique(maintain_order=True).to_list()
    if len(names) > 1:
        raise ChartError(f"the frame has no single instance but {', '.join(map(str, names))}: draw one at a time")
    if frame.get_column("value").null_count() == frame.height:
        raise ChartError("no row has a value: there is nothing to draw")
    return key


def _few_periods(frame: pl.DataFrame, key: str) -> pl.DataFrame:
    """The frame to draw: ``what`` is drawn, ``reports`` counts those drawn together: neighbours, where there are many.

    Joined, the value is the mean weighted by time, and the bounds are the least and the greatest.
    """
    known = frame.filter(pl.col("value").is_not_null()).with_columns(named(key)).rename({key: "what"})
    ends = known.select(_TIMES).unique().sort(_TIMES)
    every = -(-ends.height // MAX_POINTS)
    if every == 1:
        return known.select("what", *_TIMES, "value", "lo", "hi", reports=pl.lit(1))
    bucketed = ends.with_columns(bucket=pl.int_range(pl.len()) // every)
    edges = bucketed.group_by("bucket").agg(
        start=pl.col("begin_time").min(), end=pl.col("end_time").max(), reports=pl.len(), whole=_seconds().sum()
    )
    joined = known.join(bucketed, on=_TIMES).with_columns(seconds=_seconds())
    is_rate = "active_sessions" in known.get_column("metric").unique() if "metric" in known.columns else False
    weighted = (pl.col("value") * pl.col("seconds")).sum()
    return (
        joined.sort("begin_time", "what")
        .group_by("bucket", "what", maintain_order=True)
        .agg(total=weighted, own=pl.col("seconds").sum(), lo=pl.col("lo").min(), hi=pl.col("hi").max())
        .join(edges, on="bucket")
        .sort("start", "what")
        # A class that a report does not list had no sessions in it; an average that is missing is not zero.
        .select(
            "what",
            begin_time="start",
            end_time="end",
            value=pl.col("total") / pl.col("whole" if is_rate else "own"),
            lo="lo",
            hi="hi",
            reports="reports",
        )
    )


def _seconds() -> pl.Expr:
    return (pl.col("end_time") - pl.col("begin_time")).dt.total_microseconds() / 1e6


def _by_time_spent(drawn: pl.DataFrame) -> list[str]:
    """What is drawn, by the time spent in it."""
    spent = drawn.group_by("what").agg(spent=(pl.col("value") * _seconds()).sum().round_sig_figs(9))
    return spent.sort("spent", "what", descending=[True, False]).get_column("what").to_list()


def _few_kinds(drawn: pl.DataFrame, most: int) -> pl.DataFrame:
    """The kinds with the most time, the others as one."""
    order = sorted(_by_time_spent(drawn), key=lambda name: name != "DB CPU")
    if len(order) <= most + 1:  # one kind alone keeps its name
        return drawn
    kept = pl.col("what").is_in(order[:most])
    renamed = drawn.with_columns(what=pl.when(kept).then("what").otherwise(pl.lit(REST)))
    return (
        renamed.sort("begin_time", "what")
        .group_by("what", *_TIMES, "reports", maintain_order=True)
        .agg(pl.col("value", "lo", "hi").sum())
    )


def _class_order(drawn: pl.DataFrame) -> list[str]:
    """`DB CPU` lowest, then by time spent, the rest on top."""
    order = _by_time_spent(drawn)
    return sorted(order, key=lambda name: (name != "DB CPU", name == REST))


def _shown(drawn: pl.DataFrame) -> pl.DataFrame:
    """What goes into the picture: six digits, and times to the second."""
    return shorten(drawn).with_columns(pl.col(_TIMES).dt.truncate("1s"))


def _time_axis(drawn: pl.DataFrame) -> vega.Spec:
    """From the first snapshot to the last."""
    first, last = drawn.get_column("begin_time").min(), drawn.get_column("end_time").max()
    is_short = isinstance(first, datetime) and isinstance(last, datetime) and (last - first).days < 2
    labels = {"labelExpr": "timeFormat(datum.value, hours(datum.value) == 0 ? '%d %b' : '%H:%M')"} if is_short else {}
    return vega.X("begin_time:T", title="time of the database host", axis=vega.Axis(**labels, labelFlush=False))


def _log_ticks(drawn: pl.DataFrame) -> list[float]:
    """1, 2 and 5 of each decade that the values reach.

    Examples:
        >>> _log_ticks(pl.DataFrame({"lo": [0.6], "hi": [6.1]}))
        [0.5, 1.0, 2.0, 5.0, 10.0]
    """
    lo, hi = (drawn.select(pl.col("lo").min(), pl.col("hi").max())).row(0)
    decades = range(math.floor(math.log10(lo)), math.ceil(math.log10(hi)) + 1)
    ticks = [float(f"{digit}e{decade}") for decade in decades for digit in (1, 2, 5)]
    below, above = max((one for one in ticks if one <= lo), default=lo), min(one for one in ticks if one >= hi)
    return [one for one in ticks if below <= one <= above]


def _period_tooltip() -> list[vega.Spec]:
    return [
        vega.Tooltip("begin_time:T", title="from", format="%Y-%m-%d %H:%M:%S"),
        vega.Tooltip("end_time:T", title="to", format="%Y-%m-%d %H:%M:%S"),
    ]


def _break_marks(breaks: pl.DataFrame | None) -> list[vega.Chart]:
    """A dashed line at each restart."""
    if breaks is None:
        return []
    need_columns = {"kind", "startup_time", "reason"}
    if missing := sorted(need_columns - set(breaks.columns)):
        raise ChartError(f"the frame of breaks has no column {', '.join(missing)}")
    restarts = breaks.filter((pl.col("kind") == "restart") & pl.col("startup_time").is_not_null())
    if restarts.is_empty():
        return []
    base = vega.Chart(restarts.select("startup_time", "reason", label=pl.lit("restart"))).encode(
        x="startup_time:T", tooltip=[vega.Tooltip("startup_time:T", format="%Y-%m-%d %H:%M"), "reason:N"]
    )
    line = base.mark("rule", strokeDash=[5, 4], strokeWidth=1.5, color=_RESTART)
    text = base.mark("text", align="left", dx=5, y=0, dy=-5, baseline="bottom").encode(text="label:N")
    return [line, text]


def _dressed(layers: list[vega.Chart], title: str, height: int, *, width: int = _WIDTH) -> vega.Chart:
    return vega.layer(*layers, title=title).properties(width=width, height=height)
