"""The time ledger as bars: each part with its bounds, nested parts below their parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import ChartError, class_colours
from iolab.charts.theme import CATEGORIES
from iolab.time_ledger.parts import UNKNOWN

if TYPE_CHECKING:
    from iolab.time_ledger.account import Ledger
    from iolab.time_ledger.changes import LedgerChange

#: More parts are no clearer picture; small ones are left out first.
_MOST: Final = 24
_WIDTH: Final = 480
_MORE, _LESS, _TOTAL = CATEGORIES[5], CATEGORIES[0], CATEGORIES[7]
_GREY: Final = "#8F99A6"
_COLOURS: Final = {"cpu": "DB CPU", "io": "User I/O", "client": "Network", "idle": "Network"}


@vega.chart
def ledger_bars(ledger: Ledger, view: str = "what") -> vega.Chart:
    """One bar a part of the time, from certain to at most, in the order of the ledger; nested parts are indented.

    What to read from it: a dark bar is time that is certainly the part's own; the pale end is what is at most its own,
    where time is counted twice or figures are rounded.  A nested bar is inside the one above it.  Grey outlines are
    time without a name.  Parts of one level and its closing part add up to the whole.

    Args:
        ledger: As `iolab.ledger` gives it.
        view: One of its views.

    Raises:
        ChartError: If the ledger is void, or has no such view.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> account = Account(Interval.exact(10), "DB time")
        >>> cpu = account.add("what", "DB CPU", Interval.exact(7), kind="cpu")
        >>> ledger_bars(account.ledger()).to_dict()["title"]["text"]
        'DB time: 10 s'
    """
    if ledger.void or view not in ledger.views or ledger.total is None:
        raise ChartError(ledger.void or f"the ledger has no view {view}")
    shown = ledger.parts(view).filter((pl.col("own_hi") > 0) | (pl.col("kind") == "counted_twice"))
    if shown.height > _MOST:
        least = shown.get_column("own_hi").sort(descending=True).item(_MOST - 1)
        shown = shown.filter(pl.col("own_hi") >= least)
    kind, name = pl.col("kind").cast(pl.String), pl.col("name").str.replace_all(r"\s+", " ").str.slice(0, 48)
    classes = pl.coalesce("class", kind.replace_strict(_COLOURS, default=None), pl.lit("Other"))
    is_open = kind.is_in([*UNKNOWN, "counted_twice"])
    drawn = shown.select(
        label=pl.lit("    ").repeat_by("level").list.join("") + name,
        lo=pl.when(kind == "counted_twice").then(0.0).otherwise("own_lo"),
        hi=pl.when(kind == "counted_twice").then(-pl.col("seconds")).otherwise("own_hi"),
        seconds="seconds",
        share=pl.col("share") * 100,
        count="count",
        kind=pl.when(is_open).then(pl.lit("no name")).otherwise(classes),
    ).with_row_index("place")
    drawn = drawn.with_columns(label=pl.col("label") + pl.lit(" ").repeat_by("place").list.join(""))  # names repeat
    kinds = drawn.get_column("kind").unique(maintain_order=True).to_list()
    colours = [_GREY if one == "no name" else colour for one, colour in zip(kinds, class_colours(kinds), strict=True)]
    solid = vega.Legend(symbolOpacity=1)
    colour = vega.Color("kind:N", scale=vega.Scale(domain=kinds, range=colours), legend=solid, title=None)
    base = vega.Chart(drawn).encode(
        y=vega.Y("label:N", sort=drawn.get_column("label").to_list(), title=None, axis=vega.Axis(labelAlign="right")),
        tooltip=["label", "seconds", "share", "lo", "hi", "count", "kind"],
    )
    named, unnamed = base.transform_filter("datum.kind != 'no name'"), base.transform_filter("datum.kind == 'no name'")
    axis = vega.X("hi:Q", title="seconds", scale=vega.Scale(zero=True))
    layers = [
        named.mark("bar", height=14, opacity=0.35).encode(x=axis, color=colour),
        named.mark("bar", height=14).encode(x=vega.X("lo:Q", title="seconds"), color=colour),
        unnamed.mark("bar", height=14, filled=False, strokeDash=[4, 3]).encode(x=axis, color=colour),
    ]
    title = {"text": f"{ledger.base}: {ledger.total.value:,.6g} s", "subtitle": ledger.scope}
    return vega.layer(*layers, title=title).properties(width=560, height=max(60, 22 * drawn.height))


@vega.chart
def ledger_change(change: LedgerChange) -> vega.Chart:
    """The way from one total to another as a waterfall: a bar a part, the largest change first.

    What to read from it: each bar begins where the one above it ends, so that all changes together lead from A to B.
    Orange adds time, blue saves it; a change that others undo is seen, too.

    Args:
        change: As `Ledger.compare` gives it.

    Raises:
        ChartError: Nothing changed.

    Examples:
        >>> from iolab.time_ledger.account import Account
        >>> from logframe import Interval
        >>> def ledger(cpu):
        ...     account = Account(Interval.exact(cpu + 3), "DB time")
        ...     _ = account.add("what", "DB CPU", Interval.exact(cpu), kind="cpu")
        ...     return account.ledger()
        >>> drawn = ledger_change(ledger(7).compare(ledger(4))).to_dict()
        >>> drawn["title"]
        'DB time, from A to B'
    """
    if not (rows := change.steps()):
        raise ChartError("nothing changed between the two logs")
    steps = pl.DataFrame([(row["name"], row["change"]) for row in rows], ["name", "change"], orient="row")
    a, b = float(change.a.value), float(change.b.value)
    steps = steps.with_columns(hi=a + pl.col("change").cum_sum()).with_columns(
        lo=pl.col("hi") - pl.col("change"),
        kind=pl.when(pl.col("change") > 0).then(pl.lit("more")).otherwise(pl.lit("less")),
        text=pl.col("change").map_elements("{:+.3g}".format, return_dtype=pl.String),
    )
    ends = [
        {"name": f"total of {name}", "change": value, "hi": value, "lo": 0.0, "kind": "total", "text": f"{value:.3g}"}
        for name, value in (("A", a), ("B", b))
    ]
    frame = pl.concat([pl.DataFrame(one, schema=steps.schema) for one in ends[:1]] + [steps, pl.DataFrame(ends[1])])
    frame = frame.with_columns(
        pl.col("name").str.replace_all(r"\s+", " ").str.slice(0, 48), greatest=pl.max_horizontal("lo", "hi")
    )
    base = vega.Chart(frame).encode(y=vega.Y("name:N", sort=None, title=None, axis=vega.Axis(labelLimit=320)))
    colours = vega.Scale(domain=["total", "more", "less"], range=[_TOTAL, _MORE, _LESS])
    bars = base.mark("bar").encode(
        x=vega.X("lo:Q", title=change.unit),
        x2="hi:Q",
        color=vega.Color("kind:N", scale=colours, legend=None),
        tooltip=["name", vega.Tooltip("change:Q", format="+.4g")],
    )
    labels = base.mark("text", align="left", dx=4).encode(x="greatest:Q", text="text:N")
    return vega.layer(bars, labels).properties(title=f"{change.base}, from A to B", width=_WIDTH)
